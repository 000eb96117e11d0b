package curator_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/curator"
	"github.com/discreet-dp/discreet/internal/curator/pricing"
	"github.com/discreet-dp/discreet/internal/lab/hospital"
	"github.com/discreet-dp/discreet/internal/test/curatortest"
)

// sharp is a budget at which there is hardly any noise.
const sharp = "{epsilon: 100, delta: 1e-6, per_query: {default: 0.1, max: 90}}"

// odd is a hospital in which keys have values that nobody has listed.
func odd(t testing.TB, budget string) *curatortest.World {
	h := hospital.New(200, 1)
	for i := range h.Patients {
		switch i % 10 {
		case 3:
			h.Patients[i].Sex = "Q"
		case 7:
			h.Patients[i].ZIP = ""
		}
	}
	return curatortest.Build(t, h, hospital.Dataset("hospital", "data", budget), 1)
}

// byKeys are the first noisy number of each row of an answer, by all columns before it.
func byKeys(a *api.Answer) map[string]float64 {
	out := map[string]float64{}
	for _, row := range a.Rows {
		at := slices.IndexFunc(a.Columns, func(c api.Column) bool { return c.Noisy })
		out[fmt.Sprint(row[:at]...)] = curatortest.AsFloat(row[at])
	}
	return out
}

// What is released together is what the sets are by themselves: with hardly any noise, the same
// numbers, also where rows have keys that are not listed or none, in sets in any order, and for
// sums and averages.
func TestCubeIsItsSets(t *testing.T) {
	for _, c := range []struct {
		list, from string
		sets       []string
	}{
		{"COUNT(*)", "patients", []string{"sex, zip", "zip", "sex", ""}},
		{"SUM(age)", "patients WHERE cost > 500", []string{"smoker, zip, sex", "zip, smoker"}},
		{"COUNT(DISTINCT pid)", "patients WHERE sex IN ('F', 'M')", []string{"diagnosis, sex", "sex", "diagnosis"}},
		{"SUM(age - 50)", "patients", []string{"sex, age >= 40", "CASE WHEN age < 30 THEN 'young' ELSE 'old' END", ""}},
	} {
		w, keys := odd(t, sharp), []string{}
		for _, set := range c.sets {
			for _, k := range strings.Split(set, ", ") {
				if k != "" && !slices.Contains(keys, k) {
					keys = append(keys, k)
				}
			}
		}
		text := "SELECT " + strings.Join(keys, ", ") + ", " + c.list + " FROM " + c.from + " GROUP BY GROUPING SETS ((" +
			strings.Join(c.sets, "), (") + "))"
		e, err := w.Explain(ctx, api.Question{Analyst: "ana", SQL: text, Epsilon: 6 * dp.One})
		w.Check(err)
		if m := e.Questions[0].Measures[0]; m.Mechanism != "residuals" {
			t.Errorf("%s: by %s", text, m.Mechanism)
		}
		together, err := w.AskAs("ana", text, 6*dp.One)
		w.Check(err)
		got, wide := byKeys(together), 0.0
		for _, row := range together.Errors {
			wide = max(wide, *row[len(keys)])
		}
		for _, set := range c.sets {
			list, by := []string{}, ""
			for _, k := range keys {
				if slices.Contains(strings.Split(set, ", "), k) {
					list = append(list, k)
				} else {
					list = append(list, "NULL")
				}
			}
			if set != "" {
				by = " GROUP BY " + set
			}
			// Another text, so that it is not made of the others.
			alone, err := w.AskAs("ana", "SELECT "+strings.Join(list, ", ")+", "+c.list+", MEDIAN(age) FROM "+c.from+by, 6*dp.One)
			w.Check(err)
			for key, want := range byKeys(alone) {
				if math.Abs(got[key]-want) > 2*wide {
					t.Errorf("%s, %s: %v together, and %v alone; the noise is within %v", text, key, got[key], want, wide)
				}
			}
		}
		w.Leave()
	}
}

