package mech

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/entropy"
	"github.com/discreet-dp/discreet/internal/lab/stat"
)

func rats(text ...string) []*big.Rat {
	var out []*big.Rat
	for _, s := range text {
		r, ok := new(big.Rat).SetString(s)
		if !ok {
			panic(s)
		}
		out = append(out, r)
	}
	return out
}

func quantiles(q QuantileQuery, epsilon string) *Quantiles {
	return must(NewQuantiles(q, Pure, amount(epsilon)))
}

// lossAt is the definition of rankLoss: b times the distance between q n and the ranks of y.
func lossAt(y int64, values []int64, low, high, a, b int64) int64 {
	below, upTo := int64(0), int64(0)
	for _, v := range values {
		if v = max(low, min(v, high)); v < y {
			below++
		}
		if v <= y {
			upTo++
		}
	}
	n := int64(len(values))
	return max(0, b*below-a*n, a*n-b*upTo)
}

func pointLosses(values []int64, low, high, a, b int64) []int64 {
	var out []int64
	for y := low; y <= high; y++ {
		out = append(out, lossAt(y, values, low, high, a, b))
	}
	return out
}

// databases returns all multisets of up to n values from low to high, sorted.
func databases(n int, low, high int64) [][]int64 {
	out := [][]int64{{}}
	for i := 0; i < len(out); i++ {
		if d := out[i]; len(d) < n {
			from := low
			if len(d) > 0 {
				from = d[len(d)-1]
			}
			for v := from; v <= high; v++ {
				out = append(out, append(slices.Clone(d), v))
			}
		}
	}
	return out
}

// neighbourDatabases returns the databases that one unit with one value makes of d.
func neighbourDatabases(d []int64, relation dp.Neighbours, low, high int64) [][]int64 {
	var out [][]int64
	for v := low; v <= high; v++ {
		more := append(slices.Clone(d), v)
		if relation == dp.AddRemove {
			out = append(out, more)
			continue
		}
		for i := range d {
			out = append(out, slices.Delete(slices.Clone(more), i, i+1))
		}
	}
	return out
}

var askedQuantiles = []string{"0", "1/4", "1/3", "1/2", "9/10", "1"}

// checkRankSensitivity goes through all databases of up to four values on five points and all their
// neighbours, and compares how the losses move to what is declared. The bound must be attained.
func checkRankSensitivity(losses func(d []int64, a, b int64) []int64, at *big.Rat, relation dp.Neighbours, s Scoring) error {
	const low, high = -2, 2
	a, b := at.Num().Int64(), at.Denom().Int64()
	worst := int64(0)
	for _, d := range databases(4, low, high) {
		x := losses(d, a, b)
		for _, e := range neighbourDatabases(d, relation, low, high) {
			up, down := int64(0), int64(0)
			for i, v := range losses(e, a, b) {
				up, down = max(up, v-x[i]), max(down, x[i]-v)
			}
			if max(up, down) > s.Sensitivity || s.Monotone && min(up, down) > 0 {
				return fmt.Errorf("quantile %v, %v: from %v to %v losses rise by %d and fall by %d, against %v", at,
					relation, d, e, up, down, s)
			}
			worst = max(worst, up, down)
		}
	}
	if worst < s.Sensitivity {
		return fmt.Errorf("quantile %v, %v: losses move by %d at most, less than %v", at, relation, worst, s)
	}
	return nil
}

func definedLosses(d []int64, a, b int64) []int64 { return pointLosses(d, -2, 2, a, b) }

func TestRankSensitivity(t *testing.T) {
	for _, relation := range []dp.Neighbours{dp.AddRemove, dp.Substitute} {
		for _, at := range rats(askedQuantiles...) {
			q := QuantileQuery{PerUnit: 1, Neighbours: relation}
			if err := checkRankSensitivity(definedLosses, at, relation, q.scoring(at)); err != nil {
				t.Error(err)
			}
		}
	}
	// A unit with three values moves the losses three times as far.
	if s := (QuantileQuery{PerUnit: 3}).scoring(big.NewRat(1, 4)); s != (Scoring{9, false}) {
		t.Errorf("three values: %v", s)
	}
}

