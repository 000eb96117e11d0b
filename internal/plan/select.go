package plan

import (
	"slices"

	"github.com/discreet-dp/discreet/internal/plan/expr"
	"github.com/discreet-dp/discreet/internal/plan/tree"
)

// newSelect makes a subquery from named columns over a relation's fields.
func newSelect(from tree.Relation, where tree.Expr, names []string, columns []tree.Expr) *tree.Select {
	s := &tree.Select{From: from, Where: where, UnitField: -1}
	for i, e := range columns {
		f := tree.Field{Name: names[i], Type: e.Type(), Nullable: expr.Nullable(e), Derived: tree.Derived(e) != nil}
		if c, ok := e.(*tree.Column); ok {
			f = c.Field
			f.Name = names[i]
		}
		s.Columns, s.Row = append(s.Columns, e), append(s.Row, f)
	}
	for i, e := range columns {
		if c, ok := e.(*tree.Column); ok && c.Field.Identity != "" && !c.Field.Raw() {
			s.Row[i].Twin = passField(s, c.Index+c.Field.Twin) - i
		}
	}
	if tree.Private(from) {
		s.UnitField = passField(s, from.Unit())
	}
	return s
}

// pass adds a field of From as it is, without a name, once.
func passField(s *tree.Select, field int) int {
	for i, e := range s.Columns {
		if c, ok := e.(*tree.Column); ok && c.Index == field && s.Row[i].Raw() && s.Row[i].Name == "" {
			return i
		}
	}
	return appendField(s, field)
}

// append adds a field of From as it is, without a name.
func appendField(s *tree.Select, field int) int {
	f := s.From.Fields()[field]
	f.Name = ""
	s.Columns, s.Row = append(s.Columns, tree.NewColumn(s.From, field)), append(s.Row, f)
	return len(s.Row) - 1
}

// oneEach notices where WHERE leaves one row of each person: the one with a number, as in
//
//	SELECT ... FROM (SELECT *, row_number() OVER (PARTITION BY pid ORDER BY day) AS n FROM visits) AS t WHERE n = 1
func (in *rowScope) keepOneEach() {
	if !tree.Private(in.rows) || in.rows.Single() || in.filter == nil || asks(in.filter) {
		return // a subquery counts the fields of the row that asks
	}
	var rest []tree.Expr
	var number tree.Expr
	for _, c := range expr.Conjuncts(in.filter) {
		if number == nil && isNumber(c) {
			number = c
			continue
		}
		rest = append(rest, c)
	}
	if number == nil {
		return
	}
	in.rows.Relation = onlyOne(in.rows.Relation, number)
	switch len(rest) {
	case 0:
		in.filter = nil
	case 1:
		in.filter = rest[0]
	default:
		in.filter = &tree.Logic{Op: tree.And, Args: rest}
	}
}

// isNumber reports whether a condition says which of a person's rows it is.
func isNumber(e tree.Expr) bool {
	eq, ok := e.(*tree.Compare)
	if !ok || eq.Op != tree.Eq {
		return false
	}
	c, ok1 := eq.L.(*tree.Column)
	n, ok2 := eq.R.(*tree.Literal)
	return ok1 && ok2 && c.Field.Serial && n.Number != nil && n.Typ.Integer() && n.Number.Cmp(c.Field.Type.Hi) < 0
}

// onlyOne is a relation with the same fields, and the rows with a number.
func onlyOne(r tree.Relation, number tree.Expr) *tree.Select {
	r = plain(r)
	s := &tree.Select{From: r, Where: number, One: true, UnitField: r.Unit(), Row: slices.Clone(r.Fields())}
	for i := range s.Row {
		s.Columns = append(s.Columns, tree.NewColumn(r, i))
	}
	return s
}
