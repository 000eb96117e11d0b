package discreet_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/ledger/sqlite"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/policy"
	"github.com/discreet-dp/discreet/store"
	"github.com/discreet-dp/discreet/store/testdata/thirdparty"
)

// inMemory is a dataset of three people, whose source in the policy is not there.
func inMemory(t *testing.T) (*policy.Policy, store.Store) {
	t.Helper()
	p, err := policy.Parse(filepath.Join(t.TempDir(), "p.yaml"), []byte(`datasets:
  town: {engine: duckdb, source: nowhere.csv, unit: people.pid, budget: {epsilon: 90, per_query: {max: 90}}, analysts: {ana: },
    tables: {people: {unique: pid, columns: {pid: {type: integer}, age: {type: integer, bounds: [0, 120]}}}}}
`))
	if err != nil {
		t.Fatal(err)
	}
	s, err := thirdparty.Open(background, "CREATE TABLE people AS SELECT range AS pid, 30 + 10 * range AS age FROM range(3)")
	if err != nil {
		t.Fatal(err)
	}
	return p, s
}

// isClosed reports whether a store was closed.
func isClosed(s store.Store) bool { return s.DB.PingContext(background) != nil }

// An engine that was brought along is asked, whatever the source of the policy, and is closed with the database.
func TestWithEngine(t *testing.T) {
	for _, ask := range []bool{true, false} {
		p, e := inMemory(t)
		db, err := discreet.Open(background, "", discreet.WithPolicy(p), discreet.WithEngine("town", e))
		if err != nil {
			t.Fatal(err)
		}
		if ask {
			a, err := db.Ask(background, api.Question{Analyst: "ana", SQL: "SELECT COUNT(*), SUM(age) FROM people", Settings: api.Settings{Epsilon: 80 << 40}})
			if err != nil || len(a.Rows) != 1 || a.Receipt.Sequence == 0 || a.Remaining.Epsilon.String() != "10" {
				t.Errorf("%+v, %v", a, err)
			}
			if m, err := db.Magnitude(background, "town"); err != nil || m != 1 {
				t.Error("how large it is", m, err)
			}
		}
		if err := errors.Join(db.Warm(background), db.Close()); err != nil || !isClosed(e) {
			t.Error(err)
		}
		if _, err := db.Ask(background, api.Question{Analyst: "ana", SQL: "SELECT COUNT(*) FROM people"}); err == nil {
			t.Error("a question of a closed database")
		}
	}
	p, e := inMemory(t)
	for _, o := range []discreet.Option{discreet.WithEngine("village", e), discreet.WithEngine("town", store.Store{})} {
		if db, err := discreet.Open(background, "", discreet.WithPolicy(p), o); err == nil {
			db.Close()
			t.Error("an engine of nothing")
		}
	}
	if _, err := os.Stat(p.Ledger); !errors.Is(err, os.ErrNotExist) || isClosed(e) {
		t.Error("a database that was not opened left a ledger, or closed what was not its own", err)
	}
}

// A ledger of this module that was opened by hand is as good as the one that the policy names.
func TestWithLedger(t *testing.T) {
	path := deployment(t)
	p, err := policy.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	elsewhere := filepath.Join(t.TempDir(), "elsewhere.ledger")
	both := func() *discreet.DB {
		l, err := sqlite.Open(elsewhere)
		if err != nil {
			t.Fatal(err)
		}
		db, err := discreet.Open(background, path, discreet.WithLedger(l))
		if err != nil {
			t.Fatal(err)
		}
		return db
	}
	question := api.Question{Dataset: "north", Analyst: "ana", SQL: people}
	db := both()
	first, err := db.Ask(background, question)
	if err != nil || first.Receipt.Free {
		t.Fatal(first, err)
	}
	if m, err := db.Magnitude(background, "north"); err != nil || m == 0 {
		t.Error(m, err)
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
	db = both() // which it could not, had the first not closed its ledger
	defer db.Close()
	again, err := db.Ask(background, question)
	if err != nil || !again.Receipt.Free || again.Rows[0][0] != first.Rows[0][0] {
		t.Error(again, err)
	}
	if _, err := os.Stat(p.Ledger); !errors.Is(err, os.ErrNotExist) {
		t.Error("the ledger of the policy was made", err)
	}
}

// dead is a ledger whose last process died while it answered questions about a dataset.
type dead struct {
	ledger.Ledger
	failed []ledger.Incident
}

func (d *dead) Died() []string { return []string{"north"} }

func (d *dead) Fail(_ context.Context, i ledger.Incident) (bool, error) {
	d.failed = append(d.failed, i)
	return true, nil
}

func (d *dead) Door(context.Context, string, string) (ledger.Door, error) { return ledger.Door{}, nil }

// That a process died counts in whatever ledger tells it.
func TestWithLedgerDied(t *testing.T) {
	l := &dead{}
	var told []api.Incident
	if _, err := discreet.Open(background, deployment(t), discreet.WithLedger(l), discreet.WithIncidents(func(i api.Incident) { told = append(told, i) })); err != nil {
		t.Fatal(err)
	}
	if len(l.failed) != 1 || l.failed[0].Dataset != "north" || l.failed[0].Failure != ledger.FailedCrash || len(told) != 1 {
		t.Error(l.failed, told)
	}
}

// A context that has ended opens nothing and makes nothing; what there is can be opened afterwards.
func TestOpenContext(t *testing.T) {
	path := deployment(t)
	ended, end := context.WithCancel(background)
	end()
	if db, err := discreet.Open(ended, path); err != context.Canceled || db != nil {
		t.Error(db, err)
	}
	if found, err := filepath.Glob(filepath.Join(filepath.Dir(path), "*ledger*")); err != nil || len(found) > 0 {
		t.Error(found, err)
	}
	open(t, path)
	if _, err := discreet.Open(background, path+".none"); err == nil || !strings.Contains(err.Error(), "none") {
		t.Error(err)
	}
}
