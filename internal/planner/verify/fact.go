package verify

import (
	"math"
	"math/big"

	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/policy"
)

// fact is what is known about the values of an expression: where it is not NULL it is of the kind,
// and between the ends.
type fact struct {
	kind tree.Kind
	// never says that it is NULL in every row; then the ends mean nothing.
	never  bool
	step   *big.Rat // of a Number
	lo, hi *big.Int // of a Number in steps, of a Date in days, of a Timestamp in microseconds
	low    float64  // and high, of a Real
	high   float64
	length int // the most characters of a Text
	// derived says that it was computed from something that says who or what a row is about.
	derived bool
}

// field is a fact about a column of a relation, and what else the column is.
type field struct {
	fact
	name     string
	identity string         // what its values name, or nothing
	key      bool           // no two rows of the relation have the same value
	source   *policy.Column // which column of the policy it is, as declared; nil where it was computed
	public   string         // the public table of source
	// serial says that no two rows of one person have the same number in it, but the largest.
	serial bool
	// lost says that an engine may put rows that differ in it into any order, and that some window
	// looks at the order: nothing may be computed from it.
	lost bool
}

// raw reports whether the field is an identity as it is stored.
func (f field) raw() bool { return f.kind == tree.Identity }

// about reports whether the field says who or what a row is about.
func (f field) about() bool { return f.derived || f.identity != "" && !f.raw() }

var (
	zero  = new(big.Int)
	unit  = big.NewInt(1)
	whole = big.NewRat(1, 1)

	int64Min = big.NewInt(math.MinInt64)
	int64Max = big.NewInt(math.MaxInt64)

	// most is the widest number that is computed with, and bits128 what a HUGEINT holds.
	most    = new(big.Int).Lsh(unit, 120)
	bits128 = new(big.Int).Sub(new(big.Int).Lsh(unit, 127), unit)
	// narrow is what an engine computes with in 64 bits.
	narrow = new(big.Int).Sub(new(big.Int).Lsh(unit, 62), unit)
	// summed is what is added up: with 2^53 steps in each of 2^40 rows of 2^30 people a sum is
	// below 2^127.
	summed = new(big.Int).Lsh(unit, 53)
)

const (
	anyLength = 1 << 31 // no engine stores a longer text
	// largestReal keeps floating-point numbers that are computed with far from infinity.
	largestReal = 0x1p900
)

func boolean() fact { return fact{kind: tree.Boolean} }

func number(step *big.Rat, lo, hi *big.Int) fact {
	return fact{kind: tree.Number, step: step, lo: lo, hi: hi}
}

func integers(lo, hi int64) fact { return number(whole, big.NewInt(lo), big.NewInt(hi)) }

func real(low, high float64) fact { return fact{kind: tree.Real, low: low, high: high} }

func text(length int) fact { return fact{kind: tree.Text, length: length} }

func sameStep(a, b *big.Rat) bool {
	return a == b || a != nil && b != nil && a.Num().Cmp(b.Num()) == 0 && a.Denom().Cmp(b.Denom()) == 0
}

// wide reports whether an engine holds a claimed number in 128 bits.
func wide(t tree.Type) bool {
	return t.Kind == tree.Number && (t.Lo.CmpAbs(narrow) > 0 || t.Hi.CmpAbs(narrow) > 0)
}

// span returns the ends of a time that is claimed: those of its storage where there are no others.
func span(t tree.Type) (lo, hi *big.Int) {
	switch {
	case t.Lo != nil && t.Hi != nil:
		return t.Lo, t.Hi
	case t.Kind == tree.Date:
		return firstStored, lastStored
	}
	return int64Min, int64Max
}

var firstStored, lastStored = big.NewInt(math.MinInt32), big.NewInt(math.MaxInt32)

// realSpan returns the ends of a Real that is claimed.
func realSpan(t tree.Type) (low, high float64) {
	switch {
	case t.Range != nil:
		return t.Range.Low, t.Range.High
	case t.Exponent >= 1024:
		return -math.MaxFloat64, math.MaxFloat64
	}
	high = math.Ldexp(1, t.Exponent)
	return -high, high
}

func sameType(a, b tree.Type) bool {
	same := func(x, y *big.Int) bool { return x == y || x != nil && y != nil && x.Cmp(y) == 0 }
	return a.Kind == b.Kind && sameStep(a.Step, b.Step) && same(a.Lo, b.Lo) && same(a.Hi, b.Hi) && a.MaxLength == b.MaxLength &&
		a.Exponent == b.Exponent &&
		(a.Range == b.Range || a.Range != nil && b.Range != nil && *a.Range == *b.Range)
}

