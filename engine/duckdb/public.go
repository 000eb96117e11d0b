package duckdb

import (
	"fmt"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/plan"
	"github.com/discreet-dp/discreet/policy"
)

// onlyListed prints the condition that keys which the policy lists are public ones. Other keys are looked up
// when the groups arrive: they are not many more than the public ones.
func (r *rows) onlyListed() string {
	var all []string
	for i, k := range r.q.PublicKeys() {
		if table := r.keyTable(k); table != "" {
			all = append(all, orNull(k, r.keys[i], r.keys[i]+" IN (FROM "+table+")"))
		}
	}
	return strings.Join(all, " AND ")
}

// keyTable names the table of a key's values, where it has one.
func (s *snapshot) keyTable(k plan.Key) string {
	if c, ok := k.Expr.(*plan.Column); ok && c.Field.Source != nil {
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
func (r *rows) isPublic(k plan.Key, name string) string {
	var numbers []int64
	var texts []string
	for _, v := range k.Values {
		switch {
		case v.Null:
		case v.Type == policy.Text:
			texts = append(texts, v.Text)
		default:
			numbers = append(numbers, v.Int)
		}
	}
	switch k.Expr.Type().Kind {
	case plan.Text:
		return orNull(k, name, name+" IN (SELECT unnest("+r.arg(texts, "VARCHAR[]")+"))")
	case plan.Boolean:
		name = "CAST(" + name + " AS BIGINT)"
	}
	slices.Sort(numbers)
	numbers = slices.Compact(numbers)
	if n := len(numbers); n > 0 && uint64(numbers[n-1])-uint64(numbers[0]) == uint64(n-1) {
		return orNull(k, name, fmt.Sprintf("%s BETWEEN %d AND %d", name, numbers[0], numbers[n-1]))
	}
	return orNull(k, name, name+" IN (SELECT unnest("+r.arg(numbers, "BIGINT[]")+"))")
}

// orNull lets NULL through where it is a public key.
func orNull(k plan.Key, name, condition string) string {
	if slices.ContainsFunc(k.Values, func(v policy.Value) bool { return v.Null }) {
		return "(" + condition + " OR " + name + " IS NULL)"
	}
	return condition
}
