package curator

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/mech"
	"github.com/discreet-dp/discreet/internal/curator/pricing"
	"github.com/discreet-dp/discreet/internal/lab/hospital"
)

// sharp is a budget at which there is hardly any noise.
const sharp = "{epsilon: 100, delta: 1e-6, per_query: {default: 0.1, max: 90}}"

// odd is a hospital in which keys have values that nobody has listed.
func odd(t testing.TB, budget string) *world {
	h := hospital.New(200, 1)
	for i := range h.Patients {
		switch i % 10 {
		case 3:
			h.Patients[i].Sex = "Q"
		case 7:
			h.Patients[i].ZIP = ""
		}
	}
	return build(t, h, hospital.Dataset("hospital", "data", budget), 1)
}

// byKeys are the first noisy number of each row of an answer, by all columns before it.
func byKeys(a *api.Answer) map[string]float64 {
	out := map[string]float64{}
	for _, row := range a.Rows {
		at := slices.IndexFunc(a.Columns, func(c api.Column) bool { return c.Noisy })
		out[fmt.Sprint(row[:at]...)] = asFloat(row[at])
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
		w.check(err)
		if m := e.Questions[0].Measures[0]; m.Mechanism != "residuals" {
			t.Errorf("%s: by %s", text, m.Mechanism)
		}
		together, err := w.askAs("ana", text, 6*dp.One)
		w.check(err)
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
			alone, err := w.askAs("ana", "SELECT "+strings.Join(list, ", ")+", "+c.list+", MEDIAN(age) FROM "+c.from+by, 6*dp.One)
			w.check(err)
			for key, want := range byKeys(alone) {
				if math.Abs(got[key]-want) > 2*wide {
					t.Errorf("%s, %s: %v together, and %v alone; the noise is within %v", text, key, got[key], want, wide)
				}
			}
		}
	}
}

const cubed = "SELECT sex, smoker, age >= 65 AS old, COUNT(*) AS n, GROUPING(sex, smoker, age >= 65) AS g FROM patients " +
	"WHERE sex IN ('F', 'M', 'X') AND smoker IS NOT NULL GROUP BY CUBE (sex, smoker, age >= 65)"

// Totals are the sums of their groups to the last unit, the error bars are those that were
// explained, what is explained is what is charged, and asking again gives the same.
func TestCubeAgrees(t *testing.T) {
	w := newWorld(t, rich)
	e, err := w.Explain(ctx, api.Question{Analyst: "ana", SQL: cubed})
	w.check(err)
	a := w.mustAsk(cubed)
	if a.Cost != e.Pay || w.spent().Rho != e.Pay.Rho {
		t.Errorf("%v was explained, %v charged", e.Pay, a.Cost)
	}
	sums := map[string]int64{}
	for i, row := range a.Rows {
		n := int64(asFloat(row[3]))
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
		if sum := sums[fmt.Sprint(row[:3]...)]; sum != int64(asFloat(row[3])) {
			t.Errorf("%v, and its groups add up to %d", row, sum)
		}
	}
	w.reopen()
	if again := w.mustAsk(cubed); !again.Receipt.Free || numbers(again) != numbers(a) ||
		*again.Errors[0][3] != *a.Errors[0][3] {
		t.Errorf("%v, and before %v", again.Rows, a.Rows)
	}
}

// What was released together answers one of its sets at less accuracy, with its own error, and not
// at more; and a part that is known is not enough for the whole.
func TestCubeIsRemembered(t *testing.T) {
	w := newWorld(t, rich)
	alone := "SELECT sex, COUNT(*) FROM patients WHERE sex IN ('F', 'M', 'X') AND smoker IS NOT NULL GROUP BY sex"
	before, err := w.askAs("ana", alone, amount("0.5"))
	w.check(err)
	if before.Receipt.Free {
		t.Fatal("it was never paid for")
	}
	a := w.mustAsk(cubed)
	if a.Receipt.Free || a.Cost.Rho == 0 {
		t.Error("one set of eight was known, and all were free")
	}
	w.reopen()
	totals := "SELECT smoker, COUNT(*) FROM patients WHERE sex IN ('F', 'M', 'X') AND smoker IS NOT NULL GROUP BY smoker"
	known, err := w.askAs("ana", totals, amount("0.033"))
	w.check(err)
	if !known.Receipt.Free {
		t.Error("a set of what was released together was paid for again")
	}
	for _, row := range a.Rows {
		if row[0] == nil && row[1] == true && row[2] == nil && fmt.Sprint(row[3]) != fmt.Sprint(known.Rows[1][1]) {
			t.Errorf("%v, and %v together", known.Rows[1], row)
		}
	}
	if sharper, err := w.askAs("ana", totals, amount("0.9")); err != nil || sharper.Receipt.Free {
		t.Errorf("%v: more accuracy was free", err)
	}
}

