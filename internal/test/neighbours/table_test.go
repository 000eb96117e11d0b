package neighbours_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/engine"
	"github.com/discreet-dp/discreet/internal/planner"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/internal/sealed"
	"github.com/discreet-dp/discreet/internal/test/daily"
	"github.com/discreet-dp/discreet/internal/test/generate"
	"github.com/discreet-dp/discreet/internal/test/neighbours"
	"github.com/discreet-dp/discreet/internal/test/reference"
	"github.com/discreet-dp/discreet/policy"
)

// fetched is the rows of a table with how often each is there.
func fetched(ctx context.Context, e engine.Engine, t *tree.Table) (map[string]int64, error) {
	out := map[string]int64{}
	_, err := e.Fetch(ctx, t, sealed.NewCollector(func(codes []int64) { out[fmt.Sprint(codes)]++ }))
	return out, err
}

// exchanged says how many rows came and how many went.
func exchanged(a, b map[string]int64) (came, went int64) {
	for row, n := range a {
		went += max(0, n-b[row])
	}
	for row, n := range b {
		came += max(0, n-a[row])
	}
	return came, went
}

// outside says which code of some rows is none of its column.
func outside(t *tree.Table, rows map[string]int64) string {
	for row := range rows {
		for i, code := range strings.Fields(strings.Trim(row, "[]")) {
			var n int64
			fmt.Sscan(code, &n)
			lo, hi, _ := t.Columns[i].Bounds()
			if t.Columns[i].Values != nil {
				lo = -1
			}
			if n != engine.Null && (n < lo || n > hi) {
				return fmt.Sprintf("column %d is %d, and not from %d to %d", i, n, lo, hi)
			}
		}
	}
	return ""
}

// judgeRows compares the rows of neighbours with what was promised about them. Judged is by whom: a
// planted engine may have cut to something else.
func judgeRows(ctx context.Context, engines [2]engine.Engine, judged, run *tree.Table) (moved bool, found string) {
	var rows [2]map[string]int64
	for i, e := range engines {
		var err error
		if rows[i], err = fetched(ctx, e, run); err != nil {
			return false, err.Error()
		}
		if wrong := outside(judged, rows[i]); wrong != "" {
			return true, wrong
		}
	}
	came, went := exchanged(rows[0], rows[1])
	switch most := judged.MaxRows(); {
	case came > most || went > most:
		return true, fmt.Sprintf("%d rows came and %d went, of a person who has %d at most", came, went, most)
	case judged.Neighbours == dp.AddRemove && came > 0 && went > 0:
		return true, fmt.Sprintf("%d rows came and %d went, of a person who was added or removed", came, went)
	}
	return came+went > 0, ""
}

// replayed fetches made-up tables of made-up neighbours, and returns what was found. Planted, where
// it is not nil, changes what an engine fetches.
func replayed(
	t *testing.T, ds *policy.Dataset, open neighbours.Opener, databases int, planted func(*policy.Dataset),
) (asked, moved int, found []string) {
	made := generate.Make(generate.NewDice("language", max(1, *seed)), ds)
	maker := generate.NewMaker(ds, planner.Options{Public: reference.New(ds, made.Tables).Public()})
	for n := range databases {
		d := generate.NewDice(fmt.Sprint("tables ", n), max(1, *seed))
		a := generate.Make(d, ds)
		b, ok := a.Neighbour(d)
		if !ok {
			continue
		}
		var engines [2]engine.Engine
		for i, db := range []*generate.Database{a, b} {
			e, closed, err := open(t.Context(), db)
			if err != nil {
				t.Fatal(err)
			}
			defer closed()
			engines[i] = e
		}
		options := planner.Options{Public: reference.New(ds, a.Tables).Public()}
		for range 150 {
			features, target := maker.Table(d)
			judged, err := planner.PrepareTable(ds, features, target, options)
			if err != nil {
				continue
			}
			run := judged
			if planted != nil {
				if run, err = planner.PrepareTable(changed(ds, planted), features, target, options); err != nil {
					continue
				}
			}
			asked++
			far, wrong := judgeRows(t.Context(), engines, judged, run)
			if far {
				moved++
			}
			if wrong != "" {
				if found = append(found, features+" => "+target+"\n"+wrong); len(found) > 2 {
					return asked, moved, found
				}
			}
		}
	}
	return asked, moved, found
}

func changed(ds *policy.Dataset, change func(*policy.Dataset)) *policy.Dataset {
	out := *ds
	out.Tables = map[string]*policy.Table{}
	for name, t := range ds.Tables {
		copied := *t
		out.Tables[name] = &copied
	}
	change(&out)
	return &out
}

