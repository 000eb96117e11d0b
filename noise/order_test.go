package noise

import "math"

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

// given is the probability of all comparisons with it and with what hangs on it, as
// a function of its value.
func (l *leaf) given() poly {
	p := poly{1}
	for _, c := range l.less {
		p = p.times(c.given().below())
	}
	for _, c := range l.more {
		p = p.times(c.given().above())
	}
	return p
}

func (l *leaf) weigh() {
	p := l.given()
	if l.is {
		l.mass = p.at(l.value)
	} else {
		l.mass = p.below().at(1)
	}
}

// way is one way through the comparisons of a draw.
type way struct {
	script, ways []int
	leaves       map[*fraction]*leaf
	roots        []*leaf
	picked       float64
	least        float64 // ways that weigh less are not followed
}

// cut is thrown when a way is not followed.
type cut struct{ weight float64 }

func (w *way) choose(n int) int {
	i := len(w.ways)
	w.ways = append(w.ways, n)
	if i == len(w.script) {
		w.script = append(w.script, 0)
	}
	return w.script[i]
}

func (w *way) weight() float64 {
	p := w.picked
	for _, r := range w.roots {
		p *= r.mass
	}
	return p
}

func (w *way) fresh() *fraction {
	f := new(fraction)
	w.leaves[f] = &leaf{}
	return f
}

func (w *way) share(num, den uint64) bool {
	p := float64(num) / float64(den)
	yes := w.choose(2) == 0
	if !yes {
		p = 1 - p
	}
	w.picked *= p
	return yes
}

func (w *way) less(u, v *fraction) bool {
	older, known := w.leaves[v]
	if !known {
		if !v.constant {
			panic("a number that nobody drew")
		}
		// Given a constant, the comparisons with it are independent: each has one of its own.
		older = &leaf{is: true, value: math.Ldexp(float64(v.first), -wordSize)}
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
		panic(cut{p})
	}
	return yes
}

// density returns the weight of this way as a function of the number x.
func (w *way) density(x *fraction) poly {
	l := w.leaves[x]
	scale := w.picked
	for _, r := range w.roots {
		if r != l {
			scale *= r.mass
		}
	}
	return l.given().times(poly{scale})
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
		w := &way{script: script, picked: 1, least: least, leaves: map[*fraction]*leaf{}}
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

func (w *way) run(draw func(comparisons) (positive, bool)) (p positive, ok bool, lost float64) {
	defer func() {
		if r := recover(); r != nil {
			c, is := r.(cut)
			if !is {
				panic(r)
			}
			lost = math.Max(c.weight, math.SmallestNonzeroFloat64)
		}
	}()
	p, ok = draw(w)
	return p, ok, 0
}

// apart returns by how much the measured probability of a cell is outside of what the
// definition allows: it must be at most the definition's, and with all that was not
// followed at least. Cells are the eighths of the first whole parts. want is the
// probability of everything up to a number.
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
