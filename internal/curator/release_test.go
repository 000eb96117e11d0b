package curator

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/curator/answers"
	"github.com/discreet-dp/discreet/internal/curator/pricing"
	"github.com/discreet-dp/discreet/internal/engine"
	"github.com/discreet-dp/discreet/internal/lab/hospital"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/internal/sealed"
	"github.com/discreet-dp/discreet/internal/session/sessionhost"
	"github.com/discreet-dp/discreet/policy"
)

// No statement of any kind costs more than what was asked for, and none much less.
func TestNothingCostsMoreThanAsked(t *testing.T) {
	for _, budget := range []string{plenty, rich} {
		for _, dataset := range []string{hospital.Dataset("hospital", "data", budget),
			substitute(hospital.Dataset("hospital", "data", budget))} {
			c := New(parsed(t, dataset), nil, nil, nil)
			for _, sql := range questions {
				p, err := price(c, api.Question{Analyst: "ana", SQL: sql, Epsilon: dp.One})
				if err != nil {
					t.Errorf("%s: %v", sql, err)
					continue
				}
				asked, got := p.Currency.Amount(dp.One), pricing.Cost(p.Purchases).Rho
				if p.Currency.Pure {
					got = pricing.Cost(p.Purchases).Epsilon
				}
				if got > asked || got < asked-asked/100 && !p.Statement.Free() {
					t.Errorf("%s: %v was asked for, and %v is charged", sql, asked, got)
				}
			}
		}
	}
}

