package neighbours_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/discreet-dp/discreet/internal/detrand"
	"github.com/discreet-dp/discreet/internal/engine"
	"github.com/discreet-dp/discreet/internal/engine/duckdb"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/internal/test/generate"
	"github.com/discreet-dp/discreet/internal/test/neighbours"
	"github.com/discreet-dp/discreet/internal/test/storekinds"
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
			how := "(FORMAT parquet, ROW_GROUP_SIZE 64)"
			if l.kind == "csv" {
				how = "(HEADER, FORCE_QUOTE *)"
			}
			statements = append(statements, fmt.Sprintf("COPY %q TO '%s' %s", name, own.Source, how))
		}
	}
	if err := storekinds.Write(ctx, ds.Source, statements); err != nil {
		return nil, err
	}
	if l.kind != "duckdb" {
		ds.Source = ""
	}
	return duckdb.OpenWith(ctx, &ds, l.limits)
}

// layouts are the same rows, laid out in two ways.
type layouts struct {
	first, other engine.Engine
	layout       layout // of the other
}

// openLayouts stores a database, with a crowd of people beside those whom others compare: the
// reference would take long about them. What a CSV file holds are texts, and they name other people
// than numbers do, so it is compared with another one.
func openLayouts(ctx context.Context, d generate.Dice, dir string, db *generate.Database) (out layouts, closers []func() error, err error) {
	out.layout = drawLayout(d)
	db = db.Crowded(d)
	first := layout{"duckdb", duckdb.Limits{Threads: 1, Memory: 1 << 30}}
	if out.layout.kind == "csv" {
		first.kind = "csv"
	}
	open := func(l layout, name string, db *generate.Database) engine.Engine {
		if err != nil {
			return nil
		}
		var e *duckdb.Engine
		if e, err = l.stored(ctx, filepath.Join(dir, name), db); err == nil {
			closers = append(closers, e.Close)
		}
		return e
	}
	out.first, out.other = open(first, "first", db), open(out.layout, "other", db.Shuffled(d))
	return out, closers, err
}

// query compares the results of a query, which are the same to the last integer.
func (l layouts) query(ctx context.Context, q *tree.Query) verdict {
	want, failed := run(ctx, l.first, q)
	got, err := run(ctx, l.other, q)
	if failed != nil || err != nil {
		return found("layout", "%v: %v and %v", l.layout, failed, err)
	}
	if far, err := neighbours.Judge(q, want, got); far != 0 || err != nil {
		return found("layout", "%v: %v of what one person may, %v", l.layout, far, err)
	}
	return verdict{}
}

func (l layouts) table(ctx context.Context, t *tree.Table) verdict {
	want, failed := fetched(ctx, l.first, t)
	got, err := fetched(ctx, l.other, t)
	if came, went := exchanged(want, got); failed != nil || err != nil || came+went > 0 {
		return found("layout", "%v: %d rows came and %d went, %v and %v", l.layout, came, went, failed, err)
	}
	return verdict{}
}
