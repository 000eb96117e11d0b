package curatortest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/mech"
	"github.com/discreet-dp/discreet/internal/curator"
	"github.com/discreet-dp/discreet/internal/curator/pricing"
	"github.com/discreet-dp/discreet/internal/detrand"
	"github.com/discreet-dp/discreet/internal/engine/duckdb"
	"github.com/discreet-dp/discreet/internal/lab/hospital"
	"github.com/discreet-dp/discreet/internal/ledger/replay"
	"github.com/discreet-dp/discreet/internal/ledger/sqlite"
	"github.com/discreet-dp/discreet/internal/planner"
	"github.com/discreet-dp/discreet/internal/planner/syntax"
	"github.com/discreet-dp/discreet/internal/session/sessionhost"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/policy"
)

const (
	// Pure is a budget of ten questions at the default.
	Pure = "{epsilon: 1, per_query: {default: 0.1, max: 1}}"
	// Concentrated is an (epsilon, delta) budget.
	Concentrated = "{epsilon: 1, delta: 1e-6, per_query: {default: 0.1, max: 1}}"
	// Plenty never runs out in a test.
	Plenty = "{epsilon: 100, per_query: {default: 0.1, max: 1}}"
)

// World is a hospital with a real engine, a real ledger and its curator.
type World struct {
	*curator.Curator
	T       testing.TB
	Dir     string
	Dataset *policy.Dataset
	Data    *duckdb.Engine
	Ledger  *sqlite.Ledger
	Noise   *mech.Releaser
	Wire    *Recorder // between the curator and both
	left    func()

	counting      sync.Mutex
	counted, upTo uint64 // charges and answers in the ledger, up to a record
}

// New makes a small hospital under a budget.
func New(t testing.TB, budget string) *World {
	t.Helper()
	return Build(t, hospital.New(200, 1), hospital.Dataset("hospital", "data", budget), 1)
}

// Build writes a hospital, a dataset of a policy and files, and opens them; or takes them over from
// a test that has ended, with a ledger that is new. Its noise is that of the seed.
func Build(t testing.TB, h *hospital.Hospital, dataset string, seed byte, files ...map[string]string) *World {
	t.Helper()
	text := "datasets:\n" + dataset
	o := open(t, h, text, files)
	w := &World{T: t, Dir: o.dir, Wire: &Recorder{}, Noise: Seeded(seed), Dataset: o.dataset, Data: o.engine}
	w.left = sync.OnceFunc(func() { o.leave(w, text) })
	t.Cleanup(w.left)
	w.OpenLedger()
	w.Rewire(w.Data, w.Ledger)
	return w
}

// Leave is for a test that builds several worlds: it does not need this one any more, and the next
// may take over its engine.
func (w *World) Leave() {
	w.T.Helper()
	w.Check(w.Ledger.Close())
	w.left()
}

// Open opens the dataset hospital of a policy in a folder where its data is.
func Open(t testing.TB, dir, text string, seed byte, limits duckdb.Limits) *World {
	t.Helper()
	w := &World{T: t, Dir: dir, Wire: &Recorder{}, Noise: Seeded(seed), Dataset: readPolicy(t, dir, text)}
	var err error
	w.Data, err = duckdb.OpenWith(ctx, w.Dataset, limits)
	w.Check(err)
	t.Cleanup(func() { w.Data.Close() })
	w.OpenLedger()
	w.Rewire(w.Data, w.Ledger)
	return w
}

func (w *World) OpenLedger() {
	w.T.Helper()
	opened, err := sqlite.Open(filepath.Join(w.Dir, "policy.ledger"))
	w.Check(err)
	w.Ledger, w.counted, w.upTo = opened, 0, 0
	w.T.Cleanup(func() { opened.Close() })
}

// Reopen closes the ledger, as at the end of a process, and opens it anew.
func (w *World) Reopen() {
	w.T.Helper()
	w.Check(w.Ledger.Close())
	w.OpenLedger()
	w.Noise = Seeded(99)
	w.Rewire(w.Wire.Engine, w.Ledger)
}

func (w *World) Check(err error) {
	w.T.Helper()
	Check(w.T, err)
}

func Check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// AskSQL asks as ana, at the default price.
func (w *World) AskSQL(text string) (*api.Answer, error) { return w.AskAs("ana", text, 0) }