// Keys and the values that belong to them stay together, wherever an engine found them.
func TestKeysKeepTheirValues(t *testing.T) {
	w := privately(t, 50, amount("1e-4"), amount("1e-5"))
	p, err := price(w, api.Question{Analyst: "ana", Epsilon: dp.One,
		SQL: "SELECT ward, cost > 500, COUNT(*), MEDIAN(cost) FROM visits GROUP BY ward, cost > 500"})
	w.check(err)
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
	w.check(err)
	a, err := answers.Finish(ctx, p, nil, []*answers.Released{r})
	w.check(err)
	if len(a.Rows) != 6 {
		t.Fatalf("%v", a.Rows)
	}
	for i, row := range a.Rows {
		ward, dear := float64(1+i/2), float64(i%2)
		if row[0] != fmt.Sprint("ward ", ward) || row[1] != (dear == 1) || asFloat(row[2])-1e6*ward-1e5*dear > 1000 ||
			asFloat(row[2])-1e6*ward-1e5*dear < -1000 || asFloat(row[3]) != 100*ward+10*dear {
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

const (
	daily  = "SELECT day, COUNT(*) AS n FROM visits WHERE day BETWEEN '2025-01-01' AND '2025-12-31' GROUP BY day"
	yearly = "SELECT day, COUNT(*) AS n, SUM(COUNT(*)) OVER (ORDER BY day) AS total FROM visits " +
		"WHERE day BETWEEN '2025-01-01' AND '2025-12-31' GROUP BY day ORDER BY day"
)

// Running totals over days have noise that nearly takes itself away in them. They are the sums of
// what is shown, are paid for once, are the same when they are asked again, and are not made of
// days that were released by themselves.
func TestRunningTotals(t *testing.T) {
	w := newWorld(t, rich)
	if plain := w.mustAsk(daily); len(plain.Rows) != 365 || plain.Receipt.Free {
		t.Fatalf("%d days", len(plain.Rows))
	}
	e, err := w.Explain(ctx, api.Question{Analyst: "ana", SQL: yearly})
	w.check(err)
	if m := e.Questions[0].Measures[0]; m.Mechanism != "running totals" || !strings.Contains(m.Why, "running totals") || e.Known {
		t.Errorf("%+v", e)
	}
	a := w.mustAsk(yearly)
	if a.Receipt.Free || a.Cost != e.Pay {
		t.Errorf("%v was explained, %v charged", e.Pay, a.Cost)
	}
	if !strings.Contains(strings.Join(a.Notes, "\n"), "a running total is within ") {
		t.Errorf("nothing is said of the error of totals: %v", a.Notes)
	}
	sum := 0.0
	for _, row := range a.Rows {
		if sum += asFloat(row[1]); sum != asFloat(row[2]) {
			t.Fatalf("%v, and the days so far add up to %v", row, sum)
		}
	}
	exact := float64(len(hospital.New(200, 1).Visits))
	if got := asFloat(a.Rows[364][2]); math.Abs(got-exact) > 6*6*math.Sqrt(2*9/(2*0.005))*2 {
		t.Errorf("%v visits, and there are %v", got, exact)
	}
	w.reopen()
	if again := w.mustAsk(yearly); !again.Receipt.Free || numbers(again) != numbers(a) {
		t.Error("asked again it is another answer")
	}
}

// Neighbours differ by what is paid for, also where people are in several days.
func TestRunningNeighbours(t *testing.T) {
	for _, dataset := range []string{hospital.Dataset("hospital", "data", rich), substitute(hospital.Dataset("hospital", "data", rich))} {
		calm, wild := hospital.New(60, 1), restless(60, 1)
		if !strings.Contains(dataset, "substitute") {
			calm = wild.Without(hospital.Target)
		}
		p := newPair(t, dataset, wild, calm)
		if _, _, err := p.judge(yearly); err != nil {
			t.Error(err)
		}
	}
}

// Anything else than a running total of one ordered public key has plain noise.
func TestNoRunningTotals(t *testing.T) {
	for _, c := range []struct {
		budget, text string
		settings     api.Settings
	}{
		{plenty, yearly, api.Settings{}},
		{rich, yearly, api.Settings{Mechanism: "laplace"}},
		{rich, strings.Replace(yearly, "OVER (ORDER BY day)", "OVER (ORDER BY day DESC)", 1), api.Settings{}},
		{rich, strings.Replace(yearly, "OVER (ORDER BY day)", "OVER (ORDER BY COUNT(*))", 1), api.Settings{}},
		{rich, strings.Replace(yearly, "OVER (ORDER BY day)", "OVER (ORDER BY day ROWS 6 PRECEDING)", 1), api.Settings{}},
		{rich, strings.Replace(yearly, "OVER (ORDER BY day)", "OVER ()", 1), api.Settings{}},
		{rich, strings.Replace(yearly, "SUM(COUNT(*))", "AVG(COUNT(*))", 1), api.Settings{}},
		{rich, "SELECT sex, SUM(COUNT(*)) OVER (PARTITION BY sex ORDER BY sex) FROM patients GROUP BY sex", api.Settings{}},
	} {
		w := newWorld(t, c.budget)
		e, err := w.Explain(ctx, api.Question{Analyst: "ana", SQL: c.text, Settings: c.settings})
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		if m := e.Questions[0].Measures[0].Mechanism; m == "running totals" {
			t.Errorf("%s: %s", c.text, fmt.Sprint(m))
		}
	}
}

// An average of twins has half the variance that a sum and a count for the same price have, and
// error bars that hold.
func TestAverageOfTwins(t *testing.T) {
	h := hospital.New(400, 3)
	w := build(t, h, hospital.Dataset("hospital", "data", plenty), 5)
	p, err := price(w, api.Question{Analyst: "ana", SQL: "SELECT AVG(age) FROM patients", Epsilon: amount("0.5")})
	w.check(err)
	b := p.Purchases[0]
	// Both sums have noise of scale 110/0.5, and one price. The loss of the pair is what both move
	// by over that scale, for every age: 110 together.
	if got := b.Noise[0].Parameter(); len(b.Twins) != 1 || got.Cmp(big.NewRat(220, 1)) != 0 || b.Noise[1].Parameter().Cmp(got) != 0 ||
		b.Cost().Epsilon != amount("0.5") || pricing.Cost(p.Purchases).Epsilon != amount("0.5") {
		t.Fatalf("%v, scale %v, cost %v", b.Twins, got, b.Cost())
	}
	for age := int64(0); age <= 110; age++ {
		loss := new(big.Rat).Quo(big.NewRat(age+(110-age), 1), b.Noise[0].Parameter())
		if loss.Cmp(dp.Amount(amount("0.5")).Rat()) > 0 {
			t.Errorf("somebody of %d loses %v", age, loss)
		}
	}
	exactly, err := w.data.Run(ctx, query(p))
	w.check(err)
	truth := 0.0
	for _, x := range h.Patients {
		truth += float64(x.Age) / float64(len(h.Patients))
	}
	const n = 6000
	sum, hits := 0.0, 0.0
	for range n {
		a := w.release(p, p, exactly)
		x, err := a.Rows[0][0].(json.Number).Float64()
		w.check(err)
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
	old, err := price(w, api.Question{Analyst: "ana", SQL: "SELECT AVG(age), COUNT(*) FROM patients", Epsilon: amount("0.5")})
	w.check(err)
	if len(old.Purchases[0].Twins) != 0 {
		t.Error("a count that is shown is a release of its own")
	}
}

const rolled = "SELECT sex, smoker, COUNT(*) AS n, GROUPING(sex, smoker) AS g FROM patients GROUP BY ROLLUP (sex, smoker)"

// All sets of a GROUP BY are one purchase: one charge, which is what they cost together.
func TestSetsAreOneCharge(t *testing.T) {
	for _, budget := range []string{plenty, rich} {
		w := newWorld(t, budget)
		r := w.record()
		e, err := w.Explain(ctx, api.Question{Analyst: "ana", SQL: rolled})
		w.check(err)
		r.take()
		a := w.mustAsk(rolled)
		want := []string{"version", "recall", "charge", "run", "run", "run", "version", "recall", "keep", "balances"}
		if budget == rich { // one table, of which all sets are marginals
			want = []string{"version", "recall", "charge", "run", "version", "recall", "keep", "balances"}
		}
		if calls := r.take(); !slices.Equal(calls, want) {
			t.Errorf("the order is %v", calls)
		}
		if len(r.charges) != 1 || a.Cost != e.Pay || len(e.Questions) != 3 || r.charges[0].Cost.Rho != w.spent().Rho {
			t.Errorf("charged %v; cost %v, explained %v", r.charges, a.Cost, e.Pay)
		}
		var sum dp.Cost
		for _, q := range e.Questions {
			sum = sum.Add(q.Cost)
		}
		if sum != r.charges[0].Cost {
			t.Errorf("the sets cost %v, and %v was charged", sum, r.charges[0].Cost)
		}
		// Each by itself, at its share of the price, is known; of those that are released together
		// the coarse ones have a little less.
		share := e.Pay.Epsilon / 3
		if budget == rich {
			share = e.Pay.Epsilon * 4 / 10
		}
		for _, alone := range []string{"SELECT COUNT(*) FROM patients", "SELECT sex, COUNT(*) FROM patients GROUP BY sex"} {
			got, err := w.askAs("ana", alone, share-1000)
			if err != nil || !got.Receipt.Free {
				t.Errorf("%s: %v %+v", alone, err, got)
			}
		}
		w.reopen()
		if again := w.mustAsk(rolled); !again.Receipt.Free || numbers(again) != numbers(a) {
			t.Errorf("%v, and before %v", again.Rows, a.Rows)
		}
	}
}

// Rows of a set have NULL where they are not grouped by a key, GROUPING tells them from keys that
// are NULL, and everything above the noise is about all rows.
func TestSetsAreOneAnswer(t *testing.T) {
	w := newWorld(t, plenty)
	a := w.mustAsk(rolled)
	seen := map[string]int{}
	for i, row := range a.Rows {
		seen[fmt.Sprint(row[3], " ", row[0] == nil, row[1] == nil)]++
		if e := a.Errors[i]; e[2] == nil || *e[2] <= 0 || e[0] != nil || e[3] != nil {
			t.Errorf("row %v has the error bars %v", row, e)
		}
	}
	if want := map[string]int{"0 false false": 6, "1 false true": 3, "3 true true": 1}; fmt.Sprint(seen) != fmt.Sprint(want) {
		t.Errorf("%v; want %v", seen, want)
	}
	if c := a.Columns; !c[2].Noisy || c[0].Noisy || c[3].Noisy || c[3].Kind != "integer" || c[1].Kind != "boolean" {
		t.Errorf("columns %+v", c)
	}
	sorted := w.mustAsk(rolled + " ORDER BY g DESC, n LIMIT 4")
	if !sorted.Receipt.Free || len(sorted.Rows) != 4 || fmt.Sprint(sorted.Rows[0][3]) != "3" || fmt.Sprint(sorted.Rows[1][3]) != "1" ||
		asFloat(sorted.Rows[1][2]) > asFloat(sorted.Rows[2][2]) {
		t.Errorf("%v", sorted.Rows)
	}
	left := w.mustAsk(rolled + " HAVING GROUPING(sex, smoker) = 1")
	if !left.Receipt.Free || len(left.Rows) != 3 || left.Rows[0][0] == nil {
		t.Errorf("%v", left.Rows)
	}
	around := w.mustAsk("SELECT g, count(*) FROM (" + rolled + ") t GROUP BY g ORDER BY g")
	if !around.Receipt.Free || fmt.Sprint(around.Rows) != "[[0 6] [1 3] [3 1]]" {
		t.Errorf("%v", around.Rows)
	}
	ranked := w.mustAsk("SELECT sex, smoker, COUNT(*) AS n, row_number() OVER (PARTITION BY GROUPING(sex, smoker) ORDER BY COUNT(*)) " +
		"AS i FROM patients GROUP BY ROLLUP (1, 2) ORDER BY i DESC LIMIT 1")
	if !ranked.Receipt.Free || fmt.Sprint(ranked.Rows[0][3]) != "6" || ranked.Errors[0][2] == nil {
		t.Errorf("%v", ranked.Rows)
	}
	// A set that is there twice is released once, and shown twice.
	twice := w.mustAsk("SELECT COUNT(*) FROM patients WHERE age > 3 GROUP BY GROUPING SETS ((), ())")
	if len(twice.Rows) != 2 || fmt.Sprint(twice.Rows[0]) != fmt.Sprint(twice.Rows[1]) {
		t.Errorf("%v", twice.Rows)
	}
}

// Rounding keeps the order of numbers, so what is rounded has the error bar of the rounded ends:
// never narrower than the noise less one step of the rounding.
func TestRoundedHasABar(t *testing.T) {
	w := newWorld(t, plenty)
	a := w.mustAsk("SELECT COUNT(*), greatest(COUNT(*), 0), least(COUNT(*), 0), AVG(age), round(AVG(age), 1), floor(AVG(age)), " +
		"CAST(AVG(age) AS numeric(5,1)) FROM patients")
	bar := func(i int) float64 {
		if a.Errors[0][i] == nil {
			t.Fatalf("%s has no error bar: %v", a.Columns[i].Name, a.Errors[0])
		}
		return *a.Errors[0][i]
	}
	if math.Abs(bar(1)-bar(0)) > 1e-9 || math.Abs(bar(2)) > 1e-9 {
		t.Errorf("count ±%v, its greatest ±%v, its least ±%v", bar(0), bar(1), bar(2))
	}
	for i, step := range map[int]float64{4: 0.1, 5: 1, 6: 0.1} {
		if bar(i) < bar(3)-step-1e-9 || bar(i) > bar(3)+step+1e-9 {
			t.Errorf("avg ±%v, rounded to %v ±%v", bar(3), step, bar(i))
		}
	}
}

// A subquery by person cuts each person to max_rows, and the answer says so.
func TestPersonCutsAreSaid(t *testing.T) {
	w := newWorld(t, plenty)
	a := w.mustAsk("SELECT AVG(n) FROM (SELECT pid, COUNT(*) AS n, SUM(cost) AS s, MAX(cost) AS m FROM visits GROUP BY pid) AS t")
	notes := strings.Join(a.Notes, "\n")
	if strings.Count(notes, "in the subquery a person's") != 2 || !strings.Contains(notes, "count is at most") ||
		!strings.Contains(notes, "sum is from 0 to") {
		t.Errorf("notes %q", a.Notes)
	}
	if a := w.mustAsk("SELECT AVG(n) FROM (SELECT pid, COUNT(*) AS n FROM patients GROUP BY pid) AS t"); len(a.Notes) != 0 {
		t.Errorf("nobody has two rows: notes %q", a.Notes)
	}
}

// Who has more rows than are joined, or sorted, reads which number it was and where it is from.
func TestJoinedWords(t *testing.T) {
	w := newWorld(t, plenty)
	for text, want := range map[string]string{
		"SELECT COUNT(*) FROM visits a JOIN visits b ON a.pid = b.pid": "somebody with more than 200 rows is joined with 200 of them " +
			"(max_joined: 200 in the policy)",
		"SELECT MEDIAN(cost) FROM visits": "somebody with more than 6250 rows is joined or sorted with 6250 of them (from max_joined: " +
			"200 in the policy)",
		"SELECT COUNT(*) FROM visits": "",
	} {
		notes := strings.Join(w.mustAsk(text).Notes, "\n")
		if want == "" && strings.Contains(notes, "max_joined") ||
			want != "" && !strings.Contains(notes, want+"; what that leaves out is in no error bar") {
			t.Errorf("%s: %q", text, notes)
		}
	}
}
