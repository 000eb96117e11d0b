package curator_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/curator"
	"github.com/discreet-dp/discreet/internal/lab/hospital"
	"github.com/discreet-dp/discreet/internal/planner/syntax"
	"github.com/discreet-dp/discreet/internal/test/curatortest"
	"github.com/discreet-dp/discreet/internal/test/daily"
)

// Running totals over days have noise that nearly takes itself away in them. They are the sums of
// what is shown, are paid for once, are the same when they are asked again, and are not made of
// days that were released by themselves.
func TestRunningTotals(t *testing.T) {
	w := curatortest.New(t, curatortest.Rich)
	if plain := w.MustAsk(curatortest.Daily); len(plain.Rows) != 365 || plain.Receipt.Free {
		t.Fatalf("%d days", len(plain.Rows))
	}
	e, err := w.Explain(ctx, api.Question{Analyst: "ana", SQL: curatortest.Yearly})
	w.Check(err)
	if m := e.Questions[0].Measures[0]; m.Mechanism != "running totals" || !strings.Contains(m.Why, "running totals") || e.Known {
		t.Errorf("%+v", e)
	}
	a := w.MustAsk(curatortest.Yearly)
	if a.Receipt.Free || a.Cost != e.Pay {
		t.Errorf("%v was explained, %v charged", e.Pay, a.Cost)
	}
	if !strings.Contains(strings.Join(a.Notes, "\n"), "a running total is within ") {
		t.Errorf("nothing is said of the error of totals: %v", a.Notes)
	}
	sum := 0.0
	for _, row := range a.Rows {
		if sum += curatortest.AsFloat(row[1]); sum != curatortest.AsFloat(row[2]) {
			t.Fatalf("%v, and the days so far add up to %v", row, sum)
		}
	}
	exact := float64(len(hospital.New(200, 1).Visits))
	if got := curatortest.AsFloat(a.Rows[364][2]); math.Abs(got-exact) > 6*6*math.Sqrt(2*9/(2*0.005))*2 {
		t.Errorf("%v visits, and there are %v", got, exact)
	}
	w.Reopen()
	if again := w.MustAsk(curatortest.Yearly); !again.Receipt.Free || curatortest.Numbers(again) != curatortest.Numbers(a) {
		t.Error("asked again it is another answer")
	}
}

// Anything else than a running total of one ordered public key has plain noise.
func TestNoRunningTotals(t *testing.T) {
	for _, c := range []struct {
		budget, text string
		settings     api.Settings
	}{
		{curatortest.Plenty, curatortest.Yearly, api.Settings{}},
		{curatortest.Rich, curatortest.Yearly, api.Settings{Mechanism: "laplace"}},
		{curatortest.Rich, strings.Replace(curatortest.Yearly, "OVER (ORDER BY day)", "OVER (ORDER BY day DESC)", 1), api.Settings{}},
		{curatortest.Rich, strings.Replace(curatortest.Yearly, "OVER (ORDER BY day)", "OVER (ORDER BY COUNT(*))", 1), api.Settings{}},
		{curatortest.Rich, strings.Replace(curatortest.Yearly, "OVER (ORDER BY day)", "OVER (ORDER BY day ROWS 6 PRECEDING)", 1),
			api.Settings{}},
		{curatortest.Rich, strings.Replace(curatortest.Yearly, "OVER (ORDER BY day)", "OVER ()", 1), api.Settings{}},
		{curatortest.Rich, strings.Replace(curatortest.Yearly, "SUM(COUNT(*))", "AVG(COUNT(*))", 1), api.Settings{}},
		{curatortest.Rich, "SELECT sex, SUM(COUNT(*)) OVER (PARTITION BY sex ORDER BY sex) FROM patients GROUP BY sex", api.Settings{}},
	} {
		w := curatortest.New(t, c.budget)
		e, err := w.Explain(ctx, api.Question{Analyst: "ana", SQL: c.text, Settings: c.settings})
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		if m := e.Questions[0].Measures[0].Mechanism; m == "running totals" {
			t.Errorf("%s: %s", c.text, fmt.Sprint(m))
		}
		w.Leave()
	}
}

