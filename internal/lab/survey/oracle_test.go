package survey

import (
	"encoding/json"
	"errors"
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/noise"
	"github.com/discreet-dp/discreet/internal/entropy"
	"github.com/discreet-dp/discreet/internal/lab/utility"
	"github.com/discreet-dp/discreet/internal/test/daily"
)

// TestVariance compares n Var at epsilon 1, where nobody holds the value, with figures from Wang,
// Blocki, Li, Jha 2017's formulas, computed apart: 4E/(E-1)^2 for oue, (E+3)^2/((E-1)^2 3) for olh
// with four buckets, ((E+1)/(E-1))^2 for hadamard, and (E+k-2)/(E-1)^2 for direct with k = 8.
func TestVariance(t *testing.T) {
	for name, want := range map[string]float64{"oue": 3.682694, "olh": 3.691655, "hadamard": 4.682694, "direct": 2.952855} {
		o := oracle(name, 8, "1")
		if got := o.Variance(0, 1, Fixed); math.Abs(got-want) > 1e-6 {
			t.Errorf("%s: %.6f, want %.6f", name, got, want)
		}
		// The formula of the package comment, from p and q alone.
		p, q := o.Rates()
		for _, f := range []float64{0, 0.3, 1} {
			fixed := q*(1-q)/((p-q)*(p-q)) + f*(1-p-q)/(p-q)
			mean := q + f*(p-q)
			sample := mean * (1 - mean) / ((p - q) * (p - q))
			if math.Abs(o.Variance(f, 1, Fixed)-fixed) > 1e-12 || math.Abs(o.Variance(f, 1, Sample)-sample) > 1e-12 {
				t.Errorf("%s at %v: %v and %v, want %v and %v", name, f, o.Variance(f, 1, Fixed), o.Variance(f, 1, Sample), fixed, sample)
			}
		}
	}
	if olh := oracle("olh", 8, "1").(*Hashing); olh.Buckets() != 4 {
		t.Errorf("%d buckets", olh.Buckets())
	}
}

// TestBinaryVariance compares with the two formulas of the textbook, and with package utility.
func TestBinaryVariance(t *testing.T) {
	b := must(NewBiased(big.NewRat(1, 4)))
	if e := b.Cost().Epsilon.Float(); math.Abs(e-math.Log(3)) > 1e-11 || e < math.Log(3) {
		t.Errorf("epsilon %v, want ln 3", e)
	}
	const n, g = 1000, 0.25
	for _, f := range []float64{0, 0.2, 0.5, 1} {
		if got, want := b.Variance(f, n, Fixed), (1/(16*g*g)-0.25)/n; math.Abs(got-want) > 1e-15 {
			t.Errorf("fixed: %v, want %v", got, want)
		}
		if got, want := b.Variance(f, n, Sample), (1/(16*g*g)-(f-0.5)*(f-0.5))/n; math.Abs(got-want) > 1e-15 {
			t.Errorf("sample: %v, want %v", got, want)
		}
	}
	same := must(NewBinary(amount("0.7")))
	u := utility.RandomizedResponse{Epsilon: amount("0.7").Float(), People: n}
	want, _ := u.Variance()
	if got := same.Variance(0.3, n, Fixed); math.Abs(got/want-1) > 1e-12 {
		t.Errorf("%v, and utility says %v", got, want)
	}
	// utility's exact alpha is for a symmetric interval around the truth; both are near each other.
	alpha, _ := u.AlphaAt(300, 0.05)
	e := must(same.Estimate(int64(math.Round(n*(same.q+0.3*same.gap))), n, 0.95, Fixed))
	if half := (e.High - e.Low) / 2; math.Abs(half/alpha-1) > 0.03 {
		t.Errorf("half width %v, and utility says %v", half, alpha)
	}
}

func TestStatisticalLoss(t *testing.T) {
	for _, name := range names {
		for _, epsilon := range []string{"0.5", "1", "2"} {
			o := oracle(name, 4, epsilon)
			got, claim := lowerBound(o, honestClient(o), 1, 2, 50_000), o.Cost().Epsilon.Float()
			if got > claim || got < 0.75*claim {
				t.Errorf("%s: the loss is at least %.3f, with a claim of %v", name, got, claim)
			}
		}
	}
}

