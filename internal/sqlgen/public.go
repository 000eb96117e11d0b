package sqlgen

import (
	"fmt"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/policy"
)

// listedCondition prints the condition that keys which the policy lists are public ones. Other keys
// are looked up when the groups arrive: they are not many more than the public ones.
func (r *rows) listedCondition() string {
	if r.placed {
		return ""
	}
	var all []string
	for i, k := range r.q.PublicKeys() {
		if keys := r.keyRelation(k); keys != "" {
			if c := r.isListed(k, r.keys[i], keys); c != "" {
				all = append(all, admitNull(k, r.keys[i], c))
			}
		}
	}
	return strings.Join(all, " AND ")
}

// isListed prints the condition that a group's key is in the list of its column, or is one of not
// many more: a join with a table takes a database a millisecond to plan and to start, which is as
// long as some hundred thousand rows.
func (r *rows) isListed(k tree.Key, name, keys string) string {
	c := k.Expr.(*tree.Column).Field.Source
	switch {
	case r.Listed[c] != "":
		return fmt.Sprintf(r.Listed[c], name)
	case c.Type == policy.Boolean:
		return "" // there are three values
	}
	numbers := listNumbers(k.Values)
	if n := len(numbers); n > 0 && uint64(numbers[n-1])-uint64(numbers[0]) < 4*uint64(n) {
		return fmt.Sprintf("%s BETWEEN %d AND %d", name, numbers[0], numbers[n-1])
	}
	return name + " IN " + keys
}

// listNumbers returns what is neither NULL nor a text, sorted.
func listNumbers(values []policy.Value) []int64 {
	var out []int64
	for _, v := range values {
		if !v.Null && v.Type != policy.Text {
			out = append(out, v.Int)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// keyRelation is the relation of a key's values, where it has one.
func (s *Schema) keyRelation(k tree.Key) string {
	if c, ok := k.Expr.(*tree.Column); ok && c.Field.Source != nil {
		return s.Keys[c.Field.Source]
	}
	return ""
}

// addPlace adds the place of the public keys as g, where the database has places, and returns how
// many keys that were.
func (r *rows) addPlace() int {
	public := r.q.PublicKeys()
	if r.Dialect.Place == nil || len(public) == 0 {
		return 0
	}
	text := ""
	for _, k := range public {
		x := r.keyPlace(k)
		if text != "" {
			x = fmt.Sprintf("(%s * %d + %s)", text, len(k.Values), x)
		}
		text = x
	}
	r.placed, r.keys, r.list = true, []string{"g"}, []string{text + " AS g"}
	return len(public)
}

// keyPlace prints the place of one key among its values, or NULL.
func (r *rows) keyPlace(k tree.Key) string {
	name := r.Key(k)
	if k.Expr.Type().Kind == tree.Boolean {
		name = "CAST(" + name + " AS " + r.Int64 + ")"
	}
	// Where NULL is a public key its place is that of no other value, so the rest keep theirs.
	null, texts, numbers := -1, make([]string, len(k.Values)), make([]int64, len(k.Values))
	for i, v := range k.Values {
		texts[i], numbers[i] = v.Text, v.Int
		if v.Null {
			null = i
		}
	}
	if null >= 0 {
		texts, numbers = slices.Delete(texts, null, null+1), slices.Delete(numbers, null, null+1)
	}
	var values any = numbers
	if k.Expr.Type().Kind == tree.Text {
		values = texts
	}
	return r.let(name, func(name string) string {
		at := r.Place(name, values)
		if null < 0 {
			return at
		}
		if null < len(k.Values)-1 {
			at = r.let(at, func(at string) string {
				return fmt.Sprintf("(%s + CASE WHEN %s >= %d THEN 1 ELSE 0 END)", at, at, null)
			})
		}
		return fmt.Sprintf("CASE WHEN %s IS NULL THEN %d ELSE %s END", name, null, at)
	})
}

// placedCondition prints the condition that there is a place: no other key takes part in anything.
func (r *rows) placedCondition() string {
	if !r.placed {
		return ""
	}
	return " WHERE g IS NOT NULL"
}

// publicCondition prints the condition that keys are public ones. People are cut to some of their
// groups only after it, so that no other key takes the place of a public one.
func (r *rows) publicCondition() string {
	if r.placed {
		return ""
	}
	var all []string
	for i, k := range r.q.PublicKeys() {
		name := r.keys[i]
		if keys := r.keyRelation(k); keys != "" {
			all = append(all, admitNull(k, name, name+" IN "+keys))
			continue
		}
		if c := r.isPublic(k, name); c != "" {
			all = append(all, c)
		}
	}
	if len(all) == 0 {
		return ""
	}
	return " WHERE " + strings.Join(all, " AND ")
}

// isPublic prints the condition that a key without a table is public: between two ends, or in a
// list that is one parameter.
func (r *rows) isPublic(k tree.Key, name string) string {
	var texts []string
	for _, v := range k.Values {
		if !v.Null && v.Type == policy.Text {
			texts = append(texts, v.Text)
		}
	}
	switch k.Expr.Type().Kind {
	case tree.Text:
		return admitNull(k, name, name+" IN "+r.Members(r.parameter(texts), r.Text))
	case tree.Boolean:
		name = "CAST(" + name + " AS " + r.Int64 + ")"
	}
	numbers := listNumbers(k.Values)
	if n := len(numbers); n > 0 && uint64(numbers[n-1])-uint64(numbers[0]) == uint64(n-1) {
		return admitNull(k, name, fmt.Sprintf("%s BETWEEN %d AND %d", name, numbers[0], numbers[n-1]))
	}
	return admitNull(k, name, name+" IN "+r.Members(r.parameter(numbers), r.Int64))
}

// admitNull lets NULL through where it is a public key.
func admitNull(k tree.Key, name, condition string) string {
	if slices.ContainsFunc(k.Values, func(v policy.Value) bool { return v.Null }) {
		return "(" + condition + " OR " + name + " IS NULL)"
	}
	return condition
}
