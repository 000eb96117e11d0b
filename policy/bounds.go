package policy

import (
	"fmt"
	"math/big"

	"go.yaml.in/yaml/v3"
)

// Bounds are the public ends of a column's values. Everything outside is moved
// to the nearer end before it is summed, so they decide how far one person can
// move a sum, and the noise grows with them.
type Bounds struct {
	// Lo and Hi are the ends; for dates, days since 1970-01-01, and for timestamps microseconds.
	Lo, Hi *big.Rat
	// LoSteps and HiSteps are the same ends in steps of the column's granularity.
	LoSteps, HiSteps int64
}

// maxSteps bounds the lattice. Sums then fit in 128 bits with room to spare for every
// number of rows below 2^63, and a single value is exact even in a double.
const maxSteps = 1 << 53

const fillIn = "fill in the bounds: [lowest, highest] from what you know about the world and not from the data, because a bound read " +
	"off the data tells about the person at the extreme"

func (c *Column) readBounds(r *reader, f fields, grainOK bool) {
	if v, ok := f.get("bounds_from"); ok {
		c.readBoundsFrom(r, f, v)
	}
	v, ok := f.get("bounds")
	if !ok {
		return
	}
	if c.Type == Text || c.Type == Boolean {
		r.at(v, "a %s column has no bounds; remove them, or list the values that analysts may group by under 'keys'", c.Type)
		return
	}
	n := v.node
	switch {
	case n.Kind == yaml.AliasNode:
		return
	case r.isNull(v):
		r.at(v, fillIn)
		return
	case n.Kind != yaml.SequenceNode || len(n.Content) != 2:
		what := kind(n)
		if n.Kind == yaml.SequenceNode {
			what = fmt.Sprintf("a list of %d", len(n.Content))
		}
		r.at(v, "'bounds' must be a list of two, [lowest, highest], but this is %s", what)
		return
	}
	b, ok := &Bounds{}, true
	for i, end := range []**big.Rat{&b.Lo, &b.Hi} {
		item := n.Content[i]
		if item.Kind == yaml.AliasNode {
			return
		}
		if r.isNull(element{node: item}) || item.Value == "lowest" || item.Value == "highest" || item.Value == "FILL_IN" {
			r.at(v, fillIn)
			return
		}
		var problem string
		if *end, problem = c.parsePoint(item); problem != "" {
			r.at(element{node: item, where: v.where}, "the bound %s", problem)
			ok = false
		}
	}
	if !ok {
		return
	}
	switch lo, hi := n.Content[0].Value, n.Content[1].Value; b.Lo.Cmp(b.Hi) {
	case 1:
		r.at(v, "bounds the wrong way: [%s, %s]; write [%s, %s]", lo, hi, hi, lo)
		return
	case 0:
		r.at(v, "the bounds [%s, %s] leave only one value, so there is nothing to ask; write the lowest and the highest value "+
			"that can occur", lo, hi)
		return
	}
	if c.Type == Decimal && c.Granularity == nil {
		if grainOK {
			r.at(f.at,
				"a decimal column with bounds needs the key 'granularity': the step that values are rounded to, such as 0.01 for cents")
		}
		return
	}
	if !grainOK {
		return
	}
	for i, end := range []struct {
		exact *big.Rat
		steps *int64
	}{{b.Lo, &b.LoSteps}, {b.Hi, &b.HiSteps}} {
		var problem string
		if *end.steps, problem = c.steps(end.exact); problem != "" {
			r.at(element{node: n.Content[i], where: v.where}, "the bound %s", problem)
			ok = false
		}
	}
	if ok {
		c.Bounds = b
	}
}

func (c *Column) readBoundsFrom(r *reader, f fields, v element) {
	text, ok := r.text(v, "bounds_from", "data, or remove the key")
	if !ok {
		return
	}
	if text != "data" {
		r.at(v, "bounds_from is %s, but it can only say that the bounds were read off the data; write data, or remove the key if you "+
			"chose the bounds yourself", quote(text))
		return
	}
	if _, ok := f.get("bounds"); !ok {
		r.at(v, "bounds_from is about bounds, but there are none; add the bounds, or remove the key")
		return
	}
	c.BoundsFromData = true
}

// parsePoint reads a number or a date as an exact number, and returns what is
// wrong with it where it is none.
func (c *Column) parsePoint(n *yaml.Node) (*big.Rat, string) {
	if n.Kind != yaml.ScalarNode {
		return nil, "must be a single value, but this is " + kind(n)
	}
	if c.Type == Date {
		days, ok := ParseDate(n.Value)
		if !ok {
			return nil, fmt.Sprintf("%s is not a date; write year, month and day as in 2020-01-31", quote(n.Value))
		}
		return new(big.Rat).SetInt64(days), ""
	}
	if c.Type == Timestamp {
		micros, ok := ParseTimestamp(n.Value)
		if !ok {
			return nil, fmt.Sprintf("%s is not a timestamp; write date and time in UTC, as in 2020-01-31 12:00:00", quote(n.Value))
		}
		return new(big.Rat).SetInt64(micros), ""
	}
	if !plain(n) {
		return nil, fmt.Sprintf("%s is text, because it stands in quotes; write the number without them", quote(n.Value))
	}
	exact, problem := parseNumber(n.Value)
	if problem == "" && c.Type == Integer && !exact.IsInt() {
		problem = fmt.Sprintf("%s is not a whole number, but the column's type is integer; write a whole number, or make the "+
			"type decimal", quote(n.Value))
	}
	return exact, problem
}

// steps returns the lattice point of an exact number, and what is wrong where there is none.
func (c *Column) steps(exact *big.Rat) (int64, string) {
	q := new(big.Rat).Quo(exact, c.Granularity)
	size := new(big.Int).Quo(q.Num(), q.Denom())
	if c.Type == Timestamp && size.CmpAbs(big.NewInt(maxSteps)) > 0 {
		return 0, fmt.Sprintf("%s is too far from 1970; a timestamp in a policy lies between the years 1685 and 2255",
			c.Show(exact.Num().Int64()))
	}
	if size.CmpAbs(big.NewInt(maxSteps)) > 0 || (size.CmpAbs(big.NewInt(maxSteps)) == 0 && !q.IsInt()) {
		return 0,
			fmt.Sprintf("%s is more than 2^53 steps of the granularity %s away from 0; up to there numbers are exact and sums are proven "+
				"not to overflow, so move it closer or make the granularity coarser", decimal(exact), decimal(c.Granularity))
	}
	if !q.IsInt() {
		below := new(big.Int).Div(q.Num(), q.Denom()).Int64()
		return 0, fmt.Sprintf("%s is not a whole multiple of the granularity %s; the nearest are %s and %s", decimal(exact),
			decimal(c.Granularity), c.Show(below), c.Show(below+1))
	}
	return q.Num().Int64(), ""
}