func TestUnbiased(t *testing.T) {
	for _, name := range names {
		o := oracle(name, 70, "1")
		if err := checkUnbiased(o, honestClient(o), proportions, 30, 20, 10, 0, 5, 1, 1, 1); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestCoverage runs whole surveys: every interval holds with 95 % and not always.
func TestCoverage(t *testing.T) {
	const surveys, n = 300, 2000
	people := holders(n, 5, 3, 2, 0, 0)
	truth := []float64{0.5, 0.3, 0.2, 0, 0}
	for _, name := range daily.Sample(t, names, 2) {
		o := oracle(name, 5, "1")
		hits, src := 0, seeded(9)
		for range surveys {
			c := NewCollector(o)
			for _, v := range people {
				if err := c.Add(o.report(sourceRandomness{src}, v)); err != nil {
					t.Fatal(err)
				}
			}
			all := must(c.Estimates(0.95, Fixed))
			for x, e := range all {
				if e.Low <= truth[x] && truth[x] <= e.High {
					hits++
				}
			}
		}
		share := float64(hits) / (surveys * 5)
		if share < 0.93 || share > 0.985 {
			t.Errorf("%s: %.4f of the intervals hold", name, share)
		}
	}
}

// TestHashIsUniversal: two values collide in one of g, for every pair that is looked at,
// and the quick walk agrees with the definition.
func TestHashIsUniversal(t *testing.T) {
	const n = 400_000
	o := oracle("olh", 1<<24, "1").(*Hashing)
	src := seeded(4)
	pairs := [][2]uint64{{0, 1}, {0, 1<<24 - 1}, {1 << 23, 1 << 22}, {17, 34}, {5, 6}}
	hits := make([]int, len(pairs))
	for range n {
		h := Hash{noise.Uniform(src, prime), noise.Uniform(src, prime)}
		for i, p := range pairs {
			if h.bucket(p[0], o.buckets) == h.bucket(p[1], o.buckets) {
				hits[i]++
			}
		}
	}
	for i, h := range hits {
		if z := (float64(h) - n/4) / math.Sqrt(n*3.0/16); math.Abs(z) > 7 {
			t.Errorf("%v collide %d times of %d", pairs[i], h, n)
		}
	}
	for _, g := range []uint64{2, 3, 4, 10, 1<<20 - 3} {
		small := &Hashing{oraclePlan: oraclePlan{size: 300}, buckets: g}
		for _, h := range []Hash{{0, 0}, {prime - 1, prime - 1}, {1, 0},
			{noise.Uniform(src, prime), noise.Uniform(src, prime)}, {1 << 60, 5}} {
			for _, answer := range []uint64{0, 1, g - 1} {
				sums := make([]int64, 300)
				small.add(sums, Report{Hash: h, Answer: answer})
				for x, s := range sums {
					exact := new(big.Int).SetUint64(h.A)
					exact.Mul(exact, big.NewInt(int64(x)))
					exact.Add(exact, new(big.Int).SetUint64(h.B))
					exact.Mod(exact, big.NewInt(prime))
					exact.Mul(exact, new(big.Int).SetUint64(g))
					exact.Rsh(exact, 61)
					if b := h.bucket(uint64(x), g); b != exact.Uint64() || (s != 0) != (b == answer) {
						t.Fatalf("%v of %d in %d buckets is %d, want %v; supported %d", h, x, g, b, exact, s)
					}
				}
			}
		}
	}
}

func TestTransform(t *testing.T) {
	src := seeded(5)
	a := make([]int64, 64)
	for i := range a {
		a[i] = int64(noise.Uniform(src, 100))
	}
	b := append([]int64(nil), a...)
	transform(b)
	for x := range b {
		want := int64(0)
		for j, v := range a {
			want += v * (1 - 2*int64(parity(uint64(j&x))))
		}
		if b[x] != want {
			t.Fatalf("%d is %d, want %d", x, b[x], want)
		}
	}
}

func TestMerge(t *testing.T) {
	for _, name := range names {
		o := oracle(name, 70, "1")
		all, one, two := NewCollector(o), NewCollector(o), NewCollector(oracle(name, 70, "1"))
		src := seeded(6)
		for i := range 300 {
			r := must(o.Randomize(src, i%70))
			// A report can be sent as text.
			text := must(json.Marshal(r))
			var read Report
			if err := json.Unmarshal(text, &read); err != nil {
				t.Fatal(err)
			}
			half := one
			if i%3 == 0 {
				half = two
			}
			if err := errors.Join(all.Add(r), half.Add(read)); err != nil {
				t.Fatal(err)
			}
		}
		if err := one.Merge(two); err != nil {
			t.Fatal(err)
		}
		a, b := all.Counts(), one.Counts()
		for x := range a {
			if a[x] != b[x] || all.People() != one.People() {
				t.Errorf("%s: %d supports of %d, and %d when merged", name, a[x], x, b[x])
			}
		}
		for _, other := range []Oracle{oracle(name, 71, "1"), oracle(name, 70, "2"), oracle(names[(len(name)+1)%4], 69, "1")} {
			if err := one.Merge(NewCollector(other)); !errors.Is(err, errMerge) {
				t.Errorf("%s with %s: %v", name, other.Name(), err)
			}
		}
	}
}

// TestDrawsDoNotDepend: what is read does not depend on the value.
func TestDrawsDoNotDepend(t *testing.T) {
	for _, name := range names {
		o := oracle(name, 70, "1")
		read := map[int]bool{}
		for v := range 70 {
			s := stream(8)
			src := entropy.FromReader(s)
			for range 50 {
				if _, err := o.Randomize(src, v); err != nil {
					t.Fatal(err)
				}
			}
			read[s.read] = true
		}
		if len(read) != 1 {
			t.Errorf("%s reads %v bytes", name, read)
		}
	}
}

// TestBadPlans: an error that says what to do, and nothing is drawn.
func TestBadPlans(t *testing.T) {
	for _, name := range names {
		for _, c := range []struct {
			size    int
			epsilon dp.Amount
			want    error
			says    string
		}{
			{0, dp.One, errDomain, "two answers"},
			{1, dp.One, errDomain, "two answers"},
			{-1, dp.One, errDomain, "two answers"},
			{1<<24 + 1, dp.One, errDomain, "at most"},
			{8, 0, errEpsilon, "such as 1"},
			{8, dp.Unbounded, errEpsilon, "above 32"},
			{8, 33 * dp.One, errEpsilon, "above 32"},
		} {
			o, err := New(name, c.size, c.epsilon)
			if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.says) || o != nil {
				t.Errorf("%s of %d values at %v: %v, %v", name, c.size, c.epsilon, o, err)
			}
		}
		o := oracle(name, 8, "1")
		for _, v := range []int{-1, 8, math.MaxInt} {
			s := stream(1)
			if _, err := o.Randomize(entropy.FromReader(s), v); !errors.Is(err, errValue) || s.read != 0 {
				t.Errorf("%s of %d: %v, and %d bytes were read", name, v, err, s.read)
			}
		}
		c := NewCollector(o)
		if _, err := c.Estimates(0.95, Fixed); !errors.Is(err, errNobody) {
			t.Errorf("%s: %v", name, err)
		}
		for _, confidence := range []float64{0, 1, -1, 2, math.NaN()} {
			if _, err := c.Estimates(confidence, Fixed); !errors.Is(err, errConfidence) {
				t.Errorf("confidence %v: %v", confidence, err)
			}
		}
		bad := Report{Answer: 1 << 40, Row: 1 << 40, Hash: Hash{prime, 0}, Bits: []uint64{1 << 8}}
		if err := c.Add(bad); !errors.Is(err, errReport) || c.People() != 0 {
			t.Errorf("%s takes %v: %v", name, bad, err)
		}
	}
	if _, err := New("rappor", 8, dp.One); !errors.Is(err, errOracle) {
		t.Error(err)
	}
	if _, err := NewHashing(8, 14*dp.One); !errors.Is(err, errEpsilon) {
		t.Error(err)
	}
	for _, g := range []*big.Rat{nil, new(big.Rat), big.NewRat(1, 2), big.NewRat(-1, 4), big.NewRat(3, 4),
		new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Lsh(big.NewInt(1), 70))} {
		if _, err := NewBiased(g); !errors.Is(err, errEpsilon) {
			t.Errorf("bias %v: %v", g, err)
		}
	}
	b, _ := NewBinary(dp.One)
	if _, err := b.Estimate(3, 2, 0.95, Fixed); !errors.Is(err, errReport) {
		t.Error(err)
	}
	if _, err := b.Estimate(0, 0, 0.95, Fixed); !errors.Is(err, errNobody) {
		t.Error(err)
	}
}

