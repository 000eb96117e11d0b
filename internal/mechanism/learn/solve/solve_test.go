package solve

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/internal/test/daily"
)

// digits is a linear term that is known exactly, and tells only as much as it is asked for: what it
// tells is off by as much as it may be.
type digits struct {
	b     []*big.Float
	asked uint // the most that was asked for
}

func (d *digits) Len() int { return len(d.b) }

func (d *digits) Approximate(bits uint) []*big.Float {
	d.asked = max(d.asked, bits)
	out := make([]*big.Float, len(d.b))
	for j, v := range d.b {
		off := big.NewFloat(0.99)
		if j%2 == 1 {
			off.Neg(off)
		}
		out[j] = new(big.Float).SetPrec(bits+200).Add(v, off.SetMantExp(off, -int(bits)))
	}
	return out
}

func linear(b ...float64) *digits {
	d := &digits{}
	for _, v := range b {
		d.b = append(d.b, big.NewFloat(v).SetPrec(300))
	}
	return d
}

func random(r *rand.Rand, dim int, scale float64) []float64 {
	out := make([]float64, dim)
	for j := range out {
		out[j] = r.NormFloat64() * scale
	}
	return out
}

func bigs(v []float64, bits uint) []*big.Float {
	out := numbers(len(v), bits)
	for j, x := range v {
		out[j].SetFloat64(x)
	}
	return out
}

// truth is the gradient at w in 400 bits, row by row and by the formulas of the losses' own
// specification.
func truth(p *Problem, w, b []float64) []*big.Float { return truthAt(p, bigs(w, 53), b) }

func truthAt(p *Problem, w []*big.Float, b []float64) []*big.Float {
	const prec = 400
	number := func(x float64) *big.Float { return new(big.Float).SetPrec(prec).SetFloat64(x) }
	g := numbers(len(w), prec)
	for j := range g {
		g[j].Mul(number(p.Lambda), w[j])
		if b != nil {
			g[j].Add(g[j], number(b[j]))
		}
	}
	for i := range p.Rows.Len() {
		if p.Keep != nil && !p.Keep(i) {
			continue
		}
		z := number(0)
		for j, v := range p.Rows.Row(i) {
			z.Add(z, number(0).Mul(w[j], number(float64(v))))
		}
		y := float64(p.Rows.Target(i))
		if p.Target != nil {
			y = p.Target(i)
		}
		t := number(0).Set(p.Loss.PreciseDerivative(z, y, 380))
		if p.Weight != nil {
			t.Mul(t, number(p.Weight(i)))
		}
		for j, v := range p.Rows.Row(i) {
			g[j].Add(g[j], number(0).Mul(t, number(float64(v))))
		}
	}
	return g
}

func distance(a []*big.Float, b []float64) float64 {
	out := make([]*big.Float, len(a))
	for j := range a {
		out[j] = new(big.Float).SetPrec(400).Sub(a[j], big.NewFloat(b[j]))
	}
	v, _ := length(out).Float64()
	return v
}

// problems is small problems of every kind.
func problems(t testing.TB) (names []string, all []*Problem) {
	for k, l := range losses(t) {
		for _, n := range []int{0, 1, 7, 300} {
			for _, dim := range []int{1, 3, 17} {
				for _, radius := range []float64{0.01, 1, 30} {
					p := &Problem{Loss: l, Rows: madeUpRows(l, n, dim, radius, uint64(k*1000+n+dim)),
						Lambda: l.Curvature() * radius * radius * []float64{1e-3, 1, 30}[(n+dim+k)%3]}
					if n == 7 {
						p.Weight = func(i int) float64 { return 1 / float64(i+1) }
					}
					if n == 300 {
						p.Keep = func(i int) bool { return i%3 != 0 }
					}
					if l.OneSided() && n == 300 {
						p.Target = func(i int) float64 { return float64(p.Rows.Target(i)) * float64(1-2*(i%7/6)) }
					}
					names, all = append(names, fmt.Sprintf("%s %d: %d rows of %d in %v", l.Name(), k, n, dim, radius)), append(all, p)
				}
			}
		}
	}
	chosen := make([]int, len(all))
	for i := range chosen {
		chosen[i] = i
	}
	chosen = daily.Sample(t, chosen, len(all)/3)
	for to, i := range chosen {
		names[to], all[to] = names[i], all[i]
	}
	return names[:len(chosen)], all[:len(chosen)]
}

