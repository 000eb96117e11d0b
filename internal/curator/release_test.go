package curator_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/account"
	"github.com/discreet-dp/discreet/internal/curator"
	"github.com/discreet-dp/discreet/internal/curator/answers"
	"github.com/discreet-dp/discreet/internal/curator/pricing"
	"github.com/discreet-dp/discreet/internal/engine"
	"github.com/discreet-dp/discreet/internal/lab/hospital"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/internal/sealed"
	"github.com/discreet-dp/discreet/internal/session/sessionhost"
	"github.com/discreet-dp/discreet/internal/test/curatortest"
	"github.com/discreet-dp/discreet/internal/test/daily"
	"github.com/discreet-dp/discreet/policy"
)

// Keys and the values that belong to them stay together, wherever an engine found them.
func TestKeysKeepTheirValues(t *testing.T) {
	w := curatortest.NewPrivateKeys(t, 50, curatortest.Amount("1e-4"), curatortest.Amount("1e-5"))
	p, err := curatortest.Price(w, api.Question{Analyst: "ana", Epsilon: dp.One,
		SQL: "SELECT ward, cost > 500, COUNT(*), MEDIAN(cost) FROM visits GROUP BY ward, cost > 500"})
	w.Check(err)
	b := p.Purchases[0]
	var found engine.Result
	var keys [][]policy.Value
	var persons, counts []int64
	var values []sealed.Vector
	for _, ward := range []int64{3, 1, 9, 2} { // of which the third has one person
		keys = append(keys, []policy.Value{{Type: policy.Text, Text: fmt.Sprint("ward ", ward)}})
		for dear := range int64(2) {
			counts = append(counts, 1_000_000*ward+100_000*dear)
			many := make([]int64, 20_000)
			for i := range many {
				many[i] = 10_000*ward + 1_000*dear
			}
			values = append(values, sealed.Seal(many))
		}
		persons = append(persons, map[bool]int64{false: 1_000_000, true: 1}[ward == 9])
	}
	found.Combos, found.Persons = sealed.SealList(keys), sealed.Seal(persons)
	var places []int32 // of people with one ward each, by whom wards are weighed
	var ends []int
	for place, n := range persons {
		for range min(n, 2000) {
			places = append(places, int32(place))
			ends = append(ends, len(places))
		}
	}
	found.Members = sealed.SealMembers(places, ends)
	for _, m := range b.Query.Measures {
		if m.Kind == tree.Quantile {
			found.Measures, found.Values = append(found.Measures, sealed.Vector{}), append(found.Values, values)
		} else {
			found.Measures, found.Values = append(found.Measures, sealed.Seal(counts)), append(found.Values, nil)
		}
	}
	r, err := w.Release(b, &found, pricing.MaxBytes)
	w.Check(err)
	a, err := answers.Finish(ctx, p, nil, []*answers.Released{r})
	w.Check(err)
	if len(a.Rows) != 6 {
		t.Fatalf("%v", a.Rows)
	}
	for i, row := range a.Rows {
		ward, dear := float64(1+i/2), float64(i%2)
		if row[0] != fmt.Sprint("ward ", ward) || row[1] != (dear == 1) || curatortest.AsFloat(row[2])-1e6*ward-1e5*dear > 1000 ||
			curatortest.AsFloat(row[2])-1e6*ward-1e5*dear < -1000 || curatortest.AsFloat(row[3]) != 100*ward+10*dear {
			t.Errorf("row %d is %v", i, row)
		}
	}
	// A result of another shape is refused, and says nothing.
	for _, bad := range []engine.Result{{}, {Persons: found.Persons, Combos: found.Combos},
		{Persons: sealed.Seal([]int64{5}), Combos: found.Combos, Measures: found.Measures, Values: found.Values}} {
		if _, err := w.Release(b, &bad, pricing.MaxBytes); err != sessionhost.ErrRun {
			t.Errorf("got %v", err)
		}
	}
}

// Neighbours differ by what is paid for, also where people are in several days.
func TestRunningNeighbours(t *testing.T) {
	for _, dataset := range []string{hospital.Dataset("hospital", "data", curatortest.Rich),
		curatortest.Substitute(hospital.Dataset("hospital", "data", curatortest.Rich))} {
		calm, wild := hospital.New(60, 1), restless(60, 1)
		if !strings.Contains(dataset, "substitute") {
			calm = wild.Without(hospital.Target)
		}
		p := newPair(t, dataset, wild, calm)
		if _, _, err := p.judge(curatortest.Yearly); err != nil {
			t.Error(err)
		}
	}
}

