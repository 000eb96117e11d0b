// Package sealed keeps exact aggregates of private data from being printed, logged or encoded by
// accident. An engine seals what it computed, a mechanism opens it to add noise, and everything
// between them passes on a value that shows itself as "[exact]" and nothing else. A rehearsal opens
// it to show it to the owner. A test in internal/architecture names the packages that may import
// this one, and those that may open a value.
package sealed

import (
	"cmp"
	"errors"
	"fmt"
	"math/big"
	"math/bits"
	"slices"
)

// Vector is a sealed vector of exact integers.
type Vector struct {
	// A function and not a slice: fmt calls no method of an unexported field, and
	// would print the integers of a Vector inside of somebody's struct. Into a
	// function it cannot look, and neither can reflection.
	open func() []int64
}

// Seal takes ownership of v.
func Seal(v []int64) Vector { return Vector{func() []int64 { return v }} }

// Open returns the integers. Only a mechanism calls it, to add noise.
func (e Vector) Open() []int64 {
	if e.open == nil {
		return nil
	}
	return e.open()
}

// Len returns the number of integers, which is public: it is the number of public keys.
func (e Vector) Len() int { return len(e.Open()) }

const sealed = "[exact]"

// String hides the value.
func (Vector) String() string { return sealed }

// Format hides the value from every verb, %#v and %d among them.
func (Vector) Format(f fmt.State, _ rune) { fmt.Fprint(f, sealed) }

// MarshalJSON refuses: an exact value in a document is a bug, not a format.
func (Vector) MarshalJSON() ([]byte, error) {
	return nil, errors.New("an exact aggregate cannot be encoded")
}

// GobEncode refuses for the same reason.
func (Vector) GobEncode() ([]byte, error) {
	return nil, errors.New("an exact aggregate cannot be encoded")
}

// Pick returns a sealed vector of those blocks of length size that stand at some places, in their
// order.
func (e Vector) Pick(places []int, size int) Vector {
	all := e.Open()
	out := make([]int64, 0, len(places)*size)
	for _, p := range places {
		out = append(out, all[p*size:(p+1)*size]...)
	}
	return Seal(out)
}

// Concat returns a sealed vector of both, one behind the other.
func (e Vector) Concat(other Vector) Vector { return Seal(slices.Concat(e.Open(), other.Open())) }

// Scale returns the sealed products with public weights. A product that does not fit is the
// nearest number that does, which moves no two apart.
func (e Vector) Scale(weights []int64) Vector {
	all := e.Open()
	out := make([]int64, len(all))
	for i, v := range all {
		out[i] = mulClamped(v, weights[i])
	}
	return Seal(out)
}

const maxDistance = 1 << 62

func mulClamped(v, w int64) int64 {
	negative := (v < 0) != (w < 0)
	hi, lo := bits.Mul64(uint64(max(v, -v)), uint64(max(w, -w)))
	if hi > 0 || lo > maxDistance {
		lo = maxDistance
	}
	if negative {
		return -int64(lo)
	}
	return int64(lo)
}

// List is a sealed list: of group keys, where these are private.
type List[T any] struct{ open func() []T }

// SealList takes ownership of v.
func SealList[T any](v []T) List[T] { return List[T]{func() []T { return v }} }

// Pick returns the elements at some places, which a mechanism has released.
func (l List[T]) Pick(places []int) []T {
	out := make([]T, len(places))
	if l.open != nil {
		all := l.open()
		for i, p := range places {
			out[i] = all[p]
		}
	}
	return out
}

func (List[T]) String() string             { return sealed }
func (List[T]) Format(f fmt.State, _ rune) { fmt.Fprint(f, sealed) }

// MarshalJSON refuses: an exact value in a document is a bug, not a format.
func (List[T]) MarshalJSON() ([]byte, error) {
	return nil, errors.New("an exact list cannot be encoded")
}

func (List[T]) GobEncode() ([]byte, error) { return nil, errors.New("an exact list cannot be encoded") }

// Encode turns a list into codes, with the numbers that stand beside it, both sealed. What has no
// code is left out, and how many those are is sealed too. The code is a function of one element and
// of nothing private.
func Encode[T any](l List[T], numbers Vector, code func(T) (int, bool)) (codes, kept Vector) {
	if l.open == nil {
		return Vector{}, Vector{}
	}
	var at, beside []int64
	all := numbers.Open()
	for i, x := range l.open() {
		if c, ok := code(x); ok && i < len(all) {
			at, beside = append(at, int64(c)), append(beside, all[i])
		}
	}
	return Seal(at), Seal(beside)
}

// Members are, sealed, the groups that each unit is in. Units stand in an order in which any two of
// them stand the same way whoever else is there.
type Members struct {
	open func() (groups []int32, ends []int)
}

// SealMembers takes ownership of the groups of all units, one unit after the other, and of where
// those of each end.
func SealMembers(groups []int32, ends []int) Members {
	return Members{func() ([]int32, []int) { return groups, ends }}
}

// Each calls do with the groups of each unit, in their order. Only a mechanism calls it, to add
// noise.
func (m Members) Each(do func(groups []int32)) {
	if m.open == nil {
		return
	}
	groups, ends := m.open()
	from := 0
	for _, to := range ends {
		do(groups[from:to])
		from = to
	}
}

func (Members) String() string             { return sealed }
func (Members) Format(f fmt.State, _ rune) { fmt.Fprint(f, sealed) }

// MarshalJSON refuses: exact values in a document are a bug, not a format.
func (Members) MarshalJSON() ([]byte, error) {
	return nil, errors.New("exact groups cannot be encoded")
}

