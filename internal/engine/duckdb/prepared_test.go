package duckdb

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/internal/test/daily"
	"github.com/discreet-dp/discreet/policy"
	"github.com/discreet-dp/discreet/store"
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
		f, err := Open(t.Context(), preparedIn(e.dataset, stored))
		if err != nil {
			rt.Fatal(err)
		}
		defer f.Close()
		if was, now := versionOf(t, e), versionOf(t, f); was != now {
			rt.Fatal("it is another version of the data, and what was answered is forgotten", was, now)
		}
		for range rounds(3, 12) {
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
				rt.Fatalf("%s: %v", text, runAgain(t, f, &p.Query))
			}
			if opened(got) != opened(want) {
				rt.Fatalf("%s: %s, and stored by person %s", text, opened(want), opened(got))
			}
			asked++
		}
	})
	t.Logf("%d questions", asked)
	if !testing.Short() && asked < rounds(3, 100) {
		t.Error("too few questions for a test")
	}
}

// preparedIn is a dataset of which tables are stored by person.
func preparedIn(ds *policy.Dataset, stored []Stored) *policy.Dataset {
	out := withoutPrepared(ds)
	for _, s := range stored {
		out.Tables[s.Table].Prepared = s.File
	}
	return out
}

func versionOf(t testing.TB, e *Engine) store.Version {
	t.Helper()
	v := must(e.Version(t.Context()))(t)
	return v
}

func silent(string, float64) {}

const lattice = "source: t.csv\nunit: t.u\ntables:\n  t:\n    max_rows: 2\n    max_groups: 1\n    prepared: p/t.duckdb\n    columns:\n" +
	"      d: {type: decimal, bounds: [%s], granularity: %s}\n"

