package chart

import (
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
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

// A tick is a labelled place on an axis.
type tick struct {
	part  float64 // where on the axis, from 0 to 1
	label string
}

// A decimal is digits times ten to a power. Ticks are decimals from the beginning,
// so that a label never reads 0.30000000000000004.
type decimal struct {
	digits int64
	power  int
}

func (d decimal) value() float64 {
	v, _ := strconv.ParseFloat(strconv.FormatInt(d.digits, 10)+"e"+strconv.Itoa(d.power), 64)
	return v
}

// tickSlack is how far beyond an axis, as a part of it, a tick is still shown.
const tickSlack = 1e-9

// ticks returns at most the given number of ticks, which is two or more, at round values.
func (a axis) ticks(most int) []tick {
	most = max(most, 2)
	if a.log {
		return a.logTicks(most)
	}
	all := roundSteps(a.lo, a.hi, most)
	big := 0.0
	for _, d := range all {
		big = max(big, math.Abs(d.value()))
	}
	var out []tick
	for _, d := range all {
		label := d.plain()
		switch {
		case d.digits == 0:
			label = "0"
		case big >= 1e9 || big < 1e-3:
			label = d.scientific()
		case big >= 1e4 && d.power >= 3:
			label = d.short()
		}
		out = append(out, tick{max(0, min(1, a.fraction(d.value()))), label})
	}
	return out
}

// roundSteps returns the multiples of 1, 2 or 5 times a power of ten from lo to hi, with
// the smallest step that makes no more than the given number of them.
func roundSteps(lo, hi float64, most int) []decimal {
	slack := (hi - lo) * tickSlack
	for power := int(math.Floor(math.Log10((hi - lo) / float64(most)))); ; power++ {
		for _, m := range []int64{1, 2, 5} {
			step := decimal{m, power}.value()
			if step == 0 {
				continue
			}
			first, last := math.Ceil((lo-slack)/step), math.Floor((hi+slack)/step)
			if last-first+1 > float64(most) {
				continue
			}
			var out []decimal
			for i := first; i <= last; i++ {
				out = append(out, decimal{int64(i) * m, power})
			}
			return out
		}
	}
}

// logTicks returns powers of ten, or every second, third and so on where there are too
// many. An axis shorter than two decades has ticks at 1, 2 and 5, and one too
// short for those has the round values of a linear axis.
func (a axis) logTicks(most int) []tick {
	first, last := int(math.Ceil(a.lo-tickSlack)), int(math.Floor(a.hi+tickSlack))
	var all []decimal
	if last-first >= 2 || a.hi-a.lo > 5 {
		for _, stride := range []int{1, 2, 3, 5, 10, 20, 50, 100, 200, 500} {
			all = nil
			for p := first; p <= last; p++ {
				if p%stride == 0 {
					all = append(all, decimal{1, p})
				}
			}
			if len(all) <= most {
				break
			}
		}
	} else {
		for p := first - 1; p <= last; p++ {
			for _, m := range []int64{1, 2, 5} {
				if e := float64(p) + math.Log10(float64(m)); e >= a.lo-tickSlack && e <= a.hi+tickSlack {
					all = append(all, decimal{m, p})
				}
			}
		}
		if n := len(all); n < 3 || n > most {
			if lo, hi := math.Pow(10, a.lo), math.Pow(10, a.hi); hi-lo > 1e-300 && isFinite(hi-lo) {
				all = roundSteps(lo, hi, most)
			}
			all = all[:min(len(all), most)] // at the ends of what a float64 holds
		}
	}
	powers := false
	for _, d := range all {
		v := d.value()
		powers = powers || v < 0.99e-3 || v > 1.01e6
	}
	var out []tick
	for _, d := range all {
		if d.digits <= 0 {
			continue
		}
		label := d.plain()
		if v := d.value(); powers {
			label = d.scientific()
		} else if v >= 0.99e4 {
			label = d.short()
		}
		part := (math.Log10(float64(d.digits)) + float64(d.power) - a.lo) / (a.hi - a.lo)
		out = append(out, tick{max(0, min(1, part)), label})
	}
	return out
}

// smallTicks returns the places of 2 to 9 times a power of ten on a logarithmic axis
// of few decades: by these small ticks an axis is seen to be logarithmic.
func (a axis) smallTicks() []float64 {
	if !a.log || a.hi-a.lo > 6 {
		return nil
	}
	var out []float64
	for p := math.Floor(a.lo); p <= a.hi; p++ {
		for m := 2.0; m < 10; m++ {
			if part := (p + math.Log10(m) - a.lo) / (a.hi - a.lo); part >= 0 && part <= 1 {
				out = append(out, part)
			}
		}
	}
	return out
}

// plain writes a decimal with all its digits.
func (d decimal) plain() string {
	return withMinusSign(strconv.FormatFloat(d.value(), 'f', max(0, -d.power), 64))
}

// short writes 25000 as 25k, and 1500000 as 1.5M.
func (d decimal) short() string {
	v, unit := d.value()/1e3, "k"
	if math.Abs(v) >= 0.999e3 {
		v, unit = v/1e3, "M"
	}
	return withMinusSign(strconv.FormatFloat(v, 'f', -1, 64)) + unit
}

// scientific writes a decimal as 10⁻⁶ or 2.5·10⁻⁶, but 1 and 10 as they are.
func (d decimal) scientific() string {
	digits := strconv.FormatInt(d.digits, 10)
	sign := ""
	if digits[0] == '-' {
		sign, digits = "−", digits[1:]
	}
	power := d.power + len(digits) - 1
	digits = strings.TrimRight(digits, "0")
	if digits == "1" && (power == 0 || power == 1) {
		return sign + "10"[:1+power]
	}
	if len(digits) > 1 {
		digits = digits[:1] + "." + digits[1:]
	}
	ten := "10" + superscriptReplacer.Replace(strconv.Itoa(power))
	if digits == "1" {
		return sign + ten
	}
	return sign + digits + "·" + ten
}

func withMinusSign(s string) string { return strings.Replace(s, "-", "−", 1) }
