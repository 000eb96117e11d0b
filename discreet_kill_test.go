package discreet_test

import (
	"bufio"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/lab/hospital"
	"github.com/discreet-dp/discreet/internal/ledger/sqlite"
	"github.com/discreet-dp/discreet/internal/test/daily"
	"github.com/discreet-dp/discreet/ledger"
)

// tenth is what each question of these tests costs.
const tenth = dp.One / 10

// The budget of a deployment that is killed: 20 questions, of which ben may ask half.
// It bears that it dies.
const killedBudget = "{epsilon: 2, per_query: {default: 0.1}}\n    failures: {analyst: 1, dataset: 1000}"

// victim is a deployment whose process is killed again and again.
type victim struct {
	dir      string
	answers  map[string]string // rows and sequence by question, over all rounds
	spent    dp.Amount         // what had been spent after the last round
	exhausts bool              // whether the budget has run out
	lost     int               // charges without an answer
	patience time.Duration     // how long a round may take at most, once it has begun
}

func (v *victim) policy() string   { return filepath.Join(v.dir, "policy.yaml") }
func (v *victim) ledger() string   { return filepath.Join(v.dir, "policy.ledger") }
func (v *victim) released() string { return filepath.Join(v.dir, "released") }

// newVictim makes a hospital in Parquet files, which open fast.
func newVictim(dir string) (*victim, error) {
	v := &victim{dir: dir, answers: map[string]string{}}
	if err := hospital.New(100, 1).Write(dir); err != nil {
		return nil, err
	}
	db, err := sql.Open("duckdb", "")
	if err != nil {
		return nil, err
	}
	defer db.Close()
	for _, t := range []string{"patients", "visits"} {
		file := filepath.Join(dir, t)
		if _, err := db.Exec("COPY (FROM read_csv('" + file + ".csv')) TO '" + file + ".parquet'"); err != nil {
			return nil, err
		}
		if err := os.Remove(file + ".csv"); err != nil {
			return nil, err
		}
	}
	return v, os.WriteFile(v.policy(), []byte("datasets:\n"+hospital.Dataset("hospital", ".", killedBudget)), 0o600)
}

// TestKillChild is the process that is killed: two analysts who ask ever new
// questions, and write down every answer that they got.
func TestKillChild(t *testing.T) {
	dir := os.Getenv("DISCREET_KILL_DIR")
	if dir == "" {
		t.Skip("it is run by TestKilledAtAnyMoment")
	}
	v := &victim{dir: dir}
	out, err := os.OpenFile(v.released(), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	db, err := discreet.Open(background, v.policy())
	if err != nil {
		t.Fatal(err)
	}
	// An explanation opens the data and charges nothing.
	if _, err := db.Explain(background, api.Question{Analyst: "ana", SQL: people}); err != nil {
		t.Fatal(err)
	}
	fmt.Println("open")
	var wg sync.WaitGroup
	for g, analyst := range []string{"ana", "ben"} {
		wg.Go(func() {
			for i := 0; ; i++ {
				text := fmt.Sprintf("SELECT ward, COUNT(*) FROM visits WHERE ward <> 'none of %d-%d-%d' GROUP BY ward", os.Getpid(), g, i)
				a, err := db.Ask(background, api.Question{Analyst: analyst, SQL: text})
				var over *ledger.BudgetError
				if errors.As(err, &over) {
					fmt.Fprintln(out, "exhausted")
					return
				} else if err != nil {
					t.Error(err)
					return
				}
				fmt.Fprintf(out, "%s\t%v %d\n", text, a.Rows, a.Receipt.Sequence)
			}
		})
	}
	wg.Wait()
	time.Sleep(time.Minute) // until it is killed
}

// round runs a child, kills it at some moment, and checks what it leaves.
func (v *victim) round() error {
	child := exec.Command(os.Args[0], "-test.run=^TestKillChild$")
	child.Env = append(os.Environ(), "DISCREET_KILL_DIR="+v.dir)
	child.Stderr = os.Stderr
	out, err := child.StdoutPipe()
	if err != nil {
		return err
	}
	if err := child.Start(); err != nil {
		return err
	}
	lines := bufio.NewReader(out)
	if rand.IntN(5) > 0 { // otherwise also while it starts
		lines.ReadString('\n')
	}
	time.AfterFunc(rand.N(v.patience), func() { child.Process.Kill() })
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			break
		}
		if strings.Contains(line, "FAIL") {
			return errors.New("the child failed by itself")
		}
	}
	child.Wait()
	return v.check()
}

// read takes in what the children have written down.
func (v *victim) read() error {
	text, err := os.ReadFile(v.released())
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	for line := range strings.Lines(string(text)) {
		question, answer, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if ok {
			v.answers[question] = answer
		} else if question == "exhausted" {
			v.exhausts = true
		}
	}
	return nil
}

