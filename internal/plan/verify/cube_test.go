package verify_test

import (
	"math/big"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/plan/tree"
	"github.com/discreet-dp/discreet/internal/plan/verify"
	"github.com/discreet-dp/discreet/policy"
)

// Tables of GROUP BY CUBE are derived again like all else, and each mistake that a builder could
// make is seen.
func TestCubes(t *testing.T) {
	ds := load(t, "hospital.yaml", "hospital")
	for _, text := range []string{
		"SELECT sex, smoker, COUNT(*), SUM(age) FROM patients GROUP BY CUBE (sex, smoker)",
		"SELECT sex, age >= 40, COUNT(smoker) FROM patients WHERE sex IN ('F', 'M') GROUP BY GROUPING SETS ((age >= 40), (age >= 40, sex))",
		"SELECT CASE WHEN age < 20 THEN 'a' ELSE 'b' END, sex, COUNT(DISTINCT pid) FROM patients GROUP BY ROLLUP (1, 2)",
	} {
		st, err := plan.Prepare(ds, text, plan.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if len(st.Cubes) != 1 {
			t.Fatalf("%s: %d tables", text, len(st.Cubes))
		}
		c := st.Cubes[0]
		check := func() error { return verify.Cube(ds, c, st.Plans) }
		if err := check(); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		good := *c
		last := len(c.Query.Keys) - 1
		for name, plant := range map[string]func(){
			"another dataset":        func() { c.Query.Dataset = "other" },
			"a person in two groups": func() { c.Query.GroupLimit = 2 },
			"a private key":          func() { c.Query.Keys[last] = tree.Key{Expr: c.Query.Keys[last].Expr, Private: true} },
			"a value twice": func() {
				k := &c.Query.Keys[last]
				k.Values = append(slices.Clip(k.Values), k.Values[0])
			},
			"a value less":              func() { c.Query.Keys[last].Values = c.Query.Keys[last].Values[1:] },
			"a key less":                func() { c.Sets[0] = c.Sets[0][1:] },
			"a key twice":               func() { c.Sets[0][0] += len(c.Query.Keys) },
			"a set less":                func() { c.Sets = c.Sets[1:] },
			"no measure":                func() { c.Query.Measures = nil },
			"a measure of quantiles":    func() { c.Query.Measures[0].Kind, c.Query.Measures[0].At = tree.Quantile, []*big.Rat{tree.One} },
			"a count of values":         func() { c.Query.Measures[0] = tree.Measure{Kind: tree.CountDistinct, Arg: c.Query.Keys[0].Expr} },
			"it is hidden or it is not": func() { c.Hidden[last] = !c.Hidden[last] },
			"rows of several":           func() { c.Query.From = several(t, ds) },
			"a choice":                  func() { c.Query.Choice = &tree.Choice{K: 1} },
		} {
			*c = good
			c.Query.Keys, c.Query.Measures = slices.Clone(good.Query.Keys), slices.Clone(good.Query.Measures)
			c.Sets, c.Hidden = slices.Clone(good.Sets), slices.Clone(good.Hidden)
			for i := range c.Sets {
				c.Sets[i] = slices.Clone(good.Sets[i])
			}
			plant()
			if check() == nil {
				t.Errorf("%s: %s was not seen", text, name)
			}
		}
		*c = good
	}
}

// several is a relation in which people have several rows.
func several(t *testing.T, ds *policy.Dataset) tree.Relation {
	st, err := plan.Prepare(ds, "SELECT COUNT(*) FROM visits", plan.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return st.Plans[0].Query.From
}

// Where people have several rows, or something does not add up, sets have no table.
func TestNoCubes(t *testing.T) {
	ds := load(t, "hospital.yaml", "hospital")
	for _, text := range []string{
		"SELECT ward, COUNT(*) FROM visits GROUP BY ROLLUP (ward)",
		"SELECT sex, MEDIAN(age) FROM patients GROUP BY ROLLUP (sex)",
		"SELECT sex, COUNT(DISTINCT zip) FROM patients GROUP BY ROLLUP (sex)",
		"SELECT sex, COUNT(*) FROM patients GROUP BY sex",
		"SELECT COUNT(*) FROM patients UNION ALL SELECT COUNT(*) FROM patients WHERE smoker",
	} {
		st, err := plan.Prepare(ds, text, plan.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if len(st.Cubes) != 0 {
			t.Errorf("%s has a table", text)
		}
	}
}

// What every row is compared with, to know whether its keys are listed, is bounded by a number that
// is no analyst's: a range of days has two ends, however long it is, and sets of a key with many
// other values are bought one by one. So are those of a key that has NULL alone.
func TestCubesListFewValues(t *testing.T) {
	ds := load(t, "hospital.yaml", "hospital")
	const months = "SELECT date_trunc('month', born), COUNT(*) FROM patients "
	for text, together := range map[string]bool{
		"SELECT born, sex, COUNT(*) FROM patients WHERE born BETWEEN '1900-01-01' AND '1930-12-31' GROUP BY CUBE (1, 2)": true,
		months + "WHERE born BETWEEN '1900-01-01' AND '1930-12-31' GROUP BY ROLLUP (1)":                                  true,
		months + "WHERE born BETWEEN '1500-01-01' AND '1930-12-31' GROUP BY ROLLUP (1)":                                  false,
		"SELECT sex, smoker, COUNT(*) FROM patients WHERE sex IS NULL GROUP BY CUBE (sex, smoker)":                       false,
		"SELECT CAST(NULL AS TEXT), COUNT(*) FROM patients GROUP BY ROLLUP (1)":                                          false,
	} {
		st, err := plan.Prepare(ds, text, plan.Options{})
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if got := len(st.Cubes) == 1; got != together {
			t.Errorf("%s: together %v", text, got)
		}
		for _, c := range st.Cubes {
			if err := verify.Cube(ds, c, st.Plans); err != nil {
				t.Errorf("%s: %v", text, err)
			}
			for _, k := range c.Query.Keys {
				tree.Walk(k.Expr, func(e tree.Expr) {
					if in, ok := e.(*tree.In); ok && len(in.List) > 1<<10 {
						t.Errorf("%s: every row is compared with %d values", text, len(in.List))
					}
				})
			}
		}
	}
}
