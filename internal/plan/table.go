package plan

import "github.com/discreet-dp/discreet/internal/plan/tree"

// flat is what [Plan] has of the same name.
func (fl flattener) flattenTable(t *tree.Table) {
	q := t.AsQuery()
	for {
		s, ok := q.From.(*tree.Select)
		if !ok || !fl.moveBelow(q, s) {
			break
		}
	}
	t.From, t.Where = q.From, q.Where
	for i, k := range q.Keys {
		t.Columns[i].Expr = k.Expr
	}
}
