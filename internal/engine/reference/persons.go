package reference

import (
	"fmt"
	"math/big"

	"github.com/discreet-dp/discreet/internal/plan/expr"
	"github.com/discreet-dp/discreet/internal/plan/tree"
)

// grouped puts rows that are equal in what key says together, in the order in which each is seen
// first.
func grouped(rows []row, key func(row) string) [][]row {
	at := map[string]int{}
	var out [][]row
	for _, from := range rows {
		k := key(from)
		i, ok := at[k]
		if !ok {
			i = len(out)
			at[k], out = i, append(out, nil)
		}
		out[i] = append(out[i], from)
	}
	return out
}

// somebodys are the rows of a relation that are somebody's and fulfil a condition.
func (r run) somebodys(from tree.Relation, where tree.Expr) []row {
	var out []row
	for _, values := range r.rows(from) {
		if values[from.Unit()] != nil && r.holds(where, values) {
			out = append(out, values)
		}
	}
	return out
}

// spelling is a text that is the same for rows that are equal in some expressions.
func (r run) spelling(values row, over []tree.Expr) string {
	text := ""
	for _, e := range over {
		text += fmt.Sprintf("%q ", fmt.Sprintf("%T %v", expr.Eval(e, r.leaf(values)), expr.Eval(e, r.leaf(values))))
	}
	return text
}

func (r run) persons(p *tree.Persons) []row {
	unit := p.From.Unit()
	groups := grouped(r.somebodys(p.From, p.Where), func(v row) string { return fmt.Sprintf("%q %s", v[unit], r.spelling(v, p.Keys)) })
	var out []row
	for _, rows := range groups {
		values := row{rows[0][unit]}
		for _, k := range p.Keys {
			values = append(values, expr.Eval(k, r.leaf(rows[0])))
		}
		for _, part := range p.Parts {
			values = append(values, inside(r.part(part, rows), p.Fields()[len(values)].Type))
		}
		out = append(out, values)
	}
	return out
}

// inside clamps a number to its type.
func inside(v tree.Value, t tree.Type) tree.Value {
	if n, ok := v.(*big.Int); ok && t.Kind == tree.Number {
		return clamp(n, t.Lo, t.Hi)
	}
	return v
}

// part computes an aggregate of one person's rows.
func (r run) part(p tree.Part, rows []row) tree.Value {
	if p.Kind == tree.PartRows {
		return big.NewInt(int64(len(rows)))
	}
	var values []tree.Value
	different := map[string]bool{}
	for _, from := range rows {
		if v := expr.Eval(p.Arg, r.leaf(from)); v != nil {
			values = append(values, v)
			different[fmt.Sprint(v)] = true
		}
	}
	switch {
	case p.Kind == tree.PartValues:
		return big.NewInt(int64(len(values)))
	case p.Kind == tree.PartDistinct:
		return big.NewInt(int64(len(different)))
	case len(values) == 0:
		return nil
	}
	out := values[0]
	for _, v := range values[1:] {
		switch p.Kind {
		case tree.PartSum:
			out = new(big.Int).Add(out.(*big.Int), v.(*big.Int))
		case tree.PartMin:
			if expr.CompareValues(v, out) < 0 {
				out = v
			}
		case tree.PartMax:
			if expr.CompareValues(v, out) > 0 {
				out = v
			}
		case tree.PartAny:
			out = out.(bool) || v.(bool)
		case tree.PartAll:
			out = out.(bool) && v.(bool)
		default:
			panic(fmt.Sprintf("reference: no aggregate of kind %d", p.Kind))
		}
	}
	return out
}