// TestTables: neighbouring databases have tables that differ in the rows of one person, MaxRows of
// them at most.
func TestTables(t *testing.T) {
	for name, open := range map[string]neighbours.Opener{"reference": neighbours.Reference, "duckdb": inDuckDB(t)} {
		databases := map[string]int{"reference": daily.Rounds(2, 4), "duckdb": daily.Rounds(1, 2)}[name]
		for _, ds := range daily.Sample(t, generate.Worlds(), 2) {
			t.Run(name+"/"+ds.Name, func(t *testing.T) {
				asked, moved, found := replayed(t, ds, open, databases, nil)
				for _, f := range found {
					t.Error(f)
				}
				t.Logf("%d tables, %d of them apart", asked, moved)
				if asked < 10*databases || moved < databases {
					t.Error("too few for a test")
				}
			})
		}
	}
}

// TestPlantedTables: an engine that cuts nobody is found, and one that cuts by what others have,
// too.
func TestPlantedTables(t *testing.T) {
	uncut := func(ds *policy.Dataset) {
		for _, table := range ds.Tables {
			if table.UnitKind == policy.Many {
				table.MaxRows = 1000
			}
		}
	}
	byOthers := func(_ context.Context, db *generate.Database) (engine.Engine, func() error, error) {
		e := reference.New(db.Dataset, db.Tables)
		honest := e.Order
		e.Order = func(hash, person, what string) uint64 { return honest(hash+fmt.Sprint(db.Rows()), person, what) }
		return e, func() error { return nil }, nil
	}
	for name, c := range map[string]struct {
		open    neighbours.Opener
		planted func(*policy.Dataset)
	}{
		"nobody is cut":                    {neighbours.Reference, uncut},
		"nobody is cut in DuckDB":          {inDuckDB(t), uncut},
		"what others have decides":         {byOthers, nil},
		"NULL is as good as no row at all": {nullLeft, nil},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "NULL is as good as no row at all" {
				if !disagrees(t, c.open) {
					t.Error("not found")
				}
				return
			}
			for _, ds := range generate.Worlds() {
				if _, _, found := replayed(t, ds, c.open, 6, c.planted); len(found) > 0 {
					t.Log(found[0])
					return
				}
			}
			t.Error("not found")
		})
	}
}

// generous has limits that nobody reaches.
func generous() []*policy.Dataset {
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
	}
	return worlds
}

// agreed compares an engine with the reference where nobody is cut.
func agreed(t *testing.T, ds *policy.Dataset, open neighbours.Opener, databases int) (asked, rows int, found []string) {
	made := generate.Make(generate.NewDice("language", max(1, *seed)), ds)
	maker := generate.NewMaker(ds, planner.Options{Public: reference.New(ds, made.Tables).Public()})
	for n := range databases {
		d := generate.NewDice(fmt.Sprint("agreed ", n), max(1, *seed))
		db := generate.Make(d, ds)
		e, closed, err := open(t.Context(), db)
		if err != nil {
			t.Fatal(err)
		}
		defer closed()
		ref := reference.New(ds, db.Tables)
		for range 200 {
			features, target := maker.Table(d)
			table, err := planner.PrepareTable(ds, features, target, planner.Options{Public: ref.Public()})
			if err != nil {
				continue
			}
			want, err := fetched(t.Context(), ref, table)
			if err != nil {
				t.Fatal(err)
			}
			got, err := fetched(t.Context(), e, table)
			asked, rows = asked+1, rows+len(want)
			if came, went := exchanged(want, got); err != nil || came+went > 0 {
				found = append(found, fmt.Sprintf("%s => %s\n%v, %d rows are too many and %d are missing\n%v\n%v", features, target, err,
					came, went, slices.Sorted(maps.Keys(want)), slices.Sorted(maps.Keys(got))))
			}
		}
	}
	return asked, rows, found
}

// TestTablesAgree compares DuckDB with the reference, exactly.
func TestTablesAgree(t *testing.T) {
	for _, ds := range daily.Sample(t, generous(), 1) {
		t.Run(ds.Name, func(t *testing.T) {
			asked, rows, found := agreed(t, ds, inDuckDB(t), 2)
			for _, f := range found {
				t.Error(f)
			}
			t.Logf("%d tables, %d different rows", asked, rows)
			if asked < 40 || rows < 100 {
				t.Error("too few for a test")
			}
		})
	}
}

type nullAs struct {
	engine.Engine
	code int64
}

func (n nullAs) Fetch(ctx context.Context, t *tree.Table, into engine.Collector) (engine.ReadFrom, error) {
	return n.Engine.Fetch(ctx, t, sealed.NewCollector(func(codes []int64) {
		for i := range codes {
			if codes[i] == engine.Null {
				codes[i] = n.code
			}
		}
		into.Add(codes)
	}))
}

func nullLeft(ctx context.Context, db *generate.Database) (engine.Engine, func() error, error) {
	return nullAs{reference.New(db.Dataset, db.Tables), 0}, func() error { return nil }, nil
}

// disagrees reports whether an engine is found to disagree with the reference.
func disagrees(t *testing.T, open neighbours.Opener) bool {
	for _, ds := range generous() {
		if _, _, found := agreed(t, ds, open, 2); len(found) > 0 {
			t.Log(found[0][:min(300, len(found[0]))])
			return true
		}
	}
	return false
}
