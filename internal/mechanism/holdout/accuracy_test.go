package holdout

import (
	"fmt"
	"math"
	"math/big"
	"testing"

	"github.com/discreet-dp/discreet/dp/mech"
	"github.com/discreet-dp/discreet/internal/detrand"
	"github.com/discreet-dp/discreet/internal/lab/stat"
)

// analyst says how far off the next question is, in steps: it knows the data, what is too far off,
// and how many of a round's questions were confirmed.
type analyst func(tooFar int64, confirmed int) int64

// The worst that can be asked: what is just too far off at once; that after a round has shown by
// twenty questions at the threshold that its noise is large; and that now and then.
var analysts = map[string]analyst{
	"at once": func(tooFar int64, _ int) int64 { return tooFar },
	"patient": func(tooFar int64, confirmed int) int64 {
		if confirmed < 20 {
			return 400
		}
		return tooFar
	},
	"now and then": func(tooFar int64, confirmed int) int64 { return tooFar * int64((confirmed+1)%2) },
}

// countMissing counts the sessions in which an analyst finds an answer that is farther from the
// holdout than the accuracy says.
func countMissing(t *testing.T, c Config, accuracy float64, ask analyst, runs int) (bad int) {
	t.Helper()
	r := mech.NewReleaser(detrand.Noise("accuracy", 1))
	tooFar := int64(accuracy*float64(c.Size)) + 1
	for range runs {
		s, confirmed, missed := open(c, r, richHost()), 0, false
		for i := 0; i < 400 && s.Left() > 0; i++ {
			off := ask(tooFar, confirmed)
			a := must(s.Ask(ctx, Question{Key: fmt.Sprint(i), Holdout: loaderOf(c.Size / 4), Training: big.NewRat(c.Size/4+off, c.Size)}))
			if confirmed++; a.Spent {
				confirmed = 0
			}
			score, _ := a.Score.Float64()
			missed = missed || math.Abs(score-0.25) > accuracy
		}
		if missed {
			bad++
		}
	}
	return bad
}

// All answers of a session are as near to the holdout as was promised, however many questions its
// rounds have, with the probability that was promised; the analyst who asks about nothing else
// comes near to it. A bound that forgets that there are several rounds is refuted by the same
// analyst.
func TestThresholdoutIsAccurate(t *testing.T) {
	const runs, miss = 1500, 0.3
	c := Config{Size: 10_000, Steps: 1, Threshold: rat("0.04"), Noise: rat("0.01"), Answers: 5, Currency: mech.Pure}
	w := PlanRequest{Queries: 2000, Answers: 5, Threshold: 0.04, Beta: miss}
	promised := thresholdAccuracy(0.01, 0.04, w)(miss)
	for name, ask := range analysts {
		bad := countMissing(t, c, promised, ask, runs)
		t.Logf("%s: %d of %d sessions have an answer beyond %.4f", name, bad, runs, promised)
		if low := stat.LowerBound(bad, runs, 1e-4); low > miss {
			t.Errorf("%s: at least %.3f of sessions have an answer beyond %.4f, not %v", name, low, promised, miss)
		}
		if high := stat.UpperBound(bad, runs, 1e-4); name == "at once" && high < miss*0.8 {
			t.Errorf("%s: only %.3f of sessions have an answer beyond %.4f, where %v may", name, high, promised, miss)
		}
	}
	w.Answers = 1
	forgotten := thresholdAccuracy(0.01, 0.04, w)(miss)
	if low := stat.LowerBound(countMissing(t, c, forgotten, analysts["at once"], runs/5), runs/5, 1e-4); low <= miss {
		t.Errorf("a bound of %.4f that forgets the rounds is not refuted", forgotten)
	}
}

// alarmProbability is P(|G| + N - Z >= T), where G is the difference of two means over n coins,
// exactly, with the law of N - Z.
func alarmProbability(n, noise, threshold float64) (p float64) {
	tail := func(w float64) float64 {
		x := math.Exp(-math.Abs(w) / (4 * noise))
		beyond := 2.0/3*x - x*x/6
		if w < 0 {
			return 1 - beyond
		}
		return beyond
	}
	logs := func(x float64) float64 { l, _ := math.Lgamma(x + 1); return l }
	for k := 0.0; k <= 2*n; k++ {
		p += math.Exp(logs(2*n)-logs(k)-logs(2*n-k)-2*n*math.Ln2) * tail(threshold-math.Abs(k-n)/n)
	}
	return p
}

// With the threshold of a plan, questions that do not overfit are answered from the holdout with
// the probability that it says, for all of them together; one that forgets that the two samples
// differ has more. The law of the noise is that of draws.
func TestThresholdOfAPlan(t *testing.T) {
	for _, c := range []struct{ n, noise, queries, beta float64 }{
		{400, 0.01, 500, 0.05}, {1000, 0.004, 100, 0.2}, {1000, 0.0005, 1e6, 0.01}, {100, 0.2, 10, 0.5},
	} {
		w := PlanRequest{Queries: c.queries, Beta: c.beta}
		threshold := thresholdOf(c.n, c.noise, w)
		if all := c.queries * alarmProbability(c.n, c.noise, threshold); all > c.beta {
			t.Errorf("%+v: at %v there are %v alarms", c, threshold, all)
		}
	}
	const n, noise = 400, 0.006
	w := PlanRequest{Queries: 500, Beta: 0.05}
	if all := w.Queries * alarmProbability(n, noise, thresholdOf(n, noise, w)-1/(16*noise*n)); all <= w.Beta {
		t.Errorf("a threshold that forgets the samples has only %v alarms", all)
	}
	d := detrand.New("tail", 1)
	laplace := func(b float64) float64 {
		u := (float64(d.Below(1<<30)) + 0.5) / (1 << 30)
		if u < 0.5 {
			return b * math.Log(2*u)
		}
		return -b * math.Log(2*(1-u))
	}
	for _, w := range []float64{-3, 0, 2, 8} {
		beyond := 0
		const draws = 100_000
		for range draws {
			if laplace(2)+laplace(4) > w {
				beyond++
			}
		}
		// Nobody differs where there is no sample.
		if p := alarmProbability(0, 1, w); math.Abs(float64(beyond)/draws-p) > 5*math.Sqrt(p*(1-p)/draws) {
			t.Errorf("beyond %v: %v, the formula says %v", w, float64(beyond)/draws, p)
		}
	}
}