// The runs are the points: every point is in one run, in order, and has its loss.
func TestGroups(t *testing.T) {
	check := func(d []int64, low, high int64) {
		t.Helper()
		runs, n := pointRuns(d, low, high), uint64(len(d))
		for _, at := range rats(askedQuantiles...) {
			a, b := at.Num().Int64(), at.Denom().Int64()
			want := pointLosses(d, low, high, a, b)
			var got []int64
			for _, g := range runs {
				if g.from != low+int64(len(got)) || g.count == 0 {
					t.Fatalf("%v: runs %v", d, runs)
				}
				for range g.count {
					got = append(got, int64(rankLoss(uint64(a), uint64(b), g.below, g.at, n-g.below-g.at)))
				}
			}
			if !slices.Equal(got, want) {
				t.Fatalf("%v at %v: losses %v, want %v", d, at, got, want)
			}
			if len(d) > 0 && slices.Min(got) != 0 {
				t.Fatalf("%v at %v: no point is a quantile", d, at)
			}
		}
	}
	for _, d := range databases(4, -2, 2) {
		check(d, -2, 2)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		d := make([]int64, rng.IntN(30))
		for i := range d {
			d[i] = rng.Int64N(80) - 40 // beyond the bounds too
		}
		check(d, -20, 20)
	}
	// The ends of int64.
	if g := pointRuns([]int64{math.MaxInt64}, math.MaxInt64-3, math.MaxInt64); len(g) != 2 || g[0].count != 3 || g[1].count != 1 {
		t.Errorf("%v", g)
	}
	if g := pointRuns(nil, math.MinInt64, math.MinInt64+9); len(g) != 1 || g[0].count != 10 {
		t.Errorf("%v", g)
	}
}

// lastTrue returns for how many numbers of fine digits a monotone decision is true. What it decides
// around a guess saves most of the steps where the guess is right.
func lastTrue(guess uint64, decide func(uint64) bool) uint64 {
	low, high := uint64(0), uint64(1)<<fine // true below low, false from high on
	try := func(v uint64) {
		if decide(v) {
			low = max(low, v+1)
		} else {
			high = min(high, v)
		}
	}
	if guess > 4 {
		try(guess - 4)
	}
	if guess+4 < high {
		try(guess + 4)
	}
	for low < high {
		try(low + (high-low)/2)
	}
	return low
}

// quantileLaw measures the law of one quantile through the production code: the first
// word chooses the run, the next two the point in it.
func quantileLaw(q *Quantiles, d []int64) []float64 {
	low, high := q.query.Low, q.query.High
	out := make([]float64, high-low+1)
	runs := pointRuns(d, low, high)
	// Where each point should end tells the search where to look first, and nothing else.
	guess, sum := make([]float64, len(out)), 0.0
	b, _ := q.parts[0].m.Parameter().Float64()
	for i, l := range pointLosses(d, low, high, int64(q.parts[0].a), int64(q.parts[0].b)) {
		sum += math.Exp(-float64(l) / b)
		guess[i] = sum
	}
	before := 0.0
	for _, g := range runs {
		last := g.from + int64(g.count) - 1
		end := math.Ldexp(float64(lastTrue(uint64(math.Ldexp(guess[last-low]/sum, fine)), func(v uint64) bool {
			return NewReleaser(sourceOfWords(v<<(64-fine))).ReleaseQuantiles(Seal(d...), q)[0] <= last
		})), -fine)
		first := uint64(math.Ldexp(before+(end-before)/2, 64))
		for k := range g.count {
			at, _ := bits.Div64(2*k+1, 0, 2*g.count)
			y := NewReleaser(sourceOfWords(first, at)).ReleaseQuantiles(Seal(d...), q)[0]
			out[y-q.query.Low] += (end - before) / float64(g.count)
		}
		before = end
	}
	return out
}

// checkQuantileLaw compares the law with the definition and all its neighbours.
func checkQuantileLaw(law func(*Quantiles, []int64) []float64, q *Quantiles) error {
	p := q.parts[0]
	b, _ := p.m.Parameter().Float64()
	low, high := q.query.Low, q.query.High
	for _, d := range databases(3, low, high) {
		x := law(q, d)
		want, sum := make([]float64, len(x)), 0.0
		for i, l := range pointLosses(d, low, high, int64(p.a), int64(p.b)) {
			want[i] = math.Exp(-float64(l) / b)
			sum += want[i]
		}
		for i := range x {
			if math.Abs(x[i]-want[i]/sum) > 1e-11 {
				return fmt.Errorf("%v: P(%d) = %v, want %v", d, low+int64(i), x[i], want[i]/sum)
			}
		}
		for _, e := range neighbourDatabases(d, q.query.Neighbours, low, high) {
			for i, y := range law(q, e) {
				if loss := math.Abs(math.Log(x[i] / y)); loss > q.Cost().Epsilon.Float()+1e-9 {
					return fmt.Errorf("between %v and %v the loss is %v", d, e, loss)
				}
			}
		}
	}
	return nil
}

