package curator_test

import (
	"context"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/mech"
	"github.com/discreet-dp/discreet/internal/curator"
	"github.com/discreet-dp/discreet/internal/engine/duckdb"
	"github.com/discreet-dp/discreet/internal/fakedata"
	"github.com/discreet-dp/discreet/internal/ledger/memledger"
	"github.com/discreet-dp/discreet/internal/planner"
	"github.com/discreet-dp/discreet/internal/planner/syntax"
	"github.com/discreet-dp/discreet/internal/test/curatortest"
	"github.com/discreet-dp/discreet/policy"
)

var search = flag.Duration("search", 0, "for how long TestSearchCosts looks for texts that are expensive to plan; 0 means not at all")

// What planning one text may take at one entry, at most.
const (
	mostTime  = 2 * time.Second
	mostBytes = 200 << 20
)

// TestSearchCosts looks for texts whose planning takes long: it makes texts up, keeps those that
// take most of a processor's time or of memory, changes and crosses them, and prints the ten worst.
//
//	nice go test ./internal/curator -run TestSearchCosts -search 10m -timeout 30m -v
func TestSearchCosts(t *testing.T) {
	if *search == 0 {
		t.Skip("it takes minutes; see -search")
	}
	s := &searcher{T: t, Rand: rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 1))}
	for _, p := range []string{searchedPolicy, searchedPlanner(t)} {
		s.planners = append(s.planners, newPlanners(t, p))
	}
	for end := time.Now().Add(*search); time.Now().Before(end); {
		s.try(s.next())
	}
	t.Logf("%d texts were tried, %d of them can be asked", s.tried, s.planned)
	for _, w := range s.worst[:min(10, len(s.worst))] {
		t.Logf("%v, %d MB, %d bytes of text, at %s, %.80s\n%.600s", w.time.Round(time.Millisecond), w.bytes>>20, len(w.text),
			w.entry, w.said, w.text)
		if w.time > mostTime || w.bytes > mostBytes {
			t.Errorf("%v and %d MB", w.time, w.bytes>>20)
		}
	}
}

// searchedPolicy has a column of every kind, and keys of many combinations.
const searchedPolicy = `
datasets:
  d:
    engine: duckdb
    source: d.duckdb
    unit: t.pid
    budget: {epsilon: 10, delta: 1e-6}
    analysts: {ana: {}}
    tables:
      t:
        unique: pid
        columns:
          pid: {type: integer}
          n:   {type: integer, bounds: [-120, 130]}
          m:   {type: integer, bounds: [0, 250]}
          c:   {type: decimal, bounds: [0, 600], granularity: 0.01}
          at:  {type: timestamp, bounds: ["1970-01-01 00:00:00", "1979-01-01 00:00:00"]}
          d:   {type: date, bounds: [1900-01-01, 2070-01-01]}
          s:   {type: text, keys: [alpha, beta, gamma, delta, epsilon, zeta, eta, theta, iota, kappa, lambda, mu]}
          x:   {type: text, keys: private}
          b:   {type: boolean}
          w:   {type: integer}
      v:
        path: pid -> t.pid
        max_rows: 20
        max_groups: 4
        columns:
          k: {type: text, keys: [one, two, three, four, five, six, seven, eight]}
          p: {type: integer, bounds: [0, 1000]}
          u: {type: timestamp}
      pub:
        public: true
        unique: k
        columns:
          k: {type: text}
          r: {type: text}
          z: {type: integer, bounds: [0, 100]}
    views:
      old: SELECT pid, n, m, s FROM t WHERE n >= 65
    streams:
      cells: {table: t, columns: {n: {width: 10}, m: {width: 25}, s: , b: }, size: 1000, alpha: 0.1, predictor: weights}
    holdouts:
      rows: {table: t, size: 200, threshold: 0.2, noise: 0.01, answers: 3}
`

