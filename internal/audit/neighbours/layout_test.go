package neighbours_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/discreet-dp/discreet/internal/audit/attack"
	"github.com/discreet-dp/discreet/internal/audit/generate"
	"github.com/discreet-dp/discreet/internal/audit/neighbours"
	"github.com/discreet-dp/discreet/internal/detrand"
	"github.com/discreet-dp/discreet/internal/engine"
	"github.com/discreet-dp/discreet/internal/engine/duckdb"
	"github.com/discreet-dp/discreet/internal/plan/tree"
	"github.com/discreet-dp/discreet/policy"
)

// layout is how rows are stored and read.
type layout struct {
	kind   string // of file
	limits duckdb.Limits
}

func (l layout) String() string {
	return fmt.Sprintf("in %s, with %d threads and %d MB", l.kind, l.limits.Threads, l.limits.Memory/1_000_000)
}

func drawLayout(d generate.Dice) layout {
	return layout{detrand.Pick(d, []string{"duckdb", "duckdb", "parquet", "csv"}),
		duckdb.Limits{Threads: detrand.Pick(d, []int{1, 2, 4}), Memory: detrand.Pick(d, []int64{1 << 30, duckdb.MinMemory})}}
}

// stored writes a made-up database and opens it.
func (l layout) stored(ctx context.Context, dir string, db *generate.Database) (*duckdb.Engine, error) {
	if err := os.Mkdir(dir, 0o777); err != nil {
		return nil, err
	}
	ds := *db.Dataset
	ds.Source = filepath.Join(dir, "made.duckdb")
	statements := db.SQL()
	if l.kind != "duckdb" {
		ds.Tables = map[string]*policy.Table{}
		for name, t := range db.Dataset.Tables {
			own := *t
			own.Source, own.Delimiter = filepath.Join(dir, name+"."+l.kind), ','
			ds.Tables[name] = &own
			how := "(FORMAT parquet, ROW_GROUP_SIZE 3)"
			if l.kind == "csv" {
				how = "(HEADER, FORCE_QUOTE *)"
			}
			statements = append(statements, fmt.Sprintf("COPY %q TO '%s' %s", name, own.Source, how))
		}
	}
	if err := attack.Write(ctx, ds.Source, statements); err != nil {
		return nil, err
	}
	if l.kind != "duckdb" {
		ds.Source = ""
	}
	return duckdb.OpenWith(ctx, &ds, l.limits)
}

// layouts are the rows of a trial laid out otherwise. What a CSV file holds are texts, whose people
// are others than numbers, so there are two of them, of which first is in the trial's order.
type layouts struct {
	first, other engine.Engine
	layout       layout
}

// openLayouts stores the rows of a database.
func openLayouts(ctx context.Context, d generate.Dice, dir string, db *generate.Database) (layouts, []func() error, error) {
	out := layouts{layout: drawLayout(d)}
	var closers []func() error
	if out.layout.kind == "csv" {
		e, err := layout{"csv", duckdb.Limits{Threads: 1, Memory: 1 << 30}}.stored(ctx, filepath.Join(dir, "first"), db)
		if err != nil {
			return out, nil, err
		}
		out.first, closers = e, append(closers, e.Close)
	}
	e, err := out.layout.stored(ctx, filepath.Join(dir, "other"), db.Shuffled(d))
	if err != nil {
		return out, closers, err
	}
	out.other = e
	return out, append(closers, e.Close), nil
}

// query compares the results of a query, which are the same to the last integer.
func (l layouts) query(ctx context.Context, q *tree.Query, want *engine.Result) verdict {
	var failed error
	if l.first != nil {
		want, failed = run(ctx, l.first, q)
	}
	got, err := run(ctx, l.other, q)
	if failed != nil || err != nil {
		return found("layout", "%v: %v and %v", l.layout, failed, err)
	}
	if far, err := neighbours.Judge(q, want, got); far != 0 || err != nil {
		return found("layout", "%v: %v of what one person may, %v", l.layout, far, err)
	}
	return verdict{}
}

// table compares rows to train on.
func (l layouts) table(ctx context.Context, t *tree.Table, first engine.Engine) verdict {
	if l.first != nil {
		first = l.first
	}
	want, failed := fetched(ctx, first, t)
	got, err := fetched(ctx, l.other, t)
	if came, went := exchanged(want, got); failed != nil || err != nil || came+went > 0 {
		return found("layout", "%v: %d rows came and %d went, %v and %v", l.layout, came, went, failed, err)
	}
	return verdict{}
}