// What is proven of a gradient is so, at minima and anywhere else.
func TestProvenIsTrue(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	names, all := problems(t)
	closest := 0.0
	for k, p := range all {
		f := p.objective()
		f.b = random(r, f.dim, f.radius)
		for _, scale := range []float64{0, 1e-6, 1, 1e3, 1e20} {
			w := random(r, f.dim, scale/f.radius)
			at := f.at(w)
			off := distance(truth(p, w, f.b), at.g)
			if !(off <= at.error) {
				t.Errorf("%s, %g: off by %g, and %g is proven", names[k], scale, off, at.error)
			}
			closest = max(closest, off/at.error)
			size, _ := length(truth(p, w, f.b)).Float64()
			if !(size <= at.bound()) {
				t.Errorf("%s, %g: the gradient is %g long, and %g is proven", names[k], scale, size, at.bound())
			}
			if at.error > 1e-11*float64(len(f.x)+1)*f.radius*f.loss.Slope()*(1+scale*(1+f.loss.Curvature()))+
				1e-15*(f.lambda*norm(w)+norm(f.b)) {
				t.Errorf("%s, %g: %g is proven, which is not much", names[k], scale, at.error)
			}
		}
	}
	if closest < 0.01 {
		t.Errorf("errors are at most %g of what is proven, so this test would see no mistake in the proof", closest)
	}
}

// Each large term of the bound is needed: there are problems where leaving it out makes the bound
// wrong.
func TestProofNeedsItsTerms(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 3))
	squares := must(Squares(0.125))
	off := func(p *Problem, w []float64) (off, proven, sums, products float64) {
		f := p.objective()
		at := f.at(w)
		if off = distance(truth(p, w, nil), at.g); !(off <= at.error) {
			t.Errorf("off by %g, and %g is proven", off, at.error)
		}
		size := 0.0
		for i, z := range at.z {
			size += math.Abs(f.loss.Derivative(z, f.y[i]))
		}
		rest := 3 * unitRoundoff * f.lambda * norm(w)
		return off, at.error, f.error(size, 0) + rest, f.error(0, norm(w)) + rest
	}
	needed := map[string]bool{}
	for range daily.Rounds(60, 200) {
		// Long weights whose product with a row is nearly 0.
		x := []float64{r.NormFloat64(), r.NormFloat64(), r.NormFloat64()}
		b := NewBuilder(3, 10)
		for range 100 {
			b.Add(x, 0)
		}
		p := &Problem{Loss: squares, Rows: b.Rows(), Lambda: 1e-4}
		row := p.Rows.Row(0)
		w := random(r, 3, 1e9)
		w[2] = -(w[0]*float64(row[0]) + w[1]*float64(row[1])) / float64(row[2])
		is, _, without, _ := off(p, w)
		needed["products"] = needed["products"] || is > without
		// The same in numbers of more bits.
		f := p.objective()
		far := func(at *precise, w []*big.Float) *big.Float {
			off := numbers(3, 400)
			for j, v := range truthAt(p, w, nil) {
				off[j].Sub(v, at.g[j])
			}
			if length(off).Cmp(at.error) > 0 {
				t.Errorf("off by %.3g, and %.3g is proven", length(off), at.error)
			}
			return length(off)
		}
		fine := bigs(w, 100)
		for j := range fine {
			fine[j].Add(fine[j], big.NewFloat(r.NormFloat64()*0x1p-30))
		}
		last := mulUp(upFloat(f.lambda*norm(w)*4), new(big.Float).SetMantExp(big.NewFloat(1), -100))
		if far(f.precise(context.Background(), fine, numbers(3, 100), 100),
			fine).Cmp(addUp(f.preciseError(upFloat(0), upFloat(0), 100), last)) > 0 {
			needed["precise products"] = true
		}
		if far(f.pairs(context.Background(), fine, numbers(3, 100)), fine).Cmp(upFloat(f.pairError(0, 0))) > 0 {
			needed["pair products"] = true
		}
	}
	b := NewBuilder(1, 1)
	for range 1 << 15 {
		b.Add([]float64{0.99}, 0)
	}
	p := &Problem{Loss: squares, Rows: b.Rows(), Lambda: 1}
	for range 20 {
		// Many sums of the same number round the same way again and again.
		y := 0.125 * r.Float64()
		p.Target = func(int) float64 { return y }
		is, _, _, without := off(p, []float64{0})
		needed["sums"] = needed["sums"] || is > without
	}
	if !needed["products"] || !needed["sums"] || !needed["precise products"] || !needed["pair products"] {
		t.Errorf("needed: %v", needed)
	}
}

