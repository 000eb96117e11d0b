package duckdb

import (
	"fmt"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/internal/plan/tree"
	"github.com/discreet-dp/discreet/policy"
)

// onlyListed prints the condition that keys which the policy lists are public ones. Other keys are looked up
// when the groups arrive: they are not many more than the public ones.
func (r *rows) onlyListed() string {
	var all []string
	for i, k := range r.q.PublicKeys() {
		if table := r.keyTable(k); table != "" {
			if c := r.isListed(k, r.keys[i], table); c != "" {
				all = append(all, orNull(k, r.keys[i], c))
			}
		}
	}
	return strings.Join(all, " AND ")
}

// isListed prints the condition that a group's key is in the list of its column, or is one of not many more: a join
// with a table takes DuckDB a millisecond to plan and to start, which is as long as some hundred thousand rows.
func (r *rows) isListed(k tree.Key, name, table string) string {
	c := k.Expr.(*tree.Column).Field.Source
	switch {
	case r.listed[c] != nil:
		return fmt.Sprintf("discreet_key(%d::BIGINT, %s) >= 0", r.listed[c].ID, name)
	case c.Type == policy.Boolean:
		return "" // there are three values
	}
	numbers := numbersOf(k.Values)
	if n := len(numbers); n > 0 && uint64(numbers[n-1])-uint64(numbers[0]) < 4*uint64(n) {
		return fmt.Sprintf("%s BETWEEN %d AND %d", name, numbers[0], numbers[n-1])
	}
	return name + " IN (FROM " + table + ")"
}

// numbersOf returns what is neither NULL nor a text, sorted.
func numbersOf(values []policy.Value) []int64 {
	var out []int64
	for _, v := range values {
		if !v.Null && v.Type != policy.Text {
			out = append(out, v.Int)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// keyTable names the table of a key's values, where it has one.
func (s *snapshot) keyTable(k tree.Key) string {
	if c, ok := k.Expr.(*tree.Column); ok && c.Field.Source != nil {
		return s.keys[c.Field.Source]
	}
	return ""
}

// onlyPublic prints the condition that keys are public ones. People are cut to some of their groups only after it, so
// that no other key takes the place of a public one.
func (r *rows) onlyPublic() string {
	var all []string
	for i, k := range r.q.PublicKeys() {
		name := r.keys[i]
		if table := r.keyTable(k); table != "" {
			all = append(all, orNull(k, name, name+" IN (FROM "+table+")"))
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

// isPublic prints the condition that a key without a table is public: between two ends, or in a list that is one parameter.
func (r *rows) isPublic(k tree.Key, name string) string {
	var texts []string
	for _, v := range k.Values {
		if !v.Null && v.Type == policy.Text {
			texts = append(texts, v.Text)
		}
	}
	switch k.Expr.Type().Kind {
	case tree.Text:
		return orNull(k, name, name+" IN (SELECT unnest("+r.arg(texts, "VARCHAR[]")+"))")
	case tree.Boolean:
		name = "CAST(" + name + " AS BIGINT)"
	}
	numbers := numbersOf(k.Values)
	if n := len(numbers); n > 0 && uint64(numbers[n-1])-uint64(numbers[0]) == uint64(n-1) {
		return orNull(k, name, fmt.Sprintf("%s BETWEEN %d AND %d", name, numbers[0], numbers[n-1]))
	}
	return orNull(k, name, name+" IN (SELECT unnest("+r.arg(numbers, "BIGINT[]")+"))")
}

// orNull lets NULL through where it is a public key.
func orNull(k tree.Key, name, condition string) string {
	if slices.ContainsFunc(k.Values, func(v policy.Value) bool { return v.Null }) {
		return "(" + condition + " OR " + name + " IS NULL)"
	}
	return condition
}
