package account

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/lab/stat"
)

func mustRead(o *Odometer) Reading { return must(o.Read()) }

func TestPureOdometer(t *testing.T) {
	o := PureOdometer()
	if r := mustRead(o); r != (Reading{}) {
		t.Errorf("a new odometer reads %v", r)
	}
	for _, err := range []error{o.Spend(Pure{0.25}), o.Open(Pure{0.5})} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []Claim{GDP{1}, ZCDP{1}, Approx{1, 1e-6}} {
		if err := o.Spend(c); err == nil {
			t.Errorf("%T was recorded by a pure odometer", c)
		}
	}
	if r := mustRead(o); r != (Reading{Epsilon: dp.One * 3 / 4}) {
		t.Errorf("it reads %v", r)
	}
}

func TestBasicOdometer(t *testing.T) {
	o := must(BasicOdometer(dp.One / 1024))
	for range 4 {
		if err := o.Spend(Approx{0.25, 0x1p-12}); err != nil {
			t.Fatal(err)
		}
	}
	if err := o.Spend(Approx{0.25, 0x1p-40}); err == nil {
		t.Error("the deltas are above what was fixed")
	}
	if err := o.Spend(Pure{1}); err != nil {
		t.Error(err)
	}
	if r := mustRead(o); r != (Reading{2 * dp.One, dp.One / 1024}) {
		t.Errorf("it reads %v", r)
	}
}

func TestOdometersRefused(t *testing.T) {
	for _, delta := range []dp.Amount{0, dp.One, dp.Unbounded} {
		if _, err := BasicOdometer(delta); !errors.Is(err, errOdometer) {
			t.Errorf("basic, delta %v: %v", delta, err)
		}
		if _, err := ZCDPOdometer(dp.One, delta, 0); !errors.Is(err, errOdometer) {
			t.Errorf("zCDP, delta %v: %v", delta, err)
		}
	}
	for _, first := range []dp.Amount{0, dp.Unbounded} {
		if _, err := ZCDPOdometer(first, 1, 0); !errors.Is(err, errOdometer) {
			t.Errorf("first level %v: %v", first, err)
		}
	}
	if _, err := ZCDPOdometer(1, dp.One/2, dp.One/2); !errors.Is(err, errOdometer) {
		t.Error(err)
	}
}

// The sum of the d_j stays within delta, the levels go as far as any sum of rho
// can, and at a level the reading is not above the level's own bound.
func TestLines(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		first, delta := drawAmount(t, "first", 60), drawAmount(t, "delta", 39)
		o := must(ZCDPOdometer(first, delta, 0))
		sum := 0.0
		for j, l := range o.lines {
			sum += math.Exp(-l.logOdds)
			level := math.Ldexp(first.Float(), j)
			bound := level + 2*math.Sqrt(level*l.logOdds)
			if at := l.at(level); at < bound*(1-1e-15) || at > bound*(1+1e-13) {
				t.Fatalf("level %d is %v, its bound %v", j, at, bound)
			}
		}
		if sum > delta.Float() {
			t.Fatalf("the deltas of the lines add up to %v, above %v", sum, delta.Float())
		}
		if last := math.Ldexp(first.Float(), len(o.lines)); last < 0x1p24 {
			t.Fatalf("the grid ends at %v", last)
		}
	})
}