// The same for gradients in numbers of a few bits, where errors are large and a mistake shows.
func TestPreciseIsTrue(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 3))
	names, all := problems(t)
	closest := 0.0
	for k, p := range all {
		f := p.objective()
		for _, bits := range []uint{64, 100, 200} {
			w, b := random(r, f.dim, 1/f.radius), random(r, f.dim, f.radius)
			at := f.precise(context.Background(), bigs(w, bits), bigs(b, bits), bits)
			off := numbers(f.dim, 400)
			for j, v := range truth(p, w, b) {
				off[j].Sub(v, at.g[j])
			}
			if length(off).Cmp(at.error) > 0 {
				t.Errorf("%s, %d: off by %.3g, and %.3g is proven", names[k], bits, length(off), at.error)
			}
			share, _ := upFloat(0).Quo(length(off), at.error).Float64()
			closest = max(closest, share)
		}
	}
	if closest < 0.01 {
		t.Errorf("errors are at most %g of what is proven", closest)
	}
}

// The same for pairs of float64.
func TestPairsAreTrue(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 3))
	names, all := problems(t)
	closest := 0.0
	for k, p := range all {
		f := p.objective()
		for _, scale := range []float64{1e-9, 1, 1e5} {
			w, b := bigs(random(r, f.dim, scale/f.radius), 200), random(r, f.dim, f.radius)
			for j := range w {
				w[j].Add(w[j], big.NewFloat(r.NormFloat64()*0x1p-57*scale/f.radius))
			}
			at := f.pairs(context.Background(), w, bigs(b, 100))
			off := numbers(f.dim, 400)
			for j, v := range truthAt(p, w, b) {
				off[j].Sub(v, at.g[j])
			}
			if length(off).Cmp(at.error) > 0 {
				t.Errorf("%s, %g: off by %.3g, and %.3g is proven", names[k], scale, length(off), at.error)
			}
			share, _ := upFloat(0).Quo(length(off), at.error).Float64()
			closest = max(closest, share)
			if want := upFloat(1e-24 * (1 + scale) * float64(len(f.x)+1) * f.radius * (1 + f.loss.Curvature()) * (1 +
				f.loss.Slope())); at.error.Cmp(want) > 0 {
				t.Errorf("%s, %g: %.3g is proven, which is not much", names[k], scale, at.error)
			}
		}
	}
	// Roundings of u^2 that do not all go one way are far below a bound that is quadratic in how
	// many there are; losing one of u would be 10^10 above it.
	if closest < 1e-5 {
		t.Errorf("errors are at most %g of what is proven", closest)
	}
}

func TestMinimise(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 3))
	names, all := problems(t)
	for k, p := range all {
		var b []float64
		if k%2 == 0 {
			b = random(r, p.Rows.Dim(), p.Rows.Radius())
		}
		tolerance := 1e-9 * p.Rows.Radius() * (p.Loss.Slope() + p.Loss.Curvature())
		at, err := Minimise(context.Background(), p, b, tolerance, nil)
		if err != nil {
			t.Errorf("%s: %v", names[k], err)
			continue
		}
		if size, _ := length(truth(p, at.W, b)).Float64(); !(size <= at.Bound && at.Bound <= tolerance) {
			t.Errorf("%s: the gradient is %g, %g is proven, and asked for was %g", names[k], size, at.Bound, tolerance)
		}
	}
}

