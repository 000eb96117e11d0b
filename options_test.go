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
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/ledger/sqlite"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/policy"
	"github.com/discreet-dp/discreet/store"
	"github.com/discreet-dp/discreet/store/testdata/thirdparty"
)

// brought is a policy of three people, whose source is not there, and a database that has them.
func brought(t *testing.T) (*policy.Policy, store.Store) {
	t.Helper()
	p, err := policy.Parse(filepath.Join(t.TempDir(), "p.yaml"), []byte(`datasets:
  town: {engine: duckdb, source: nowhere.csv, unit: people.pid, budget: {epsilon: 90, per_query: {max: 90}}, analysts: {ana: },
    tables: {people: {unique: pid, columns: {pid: {type: integer}, age: {type: integer, bounds: [0, 120]}}}}}
`))
	if err != nil {
		t.Fatal(err)
	}
	s, err := thirdparty.Open(background, "CREATE TABLE people (pid BIGINT, age BIGINT)",
		"INSERT INTO people VALUES (1, 30), (2, 40), (3, 50)")
	if err != nil {
		t.Fatal(err)
	}
	return p, s
}

// A database that was brought along is asked, whatever the source of the policy, and is closed with
// the library.
func TestWithEngine(t *testing.T) {
	for _, ask := range []bool{true, false} {
		p, s := brought(t)
		db, err := discreet.Open(background, "", discreet.WithPolicy(p), discreet.WithEngine("town", s))
		if err != nil {
			t.Fatal(err)
		}
		if ask {
			a, err := db.Ask(background, api.Question{Analyst: "ana", SQL: "SELECT COUNT(*), SUM(age) FROM people", Epsilon: 80 * dp.One})
			if err != nil || len(a.Rows) != 1 || a.Version.Name != "monday" || a.Receipt.Sequence == 0 ||
				a.Remaining.Epsilon.String() != "10" {
				t.Errorf("%+v, %v", a, err)
			}
			if n, err := db.Magnitude(background, "town"); err != nil || n != 1 {
				t.Error(n, err)
			}
			if err := db.Warm(background); err != nil {
				t.Error(err)
			}
		}
		if err := db.Close(); err != nil || s.DB.PingContext(background) == nil {
			t.Error("the database is open", err)
		}
		if _, err := db.Ask(background, api.Question{Analyst: "ana", SQL: "SELECT COUNT(*) FROM people"}); err == nil {
			t.Error("a question of a closed database")
		}
	}
	p, s := brought(t)
	defer s.DB.Close()
	nameless := s
	nameless.Version = nil
	for _, o := range [][]discreet.Option{
		{discreet.WithEngine("village", s)}, {discreet.WithEngine("town", store.Store{})}, {discreet.WithEngine("town", nameless)},
		{discreet.WithEngine("town", s), discreet.WithEngine("town", s)}, {discreet.WithLedger(nil)},
		{discreet.WithLedger(&dead{}), discreet.WithLedger(&dead{})},
	} {
		if db, err := discreet.Open(background, "", append(o, discreet.WithPolicy(p))...); err == nil {
			db.Close()
			t.Error("an engine or a ledger of nothing")
		}
	}
	if _, err := discreet.Open(background, "", discreet.WithEngine("town", s), discreet.WithEngine("county", s)); err == nil ||
		!strings.Contains(err.Error(), "two budgets") {
		t.Error("two datasets have one database:", err)
	}
	if _, err := os.Stat(p.Ledger); !errors.Is(err, os.ErrNotExist) || s.DB.PingContext(background) != nil {
		t.Error("a database that was not opened left a ledger, or closed what was not its own", err)
	}
}

// A ledger of this module, opened by hand, is the same as the one that the policy names.
func TestWithLedger(t *testing.T) {
	path := deployment(t)
	p, err := policy.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	elsewhere := filepath.Join(t.TempDir(), "elsewhere.ledger")
	opened := func() *discreet.DB {
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
	db := opened()
	first, err := db.Ask(background, question)
	if err != nil || first.Receipt.Free {
		t.Fatal(first, err)
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
	db = opened() // which it could not, had the first not closed its ledger
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

func (d *dead) Lockout(context.Context, string, string) (ledger.Lockout, error) {
	return ledger.Lockout{}, nil
}

// That a process died counts in whatever ledger tells it.
func TestWithLedgerDied(t *testing.T) {
	l := &dead{}
	var told []api.Incident
	if _, err := discreet.Open(background, deployment(t), discreet.WithLedger(l),
		discreet.WithIncidents(func(i api.Incident) { told = append(told, i) })); err != nil {
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
