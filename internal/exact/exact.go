// Package exact keeps exact aggregates of private data from being printed,
// logged or encoded by accident. An engine seals what it computed, a mechanism
// opens it to add noise, and everything between them passes on a value that shows
// itself as "[exact]" and nothing else. A test in internal/architecture names the
// packages that may import this one.
package exact

import (
	"errors"
	"fmt"
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

// Beside returns a sealed vector of both, one behind the other.
func (e Vector) Beside(other Vector) Vector { return Seal(slices.Concat(e.Open(), other.Open())) }

// Weighted returns the sealed products with public weights. A product that does not fit is the
// nearest number that does, which moves no two apart.
func (e Vector) Weighted(weights []int64) Vector {
	all := e.Open()
	out := make([]int64, len(all))
	for i, v := range all {
		out[i] = times(v, weights[i])
	}
	return Seal(out)
}

const largest = 1 << 62

func times(v, w int64) int64 {
	negative := (v < 0) != (w < 0)
	hi, lo := bits.Mul64(uint64(max(v, -v)), uint64(max(w, -w)))
	if hi > 0 || lo > largest {
		lo = largest
	}
	if negative {
		return -int64(lo)
	}
	return int64(lo)
}