// A tolerance that float64 cannot prove is proven in pairs.
func TestMinimiseCloser(t *testing.T) {
	for _, l := range losses(t) {
		p := &Problem{Loss: l, Rows: madeUpRows(l, 2000, 5, 1, 3), Lambda: l.Curvature()}
		tolerance := p.objective().error(2000*l.Slope(), 0) / 40
		at, err := Minimise(context.Background(), p, nil, tolerance, nil)
		if err != nil {
			t.Errorf("%s: %v", l.Name(), err)
			continue
		}
		if size, _ := length(truth(p, at.W, nil)).Float64(); !(size <= at.Bound && at.Bound <= tolerance) {
			t.Errorf("%s: the gradient is %g, %g is proven, and asked for was %g", l.Name(), size, at.Bound, tolerance)
		}
		if float := p.objective().at(at.W); float.bound() <= tolerance {
			t.Errorf("%s: float64 proves %g too", l.Name(), float.bound())
		}
	}
}

// reference is the minimiser in 300 bits, by Newton's steps with all of the second derivative; for
// corners, steps are halved until the gradient is shorter.
func reference(t *testing.T, p *Problem, b []float64) []*big.Float {
	t.Helper()
	f := p.objective()
	f.b = b
	at, err := f.descend(context.Background(), make([]float64, f.dim), func(p *iterate) float64 { return p.error / 8 }, func(*iterate) {})
	if err != nil {
		t.Fatal(err)
	}
	w, g := bigs(at.w, 300), bigs(b, 300)
	m := f.model(at.z, 0, nil)
	for range 300 {
		q := f.precise(context.Background(), w, g, 300)
		if q.norm.Sign() == 0 || q.norm.MantExp(nil) < at64(f)-180 {
			return w
		}
		m.newtonStep(context.Background(), w, q).moveTo(w)
	}
	q := f.precise(context.Background(), w, g, 300)
	t.Fatalf("no reference: %.3g, %.3g %s %d %d %g", q.norm, q.error, f.loss.Name(), f.dim, len(f.x), f.lambda)
	return nil
}

func at64(f *objective) int { _, e := math.Frexp(f.lambda); return e }

// Exactly is what the minimiser of 300 bits rounds to, and tells nothing of how it was found.
func TestExactly(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 3))
	names, all := problems(t)
	refined := 0
	for k, p := range all {
		b := random(r, p.Rows.Dim(), p.Rows.Radius())
		want := reference(t, p, b)
		for _, bits := range []int{4, 20, 40, 100} {
			_, e := math.Frexp(norm(b) / p.Lambda)
			step := math.Ldexp(1, e-bits)
			z := make([]int64, len(want))
			for j, v := range want {
				z[j] = nearest(new(big.Float).SetMantExp(v, -(e - bits)))
			}
			l := linear(b...)
			got, err := MinimiseExactly(context.Background(), p, l, step, nil)
			if err != nil || !slices.Equal(got, z) {
				t.Errorf("%s, %d bits: %v, %v, and it is %v", names[k], bits, got, err, z)
			}
			if l.asked >= 128 {
				refined++
			}
		}
	}
	if refined < daily.Rounds(7, 20) {
		t.Errorf("only %d were refined", refined)
	}
}

// Where a weight is near a boundary, more digits decide; where it is on one, nothing does, and that
// is said.
func TestExactlyNearBoundary(t *testing.T) {
	none := NewBuilder(2, 1).Rows()
	p := &Problem{Loss: Logistic(), Rows: none, Lambda: 0.5}
	for _, step := range []float64{1, 0x1p-40} {
		for _, far := range []int{50, 60, 100, 300, 700} {
			for _, side := range []int64{-1, 1} {
				// w = -b/Lambda = 3.5 steps and 2^-far to one side
				d := linear(-1.75*step, 0.6*step)
				d.b[0].SetPrec(2000).Sub(d.b[0], new(big.Float).SetMantExp(big.NewFloat(float64(side)), -far))
				got, err := MinimiseExactly(context.Background(), p, d, step, nil)
				if want := []int64{3 + (side+1)/2, -1}; err != nil || !slices.Equal(got, want) {
					t.Errorf("%d %d: %v, %v", side, far, got, err)
				}
				if int(d.asked) < far-1 {
					t.Errorf("it was decided with %d bits, and is %d near", d.asked, far)
				}
			}
		}
	}
	if got, err := MinimiseExactly(context.Background(), p, linear(-1.75, 0), 1, nil); !errors.Is(err, ErrNotReached) {
		t.Errorf("on a boundary: %v, %v", got, err)
	}
}