// An average of twins has half the variance that a sum and a count for the same price have, and
// error bars that hold.
func TestAverageOfTwins(t *testing.T) {
	h := hospital.New(400, 3)
	w := curatortest.Build(t, h, hospital.Dataset("hospital", "data", curatortest.Plenty), 5)
	p, err := curatortest.Price(w, api.Question{Analyst: "ana", SQL: "SELECT AVG(age) FROM patients", Epsilon: curatortest.Amount("0.5")})
	w.Check(err)
	b := p.Purchases[0]
	// Both sums have noise of scale 110/0.5, and one price. The loss of the pair is what both move
	// by over that scale, for every age: 110 together.
	if got := b.Noise[0].Parameter(); len(b.Twins) != 1 || got.Cmp(big.NewRat(220, 1)) != 0 || b.Noise[1].Parameter().Cmp(got) != 0 ||
		b.Cost().Epsilon != curatortest.Amount("0.5") || pricing.Cost(p.Purchases).Epsilon != curatortest.Amount("0.5") {
		t.Fatalf("%v, scale %v, cost %v", b.Twins, got, b.Cost())
	}
	for age := int64(0); age <= 110; age++ {
		loss := new(big.Rat).Quo(big.NewRat(age+(110-age), 1), b.Noise[0].Parameter())
		if loss.Cmp(curatortest.Amount("0.5").Rat()) > 0 {
			t.Errorf("somebody of %d loses %v", age, loss)
		}
	}
	exactly, err := w.Data.Run(ctx, query(p))
	w.Check(err)
	truth := 0.0
	for _, x := range h.Patients {
		truth += float64(x.Age) / float64(len(h.Patients))
	}
	const n = 6000
	sum, hits := 0.0, 0.0
	for range n {
		a := release(w, p, p, exactly)
		x, err := a.Rows[0][0].(json.Number).Float64()
		w.Check(err)
		sum += (x - truth) * (x - truth) / n
		if math.Abs(x-truth) <= *a.Errors[0][0]+1e-9 {
			hits += 1.0 / n
		}
	}
	far := truth/55 - 1
	want := 110 / 0.5 / 400 * math.Sqrt(1+far*far)
	if got := math.Sqrt(sum); math.Abs(got/want-1) > 0.06 {
		t.Errorf("the error is %.4f, and %.4f was expected", got, want)
	}
	if slack := 4 * math.Sqrt(0.95*0.05/n); hits < 0.95-slack {
		t.Errorf("the error bar holds in %.4f of the answers", hits)
	}
	t.Logf("error %.4f, covered %.4f", math.Sqrt(sum), hits)
	// A sum and a count of everybody, as they were before.
	old, err := curatortest.Price(w, api.Question{Analyst: "ana", SQL: "SELECT AVG(age), COUNT(*) FROM patients",
		Epsilon: curatortest.Amount("0.5")})
	w.Check(err)
	if len(old.Purchases[0].Twins) != 0 {
		t.Error("a count that is shown is a release of its own")
	}
}

// Every interval covers the truth as often as it says, at several confidences: counts and sums as
// nearly as whole numbers can, and what is made of them at least.
func TestIntervalsCover(t *testing.T) {
	if testing.Short() {
		t.Skip("one question after the other, which the race detector has nothing to say about")
	}
	const n = 1500
	for _, budget := range []string{curatortest.Plenty, curatortest.Rich} {
		for _, confidence := range daily.Sample(t, []float64{0.5, 0.8, 0.99}, 2) {
			w := curatortest.New(t, budget)
			p, err := curatortest.Price(w, api.Question{Analyst: "ana", Epsilon: dp.One, Settings: api.Settings{Confidence: confidence},
				SQL: "SELECT COUNT(*), SUM(age), AVG(age), SUM(age) - 50 * COUNT(*), 100 * SUM(age) / COUNT(*), VARIANCE(age), " +
					"STDDEV_POP(age) FROM patients"})
			w.Check(err)
			exactly, err := w.Data.Run(ctx, query(p))
			w.Check(err)
			// The exact values, by way of the same finish without noise: the measures themselves
			// are checked elsewhere.
			var clean [][]int64
			for _, m := range exactly.Measures {
				clean = append(clean, m.Open())
			}
			truth := made(t, p, clean)
			hits := make([]float64, len(truth.Columns))
			for range n {
				a := release(w, p, p, exactly)
				for j := range hits {
					if a.Errors[0][j] == nil {
						hits[j]++ // nothing is said, so nothing is wrong
						continue
					}
					if math.Abs(curatortest.AsFloat(a.Rows[0][j])-curatortest.AsFloat(truth.Rows[0][j])) <= *a.Errors[0][j]*(1+1e-9) {
						hits[j]++
					}
				}
			}
			slack := 4 * math.Sqrt(confidence*(1-confidence)/n)
			for j, c := range truth.Columns {
				if got := hits[j] / n; got < confidence-slack || !c.Approximate && got > confidence+slack+0.12 {
					t.Errorf("%s at %v: %s is covered in %.4f of the releases", budget, confidence, c.Name, got)
				}
			}
			t.Logf("%s at %v: %.0f of %d", budget, confidence, hits, n)
			w.Leave()
		}
	}
}