func TestQuantilesExact(t *testing.T) {
	for _, relation := range []dp.Neighbours{dp.AddRemove, dp.Substitute} {
		for _, at := range []string{"0", "1/3", "1/2"} {
			q := quantiles(QuantileQuery{At: rats(at), Low: -1, High: 3, PerUnit: 1, Neighbours: relation}, "1")
			if err := checkQuantileLaw(quantileLaw, q); err != nil {
				t.Errorf("%s, %v: %v", at, relation, err)
			}
		}
	}
}

func TestQuantilesReplay(t *testing.T) {
	q := quantiles(QuantileQuery{At: rats("0", "1/4", "1/2", "1"), Low: 0, High: 1000, PerUnit: 1}, "2")
	run := func(d []int64) (calls []Call, read int) {
		s := newStream(3)
		r := NewReleaser(entropy.FromReader(s))
		r.Record(func(c Call) { calls = append(calls, c) })
		if got := r.ReleaseQuantiles(Seal(d...), q); len(got) != 4 || !slices.IsSorted(got) || got[0] < 0 || got[3] > 1000 {
			t.Errorf("quantiles %v", got)
		}
		return calls, s.read
	}
	rng := rand.New(rand.NewPCG(1, 2))
	wantCalls, wantRead := run(nil)
	if len(wantCalls) != 4 || wantRead != 4*24 || wantCalls[1].Mechanism != "quantile 1/4" {
		t.Errorf("%d calls, %d bytes", len(wantCalls), wantRead)
	}
	for range 100 {
		d := make([]int64, rng.IntN(50))
		for i := range d {
			d[i] = rng.Int64N(1200) - 100
		}
		calls, read := run(d)
		if read != wantRead || len(calls) != len(wantCalls) {
			t.Fatalf("%d calls, %d bytes", len(calls), read)
		}
		for i, c := range calls {
			if w := wantCalls[i]; c.Mechanism != w.Mechanism || c.Parameter.Cmp(w.Parameter) != 0 || c.Scoring != w.Scoring {
				t.Fatalf("call %v against %v", c, w)
			}
		}
	}
}

func TestQuantilesStatistical(t *testing.T) {
	q := quantiles(QuantileQuery{At: rats("1/2"), Low: 0, High: 4, PerUnit: 1}, "1")
	f := func(r *Releaser, d []int64) []int64 { return r.ReleaseQuantiles(Seal(d[1:]...), q) }
	// The first element says where to look; one value is removed.
	x, y := []int64{2, 0, 0, 0, 4, 4}, []int64{2, 0, 0, 0, 4}
	pad := func(z []int64) []int64 { return append(z, 0) }
	g := func(r *Releaser, d []int64) []int64 { return pad(f(r, d)) }
	if err := checkHockeyStick(g, x, y, draws/20, map[float64]float64{1: 0}); err != nil {
		t.Error(err)
	}
}

// The rank error is below the stated one as often as stated, and not far below.
func TestRankError(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	d := make([]int64, 5000)
	for i := range d {
		d[i] = int64(rng.NormFloat64()*300 + 2000)
	}
	at := rats("0", "0.25", "0.5", "0.75", "0.99")
	q := quantiles(QuantileQuery{At: at, Low: 0, High: 9999, PerUnit: 1}, "1")
	const runs, beta = 500, 0.1
	alpha := q.RankError(beta)
	bad, worst := 0, 0.0
	r := seeded(4)
	for range runs {
		far := 0.0
		for i, y := range r.ReleaseQuantiles(Seal(d...), q) {
			a, b := at[i].Num().Int64(), at[i].Denom().Int64()
			far = math.Max(far, float64(lossAt(y, d, 0, 9999, a, b))/float64(b))
		}
		worst = math.Max(worst, far)
		if far >= alpha {
			bad++
		}
	}
	t.Logf("%d of %d runs are beyond %.1f ranks; the worst is %.1f", bad, runs, alpha, worst)
	if stat.LowerBound(bad, runs, 1e-6) > beta {
		t.Errorf("%d of %d runs are beyond %v", bad, runs, alpha)
	}
	if worst < alpha/10 {
		t.Errorf("the bound is %v, and nothing was beyond %v: it says nothing", alpha, worst)
	}
	if !math.IsInf(q.RankError(0), 1) || !math.IsInf(q.RankError(math.NaN()), 1) || q.RankError(5) != q.RankError(1) {
		t.Error("bounds without a probability")
	}
	// 2 max(q, 1-q)/epsilon ranks, times ln(points/beta).
	median := quantiles(QuantileQuery{At: rats("1/2"), Low: 0, High: 99, PerUnit: 1}, "0.5")
	if got, want := median.RankError(0.05), 2*math.Log(100/0.05); math.Abs(got-want) > 1e-9 {
		t.Errorf("median: %v ranks, want %v", got, want)
	}
}

