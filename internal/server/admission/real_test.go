package admission

import (
	"bytes"
	"context"
	"errors"
	"flag"
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
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/lab/hospital"
	"github.com/discreet-dp/discreet/ledger"
)

// hospitalDispatcher is a dispatcher in front of real data.
func hospitalDispatcher(t testing.TB, budget string, o Options) *Dispatcher {
	t.Helper()
	dir := t.TempDir()
	must(t, hospital.New(500, 1).Write(filepath.Join(dir, "data")))
	path := filepath.Join(dir, "policy.yaml")
	if err := os.WriteFile(path, []byte("datasets:\n"+hospital.Dataset("hospital", "data", budget)+"    release: immediate\n"),
		0o600); err != nil {
		t.Fatal(err)
	}
	db, err := discreet.Open(t.Context(), path)
	must(t, err)
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
		must(t, err)
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
	s, err := d.Sessions().OpenSparse(ctx, api.SparseQuestion{Analyst: "ana", Epsilon: 2 << 40, Above: 2, Sensitivity: 1})
	must(t, err)
	if line := log.String(); !strings.Contains(line, "kind=open") || !strings.Contains(line, "epsilon=2 ") ||
		!strings.Contains(line, "sequence=") {
		t.Errorf("the log is %s", line)
	}
	const people = "SELECT COUNT(*) FROM patients"
	for _, c := range []struct {
		threshold string
		above     bool
	}{{"100000", false}, {"100000", false}, {"-100000", true}, {"100000", false}, {"-100000", true}} {
		if v, err := d.Sessions().AskSparse(ctx, "ana", s.ID, people, c.threshold); err != nil || v.Above != c.above {
			t.Errorf("%s: %+v, %v", c.threshold, v, err)
		}
	}
	if _, err := d.Sessions().AskSparse(ctx, "ana", s.ID, people, "1"); err != ErrNoSession {
		t.Errorf("used up: %v", err)
	}

	// One whose question is stopped has ended, and says so.
	s, err = d.Sessions().OpenSparse(ctx, api.SparseQuestion{Analyst: "ana", Epsilon: 1 << 40, Above: 2, Sensitivity: 1})
	must(t, err)
	d.runner.options.Timeout = time.Nanosecond
	if _, err := d.Sessions().AskSparse(ctx, "ana", s.ID, people, "1"); !errors.Is(err, api.ErrSessionRun) && !errors.Is(err, ErrTimeout) {
		t.Errorf("stopped: %v", err)
	} else if _, open := d.Sessions().Find("ana", s.ID); (open == ErrNoSession) != endsSession(err) ||
		(s.Sparse.Left() == 0) != endsSession(err) {
		t.Errorf("after %v it is %v, with %d left", err, open, s.Sparse.Left())
	}
}

var switchRows = flag.Int("switch-rows", 2_000, "people of the databases that TestSwitches asks")

// switchPolicy is about people, one row each, and what was noted about them.
const switchPolicy = `datasets:
  clinic:
    engine: duckdb
    source: .
    unit: people.pid
    budget: {epsilon: 100, per_query: {default: 0.1, max: 1}}
    analysts: {ana: }
    release: {%s: 20ms}
    tables:
      people:
        unique: pid
        columns:
          pid: {type: integer, bounds: [0, 100000000]}
          age: {type: integer, bounds: [0, 110]}
          zip: {type: text}
          diag: {type: text}
          amount: {type: text}
      notes:
        max_rows: 3
        max_groups: 1
        path: pid -> people.pid
        columns:
          pid: {type: integer, bounds: [0, 100000000]}
          note: {type: text}
`

