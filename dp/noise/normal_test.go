package noise

import (
	"math"
	"testing"
)

// Real numbers are drawn by comparing uniform numbers. The enumeration here runs the
// production code once for every way its comparisons can come out, and integrates the
// probability of each way as a function of the number that is kept. So what comes
// out is a density, as a polynomial, and no digit is drawn at all.
//
// Every fresh number is compared first with one that is there already, and never
// with another older one. The numbers therefore are a tree, and the probability that
// all comparisons come out as they did, given a number y, is the product over what was compared
// with y of the integral below y, or above it, of the same product there.

// poly is a polynomial, lowest power first.
type poly []float64

func (p poly) times(q poly) poly {
	out := make(poly, len(p)+len(q)-1)
	for i, a := range p {
		for j, b := range q {
			out[i+j] += a * b
		}
	}
	return out
}

// below is the integral from 0 to y, as a function of y.
func (p poly) below() poly {
	out := make(poly, len(p)+1)
	for i, a := range p {
		out[i+1] = a / float64(i+1)
	}
	return out
}

// above is the integral from y to 1.
func (p poly) above() poly {
	out := p.below()
	total := out.at(1)
	for i := range out {
		out[i] = -out[i]
	}
	out[0] += total
	return out
}

func (p poly) at(y float64) float64 {
	v := 0.0
	for i := len(p) - 1; i >= 0; i-- {
		v = v*y + p[i]
	}
	return v
}

func (p poly) add(q poly) poly {
	for len(p) < len(q) {
		p = append(p, 0)
	}
	for i, a := range q {
		p[i] += a
	}
	return p
}

// leaf is a uniform number, or a constant, and what was compared with it.
type leaf struct {
	value   float64 // of a constant
	is      bool    // a constant
	related bool    // it was compared with an older one
	less    []*leaf // compared with this one, and found below it
	more    []*leaf // and above it
	root    *leaf
	mass    float64 // of a root: the probability of all below it
}

// conditional is the probability of all comparisons with it and with what hangs on it, as
// a function of its value.
func (l *leaf) conditional() poly {
	p := poly{1}
	for _, c := range l.less {
		p = p.times(c.conditional().below())
	}
	for _, c := range l.more {
		p = p.times(c.conditional().above())
	}
	return p
}

func (l *leaf) weigh() {
	p := l.conditional()
	if l.is {
		l.mass = p.at(l.value)
	} else {
		l.mass = p.below().at(1)
	}
}

// comparisonPath is one way through the comparisons of a draw.
type comparisonPath struct {
	script, ways []int
	leaves       map[*fraction]*leaf
	roots        []*leaf
	picked       float64
	least        float64 // ways that weigh less are not followed
}

// pathCut is thrown when a way is not followed.
type pathCut struct{ weight float64 }

func (w *comparisonPath) choose(n int) int {
	i := len(w.ways)
	w.ways = append(w.ways, n)
	if i == len(w.script) {
		w.script = append(w.script, 0)
	}
	return w.script[i]
}

func (w *comparisonPath) weight() float64 {
	p := w.picked
	for _, r := range w.roots {
		p *= r.mass
	}
	return p
}

func (w *comparisonPath) newFraction() *fraction {
	f := new(fraction)
	w.leaves[f] = &leaf{}
	return f
}

func (w *comparisonPath) bernoulli(num, den uint64) bool {
	p := float64(num) / float64(den)
	yes := w.choose(2) == 0
	if !yes {
		p = 1 - p
	}
	w.picked *= p
	return yes
}

func (w *comparisonPath) less(u, v *fraction) bool {
	older, known := w.leaves[v]
	if !known {
		if !v.constant {
			panic("a number that nobody drew")
		}
		// Given a constant, the comparisons with it are independent: each has one of its own.
		older = &leaf{is: true, value: math.Ldexp(float64(v.first), -wordBits)}
	}
	if older.root == nil {
		older.root, older.related = older, true
		w.roots = append(w.roots, older)
	}
	younger := w.leaves[u]
	if younger.related || younger == older {
		panic("the comparisons are not a tree")
	}
	younger.related, younger.root = true, older.root
	yes := w.choose(2) == 0
	if yes {
		older.less = append(older.less, younger)
	} else {
		older.more = append(older.more, younger)
	}
	older.root.weigh()
	if p := w.weight(); p < w.least {
		panic(pathCut{p})
	}
	return yes
}