// The order of rows, the number of processors and what else is in the linear term's digits do not
// change what comes out.
func TestExactlyDoesNotDependOnOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 3))
	for _, l := range losses(t) {
		a := madeUpRows(l, 700, 9, 2, 1)
		builder := NewBuilder(9, 2)
		for _, i := range r.Perm(a.Len()) {
			builder.Add32(a.Row(i), a.Target(i))
		}
		b := linear(random(r, 9, 2)...)
		var z [2][]int64
		for k, x := range []*Rows{a, builder.Rows()} {
			z[k] = must(MinimiseExactly(context.Background(), &Problem{Loss: l, Rows: x, Lambda: 2}, b, 0x1p-48, nil))
		}
		if !slices.Equal(z[0], z[1]) {
			t.Errorf("%s: %v and %v", l.Name(), z[0], z[1])
		}
	}
}

// What Minimise finds does not depend on the machine either, though nobody relies on that.
func TestMinimiseDoesNotDependOnProcessors(t *testing.T) {
	l := Logistic()
	p := &Problem{Loss: l, Rows: madeUpRows(l, 5000, 4, 1, 1), Lambda: 1}
	var w [2][]float64
	for k := range w {
		before := runtime.GOMAXPROCS(1 + 2*k)
		at := must(Minimise(context.Background(), p, nil, 1e-6, nil))
		runtime.GOMAXPROCS(before)
		w[k] = at.W
	}
	if !slices.Equal(w[0], w[1]) {
		t.Errorf("%v and %v", w[0], w[1])
	}
}

// More rows than are solved from the start, so that a part of them is first; and progress only
// rises.
func TestMany(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	p := &Problem{Loss: Logistic(), Rows: onehot(daily.Rounds(10_000, 25_000)), Lambda: 4}
	last := 0.0
	rises := func(x float64) {
		if x < last || x > 1 {
			t.Errorf("from %v to %v", last, x)
		}
		last = x
	}
	at, err := Minimise(context.Background(), p, nil, 1e-3, rises)
	if err != nil || !(at.Bound <= 1e-3) {
		t.Fatal(at, err)
	}
	b := linear(random(rand.New(rand.NewPCG(1, 1)), 105, 30)...)
	coarse := must(MinimiseExactly(context.Background(), p, b, 0x1p-12, nil))
	fine, err := MinimiseExactly(context.Background(), p, b, 0x1p-40, nil) // pairs
	if err != nil || b.asked < 128 {
		t.Fatal(err, b.asked)
	}
	for j := range fine {
		if d := fine[j] - coarse[j]<<28; max(d, -d) > 1<<27 {
			t.Errorf("%d: %d is not near %d", j, fine[j], coarse[j])
		}
	}
}

// Whatever rows are, there is a minimum: at the ends of what is solved too, and when all targets
// are the same.
func TestExtremes(t *testing.T) {
	for _, l := range losses(t) {
		for _, radius := range []float64{minRadius, 1, maxRadius} {
			for _, ratio := range []float64{minRatio, 1e-6, 1, maxRatio} {
				for kind := range 4 {
					b := NewBuilder(3, radius)
					for i := range 50 {
						x := []float64{1, float64(i%2) * 1e-20, float64(i%3 - 1)}
						y := float32(1)
						switch kind {
						case 1:
							y = float32(1 - 2*(i%2))
						case 2:
							x = []float64{math.Inf(1), math.NaN(), -math.MaxFloat64}
						case 3:
							x, y = nil, float32(math.NaN())
						}
						for j := range x {
							x[j] *= radius
						}
						b.Add(x, y)
					}
					p := &Problem{Loss: l, Rows: b.Rows(), Lambda: l.Curvature() * radius * radius / ratio}
					name := fmt.Sprintf("%s %g %g %d", l.Name(), radius, ratio, kind)
					if _, err := Minimise(context.Background(), p, nil, 1e-6*radius*l.Slope(), nil); err != nil {
						t.Errorf("%s: %v", name, err)
					}
					_, e := math.Frexp(radius / p.Lambda)
					term := linear(radius/math.Pi, -radius/3, 1e-9*radius)
					z, err := MinimiseExactly(context.Background(), p, term, math.Ldexp(1, e-20), nil)
					if err != nil {
						t.Errorf("%s: %v %v", name, z, err)
					}
				}
			}
		}
	}
}

