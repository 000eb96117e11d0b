package budgets

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/dp"
)

var now = time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)

// ago is a time so many days before now.
func ago(days float64) time.Time { return now.Add(-time.Duration(days * float64(oneDay))) }

func pure(epsilon dp.Amount) dp.Cost { return dp.Cost{Epsilon: epsilon, Rho: dp.Unbounded} }

func spends(cost dp.Cost, days ...float64) (out []Spend) {
	for _, d := range days {
		out = append(out, Spend{Time: ago(d), Cost: cost})
	}
	return out
}

func TestNew(t *testing.T) {
	tenth := pure(dp.One / 8)
	for _, c := range []struct {
		name   string
		spends []Spend
		left   dp.Cost
		want   Forecast
	}{
		{"nothing", nil, pure(dp.One), Forecast{Status: Early}},
		{"two charges", spends(tenth, 9, 8), pure(dp.One), Forecast{Status: Early, Charges: 2, Days: 9}},
		{"an hour", spends(tenth, 0.25, 0.25, 0.25, 0), pure(dp.One), Forecast{Status: Early, Charges: 4, Days: 0.25}},
		{"four in ten days", spends(tenth, 10, 5, 3, 1), pure(dp.One),
			Forecast{Status: Lasting, Charges: 4, Days: 10, Claim: "epsilon", PerDay: 0.05, DaysLeft: 20, Until: "2026-12-05"}},
		{"old ones do not count", spends(tenth, 100, 90, 80, 20, 10), pure(dp.One),
			Forecast{Status: Lasting, Charges: 2, Days: 30, Claim: "epsilon", PerDay: 0.25 / 30, DaysLeft: 120, Until: "2027-03-15"}},
		{"only old ones", spends(tenth, 100, 90, 80), pure(dp.One), Forecast{Status: Idle, Days: 30}},
		{"used up", spends(tenth, 10, 5, 3, 1), pure(0), Forecast{Status: UsedUp, Charges: 4, Days: 10}},
		{"for ever", spends(pure(1), 30, 20, 10), pure(dp.One << 20),
			Forecast{Status: Lasting, Charges: 3, Days: 30, Claim: "epsilon", PerDay: 0x3p-40 / 30, DaysLeft: 10 * 0x1p60}},
	} {
		got := NewForecast(c.spends, pure(2*dp.One), c.left, now)
		close := func(a, b float64) bool { return a == b || (a-b)*(a-b) < 1e-12*b*b }
		if got.Status != c.want.Status || got.Charges != c.want.Charges || got.Claim != c.want.Claim || got.Until != c.want.Until ||
			!close(got.Days, c.want.Days) || !close(got.PerDay, c.want.PerDay) || !close(got.DaysLeft, c.want.DaysLeft) {
			t.Errorf("%s: %+v; want %+v", c.name, got, c.want)
		}
	}
	// The claim that runs out first is the one that counts.
	cost := dp.Cost{Epsilon: dp.Unbounded, Rho: dp.One / 100, Delta: 1000}
	limit, left := dp.Cost{Epsilon: dp.Unbounded, Rho: dp.One, Delta: 9000}, dp.Cost{Epsilon: dp.Unbounded, Rho: dp.One / 2, Delta: 6000}
	if f := NewForecast(spends(cost, 10, 5, 1), limit, left, now); f.Claim != "delta" || f.DaysLeft < 19.9 || f.DaysLeft > 20.1 {
		t.Errorf("two claims: %+v", f)
	}
}

