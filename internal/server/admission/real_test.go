package admission

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/hospital"
	"github.com/discreet-dp/discreet/ledger"
)

// hospitalDispatcher is a dispatcher in front of real data.
func hospitalDispatcher(t testing.TB, budget string, o Options) *Dispatcher {
	t.Helper()
	dir := t.TempDir()
	if err := hospital.New(500, 1).Write(filepath.Join(dir, "data")); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "policy.yaml")
	if err := os.WriteFile(path, []byte("datasets:\n"+hospital.Dataset("hospital", "data", budget)+"    release: immediate\n"),
		0o600); err != nil {
		t.Fatal(err)
	}
	db, err := discreet.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return New(db, o)
}

// Many ask at once, some of them stop, and what the ledger has is what was paid: no answer without
// a charge, and no turn lost.
func TestRealQuestions(t *testing.T) {
	d := hospitalDispatcher(t, "{epsilon: 50, per_query: {default: 0.1, max: 1}}", Options{Running: 3, Waiting: 100, Rate: 1e6})
	var all sync.WaitGroup
	var mu sync.Mutex
	sequences := map[uint64]bool{}
	for i := range 60 {
		all.Go(func() {
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			if i%5 == 4 {
				stop()
			}
			q := api.Question{Analyst: []string{"ana", "ben"}[i%2], SQL: fmt.Sprintf("SELECT COUNT(*) FROM patients WHERE age > %d", i/2)}
			switch i % 5 {
			case 3:
				q.SQL = "SELECT age FROM patients"
			case 2:
				q.Epsilon = 1 << 42 // more than one question may cost
			}
			a, err := d.Ask(ctx, q)
			var refusal *api.Refusal
			switch {
			case i%5 == 4 && err != ErrWithdrawn:
				t.Errorf("stopped: %v", err)
			case (i%5 == 3 || i%5 == 2) && !errors.As(err, &refusal):
				t.Errorf("refused: %v", err)
			case i%5 < 2 && err != nil:
				t.Error(err)
			case err == nil:
				mu.Lock()
				defer mu.Unlock()
				sequences[a.Receipt.Sequence] = true
			}
		})
	}
	all.Wait()
	quiet(t, d)
	charges := 0
	for r, err := range d.DB().Records(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		if r.Request != "" && r.Analyst != "" {
			charges++
		}
	}
	s := d.Stats()
	if s.Questions != 60 || s.Answered != 24 || s.Refused != 24 || len(sequences) != charges || charges < 12 {
		t.Errorf("got %+v, %d charges and %d receipts", s, charges, len(sequences))
	}
}

// A question that the engine is interrupted in says that it was stopped, and not that the engine
// failed.
func TestRealTimeout(t *testing.T) {
	d := hospitalDispatcher(t, "{epsilon: 50}", Options{Timeout: time.Nanosecond})
	for range 3 {
		if _, err := d.Ask(t.Context(), api.Question{Analyst: "ana", SQL: "SELECT COUNT(*) FROM patients"}); err != ErrTimeout {
			t.Errorf("got %v", err)
		}
	}
	quiet(t, d)
}

func TestRealBudget(t *testing.T) {
	d := hospitalDispatcher(t, "{epsilon: 0.1, per_query: {default: 0.1, max: 0.1}}", Options{})
	var budget *ledger.BudgetError
	for i, want := range []string{"", "", "budget"} {
		sql := "SELECT COUNT(*) FROM patients" + strings.Repeat(" WHERE age > 3", i/2)
		if _, err := d.Ask(t.Context(), api.Question{Analyst: "ana", SQL: sql}); (want != "") != errors.As(err, &budget) ||
			want == "" && err != nil {
			t.Errorf("%d: %v", i, err)
		}
	}
	if s := d.Stats(); s.Answered != 2 || s.Free != 1 || s.Exhausted != 1 {
		t.Errorf("got %+v", s)
	}
}

// A session of the sparse vector technique, from opening to its last answer.
func TestRealSession(t *testing.T) {
	var log bytes.Buffer
	d := hospitalDispatcher(t, "{epsilon: 5}", Options{Log: slog.New(slog.NewTextHandler(&log, nil))})
	ctx := t.Context()
	s, err := d.OpenSparse(ctx, api.SparseQuestion{Analyst: "ana", Epsilon: 2 << 40, Above: 2, Sensitivity: 1})
	if err != nil {
		t.Fatal(err)
	}
	if line := log.String(); !strings.Contains(line, "kind=open") || !strings.Contains(line, "epsilon=2 ") ||
		!strings.Contains(line, "sequence=") {
		t.Errorf("the log is %s", line)
	}
	const people = "SELECT COUNT(*) FROM patients"
	for _, c := range []struct {
		threshold string
		above     bool
	}{{"100000", false}, {"100000", false}, {"-100000", true}, {"100000", false}, {"-100000", true}} {
		if v, err := d.AskSparse(ctx, "ana", s.ID, people, c.threshold); err != nil || v.Above != c.above {
			t.Errorf("%s: %+v, %v", c.threshold, v, err)
		}
	}
	if _, err := d.AskSparse(ctx, "ana", s.ID, people, "1"); err != ErrNoSession {
		t.Errorf("used up: %v", err)
	}

	// One whose question is stopped has ended, and says so.
	s, err = d.OpenSparse(ctx, api.SparseQuestion{Analyst: "ana", Epsilon: 1 << 40, Above: 2, Sensitivity: 1})
	if err != nil {
		t.Fatal(err)
	}
	d.options.Timeout = time.Nanosecond
	if _, err := d.AskSparse(ctx, "ana", s.ID, people, "1"); !errors.Is(err, api.ErrSessionRun) && !errors.Is(err, ErrTimeout) {
		t.Errorf("stopped: %v", err)
	} else if _, open := d.Session("ana", s.ID); (open == ErrNoSession) != ended(err) || (s.Sparse.Left() == 0) != ended(err) {
		t.Errorf("after %v it is %v, with %d left", err, open, s.Sparse.Left())
	}
}
