package plan

import (
	"slices"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/policy"
)

// groupBy reads the keys.
func (c *checker) groupBy(s *pg.SelectStmt) error {
	groups := 1
	for _, n := range s.GroupClause {
		if k := n.GetAConst(); k != nil { // GROUP BY 1
			i, ok := ordinal(n, len(s.TargetList))
			if !ok {
				return refuse(k.Location, "write the column's name", "this is not a column of the SELECT list")
			}
			n = s.TargetList[i].GetResTarget().GetVal()
		}
		ref := n.GetColumnRef()
		if ref == nil {
			return refuse(location(n), "group by columns of the table, as in GROUP BY sex, age", "only columns can be grouped by, without ROLLUP, CUBE or expressions")
		}
		name, err := columnName(ref)
		if err != nil {
			return err
		}
		col, err := c.resolve(name, ref.Location)
		if err != nil {
			// As in PostgreSQL, a name that is no column may be one of the SELECT list's.
			if n := aliased(s.TargetList, name); n != nil {
				if name, err = columnName(n); err == nil {
					col, err = c.resolve(name, ref.Location)
				}
			}
			if err != nil {
				return err
			}
		}
		if c.table.UnitColumn != "" && strings.EqualFold(col.Name, c.table.UnitColumn) {
			return refuse(ref.Location, "group by another column", "%s says who a row is about, and groups of one person cannot be released", col.Name)
		}
		if c.keyIndex(col) >= 0 {
			continue
		}
		values, err := publicKeys(col, ref.Location)
		if err != nil {
			return err
		}
		if groups *= len(values); groups > maxGroups {
			return refuse(ref.Location, "group by fewer columns", "the keys have more than %d combinations", maxGroups)
		}
		c.keys = append(c.keys, Key{columnExpr(col), values})
	}
	// The canonical order, so that GROUP BY a, b and b, a are one question.
	slices.SortFunc(c.keys, func(a, b Key) int { return strings.Compare(a.Column.Name, b.Column.Name) })
	return nil
}

// aliased returns the column that a name of the SELECT list stands for.
func aliased(targets []*pg.Node, name string) *pg.ColumnRef {
	for _, n := range targets {
		if t := n.GetResTarget(); t != nil && t.Name != "" && strings.EqualFold(t.Name, name) {
			return t.Val.GetColumnRef()
		}
	}
	return nil
}

// ordinal reads a constant as a position, counted from 1, in a list of n.
func ordinal(n *pg.Node, length int) (int, bool) {
	v, ok := n.GetAConst().GetVal().(*pg.A_Const_Ival)
	if !ok || v.Ival.GetIval() < 1 || int(v.Ival.GetIval()) > length {
		return 0, false
	}
	return int(v.Ival.GetIval()) - 1, true
}

func (c *checker) keyIndex(col *policy.Column) int {
	return slices.IndexFunc(c.keys, func(k Key) bool { return k.Column.Column == col })
}

// key makes the output of a grouping column.
func (c *checker) key(col *policy.Column, pos int32) (draft, error) {
	i := c.keyIndex(col)
	if i < 0 {
		return draft{}, refuse(pos, "put it into GROUP BY or inside COUNT, SUM or AVG", "%s is not in GROUP BY, and values of single rows cannot be shown", col.Name)
	}
	return draft{Output: Output{Name: col.Name, Kind: KeyOutput, Key: i, typ: c.keys[i].Column.typ}}, nil
}

// keyOutput returns the index of the output of a grouping column, adding a hidden
// one where the analyst did not select it.
func (c *checker) keyOutput(col *policy.Column, pos int32) (int, error) {
	d, err := c.key(col, pos)
	if err != nil {
		return 0, err
	}
	i := slices.IndexFunc(c.outputs, func(o draft) bool { return o.Kind == KeyOutput && o.Key == d.Key })
	if i < 0 {
		i = len(c.outputs)
		c.outputs = append(c.outputs, d)
	}
	return i, nil
}