// density returns the weight of this way as a function of the number x.
func (w *comparisonPath) density(x *fraction) poly {
	l := w.leaves[x]
	scale := w.picked
	for _, r := range w.roots {
		if r != l {
			scale *= r.mass
		}
	}
	return l.conditional().times(poly{scale})
}

// measured is what an enumeration finds: a density on [0, 1) for every whole part, the
// probability of drawing nothing, and that of all ways that were not followed.
type measured struct {
	parts   map[uint64]poly
	nothing float64
	left    float64
}

func measureReals(least float64, draw func(comparisons) (positive, bool)) measured {
	m := measured{parts: map[uint64]poly{}}
	var script []int
	for {
		w := &comparisonPath{script: script, picked: 1, least: least, leaves: map[*fraction]*leaf{}}
		p, ok, lost := w.run(draw)
		switch {
		case lost > 0:
			m.left += lost
		case ok:
			m.parts[p.whole] = m.parts[p.whole].add(w.density(p.part))
		default:
			m.nothing += w.weight()
		}
		script = w.script[:len(w.ways)]
		i := len(script) - 1
		for i >= 0 && script[i]+1 == w.ways[i] {
			i--
		}
		if i < 0 {
			return m
		}
		script = script[:i+1]
		script[i]++
	}
}

func (w *comparisonPath) run(draw func(comparisons) (positive, bool)) (p positive, ok bool, lost float64) {
	defer func() {
		if r := recover(); r != nil {
			c, is := r.(pathCut)
			if !is {
				panic(r)
			}
			lost = math.Max(c.weight, math.SmallestNonzeroFloat64)
		}
	}()
	p, ok = draw(w)
	return p, ok, 0
}

// apart returns by how much the measured probability of a cell is outside of what the definition
// allows: it must be at most the definition's, and with all that was not followed at least. Cells
// are the eighths of the first whole parts. want is the probability of everything up to a number.
func (m measured) apart(wholes uint64, want func(x float64) float64) float64 {
	worst := 0.0
	for k := range wholes {
		p := m.parts[k].below()
		for i := 0.0; i < 8; i++ {
			a, b := i/8, (i+1)/8
			got := p.at(b) - p.at(a)
			exact := want(float64(k)+b) - want(float64(k)+a)
			worst = math.Max(worst, math.Max(got-exact, exact-got-m.left))
		}
	}
	return worst
}

func exponentialUpTo(x float64) float64 { return -math.Expm1(-x) }

// attempted is the measure of one attempt at a normal magnitude: Karney's constant
// times exp(-x^2/2).
func attempted(x float64) float64 {
	return -math.Expm1(-0.5) * math.Sqrt(math.Pi/2) * math.Erf(x/math.Sqrt2)
}

func always(draw func(comparisons) positive) func(comparisons) (positive, bool) {
	return func(c comparisons) (positive, bool) { return draw(c), true }
}

// orderError is what the enumeration may lose to floating point.
const orderError = 1e-12

func TestExponentialEnumeration(t *testing.T) {
	m := measureReals(1e-7, always(exponential))
	if d := m.apart(12, exponentialUpTo); d > orderError {
		t.Errorf("the density is %g from exp(-x)", d)
	}
	if m.left > 1e-4 || m.nothing != 0 {
		t.Errorf("%g was not followed, and nothing came with %g", m.left, m.nothing)
	}
	t.Logf("all but %.2g followed", m.left)
}

func TestNormalEnumeration(t *testing.T) {
	m := measureReals(1e-6, tryNormal)
	if d := m.apart(6, attempted); d > orderError {
		t.Errorf("the density is %g from exp(-x^2/2)", d)
	}
	if d := math.Abs(1 - attempted(40) - m.nothing); d > m.left+orderError {
		t.Errorf("nothing comes with probability %v, want %v", m.nothing, 1-attempted(40))
	}
	if m.left > 0.02 {
		t.Errorf("%g was not followed", m.left)
	}
	t.Logf("all but %.2g followed", m.left)
}