// Rows of a set have NULL where they are not grouped by a key, GROUPING tells them from keys that
// are NULL, and everything above the noise is about all rows.
func TestSetsAreOneAnswer(t *testing.T) {
	w := curatortest.New(t, curatortest.Plenty)
	a := w.MustAsk(curatortest.Rolled)
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
	sorted := w.MustAsk(curatortest.Rolled + " ORDER BY g DESC, n LIMIT 4")
	if !sorted.Receipt.Free || len(sorted.Rows) != 4 || fmt.Sprint(sorted.Rows[0][3]) != "3" || fmt.Sprint(sorted.Rows[1][3]) != "1" ||
		curatortest.AsFloat(sorted.Rows[1][2]) > curatortest.AsFloat(sorted.Rows[2][2]) {
		t.Errorf("%v", sorted.Rows)
	}
	left := w.MustAsk(curatortest.Rolled + " HAVING GROUPING(sex, smoker) = 1")
	if !left.Receipt.Free || len(left.Rows) != 3 || left.Rows[0][0] == nil {
		t.Errorf("%v", left.Rows)
	}
	around := w.MustAsk("SELECT g, count(*) FROM (" + curatortest.Rolled + ") t GROUP BY g ORDER BY g")
	if !around.Receipt.Free || fmt.Sprint(around.Rows) != "[[0 6] [1 3] [3 1]]" {
		t.Errorf("%v", around.Rows)
	}
	ranked := w.MustAsk("SELECT sex, smoker, COUNT(*) AS n, row_number() OVER (PARTITION BY GROUPING(sex, smoker) ORDER BY COUNT(*)) " +
		"AS i FROM patients GROUP BY ROLLUP (1, 2) ORDER BY i DESC LIMIT 1")
	if !ranked.Receipt.Free || fmt.Sprint(ranked.Rows[0][3]) != "6" || ranked.Errors[0][2] == nil {
		t.Errorf("%v", ranked.Rows)
	}
	// A set that is there twice is released once, and shown twice.
	twice := w.MustAsk("SELECT COUNT(*) FROM patients WHERE age > 3 GROUP BY GROUPING SETS ((), ())")
	if len(twice.Rows) != 2 || fmt.Sprint(twice.Rows[0]) != fmt.Sprint(twice.Rows[1]) {
		t.Errorf("%v", twice.Rows)
	}
}