func fmtCell(v any) string { return fmt.Sprint(v) }

// Without noise a variance is the variance, whatever it is taken around.
func TestVarianceOfExactNumbers(t *testing.T) {
	h := hospital.New(200, 1)
	w := curatortest.New(t, curatortest.Plenty)
	var sum, squares, n float64
	for _, p := range h.Patients {
		x := float64(p.Age)
		sum, squares, n = sum+x, squares+x*x, n+1
	}
	population := squares/n - sum/n*sum/n
	for _, list := range []string{"VAR_POP(age), VARIANCE(age), STDDEV_POP(age), STDDEV_SAMP(age)",
		"VAR_POP(age), VARIANCE(age), STDDEV_POP(age), STDDEV_SAMP(age), SUM(age)"} {
		p, err := curatortest.Price(w, api.Question{Analyst: "ana", SQL: "SELECT " + list + " FROM patients", Epsilon: dp.One})
		w.Check(err)
		exactly, err := w.Data.Run(ctx, query(p))
		w.Check(err)
		var clean [][]int64
		for _, m := range exactly.Measures {
			clean = append(clean, m.Open())
		}
		a := made(t, p, clean)
		for i, want := range []float64{population, population * n / (n - 1), math.Sqrt(population), math.Sqrt(population * n / (n - 1))} {
			if got := curatortest.AsFloat(a.Rows[0][i]); math.Abs(got-want) > 1e-6*want {
				t.Errorf("%s: %s is %v; want %v", list, a.Columns[i].Name, got, want)
			}
		}
	}
}

// Quantiles are near the true ones where there is privacy to pay for it, within the rank error that
// the note states.
func TestQuantilesAreNear(t *testing.T) {
	for _, budget := range []string{curatortest.Plenty, curatortest.Rich} {
		h := hospital.New(3000, 1)
		w := curatortest.Build(t, h, hospital.Dataset("hospital", "data", budget), 5)
		var ages []int
		for _, p := range h.Patients {
			ages = append(ages, p.Age)
		}
		slices.Sort(ages)
		p, err := curatortest.Price(w, api.Question{Analyst: "ana", Epsilon: dp.One,
			SQL: "SELECT MIN(age), PERCENTILE_CONT(0.25) WITHIN GROUP (ORDER BY age), MEDIAN(age), MAX(age) FROM patients"})
		w.Check(err)
		exactly, err := w.Data.Run(ctx, query(p))
		w.Check(err)
		bound := p.Purchases[0].Noise[0].Quantiles.RankError(0.05)
		misses := 0
		for range 200 {
			a := release(w, p, p, exactly)
			for j, at := range []float64{0.01, 0.25, 0.5, 0.99} {
				v := int(curatortest.AsFloat(a.Rows[0][j]))
				below, upTo := 0, 0
				for _, x := range ages {
					if x < v {
						below++
					}
					if x <= v {
						upTo++
					}
				}
				rank := at * float64(len(ages))
				if float64(below) >= rank+bound || float64(upTo) <= rank-bound {
					misses++
				}
			}
			if a.Errors[0][0] != nil || !a.Columns[0].Approximate ||
				!curatortest.ContainsAll(strings.Join(a.Notes, " "), "1 % quantile", "99 % quantile", "rank is within") {
				t.Fatalf("%+v", a)
			}
		}
		if misses > 30 { // 5 % of 200, and four standard deviations
			t.Errorf("%s: %d answers are outside of the rank error of %v", budget, misses, bound)
		}
		w.Leave()
	}
}