func (v *victim) check() error {
	if err := v.read(); err != nil {
		return err
	}
	if _, err := os.Stat(v.ledger()); os.IsNotExist(err) && len(v.answers) == 0 {
		return nil // killed before there was a ledger
	}
	before, err := sqlite.Verify(v.ledger())
	if err != nil {
		return err
	}
	charges := before.Charges
	v.lost = int(charges - before.Answers)
	db, err := discreet.Open(background, v.policy())
	if err != nil {
		return err
	}
	defer db.Close()
	accounts, err := db.Budget(background, "hospital")
	if err != nil {
		return err
	}
	for _, a := range accounts {
		if !a.Spent.Within(a.Limit) {
			return fmt.Errorf("%s has spent %v of %v", a.Name, a.Spent, a.Limit)
		}
	}
	if got := accounts[0].Spent.Epsilon; got != tenth*dp.Amount(charges) || got < v.spent {
		return fmt.Errorf("%d charges, but %v was spent, after %v", charges, got, v.spent)
	}
	v.spent = accounts[0].Spent.Epsilon
	if int(before.Answers) < len(v.answers) {
		return fmt.Errorf("%d answers were released, and %d kept", len(v.answers), before.Answers)
	}
	for question, want := range v.answers {
		a, err := db.Ask(background, api.Question{Analyst: "ben", SQL: question})
		if err != nil {
			return fmt.Errorf("%s was answered before: %w", question, err)
		}
		if got := fmt.Sprintf("%v %d", a.Rows, a.Receipt.Sequence); got != want || !a.Receipt.Free || a.Cost != (dp.Cost{}) {
			return fmt.Errorf("%s was answered %s and is now %s, at %v", question, want, got, a.Cost)
		}
	}
	if err := db.Close(); err != nil {
		return err
	}
	after, err := sqlite.Verify(v.ledger())
	if err != nil || after.Charges != before.Charges || after.Answers != before.Answers {
		return fmt.Errorf("asking again changed the ledger: %v", err)
	}
	// That the process died is recorded once, where it may have been at work.
	if more := after.Records - before.Records; more > 1 || more == 1 && v.lost == 0 {
		return fmt.Errorf("%d records more, with %d charges without an answer", more, v.lost)
	}
	return nil
}

func TestKilledAtAnyMoment(t *testing.T) {
	rounds := int64(daily.Rounds(16, 50))
	if testing.Short() {
		rounds = 10
	}
	const perVictim, workers = 8, 3
	var done, answered, released, lost, exhausted atomic.Int64
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			var v *victim
			patience := 300 * time.Millisecond
			count := func() {
				if v != nil {
					released.Add(int64(len(v.answers)))
					lost.Add(int64(v.lost))
					if v.exhausts {
						exhausted.Add(1)
					}
				}
			}
			defer func() { count() }()
			// Whether a process dies between a charge and its answer is chance; the rounds go on
			// until it has happened.
			met := func() bool { return answered.Load() >= rounds/2 && (lost.Load() > 0 || testing.Short()) }
			for i := 0; done.Add(1) <= rounds || !met() && done.Load() < 20*rounds; i++ {
				if i%perVictim == 0 {
					count()
					var err error
					if v, err = newVictim(t.TempDir()); err != nil {
						t.Error(err)
						return
					}
				}
				before := len(v.answers)
				v.patience = patience
				if err := v.round(); err != nil {
					t.Error(err)
					return
				}
				// A busy machine gets nothing done in the time that is enough for an idle one.
				if answered.Add(int64(len(v.answers) - before)); len(v.answers) == 0 {
					patience = min(2*patience, 10*time.Second)
				}
			}
		})
	}
	wg.Wait()
	t.Logf("%d answers released, %d charges lost their answer, %d budgets ran out", released.Load(), lost.Load(), exhausted.Load())
	// A test that never met a process at work would prove nothing.
	if released.Load() < rounds/2 || !testing.Short() && lost.Load() == 0 {
		t.Error("the rounds were too short to mean anything")
	}
}

// An answer that is not in the ledger is noticed.
func TestKillSeesUnpaidAnswers(t *testing.T) {
	v, err := newVictim(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	db := open(t, v.policy())
	a, err := db.Ask(background, api.Question{Analyst: "ana", SQL: people})
	if err != nil {
		t.Fatal(err)
	}
	db.Close()
	write := func(line string) {
		if err := os.WriteFile(v.released(), []byte(line), 0o600); err != nil {
			t.Fatal(err)
		}
		clear(v.answers)
	}
	write(fmt.Sprintf("%s\t%v %d\n", people, a.Rows, a.Receipt.Sequence))
	if err := v.check(); err != nil {
		t.Fatalf("a good answer: %v", err)
	}
	for _, line := range []string{
		people + "\t[[12345]] 1\n",
		"SELECT COUNT(*) FROM visits\t[[1]] 1\n",
		fmt.Sprintf("%s\t%v %d\n", people, a.Rows, a.Receipt.Sequence+1),
	} {
		write(line)
		if v.check() == nil {
			t.Errorf("%q was not noticed", line)
		}
	}
}
