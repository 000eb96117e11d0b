package plan

import (
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/internal/plan/expr"
	"github.com/discreet-dp/discreet/internal/plan/syntax"
	"github.com/discreet-dp/discreet/internal/plan/tree"
	"github.com/discreet-dp/discreet/policy"
)

// column finds out what the values of a column can be, from what is public alone, or refuses it.
func (b *tableBuilder) column(c tableDraft) (tree.TableColumn, error) {
	out := tree.TableColumn{Name: c.name, Expr: c.expr}
	t := c.expr.Type()
	if l, ok := c.expr.(*tree.Literal); ok {
		return out, b.constant(c, tree.Describe(l))
	}
	if who := tree.Derived(c.expr); who != nil {
		return out, syntax.Refuse(c.pos, "leave it out", "%s says who or what a row is about, and nothing can be learned from it",
			who.Field.Describe())
	}
	switch t.Kind {
	case tree.Identity:
		return out, syntax.Refuse(c.pos, "leave it out", "a column that says who or what a row is about cannot be trained on")
	case tree.Real:
		return out, syntax.Refuse(c.pos, "round it, as in round(x, 2), or ask the owner for a granularity in the policy",
			"%q is the result of a division or a decimal without granularity, and rows to train on are exact numbers", c.name)
	case tree.Number:
		if t.Declared {
			return out, b.number(c)
		}
	case tree.Date, tree.Timestamp:
		if t.Declared && t.Lo != nil {
			return out, b.number(c)
		}
	}
	var err error
	out.Values, err = b.category(c)
	return out, err
}

// number checks the bounds of a number or a time.
func (b *tableBuilder) number(c tableDraft) error {
	t := c.expr.Type()
	switch {
	case t.Lo.Cmp(t.Hi) == 0:
		return b.constant(c, tree.Describe(c.expr))
	case expr.MaxAbs(t).Cmp(maxSteps) > 0:
		return syntax.Refuse(c.pos, "round it, or ask the owner for a coarser granularity or narrower bounds",
			"the values of %q could exceed 2^53 steps", c.name)
	}
	return nil
}

func (b *tableBuilder) constant(c tableDraft, what string) error {
	return syntax.Refuse(c.pos, "use something that differs between rows; an intercept is added by itself",
		"%q is the same in all rows: %s", c.name, what)
}

// category finds the public values.
func (b *tableBuilder) category(c tableDraft) ([]policy.Value, error) {
	t := c.expr.Type()
	var values []policy.Value
	found := true
	if t.Kind == tree.Boolean {
		values = b.keys.keepAllowed(c.expr, []policy.Value{expr.BoolValue(false), expr.BoolValue(true)})
	} else {
		var err error
		b.keys.domains.costly = false
		if values, found, err = b.keys.values(c.expr, c.pos); err != nil {
			return nil, err
		}
	}
	values = slices.DeleteFunc(slices.Clone(values), func(v policy.Value) bool { return v.Null }) // it has a code of its own
	switch {
	case !found && b.keys.domains.costly:
		return nil, syntax.Refuse(c.pos, "select columns as they are, or compute numbers and conditions of them",
			"it takes too much work to find the values of this category")
	case !found && t.Kind == tree.Text:
		return nil, syntax.Refuse(c.pos, "list the values you want, as in WHERE "+tree.Describe(c.expr)+
			" IN ('a', 'b'), leave it out, or ask the owner to add keys: [...] to the column in the policy",
			"%q is a text without public keys", c.name)
	case !found && t.Kind == tree.Number:
		return nil,
			syntax.Refuse(c.pos, "bring it between two numbers, as in greatest(0, least(100, x)), leave it out, or ask the owner to add "+
				"bounds: [lowest, highest] to the column in the policy",
				"%q is a number without public bounds", c.name)
	case !found:
		return nil, syntax.Refuse(c.pos, "leave it out, or ask the owner to add bounds: [first, last] to the column in the policy",
			"%q is %s without public bounds", c.name, expr.Article(t.Kind))
	case len(values) == 1 && t.Kind != tree.Number: // which values[0] has in steps
		what := values[0].String()
		if t.Kind == tree.Text {
			what = "'" + strings.ReplaceAll(what, "'", "''") + "'"
		}
		return nil, b.constant(c, what)
	case len(values) < 2:
		return nil, b.constant(c, tree.Describe(c.expr))
	}
	return values, nil
}