func (w *World) AskAs(analyst, text string, epsilon dp.Amount) (*api.Answer, error) {
	return w.Ask(ctx, api.Question{Analyst: analyst, SQL: text, Epsilon: epsilon, Request: FreshID()})
}

func (w *World) MustAsk(text string) *api.Answer {
	w.T.Helper()
	a, err := w.AskSQL(text)
	if err != nil {
		w.T.Fatalf("%s: %v", text, err)
	}
	return a
}

// Spent returns what was spent in the dataset's account.
func (w *World) Spent() dp.Cost {
	w.T.Helper()
	accounts, err := w.Accounts(ctx)
	w.Check(err)
	return accounts[0].Spent
}

// RecordCount returns how many charges and answers there are. It looks at what is new: nobody takes
// a record away, and tests ask this after each of hundreds of questions.
func (w *World) RecordCount() uint64 {
	w.T.Helper()
	w.counting.Lock()
	defer w.counting.Unlock()
	for r, err := range w.Ledger.Records(ctx, w.upTo+1) {
		w.Check(err)
		if r.Kind == ledger.KindCharge || r.Kind == ledger.KindAnswer {
			w.counted++
		}
		w.upTo = r.Sequence
	}
	return w.counted
}

var requests atomic.Int64

func FreshID() string { return fmt.Sprint("request ", requests.Add(1)) }

// Seeded returns a releaser whose noise is the same for the same seed.
func Seeded(seed byte) *mech.Releaser {
	return mech.NewReleaser(detrand.Noise("curator", uint64(seed)))
}

func Price(c interface{ Access() sessionhost.Access }, q api.Question) (*pricing.Priced, error) {
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

// Numbers shows the rows of an answer, for comparisons.
func Numbers(a *api.Answer) string { return fmt.Sprint(a.Rows) }

func Amount(text string) dp.Amount {
	a, err := dp.Parse(text)
	if err != nil {
		panic(err)
	}
	return a
}

// ByAge is a family of questions that are all different.
func ByAge(i int) string {
	return fmt.Sprintf("SELECT COUNT(*) FROM patients WHERE age > %d AND cost < %d", i%110, 1+i/110)
}

// ContainsAll reports whether a text holds every one of the others.
func ContainsAll(text string, all ...string) bool {
	for _, s := range all {
		if !strings.Contains(text, s) {
			return false
		}
	}
	return true
}

// MemoryDir makes a folder in memory where the system has one: to wait for a real disk proves
// nothing here.
func MemoryDir(t testing.TB) string {
	t.Helper()
	dir := makeDir(t)
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func makeDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "curator-test-*")
	if err != nil {
		dir, err = os.MkdirTemp("", "curator-test-*")
	}
	Check(t, err)
	return dir
}

// OnDisk checks a copy of the ledger's file as it is on disk now, and returns
// what it says. Nothing that is only in memory can be in it.
func (w *World) OnDisk() sqlite.Report {
	w.T.Helper()
	file := filepath.Join(w.T.TempDir(), "copy")
	for _, suffix := range []string{"", "-wal"} {
		text, err := os.ReadFile(filepath.Join(w.Dir, "policy.ledger"+suffix))
		if suffix != "" && os.IsNotExist(err) {
			continue // it is closed, and a single file
		}
		w.Check(err)
		w.Check(os.WriteFile(file+suffix, text, 0o600))
	}
	r, err := sqlite.Verify(file)
	w.Check(err)
	return r
}

// Replayed decides the ledger once more, and returns what differs and what is in doubt.
func (w *World) Replayed() (differs, doubts []string) {
	w.T.Helper()
	p := replay.New()
	for r, err := range w.Ledger.Records(ctx, 0) {
		w.Check(err)
		d := p.Next(r, ledger.Hash(r.Encode()))
		differs, doubts = append(differs, d.Differs...), append(doubts, d.Doubts...)
	}
	return differs, doubts
}

// BearFailures lets a world fail as often as a test of something else needs it.
func (w *World) BearFailures() { w.Dataset.Failures = policy.Failures{Analyst: 1000, Dataset: 1000} }

// Incidents lists the incidents of the ledger.
func (w *World) Incidents() []string {
	w.T.Helper()
	var all []string
	for r, err := range w.Ledger.Records(ctx, 0) {
		w.Check(err)
		if r.Kind == ledger.KindIncident {
			all = append(all, fmt.Sprintf("%s %s", r.Analyst, r.Failure))
		}
	}
	return all
}

