package lockstep

import (
	"math/big"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/internal/detrand"
	"github.com/discreet-dp/discreet/internal/fiction"
	"github.com/discreet-dp/discreet/policy"
)

const nullValue = fiction.Null

// values are what a column of made-up data can hold, as text.
type values struct {
	public []string // the keys that answers show
	low    []string // as low as counts, then lower
	high   []string // as high as counts, then higher
	odd    []string // what is no value, or hardly one
}

// maxPublicValues is how many public values of a column are used. A person cannot be in more
// groups than they have rows anyway.
const maxPublicValues = 2000

// valuesOf collects the values at which a system may forget something: the ends and
// beyond, the ends of what a machine can hold, and what is spelled like
// a value and is another.
func valuesOf(c *policy.Column) values {
	var v values
	public := c.PublicValues()
	for _, k := range public[:min(len(public), maxPublicValues)] {
		if k.Null {
			v.public = append(v.public, nullValue)
			continue
		}
		v.public = append(v.public, c.ShowValue(k))
	}
	switch c.Type {
	case policy.Integer, policy.Decimal:
		v.numbers(c)
	case policy.Date, policy.Timestamp:
		v.dates(c)
	case policy.Boolean:
		v.low, v.high = []string{"false", "false", "f", "0"}, []string{"true", "true", "t", "1"}
		v.odd = []string{nullValue, "yes", "2", "TRUE", "maybe"}
	default:
		v.texts()
	}
	v.odd = append(v.odd, nullValue)
	return v
}

func (v *values) numbers(c *policy.Column) {
	step := big.NewRat(1, 1)
	if c.Granularity != nil {
		step = c.Granularity
	}
	lo, hi := new(big.Rat).Neg(big.NewRat(100, 1)), big.NewRat(100, 1)
	if c.Bounds != nil {
		lo, hi = c.Bounds.Lo, c.Bounds.Hi
	}
	show := func(r *big.Rat) string {
		if c.Type == policy.Integer {
			return new(big.Int).Quo(r.Num(), r.Denom()).String()
		}
		return r.FloatString(15)
	}
	// The ends themselves come most often: of what is too large for its type nothing is left.
	below, above := new(big.Rat).Sub(lo, step), new(big.Rat).Add(hi, step)
	far := new(big.Rat).Mul(big.NewRat(1000, 1), new(big.Rat).Add(step, new(big.Rat).Sub(hi, lo)))
	v.low = []string{show(lo), show(lo), show(below), show(new(big.Rat).Sub(lo, far))}
	v.high = []string{show(hi), show(hi), show(above), show(new(big.Rat).Add(hi, far))}
	middle := new(big.Rat).Add(lo, new(big.Rat).Quo(new(big.Rat).Sub(hi, lo), big.NewRat(2, 1)))
	v.odd = []string{show(middle), "0", "1", "-1", "-0", "9223372036854775807", "-9223372036854775808", "9223372036854775808",
		"9007199254740993", "1e18", "1.5", "-0.5", "12abc", " 7", "0x10", "1_000"}
	if c.Type == policy.Decimal {
		half := new(big.Rat).Quo(step, big.NewRat(2, 1))
		v.odd = append(v.odd, show(new(big.Rat).Add(hi, half)), show(new(big.Rat).Sub(lo, half)), show(half),
			"nan", "NaN", "inf", "-inf", "Infinity", "-0.0", "1.7976931348623157e308", "-1.7976931348623157e308", "5e-324", "1e999")
	}
}

func (v *values) dates(c *policy.Column) {
	v.low, v.high = []string{"0001-01-01", "1969-12-31"}, []string{"9999-12-31", "2038-01-20"}
	if b := c.Bounds; b != nil {
		v.low = []string{c.Show(b.LoSteps), c.Show(b.LoSteps), c.Show(b.LoSteps - 1), "0001-01-01"}
		v.high = []string{c.Show(b.HiSteps), c.Show(b.HiSteps), c.Show(b.HiSteps + 1), "9999-12-31"}
	}
	v.odd = []string{"1970-01-01", "2024-02-29", "2023-02-29", "infinity", "-infinity", "5881580-07-10", "0001-01-01 (BC)",
		"5877642-06-25 (BC)", "epoch", "2024-01-01 23:59:59", "31.12.2024", "0"}
}

func (v *values) texts() {
	v.odd = []string{" ", "null", "NULL", "'", `"`, `""`, `\`, "a,b", "two\nlines", "é", "e\u0301", "\u200b", "ﬁ", "İ", "\U0001F600",
		"'; DROP TABLE t; --", "%", "_", "0", "1e3", strings.Repeat("long ", 1000)}
	for _, k := range v.public[:min(len(v.public), 5)] {
		// Other spellings of a key are other texts.
		v.odd = append(v.odd, k+" ", " "+k, strings.ToUpper(k), strings.ToLower(k))
	}
	v.low, v.high = slices.Clone(v.public), slices.Clone(v.public)
	if len(v.public) == 0 {
		v.low, v.high = []string{"a"}, []string{"z"}
	}
}

// manner is how somebody's values are chosen.
type manner int

const (
	lowValues     manner = iota // as low as they can be
	highValues                  // as high as they can be
	missingValues               // none at all
	oddValues                   // as strange as they can be
	anyValues                   // something of everything
	everyGroup                  // in every group, with the highest values
	noGroup                     // in none: they have no rows
)

func (m manner) String() string {
	return []string{"lowest values", "highest values", "no values", "odd values", "any values", "in every group", "no rows"}[m]
}

// alike reports whether all rows of somebody are the same row.
func (m manner) alike() bool { return m == lowValues || m == highValues || m == missingValues }

// choose returns a value in a manner.
func (v *values) choose(d dice, m manner) string {
	from := [][]string{v.low, v.high, v.odd}[d.Below(3)]
	switch m {
	case lowValues:
		from = v.low
	case highValues:
		from = v.high
	case missingValues:
		return nullValue
	case oddValues:
		from = v.odd
	case everyGroup:
		from = v.high
		// A column that is both summed and grouped by gets both, by turns.
		if len(v.public) > 0 && d.Below(4) > 0 {
			from = v.public
		}
	case anyValues:
		if len(v.public) > 0 && d.Below(2) == 0 {
			from = v.public
		}
	}
	return detrand.Pick(d, from)
}