// Rounding keeps the order of numbers, so what is rounded has the error bar of the rounded ends:
// never narrower than the noise less one step of the rounding.
func TestRoundedHasABar(t *testing.T) {
	w := curatortest.New(t, curatortest.Plenty)
	a := w.MustAsk("SELECT COUNT(*), greatest(COUNT(*), 0), least(COUNT(*), 0), AVG(age), round(AVG(age), 1), floor(AVG(age)), " +
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
	w := curatortest.New(t, curatortest.Plenty)
	a := w.MustAsk("SELECT AVG(n) FROM (SELECT pid, COUNT(*) AS n, SUM(cost) AS s, MAX(cost) AS m FROM visits GROUP BY pid) AS t")
	notes := strings.Join(a.Notes, "\n")
	if strings.Count(notes, "in the subquery, the policy's") != 2 || !strings.Contains(notes, "limits a person's count to") ||
		!strings.Contains(notes, "keep a person's sum from 0 to") {
		t.Errorf("notes %q", a.Notes)
	}
	if a := w.MustAsk("SELECT AVG(n) FROM (SELECT pid, COUNT(*) AS n FROM patients GROUP BY pid) AS t"); len(a.Notes) != 0 {
		t.Errorf("nobody has two rows: notes %q", a.Notes)
	}
}

// Who has more rows than are joined, or sorted, reads which number it was and where it is from.
func TestJoinedWords(t *testing.T) {
	w := curatortest.New(t, curatortest.Plenty)
	for text, want := range map[string]string{
		"SELECT COUNT(*) FROM visits a JOIN visits b ON a.pid = b.pid": "somebody with more than 200 rows is joined with 200 of them " +
			"(max_joined: 200 in the policy)",
		"SELECT MEDIAN(cost) FROM visits": "somebody with more than 6250 rows is joined or sorted with 6250 of them (from max_joined: " +
			"200 in the policy)",
		"SELECT COUNT(*) FROM visits": "",
	} {
		notes := strings.Join(w.MustAsk(text).Notes, "\n")
		if want == "" && strings.Contains(notes, "max_joined") ||
			want != "" && !strings.Contains(notes, want+"; error bars leave out the bias of this limit") {
			t.Errorf("%s: %q", text, notes)
		}
	}
}

// TestDescribe asks every question that the tests have, and compares its columns with those that
// were described before.
func TestDescribe(t *testing.T) {
	if testing.Short() {
		t.Skip("one question after the other, which the race detector has nothing to say about")
	}
	described, most := 0, 0
	for _, budget := range []string{curatortest.Plenty, "{epsilon: 100, delta: 1e-6, per_query: {default: 0.1, max: 1}}"} {
		w := curatortest.New(t, budget)
		records := w.RecordCount()
		everything := slices.Concat(curatortest.Questions, curatortest.Attacks)
		for _, text := range daily.Sample(t, everything, len(everything)/3) {
			if slices.Contains(curatortest.Questions, text) {
				most++
			}
			before, err := w.Describe(ctx, api.Question{Analyst: "ana", SQL: text})
			if n := w.RecordCount(); n != records {
				t.Fatalf("%s: describing is in the ledger", text)
			}
			a, asked := w.AskSQL(text)
			records = w.RecordCount()
			switch {
			case asked == nil && err != nil:
				t.Errorf("%s: answered and not described: %v", text, err)
			case asked == nil:
				described++
				if !slices.Equal(before, a.Columns) {
					t.Errorf("%s:\ndescribed %+v\nanswered  %+v", text, before, a.Columns)
				}
			}
		}
	}
	if described < most {
		t.Errorf("%d of %d questions were described", described, most)
	}
}

// TestDescriptionsHaveABound: what is remembered of queries around answers is counted with their
// columns, of which a short text has many, with long names.
func TestDescriptionsHaveABound(t *testing.T) {
	w := curatortest.New(t, curatortest.Pure)
	c := curator.New(w.Dataset, nil, nil, nil)
	const asked = 85 // of some 14 KB each, in a megabyte
	for i := range asked {
		text := fmt.Sprintf("SELECT %s FROM (VALUES (1)) AS v(%s), (SELECT COUNT(*) AS n FROM patients) AS t WHERE 1 < %d",
			strings.TrimSuffix(strings.Repeat("v.*, ", 100), ", "), strings.Repeat("n", 60), i)
		columns, err := c.Describe(ctx, api.Question{Analyst: "ana", SQL: text})
		if err != nil || len(columns) != 100 {
			t.Fatal(len(columns), err)
		}
	}
	if n := c.Described(); n < 10 || n > 80 {
		t.Errorf("%d of %d descriptions are kept", n, asked)
	}
}

func TestDescribeReadsNothing(t *testing.T) {
	w := curatortest.New(t, curatortest.Pure)
	c := curator.New(w.Dataset, nil, nil, nil)
	for _, text := range curatortest.Questions {
		if _, err := c.Describe(ctx, api.Question{Analyst: "ana", SQL: text}); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	// Rows are refused when they are asked for, and not before.
	for text, want := range map[string]string{
		"SELECT * FROM patients WHERE age > 50":                                "age, sex, zip",
		"SELECT DISTINCT cost AS a, sex FROM patients ORDER BY a LIMIT 3":      "a, sex",
		"SELECT p.age + 1, 'x' AS x FROM patients p JOIN visits v USING (pid)": "?column?, x",
		"SELECT pid FROM (SELECT pid, sex FROM patients) AS t":                 "pid",
	} {
		columns, err := c.Describe(ctx, api.Question{Analyst: "ana", SQL: text})
		var names []string
		for _, column := range columns {
			names = append(names, column.Name)
		}
		if got := strings.Join(names, ", "); err != nil || !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s %v", text, got, err)
		}
		if _, err := w.AskSQL(text); syntax.KindOf(err) != syntax.Private {
			t.Errorf("%s: %v", text, err)
		}
	}
	for _, q := range []api.Question{{Analyst: "nobody", SQL: curatortest.Questions[0]},
		{Analyst: "nobody", SQL: "SELECT pid FROM patients"},
		{Analyst: "ana", SQL: "SELECT pid, nothing FROM patients"}, {Analyst: "ana", SQL: "SELECT pid FROM patients WHERE pid + 1"},
		{Analyst: "ana", SQL: "SELECT pid, COUNT(*) FROM patients"}, {Analyst: "ana", SQL: "SELECT"}} {
		if _, err := c.Describe(ctx, q); err == nil {
			t.Errorf("%+v is described", q)
		}
	}
}