func (Members) GobEncode() ([]byte, error) { return nil, errors.New("exact groups cannot be encoded") }

// CompareMembers compares the groups of the units of two databases, whose groups have names: how
// many units have to be taken from each so that the others are in the same groups and stand in the
// same order, and in how many groups a unit is at most. It reports false where more than one has to
// be taken from each. It is for the audit kit, as Between is.
func CompareMembers(a, b Members, namesA, namesB []string) (went, came, most int, ok bool) {
	spelled := func(m Members, names []string) (out []string) {
		m.Each(func(groups []int32) {
			own := make([]string, len(groups))
			for i, g := range groups {
				own[i] = names[g]
			}
			slices.Sort(own)
			most = max(most, len(own))
			out = append(out, fmt.Sprintf("%q", own))
		})
		return out
	}
	x, y := spelled(a, namesA), spelled(b, namesB)
	for len(x) > 0 && len(y) > 0 && x[0] == y[0] {
		x, y = x[1:], y[1:]
	}
	for len(x) > 0 && len(y) > 0 && x[len(x)-1] == y[len(y)-1] {
		x, y = x[:len(x)-1], y[:len(y)-1]
	}
	switch {
	case len(x)+len(y) <= 1:
		return len(x), len(y), most, true
	case len(x) == 0 || len(x) != len(y):
		return 0, 0, most, false
	}
	last := len(x) - 1
	return 1, 1, most, slices.Equal(x[1:], y[:last]) || slices.Equal(x[:last], y[1:])
}

// Difference is how far apart two vectors are.
type Difference struct {
	L1        *big.Int // the sum of the differences
	L2Squared *big.Int // the sum of their squares
	Largest   *big.Int // the largest of them
	Up, Down  bool     // whether any value of the second is above, or below, that of the first
}

// Between measures how far apart two vectors are, and reports false where they are not of the
// same length. It is for the audit kit, which must compare the exact values of two made-up
// databases with the sensitivity that noise was calibrated to, and has no use for the values: it
// gets their distance and leaves them sealed. A distance is private as well, so
// nothing that holds real data may call this.
func Between(a, b Vector) (Difference, bool) {
	x, y := a.Open(), b.Open()
	m := Difference{L1: new(big.Int), L2Squared: new(big.Int), Largest: new(big.Int)}
	if len(x) != len(y) {
		return m, false
	}
	for i := range x {
		// In big integers, because a difference of two int64 may not be one.
		d := new(big.Int).Sub(big.NewInt(y[i]), big.NewInt(x[i]))
		m.Up, m.Down = m.Up || d.Sign() > 0, m.Down || d.Sign() < 0
		d.Abs(d)
		m.L1.Add(m.L1, d)
		if d.Cmp(m.Largest) > 0 {
			m.Largest.Set(d)
		}
		m.L2Squared.Add(m.L2Squared, d.Mul(d, d))
	}
	return m, true
}

// BetweenNamed is Between for vectors whose blocks of a length stand for names, in any order. A
// block that one of them does not have is zero there. It reports false where the lengths do not
// fit.
func BetweenNamed(a, b Vector, namesA, namesB []string, size int) (Difference, bool) {
	x, y := a.Open(), b.Open()
	if len(x) != len(namesA)*size || len(y) != len(namesB)*size {
		return Difference{}, false
	}
	place := map[string]int{}
	for _, names := range [][]string{namesA, namesB} {
		for _, n := range names {
			if _, ok := place[n]; !ok {
				place[n] = len(place) * size
			}
		}
	}
	spread := func(v []int64, names []string) Vector {
		out := make([]int64, len(place)*size)
		for i, n := range names {
			copy(out[place[n]:], v[i*size:(i+1)*size])
		}
		return Seal(out)
	}
	return Between(spread(x, namesA), spread(y, namesB))
}

// Apart counts the values that are in one of two vectors and not in the other, whatever
// their order. A value that is there several times counts as often. It is for the audit kit, as
// Between is.
func Apart(a, b Vector) int {
	came, went := CountExchanged(a, b)
	return came + went
}

// CountExchanged counts the values of a multiset that are not in another: those that came, from a
// to b, and those that went. It is for the audit kit too, and nothing that holds real data may call
// it.
func CountExchanged(a, b Vector) (came, went int) {
	x, y := slices.Clone(a.Open()), slices.Clone(b.Open())
	slices.Sort(x)
	slices.Sort(y)
	for len(x) > 0 && len(y) > 0 {
		switch c := cmp.Compare(x[0], y[0]); {
		case c == 0:
			x, y = x[1:], y[1:]
		case c < 0:
			x = x[1:]
			went++
		default:
			y = y[1:]
			came++
		}
	}
	return came + len(y), went + len(x)
}

// Collector takes exact rows of private data from an engine, one by one, and hands them to the one
// who made it: a trainer. Whoever stands between them has nothing to look into.
type Collector struct{ add func([]int64) }

// NewCollector returns a collector that hands rows to add. It is called by one at a time. The codes
// are good until it returns.
func NewCollector(add func(codes []int64)) Collector { return Collector{add} }

// Add hands a row over. Only an engine calls it.
func (c Collector) Add(codes []int64) {
	if c.add != nil {
		c.add(codes)
	}
}

func (Collector) String() string             { return sealed }
func (Collector) Format(f fmt.State, _ rune) { fmt.Fprint(f, sealed) }

// MarshalJSON refuses: exact rows in a document are a bug, not a format.
func (Collector) MarshalJSON() ([]byte, error) {
	return nil, errors.New("exact rows cannot be encoded")
}

func (Collector) GobEncode() ([]byte, error) { return nil, errors.New("exact rows cannot be encoded") }
