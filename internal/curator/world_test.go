package curator

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/mech"
	"github.com/discreet-dp/discreet/internal/curator/answers"
	"github.com/discreet-dp/discreet/internal/curator/pricing"
	"github.com/discreet-dp/discreet/internal/engine/duckdb"
	"github.com/discreet-dp/discreet/internal/entropy"
	"github.com/discreet-dp/discreet/internal/lab/hospital"
	"github.com/discreet-dp/discreet/internal/ledger/sqlite"
	"github.com/discreet-dp/discreet/internal/planner"
	"github.com/discreet-dp/discreet/internal/planner/syntax"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/internal/session/sessionhost"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/policy"
)

const (
	// pure is a budget of ten questions at the default.
	pure = "{epsilon: 1, per_query: {default: 0.1, max: 1}}"
	// concentrated is an (epsilon, delta) budget.
	concentrated = "{epsilon: 1, delta: 1e-6, per_query: {default: 0.1, max: 1}}"
	// plenty never runs out in a test.
	plenty = "{epsilon: 100, per_query: {default: 0.1, max: 1}}"
)

var ctx = context.Background()

// world is a hospital with a real engine, a real ledger and its curator.
type world struct {
	*Curator
	t       testing.TB
	dir     string
	dataset *policy.Dataset
	data    *duckdb.Engine
	books   *sqlite.Ledger
	noise   *mech.Releaser
	wire    *recorder // between the curator and both
}

// newWorld makes a small hospital under a budget.
func newWorld(t testing.TB, budget string) *world {
	t.Helper()
	return build(t, hospital.New(200, 1), hospital.Dataset("hospital", "data", budget), 1)
}

// build writes a hospital, a dataset of a policy and files, and opens them. Its noise is that of the
// seed.
func build(t testing.TB, h *hospital.Hospital, dataset string, seed byte, files ...map[string]string) *world {
	t.Helper()
	dir := inMemory(t)
	check(t, h.Write(filepath.Join(dir, "data")))
	for _, some := range files {
		for name, text := range some {
			check(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
		}
	}
	return open(t, dir, "datasets:\n"+dataset, seed, duckdb.Limits{})
}

// open opens the dataset hospital of a policy in a folder where its data is.
func open(t testing.TB, dir, text string, seed byte, limits duckdb.Limits) *world {
	t.Helper()
	w := &world{t: t, dir: dir, wire: &recorder{}, noise: seeded(seed)}
	path := filepath.Join(dir, "policy.yaml")
	w.check(os.WriteFile(path, []byte(text), 0o600))
	p, err := policy.Load(path)
	w.check(err)
	w.dataset = p.Datasets["hospital"]
	w.data, err = duckdb.OpenWith(ctx, w.dataset, limits)
	w.check(err)
	t.Cleanup(func() { w.data.Close() })
	w.openBooks()
	w.rewire(w.data, w.books)
	return w
}

func (w *world) openBooks() {
	w.t.Helper()
	books, err := sqlite.Open(filepath.Join(w.dir, "policy.ledger"))
	w.check(err)
	w.books = books
	w.t.Cleanup(func() { books.Close() })
}

// reopen closes the ledger, as at the end of a process, and opens it anew.
func (w *world) reopen() {
	w.t.Helper()
	w.check(w.books.Close())
	w.openBooks()
	w.noise = seeded(99)
	w.rewire(w.wire.Engine, w.books)
}

func (w *world) check(err error) {
	w.t.Helper()
	check(w.t, err)
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// ask asks as ana, at the default price.
func (w *world) ask(text string) (*api.Answer, error) { return w.askAs("ana", text, 0) }

func (w *world) askAs(analyst, text string, epsilon dp.Amount) (*api.Answer, error) {
	return w.Ask(ctx, api.Question{Analyst: analyst, SQL: text, Epsilon: epsilon, Request: freshID()})
}

func (w *world) mustAsk(text string) *api.Answer {
	w.t.Helper()
	a, err := w.ask(text)
	if err != nil {
		w.t.Fatalf("%s: %v", text, err)
	}
	return a
}

// spent returns what was spent in the dataset's account.
func (w *world) spent() dp.Cost {
	w.t.Helper()
	accounts, err := w.Accounts(ctx)
	w.check(err)
	return accounts[0].Spent
}

// records returns how many charges and answers there are.
func (w *world) records() (n uint64) {
	w.t.Helper()
	for r, err := range w.books.Records(ctx, 1) {
		w.check(err)
		if r.Kind == ledger.KindCharge || r.Kind == ledger.KindAnswer {
			n++
		}
	}
	return n
}

var requests atomic.Int64

func freshID() string { return fmt.Sprint("request ", requests.Add(1)) }

// seeded returns a releaser whose noise is the same for the same seed.
func seeded(seed byte) *mech.Releaser {
	return mech.NewReleaser(entropy.FromReader(rand.NewChaCha8([32]byte{seed})))
}

// price checks and prices a question.
func price(c interface{ Access() sessionhost.Access }, q api.Question) (*pricing.Priced, error) {
	a := c.Access()
	if err := a.Admit(q.Analyst); err != nil {
		return nil, err
	}
	s, err := pricing.Settings(q)
	if err != nil {
		return nil, err
	}
	statement, err := planner.PrepareText(a.Dataset, syntax.Open(q.SQL, q.Parsed), a.Options(ctx, s))
	if err != nil {
		return nil, err
	}
	if err := a.CheckTwice(statement); err != nil {
		return nil, err
	}
	if statement.Empty {
		return &pricing.Priced{Statement: statement, Settings: s}, nil
	}
	return pricing.Price(a.Dataset, statement, s, pricing.Currency{Pure: a.Dataset.Budget.Pure()})
}

// made finishes an answer whose noisy vectors are these.
func made(t testing.TB, p *pricing.Priced, noisy [][]int64) *api.Answer {
	t.Helper()
	a, err := answers.Finish(ctx, p, nil, []*answers.Released{{Measures: noisy, Quantiles: make([][][]int64, len(noisy))}})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// query is the only query of a statement.
func query(p *pricing.Priced) *tree.Query { return p.Purchases[0].Query }

// numbers shows the rows of an answer, for comparisons.
func numbers(a *api.Answer) string { return fmt.Sprint(a.Rows) }

// amount reads a decimal number.
func amount(text string) dp.Amount {
	a, err := dp.Parse(text)
	if err != nil {
		panic(err)
	}
	return a
}

// byAge is a family of questions that are all different.
func byAge(i int) string {
	return fmt.Sprintf("SELECT COUNT(*) FROM patients WHERE age > %d AND cost < %d", i%110, 1+i/110)
}

// contains reports whether a text holds every one of the others.
func contains(text string, all ...string) bool {
	for _, s := range all {
		if !strings.Contains(text, s) {
			return false
		}
	}
	return true
}

// inMemory makes a folder in memory where the system has one: to wait for a real disk proves
// nothing here.
func inMemory(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "curator-test-*")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}
