package plan

import (
	"maps"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/policy"
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

// publicKeys returns the public values of a column to group by.
func publicKeys(c *policy.Column, pos int32) ([]policy.Value, error) {
	values := c.PublicValues()
	switch {
	case len(values) > 0:
		return values, nil
	case c.Keys == policy.PrivateKeys:
		return nil, refuse(pos, "group by a column with public keys, or ask the owner to list the keys of this one",
			"the keys of %s are private, and private keys cannot be released yet", c.Name)
	case c.Type == policy.Decimal:
		return nil, refuse(pos, "group by another column, or compare this one in WHERE", "%s is a decimal, and decimals cannot be grouped by", c.Name)
	}
	return nil, refuse(pos, "group by another column, or ask the owner to add keys: [...] to this one in the policy",
		"%s has no public keys", c.Name)
}
