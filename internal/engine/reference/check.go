package reference

import (
	"fmt"
	"math/big"

	"github.com/discreet-dp/discreet/internal/plan/expr"
	"github.com/discreet-dp/discreet/internal/plan/tree"
)

// Check computes a query's relations and says what the planner has claimed about them and is not
// so: that nobody has more than one row (Single), that a number lies in its interval, that a public
// key is not there twice. Its error depends on the data, so it is for audits of made-up data only.
func (e *Engine) Check(q *tree.Query) error {
	r := run{e, map[tree.Relation][]row{}}
	c := checker{run: r}
	c.relation(q.From)
	for _, values := range r.rows(q.From) {
		if values[q.From.Unit()] == nil || !r.holds(q.Where, values) {
			continue
		}
		for _, m := range q.Measures {
			if m.Arg != nil {
				c.checkInside(m.Arg.Type(), expr.Eval(m.Arg, r.leaf(values)), m.Describe())
			}
		}
	}
	return c.err
}

type checker struct {
	run
	err error
}

func (c *checker) fail(format string, args ...any) {
	if c.err == nil {
		c.err = fmt.Errorf(format, args...)
	}
}

func (c *checker) checkInside(t tree.Type, v tree.Value, what string) {
	if n, ok := v.(*big.Int); ok && (n.Cmp(t.Lo) < 0 || n.Cmp(t.Hi) > 0) {
		c.fail("%s is %v, outside of %v", what, n, t)
	}
}

func (c *checker) relation(rel tree.Relation) {
	switch rel := rel.(type) {
	case *tree.Join:
		c.relation(rel.L)
		c.relation(rel.R)
	case *tree.Select:
		c.relation(rel.From)
	case *tree.Union:
		for _, p := range rel.Parts {
			c.relation(p)
		}
	case *tree.Persons:
		c.relation(rel.From)
	case *tree.Window:
		c.relation(rel.From)
	case *tree.Cut:
		c.relation(rel.From)
	}
	people := map[tree.Value]bool{}
	keys := make([]map[string]bool, len(rel.Fields()))
	for _, values := range c.rows(rel) {
		for i, f := range rel.Fields() {
			c.checkInside(f.Type, values[i], "field "+f.Name)
			if f.Key && values[i] != nil && (rel.Unit() < 0 || f.Type.Kind == tree.Identity) {
				if keys[i] == nil {
					keys[i] = map[string]bool{}
				}
				if name := fmt.Sprint(values[i]); keys[i][name] {
					c.fail("the key %q of %T is there twice", f.Name, rel)
				} else {
					keys[i][name] = true
				}
			}
		}
		if u := rel.Unit(); u >= 0 && rel.Single() && values[u] != nil {
			if people[values[u]] {
				c.fail("somebody has two rows in a %T that claims one", rel)
			}
			people[values[u]] = true
		}
	}
}