func TestQuantilesCost(t *testing.T) {
	q := QuantileQuery{At: rats("0.25", "0.5", "0.75"), Low: 0, High: 9, PerUnit: 1}
	for _, b := range []Currency{Pure, Concentrated} {
		m := must(NewQuantiles(q, b, amount("0.3")))
		limit := dp.Cost{Epsilon: amount("0.3"), Rho: dp.Unbounded}
		if b == Concentrated {
			limit = dp.Cost{Epsilon: dp.Unbounded, Rho: amount("0.3")}
		}
		if c := m.Cost(); !c.Within(limit) || b == Concentrated && c.Rho.Float() < 0.2999999 || b == Pure && c.Epsilon.Float() < 0.2999999 {
			t.Errorf("cost %v of %v", c, limit)
		}
	}
	q.At[0].SetInt64(7) // a caller's numbers are the caller's
	m := quantiles(QuantileQuery{At: rats("0.5"), Low: 0, High: 9, PerUnit: 2, Neighbours: dp.Substitute}, "0.5")
	if p := m.Parameters()[0]; p.RatString() != "8" { // 2 PerUnit/epsilon ranks
		t.Errorf("b is %v ranks", p)
	}
}

func TestQuantilesRefusals(t *testing.T) {
	ok := QuantileQuery{At: rats("0.5"), Low: 0, High: 9, PerUnit: 1}
	change := func(f func(*QuantileQuery)) QuantileQuery { q := ok; f(&q); return q }
	for name, c := range map[string]struct {
		q    QuantileQuery
		b    Currency
		a    dp.Amount
		want error
	}{
		"none":           {change(func(q *QuantileQuery) { q.At = nil }), Pure, dp.One, ErrQuantiles},
		"nil":            {change(func(q *QuantileQuery) { q.At = []*big.Rat{nil} }), Pure, dp.One, ErrQuantiles},
		"negative":       {change(func(q *QuantileQuery) { q.At = rats("-0.1") }), Pure, dp.One, ErrQuantiles},
		"above one":      {change(func(q *QuantileQuery) { q.At = rats("1.1") }), Pure, dp.One, ErrQuantiles},
		"falling":        {change(func(q *QuantileQuery) { q.At = rats("0.5", "0.25") }), Pure, dp.One, ErrQuantiles},
		"twice":          {change(func(q *QuantileQuery) { q.At = rats("0.5", "0.5") }), Pure, dp.One, ErrQuantiles},
		"too many parts": {change(func(q *QuantileQuery) { q.At = rats("0.1234567") }), Pure, dp.One, ErrQuantiles},
		"bounds":         {change(func(q *QuantileQuery) { q.High = -1 }), Pure, dp.One, ErrQuantiles},
		"too wide":       {change(func(q *QuantileQuery) { q.Low, q.High = math.MinInt64, math.MaxInt64 }), Pure, dp.One, ErrQuantiles},
		"nobody":         {change(func(q *QuantileQuery) { q.PerUnit = 0 }), Pure, dp.One, ErrQuantiles},
		"too much":       {change(func(q *QuantileQuery) { q.PerUnit = math.MaxInt64 }), Pure, dp.One, ErrQuantiles},
		"no epsilon":     {ok, Pure, 0, ErrNoPrivacy},
		"unbounded":      {ok, Concentrated, dp.Unbounded, ErrNoPrivacy},
		"no budget":      {ok, 0, dp.One, ErrCurrency},
		"split to zero":  {change(func(q *QuantileQuery) { q.At = rats("0.5", "0.75") }), Pure, 1, ErrNoPrivacy},
	} {
		if _, err := NewQuantiles(c.q, c.b, c.a); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// A lattice of one point has one answer, and the widest one has an answer.
	one := quantiles(QuantileQuery{At: rats("0", "1"), Low: 7, High: 7, PerUnit: 1}, "1")
	if got := seeded(1).ReleaseQuantiles(Seal(1, 2, 3), one); !slices.Equal(got, []int64{7, 7}) {
		t.Errorf("one point: %v", got)
	}
	wide := quantiles(QuantileQuery{At: rats("0.5"), Low: -maxLatticePoints / 2, High: maxLatticePoints/2 - 1, PerUnit: 1}, "1")
	d := make([]int64, 1001)
	for i := range d {
		d[i] = int64(i) << 40
	}
	if got := seeded(1).ReleaseQuantiles(Seal(d...), wide)[0]; got < 300<<40 || got > 700<<40 {
		t.Errorf("the median of 0 to 1000 is %d 2^-40", got>>40)
	}
}

func TestQuantilesPlantedBugs(t *testing.T) {
	median := big.NewRat(1, 2)
	quarter := big.NewRat(1, 4)
	// The score -|rank - q n| with the rank of the values up to y only: ties are a loss.
	byRank := func(d []int64, a, b int64) []int64 {
		var out []int64
		for y := int64(-2); y <= 2; y++ {
			upTo := int64(0)
			for _, v := range d {
				if v <= y {
					upTo++
				}
			}
			out = append(out, abs(b*upTo-a*int64(len(d))))
		}
		return out
	}
	// The target rank is rounded up.
	rounded := func(d []int64, a, b int64) []int64 {
		x := definedLosses(d, 0, 1)
		for i := range x {
			x[i] = b * abs(x[i]-(a*int64(len(d))+b-1)/b)
		}
		return x
	}
	good := quantiles(QuantileQuery{At: rats("1/2"), Low: -1, High: 3, PerUnit: 1}, "1")
	substituted := *good
	substituted.query.Neighbours = dp.Substitute // calibrated to add-remove
	// Every run counts once, however many points it has.
	unweighted := func(q *Quantiles, d []int64) []float64 {
		p := quantileLaw(q, d)
		runs := pointRuns(d, q.query.Low, q.query.High)
		sum := 0.0
		for _, g := range runs {
			for k := range int64(g.count) {
				p[g.from+k-q.query.Low] /= float64(g.count)
				sum += p[g.from+k-q.query.Low]
			}
		}
		for i := range p {
			p[i] /= sum
		}
		return p
	}
	// The chosen value itself is released, never a point between.
	snapped := func(q *Quantiles, d []int64) []float64 {
		p := quantileLaw(q, d)
		for _, g := range pointRuns(d, q.query.Low, q.query.High) {
			for k := int64(1); k < int64(g.count); k++ {
				p[g.from-q.query.Low] += p[g.from+k-q.query.Low]
				p[g.from+k-q.query.Low] = 0
			}
		}
		return p
	}
	for name, check := range map[string]func() error{
		"median charged half a rank under substitution": func() error {
			return checkRankSensitivity(definedLosses, median, dp.Substitute, Scoring{1, false})
		},
		"first quartile charged q": func() error {
			return checkRankSensitivity(definedLosses, quarter, dp.AddRemove, Scoring{1, false})
		},
		"median called monotone": func() error {
			return checkRankSensitivity(definedLosses, median, dp.AddRemove, Scoring{1, true})
		},
		"minimum of units with two values called monotone under substitution": func() error {
			x, y := definedLosses([]int64{-2, 2}, 0, 1), definedLosses([]int64{0, 0}, 0, 1)
			rises, falls := false, false
			for i := range x {
				rises, falls = rises || y[i] > x[i], falls || y[i] < x[i]
			}
			if s := (QuantileQuery{PerUnit: 2, Neighbours: dp.Substitute}).scoring(new(big.Rat)); rises && falls && !s.Monotone {
				return errors.New("losses move both ways")
			}
			return nil
		},
		"median charged too much": func() error {
			return checkRankSensitivity(definedLosses, median, dp.AddRemove, Scoring{2, false})
		},
		"rounded target": func() error {
			return checkRankSensitivity(rounded, quarter, dp.AddRemove, Scoring{3, false})
		},
		"ties are a loss": func() error {
			if slices.Equal(byRank([]int64{0, 0, 0}, 1, 2), definedLosses([]int64{0, 0, 0}, 1, 2)) {
				return nil
			}
			return errors.New("losses differ")
		},
		"add-remove noise under substitution": func() error { return checkQuantileLaw(quantileLaw, &substituted) },
		"runs not weighted":                   func() error { return checkQuantileLaw(unweighted, good) },
		"a value of the data released":        func() error { return checkQuantileLaw(snapped, good) },
	} {
		if err := check(); err == nil {
			t.Errorf("%s: not caught", name)
		} else {
			t.Logf("%s: %v", name, err)
		}
	}
}
