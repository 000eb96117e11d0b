package policy

import (
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
)

// Column is a column that analysts may name.
type Column struct {
	Name string
	Type Type
	// Nullable says that the column may hold NULL. It is true unless the owner
	// knows better.
	Nullable bool
	// Bounds are the ends that values are clamped to, or nil: then the column can be
	// counted and compared, and not summed.
	Bounds *Bounds
	// Granularity is the distance between the lattice's points: 1 for integers unless said
	// otherwise, 1 day for dates, 1 microsecond for timestamps, nil for text, booleans, and
	// decimals that have none.
	Granularity *big.Rat
	// Keys says how the column's values may appear as groups, and KeyValues are the
	// public ones in the order of the file.
	Keys      KeyRule
	KeyValues []Value
	// MaxSum is what one person adds to a sum of the column in one group of an answer at most, or
	// nil where the bounds and MaxRows alone say it.
	MaxSum *big.Rat
	// BoundsFromData says that the bounds were read off the data, which the owner
	// accepted. They tell something about the people at the extremes.
	BoundsFromData bool
}

// Show returns the value at a lattice point as the column's type spells it.
func (c *Column) Show(steps int64) string {
	switch {
	case c.Type == Date:
		return FormatDate(steps)
	case c.Type == Timestamp:
		return FormatTimestamp(steps)
	case c.Granularity == nil:
		return strconv.FormatInt(steps, 10)
	}
	return decimal(new(big.Rat).Mul(new(big.Rat).SetInt64(steps), c.Granularity))
}

// ShowValue returns a listed value as the column's type spells it.
func (c *Column) ShowValue(v Value) string {
	if v.Null || v.Type != Integer {
		return v.String()
	}
	return c.Show(v.Int)
}

// maxGrain bounds the numerator and the denominator of a granularity, so that
// the engine can divide by it in 128 bits.
var maxGrain = big.NewInt(1_000_000_000_000)

func (c *Column) read(r *reader, at place, spelling func(fields, *Column)) {
	c.Nullable = true
	f, ok := r.fields(at, at.node, "a column", columnKeys)
	if !ok {
		return
	}
	if v, ok := f.get("nullable"); ok {
		if b, ok := r.truth(v, "nullable"); ok {
			c.Nullable = b
		}
	}
	if !c.readType(r, f) {
		return // Nothing else can be read without the type.
	}
	spelling(f, c)
	grainOK := c.readGranularity(r, f)
	c.readBounds(r, f, grainOK)
	c.readMaxSum(r, f)
	c.readKeys(r, f, grainOK)
}

func (c *Column) readType(r *reader, f fields) bool {
	names := make([]string, 0, len(Types()))
	for _, t := range Types() {
		names = append(names, t.String())
	}
	want := "one of " + strings.Join(names, ", ")
	v, ok := f.need(r, "type", "write "+want)
	if !ok {
		return false
	}
	text, ok := r.text(v, "type", want)
	if !ok {
		return false
	}
	if i := slices.Index(names, text); i >= 0 {
		c.Type = Types()[i]
		return true
	}
	hint := didYouMean(text, names...)
	if t, ok := otherTypeNames[strings.ToLower(text)]; ok {
		hint = "; did you mean " + quote(t.String()) + "?"
	}
	if hint == "" {
		hint = "; write " + want
	}
	r.at(v, "there is no type %s%s", quote(text), hint)
	return false
}

// readGranularity reports whether the granularity can be used.
func (c *Column) readGranularity(r *reader, f fields) bool {
	if c.Type == Integer || c.Type == Date || c.Type == Timestamp {
		c.Granularity = big.NewRat(1, 1)
	}
	v, ok := f.get("granularity")
	if !ok {
		return true
	}
	switch c.Type {
	case Date:
		r.at(v, "a date's granularity is one day; remove the key")
		return true
	case Timestamp:
		r.at(v, "a timestamp's granularity is one microsecond; remove the key")
		return true
	case Text, Boolean:
		r.at(v, "a %s column has no granularity; remove the key", c.Type)
		return true
	}
	n, ok := r.number(v, "granularity")
	switch {
	case !ok:
	case n.Sign() <= 0:
		r.at(v, "the granularity must be above 0; it is the step that values are rounded to, such as 0.01 for cents")
	case c.Type == Integer && !n.IsInt():
		r.at(v, "an integer column's granularity must be a whole number, but this is %s; leave it out, or make the "+
			"type decimal", v.node.Value)
	case n.Num().Cmp(maxGrain) > 0 || n.Denom().Cmp(maxGrain) > 0:
		r.at(v, "the granularity %s is too fine or too coarse; write one between 1e-12 and 1e12 with at most 12 digits", v.node.Value)
	default:
		c.Granularity = n
		return true
	}
	return false
}

func (c *Column) boundsText() string {
	return fmt.Sprintf("[%s, %s]", c.Show(c.Bounds.LoSteps), c.Show(c.Bounds.HiSteps))
}
