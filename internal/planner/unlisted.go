package planner

import (
	"fmt"
	"slices"

	"github.com/discreet-dp/discreet/internal/planner/expr"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/policy"
)

// mostUnlisted is how many constants are named: who sees three looks at the others too.
const mostUnlisted = 3

// Unlisted says which constants of a question's conditions are none of the keys that the policy
// lists for the column they are compared with. Rows may have such values, but they are more often
// misspelt, and noise around nothing looks like an answer. It depends on the policy and on the
// question alone.
func (st *Statement) Unlisted() []string {
	var out []string
	known := map[*policy.Column]map[string]bool{}
	missing := func(x tree.Expr, literals ...*tree.Literal) {
		c, ok := x.(*tree.Column)
		if !ok || c.Field.Source == nil || c.Field.Source.Keys != policy.PublicKeys {
			return
		}
		listed := known[c.Field.Source]
		if listed == nil {
			listed = map[string]bool{"NULL": true}
			for _, v := range c.Field.Source.KeyValues {
				listed[tree.Describe(expr.FromValue(expr.FromKey(v, c.Field.Type), c.Field.Type))] = true
			}
			known[c.Field.Source] = listed
		}
		for _, l := range literals {
			text := tree.Describe(l)
			note := fmt.Sprintf("%s is none of the keys that the policy lists for %s; is it spelt as they are?", text, c.Field.Describe())
			if !listed[text] && len(out) < mostUnlisted && !slices.Contains(out, note) {
				out = append(out, note)
			}
		}
	}
	look := func(e tree.Expr) {
		switch e := e.(type) {
		case *tree.In:
			missing(e.X, e.List...)
		case *tree.Compare:
			if e.Op == tree.Lt || e.Op == tree.Le || e.Op == tree.Gt || e.Op == tree.Ge {
				return
			}
			if l, ok := e.R.(*tree.Literal); ok {
				missing(e.L, l)
			} else if l, ok := e.L.(*tree.Literal); ok {
				missing(e.R, l)
			}
		}
	}
	for _, p := range st.Plans {
		eachCondition(&p.Query, look)
	}
	return out
}

// eachCondition visits all that a query asks of rows.
func eachCondition(q *tree.Query, visit func(tree.Expr)) {
	var relation func(tree.Relation)
	each := func(all ...tree.Expr) {
		for _, e := range all {
			if e == nil {
				continue
			}
			tree.Walk(e, func(x tree.Expr) {
				visit(x)
				if inner, ok := x.(*tree.Exists); ok {
					relation(inner.From)
				}
			})
		}
	}
	relation = func(r tree.Relation) {
		switch r := r.(type) {
		case *tree.Join:
			relation(r.L)
			relation(r.R)
			each(r.On)
		case *tree.Union:
			for _, p := range r.Parts {
				relation(p)
			}
		case *tree.Select:
			relation(r.From)
			each(r.Where)
			each(r.Columns...)
		case *tree.Persons:
			relation(r.From)
			each(r.Where)
			each(r.Keys...)
			for _, p := range r.Parts {
				each(p.Arg)
			}
		case *tree.Window:
			relation(r.From)
			each(r.Where)
			for _, o := range r.Calls {
				each(o.Expressions()...)
			}
		case *tree.Cut:
			relation(r.From)
		}
	}
	relation(q.From)
	each(q.Where)
	for _, k := range q.Keys {
		each(k.Expr)
	}
	for _, m := range q.Measures {
		each(m.Arg)
	}
}
