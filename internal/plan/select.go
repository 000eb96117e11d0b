package plan

import (
	"github.com/discreet-dp/discreet/internal/plan/expr"
	"github.com/discreet-dp/discreet/internal/plan/tree"
)

// newSelect makes a subquery from named columns over a relation's fields.
func newSelect(from tree.Relation, where tree.Expr, names []string, columns []tree.Expr) *tree.Select {
	s := &tree.Select{From: from, Where: where, UnitField: -1}
	for i, e := range columns {
		f := tree.Field{Name: names[i], Type: e.Type(), Nullable: expr.Nullable(e), Once: tree.IsOnce(e), Derived: tree.Derived(e) != nil}
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