// claim makes sure that what is claimed of an expression holds all that follows about it.
func (c *trail) claim(t tree.Type, f fact) {
	if t.Kind != f.kind {
		c.fail("it is claimed to be %v and is %v", t.Kind, f.kind)
	}
	switch f.kind {
	case tree.Number:
		c.must(t.Step != nil && t.Lo != nil && t.Hi != nil && t.Step.Sign() > 0, "a number without a lattice or ends")
		if !sameStep(t.Step, f.step) {
			c.fail("its step is claimed to be %v and is %v", t.Step, f.step)
		}
		c.must(t.Lo.Cmp(t.Hi) <= 0, "its ends are the wrong way round")
		c.must(t.Lo.CmpAbs(most) <= 0 && t.Hi.CmpAbs(most) <= 0 && t.Step.Num().CmpAbs(most) <= 0 && t.Step.Denom().CmpAbs(most) <= 0,
			"it is wider than 120 bits")
		c.must(f.never || t.Lo.Cmp(f.lo) <= 0 && f.hi.Cmp(t.Hi) <= 0,
			"it is claimed to be between %v and %v steps and is between %v and %v", t.Lo, t.Hi, f.lo, f.hi)
	case tree.Date, tree.Timestamp:
		lo, hi := span(t)
		c.must((t.Lo == nil) == (t.Hi == nil) && lo.Cmp(hi) <= 0, "its ends are the wrong way round")
		c.must(f.never || lo.Cmp(f.lo) <= 0 && f.hi.Cmp(hi) <= 0, "it is claimed to be between %v and %v and is between %v and %v",
			lo, hi, f.lo, f.hi)
	case tree.Real:
		low, high := realSpan(t)
		c.must(low <= high, "its ends are the wrong way round")
		c.must(f.never || low <= f.low && f.high <= high, "it is claimed to be between %v and %v and is between %v and %v", low,
			high, f.low, f.high)
		largest := max(math.Abs(f.low), math.Abs(f.high))
		c.must(f.never || t.Exponent >= 1024 || largest < math.Ldexp(1, t.Exponent) ||
			t.Range == nil && largest <= math.Ldexp(1, t.Exponent), "it is claimed to be below 2^%d and is up to %v", t.Exponent, largest)
	case tree.Text:
		c.must(t.MaxLength >= 0, "a text of negative length")
		c.must(f.never || t.MaxLength == 0 || f.length <= t.MaxLength, "it is claimed to have at most %d characters and has up to %d",
			t.MaxLength, f.length)
	case tree.Boolean, tree.Identity:
	default:
		c.must(f.never, "a value of no kind")
	}
}

// hull is one of several values of one kind and on one lattice.
func (c *trail) hull(all []fact) fact {
	out := all[0]
	for _, f := range all[1:] {
		c.must(f.kind == out.kind, "it is %v here and %v there", out.kind, f.kind)
		c.must(f.kind != tree.Number || sameStep(f.step, out.step), "it has steps of %v here and of %v there", out.step, f.step)
		derived := out.derived || f.derived
		switch {
		case out.never:
			out = f
		case f.never:
		case f.kind == tree.Real:
			out.low, out.high = min(out.low, f.low), max(out.high, f.high)
		case f.kind == tree.Text:
			out.length = max(out.length, f.length)
		case f.lo != nil:
			out.lo, out.hi = lower(out.lo, f.lo), upper(out.hi, f.hi)
		}
		out.derived = derived
	}
	return out
}

func lower(a, b *big.Int) *big.Int {
	if b.Cmp(a) < 0 {
		return b
	}
	return a
}

func upper(a, b *big.Int) *big.Int {
	if b.Cmp(a) > 0 {
		return b
	}
	return a
}

// farthest is the largest absolute value.
func (f fact) farthest() *big.Int {
	if f.lo.CmpAbs(f.hi) > 0 {
		return new(big.Int).Abs(f.lo)
	}
	return new(big.Int).Abs(f.hi)
}

// declared is the fact about a column of the policy, which an engine casts, rounds and clamps for
// every row.
func declared(col *policy.Column) fact {
	kind, lo, hi := tree.Kind(0), (*big.Int)(nil), (*big.Int)(nil)
	switch col.Type {
	case policy.Text:
		return text(anyLength)
	case policy.Boolean:
		return boolean()
	case policy.Date:
		kind, lo, hi = tree.Date, firstStored, lastStored
	case policy.Timestamp:
		kind, lo, hi = tree.Timestamp, int64Min, int64Max
	default:
		if col.Granularity == nil { // a decimal that can only be compared
			return real(-math.MaxFloat64, math.MaxFloat64)
		}
		kind, lo, hi = tree.Number, int64Min, int64Max
	}
	if col.Bounds != nil {
		lo, hi = big.NewInt(col.Bounds.LoSteps), big.NewInt(col.Bounds.HiSteps)
	}
	out := fact{kind: kind, lo: lo, hi: hi}
	if kind == tree.Number {
		out.step = col.Granularity
	}
	return out
}