func TestMend(t *testing.T) {
	for _, c := range []struct {
		name   string
		times  []time.Time
		want   []float64 // days ago
		mended int
	}{
		{"none", nil, nil, 0},
		{"in order", []time.Time{ago(3), ago(2), ago(2), ago(1)}, []float64{3, 2, 2, 1}, 0},
		{"the clock was at its beginning", []time.Time{ago(3), {}, time.Unix(0, 0), ago(1)}, []float64{3, 3, 3, 1}, 2},
		{"the clock was ahead", []time.Time{ago(3), ago(-4000), ago(2), ago(1)}, []float64{3, 3, 2, 1}, 1},
		{"ahead, but not of now", []time.Time{ago(9), ago(1), ago(8), ago(7), ago(6)}, []float64{9, 9, 8, 7, 6}, 1},
		{"wrong from the first", []time.Time{ago(-9), ago(2), ago(1)}, []float64{2, 2, 1}, 1},
		{"all ahead", []time.Time{ago(-9), ago(-8)}, []float64{0, 0}, 2},
	} {
		if n := Mend(c.times, now); n != c.mended {
			t.Errorf("%s: %d mended; want %d", c.name, n, c.mended)
		}
		for i, d := range c.want {
			if !c.times[i].Equal(ago(d)) {
				t.Errorf("%s: time %d is %v; want %v", c.name, i, c.times[i], ago(d))
			}
		}
	}
}

// Whatever the clock did, times come in order, none is ahead, and the forecast makes sense.
func TestAnyClock(t *testing.T) {
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 3))
		times := make([]time.Time, r.IntN(60))
		for i := range times {
			switch r.IntN(6) {
			case 0:
				times[i] = time.Unix(r.Int64()-r.Int64(), 0)
			case 1:
				times[i] = time.Time{}
			default:
				times[i] = ago(60 - float64(i) + r.NormFloat64())
			}
		}
		Mend(times, now)
		var all []Spend
		for i, at := range times {
			if at.After(now) || i > 0 && at.Before(times[i-1]) {
				t.Fatalf("seed %d: %v", seed, times)
			}
			all = append(all, Spend{Time: at, Cost: pure(dp.Amount(1 + r.Uint64N(uint64(dp.One))))})
		}
		f := NewForecast(all, pure(dp.One<<10), pure(dp.One<<uint(r.IntN(10))), now)
		if !(f.Days >= 0 && f.Days <= WindowDays && f.PerDay >= 0 && f.DaysLeft >= 0) || f.Until != "" && f.Until < "2026-11-15" {
			t.Fatalf("seed %d: %+v", seed, f)
		}
		Sparkline(Daily(all, func(c dp.Cost) dp.Amount { return c.Epsilon }, WindowDays, now))
	}
}

func TestSparkline(t *testing.T) {
	if got := Sparkline([]float64{0, 1, 2, 4, 8, 0.001}); got != "·▂▃▅█▁" {
		t.Errorf("got %s", got)
	}
	if got := Sparkline(nil) + Sparkline([]float64{0, 0}); got != "··" {
		t.Errorf("got %s", got)
	}
	daily := Daily(spends(pure(dp.One), 2.5, 0.5, 0, 9), func(c dp.Cost) dp.Amount { return c.Epsilon }, 3, now)
	if daily[0] != 1 || daily[1] != 0 || daily[2] != 2 {
		t.Errorf("got %v", daily)
	}
}

// TestTally: charges of an hour are one, and a clock that was wrong moves nothing but its own.
func TestTally(t *testing.T) {
	now := time.Date(2026, 11, 17, 12, 0, 0, 0, time.UTC)
	var sums Tally
	for _, at := range []time.Time{
		now.Add(-50 * time.Hour), now.Add(-50*time.Hour + time.Minute), now.Add(90 * time.Hour), time.Unix(0, 0), now.Add(-time.Hour),
	} {
		sums.Add(at, []string{"a", "b"}, dp.Cost{Epsilon: dp.One}, now)
	}
	sums.Add(now, []string{"b"}, dp.Cost{Epsilon: dp.One}, now)
	a := sums.Of("a")
	if len(a) != 2 || a[0].Charges != 4 || a[0].Cost.Epsilon != 4*dp.One || !a[1].Time.Equal(now.Add(-time.Hour)) ||
		len(sums.Of("b")) != 3 {
		t.Errorf("%+v", a)
	}
	if len(sums.Accounts()) != 2 || sums.Of("c") != nil {
		t.Error(sums.Accounts())
	}
	f := NewForecast(a, dp.Cost{Epsilon: 100 * dp.One, Rho: dp.Unbounded}, dp.Cost{Epsilon: 95 * dp.One, Rho: dp.Unbounded}, now)
	if f.Status != Lasting || f.Charges != 5 || f.Claim != "epsilon" {
		t.Errorf("%+v", f)
	}
}