// makeSwitches writes the database, with somebody in it whom the questions are about or without.
func makeSwitches(t *testing.T, people int, somebody bool, release string) string {
	t.Helper()
	dir := t.TempDir()
	var p, n strings.Builder
	p.WriteString("pid,age,zip,diag,amount\n")
	n.WriteString("pid,note\n")
	row := func(pid, age int, zip, diag, amount string) {
		fmt.Fprintf(&p, "%d,%d,%s,%s,%s\n", pid, age, zip, diag, amount)
		for i := range 3 {
			fmt.Fprintf(&n, "%d,the %dth visit of a person who was well again after some days of rest %d\n", pid, i, pid*7919%100_003)
		}
	}
	for i := range people {
		row(i, i%90, fmt.Sprintf("z%d", 10+i%50), []string{"flu", "asthma", "fracture"}[i%3], fmt.Sprintf("n%d", i))
	}
	if somebody {
		row(people, 37, "z7", "HIV", "12.5")
	}
	for name, text := range map[string]string{"people.csv": p.String(), "notes.csv": n.String(),
		"policy.yaml": fmt.Sprintf(switchPolicy, release)} {
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	return filepath.Join(dir, "policy.yaml")
}

// switches are questions in which one row that passes a condition switches on work for all others.
func switches() map[string]string {
	const who = "zip = 'z7' AND diag = 'HIV' AND age = 37"
	var terms, patterns []string
	for i := range 20 {
		terms = append(terms, fmt.Sprintf("rpad(x, 1000, 'x%c%c') LIKE 'a%%'", 'a'+i%26, 'a'+i/26))
	}
	for i := range 8 {
		patterns = append(patterns, fmt.Sprintf("note ~* '(re%cst|b%ced).*day'", 'a'+i, 'a'+i))
	}
	return map[string]string{
		"constant vector": "SELECT COUNT(*) FROM (SELECT CASE WHEN " + who + " THEN zip ELSE '-' END AS x FROM people) t WHERE " +
			strings.Join(terms, " OR "),
		"empty side": "SELECT COUNT(*) FROM (SELECT pid FROM notes WHERE " + strings.Join(patterns, " OR ") +
			") v JOIN people p ON p.pid = v.pid WHERE " + who,
		"left join": "SELECT COUNT(*) FROM (SELECT pid FROM people WHERE " + who + ") p " +
			"LEFT JOIN (SELECT pid, COUNT(*) AS n FROM notes WHERE " + strings.Join(patterns, " OR ") + " GROUP BY pid) v ON p.pid = v.pid",
		"semi join": "SELECT COUNT(*) FROM people p WHERE " + who + " AND EXISTS (SELECT 1 FROM notes v WHERE v.pid = p.pid AND (" +
			strings.Join(patterns, " OR ") + "))",
		"casts": "SELECT COUNT(*) FROM (SELECT CASE WHEN " + who + " THEN amount ELSE 'x' END AS x FROM people) t " +
			"WHERE CAST(x AS numeric(10,2)) > 5 OR CAST(replace(x, '2', '3') AS numeric(10,2)) > 7",
	}
}

// asked opens a database, asks each question, in a session of the sparse vector too, and returns
// how many ticks each took to leave and how many it was to take.
func asked(t *testing.T, path string) (took, public map[string]int) {
	t.Helper()
	const tick = 20 * time.Millisecond
	db, err := discreet.Open(t.Context(), path)
	must(t, err)
	defer db.Close()
	must(t, db.Warm(t.Context()))
	d := New(db, Options{Rate: 1e6})
	s, err := d.Sessions().OpenSparse(t.Context(), api.SparseQuestion{Analyst: "ana", Epsilon: dp.One / 20, Above: 1, Sensitivity: 3})
	must(t, err)
	took, public = map[string]int{}, map[string]int{}
	for name, sql := range switches() {
		x, err := d.Explain(t.Context(), api.Question{Analyst: "ana", SQL: sql})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for kind, ask := range map[string]func(context.Context) error{
			"question": func(ctx context.Context) error {
				_, err := d.Ask(ctx, api.Question{Analyst: "ana", SQL: sql})
				return err
			},
			"session": func(ctx context.Context) error {
				_, err := d.Sessions().AskSparse(ctx, "ana", s.ID, sql, "1000000")
				return err
			},
		} {
			time.Sleep(d.ticks.clock.next(tick))
			began := time.Now()
			if err := ask(t.Context()); err != nil {
				t.Errorf("%s, %s: %v", name, kind, err)
			}
			took[name+", "+kind] = int(time.Since(began) / tick)
			if x.Deadline != nil {
				public[name+", "+kind] = int(*x.Deadline / tick.Seconds())
			}
		}
	}
	return took, public
}

// Whether somebody is there whom a condition singles out does not show in when the answer leaves:
// not before the public time, which is the same with them and without. How much later it is on a
// machine that is busy is for -v.
func TestSwitches(t *testing.T) {
	if testing.Short() {
		t.Skip("public times are those of a program without the race detector")
	}
	var without, with, public, publicWith map[string]int
	t.Run("both", func(t *testing.T) {
		t.Run("without", func(t *testing.T) {
			t.Parallel() // it waits
			without, public = asked(t, makeSwitches(t, *switchRows, false, "deadline"))
		})
		t.Run("with", func(t *testing.T) {
			t.Parallel()
			with, publicWith = asked(t, makeSwitches(t, *switchRows, true, "deadline"))
		})
	})
	for name := range without {
		t.Logf("%-28s %3d ticks without, %3d with, public %3d", name, without[name], with[name], public[name])
		if public[name] == 0 || public[name] != publicWith[name] {
			t.Errorf("%s: its public times are %d and %d ticks", name, public[name], publicWith[name])
		}
		if min(without[name], with[name]) < public[name]-1 { // a tick for where it began
			t.Errorf("%s: it left after %d ticks without and %d with, and its public time is %d",
				name, without[name], with[name], public[name])
		}
	}
}
