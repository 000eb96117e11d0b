package rehearse

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/engine/duckdb"
	"github.com/discreet-dp/discreet/internal/lab/hospital"
	"github.com/discreet-dp/discreet/policy"
)

var ctx = context.Background()

// open makes a hospital, and a rehearsal under its policy in which some texts are replaced.
func open(t testing.TB, people int, replace ...string) (*Rehearsal, string) {
	t.Helper()
	dir := t.TempDir()
	if err := hospital.New(people, 1).Write(dir); err != nil {
		t.Fatal(err)
	}
	text := hospital.Dataset("hospital", dir, "{epsilon: 1, delta: 1e-6, per_query: {default: 0.1, max: 1}}")
	for i := 0; i < len(replace); i += 2 {
		if !strings.Contains(text, replace[i]) {
			t.Fatalf("the policy lacks %q", replace[i])
		}
		text = strings.Replace(text, replace[i], replace[i+1], 1)
	}
	p, err := policy.Parse(filepath.Join(dir, "policy.yaml"), []byte("datasets:\n"+text))
	if err != nil {
		t.Fatal(err)
	}
	r, err := New(ctx, p.Datasets["hospital"], func(ctx context.Context, ds *policy.Dataset) (Engine, error) {
		return duckdb.Open(ctx, ds)
	}, func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r, dir
}

// plain asks DuckDB, and returns its answer by the first columns and the name of each other one.
func plain(t testing.TB, dir, question string, keys int) map[string]float64 {
	t.Helper()
	db, err := sql.Open("duckdb", "")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, name := range []string{"patients", "visits"} {
		if _, err := db.Exec(fmt.Sprintf("CREATE VIEW %s AS FROM read_csv('%s')", name, filepath.Join(dir, name+".csv"))); err != nil {
			t.Fatal(err)
		}
	}
	rows, err := db.Query(question)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	names, _ := rows.Columns()
	out := map[string]float64{}
	for rows.Next() {
		values := make([]any, len(names))
		for i := range values {
			values[i] = new(any)
		}
		if err := rows.Scan(values...); err != nil {
			t.Fatal(err)
		}
		label := []string{}
		for _, v := range values[:keys] {
			label = append(label, fmt.Sprint(*v.(*any)))
		}
		for i, v := range values[keys:] {
			var n float64
			if _, err := fmt.Sscan(fmt.Sprint(*v.(*any)), &n); err == nil {
				out[fmt.Sprint(label, " ", names[keys+i])] = n
			}
		}
	}
	return out
}

func rehearsed(t testing.TB, r *Rehearsal, question string, draws int) *Report {
	t.Helper()
	out, err := r.Rehearse(ctx, question, dp.One/2, draws)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// The exact figures are those of plain SQL on the files, however narrow limits and bounds are.
func TestExactIsPlainSQL(t *testing.T) {
	t.Parallel()
	tight, dir := open(t, 400, "max_rows: 6", "max_rows: 1", "max_groups: 2", "max_groups: 1", "bounds: [0, 2000]", "bounds: [100, 300]",
		"bounds: [0, 110]", "bounds: [40, 60]", "diagnosis: {type: text, keys: [", "diagnosis: {type: text, keys: private} #")
	for _, c := range []struct {
		keys     int
		question string
	}{
		{0, "SELECT COUNT(*) AS n, SUM(cost) AS s, AVG(cost) AS m FROM visits"},
		{1, "SELECT ward, COUNT(*) AS n, SUM(cost) AS s, AVG(cost) AS m FROM visits GROUP BY ward"},
		{1, "SELECT sex, AVG(age) AS m, VARIANCE(age) AS v, SUM(age) AS s FROM patients GROUP BY sex"},
		{2, "SELECT sex, ward, SUM(v.cost) AS s, AVG(v.cost) AS m, COUNT(*) AS n FROM patients p JOIN visits v USING (pid) " +
			"WHERE age > 45 GROUP BY sex, ward"},
		{1, "SELECT diagnosis, COUNT(*) AS n, AVG(age) AS m FROM patients GROUP BY diagnosis"},
		{0, "SELECT COUNT(*) AS n FROM visits WHERE cost > 250 OR cost < 160"},
		{0, "SELECT COUNT(DISTINCT pid) AS n FROM visits WHERE ward = 'surgery'"},
		{0, "SELECT AVG(n) AS m, SUM(s) AS s FROM (SELECT pid, COUNT(*) AS n, SUM(cost) AS s FROM visits GROUP BY pid) AS each"},
		{0, "SELECT COUNT(*) AS n FROM patients p WHERE EXISTS (SELECT 1 FROM visits v WHERE v.pid = p.pid " +
			"AND v.cost BETWEEN 290 AND 300)"},
		{1, "SELECT sex, SUM(cost) / COUNT(*) AS m FROM patients GROUP BY sex HAVING COUNT(*) > 20"},
	} {
		report := rehearsed(t, tight, c.question, 3)
		want := plain(t, dir, c.question, c.keys)
		if len(want) == 0 || len(report.Cells) != len(want) {
			t.Errorf("%s: %d cells (%s); want %d", c.question, len(report.Cells), report.Skipped, len(want))
		}
		for _, cell := range report.Cells {
			name := fmt.Sprint(cell.Group, " ", cell.Column)
			if is, ok := want[name]; !ok || cell.Exact == nil || math.Abs(*cell.Exact-is) > 1e-9*math.Abs(is) {
				t.Errorf("%s: %s is %v; want %v", c.question, name, show(cell.Exact), is)
			}
			if d := difference(cell.Cut, cell.Exact); d != nil && math.Abs(*cell.ByLimits+*cell.ByBounds-*d) > 1e-6 {
				t.Errorf("%s: %s: the parts of its bias are %v and %v", c.question, name, *cell.ByLimits, *cell.ByBounds)
			}
		}
	}
}

// Where bounds say that no row meets a condition, the answer is known, and the owner is told so.
func TestBeyondBounds(t *testing.T) {
	t.Parallel()
	r, _ := open(t, 100, "bounds: [0, 110]", "bounds: [40, 60]")
	report := rehearsed(t, r, "SELECT COUNT(*) AS n FROM patients WHERE age > 65", 1)
	if len(report.Cells) != 0 || !strings.Contains(report.Skipped, "bounds are too narrow") {
		t.Errorf("%d cells, %q", len(report.Cells), report.Skipped)
	}
}

// Columns of one name are told apart by what they compute, and by their places where that is alike.
func TestLabels(t *testing.T) {
	t.Parallel()
	r, _ := open(t, 100)
	report := rehearsed(t, r, "SELECT sex, AVG(p.cost), AVG(age), COUNT(*) AS n, COUNT(*), COUNT(*), SUM(age) / COUNT(*), "+
		"SUM(p.cost) / COUNT(*) FROM patients p GROUP BY sex", 1)
	var got []string
	for _, c := range report.Cells[:7] {
		got = append(got, c.Column)
	}
	want := []string{"avg(cost)", "avg(age)", "n", "count(*) (column 5)", "count(*) (column 6)", "?column? (column 7)",
		"?column? (column 8)"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func show(n *float64) any {
	if n == nil {
		return "missing"
	}
	return *n
}

// What bounds cut is what plain SQL says that they cut.
func TestCutIsPlainSQL(t *testing.T) {
	t.Parallel()
	r, dir := open(t, 300, "bounds: [0, 110]", "bounds: [40, 60]")
	report := rehearsed(t, r, "SELECT SUM(age) AS s, COUNT(*) AS n FROM patients", 200)
	want := plain(t, dir, "SELECT sum(greatest(40, least(60, age))) AS s, count(*) AS n FROM patients", 0)
	for _, c := range report.Cells {
		if *c.Cut != want["[] "+c.Column] || *c.ByLimits != 0 {
			t.Errorf("%s is cut to %v, by limits by %v; want %v and 0", c.Column, *c.Cut, *c.ByLimits, want["[] "+c.Column])
		}
		// Few answers are off by more than the bias and the error bar of the noise.
		if most := math.Abs(*c.Bias) + *c.Bar; *c.Median > most || *c.Most > 1.5*most || *c.Most < *c.Median {
			t.Errorf("%s is off by %v and %v; the bias is %v and the noise %v", c.Column, *c.Median, *c.Most, *c.Bias, *c.Bar)
		}
	}
}

// An average of nobody is none, and private keys that few people have are dropped.
func TestEmptyAndDropped(t *testing.T) {
	t.Parallel()
	r, _ := open(t, 300, "zip:       {type: text, keys: [", "zip: {type: text, keys: private} #")
	report := rehearsed(t, r, "SELECT sex, AVG(age) AS m, COUNT(*) AS n FROM patients WHERE age > 300 GROUP BY sex", 3)
	for _, c := range report.Cells {
		if c.Column == "m" && (c.Exact != nil || c.Bias != nil || c.Median != nil) {
			t.Errorf("the average of nobody is %v", show(c.Exact))
		}
	}
	report, err := r.Rehearse(ctx, "SELECT zip, COUNT(*) FROM patients WHERE age < 30 GROUP BY zip", dp.One/100, 20)
	if err != nil {
		t.Fatal(err)
	}
	if k := report.Keys; k == nil || k.Exact != 5 || k.Dropped < 4 || k.Cut != 0 || k.Invented != 0 {
		t.Errorf("keys: %+v", report.Keys)
	}
}

// The proposal is better than limits that are far too narrow, or far too wide, and keeps good ones.
func TestProposal(t *testing.T) {
	t.Parallel()
	const question = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
	for _, limits := range [][2]string{{"1", "1"}, {"500", "3"}} {
		r, _ := open(t, 1000, "max_rows: 6", "max_rows: "+limits[0], "max_groups: 2", "max_groups: "+limits[1])
		p := rehearsed(t, r, question, 2).Proposal
		if p == nil || p.Limits == "" || p.MaxRows < 2 || p.MaxRows > 6 || p.MaxGroups < 2 {
			t.Fatalf("from %v: %+v", limits, p)
		}
		if e := p.Errors[0]; e.Then > e.Today/2 {
			t.Errorf("from %v: %+v", limits, p)
		}
		same, _ := open(t, 1000, "max_rows: 6", fmt.Sprint("max_rows: ", p.MaxRows), "max_groups: 2",
			fmt.Sprint("max_groups: ", p.MaxGroups))
		if again := rehearsed(t, same, question, 2).Proposal; again.Limits != "" || again.Errors[0].Today != p.Errors[0].Then {
			t.Errorf("under the proposal %+v: %+v", p, again)
		}
	}
}

// Where bounds are far too wide, a limit on sums makes up for it.
func TestProposedSum(t *testing.T) {
	t.Parallel()
	r, _ := open(t, 500, "bounds: [0, 10000]", "bounds: [0, 1000000]")
	p := rehearsed(t, r, "SELECT SUM(cost) FROM patients", 2).Proposal
	if p == nil || p.MaxSum == "" || p.Errors[0].Then > p.Errors[0].Today/20 {
		t.Errorf("%+v", p)
	}
}

// What has no exact figures says why.
func TestSkipped(t *testing.T) {
	t.Parallel()
	r, dir := open(t, 50)
	for question, why := range map[string]string{
		"SELECT MEDIAN(age) FROM patients":                                                 "quantiles",
		"SELECT diagnosis FROM patients GROUP BY diagnosis ORDER BY COUNT(*) DESC LIMIT 1": "chooses",
		"SELECT SUM(n) FROM (SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex) AS t":   "computes with noisy answers",
		"SELECT COUNT(*) FROM patients GROUP BY sex":                                       "told apart",
		"SELECT COUNT(*) > 5 FROM patients":                                                "none of its columns",
		"SELECT sex FROM patients GROUP BY sex":                                            "no noise",
	} {
		if report := rehearsed(t, r, question, 2); !strings.Contains(report.Skipped, why) || report.Cells != nil {
			t.Errorf("%s: %q; want %q", question, report.Skipped, why)
		}
	}
	if _, err := r.Rehearse(ctx, "SELECT * FROM patients", 0, 2); err == nil {
		t.Error("rows of people are rehearsed")
	}
	files, _ := os.ReadDir(dir)
	if len(files) != 2 {
		t.Errorf("there are files that there were not: %v", files)
	}
}
