package plan

import (
	"math/big"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/internal/plan/expr"
	"github.com/discreet-dp/discreet/internal/plan/syntax"
	"github.com/discreet-dp/discreet/internal/plan/tree"
)

// persons reads a subquery that is grouped by the unit: one row for each person.
func (q *question) persons(s *pg.SelectStmt, pos int32) (tree.Relation, error) {
	const instead = "group by the column that says who a row is about, or ask the inner question on its own"
	if !tree.Private(q.rows) || len(s.GroupClause) != 1 {
		return nil, syntax.Refuse(pos, instead, "a subquery with aggregates among private rows must be grouped by the person alone")
	}
	key := s.GroupClause[0]
	if i, ok := ordinal(key, len(s.TargetList)); ok {
		key = s.TargetList[i].GetResTarget().GetVal()
	}
	var unitColumn *tree.Column
	isUnit := func(n *pg.Node) bool {
		e, err := checkExpr(below{q}, n)
		c, ok := e.(*tree.Column)
		if err != nil || !ok || !q.isUnit(c) {
			return false
		}
		if unitColumn == nil {
			unitColumn = c
		}
		return c.Stored().Index == unitColumn.Stored().Index
	}
	if !isUnit(key) {
		return nil, syntax.Refuse(syntax.Location(key), instead,
			"a subquery with aggregates among private rows must be grouped by the person alone")
	}
	q.filter = q.present(unitColumn, q.filter)
	if q.filter != nil {
		q.filter = expr.Normal(q.filter)
	}
	var parts []tree.Part
	var types []tree.Type
	names := []string{}
	columns := []tree.Expr{}
	for _, n := range s.TargetList {
		t := n.GetResTarget()
		name := t.GetName()
		if name == "" {
			name = targetName(t.GetVal())
		}
		at := 0
		if !isUnit(t.GetVal()) {
			part, typ, err := q.part(t.GetVal().GetFuncCall(), syntax.Location(t.GetVal()))
			if err != nil {
				return nil, err
			}
			parts, types = append(parts, part), append(types, typ)
			at = len(parts)
		}
		names, columns = append(names, name), append(columns, &tree.Column{Index: at})
	}
	p := newPersons(q, parts, types)
	for _, c := range columns {
		c := c.(*tree.Column)
		c.Field = p.Row[c.Index]
	}
	if name := repeated(names); name != "" {
		return nil, syntax.Refuse(first(s.TargetList), "give every column a name of its own with AS",
			"two columns of the subquery are called %q", name)
	}
	return newSelect(p, nil, names, columns), nil
}

// newPersons groups the rows of a question by the person.
func newPersons(q *question, parts []tree.Part, types []tree.Type) *tree.Persons {
	p := &tree.Persons{From: q.rows.Relation, Where: q.filter, Parts: parts}
	unit := q.rows.Fields()[q.rows.Unit()]
	unit.Name, unit.Key, unit.Once, unit.Nullable = "", true, true, false
	p.Row = []tree.Field{unit}
	for i, part := range parts {
		p.Row = append(p.Row, tree.Field{Type: types[i], Once: true, Nullable: part.Kind >= tree.PartSum})
	}
	return p
}

// isUnit reports whether a column says who a row is about.
func (q *question) isUnit(c *tree.Column) bool {
	unit := q.rows.Unit()
	return unit >= 0 && c.Field.Identity != "" && c.Field.Identity == q.rows.Fields()[unit].Identity
}

// part reads an aggregate of one person's rows. It has bounds, so that it can be summed outside.
func (q *question) part(f *pg.FuncCall, pos int32) (tree.Part, tree.Type, error) {
	none := func(err error) (tree.Part, tree.Type, error) { return tree.Part{}, tree.Type{}, err }
	if f == nil {
		return none(syntax.Refuse(pos, "select the person's column, COUNT, SUM, MIN or MAX",
			"only aggregates of one person's rows can be selected here"))
	}
	name := functionName(f)
	if err := refuseModifiers(f, false, false); err != nil {
		return none(err)
	}
	rows := big.NewInt(q.rows.PersonRows())
	count := tree.NumberType(tree.One, new(big.Int), rows, true)
	if f.AggStar && name == "count" {
		return tree.Part{Kind: tree.PartRows}, count, nil
	}
	if f.AggStar || len(f.Args) != 1 {
		return none(syntax.Refuse(f.Location, "give it one column or expression", "%s takes one argument", name))
	}
	arg, err := q.argument(f)
	if err != nil {
		return none(err)
	}
	t := arg.Type()
	switch name {
	case "count":
		if l, ok := arg.(*tree.Literal); ok && !l.IsNullLiteral() {
			return tree.Part{Kind: tree.PartRows}, count, nil
		}
		return tree.Part{Kind: tree.PartValues, Arg: arg}, count, nil
	case "sum":
		if err := summable(arg, name, f.Location); err != nil {
			return none(err)
		}
		lo, hi := expr.Smaller(new(big.Int), new(big.Int).Mul(rows, t.Lo)), expr.Larger(new(big.Int), new(big.Int).Mul(rows, t.Hi))
		typ := tree.NumberType(t.Step, lo, hi, true)
		if typ.TooWide() {
			return none(syntax.Refuse(f.Location, "ask the owner for narrower bounds or a smaller max_rows",
				"the sum of one person's values can be too large"))
		}
		return tree.Part{Kind: tree.PartSum, Arg: arg}, typ, nil
	case "min", "max":
		if t.Kind != tree.Number && t.Kind != tree.Date && t.Kind != tree.Timestamp {
			return none(syntax.Refuse(f.Location, "use a number or a date", "%s needs numbers or dates, and this is %s", name,
				expr.Article(t.Kind)))
		}
		if name == "min" {
			return tree.Part{Kind: tree.PartMin, Arg: arg}, t, nil
		}
		return tree.Part{Kind: tree.PartMax, Arg: arg}, t, nil
	}
	return none(syntax.Refuse(f.Location, "use COUNT, SUM, MIN or MAX", "%s cannot be used for one person's rows", name))
}