// Totals are the sums of their groups to the last unit, the error bars are those that were
// explained, what is explained is what is charged, and asking again gives the same.
func TestCubeAgrees(t *testing.T) {
	w := curatortest.New(t, curatortest.Rich)
	e, err := w.Explain(ctx, api.Question{Analyst: "ana", SQL: curatortest.Cubed})
	w.Check(err)
	a := w.MustAsk(curatortest.Cubed)
	if a.Cost != e.Pay || w.Spent().Rho != e.Pay.Rho {
		t.Errorf("%v was explained, %v charged", e.Pay, a.Cost)
	}
	sums := map[string]int64{}
	for i, row := range a.Rows {
		n := int64(curatortest.AsFloat(row[3]))
		for mask := range 8 { // every coarser grouping that the row is part of
			key := slices.Clone(row[:3])
			for k := range key {
				if mask>>k&1 == 1 {
					key[k] = nil
				}
			}
			if fmt.Sprint(row[4]) == "0" {
				sums[fmt.Sprint(key...)] += n
			}
		}
		error95 := -1.0
		for _, q := range e.Questions {
			if m := q.Measures[0]; len(q.Keys) == 3-strings.Count(fmt.Sprint(row[:3]...), "nil") && m.Error != nil {
				error95 = max(error95, *m.Error)
			}
		}
		if half := *a.Errors[i][3]; half <= 0 || half > error95+2 {
			t.Errorf("row %v has the error %v, and %v was explained", row, half, error95)
		}
	}
	for _, row := range a.Rows {
		if sum := sums[fmt.Sprint(row[:3]...)]; sum != int64(curatortest.AsFloat(row[3])) {
			t.Errorf("%v, and its groups add up to %d", row, sum)
		}
	}
	w.Reopen()
	if again := w.MustAsk(curatortest.Cubed); !again.Receipt.Free || curatortest.Numbers(again) != curatortest.Numbers(a) ||
		*again.Errors[0][3] != *a.Errors[0][3] {
		t.Errorf("%v, and before %v", again.Rows, a.Rows)
	}
}

// Sets are bought one by one where nothing else is proven or asked for.
func TestNoCube(t *testing.T) {
	for _, c := range []struct {
		budget, text string
		settings     api.Settings
	}{
		{curatortest.Plenty, curatortest.Rolled, api.Settings{}},
		{curatortest.Rich, curatortest.Rolled, api.Settings{Mechanism: "laplace"}},
		{curatortest.Rich, "SELECT ward, COUNT(*) FROM visits GROUP BY ROLLUP (ward)", api.Settings{}},
		{curatortest.Rich, "SELECT sex, MEDIAN(age) FROM patients GROUP BY ROLLUP (sex)", api.Settings{}},
		{curatortest.Rich, "SELECT sex, COUNT(DISTINCT age) FROM patients GROUP BY ROLLUP (sex)", api.Settings{}},
		{curatortest.Rich, "SELECT sex, COUNT(*) FROM patients GROUP BY sex", api.Settings{}},
	} {
		w := curatortest.New(t, c.budget)
		e, err := w.Explain(ctx, api.Question{Analyst: "ana", SQL: c.text, Settings: c.settings})
		w.Check(err)
		for _, q := range e.Questions {
			if q.Measures[0].Mechanism == "residuals" {
				t.Errorf("%s: together", c.text)
			}
		}
		w.Leave()
	}
}