func TestZCDPOdometerReads(t *testing.T) {
	o := must(ZCDPOdometer(dp.One/1024, amount("1e-6"), amount("1e-7")))
	if r := mustRead(o); r.Epsilon != 0 {
		t.Errorf("a new odometer reads %v", r)
	}
	// While everything has an epsilon the sum of epsilon is the better reading.
	if err := o.Spend(Approx{0.125, 1e-8}); err != nil {
		t.Fatal(err)
	}
	if r := mustRead(o); r.Epsilon != dp.One/8 || r.Delta != amount("1e-6")+amount("1e-7") {
		t.Errorf("it reads %v", r)
	}
	last := dp.Amount(0)
	for range 200 {
		if err := o.Open(ZCDP{0.01}); err != nil {
			t.Fatal(err)
		}
		r := mustRead(o).Epsilon
		fixed := must(Epsilon(o.spending.Spent().Rho, amount("1e-6")))
		if r <= last {
			t.Fatal("the reading does not grow")
		}
		// Valid at all times must cost something, and costs less than half here.
		if r < fixed || r.Float() > 1.5*fixed.Float() {
			t.Fatalf("it reads %v; at a fixed time it would be %v", r, fixed)
		}
		last = r
	}
	if err := o.Spend(ApproxZCDP{0.01, 1e-6}); err == nil {
		t.Error("the deltas are above what was fixed")
	}
}

// walk is the privacy loss of Gaussian noise under the first database: each
// step of rho adds a normal variable with mean rho and variance 2 rho. The analyst
// knows both databases and so sees it. Prices grow by 2 % of what was spent.
func walk(r *rand.Rand, spent []float64, visit func(k int, loss float64) bool) {
	loss, before := 0.0, 0.0
	for k, rho := range spent {
		step := rho - before
		loss, before = loss+step+math.Sqrt(2*step)*r.NormFloat64(), rho
		if visit(k, loss) {
			return
		}
	}
}

// TestStoppingWhenItLooksBest shows the cheat and that it fails: an analyst who stops as soon as
// the loss is above the conversion of what was spent so far, at delta 0.05, breaks that reading
// several times more often than delta, while the odometer keeps its promise.
//
// The promise P_A[S] <= E_B[exp(R) 1_S] + delta, for the best S, says E_A[max(0,
// 1 - exp(R - loss))] <= delta at the stopping time: that is measured, and
// besides how often the loss is ever above the reading.
func TestStoppingWhenItLooksBest(t *testing.T) {
	const delta, trials = 0.05, 4000
	var spent, fixed, watched []float64
	o := must(ZCDPOdometer(dp.One/8, amount("0.05"), 0))
	for rho := 0.125; rho < 1e5; rho *= 1.02 {
		before := 0.0
		if len(spent) > 0 {
			before = spent[len(spent)-1]
		}
		if err := o.Spend(ZCDP{rho - before}); err != nil {
			t.Fatal(err)
		}
		spent = append(spent, rho)
		fixed = append(fixed, tightEpsilon(rho, delta))
		watched = append(watched, mustRead(o).Epsilon.Float())
	}
	r := rand.New(rand.NewPCG(20, 26))
	stop := func(reading []float64, fixedTime int) (above, broken float64) {
		for range trials {
			crossed, excess := false, 0.0
			walk(r, spent, func(k int, loss float64) bool {
				if fixedTime >= 0 && k != fixedTime {
					return false
				}
				crossed = crossed || loss > reading[k]
				// She waits for an excess that is worth stopping for.
				if fixedTime >= 0 || loss > reading[k]+2 || k == len(spent)-1 {
					excess = math.Max(0, 1-math.Exp(reading[k]-loss))
					return true
				}
				return false
			})
			if crossed {
				above++
			}
			broken += excess
		}
		return above / trials, broken / trials
	}
	above, broken := stop(fixed, -1)
	t.Logf("fixed-time reading, stopped at will: above it %.3f, promise broken by %.3f, delta %v", above, broken, delta)
	if above < 3*delta || broken < 3*delta {
		t.Error("the cheat is not seen")
	}
	// Four standard deviations of the simulation.
	noise := 4 * math.Sqrt(delta/trials)
	above, broken = stop(watched, -1)
	t.Logf("odometer, stopped at will: above it %.3f, promise broken by %.3f", above, broken)
	if above > delta+noise || broken > delta+noise {
		t.Error("the odometer does not hold")
	}
	above, broken = stop(fixed, len(spent)/2)
	t.Logf("fixed-time reading at a fixed time: above it %.3f, promise broken by %.3f", above, broken)
	if broken > delta+noise {
		t.Error("the conversion does not hold at a fixed time")
	}
}

