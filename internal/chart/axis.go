package chart

import (
	"errors"
	"math"
	"slices"
)

// An axis shows the values from lo to hi. Those of a logarithmic axis are exponents
// of ten, so that nothing underflows.
type axis struct {
	lo, hi float64
	log    bool
}

const (
	axisHeadroom = 0.05 // of an axis is left free above the highest point
	// narrowRange is the part of a value below which a range is taken for one value. It
	// keeps ticks apart by many times what a float64 can tell.
	narrowRange = 1e-9
)

// errTooWide is returned when a range does not fit into a float64.
var errTooWide = errors.New("chart: the values are too far apart for a linear axis: use a logarithmic one, or leave the largest out")

// fraction returns where on the axis a value lies, from 0 to 1.
func (a axis) fraction(v float64) float64 {
	if a.log {
		v = log10(v)
	}
	return (v - a.lo) / (a.hi - a.lo)
}

// newXAxis returns the linear x axis for values. With stems it has room at both
// sides, because an atom is often at the end of what a density covers.
func newXAxis(values []float64, stems bool) (axis, error) {
	a := axis{lo: slices.Min(values), hi: slices.Max(values)}
	if a.isNarrow() {
		room := max(math.Abs(a.lo), 1) / 2
		a.lo, a.hi = a.lo-room, a.hi+room
	} else if a.lo > 0 && a.lo <= a.hi*axisHeadroom {
		a.lo = 0 // 1 to 1000 queries are shown from 0
	}
	if stems {
		room := (a.hi - a.lo) * axisHeadroom
		a.lo, a.hi = a.lo-room, a.hi+room
	}
	return a, a.check()
}

// newYAxis returns the linear y axis for values. It holds zero, because a height
// that is not measured from zero misleads.
func newYAxis(values []float64) (axis, error) {
	a := axis{lo: min(slices.Min(values), 0), hi: max(slices.Max(values), 0)}
	if a.isNarrow() {
		a.hi = 1
	}
	room := (a.hi - a.lo) * axisHeadroom
	if a.hi > 0 {
		a.hi += room
	}
	if a.lo < 0 {
		a.lo -= room
	}
	return a, a.check()
}

// newLogAxis returns the logarithmic axis for values above zero, with a part of it
// left free at both ends.
func newLogAxis(values []float64, room float64) axis {
	a := axis{lo: log10(slices.Min(values)), hi: log10(slices.Max(values)), log: true}
	if a.hi-a.lo < narrowRange {
		a.lo, a.hi = a.lo-0.5, a.hi+0.5
	}
	room *= a.hi - a.lo
	a.lo, a.hi = a.lo-room, a.hi+room
	return a
}

// log10 is math.Log10, which on amd64 takes all subnormal numbers for about 1e-308.
func log10(v float64) float64 {
	if v < 0x1p-1022 {
		return math.Log10(v*0x1p52) - 52*math.Log10(2)
	}
	return math.Log10(v)
}

// isNarrow reports whether a range is too small to be divided by ticks.
func (a axis) isNarrow() bool {
	return a.hi-a.lo <= max(narrowRange*max(math.Abs(a.lo), math.Abs(a.hi)), 1e-300)
}

func (a axis) check() error {
	if !isFinite(a.hi - a.lo) {
		return errTooWide
	}
	return nil
}