// Sets are bought one by one where nothing else is proven or asked for.
func TestNoCube(t *testing.T) {
	for _, c := range []struct {
		budget, text string
		settings     api.Settings
	}{
		{plenty, rolled, api.Settings{}},
		{rich, rolled, api.Settings{Mechanism: "laplace"}},
		{rich, "SELECT ward, COUNT(*) FROM visits GROUP BY ROLLUP (ward)", api.Settings{}},
		{rich, "SELECT sex, MEDIAN(age) FROM patients GROUP BY ROLLUP (sex)", api.Settings{}},
		{rich, "SELECT sex, COUNT(DISTINCT age) FROM patients GROUP BY ROLLUP (sex)", api.Settings{}},
		{rich, "SELECT sex, COUNT(*) FROM patients GROUP BY sex", api.Settings{}},
	} {
		w := newWorld(t, c.budget)
		e, err := w.Explain(ctx, api.Question{Analyst: "ana", SQL: c.text, Settings: c.settings})
		w.check(err)
		for _, q := range e.Questions {
			if q.Measures[0].Mechanism == "residuals" {
				t.Errorf("%s: together", c.text)
			}
		}
	}
}

// On the demonstration's hospital, all groupings by five columns: the variances of all numbers,
// added up, are a seventh of those of separate questions that share the price, and no larger than
// 1.01 times what can be had.
func TestCubeOfTheHospital(t *testing.T) {
	w := newWorld(t, rich)
	text := "SELECT sex, smoker, zip, diagnosis, age >= 65, COUNT(*) FROM patients " +
		"WHERE sex IN ('F', 'M', 'X') AND smoker IS NOT NULL AND zip IN ('1001A', '1002B', '1003A', '1004C', '1005D') AND diagnosis IN " +
		"('asthma', 'diabetes', 'flu', 'fracture', 'HIV', 'hypertension') GROUP BY CUBE (sex, smoker, zip, diagnosis, age >= 65)"
	sum := func(settings api.Settings) (variances float64) {
		e, err := w.Explain(ctx, api.Question{Analyst: "ana", SQL: text, Settings: settings})
		w.check(err)
		for _, q := range e.Questions {
			d := q.Measures[0].Deviation
			variances += float64(q.Groups) * d * d
		}
		return variances
	}
	one, err := w.Explain(ctx, api.Question{Analyst: "ana", SQL: "SELECT COUNT(*) FROM patients"})
	w.check(err)
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

// What neighbours differ in is paid for, residual by residual; a cube with the noise of another is
// seen, and so is one of which a residual is released twice.
func TestJudgeSeesPlantedCubes(t *testing.T) {
	for _, relation := range []string{"add-remove", "substitute"} {
		dataset := strings.Replace(hospital.Dataset("hospital", "data", rich), "    unit:", "    neighbours: "+relation+"\n    unit:", 1)
		h := hospital.New(120, 1)
		h.Patients[hospital.Target-1].Age = 105
		other := h.Without(hospital.Target)
		if relation == "substitute" {
			young := h.Patients[hospital.Target-1]
			young.Age, young.Sex, young.Smoker, young.Diagnosis = 3, "X", !young.Smoker, "asthma"
			other.Patients = append(other.Patients, young)
		}
		a, b := build(t, h, dataset, 7), build(t, other, dataset, 7)
		q := api.Question{Analyst: "ana",
			SQL: "SELECT sex, smoker, diagnosis, SUM(age) FROM patients GROUP BY CUBE (sex, smoker, diagnosis)"}
		run := func(plant func(*pricing.Cube)) error {
			p, err := price(a, q)
			a.check(err)
			o, err := price(b, q)
			b.check(err)
			if plant != nil {
				plant(p.Purchases[0].Cube)
				plant(o.Purchases[0].Cube)
			}
			x, y := a.calls(p), b.calls(o)
			if len(x) != 8 {
				t.Errorf("%d residuals", len(x))
			}
			return judgeCalls(x, y, pricing.Cost(p.Purchases))
		}
		if err := run(nil); err != nil {
			t.Errorf("%s: %v", relation, err)
		}
		of := mech.ResidualsConfig{Sizes: []int{4, 3, 7}, Hidden: make([]bool, 3), Low: new(big.Int), High: big.NewInt(110),
			Neighbours: a.dataset.Neighbours}
		for mask := range 8 {
			set := []int{}
			for i := range 3 {
				if mask>>i&1 == 1 {
					set = append(set, i)
				}
			}
			of.Sets = append(of.Sets, set)
		}
		for name, wrong := range map[string]func(mech.ResidualsConfig) (mech.ResidualsConfig, string){
			"the noise of counts": func(m mech.ResidualsConfig) (mech.ResidualsConfig, string) {
				m.High = big.NewInt(1)
				return m, "0.00499"
			},
			"a price nobody paid": func(m mech.ResidualsConfig) (mech.ResidualsConfig, string) { return m, "0.02" },
			"narrower bounds": func(m mech.ResidualsConfig) (mech.ResidualsConfig, string) {
				m.High = big.NewInt(90)
				return m, "0.00499"
			},
		} {
			m, rho := wrong(of)
			n, err := mech.NewResiduals(m, amount(rho))
			a.check(err)
			if err := run(func(c *pricing.Cube) { c.Noise[0] = n }); err == nil {
				t.Errorf("%s, %s: not noticed", relation, name)
			}
		}
	}
}
