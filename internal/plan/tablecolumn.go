package plan

import (
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/policy"
)

// column finds out what the values of a column can be, from what is public alone, or refuses it.
func (b *tableBuilder) column(c tableDraft) (TableColumn, error) {
	out := TableColumn{Name: c.name, Expr: c.expr}
	t := c.expr.Type()
	if l, ok := c.expr.(*Literal); ok {
		return out, b.constant(c, describe(l))
	}
	if who := derived(c.expr); who != nil {
		return out, refuse(c.pos, "leave it out", "%s says who or what a row is about, and nothing can be learned from it", who.Field.describe())
	}
	switch t.Kind {
	case Identity:
		return out, refuse(c.pos, "leave it out", "a column that says who or what a row is about cannot be trained on")
	case Real:
		return out, refuse(c.pos, "round it, as in round(x, 2), or ask the owner for a granularity in the policy", "%q is the result of a division or a decimal without granularity, and rows to train on are exact numbers", c.name)
	case Number:
		if t.Declared {
			return out, b.number(c)
		}
	case Date, Timestamp:
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
		return b.constant(c, describe(c.expr))
	case maxAbs(t).Cmp(maxSteps) > 0:
		return refuse(c.pos, "round it, or ask the owner for a coarser granularity or narrower bounds", "the values of %q could exceed 2^53 steps", c.name)
	}
	return nil
}

func (b *tableBuilder) constant(c tableDraft, what string) error {
	return refuse(c.pos, "use something that differs between rows; an intercept is added by itself", "%q is the same in all rows: %s", c.name, what)
}

// category finds the public values.
func (b *tableBuilder) category(c tableDraft) ([]policy.Value, error) {
	t := c.expr.Type()
	var values []policy.Value
	found := true
	if t.Kind == Boolean {
		values = b.within(c.expr, []policy.Value{boolValue(false), boolValue(true)})
	} else {
		// The values of a category that is computed are found by trying all those of the columns in it. A key is, too, and of keys there are few.
		if b.tried > maxDomain {
			return nil, refuse(c.pos, "select columns as they are, or compute numbers and conditions of them", "the categories before this one are computed from too many combinations of values")
		}
		var err error
		if values, found, err = b.values(c.expr, c.pos); err != nil {
			return nil, err
		}
	}
	values = slices.DeleteFunc(slices.Clone(values), func(v policy.Value) bool { return v.Null }) // it has a code of its own
	switch {
	case !found && t.Kind == Text:
		return nil, refuse(c.pos, "list the values you want, as in WHERE "+describe(c.expr)+" IN ('a', 'b'), leave it out, or ask the owner to add keys: [...] to the column in the policy",
			"%q is a text without public keys", c.name)
	case !found && t.Kind == Number:
		return nil, refuse(c.pos, "bring it between two numbers, as in greatest(0, least(100, x)), leave it out, or ask the owner to add bounds: [lowest, highest] to the column in the policy",
			"%q is a number without public bounds", c.name)
	case !found:
		return nil, refuse(c.pos, "leave it out, or ask the owner to add bounds: [first, last] to the column in the policy", "%q is %s without public bounds", c.name, article(t.Kind))
	case len(values) == 1 && t.Kind != Number: // which values[0] has in steps
		what := values[0].String()
		if t.Kind == Text {
			what = "'" + strings.ReplaceAll(what, "'", "''") + "'"
		}
		return nil, b.constant(c, what)
	case len(values) < 2:
		return nil, b.constant(c, describe(c.expr))
	}
	return values, nil
}
