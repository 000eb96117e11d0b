package curator

import (
	"context"
	"flag"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/engine/duckdb"
	"github.com/discreet-dp/discreet/internal/fiction"
	"github.com/discreet-dp/discreet/internal/ledger/scratch"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/plan/syntax"
	"github.com/discreet-dp/discreet/policy"
)

var search = flag.Duration("search", 0, "for how long TestSearchCosts looks for texts that are expensive to plan; 0 means not at all")

// What planning one text may take at one door, at most.
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
		s.doors = append(s.doors, newDoors(t, p))
	}
	for end := time.Now().Add(*search); time.Now().Before(end); {
		s.try(s.next())
	}
	t.Logf("%d texts were tried, %d of them can be asked", s.tried, s.planned)
	for _, w := range s.worst[:min(10, len(s.worst))] {
		t.Logf("%v, %d MB, %d bytes of text, at the door %s, %.80s\n%.600s", w.time.Round(time.Millisecond), w.bytes>>20, len(w.text),
			w.door, w.said, w.text)
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
	text, err := os.ReadFile("../plan/testdata/hospital.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// doors are all ways by which a text is planned.
type doors struct {
	*Curator
	dataset *policy.Dataset
	columns map[string][]string // of the table of people, by kind
	all     []string
	others  []string // the other tables
}

func newDoors(t *testing.T, text string) *doors {
	folder := t.TempDir()
	p, err := policy.Parse(filepath.Join(folder, "policy.yaml"), []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	made, err := fiction.Town(p.Datasets[p.Names()[0]], folder)
	if err != nil {
		t.Fatal(err)
	}
	e, err := duckdb.OpenWith(ctx, made, duckdb.Limits{Memory: 256_000_000, Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	d := &doors{Curator: New(made, e, scratch.New(), seeded(1)), dataset: made, columns: map[string][]string{}}
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

// plan plans a text at a door.
func (d *doors) plan(door, text string) (err error) {
	d.planner.cache = newPlanCache() // each pays for itself
	ctx, stop := context.WithTimeout(ctx, 5*time.Minute)
	defer stop()
	q := api.Question{Analyst: "ana", SQL: text}
	switch door {
	case "describe":
		_, err = d.Describe(ctx, q)
	case "explain":
		_, err = d.Explain(ctx, q)
	case "holdout":
		_, err = plan.PrepareHoldout(d.dataset, syntax.Open(text, nil), "", d.planner.Options(ctx, api.Settings{}))
	case "parameters":
		_, _, err = plan.Parameters(d.dataset, textOf(q))
	case "rows":
		if table, found := plan.PrepareTable(d.dataset, text, "n", d.planner.Options(ctx, api.Settings{})); found == nil {
			err = d.verifier.CheckTable(table)
		} else {
			err = found
		}
	}
	return err
}
