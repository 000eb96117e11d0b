package duckdb

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/policy"
)

// TestStore stores random tables by person and asks them the same questions.
func TestStore(t *testing.T) {
	asked := 0
	rapid.Check(t, func(rt *rapid.T) {
		folder := t.TempDir()
		s := drawShape(rt)
		s.kind = policy.Many // others are not stored
		e, _ := drawTable(rt, t, folder, s, 60)
		defer e.Close()
		stored, err := Store(t.Context(), e.dataset, filepath.Join(folder, "by person"), func(string, float64) {})
		if err != nil || len(stored) != 1 {
			rt.Fatal(stored, err)
		}
		other := *e.dataset
		other.Source = stored[0].File
		f, err := Open(t.Context(), &other)
		if err != nil {
			rt.Fatal(err)
		}
		defer f.Close()
		for range 12 {
			text := drawQuestion(rt)
			p, err := prepareOne(e.dataset, text)
			if err != nil {
				continue
			}
			want, err := e.Run(t.Context(), &p.Query)
			if err != nil {
				rt.Fatal(err)
			}
			got, err := f.Run(t.Context(), &p.Query)
			if err != nil {
				rt.Fatalf("%s: %v", text, why(t, f, &p.Query))
			}
			if opened(got) != opened(want) {
				rt.Fatalf("%s: %s, and stored by person %s", text, opened(want), opened(got))
			}
			asked++
		}
	})
	t.Logf("%d questions", asked)
	if !testing.Short() && asked < 100 {
		t.Error("too few questions for a test")
	}
}

const lattice = "source: %s\nunit: t.u\ntables:\n  t:\n    max_rows: 2\n    max_groups: 1\n    columns:\n      d: {type: decimal, " +
	"bounds: [%s], granularity: %s}\n"

// TestStoredAndChanged: a file that was stored under another policy is refused where it has lost
// something, and read where it has not.
func TestStoredAndChanged(t *testing.T) {
	folder := t.TempDir()
	write(t, folder, "t.csv", "u,d\n1,0.126\n1,5\n2,-7\n,1\n2,0.5\n")
	ds := dataset(t, folder, fmt.Sprintf(lattice, "t.csv", "-2, 4", "0.01"))
	want := fmt.Sprint(ask(t, open(t, ds), "SELECT SUM(d) FROM t"))
	stored, err := Store(t.Context(), ds, filepath.Join(folder, "p"), func(string, float64) {})
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(stored[0].File); err != nil || info.Mode().Perm() != 0o600 {
		t.Error("others can read it", err)
	}
	for _, c := range []struct {
		bounds, step string
		ok           bool
	}{{"-2, 4", "0.01", true}, {"-1, 3", "0.01", true}, {"-2, 5", "0.01", false}, {"-3, 4", "0.01", false}, {"-2, 4", "0.1", false},
		{"-2, 4", "0.001", false}} {
		now := dataset(t, folder, fmt.Sprintf(lattice, "p/t.parquet", c.bounds, c.step))
		e, err := Open(t.Context(), now)
		if (err == nil) != c.ok {
			t.Errorf("%v: %v", c, err)
		}
		if err != nil {
			if !strings.Contains(err.Error(), "discreet prepare") {
				t.Error(err)
			}
			continue
		}
		if got := fmt.Sprint(ask(t, e, "SELECT SUM(d) FROM t")); c.bounds == "-2, 4" && got != want {
			t.Errorf("%s, and it was %s", got, want)
		}
		e.Close()
	}
	if _, err := Store(t.Context(), ds, filepath.Join(folder, "p"), func(string, float64) {}); err == nil ||
		!strings.Contains(err.Error(), "exists already") {
		t.Error("it was overwritten:", err)
	}
	// Stopped, it leaves nothing behind.
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Store(ctx, ds, filepath.Join(folder, "q"), func(string, float64) {}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if left, _ := filepath.Glob(filepath.Join(folder, "q", "*")); len(left) > 0 {
		t.Error(left)
	}
}

// TestStoredIsClustered reads a file that was stored by person once.
func TestStoredIsClustered(t *testing.T) {
	folder := t.TempDir()
	for _, unit := range []string{"hash(i) % 5000", "'person ' || (hash(i) % 5000)"} {
		path := filepath.Join(folder, "d.duckdb")
		os.Remove(path)
		owner(t, path, "CREATE TABLE t AS SELECT "+unit+" AS u FROM range(400000) r(i)")
		text := "source: %s\nunit: t.u\ntables:\n  t:\n    max_rows: 2\n    max_groups: 1\n    columns: {}\n"
		stored, err := Store(t.Context(), dataset(t, folder, fmt.Sprintf(text, "d.duckdb")), t.TempDir(), func(string, float64) {})
		if err != nil {
			t.Fatal(err)
		}
		ds := dataset(t, folder, fmt.Sprintf(text, stored[0].File))
		e := open(t, ds)
		b, err := e.now.newBounded(bothOf(prepare(t, ds, "SELECT COUNT(*) FROM t")))
		if err != nil {
			t.Fatal(err)
		}
		defer b.close()
		passes := 0
		got, err := b.runWith(t.Context(), e.now.source, func() { passes++ })
		if err != nil || passes != 1 || fmt.Sprint(got) != "[[10000]]" {
			t.Error(got, passes, err)
		}
	}
}