// searchedPlanner is the policy of the planner's tests.
func searchedPlanner(t *testing.T) string {
	text, err := os.ReadFile("../planner/testdata/hospital.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// planners are all ways by which a text is planned.
type planners struct {
	*curator.Curator
	dataset *policy.Dataset
	columns map[string][]string // of the table of people, by kind
	all     []string
	others  []string // the other tables
}

func newPlanners(t *testing.T, text string) *planners {
	folder := t.TempDir()
	p, err := policy.Parse(filepath.Join(folder, "policy.yaml"), []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	made, err := fakedata.MakeTown(p.Datasets[p.Names()[0]], folder)
	if err != nil {
		t.Fatal(err)
	}
	e, err := duckdb.OpenWith(ctx, made, duckdb.Limits{Memory: 256_000_000, Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	d := &planners{Curator: curator.New(made, e, memledger.New(), curatortest.Seeded(1)), dataset: made, columns: map[string][]string{}}
	for column, c := range made.Tables[made.Unit.Table].Columns {
		kind := map[policy.Type]string{policy.Integer: "number", policy.Decimal: "number", policy.Text: "text", policy.Boolean: "truth",
			policy.Date: "time", policy.Timestamp: "time"}[c.Type]
		d.columns[kind] = append(d.columns[kind], column)
		if len(c.KeyValues) > 0 || c.Bounds != nil { // of which keys are made: more often
			d.columns[kind] = append(d.columns[kind], column, column, column)
		}
		d.all = append(d.all, column)
	}
	for name, table := range made.Tables {
		if !table.Public && name != made.Unit.Table && strings.HasPrefix(table.Source, folder) && table.Columns["pid"] == nil {
			d.others = append(d.others, name)
		}
	}
	slices.Sort(d.all)
	slices.Sort(d.others)
	for _, all := range d.columns {
		slices.Sort(all)
	}
	return d
}

// plan plans a text at a entry.
func (d *planners) plan(entry, text string) (err error) {
	d.ForgetPlans() // each pays for itself
	ctx, stop := context.WithTimeout(ctx, 5*time.Minute)
	defer stop()
	q := api.Question{Analyst: "ana", SQL: text}
	switch entry {
	case "describe":
		_, err = d.Describe(ctx, q)
	case "explain":
		_, err = d.Explain(ctx, q)
	case "holdout":
		_, err = planner.PrepareHoldout(d.dataset, syntax.Open(text, nil), "", d.Access().Options(ctx, api.Settings{}))
	case "parameters":
		_, _, err = planner.Parameters(d.dataset, syntax.Open(q.SQL, nil))
	case "rows":
		if table, found := planner.PrepareTable(d.dataset, text, "n", d.Access().Options(ctx, api.Settings{})); found == nil {
			err = d.Access().CheckTable(table)
		} else {
			err = found
		}
	}
	return err
}

// TestProbes: a question that has no rows, whatever the data is, is answered by its columns alone.
// Neither the engine nor the memory of answers is asked, nothing is written, and it is free when
// nothing is left to pay with.
func TestProbes(t *testing.T) {
	w := curatortest.New(t, curatortest.Pure)
	for i := range 10 {
		if _, err := w.AskSQL(fmt.Sprintf("SELECT COUNT(*) FROM patients WHERE age > %d", i)); err != nil {
			t.Fatal(err)
		}
	}
	r, records := w.Record(), w.RecordCount()
	const all = "age integer, sex text, zip text, diagnosis text, smoker boolean, cost decimal, pid text"
	for text, want := range map[string]string{
		"SELECT * FROM patients WHERE 0 = 1":                                                           all,
		"SELECT * FROM patients WHERE false LIMIT 0":                                                   all,
		"SELECT age * 2 AS twice, sex FROM patients LIMIT 0":                                           "twice integer, sex text",
		"SELECT sex, COUNT(*) AS n, AVG(age) FROM patients GROUP BY 1 LIMIT 0":                         "sex text, n integer, avg real",
		"SELECT * FROM (SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex) t LIMIT 0":               "sex text, n integer",
		"SELECT sex FROM (SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex) t WHERE 0 = 1":         "sex text",
		"SELECT sex, sum(cost) FROM patients WHERE 1 = 0 GROUP BY sex":                                 "sex text, sum decimal",
		"SELECT sex, n / 2.0 AS h FROM (SELECT sex, COUNT(*) AS n FROM patients GROUP BY 1) t LIMIT 0": "sex text, h real",
	} {
		a, err := w.AskSQL(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		var got []string
		for _, c := range a.Columns {
			got = append(got, c.Name+" "+c.Kind)
		}
		if strings.Join(got, ", ") != want || len(a.Rows) != 0 || !a.Receipt.Free || a.Receipt.Sequence != 0 {
			t.Errorf("%s: %s %+v", text, strings.Join(got, ", "), a)
		}
		described, err := w.Describe(ctx, api.Question{Analyst: "ana", SQL: text})
		if err != nil || !slices.Equal(described, a.Columns) {
			t.Errorf("%s is described as %+v: %v", text, described, err)
		}
		e, err := w.Explain(ctx, api.Question{Analyst: "ana", SQL: text})
		if err != nil || !e.Known || e.Cost != (api.Explanation{}).Cost || !e.Affordable {
			t.Errorf("%s is explained as %+v: %v", text, e, err)
		}
	}
	calls := slices.DeleteFunc(r.Take(), func(call string) bool { return call == "balances" }) // what is left is told
	if len(calls) != 0 || w.RecordCount() != records {
		t.Errorf("%v, and %d records more", calls, w.RecordCount()-records)
	}
}

// TestPublicKeys: a list of public keys is exact, free, and the same whatever is in the data.
func TestPublicKeys(t *testing.T) {
	w := curatortest.New(t, curatortest.Pure)
	for i := range 10 {
		if _, err := w.AskSQL(fmt.Sprintf("SELECT COUNT(*) FROM patients WHERE age > %d", i)); err != nil {
			t.Fatal(err)
		}
	}
	r, records := w.Record(), w.RecordCount()
	for text, want := range map[string]string{
		"SELECT DISTINCT sex FROM patients":                                                "F M X",
		"SELECT sex FROM patients GROUP BY sex ORDER BY sex DESC LIMIT 2":                  "X M",
		"SELECT DISTINCT sex FROM patients WHERE sex <> 'M' AND age > 100":                 "F X",
		"SELECT DISTINCT sex FROM patients WHERE age > 1000":                               "F M X",
		"SELECT * FROM (SELECT DISTINCT sex FROM patients) AS t ORDER BY sex DESC":         "X M F",
		"SELECT DISTINCT sex, smoker FROM patients WHERE sex IN ('F') ORDER BY smoker":     "F false F true",
		"WITH s AS (SELECT sex FROM patients GROUP BY sex) SELECT count(*) FROM s":         "3",
		"SELECT DISTINCT age / 40 AS a FROM patients WHERE age < 100 ORDER BY a":           "0 1 2",
		"SELECT DISTINCT sex FROM patients WHERE age = 7 AND diagnosis = 'HIV' ORDER BY 1": "F M X",
		"SELECT DISTINCT zip FROM patients WHERE zip IN ('1001A', 'nowhere')":              "1001A",
	} {
		a, err := w.AskSQL(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		var got []string
		for _, row := range a.Rows {
			for _, v := range row {
				got = append(got, fmt.Sprint(v))
			}
		}
		noted := strings.Contains(strings.Join(a.Notes, " "), "whether or not the data")
		if strings.Join(got, " ") != want || !a.Receipt.Free || a.Cut || !noted {
			t.Errorf("%s: %v %+v", text, got, a)
		}
		for _, c := range a.Columns {
			if c.Noisy {
				t.Errorf("%s: %+v is not noisy", text, c)
			}
		}
	}
	for _, call := range r.Take() {
		if call == "run" || call == "charge" || call == "keep" {
			t.Errorf("it was a %s", call)
		}
	}
	if n := w.RecordCount(); n != records {
		t.Errorf("%d records more", n-records)
	}
	// Beside a question they take nothing of its price.
	v := curatortest.New(t, curatortest.Plenty)
	const beside = "SELECT a.sex, b.n FROM (SELECT DISTINCT sex FROM patients) a JOIN (SELECT sex, COUNT(*) AS n FROM patients " +
		"GROUP BY sex) b ON a.sex = b.sex"
	a, err := v.AskSQL(beside)
	if err != nil || len(a.Rows) != 3 || a.Cost.Epsilon.String() != "0.1" {
		t.Errorf("%+v %v", a, err)
	}
	if again, err := v.AskSQL("SELECT sex, COUNT(*) FROM patients GROUP BY sex"); err != nil || !again.Receipt.Free {
		t.Errorf("the same count was paid for twice: %v", err)
	}
}

// judgeCalls compares what a releaser was asked to do on two neighbouring databases: the same
// mechanisms with the same parameters, exact values that are no farther apart than each was
// calibrated to, and a charge that covers what the difference is worth: the loss of every call on
// which the two differ, added up.
func judgeCalls(a, b []mech.Call, charged dp.Cost) error {
	if len(a) != len(b) {
		return fmt.Errorf("%d calls against %d", len(a), len(b))
	}
	epsilon, rho := 0.0, 0.0
	for i, c := range a {
		e, r, err := judgeCall(c, b[i])
		if err != nil {
			return fmt.Errorf("call %d, %s: %w", i, c.Mechanism, err)
		}
		epsilon, rho = epsilon+e, rho+r
	}
	const rounding = 1 + 1e-9
	if charged.Epsilon != dp.Unbounded && epsilon > charged.Epsilon.Float()*rounding {
		return fmt.Errorf("one person is worth epsilon %v, and %v was charged", epsilon, charged.Epsilon.Float())
	}
	if charged.Rho != dp.Unbounded && rho > charged.Rho.Float()*rounding {
		return fmt.Errorf("one person is worth rho %v, and %v was charged", rho, charged.Rho.Float())
	}
	return nil
}

// judgeCall returns what the difference of one call is worth.
func judgeCall(c, d mech.Call) (epsilon, rho float64, err error) {
	if c.Mechanism != d.Mechanism || c.Parameter.Cmp(d.Parameter) != 0 || c.Sensitivity.String() != d.Sensitivity.String() ||
		c.Scoring != d.Scoring || fmt.Sprint(c.Before) != fmt.Sprint(d.Before) {
		return 0, 0, fmt.Errorf("%v against %v", c, d)
	}
	x, y := slices.Clone(c.Values.Open()), slices.Clone(d.Values.Open())
	parameter, _ := c.Parameter.Float64()
	selected := 2 * float64(c.Scoring.Sensitivity) / parameter
	if c.Scoring.Monotone {
		selected /= 2
	}
	if strings.HasPrefix(c.Mechanism, "quantile") {
		slices.Sort(x)
		slices.Sort(y)
		if slices.Equal(x, y) {
			return 0, 0, nil
		}
		return selected, selected * selected / 8, nil
	}
	if len(x) != len(y) {
		return 0, 0, fmt.Errorf("%d values against %d", len(x), len(y))
	}
	var l1, l2, largest, up, down float64
	for i := range x {
		step := math.Abs(float64(x[i] - y[i]))
		l1, l2, largest = l1+step, l2+step*step, max(largest, step)
		up, down = max(up, float64(x[i]-y[i])), max(down, float64(y[i]-x[i]))
	}
	switch c.Sensitivity.Norm() {
	case dp.L1:
		if bound := c.Sensitivity.Float(); l1 > bound {
			return 0, 0, fmt.Errorf("one person moves it by more than %v", bound)
		}
		// What discrete Laplace noise costs in zCDP: see mech.NewLaplace.
		e, a := l1/parameter, 1/parameter
		if c.Before != nil { // the difference to the answer that it sharpens, which was judged before
			before, _ := c.Before.Float64()
			return e - l1/before, dp.RhoOfPure(e + l1/before), nil
		}
		return e, e + a/math.Sinh(a)*math.Expm1(-e), nil
	case dp.L2:
		if bound := c.Sensitivity.Float(); math.Sqrt(l2) > bound*(1+1e-12) {
			return 0, 0, fmt.Errorf("one person moves it by more than %v", bound)
		}
		return math.Inf(1), l2 / (2 * parameter), nil
	}
	switch {
	case largest > float64(c.Scoring.Sensitivity):
		return 0, 0, fmt.Errorf("one person moves a score by %v", largest)
	case c.Scoring.Monotone && up > 0 && down > 0:
		return 0, 0, fmt.Errorf("scores move both ways")
	case largest == 0:
		return 0, 0, nil
	}
	rounds := 1.0
	fmt.Sscanf(c.Mechanism, "top %f,", &rounds)
	if strings.Contains(c.Mechanism, "exponential") {
		return rounds * selected, rounds * selected * selected / 8, nil
	}
	return rounds * selected, rounds * dp.RhoOfPure(selected), nil
}
