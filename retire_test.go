package discreet

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
	"weak"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/lab/hospital"
	"github.com/discreet-dp/discreet/internal/ledger/sqlite"
	"github.com/discreet-dp/discreet/policy"
	"github.com/discreet-dp/discreet/store"
)

// Data of an earlier policy is there for as long as a question may read it, and is then closed;
// what both policies read in the same way is not opened twice.
func TestRetiredData(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	path := filepath.Join(dir, "policy.yaml")
	text := "datasets:\n" + hospital.Dataset("hospital", "data", "{epsilon: 1, per_query: {default: 0.1}}")
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	reload := func(db *DB, old, new string) {
		t.Helper()
		text = strings.Replace(text, old, new, 1)
		check(os.WriteFile(path, []byte(text), 0o600))
		_, err := db.Reload(ctx, false)
		check(err)
	}
	check(hospital.New(100, 1).Write(filepath.Join(dir, "data")))
	check(os.WriteFile(path, []byte(text), 0o600))
	db, err := Open(ctx, path)
	check(err)
	defer db.Close()
	check(db.Warm(ctx))
	before, err := db.datasets.dataset("hospital")
	check(err)
	first := weak.Make(before.data)
	reload(db, "share: 0.5", "share: 0.4")
	if now, _ := db.datasets.dataset("hospital"); now == before || weak.Make(now.data) != first || len(db.datasets.retired) != 0 {
		t.Error("another analyst's quota opens the data anew")
	}
	reload(db, "[0, 110]", "[0, 120]")
	before.data = nil // the curator has it still
	old := db.datasets.retired[0]
	runtime.GC()
	runtime.GC()
	time.Sleep(50 * time.Millisecond) // for what would close it
	if _, err := before.Ask(ctx, api.Question{Analyst: "ana", SQL: "SELECT SUM(age) FROM patients", Request: "late"}); err != nil {
		t.Errorf("a question under way has no data: %v", err)
	}
	before = nil
	for n := 0; old.Value() != nil; n++ {
		if runtime.GC(); n == 100 {
			t.Fatal("the data of the first policy stays open")
		}
		time.Sleep(10 * time.Millisecond)
	}
	for n := range 3 { // what is closed is forgotten
		reload(db, []string{"[0, 120]", "[0, 121]", "[0, 122]"}[n], []string{"[0, 121]", "[0, 122]", "[0, 123]"}[n])
		runtime.GC()
		runtime.GC()
	}
	all := 0
	for _, p := range db.datasets.retired {
		if p != (weak.Pointer[data]{}) && p.Value() != nil {
			all++
		}
	}
	if all > 2 {
		t.Errorf("%d are open", all)
	}
}

const staff = `
datasets:
  staff:
    engine: duckdb
    source: nowhere.csv
    unit: row
    budget: {epsilon: 2}
    analysts: {ana: {share: 1}}
    tables: {staff: {columns: {salary: {type: integer, bounds: [0, 10000]}}}}
`

func staffPolicy(t *testing.T, dir, bounds string) *policy.Policy {
	t.Helper()
	p, err := policy.Parse(filepath.Join(dir, "staff.yaml"), []byte(strings.Replace(staff, "[0, 10000]", bounds, 1)))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// A dataset that is opened after its successor was looked for gets one like any other: none that
// nobody has checked, and no second one of a database that the program brought along.
func TestOpenedWhileReloading(t *testing.T) {
	ctx, dir := t.Context(), t.TempDir()
	data, err := sql.Open("duckdb", "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := data.ExecContext(ctx, "CREATE TABLE staff AS SELECT 4000 AS salary"); err != nil {
		t.Fatal(err)
	}
	version := func(context.Context) (store.Version, error) { return store.Version{State: "1"}, nil }
	l, err := sqlite.Open(filepath.Join(dir, "ledger"))
	if err != nil {
		t.Fatal(err)
	}
	is := staffPolicy(t, dir, "[0, 20000]")
	db, err := Open(ctx, "", WithPolicy(staffPolicy(t, dir, "[0, 10000]")), WithLedger(l),
		WithEngine("staff", store.Store{DB: data, Dialect: store.DuckDB, Version: version}),
		WithReload(func() (*policy.Policy, error) { return is, nil }, nil))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if next, err := db.datasets.successor(ctx, is.Datasets["staff"]); next != nil || err != nil {
		t.Fatal(next, err)
	}
	if _, err := db.Ask(ctx, api.Question{Analyst: "ana", SQL: "SELECT SUM(salary) FROM staff", Request: "meanwhile"}); err != nil {
		t.Fatal(err)
	}
	if err := db.datasets.replace(is, map[string]*dataset{"staff": nil}); !errors.Is(err, errOpened) {
		t.Errorf("a dataset that is open was given a successor that nobody has checked: %v", err)
	}
	if _, err := db.Reload(ctx, false); err == nil || !strings.Contains(err.Error(), "not opened twice") {
		t.Error(err)
	}
}

// While data of the policy before is still being opened, others are served under the next.
func TestServedWhileRetiring(t *testing.T) {
	p := staffPolicy(t, t.TempDir(), "[0, 10000]")
	db, err := Open(t.Context(), "", WithPolicy(p))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	old, err := db.datasets.dataset("staff")
	if err != nil {
		t.Fatal(err)
	}
	next := &dataset{policy: p.Datasets["staff"], data: db.datasets.dataOf(p.Datasets["staff"]), Curator: old.Curator}
	old.data.mu.Lock() // for as long as opening takes
	replaced, served := make(chan error, 1), make(chan struct{})
	go func() { replaced <- db.datasets.replace(p, map[string]*dataset{"staff": next}) }()
	go func() {
		for {
			if now, _ := db.datasets.dataset("staff"); now == next {
				close(served)
				return
			}
			time.Sleep(time.Millisecond)
		}
	}()
	select {
	case <-served:
	case <-time.After(20 * time.Second):
		t.Error("nobody is served")
	}
	old.data.mu.Unlock()
	if err := <-replaced; err != nil {
		t.Error(err)
	}
}