// release does what buy does after the charge: the curator's path without the ledger,
// whose fsyncs would take minutes.
func release(w *curatortest.World, p, noise *pricing.Priced, exactly *engine.Result) *api.Answer {
	w.T.Helper()
	r, err := w.Release(noise.Purchases[0], exactly, pricing.MaxBytes)
	w.Check(err)
	a, err := answers.Finish(ctx, p, nil, []*answers.Released{r})
	w.Check(err)
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
	w := curatortest.Build(t, h, hospital.Dataset("hospital", "data", budget), 5)
	prepare := func(epsilon dp.Amount) *pricing.Priced {
		p, err := curatortest.Price(w, api.Question{Analyst: "ana",
			SQL: "SELECT sex, COUNT(*), SUM(cost), AVG(age) FROM patients GROUP BY sex", Epsilon: epsilon})
		w.Check(err)
		return p
	}
	p, q := prepare(bar), prepare(noise)
	exactly, err := w.Data.Run(ctx, query(p))
	w.Check(err)
	truth := truths(h)
	var hits [3]float64
	for range n {
		a := release(w, p, q, exactly)
		for i, row := range a.Rows {
			for j := range 3 {
				v, err := row[j+1].(interface{ Float64() (float64, error) }).Float64()
				w.Check(err)
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
	const n = 3000 // times three groups: noise that is a tenth too wide is seven standard deviations off
	// Four standard deviations of the estimate: it cries wolf once in 30,000 seeds, and the seed is
	// fixed.
	slack := 4 * math.Sqrt(0.95*0.05/(3*n))
	for _, budget := range daily.Sample(t, []string{curatortest.Plenty, curatortest.Rich}, 1) {
		got := covered(t, budget, curatortest.Amount("0.5"), curatortest.Amount("0.5"), n)
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
		if got := covered(t, budget, curatortest.Amount("0.5"), curatortest.Amount("0.45"), n); got[1] >= 0.95-slack {
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
		w := curatortest.Build(t, x, hospital.Dataset("hospital", "data", budget), byte(11+i))
		p, err := curatortest.Price(w, api.Question{Analyst: "ana", SQL: text, Epsilon: asked})
		w.Check(err)
		exactly, err := w.Data.Run(ctx, query(p))
		w.Check(err)
		for range n {
			z := w.Noise.Release(exactly.Measures[0], p.Purchases[0].Noise[0].Mechanism)[0]
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
	got := leak(t, curatortest.Plenty, dp.One, 0)
	if got > 1 || got < 0.8 {
		t.Errorf("an answer at epsilon 1 leaks at least %.3f", got)
	}
	const delta = 0.01
	rho := pricing.Currency{}.Amount(dp.One)
	promised, err := account.Epsilon(rho, curatortest.Amount(fmt.Sprint(delta)))
	if err != nil {
		t.Fatal(err)
	}
	concentrated := leak(t, curatortest.Rich, dp.One, delta)
	if concentrated > promised.Float() || concentrated < promised.Float()/3 {
		t.Errorf("an answer at rho %v leaks at least epsilon %.3f at delta %v; %v was promised", rho, concentrated, delta, promised)
	}
	t.Logf("pure: %.3f of 1; concentrated: %.3f of %v", got, concentrated, promised)
	// The planted bug: the noise of epsilon 1 sold at 0.8.
	if got <= 0.8 {
		t.Error("an answer that leaks more than 0.8 was not noticed")
	}
}

// made finishes an answer whose noisy vectors are these.
func made(t testing.TB, p *pricing.Priced, noisy [][]int64) *api.Answer {
	t.Helper()
	a, err := answers.Finish(ctx, p, nil, []*answers.Released{{Measures: noisy, Quantiles: make([][][]int64, len(noisy))}})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// query is the only query of a statement.
func query(p *pricing.Priced) *tree.Query { return p.Purchases[0].Query }

var ctx = context.Background()

// Another build may compute other numbers of the same data.
func TestSharpenedProgram(t *testing.T) {
	w := curatortest.New(t, curatortest.Plenty)
	text := "SELECT COUNT(*) FROM patients"
	restore := curator.SetProgram("an earlier one")
	t.Cleanup(restore)
	w.MustBeCharged("ana", text, curatortest.Amount("0.1"))
	restore()
	if curator.Program() == "" {
		t.Fatal("this one has no name")
	}
	if a := w.MustBeCharged("ana", text, curatortest.Amount("0.3")); a.Cost.Epsilon != curatortest.Amount("0.3") {
		t.Errorf("it costs %v", a.Cost)
	}
}
