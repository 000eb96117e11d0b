package curator

import (
	"fmt"
	"math"
	"testing"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/account"
	"github.com/discreet-dp/discreet/internal/curator/answers"
	"github.com/discreet-dp/discreet/internal/curator/pricing"
	"github.com/discreet-dp/discreet/internal/engine"
	"github.com/discreet-dp/discreet/internal/lab/hospital"
)

// release does what buy does after the charge: the curator's path without the ledger,
// whose fsyncs would take minutes.
func (w *world) release(p, noise *pricing.Priced, exactly *engine.Result) *api.Answer {
	w.t.Helper()
	r, err := w.Release(noise.Purchases[0], exactly, pricing.MaxBytes)
	w.check(err)
	a, err := answers.Finish(ctx, p, nil, []*answers.Released{r})
	w.check(err)
	return a
}

// truths computes counts, sums of cost and average ages by sex, not by way of the engine.
func truths(h *hospital.Hospital) map[string][3]float64 {
	out := map[string][3]float64{}
	for _, p := range h.Patients {
		x := out[p.Sex]
		x[0]++
		x[1] += float64(min(p.Cents, 1_000_000)) / 100
		x[2] += float64(p.Age)
		out[p.Sex] = x
	}
	for sex, x := range out {
		x[2] /= x[0]
		out[sex] = x
	}
	return out
}

// covered returns, for each of three aggregates, in what part of the releases the
// truth is within the error bar. The noise may be that of another price than the bar's.
func covered(t *testing.T, budget string, bar, noise dp.Amount, n int) [3]float64 {
	t.Helper()
	h := hospital.New(400, 3)
	w := build(t, h, hospital.Dataset("hospital", "data", budget), 5)
	prepare := func(epsilon dp.Amount) *pricing.Priced {
		p, err := price(w, api.Question{Analyst: "ana", SQL: "SELECT sex, COUNT(*), SUM(cost), AVG(age) FROM patients GROUP BY sex", Epsilon: epsilon})
		w.check(err)
		return p
	}
	p, q := prepare(bar), prepare(noise)
	exactly, err := w.data.Run(ctx, query(p))
	w.check(err)
	truth := truths(h)
	var hits [3]float64
	for range n {
		a := w.release(p, q, exactly)
		for i, row := range a.Rows {
			for j := range 3 {
				v, err := row[j+1].(interface{ Float64() (float64, error) }).Float64()
				w.check(err)
				if math.Abs(v-truth[row[0].(string)][j]) <= *a.Errors[i][j+1]+1e-9 {
					hits[j]++
				}
			}
		}
	}
	for j := range hits {
		hits[j] /= float64(3 * n)
	}
	return hits
}

func TestErrorBarsCoverTheTruth(t *testing.T) {
	if testing.Short() {
		t.Skip("one question after the other, which the race detector has nothing to say about")
	}
	const n = 7000 // times three groups
	// Four standard deviations of the estimate: it cries wolf once in 30,000 seeds, and the seed is
	// fixed.
	slack := 4 * math.Sqrt(0.95*0.05/(3*n))
	for _, budget := range []string{plenty, rich} {
		got := covered(t, budget, amount("0.5"), amount("0.5"), n)
		for j, name := range []string{"COUNT", "SUM", "AVG"} {
			if got[j] < 0.95-slack {
				t.Errorf("%s: %s is covered in %.4f of the releases", budget, name, got[j])
			}
			// Bars that are much too wide would be useless, but those of averages are
			// conservative, and those of counts a whole number.
			if name != "AVG" && got[j] > 0.97 {
				t.Errorf("%s: %s is covered in %.4f of the releases, more than it should", budget, name, got[j])
			}
		}
		t.Logf("%s: %.4f", budget, got)
		// The planted bug: noise a tenth wider than the bar knows.
		if got := covered(t, budget, amount("0.5"), amount("0.45"), n); got[1] >= 0.95-slack {
			t.Errorf("%s: noise that is too wide was not noticed: %.4f", budget, got)
		}
	}
}

// leak estimates from answers on two neighbouring databases how large epsilon is at
// least, at a delta: for some threshold c, ln((P(answer >= c) - delta) / P'(answer >= c)).
// The probabilities are taken five standard deviations to the safe side.
func leak(t *testing.T, budget string, asked dp.Amount, delta float64) float64 {
	t.Helper()
	const n = 40_000
	const text = "SELECT COUNT(*) FROM patients WHERE diagnosis = 'HIV' AND zip = '1003A'"
	h := hospital.New(60, 1)
	const low, high = -12, 14
	var tails [2][high - low]float64
	for i, x := range []*hospital.Hospital{h, h.Without(hospital.Target)} {
		w := build(t, x, hospital.Dataset("hospital", "data", budget), byte(11+i))
		p, err := price(w, api.Question{Analyst: "ana", SQL: text, Epsilon: asked})
		w.check(err)
		exactly, err := w.data.Run(ctx, query(p))
		w.check(err)
		for range n {
			z := w.noise.Release(exactly.Measures[0], p.Purchases[0].Noise[0].Mechanism)[0]
			for c := low; c < high && int64(c) <= z; c++ {
				tails[i][c-low]++
			}
		}
	}
	worst := 0.0
	for c := range tails[0] {
		side := func(k, sign float64) float64 { return k/n + sign*5*math.Sqrt(max(k, 1)*(n-k+1)/n)/n }
		if up, down := side(tails[0][c], -1), side(tails[1][c], 1); up > delta && down > 0 {
			worst = max(worst, math.Log((up-delta)/down))
		}
	}
	return worst
}

// What an attacker can learn is no more than what was paid, and near it, so that the
// estimate means something.
func TestLeakIsWithinThePrice(t *testing.T) {
	got := leak(t, plenty, dp.One, 0)
	if got > 1 || got < 0.8 {
		t.Errorf("an answer at epsilon 1 leaks at least %.3f", got)
	}
	const delta = 0.01
	rho := pricing.Currency{}.Amount(dp.One)
	promised, err := account.Epsilon(rho, amount(fmt.Sprint(delta)))
	if err != nil {
		t.Fatal(err)
	}
	concentrated := leak(t, rich, dp.One, delta)
	if concentrated > promised.Float() || concentrated < promised.Float()/3 {
		t.Errorf("an answer at rho %v leaks at least epsilon %.3f at delta %v; %v was promised", rho, concentrated, delta, promised)
	}
	t.Logf("pure: %.3f of 1; concentrated: %.3f of %v", got, concentrated, promised)
	// The planted bug: the noise of epsilon 1 sold at 0.8.
	if got <= 0.8 {
		t.Error("an answer that leaks more than 0.8 was not noticed")
	}
}