// Everybody's bit is turned over with probability 1/(1 + exp(epsilon)), which is epsilon-private,
// and somebody asks how many bits are as they are said to be: half of all, but more in this sample.
// The query is off by more than its tolerance with probability beta at most, and by more than
// seven tenths of it with more than that; half of the information would promise too much.
func TestInformationIsNearlyReached(t *testing.T) {
	for _, c := range []struct{ n, epsilon, beta float64 }{{1000, 0.3, 0.05}, {10_000, 0.3, 0.001}, {10_000, 0.02, 0.05}, {50, 1, 0.01}} {
		off := func(tolerance float64) (p float64) {
			logs := func(x float64) float64 { l, _ := math.Lgamma(x + 1); return l }
			for k := 0.0; k <= c.n; k++ {
				if math.Abs(k/c.n-0.5) > tolerance {
					p += math.Exp(logs(c.n) - logs(k) - logs(c.n-k) + k*c.epsilon - c.n*math.Log1p(math.Exp(c.epsilon)))
				}
			}
			return p
		}
		tolerance := InformationTolerance(c.n, c.epsilon, 1, c.beta)
		if got := off(tolerance); got > c.beta {
			t.Errorf("%+v: off by more than %v with probability %v", c, tolerance, got)
		}
		if got := off(tolerance * 0.7); got < c.beta {
			t.Errorf("%+v: off by more than %v with probability %v only", c, tolerance*0.7, got)
		}
		if wrong := InformationTolerance(c.n, c.epsilon/2, 1, c.beta); c.epsilon*math.Sqrt(c.n) > 5 && off(wrong) <= c.beta {
			t.Errorf("%+v: half of the information is enough, %v", c, wrong)
		}
	}
}

// What is promised for declared numbers is what the plan says for them, and a little more for the
// lattice; numbers that make no sense promise nothing.
func TestPromised(t *testing.T) {
	for _, c := range []struct {
		size, threshold, noise, answers, want float64
	}{
		{100_000, 0.04, 0.001, 10, 0.1153},
		{10_000, 0.04, 0.01, 200, 1.318},
		{1_000, 0.04, 0.01, 200, 4.834},
		{1_000_000, 0, 0.0005, 5, 0.01715},
	} {
		got := PromisedTolerance(c.size, c.threshold, c.noise, c.answers, 0.05)
		if math.Abs(got/c.want-1) > 0.001 {
			t.Errorf("%+v: %v", c, got)
		}
		if c.threshold == 0 {
			continue
		}
		ways := must(PlanTolerances(PlanRequest{
			Size: c.size, Queries: 1e6, Answers: c.answers, Tolerance: 0.05, Beta: 0.05, Noise: c.noise, Threshold: c.threshold,
		}))
		least := math.Inf(1)
		for _, w := range ways {
			if w.Name == ThresholdWay {
				least = math.Min(least, w.Tolerance)
			}
		}
		if math.Abs(got-least-4/c.size) > 1e-9 {
			t.Errorf("%+v: %v, and the plan says %v", c, got, least)
		}
	}
	for _, wrong := range [][5]float64{
		{0, 0.04, 0.01, 5, 0.05}, {1000, 0.04, 0, 5, 0.05}, {1000, 2, 0.01, 5, 0.05}, {1000, 0.04, 0.01, 0, 0.05}, {1000, 0.04, 0.01, 5, 0},
		{math.NaN(), 0.04, 0.01, 5, 0.05},
	} {
		if got := PromisedTolerance(wrong[0], wrong[1], wrong[2], wrong[3], wrong[4]); !IsVacuous(got) {
			t.Errorf("%v: %v", wrong, got)
		}
	}
}

func TestErrorBars(t *testing.T) {
	tariff := must(Price(Config{Size: 10_000, Steps: 1, Threshold: big.NewRat(4, 100), Noise: big.NewRat(1, 100), Answers: 10,
		Currency: mech.Pure}))
	// Laplace noise of scale 0.01 is within 0.01 ln 20 in 95 of 100 cases.
	if got, want := tariff.Answered(0.05), 0.01*math.Log(20); math.Abs(got-want) > 2e-4 {
		t.Errorf("%v, want %v", got, want)
	}
	// T and the 95 % point of Lap(0.02) - Lap(0.04), which (4 exp(-w/4) - exp(-w/2))/6 = 0.05
	// solves, in units of 0.01.
	w := 4 * math.Log(1/(2-math.Sqrt(4-0.3)))
	if got, want := tariff.Confirmed(0.05), 0.04+0.01*w; math.Abs(got-want) > 3e-4 {
		t.Errorf("%v, want %v", got, want)
	}
	if !(tariff.Confirmed(0.05) < tariff.Confirmed(0.01)) || !math.IsInf(tariff.Confirmed(0), 1) || tariff.Confirmed(1e-300) > 1 {
		t.Error("a surer bar is no wider")
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