// On the demonstration's hospital, all groupings by five columns: the variances of all numbers,
// added up, are a seventh of those of separate questions that share the price, and no larger than
// 1.01 times what can be had.
func TestCubeOfTheHospital(t *testing.T) {
	w := curatortest.New(t, curatortest.Rich)
	text := "SELECT sex, smoker, zip, diagnosis, age >= 65, COUNT(*) FROM patients " +
		"WHERE sex IN ('F', 'M', 'X') AND smoker IS NOT NULL AND zip IN ('1001A', '1002B', '1003A', '1004C', '1005D') AND diagnosis IN " +
		"('asthma', 'diabetes', 'flu', 'fracture', 'HIV', 'hypertension') GROUP BY CUBE (sex, smoker, zip, diagnosis, age >= 65)"
	sum := func(settings api.Settings) (variances float64) {
		e, err := w.Explain(ctx, api.Question{Analyst: "ana", SQL: text, Settings: settings})
		w.Check(err)
		for _, q := range e.Questions {
			d := q.Measures[0].Deviation
			variances += float64(q.Groups) * d * d
		}
		return variances
	}
	one, err := w.Explain(ctx, api.Question{Analyst: "ana", SQL: "SELECT COUNT(*) FROM patients"})
	w.Check(err)
	single := one.Questions[0].Measures[0].Deviation * one.Questions[0].Measures[0].Deviation
	together := sum(api.Settings{})
	numbers, least := 1.0, 1.0
	for _, n := range []float64{3, 2, 5, 6, 2} {
		// Every column is grouped by or not; (sum of singular values)^2/n is a product too.
		numbers *= n + 1
		least *= math.Pow(math.Sqrt(n+1)+(n-1), 2) / n
	}
	separate := 32 * single * numbers
	t.Logf("%.0f numbers: together %.4g, separately %.4g: %.2f times less; the least is %.4g", numbers, together, separate,
		separate/together, least*single)
	if separate < 7*together || together > 1.01*least*single {
		t.Errorf("%.2f times less, %.4f of the least", separate/together, together/(least*single))
	}
}

// No statement of any kind costs more than what was asked for, and none much less.
func TestNothingCostsMoreThanAsked(t *testing.T) {
	for _, budget := range []string{curatortest.Plenty, curatortest.Rich} {
		for _, dataset := range []string{hospital.Dataset("hospital", "data", budget),
			curatortest.Substitute(hospital.Dataset("hospital", "data", budget))} {
			c := curator.New(curatortest.Parsed(t, dataset), nil, nil, nil)
			for _, sql := range curatortest.Questions {
				p, err := curatortest.Price(c, api.Question{Analyst: "ana", SQL: sql, Epsilon: dp.One})
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

// All sets of a GROUP BY are one purchase: one charge, which is what they cost together.
func TestSetsAreOneCharge(t *testing.T) {
	for _, budget := range []string{curatortest.Plenty, curatortest.Rich} {
		w := curatortest.New(t, budget)
		r := w.Record()
		e, err := w.Explain(ctx, api.Question{Analyst: "ana", SQL: curatortest.Rolled})
		w.Check(err)
		r.Take()
		a := w.MustAsk(curatortest.Rolled)
		want := []string{"version", "recall", "charge", "run", "run", "run", "version", "recall", "keep", "balances"}
		if budget == curatortest.Rich { // one table, of which all sets are marginals
			want = []string{"version", "recall", "charge", "run", "version", "recall", "keep", "balances"}
		}
		if calls := r.Take(); !slices.Equal(calls, want) {
			t.Errorf("the order is %v", calls)
		}
		if len(r.Charges) != 1 || a.Cost != e.Pay || len(e.Questions) != 3 || r.Charges[0].Cost.Rho != w.Spent().Rho {
			t.Errorf("charged %v; cost %v, explained %v", r.Charges, a.Cost, e.Pay)
		}
		var sum dp.Cost
		for _, q := range e.Questions {
			sum = sum.Add(q.Cost)
		}
		if sum != r.Charges[0].Cost {
			t.Errorf("the sets cost %v, and %v was charged", sum, r.Charges[0].Cost)
		}
		// Each by itself, at its share of the price, is known; of those that are released together
		// the coarse ones have a little less.
		share := e.Pay.Epsilon / 3
		if budget == curatortest.Rich {
			share = e.Pay.Epsilon * 4 / 10
		}
		for _, alone := range []string{"SELECT COUNT(*) FROM patients", "SELECT sex, COUNT(*) FROM patients GROUP BY sex"} {
			got, err := w.AskAs("ana", alone, share-1000)
			if err != nil || !got.Receipt.Free {
				t.Errorf("%s: %v %+v", alone, err, got)
			}
		}
		w.Reopen()
		if again := w.MustAsk(curatortest.Rolled); !again.Receipt.Free || curatortest.Numbers(again) != curatortest.Numbers(a) {
			t.Errorf("%v, and before %v", again.Rows, a.Rows)
		}
	}
}
