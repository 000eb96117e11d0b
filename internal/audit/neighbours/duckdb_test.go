package neighbours_test

import (
	"context"
	"flag"
	"testing"

	"github.com/discreet-dp/discreet/internal/audit/generate"
	"github.com/discreet-dp/discreet/internal/audit/neighbours"
	"github.com/discreet-dp/discreet/internal/engine"
	"github.com/discreet-dp/discreet/policy"
)

var duck = flag.Int("duckdb", 300, "how many pairs of neighbours are compared with DuckDB")

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
				neighbours.Options{Open: inDuckDB(t), Seed: *seed, Pairs: *duck / len(worlds), Questions: 40})
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
				neighbours.Options{Open: inDuckDB(t), Seed: *seed, Pairs: *duck / len(worlds), Questions: 40})
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