func IsLockedOut(err error) bool { return errors.As(err, new(*ledger.LockoutError)) }

func (w *World) LetIn(analyst string) {
	w.T.Helper()
	_, err := w.Ledger.Enter(ctx, ledger.Release{Dataset: "hospital", Analyst: analyst, Reason: "looked at it"})
	w.Check(err)
}

// LockOut locks ana out, as a question of hers does that fails.
func (w *World) LockOut() {
	w.T.Helper()
	_, err := w.Ledger.Fail(ctx,
		ledger.Incident{Analyst: "ana", Dataset: "hospital", Failure: ledger.FailedError, ByAnalyst: 1, ByDataset: 3})
	w.Check(err)
}

// MustBeFree asks what was asked before and checks that it is the same answer, free.
func (w *World) MustBeFree(r *Recorder, analyst, text string, want *api.Answer) {
	w.T.Helper()
	before := w.RecordCount()
	r.Take()
	a, err := w.AskAs(analyst, text, 0)
	if err != nil {
		w.T.Errorf("%s: %v", text, err)
		return
	}
	if !a.Receipt.Free || a.Cost != (dp.Cost{}) || w.RecordCount() != before || a.Receipt.Sequence != want.Receipt.Sequence {
		w.T.Errorf("%s as %s: cost %v, receipt %+v; want it free", text, analyst, a.Cost, a.Receipt)
	}
	if Numbers(a) != Numbers(want) {
		w.T.Errorf("%s: %v; before %v", text, Numbers(a), Numbers(want))
	}
	if calls := r.Take(); slices.Contains(calls, "run") || slices.Contains(calls, "charge") {
		w.T.Errorf("%s: %v", text, calls)
	}
}

// MustBeCharged asks what is a new question and checks that it is charged.
func (w *World) MustBeCharged(analyst, text string, epsilon dp.Amount) *api.Answer {
	w.T.Helper()
	before := w.RecordCount()
	a, err := w.AskAs(analyst, text, epsilon)
	if err != nil {
		w.T.Fatalf("%s: %v", text, err)
	}
	if a.Receipt.Free || a.Cost.Epsilon == 0 || w.RecordCount() != before+2 {
		w.T.Errorf("%s: cost %v, receipt %+v; want it charged", text, a.Cost, a.Receipt)
	}
	return a
}

// Parsed reads a dataset's policy; its data need not exist.
func Parsed(t testing.TB, dataset string) *policy.Dataset {
	t.Helper()
	p, err := policy.Parse("policy.yaml", []byte("datasets:\n"+dataset))
	if err != nil {
		t.Fatal(err)
	}
	return p.Datasets[p.Names()[0]]
}

func AsFloat(v any) float64 {
	f, err := v.(interface{ Float64() (float64, error) }).Float64()
	if err != nil {
		panic(err)
	}
	return f
}

var Wealthy = "{epsilon: 100, delta: 1e-6, per_query: {min: 0.01, default: 0.1, max: 1}}"

const (
	Daily  = "SELECT day, COUNT(*) AS n FROM visits WHERE day BETWEEN '2025-01-01' AND '2025-12-31' GROUP BY day"
	Yearly = "SELECT day, COUNT(*) AS n, SUM(COUNT(*)) OVER (ORDER BY day) AS total FROM visits " +
		"WHERE day BETWEEN '2025-01-01' AND '2025-12-31' GROUP BY day ORDER BY day"
)

const Rolled = "SELECT sex, smoker, COUNT(*) AS n, GROUPING(sex, smoker) AS g FROM patients GROUP BY ROLLUP (sex, smoker)"

// AtOnce runs f n times at once.
func AtOnce(n int, f func(i int)) {
	var wg sync.WaitGroup
	start := make(chan struct{})
	for i := range n {
		wg.Go(func() { <-start; f(i) })
	}
	close(start)
	wg.Wait()
}

const Cubed = "SELECT sex, smoker, age >= 65 AS old, COUNT(*) AS n, GROUPING(sex, smoker, age >= 65) AS g FROM patients " +
	"WHERE sex IN ('F', 'M', 'X') AND smoker IS NOT NULL GROUP BY CUBE (sex, smoker, age >= 65)"
