package plan

import (
	"maps"
	"slices"
	"strings"
)

// lookup finds a name as SQL does: exactly, or else without regard to case. A
// policy has no two names that differ in case only.
func lookup[T any](m map[string]T, name string) (T, bool) {
	if v, ok := m[name]; ok {
		return v, true
	}
	for k, v := range m {
		if strings.EqualFold(k, name) {
			return v, true
		}
	}
	var none T
	return none, false
}

// known lists names for an error text. They are the policy's, not the data's.
func known[T any](what string, m map[string]T) string {
	names := slices.Sorted(maps.Keys(m))
	if len(names) == 0 {
		return "the policy lists no " + what
	}
	more := ""
	if len(names) > 20 {
		names, more = names[:20], ", ..."
	}
	return "the " + what + " are " + strings.Join(names, ", ") + more
}