func TestErrors(t *testing.T) {
	l := Logistic()
	good := madeUpRows(l, 10, 2, 1, 1)
	ctx := context.Background()
	for _, p := range []*Problem{{}, {Loss: l}, {Rows: good, Lambda: 1}, {Loss: l, Rows: good}, {Loss: l, Rows: good, Lambda: math.NaN()},
		{Loss: l, Rows: good, Lambda: -1},
		{Loss: l, Rows: good, Lambda: 1e-12}, {Loss: l, Rows: good, Lambda: math.Inf(1)},
		{Loss: l, Rows: NewBuilder(0, 1).Rows(), Lambda: 1}, {Loss: l, Rows: NewBuilder(1, math.NaN()).Rows(), Lambda: 1}} {
		if _, err := Minimise(ctx, p, nil, 1, nil); !errors.Is(err, errProblem) {
			t.Errorf("%v", err)
		}
		if _, err := MinimiseExactly(ctx, p, nil, 1, nil); !errors.Is(err, errProblem) {
			t.Errorf("%v", err)
		}
	}
	p := &Problem{Loss: l, Rows: good, Lambda: 1}
	for _, step := range []float64{0, 3, -1, math.NaN(), math.Inf(1), 0x1p-1000} {
		if _, err := MinimiseExactly(ctx, p, nil, step, nil); !errors.Is(err, errProblem) {
			t.Errorf("%v: %v", step, err)
		}
	}
	if _, err := MinimiseExactly(ctx, p, linear(1), 1, nil); !errors.Is(err, errProblem) {
		t.Errorf("%v", err)
	}
	if _, err := Minimise(ctx, p, []float64{1, math.NaN()}, 1, nil); !errors.Is(err, errProblem) {
		t.Errorf("%v", err)
	}
	if _, err := Minimise(ctx, p, nil, 1e-30, nil); !errors.Is(err, ErrNotReached) {
		t.Errorf("%v", err)
	}
	done, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := Minimise(done, p, nil, 1, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if _, err := MinimiseExactly(done, p, nil, 1, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

func TestNearest(t *testing.T) {
	for _, c := range []struct {
		x    float64
		want int64
	}{{0, 0}, {0.5, 1}, {-0.5, 0}, {-0.51, -1}, {1.4999, 1}, {2.5, 3}, {-2.5, -2}, {1e30, math.MaxInt64}, {-1e30, -math.MaxInt64},
		{0x1p-1000, 0}, {-0x1p-1000, 0}, {0.5 - 0x1p-54, 0}, {0x1p62, 1 << 62}} {
		if got := nearest(big.NewFloat(c.x)); got != c.want {
			t.Errorf("%v: %d", c.x, got)
		}
	}
}

func Example() {
	b := NewBuilder(1, 1)
	b.Add([]float64{1}, 1)
	p := &Problem{Loss: Logistic(), Rows: b.Rows(), Lambda: 1}
	at, err := Minimise(context.Background(), p, nil, 1e-9, nil)
	fmt.Println(at.Bound <= 1e-9, err)
	steps, err := MinimiseExactly(context.Background(), p, nil, 0x1p-20, nil)
	fmt.Println(float64(steps[0])*0x1p-20, err)
	// Output:
	// true <nil>
	// 0.4010581970214844 <nil>
}