// TestStoredAndChanged: a file that was stored under another policy is refused where it has lost
// something, and read where it has not.
func TestStoredAndChanged(t *testing.T) {
	folder := t.TempDir()
	write(t, folder, "t.csv", "u,d\n1,0.126\n1,5\n2,-7\n,1\n2,0.5\n")
	ds := dataset(t, folder, fmt.Sprintf(lattice, "-2, 4", "0.01"))
	want := fmt.Sprint(ask(t, open(t, withoutPrepared(ds)), "SELECT SUM(d) FROM t"))
	stored := must(Store(t.Context(), ds, "", silent))(t)
	if info, err := os.Stat(stored[0].File); err != nil || info.Mode().Perm() != 0o600 || stored[0].File != ds.Tables["t"].Prepared {
		t.Error("others can read it, or it is elsewhere", err)
	}
	for _, c := range []struct {
		bounds, step string
		ok           bool
	}{{"-2, 4", "0.01", true}, {"-1, 3", "0.01", true}, {"-2, 5", "0.01", false}, {"-3, 4", "0.01", false}, {"-2, 4", "0.1", false},
		{"-2, 4", "0.001", false}} {
		now := dataset(t, folder, fmt.Sprintf(lattice, c.bounds, c.step))
		_, _, checked := Inspect(t.Context(), now)
		e, err := Open(t.Context(), now)
		if (err == nil) != c.ok || (checked == nil) != c.ok {
			t.Errorf("%v: %v, %v", c, err, checked)
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
}

// TestStoredOfChangedSource: where the source changes the prepared file is refused, also while
// questions are asked, until it is prepared again or the source is what it was.
func TestStoredOfChangedSource(t *testing.T) {
	const first, second = "u,d\n1,1\n2,2\n", "u,d\n1,1\n2,2\n3,3\n"
	folder := t.TempDir()
	ds := dataset(t, folder, fmt.Sprintf(lattice, "-2, 4", "1"))
	prepare := func() {
		t.Helper()
		must(Store(t.Context(), ds, "", silent))(t)
	}
	write(t, folder, "t.csv", first)
	if _, err := Open(t.Context(), ds); err == nil || !strings.Contains(err.Error(), "run 'discreet prepare'") {
		t.Error("there is no prepared file:", err)
	}
	prepare()
	e := open(t, ds)
	before := versionOf(t, e)
	write(t, folder, "t.csv", second)
	if _, err := e.Version(t.Context()); err == nil || !strings.Contains(err.Error(), "has changed") {
		t.Error("the source has changed:", err)
	}
	if _, err := Open(t.Context(), ds); err == nil || !strings.Contains(err.Error(), "run 'discreet prepare' again") {
		t.Error(err)
	}
	write(t, folder, "t.csv", first) // other times, the same contents
	if got := versionOf(t, e); got != before {
		t.Error("the same data is another version")
	}
	write(t, folder, "t.csv", second)
	prepare()
	if got := versionOf(t, e); got == before {
		t.Error("other data is the same version")
	}
	const sum = "SELECT SUM(d) FROM t"
	if got := fmt.Sprint(ask(t, e, sum)); got != fmt.Sprint(ask(t, open(t, withoutPrepared(ds)), sum)) {
		t.Error(got)
	}
	// A table of a database is as new as the database.
	owner(t, filepath.Join(folder, "d.duckdb"), "CREATE TABLE t AS SELECT 1 AS u, 2.0 AS d")
	ds = dataset(t, folder, strings.Replace(fmt.Sprintf(lattice, "-2, 4", "1"), "t.csv", "d.duckdb", 1))
	if _, err := Open(t.Context(), ds); err == nil {
		t.Error("it was prepared from another file")
	}
	prepare()
	open(t, ds).Close()
	owner(t, filepath.Join(folder, "d.duckdb"), "INSERT INTO t VALUES (2, 2)")
	if _, err := Open(t.Context(), ds); err == nil || !strings.Contains(err.Error(), "has changed") {
		t.Error(err)
	}
}

// TestStoreReplaces: a prepared file is replaced as a whole or not at all, and nothing else is.
func TestStoreReplaces(t *testing.T) {
	folder := t.TempDir()
	write(t, folder, "t.csv", "u,d\n1,1\n")
	ds := dataset(t, folder, fmt.Sprintf(lattice, "-2, 4", "1"))
	path := ds.Tables["t"].Prepared
	left := func() string {
		all, _ := os.ReadDir(filepath.Dir(path))
		return fmt.Sprint(all)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Store(ctx, ds, "", silent); !errors.Is(err, context.Canceled) || left() != "[]" {
		t.Error("it was stopped:", err, left())
	}
	must(Store(t.Context(), ds, "", silent))(t)
	// The source changes while it is stored again, and what was there stays.
	before, _ := os.ReadFile(path)
	changed := func(string, float64) { write(t, folder, "t.csv", "u,d\n1,2\n") }
	if _, err := Store(t.Context(), ds, "", changed); err == nil || !strings.Contains(err.Error(), "while it was being stored") {
		t.Error("it was stored of two sources:", err)
	}
	if now, _ := os.ReadFile(path); len(now) == 0 || string(now) != string(before) {
		t.Error("it was replaced by what does not hold")
	}
	if _, err := Store(t.Context(), ds, "", silent); err != nil {
		t.Error("it is not replaced:", err)
	}
	open(t, ds).Close()
	if left() != "[- t.duckdb]" {
		t.Error("something is left:", left())
	}
	// What is not ours stays.
	write(t, filepath.Dir(path), filepath.Base(path), "mine")
	if _, err := Store(t.Context(), ds, "", silent); err == nil || !strings.Contains(err.Error(), "already exists") {
		t.Error(err)
	}
	os.Remove(path)
	owner(t, path, "CREATE TABLE mine AS SELECT 1")
	if _, err := Store(t.Context(), ds, "", silent); err == nil || !strings.Contains(err.Error(), "already exists") {
		t.Error(err)
	}
	if _, err := Open(t.Context(), ds); err == nil || !strings.Contains(err.Error(), "is not a file that") {
		t.Error(err)
	}
}

// named is a table whose people are of a type, with several of their groups.
const named = "CREATE TABLE t AS SELECT CAST(%s AS %s) AS u, CASE WHEN i %% 11 = 0 THEN NULL ELSE 'k' || (hash(i) %% 9) END AS k, " +
	"hash(i + 1) %% 100 AS v FROM range(60000) r(i)"

// TestStoredNames: people who are no integers have numbers in a prepared file, and keep the groups
// that they keep in the source.
func TestStoredNames(t *testing.T) {
	units := map[string]string{
		"VARCHAR": "'somebody ' || (hash(i) % 5000)", "BLOB": "encode('x' || (hash(i) % 5000))", "HUGEINT": "hash(i) % 5000",
		"UUID":          "md5(CAST(hash(i) % 5000 AS VARCHAR))",
		"DECIMAL(9,2)":  "hash(i) % 5000 / 4",
		"ENUM('a','b')": "CASE WHEN i % 2 = 0 THEN 'a' ELSE 'b' END",
		"BIGINT":        "hash(i) % 5000",
	}
	for _, typ := range daily.Sample(t, slices.Sorted(maps.Keys(units)), 2) {
		unit := units[typ]
		t.Run(typ, func(t *testing.T) {
			folder := t.TempDir()
			owner(t, filepath.Join(folder, "d.duckdb"), fmt.Sprintf(named, unit, typ))
			ds := dataset(t, folder, "source: d.duckdb\nunit: t.u\ntables:\n  t:\n    max_rows: 2\n    max_groups: 2\n"+
				"    columns:\n      k: {type: text, keys: [k7, k1, never, k2, null, k5]}\n"+
				"      v: {type: integer, bounds: [0, 90], keys: [1, 2, 50, 90]}\n")
			stored := must(Store(t.Context(), ds, folder, silent))(t)
			source, prepared := open(t, ds), open(t, preparedIn(ds, stored))
			if n := prepared.now.tables["t"].names; (n != nil) != isNamed(typ) || n != nil && len(n.ends) == 0 {
				t.Error("nobody has a number, or everybody")
			}
			for _, text := range daily.Sample(t, []string{"SELECT k, COUNT(*), SUM(v) FROM t GROUP BY k", "SELECT COUNT(*) FROM t",
				"SELECT k, COUNT(*) FROM t WHERE v < 50 AND k <> 'k5' GROUP BY k", "SELECT v, k, COUNT(*) FROM t GROUP BY k, v",
				"SELECT k, SUM(v) FROM t WHERE k IN ('k1', 'k2') GROUP BY k"}, 2) {
				p, err := prepareOne(ds, text)
				if err != nil {
					t.Errorf("%s: %v", text, err)
					continue
				}
				for range 2 { // as it is stored, and as if it were not in order
					want, err1 := source.Run(t.Context(), &p.Query)
					got, err2 := prepared.Run(t.Context(), &p.Query)
					if err1 != nil || err2 != nil || opened(got) != opened(want) {
						t.Errorf("%s: %s, and stored by person %s (%v, %v)", text, opened(want), opened(got), err1, err2)
					}
					prepared.now.unordered = true
				}
				prepared.now.unordered = false
			}
		})
	}
}

// TestStoredIsClustered reads a file that was stored by person once, in codes and numbers.
func TestStoredIsClustered(t *testing.T) {
	folder := t.TempDir()
	for _, unit := range daily.Sample(t, []string{"hash(i) % 5000", "'person ' || (hash(i) % 5000)"}, 1) {
		path := filepath.Join(folder, "d.duckdb")
		os.Remove(path)
		owner(t, path, "CREATE TABLE t AS SELECT "+unit+" AS u, 'a' AS k FROM range(200000) r(i)")
		ds := dataset(t, folder, "source: d.duckdb\nunit: t.u\ntables:\n  t:\n    max_rows: 2\n    max_groups: 1\n    columns: {k: {type: "+
			"text, keys: [a]}}\n")
		stored := must(Store(t.Context(), ds, t.TempDir(), silent))(t)
		ds = preparedIn(ds, stored)
		e := open(t, ds)
		b := must(e.now.newBounded(bothOf(prepare(t, ds, "SELECT k, COUNT(*) FROM t GROUP BY k"))))(t)
		defer b.close()
		if text := fmt.Sprint(b.query); strings.Contains(text, "discreet_key") || strings.Contains(unit, "person") &&
			strings.Contains(text, `"u"`) {
			t.Error("texts are read:", text)
		}
		passes := 0
		got, err := b.runWith(t.Context(), e.now.source, func() { passes++ })
		if err != nil || passes != 1 || fmt.Sprint(got) != "[[10000]]" {
			t.Error(got, passes, err)
		}
	}
}

// TestStoredForOthers: a file that was stored by person is refused where a policy says that
// somebody else is a person: its numbers would make one household as many as it has people.
func TestStoredForOthers(t *testing.T) {
	const policy = "source: t.csv\nunit: t.%s\ntables:\n  t:\n    max_rows: 1\n    max_groups: 1\n    prepared: p/t.duckdb\n" +
		"    columns:\n      household: {type: text}\n      d: {type: integer, bounds: [0, 9]}\n"
	folder := t.TempDir()
	text := "person,household,d\n"
	for i := range 20 {
		text += fmt.Sprintf("p%d,h,1\n", i)
	}
	write(t, folder, "t.csv", text)
	must(Store(t.Context(), dataset(t, folder, fmt.Sprintf(policy, "person")), "", silent))(t)
	e, err := Open(t.Context(), dataset(t, folder, fmt.Sprintf(policy, "household")))
	if err == nil {
		defer e.Close()
		t.Fatalf("one household adds %v", ask(t, e, "SELECT COUNT(*) FROM t"))
	}
	if !strings.Contains(err.Error(), "run 'discreet prepare' again") {
		t.Error(err)
	}
}

// TestStoredBeforeAPath: a column that was clamped is no key of a path, where one row would lead to
// several people.
func TestStoredBeforeAPath(t *testing.T) {
	const orders = "source: d.duckdb\nunit: customers.cid\ntables:\n  customers:\n    unique: cid\n" +
		"    columns: {x: {type: integer, bounds: [0, 1]}}\n  orders:\n    path: cid -> customers.cid\n    max_rows: 1\n" +
		"    max_groups: 1\n    prepared: p/t.duckdb\n    columns:\n      oid: {type: integer, bounds: [0, 5]}\n"
	const items = "  items:\n    path: oid -> orders.oid\n    max_rows: 1\n    max_groups: 1\n    columns:\n" +
		"      n: {type: integer, bounds: [0, 9]}\n"
	folder := t.TempDir()
	owner(t, filepath.Join(folder, "d.duckdb"), "CREATE TABLE orders AS SELECT range AS oid, range % 20 AS cid FROM range(40)",
		"CREATE TABLE customers AS SELECT range AS cid, 0 AS x FROM range(20)", "CREATE TABLE items AS SELECT 5 AS oid, 1 AS n")
	must(Store(t.Context(), dataset(t, folder, orders), "", silent))(t)
	e, err := Open(t.Context(), dataset(t, folder, orders+items))
	if err == nil {
		defer e.Close()
		t.Fatalf("one item is %v", ask(t, e, "SELECT COUNT(*) FROM items"))
	}
	if !strings.Contains(err.Error(), "run 'discreet prepare' again") {
		t.Error(err)
	}
}

// TestStoredTwice: a file whose list of texts has one of them twice is read without its codes.
func TestStoredTwice(t *testing.T) {
	folder := t.TempDir()
	write(t, folder, "t.csv", "u,k\n1,a\n2,b\n3,b\n")
	ds := dataset(t, folder, "source: t.csv\nunit: t.u\ntables:\n  t:\n    max_rows: 1\n    max_groups: 1\n    prepared: p/t.duckdb\n"+
		"    columns:\n      k: {type: text, keys: [a, b]}\n")
	must(Store(t.Context(), ds, "", silent))(t)
	const text = "SELECT k, COUNT(*) FROM t GROUP BY k"
	want := fmt.Sprint(ask(t, open(t, withoutPrepared(ds)), text))
	owner(t, ds.Tables["t"].Prepared, `UPDATE about SET text = replace(text, '"b"', '"a"')`)
	if got := fmt.Sprint(ask(t, open(t, ds), text)); got != want {
		t.Errorf("%s, and not %s", got, want)
	}
}
