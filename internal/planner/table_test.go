package planner_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/planner"
	"github.com/discreet-dp/discreet/internal/test/golden"
	"github.com/discreet-dp/discreet/policy"
)

const tableFile = "testdata/table/tables.txt"

// TestTable runs testdata/table/tables.txt, in the form of TestData, with the target on a line of
// its own.
func TestTable(t *testing.T) {
	ds := hospital(t)
	golden.Run(t, tableFile, func(question string) string {
		features, target, _ := strings.Cut(question, "\n=> ")
		return tableOutcome(ds, features, target)
	})
}

func tableOutcome(ds *policy.Dataset, features, target string) string {
	table, err := planner.PrepareTable(ds, features, target, planner.Options{Public: tables{}})
	if err != nil {
		return refusal(features, err)
	}
	var b strings.Builder
	for line := range strings.Lines(table.Format()) {
		if !strings.HasPrefix(line, "table of dataset ") && line != "from \"patients\" unit unique \"pid\"\n" &&
			(line != "rows 1 neighbours add-remove\n" || table.Bounded()) {
			b.WriteString(line)
		}
	}
	return b.String()
}

// TestTableHash: what means the same has the same name, and what does not has not.
func TestTableHash(t *testing.T) {
	ds := hospital(t)
	type asked struct{ features, target string }
	hash := func(a asked) string {
		table, err := planner.PrepareTable(ds, a.features, a.target, planner.Options{Public: tables{}})
		if err != nil {
			t.Fatal(a, err)
		}
		return table.Hash()
	}
	seen := map[string]int{}
	for i, same := range [][]asked{
		{
			{"SELECT age, sex FROM patients WHERE age > 18", "smoker"},
			{"SELECT sex, age FROM patients WHERE age > 18", "smoker"},
			{"select p.sex, p.age, p.smoker from patients as p where 18 < p.age", "SMOKER"},
			{"SELECT age, sex, smoker FROM patients WHERE age > 18 AND (age > 18 OR false)", `"smoker"`},
			{"SELECT age, sex FROM (SELECT smoker, age, sex FROM patients WHERE age > 18) AS t", "t.smoker"},
			{"WITH w AS (SELECT * FROM patients) SELECT age, sex FROM w WHERE age >= 19", "smoker"},
		},
		{{"SELECT age, sex FROM patients WHERE age > 19", "smoker"}},
		{{"SELECT age, sex FROM patients", "smoker"}},
		{{"SELECT age FROM patients", "smoker"}},
		{{"SELECT smoker FROM patients", "age"}},
		{{"SELECT age AS years FROM patients", "smoker"}}, // a model knows its columns by their names
		{{"SELECT age FROM patients", "sex"}, {"SELECT age FROM patients AS p", "P.SEX"}},
		{{"SELECT age FROM patients", "cost>10"}, {"SELECT age FROM patients", " 10  < cost"},
			{"SELECT p.age FROM patients p", "NOT (p.cost <= 10.0)"}},
		{{"SELECT age, sex FROM patients WHERE sex IN ('F', 'M')", "smoker"}},
		{{"SELECT v.cost FROM visits v JOIN patients p ON v.pid = p.pid", "ward"},
			{"SELECT cost FROM (SELECT v.cost, ward FROM visits v JOIN patients p ON v.pid = p.pid) AS t", "ward"}},
		{{"SELECT cost FROM visits", "ward"}},
	} {
		for _, a := range same {
			h := hash(a)
			if j, ok := seen[h]; ok && j != i {
				t.Errorf("%v is as the %dth", a, j)
			} else if !ok && a != same[0] {
				t.Errorf("%v is not as %v", a, same[0])
			}
			seen[h] = i
		}
	}
	// The policy is part of the question: bounds, keys, limits and neighbours.
	before := hash(asked{"SELECT cost, ward FROM visits", "day > '2024-01-01'"})
	for name, change := range map[string]func(*policy.Dataset){
		"bounds":     func(d *policy.Dataset) { d.Tables["visits"].Columns["cost"].Bounds.HiSteps-- },
		"keys":       func(d *policy.Dataset) { c := d.Tables["visits"].Columns["ward"]; c.KeyValues = c.KeyValues[1:] },
		"max_rows":   func(d *policy.Dataset) { d.Tables["visits"].MaxRows++ },
		"neighbours": func(d *policy.Dataset) { d.Neighbours++ },
		"name":       func(d *policy.Dataset) { d.Name += "2" },
	} {
		ds = hospital(t)
		change(ds)
		if hash(asked{"SELECT cost, ward FROM visits", "day > '2024-01-01'"}) == before {
			t.Error("not in the hash: " + name)
		}
	}
}

// FuzzTable looks for texts that make the planner fail, and for tables that promise what is not so.
func FuzzTable(f *testing.F) {
	for _, c := range readCases(f, tableFile)[1:] {
		text, _, _ := strings.Cut(c, "\n----\n")
		features, target, _ := strings.Cut(text, "\n=> ")
		f.Add(features, target)
	}
	ds := hospital(f)
	f.Fuzz(func(t *testing.T, features, target string) {
		table, err := planner.PrepareTable(ds, features, target, planner.Options{Public: tables{}})
		if err != nil {
			checkRefusal(t, features, err)
			return
		}
		again, err := planner.PrepareTable(ds, features+" ", target+" ", planner.Options{Public: tables{}})
		if err != nil || again.Hash() != table.Hash() {
			t.Fatalf("the same twice: %v", err)
		}
		if len(table.Features()) < 1 || table.MaxRows() < 1 || table.From.Unit() < 0 || table.Single() && table.MaxRows() != 1 {
			t.Errorf("an empty table: %s", table.Format())
		}
		for _, c := range table.Columns {
			lo, hi, step := c.Bounds()
			if c.Describe() == "" || lo >= hi || hi-lo > 1<<54 || step.Sign() <= 0 || c.Values != nil && (lo != 0 || len(c.Values) < 2) {
				t.Errorf("%q from %d to %d by %v: %v", c.Name, lo, hi, step, c.Values)
			}
			for _, v := range c.Values {
				if v.Null {
					t.Errorf("NULL is a value of %q", c.Name)
				}
			}
		}
	})
}

// What is trained on is one row for each row of the SELECT, and has public bounds or public values.
func ExamplePrepareTable() {
	p, err := policy.Load("testdata/hospital.yaml")
	if err != nil {
		panic(err)
	}
	t, err := planner.PrepareTable(p.Datasets["hospital"], "SELECT age, sex FROM patients", "cost > 1000 AS dear", planner.Options{})
	if err != nil {
		panic(err)
	}
	for _, c := range t.Columns {
		lo, hi, step := c.Bounds()
		fmt.Println(c.Name, c.Values, lo, hi, step.RatString())
	}
	fmt.Println("rows of one person:", t.MaxRows())
	// Output:
	// age [] 0 110 1
	// sex [F M X] 0 2 1
	// dear [false true] 0 1 1
	// rows of one person: 1
}
