package discreet_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/ledger/sqlite"
	"github.com/discreet-dp/discreet/ledger"
)

// died copies a deployment as a process that is killed now would leave it, its log beside its
// ledger.
func died(t *testing.T, from string) string {
	t.Helper()
	to := t.TempDir()
	if err := os.CopyFS(to, os.DirFS(from)); err != nil && !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	return to
}

// unanswered counts the charges that have no answer.
func unanswered(t *testing.T, db *discreet.DB) (n int) {
	t.Helper()
	for r, err := range db.Records(background, 0) {
		if err != nil {
			t.Fatal(err)
		}
		switch r.Kind {
		case ledger.KindCharge:
			n++
		case ledger.KindAnswer:
			n--
		}
	}
	return n
}

// telling is a ledger that says when a charge is on the disk.
type telling struct {
	ledger.Ledger
	charged func()
}

func (l telling) Charge(ctx context.Context, c ledger.Charge) (ledger.Receipt, error) {
	r, err := l.Ledger.Charge(ctx, c)
	l.charged()
	return r, err
}

// A process that died with a charge that has no answer counts once for the dataset, and shuts
// nobody out by itself: the same request is answered for its charge. The third closes it to
// everybody, and a process that ended in order counts as nothing.
func TestCrash(t *testing.T) {
	v, err := newVictim(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(v.policy())
	if err != nil {
		t.Fatal(err)
	}
	// What it bears by default.
	if err := os.WriteFile(v.policy(), []byte(strings.Replace(string(text), "\n    failures: {analyst: 1, dataset: 1000}", "", 1)),
		0o600); err != nil {
		t.Fatal(err)
	}
	dir := v.dir
	open := func() (*discreet.DB, []api.Incident) {
		var told []api.Incident
		db, err := discreet.Open(background, filepath.Join(dir, "policy.yaml"),
			discreet.WithIncidents(func(i api.Incident) { told = append(told, i) }))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { db.Close() })
		return db, told
	}
	q := api.Question{Analyst: "ana", SQL: people, Request: "mine"}
	other := api.Question{Analyst: "ana", SQL: "SELECT COUNT(*) FROM patients WHERE age > 50", Request: "cut off"}
	db, _ := open()
	if _, err := db.Ask(background, q); err != nil {
		t.Fatal(err)
	}
	dir = died(t, dir) // every charge has its answer
	db, told := open()
	if len(told) != 0 {
		t.Errorf("told %v", told)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	// Who cancels right after the charge leaves it without an answer.
	ctx, cancel := context.WithCancel(background)
	l, err := sqlite.Open(filepath.Join(dir, "policy.ledger"))
	if err != nil {
		t.Fatal(err)
	}
	cut, err := discreet.Open(background, filepath.Join(dir, "policy.yaml"), discreet.WithLedger(telling{l, cancel}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cut.Close() })
	if _, err := cut.Ask(ctx, other); err == nil || unanswered(t, cut) != 1 {
		t.Fatalf("%d charges have no answer: %v", unanswered(t, cut), err)
	}
	for n := 1; n <= 3; n++ {
		dir = died(t, dir)
		db, told = open()
		if len(told) != 1 || told[0].Failure != ledger.FailedCrash || told[0].Analyst != "" || told[0].Closed != (n == 3) {
			t.Fatalf("after %d: told %+v", n, told)
		}
		_, err := db.Explain(background, other)
		if err != nil {
			t.Fatal(err)
		}
	}
	var lockout *ledger.LockoutError
	if _, err := db.Ask(background, other); !errors.As(err, &lockout) {
		t.Fatal(err)
	}
	if a, err := db.Ask(background, q); err != nil || !a.Receipt.Free {
		t.Error(err)
	}
	if _, err := db.Release(background, "hospital", "", "a loss of power", nil); err != nil {
		t.Fatal(err)
	}
	if a, err := db.Ask(background, other); err != nil || !a.Receipt.Free {
		t.Errorf("the same request after the release: %v", err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if _, told := open(); len(told) != 0 {
		t.Errorf("a process that ended in order: %v", told)
	}
}

// A process that died is counted for the analyst whose questions alone were under way, and nobody
// else is shut out.
func TestCrashOfOne(t *testing.T) {
	v, err := newVictim(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dir := v.dir
	open := func() (*discreet.DB, []api.Incident) {
		var told []api.Incident
		db, err := discreet.Open(background, filepath.Join(dir, "policy.yaml"), discreet.WithUnderway(filepath.Join(dir, "underway")),
			discreet.WithIncidents(func(i api.Incident) { told = append(told, i) }))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { db.Close() })
		return db, told
	}
	db, _ := open()
	for n, asks := range [][]string{{"ana", "ben"}, {"ben", "cleo"}} {
		s, err := db.OpenSparse(background, api.SparseQuestion{Analyst: "ana", Above: 1, Sensitivity: 1})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Ask(background, people, "1000000"); err != nil { // so that something was under way
			t.Fatal(err)
		}
		for _, name := range asks {
			db.Underway().Begin("hospital", name)
		}
		dir = died(t, dir)
		var told []api.Incident
		db, told = open()
		if want := []string{"", "ben"}[n]; len(told) != 1 || told[0].Analyst != want {
			t.Fatalf("%d: told %+v", n, told)
		}
	}
	for name, shut := range map[string]bool{"ana": false, "ben": true} {
		if lockout, err := db.Lockout(background, "hospital", name); err != nil || lockout.Closed != shut {
			t.Errorf("%s: %+v %v", name, lockout, err)
		}
	}
}

// A session never has an answer, so that it has none is no crash: what counts is that its questions
// reached the engine, once for each process in which they did.
func TestCrashOfSessions(t *testing.T) {
	v, err := newVictim(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dir := v.dir
	open := func() (*discreet.DB, int) {
		t.Helper()
		told := 0
		db, err := discreet.Open(background, filepath.Join(dir, "policy.yaml"), discreet.WithIncidents(func(api.Incident) { told++ }))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { db.Close() })
		return db, told
	}
	db, _ := open()
	session := func() *discreet.Sparse {
		t.Helper()
		s, err := db.OpenSparse(background, api.SparseQuestion{Analyst: "ana", Epsilon: dp.One / 8, Above: 1, Sensitivity: 1})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	session()
	dir = died(t, dir)
	db, told := open()
	if told != 0 {
		t.Error("a session that was asked nothing counts as a crash")
	}
	s := session()
	for range 3 {
		if _, err := s.Ask(background, people, "1000000"); err != nil {
			t.Fatal(err)
		}
	}
	for n := range 4 {
		dir = died(t, dir)
		if _, told = open(); told != map[bool]int{true: 1}[n == 0] {
			t.Errorf("loss of power %d counts as %d crashes", n, told)
		}
	}
}
