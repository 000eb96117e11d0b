package neighbours_test

import (
	"context"
	"flag"
	"math/big"
	"os"
	"runtime/debug"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/engine"
	"github.com/discreet-dp/discreet/internal/planner"
	"github.com/discreet-dp/discreet/internal/test/daily"
	"github.com/discreet-dp/discreet/internal/test/generate"
	"github.com/discreet-dp/discreet/internal/test/neighbours"
	"github.com/discreet-dp/discreet/internal/test/reference"
	"github.com/discreet-dp/discreet/policy"
)

// TestMain lets garbage lie longer: plans of thousands of questions are made and dropped, and a
// fifth of the time went into looking for what is still used.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	os.Exit(m.Run())
}

var (
	pairs = flag.Int("pairs", 0, "how many pairs of neighbours are compared; 0 for 250, or 4000 with -full")
	seed  = flag.Uint64("seed", 0, "which ones; 0 for others every day, or 1 with -full")
)

// chosen returns a flag's number, or what is usual where it is 0.
func chosen(n *int, few, many int) int {
	if *n > 0 {
		return *n
	}
	return daily.Rounds(few, many)
}

func seedOf(t *testing.T) uint64 {
	t.Helper()
	if *seed == 0 && !daily.Full() {
		return uint64(1 + daily.Choices(t).Below(1_000_000))
	}
	return max(1, *seed)
}

// openers are the engines that are put to the test.
var openers = map[string]func(*testing.T) neighbours.Opener{
	"reference": func(*testing.T) neighbours.Opener { return neighbours.Reference },
}

// TestNeighbours searches for a question with which one person moves more than the noise hides.
func TestNeighbours(t *testing.T) {
	worlds := generate.Worlds()
	for _, ds := range worlds {
		t.Run(ds.Name, func(t *testing.T) {
			t.Parallel()
			start := time.Now()
			n := chosen(pairs, 250, 4000) / len(worlds)
			if testing.Short() {
				n = min(n, 200)
			}
			asked, moved, worst := 0, 0, 0.0
			soft := func() bool { return moved < asked/daily.Rounds(20, 10) || worst < 1 }
			for try := range uint64(4) { // some days begin with people who move little
				r, err := neighbours.Replay(t.Context(), ds, neighbours.Options{Seed: seedOf(t) + try, Pairs: n})
				if err != nil {
					t.Fatal(err)
				}
				t.Logf("%d pairs, %d of them apart, %d refused, the farthest %.3g of what is allowed, %v", r.Pairs, r.Moved, r.Refused,
					r.Worst, time.Since(start))
				for _, f := range r.Findings {
					t.Errorf("%s\n%s", f.Subject, f.Detail)
				}
				if asked, moved, worst = asked+r.Pairs, moved+r.Moved, max(worst, r.Worst); !soft() || t.Failed() {
					break
				}
			}
			if soft() && !t.Failed() {
				t.Errorf("the search is too soft: %d of %d pairs are apart, and the farthest is %v", moved, asked, worst)
			}
		})
	}
}

var duck = flag.Int("duckdb", 0, "how many pairs of neighbours are compared with DuckDB; 0 for 25, or 300 with -full")

func init() { openers["duckdb"] = inDuckDB }

// inDuckDB stores a made-up database and opens it.
func inDuckDB(t *testing.T) neighbours.Opener {
	return func(ctx context.Context, db *generate.Database) (engine.Engine, func() error, error) {
		e, err := stored(ctx, t.TempDir(), db)
		if err != nil {
			return nil, nil, err
		}
		return e, e.Close, nil
	}
}

// TestDuckDB searches for a question with which one person moves what DuckDB computes by more than
// the noise hides.
func TestDuckDB(t *testing.T) {
	worlds := generate.Worlds()
	for _, ds := range worlds {
		t.Run(ds.Name, func(t *testing.T) {
			r, err := neighbours.Replay(t.Context(), ds,
				neighbours.Options{Open: inDuckDB(t), Seed: seedOf(t), Pairs: chosen(duck, 25, 300) / len(worlds), Questions: 40})
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%d pairs, %d of them apart, %d refused, the farthest %.3g of what is allowed", r.Pairs, r.Moved, r.Refused, r.Worst)
			for _, f := range r.Findings {
				t.Errorf("%s\n%s", f.Subject, f.Detail)
			}
		})
	}
}

// TestAgreement compares DuckDB with the reference, exactly, where nobody is cut: the limits are
// out of reach.
func TestAgreement(t *testing.T) {
	worlds := generate.Worlds()
	for _, ds := range worlds {
		for _, table := range ds.Tables {
			if table.UnitKind == policy.Many {
				table.MaxRows, table.MaxGroups = 100_000, 100_000
			}
			if table.Public {
				table.MaxRows = 1000
			}
		}
		t.Run(ds.Name, func(t *testing.T) {
			r, err := neighbours.Agree(t.Context(), ds,
				neighbours.Options{Open: inDuckDB(t), Seed: seedOf(t), Pairs: chosen(duck, 25, 300) / len(worlds), Questions: 40})
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%d questions, %d refused", r.Pairs, r.Refused)
			for _, f := range r.Findings {
				t.Errorf("%s\n%s", f.Subject, f.Detail)
			}
		})
	}
}

