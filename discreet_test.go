package discreet_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/lab/hospital"
	"github.com/discreet-dp/discreet/ledger"
)

var background = context.Background()

// deployment writes a policy of two hospitals and returns its path.
func deployment(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	text := "datasets:\n"
	for i, name := range []string{"north", "south"} {
		if err := hospital.New(100, uint64(i)).Write(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
		text += hospital.Dataset(name, name, "{epsilon: 1, per_query: {default: 0.1}}")
	}
	path := filepath.Join(dir, "policy.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func open(t testing.TB, path string) *discreet.DB {
	t.Helper()
	db, err := discreet.Open(background, path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

const people = "SELECT COUNT(*) FROM patients"

func TestDatasetsHaveTheirOwnBudgets(t *testing.T) {
	db := open(t, deployment(t))
	for _, name := range []string{"north", "south"} {
		a, err := db.Ask(background, api.Question{Dataset: name, Analyst: "ana", SQL: people})
		if err != nil {
			t.Fatal(err)
		}
		if a.Receipt.Free || a.Remaining.Epsilon.String() != "0.9" {
			t.Errorf("%s: %+v, left %v", name, a.Receipt, a.Remaining.Epsilon)
		}
	}
	for _, name := range []string{"", "west"} {
		var refusal *api.Refusal
		_, err := db.Ask(background, api.Question{Dataset: name, Analyst: "ana", SQL: people})
		if !errors.As(err, &refusal) || refusal.Instead != "name one of north, south" {
			t.Errorf("dataset %q: %v", name, err)
		}
		if _, err := db.Explain(background, api.Question{Dataset: name, Analyst: "ana", SQL: people}); !errors.As(err, &refusal) {
			t.Errorf("explain %q: %v", name, err)
		}
		if _, err := db.Budget(background, name); !errors.As(err, &refusal) {
			t.Errorf("budget %q: %v", name, err)
		}
	}
}

// What is refused for its text is refused whatever state the data is in, and the budget
// can be read without it.
func TestRefusalsDoNotOpenTheData(t *testing.T) {
	path := deployment(t)
	if err := os.RemoveAll(filepath.Join(filepath.Dir(path), "north")); err != nil {
		t.Fatal(err)
	}
	db := open(t, path)
	var refusal *api.Refusal
	for _, q := range []api.Question{
		{Dataset: "north", Analyst: "ana", SQL: "SELECT * FROM patients"},
		{Dataset: "north", Analyst: "nobody", SQL: people},
		{Dataset: "north", Analyst: "ana", SQL: people, Epsilon: 2 << 40},
	} {
		if _, err := db.Ask(background, q); !errors.As(err, &refusal) {
			t.Errorf("%+v: %v", q, err)
		}
	}
	if _, err := db.Budget(background, "north"); err != nil {
		t.Error(err)
	}
	if _, err := db.Ask(background, api.Question{Dataset: "north", Analyst: "ana", SQL: people}); err == nil || errors.As(err, &refusal) {
		t.Errorf("data that is not there: %v", err)
	}
	accounts, err := db.Budget(background, "north")
	if err != nil || accounts[0].Spent.Epsilon != 0 {
		t.Errorf("spent %v, %v", accounts, err)
	}
	// The other dataset is not affected, and the data may come back.
	if _, err := db.Ask(background, api.Question{Dataset: "south", Analyst: "ana", SQL: people}); err != nil {
		t.Error(err)
	}
	if err := hospital.New(100, 0).Write(filepath.Join(filepath.Dir(path), "north")); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Ask(background, api.Question{Dataset: "north", Analyst: "ana", SQL: people}); err != nil {
		t.Error(err)
	}
}

func TestClosed(t *testing.T) {
	path := deployment(t)
	db := open(t, path)
	if _, err := discreet.Open(background, path); !errors.Is(err, ledger.ErrBusy) {
		t.Errorf("opened twice: %v", err)
	}
	if _, err := db.Ask(background, api.Question{Dataset: "north", Analyst: "ana", SQL: people}); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Errorf("closed twice: %v", err)
	}
	if _, err := db.Ask(background, api.Question{Dataset: "south", Analyst: "ana", SQL: people}); err == nil {
		t.Error("a closed database answered")
	}
	if _, err := db.Explain(background, api.Question{Dataset: "north", Analyst: "ana", SQL: people}); err == nil {
		t.Error("a closed database explained")
	}
	if _, err := db.Budget(background, "north"); err == nil {
		t.Error("a closed database has a budget")
	}
	open(t, path)
}

// Who ends while an engine does not react leaves a ledger that is closed.
func TestAbandoned(t *testing.T) {
	path := deployment(t)
	db := open(t, path)
	if _, err := db.Ask(background, api.Question{Dataset: "north", Analyst: "ana", SQL: people}); err != nil {
		t.Fatal(err)
	}
	if err := db.Abandon(); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Ask(background, api.Question{Dataset: "north", Analyst: "ana", SQL: people}); err == nil {
		t.Error("a database that was abandoned answered")
	}
	open(t, path) // which is refused while the ledger is open
}

// Many ask at once about data that nobody has opened yet.
func TestAtOnce(t *testing.T) {
	db := open(t, deployment(t))
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			q := api.Question{Dataset: []string{"north", "south"}[i%2], Analyst: "ana",
				SQL: fmt.Sprintf("SELECT COUNT(*) FROM patients WHERE age > %d", i%4)}
			if i < 16 {
				if _, err := db.Ask(background, q); err != nil {
					t.Error(err)
				}
			} else if _, err := db.Explain(background, q); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for _, name := range []string{"north", "south"} {
		accounts, err := db.Budget(background, name)
		if err != nil {
			t.Fatal(err)
		}
		if got := accounts[0].Spent.Epsilon.String(); got != "0.2" {
			t.Errorf("%s has spent %s; want two questions at 0.1", name, got)
		}
	}
}

// Settings reach the answer: an error instead of a price, and another confidence for the same
// noise, which is free.
func TestSettings(t *testing.T) {
	db := open(t, deployment(t))
	s, err := api.ParseSettings(map[string]string{"dp.error": "30", "dp.confidence": "0.9"})
	if err != nil {
		t.Fatal(err)
	}
	q := api.Question{Dataset: "north", Analyst: "ana", SQL: people, Settings: s}
	a, err := db.Ask(background, q)
	if err != nil {
		t.Fatal(err)
	}
	if *a.Errors[0][0] != 30 || a.Confidence != 0.9 || a.Cost.Epsilon.Float() > 0.1 {
		t.Errorf("an error of %v at %v, for %v", *a.Errors[0][0], a.Confidence, a.Cost)
	}
	q.Epsilon, q.Settings = a.Cost.Epsilon, api.Settings{Confidence: 0.99}
	b, err := db.Ask(background, q)
	if err != nil {
		t.Fatal(err)
	}
	if !b.Receipt.Free || fmt.Sprint(b.Rows) != fmt.Sprint(a.Rows) || *b.Errors[0][0] <= 30 {
		t.Errorf("%+v with an error of %v", b, *b.Errors[0][0])
	}
	if len(api.SettingNames()) != 12 {
		t.Error(api.SettingNames())
	}
}
