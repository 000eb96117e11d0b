package policy

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// KeyRule says how a column's values may appear as groups.
type KeyRule int

const (
	// NoKeys: the owner said nothing.
	NoKeys KeyRule = iota
	// PublicKeys: the owner lists the values, and all of them always appear.
	PublicKeys
	// PrivateKeys: which values there are is private.
	PrivateKeys
)

func (k KeyRule) String() string {
	switch k {
	case PublicKeys:
		return "public"
	case PrivateKeys:
		return "private"
	}
	return "none"
}

// A column has at most maxKeys keys, because an answer shows all of them, and a
// key has at most maxKeySize bytes.
const (
	maxKeys    = 10_000
	maxKeySize = 1_000
)

func (c *Column) readKeys(r *reader, f fields, grainOK bool) {
	v, ok := f.get("keys")
	if !ok {
		return
	}
	const want = "a list of values such as [F, M, X], or the word private"
	if c.Type == Decimal {
		r.at(v, "a decimal column cannot have keys, because its values are rounded; make the type integer, or remove the keys")
		return
	}
	switch n := v.node; {
	case n.Kind == yaml.AliasNode:
	case n.Kind == yaml.ScalarNode && n.Value == "private":
		c.Keys = PrivateKeys
	case n.Kind != yaml.SequenceNode:
		hint := ""
		if n.Kind == yaml.ScalarNode {
			hint = didYouMean(n.Value, "private")
		}
		r.at(v, "'keys' must be %s, but this is %s%s", want, kind(n), hint)
	case len(n.Content) == 0:
		r.at(v, "the list of keys is empty; write %s, or remove the key", want)
	case len(n.Content) > maxKeys:
		r.at(v, "there are %d keys, and a column has at most %d; an answer shows every one of them, so group by something coarser",
			len(n.Content), maxKeys)
	default:
		c.Keys = PublicKeys
		seen := make(map[Value]int, len(n.Content))
		for _, item := range n.Content {
			at := element{node: item, where: v.where}
			if item.Value == "" {
				at.key = v.key
			}
			key, ok := c.readKey(r, at, grainOK)
			if !ok {
				continue
			}
			if line, ok := seen[key]; ok {
				r.at(at, "the key %s is listed twice, first in line %d; keep one", quote(c.ShowValue(key)), line)
				continue
			}
			seen[key] = item.Line
			c.KeyValues = append(c.KeyValues, key)
		}
	}
}

// readKey reads one key. A text is its spelling in the file: NO, 01 and 1e3 stay
// what they are, and only null and ~ without quotes are the NULL group.
func (c *Column) readKey(r *reader, at element, grainOK bool) (Value, bool) {
	n, v := at.node, Value{Type: c.Type}
	switch {
	case n.Kind == yaml.AliasNode:
		return v, false
	case n.Kind != yaml.ScalarNode:
		r.at(at, "a key must be a single value, but this is %s", kind(n))
		return v, false
	case r.isNull(at) && n.Value == "":
		r.at(at, "a key is empty; write null for the group of rows without a value, or \"\" for the empty text")
		return v, false
	case r.isNull(at):
		if !c.Nullable {
			r.at(at, "null is a key, but the column is not nullable; remove one of the two")
			return v, false
		}
		v.Null = true
		return v, true
	}
	switch c.Type {
	case Text:
		if len(n.Value) > maxKeySize || strings.ContainsRune(n.Value, 0) {
			r.at(at, "a key is at most %d bytes long and has no zero byte", maxKeySize)
			return v, false
		}
		v.Text = n.Value
		return v, true
	case Boolean:
		b, ok := parseBool(n)
		if !ok {
			r.at(at, "the key %s is not a boolean; write true, false or null", quote(n.Value))
			return v, false
		}
		if b {
			v.Int = 1
		}
		return v, true
	}
	// The rest is on the lattice, with or without bounds.
	exact, problem := c.parsePoint(n)
	if problem != "" {
		r.at(at, "the key %s", problem)
		return v, false
	}
	if !grainOK {
		return v, false
	}
	if v.Int, problem = c.steps(exact); problem != "" {
		r.at(at, "the key %s", problem)
		return v, false
	}
	if b := c.Bounds; b != nil && (v.Int < b.LoSteps || v.Int > b.HiSteps) {
		r.at(at, "the key %s is outside the bounds %s, so no row can have it; remove it or widen the bounds", c.Show(v.Int), c.boundsText())
		return v, false
	}
	return v, true
}

// MaxPublicValues is how many values a column may bring by itself: those of an
// integer or a date between its bounds.
const MaxPublicValues = 100_000

// PublicValues returns the values that everybody may know of, by which analysts can
// group: those that the owner lists; both of a boolean; and all between the bounds of
// an integer or a date, because bounds are public and every value is moved into them.
func (c *Column) PublicValues() []Value {
	switch {
	case c.Keys == PublicKeys:
		return slices.Clone(c.KeyValues)
	case c.Keys == PrivateKeys:
		return nil
	case c.Type == Boolean:
		return []Value{{Type: Boolean, Int: 0}, {Type: Boolean, Int: 1}}
	}
	n := c.CountPublicValues()
	if n == 0 {
		return nil
	}
	out := make([]Value, 0, n)
	for i := c.Bounds.LoSteps; i <= c.Bounds.HiSteps; i++ {
		out = append(out, Value{Type: c.Type, Int: i})
	}
	return out
}

// CountPublicValues is how many [Column.PublicValues] there are.
func (c *Column) CountPublicValues() int {
	switch {
	case c.Keys == PublicKeys:
		return len(c.KeyValues)
	case c.Keys == PrivateKeys:
		return 0
	case c.Type == Boolean:
		return 2
	case (c.Type == Integer || c.Type == Date) && c.Bounds != nil && c.Bounds.HiSteps-c.Bounds.LoSteps < MaxPublicValues:
		return int(c.Bounds.HiSteps-c.Bounds.LoSteps) + 1
	}
	return 0
}