// joining are questions that multiply rows of a person, on the policy of a clinic.
var joining = []string{
	"SELECT COUNT(*), SUM(a.cost + b.cost) FROM visits a JOIN visits b ON a.pid = b.pid",
	"SELECT a.ward, COUNT(*) FROM visits a LEFT JOIN visits b ON a.pid = b.pid AND a.day < b.day GROUP BY a.ward",
	"SELECT SUM(a.cost) FROM visits a WHERE EXISTS (SELECT 1 FROM visits b WHERE b.pid = a.pid AND b.day > a.day)",
	"SELECT COUNT(DISTINCT v.code), SUM(l.value) FROM visits v JOIN labs l ON l.person = v.pid AND l.value >= v.code",
	"SELECT COUNT(*) FROM (SELECT v.pid, COUNT(*) AS n, SUM(o.total) AS s FROM visits v JOIN orders o ON o.buyer = v.pid GROUP BY v.pid) " +
		"t WHERE n > 1 AND s > 2",
	"SELECT SUM(i.price) FROM items i JOIN orders o ON o.oid = i.oid JOIN rates r ON r.rate < o.total",
	"SELECT SUM(CASE WHEN v.cost IN (SELECT w.cost + v.code FROM visits w WHERE w.pid = v.pid) THEN v.code ELSE 0 END) FROM visits v",
}

// narrow is a clinic in which few rows of a person are joined.
func narrow() *policy.Dataset {
	ds := generate.Worlds()[0]
	for _, t := range ds.Tables {
		if t.UnitKind == policy.Many {
			t.MaxJoined = 2
		}
	}
	return ds
}

// TestCuts: cutting a person before a join moves nothing further than claimed, on either engine.
func TestCuts(t *testing.T) {
	for name, open := range map[string]neighbours.Opener{"reference": neighbours.Reference, "duckdb": inDuckDB(t)} {
		pairs := map[string]int{"reference": daily.Rounds(40, 280), "duckdb": daily.Rounds(20, 140)}[name]
		r, err := neighbours.Replay(t.Context(), narrow(), neighbours.Options{Open: open, Seed: seedOf(t), Pairs: pairs,
			Texts: joining})
		if err != nil {
			t.Fatal(err)
		}
		if r.Refused > 0 || r.Moved < r.Pairs/20 {
			t.Errorf("%s: %d refused, %d of %d apart", name, r.Refused, r.Moved, r.Pairs)
		}
		for _, f := range r.Findings {
			t.Errorf("%s: %s\n%s", name, f.Subject, f.Detail)
		}
	}
}

// TestPlantedCut: a cut that looks at other people is found.
func TestPlantedCut(t *testing.T) {
	open := func(_ context.Context, db *generate.Database) (engine.Engine, func() error, error) {
		e := reference.New(db.Dataset, db.Tables)
		good := e.Order
		e.Order = func(hash, person, what string) uint64 { return good(hash, string(rune(db.Rows()))+person, what) }
		return e, func() error { return nil }, nil
	}
	r, err := neighbours.Replay(t.Context(), narrow(), neighbours.Options{Open: open, Pairs: 1500, Texts: joining, Findings: 1})
	if err != nil || len(r.Findings) == 0 {
		t.Errorf("not found among %d pairs: %v", r.Pairs, err)
	}
}

// TestTwins: where every row is a person, equal rows at the same place of two tables are two
// people. Were they taken for one, their sums would be clamped together, and who is left without
// the other would move from one end to the other.
func TestTwins(t *testing.T) {
	number := func(name string) map[string]*policy.Column {
		return map[string]*policy.Column{name: {Name: name, Type: policy.Integer, Nullable: true, Granularity: big.NewRat(1, 1),
			Bounds: &policy.Bounds{Lo: big.NewRat(-5, 1), Hi: big.NewRat(5, 1), LoSteps: -5, HiSteps: 5}}}
	}
	ds := &policy.Dataset{Name: "twins", Engine: "duckdb", Tables: map[string]*policy.Table{
		"north": {Name: "north", UnitKind: policy.Row, MaxRows: 1, MaxGroups: 1, Columns: number("x")},
		"south": {Name: "south", UnitKind: policy.Row, MaxRows: 1, MaxGroups: 1, Columns: number("x")},
		"three": {Name: "three", Public: true, UnitKind: policy.NoUnit, MaxRows: 1, MaxGroups: 1, Columns: number("k")},
	}}
	made := func(south ...[]any) *generate.Database {
		return &generate.Database{Dataset: ds, Tables: map[string]reference.Table{
			"north": {Columns: []string{"x"}, Rows: [][]any{{int64(5)}}},
			"south": {Columns: []string{"x"}, Rows: south},
			"three": {Columns: []string{"k"}, Rows: [][]any{{int64(1)}, {int64(2)}, {int64(3)}}},
		}}
	}
	s, err := planner.Prepare(ds, "SELECT SUM(t.x) FROM (SELECT x FROM north UNION ALL SELECT -2 * x FROM south) AS t "+
		"CROSS JOIN three", planner.Options{})
	if err != nil {
		t.Fatal(err)
	}
	q := &s.Plans[0].Query
	for name, opener := range openers {
		open := opener(t)
		a, closeA, err := open(t.Context(), made([]any{int64(5)}))
		if err != nil {
			t.Fatal(err)
		}
		b, closeB, err := open(t.Context(), made())
		if err != nil {
			t.Fatal(err)
		}
		x, err1 := a.Run(t.Context(), q)
		y, err2 := b.Run(t.Context(), q)
		if err1 != nil || err2 != nil {
			t.Fatal(name, err1, err2)
		}
		if _, err := neighbours.Judge(q, x, y); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := closeA(); err != nil {
			t.Error(err)
		}
		if err := closeB(); err != nil {
			t.Error(err)
		}
	}
}