// The smallest epsilon there is still gives finite estimates.
func TestSmallestEpsilon(t *testing.T) {
	for _, name := range names {
		o := must(New(name, 8, 1))
		c, src := NewCollector(o), seeded(1)
		for range 10 {
			r, _ := o.Randomize(src, 3)
			if err := c.Add(r); err != nil {
				t.Fatal(err)
			}
		}
		all := must(c.Estimates(0.95, Fixed))
		for _, e := range all {
			if math.IsNaN(e.Proportion) || math.IsInf(e.Proportion, 0) || e.Low < 0 || e.High > 1 || e.Low > e.High {
				t.Errorf("%s: %+v", name, e)
			}
		}
	}
}

func TestChoose(t *testing.T) {
	for _, c := range []struct {
		size          int
		epsilon, name string
	}{
		{2, "1", "direct"}, {10, "1", "direct"}, {11, "1", "oue"}, {128, "1", "oue"}, {129, "1", "olh"}, {5000, "1", "hadamard"},
		{5000, "4", "olh"},
		{100, "4", "direct"}, {6, "0.01", "oue"}, {5000, "9", "direct"}, {2, "32", "direct"},
	} {
		o, why, err := ChooseOracle(c.size, amount(c.epsilon))
		if err != nil || o.Name() != c.name || why == "" {
			t.Errorf("%d values at %s: %v, %q, %v", c.size, c.epsilon, o, why, err)
		}
	}
	// Direct is better than oue up to the border, and not from it on.
	for _, e := range []string{"0.5", "1", "2", "3"} {
		border := 3*math.Exp(amount(e).Float()) + 2
		for size := 2; size < int(2*border); size++ {
			better := oracle("direct", size, e).Variance(0, 1, Fixed) < oracle("oue", size, e).Variance(0, 1, Fixed)
			if better != (float64(size) < border) {
				t.Errorf("%d values at %s", size, e)
			}
		}
	}
	for _, bad := range []int{1, 1<<24 + 1} {
		if o, _, err := ChooseOracle(bad, dp.One); !errors.Is(err, errDomain) || o != nil {
			t.Errorf("%d values: %v", bad, err)
		}
	}
	if _, _, err := ChooseOracle(8, 0); !errors.Is(err, errEpsilon) {
		t.Error(err)
	}
}

func TestNormSub(t *testing.T) {
	for _, c := range []struct{ in, want []float64 }{
		{[]float64{0.5, 0.6, -0.1}, []float64{0.45, 0.55, 0}},
		{[]float64{0.2, 0.3}, []float64{0.45, 0.55}},
		{[]float64{-1, -2}, []float64{1, 0}},
		{[]float64{0.3, 0.3, 0.4}, []float64{0.3, 0.3, 0.4}},
		{nil, nil},
	} {
		got := NormSub(c.in)
		for i := range c.want {
			if len(got) != len(c.want) || math.Abs(got[i]-c.want[i]) > 1e-12 {
				t.Errorf("%v becomes %v, want %v", c.in, got, c.want)
			}
		}
	}
}