// TestRaisedLimits: what raises are worth, at the epsilon that the last limit has by itself and at
// what Raised says.
func TestRaisedLimits(t *testing.T) {
	const delta = 1e-6
	conversion := must(dp.CeilFloat(delta))
	for _, c := range []struct {
		raises      int
		by          float64
		least, most float64 // of what they are worth at the epsilon of the last limit
	}{
		{0, 0, 2e-7, 2.3e-7},
		{20, 0.2, 1.9e-6, 2e-6},
		{90, 0.1, 3.2e-6, 3.4e-6},
		{400, 0.01, 1.6e-6, 3e-6}, // as good as any amount at any time
	} {
		var rho, naive, raised []float64
		var first dp.Amount
		for j := range c.raises + 1 {
			e, _ := dp.CeilFloat(1 + c.by*float64(j))
			r := must(Rho(e, conversion))
			if j == 0 {
				first = r
			}
			reading := must(ClaimOfRaisedLimit(first, r, conversion))
			if j == 0 && (reading.Epsilon > e || reading.Delta != conversion) ||
				j > 0 && (reading.Delta != 2*conversion || reading.Epsilon.Float() < raised[j-1]) {
				t.Errorf("%d raises of %v: after %d it is %v", c.raises, c.by, j, reading)
			}
			rho, naive, raised = append(rho, r.Float()), append(naive, e.Float()), append(raised, reading.Epsilon.Float())
		}
		printed, stated := stat.StoppingDelta(rho, naive), stat.StoppingDelta(rho, raised)
		if printed < c.least || printed > c.most || printed > float64(1+c.raises)*delta {
			t.Errorf("%d raises of %v are worth %.3g; want %v to %v", c.raises, c.by, printed, c.least, c.most)
		}
		if stated > delta {
			t.Errorf("%d raises of %v: what is stated is worth %.3g", c.raises, c.by, stated)
		}
		t.Logf("%d raises of %v: at epsilon %.4g delta is %.4g; stated is epsilon %.4g at %v, which is worth %.3g", c.raises, c.by,
			naive[c.raises], printed, raised[c.raises], 2*delta, stated)
	}
}

func TestRaised(t *testing.T) {
	first, delta := dp.One/40, dp.One/1_000_000
	whole := must(Epsilon(first, delta))
	for _, lower := range []dp.Amount{0, 1, first / 2, first} {
		if got, err := ClaimOfRaisedLimit(first, lower, delta); err != nil || got != (Reading{whole, delta}) {
			t.Errorf("%v: %v, %v", lower, got, err)
		}
	}
	last := Reading{whole, delta}
	for limit := first + 1; limit < 100*dp.One; limit += limit / 7 {
		got, err := ClaimOfRaisedLimit(first, limit, delta)
		if err != nil || got.Epsilon < last.Epsilon || got.Delta != 2*delta {
			t.Fatalf("%v: %v, %v after %v", limit, got, err, last)
		}
		// What it costs: at most a level, and a part of delta that is logarithmic in the levels.
		if alone, _ := Epsilon(limit, delta); got.Epsilon < alone || got.Epsilon.Float() > 1.5*alone.Float() {
			t.Errorf("%v: %v, and by itself %v", limit, got, alone)
		}
		last = got
	}
	// The smallest delta there is has parts too.
	if got, err := ClaimOfRaisedLimit(first, 50*first, 1); err != nil || got.Delta != 2 {
		t.Error(got, err)
	}
	for _, c := range [][3]dp.Amount{{0, 1, delta}, {first, dp.Unbounded, delta}, {first, 2 * first, 0}, {first, 2 * first, dp.One / 2}} {
		if got, err := ClaimOfRaisedLimit(c[0], c[1], c[2]); err == nil {
			t.Errorf("%v: %v", c, got)
		}
	}
}
