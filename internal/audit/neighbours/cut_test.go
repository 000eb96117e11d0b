package neighbours_test

import (
	"context"
	"testing"

	"github.com/discreet-dp/discreet/internal/audit/generate"
	"github.com/discreet-dp/discreet/internal/audit/neighbours"
	"github.com/discreet-dp/discreet/internal/engine"
	"github.com/discreet-dp/discreet/internal/engine/reference"
	"github.com/discreet-dp/discreet/policy"
)

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
		pairs := map[string]int{"reference": 280, "duckdb": 140}[name]
		r, err := neighbours.Replay(t.Context(), narrow(), neighbours.Options{Open: open, Seed: *seed, Pairs: pairs, Texts: joining})
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
	r, err := neighbours.Replay(t.Context(), narrow(), neighbours.Options{Open: open, Pairs: 1500, Texts: joining})
	if err != nil || len(r.Findings) == 0 {
		t.Errorf("not found among %d pairs: %v", r.Pairs, err)
	}
}