// The coin of a constant, and of a number.
func TestCoinEnumeration(t *testing.T) {
	m := measureReals(1e-15, func(c comparisons) (positive, bool) {
		if fallingCoin(c, oneHalf) {
			return positive{}, false
		}
		x := c.newFraction()
		c.less(c.newFraction(), x) // says nothing of x, because both ways count
		return positive{0, x}, true
	})
	if d := math.Abs(m.nothing - math.Exp(-0.5)); d > 1e-13 {
		t.Errorf("the coin of 1/2 is off by %g", d)
	}
	for k := range uint64(4) {
		m := measureReals(1e-8, func(c comparisons) (positive, bool) {
			x := c.newFraction()
			return positive{k, x}, slopeCoin(c, k, x)
		})
		for _, x := range []float64{0, 0.1, 0.5, 0.9, 1} {
			want := math.Exp(-x * (2*float64(k) + x) / (2*float64(k) + 2))
			if got := m.parts[k].at(x); math.Abs(got-want) > 1e-4 {
				t.Errorf("k %d, x %v: %v, want %v", k, x, got, want)
			}
		}
	}
}

// plantedNormal is tryNormal with faults to switch on.
type plantedNormal struct {
	keepWhole bool   // k is not refused
	oneCoin   bool   // one coin for x, and not k + 1
	noSlope   bool   // the second condition is forgotten
	parts     uint64 // 2k + parts in the place of 2k + 2
	odd       bool   // an odd length is the true one
	most      uint64 // larger k are not looked at
}

func (b plantedNormal) try(c comparisons) (positive, bool) {
	coin := func(x *fraction) bool { return fallingCoin(c, x) != b.odd }
	var k uint64
	for coin(oneHalf) {
		if k++; k > b.most {
			return positive{}, false
		}
	}
	for i := uint64(0); !b.keepWhole && k > 0 && i < k*(k-1); i++ {
		if !coin(oneHalf) {
			return positive{}, false
		}
	}
	x := c.newFraction()
	times := k + 1
	if b.oneCoin {
		times = 1
	}
	for range times {
		y, even := x, true
		for {
			u := c.newFraction()
			if !c.less(u, y) || !b.noSlope && !b.slope(c, k, x) {
				break
			}
			y, even = u, !even
		}
		if !even {
			return positive{}, false
		}
	}
	return positive{k, x}, true
}

func (b plantedNormal) slope(c comparisons, k uint64, x *fraction) bool {
	if k > 0 && c.bernoulli(2*k, 2*k+b.parts) {
		return true
	}
	return c.bernoulli(1, b.parts) && c.less(c.newFraction(), x)
}

// TestPlantedOrder shows that the enumeration of comparisons can fail.
func TestPlantedOrder(t *testing.T) {
	const least, enough = 1e-5, 1e-3
	for most, tight := range []float64{1e-4, 1e-2, 0.05} {
		m := measureReals(least, plantedNormal{parts: 2, most: uint64(most)}.try)
		if d := m.apart(uint64(most)+1, attempted); d > orderError || m.left > tight {
			t.Fatalf("up to %d without a bug it is %g off, and %g was not followed", most, d, m.left)
		}
	}
	for name, b := range map[string]plantedNormal{
		"k never refused":          {parts: 2, keepWhole: true, most: 2},
		"one coin for all":         {parts: 2, oneCoin: true, most: 2},
		"the slope forgotten":      {parts: 2, noSlope: true},
		"one part more":            {parts: 3},
		"one part less":            {parts: 1},
		"odd in the place of even": {parts: 2, odd: true},
	} {
		if d := measureReals(least, b.try).apart(b.most+1, attempted); d < enough {
			t.Errorf("%s: not caught, %g", name, d)
		}
	}
	for name, draw := range map[string]func(comparisons) positive{
		"refusals do not add": func(c comparisons) positive { p := exponential(c); p.whole = 0; return p },
		"refusals add two":    func(c comparisons) positive { p := exponential(c); p.whole *= 2; return p },
		"every number is kept": func(c comparisons) positive {
			x := c.newFraction()
			fallingCoin(c, x)
			return positive{0, x}
		},
		"the last of the chain": func(c comparisons) positive {
			for whole := uint64(0); ; whole++ {
				x, even := c.newFraction(), true
				last := x
				for u := c.newFraction(); c.less(u, last); u = c.newFraction() {
					last, even = u, !even
				}
				if !even {
					return positive{whole, x}
				}
			}
		},
	} {
		if d := measureReals(least, always(draw)).apart(4, exponentialUpTo); d < enough {
			t.Errorf("%s: not caught, %g", name, d)
		}
	}
}
