package sessionhost_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/curator/pricing"
	"github.com/discreet-dp/discreet/internal/lab/hospital"
	"github.com/discreet-dp/discreet/internal/session/sessionhost"
	"github.com/discreet-dp/discreet/internal/session/sparsesession"
	"github.com/discreet-dp/discreet/internal/test/curatortest"
	"github.com/discreet-dp/discreet/ledger"
)

// unpaid says what is wrong where the engine runs and the file does not say so much was charged.
func unpaid(w *curatortest.World, cost dp.Cost) error {
	got := w.OnDisk()
	if got.Charges != 1 || got.Balances[0].Spent.Epsilon < cost.Epsilon {
		return fmt.Errorf("when the engine runs the file says %+v; want a charge of %v", got, cost)
	}
	return nil
}

// The whole session is paid for, on disk, before its first question is computed, and nothing of a
// question is looked up or kept.
func TestSparseOrder(t *testing.T) {
	w := curatortest.New(t, curatortest.Pure)
	r := w.Record()
	s := w.OpenSparse(nil)
	if got := r.Take(); !slices.Equal(got, []string{"version", "charge"}) {
		t.Errorf("opening: %v", got)
	}
	if s.Cost.Epsilon != curatortest.Amount("0.1") || r.Charges[0].Cost != s.Cost || s.Receipt.Sequence != 2 || s.Receipt.Hash == "" ||
		!strings.Contains(r.Charges[0].Mechanisms, "sparse(") {
		t.Errorf("%+v, charged %+v", s, r.Charges[0])
	}
	r.Before["run"] = func() error { return unpaid(w, s.Cost) }
	for range 3 {
		v, err := s.Ask(ctx, curatortest.Patients, "-1000000")
		if v == nil && err != api.ErrSessionUsed {
			t.Fatal(err)
		}
	}
	if got := r.Take(); !slices.Equal(got, []string{"version", "run", "version", "run"}) {
		t.Errorf("asking: %v", got)
	}
	// The planted bug: a session that is charged after its first question.
	late := curatortest.New(t, curatortest.Pure)
	rl := late.Record()
	a := late.Access()
	a.Cashier, a.Journal = chargesNothing{a.Cashier}, &forgetsOne{Journal: a.Journal}
	late.Sparse = sparsesession.New(a)
	lateSession := late.OpenSparse(func(q *api.SparseQuestion) { q.Above = 1 })
	noticed := error(nil)
	rl.Before["run"] = func() error { noticed = unpaid(late, lateSession.Cost); return nil }
	if _, err := lateSession.Ask(ctx, curatortest.Patients, "1"); !errors.Is(err, ledger.ErrUnpaid) {
		t.Errorf("a session that was not paid for answers: %v", err)
	}
	if noticed == nil {
		t.Error("a session that was not paid for is not noticed")
	}
}

type chargesNothing struct{ sessionhost.Cashier }

func (chargesNothing) Charge(context.Context, string, ledger.Charge) (ledger.Receipt, error) {
	return ledger.Receipt{Window: 1}, nil
}

// forgetsOne does not write the first note, that a session was opened.
type forgetsOne struct {
	sessionhost.Journal
	noted bool
}

func (f *forgetsOne) Note(ctx context.Context, session string, entry []byte) error {
	if !f.noted {
		f.noted = true
		return nil
	}
	return f.Journal.Note(ctx, session, entry)
}

func TestSparseAnswers(t *testing.T) {
	w := curatortest.Build(t, hospital.New(2000, 1), hospital.Dataset("hospital", "data",
		"{epsilon: 100, per_query: {default: 20, max: 50}}"), 3)
	s := w.OpenSparse(func(q *api.SparseQuestion) { q.Values = true })
	v, err := s.Ask(ctx, curatortest.Patients, "4000")
	w.Check(err)
	if v.Above || v.Value != nil || v.Left != 2 || !(v.Error > 0 && v.Error < 10) {
		t.Errorf("%+v", v)
	}
	first := v.Error
	v, err = s.Ask(ctx, curatortest.Patients, "1000")
	w.Check(err)
	if !v.Above || v.Value == nil || v.Left != 1 || v.Error < first {
		t.Fatalf("%+v", v)
	}
	var value int
	if _, err := fmt.Sscan(*v.Value, &value); err != nil || value < 1990 || value > 2010 {
		t.Errorf("value %s", *v.Value)
	}
	if v, err = s.Ask(ctx, curatortest.Patients, "1000"); err != nil || !v.Above || v.Left != 0 {
		t.Errorf("%+v, %v", v, err)
	}
	if _, err = s.Ask(ctx, curatortest.Patients, "1000"); err != api.ErrSessionUsed {
		t.Error(err)
	}
	// Money is on a lattice of cents, and so is the session.
	s = w.OpenSparse(func(q *api.SparseQuestion) { q.Sensitivity, q.Step, q.Values = 10_000, "0.01", true })
	v, err = s.Ask(ctx, "SELECT SUM(cost) FROM patients", "0.01")
	w.Check(err)
	if !v.Above || v.Value == nil || len(*v.Value)-strings.IndexByte(*v.Value, '.') != 3 {
		t.Errorf("%+v", v)
	}
}

// A question that the session is not for is refused, computes nothing, and the session goes on.
func TestSparseRefuses(t *testing.T) {
	w := curatortest.New(t, curatortest.Plenty)
	r := w.Record()
	s := w.OpenSparse(nil)
	wide := w.OpenSparse(func(q *api.SparseQuestion) { q.Sensitivity = 200 })
	r.Take()
	for _, c := range []struct {
		s                    *sparsesession.Session
		sql, threshold, want string
	}{
		{s, "SELECT COUNT(*) FROM visits", "1", "one person can move this by 6"},
		{s, "SELECT SUM(age) FROM patients", "1", "one person can move this by 110"},
		{s, "SELECT SUM(cost) FROM patients", "1", "steps of 1/100"},
		{wide, "SELECT SUM(age - 50) FROM patients", "1", "can be negative"},
		{s, "SELECT sex, COUNT(*) FROM patients GROUP BY sex", "1", "one count or one sum"},
		{s, "SELECT COUNT(*) FROM patients GROUP BY sex", "1", "one count or one sum"},
		{s, "SELECT COUNT(*), COUNT(age) FROM patients", "1", "one count or one sum"},
		{s, "SELECT COUNT(*), COUNT(*) FROM patients", "1", "one count or one sum"},
		{s, "SELECT AVG(age) FROM patients", "1", "one count or one sum"},
		{s, "SELECT MEDIAN(age) FROM patients", "1", "one count or one sum"},
		{s, "SELECT COUNT(*) + 1 FROM patients", "1", "itself"},
		{s, "SELECT dp_low(COUNT(*)) FROM patients", "1", "itself"},
		{s, "SELECT COUNT(*) FROM patients HAVING COUNT(*) > 5", "1", "HAVING"},
		{s, "SELECT COUNT(*) FROM patients LIMIT 0", "1", "LIMIT"},
		{s, "SELECT diagnosis FROM patients GROUP BY diagnosis ORDER BY COUNT(*) DESC LIMIT 1", "1", "one count or one sum"},
		{s, "SELECT n FROM (SELECT COUNT(*) AS n FROM patients) AS t", "1", "cannot have a query around it"},
		{s, "SELECT COUNT(*) FROM patients UNION ALL SELECT COUNT(*) FROM patients", "1", "cannot have a query around it"},
		{s, "SELECT pid FROM patients", "1", ""},
		{s, curatortest.Patients, "many", "not a number"},
		{s, curatortest.Patients, "NaN", "not a number"},
		{s, curatortest.Patients, "0.5", "lattice"},
		{s, curatortest.Patients, "1e300", "lattice"},
		{s, curatortest.Patients, "1e999999999", "not a number"},
	} {
		v, err := c.s.Ask(ctx, c.sql, c.threshold)
		var refused *api.Refusal
		if !errors.As(err, &refused) || !strings.Contains(refused.Reason, c.want) {
			t.Errorf("%s >= %s: %+v, %v", c.sql, c.threshold, v, err)
		}
	}
	if got := r.Take(); len(got) != 0 {
		t.Errorf("what was refused did %v", got)
	}
	if _, err := s.Ask(ctx, "SELECT COUNT(DISTINCT pid) FROM visits", "1"); err != nil {
		t.Error(err)
	}
	signed := w.OpenSparse(func(q *api.SparseQuestion) { q.Sensitivity, q.Signed = 200, true })
	if _, err := signed.Ask(ctx, "SELECT SUM(age - 50) FROM patients", "1"); err != nil {
		t.Error(err)
	}
	spent := w.Spent()
	for _, change := range []func(*api.SparseQuestion){
		func(q *api.SparseQuestion) { q.Analyst = "nobody" },
		func(q *api.SparseQuestion) { q.Above = 0 },
		func(q *api.SparseQuestion) { q.Above = 1 << 40 },
		func(q *api.SparseQuestion) { q.Sensitivity = 0 },
		func(q *api.SparseQuestion) { q.Step = "-1" },
		func(q *api.SparseQuestion) { q.Step = "0.3" },
		func(q *api.SparseQuestion) { q.Epsilon = 2 * dp.One },
		func(q *api.SparseQuestion) { q.Epsilon = 1 },
	} {
		q := api.SparseQuestion{Analyst: "ana", Above: 2, Sensitivity: 1, Request: curatortest.FreshID()}
		change(&q)
		var refused *api.Refusal
		if _, err := w.Sparse.Open(ctx, q); !errors.As(err, &refused) {
			t.Errorf("%+v: %v", q, err)
		}
	}
	if w.Spent() != spent {
		t.Error("a refusal was charged for")
	}
}

// What is charged is what the mechanism claims, in the currency of the budget, and never more than
// was asked for.
func TestSparseCharge(t *testing.T) {
	for _, budget := range []string{curatortest.Plenty, curatortest.Rich} {
		for _, above := range []int{1, 3, 40} {
			for _, values := range []bool{false, true} {
				w := curatortest.New(t, budget)
				s := w.OpenSparse(func(q *api.SparseQuestion) { q.Above, q.Values, q.Epsilon = above, values, dp.One/2 })
				spent, claimed := w.Spent(), s.Cost
				w.Leave()
				if budget == curatortest.Plenty {
					if spent.Epsilon != dp.One/2 || spent.Epsilon != claimed.Epsilon {
						t.Errorf("spent %v, claimed %v", spent, claimed)
					}
					continue
				}
				tariff := pricing.Currency{}.Amount(dp.One / 2)
				if spent.Rho != claimed.Rho || spent.Rho > tariff || spent.Rho.Float() < 0.999*tariff.Float() ||
					s.Cost.Epsilon != dp.One/2 {
					t.Errorf("above %d: spent %v, claimed %v, the tariff is %v", above, spent, claimed, tariff)
				}
			}
		}
	}
	w := curatortest.New(t, curatortest.Pure)
	q := api.SparseQuestion{Analyst: "ana", Above: 1, Sensitivity: 1, Epsilon: dp.One, Request: "a"}
	if _, err := w.Sparse.Open(ctx, q); err != nil {
		t.Fatal(err)
	}
	q.Request = "b"
	var over *ledger.BudgetError
	if _, err := w.Sparse.Open(ctx, q); !errors.As(err, &over) {
		t.Errorf("the budget is spent: %v", err)
	}
}

// One charge has one noise, before and after a restart, and at the same time.
func TestSparseRequest(t *testing.T) {
	w := curatortest.New(t, curatortest.Plenty)
	q := api.SparseQuestion{Analyst: "ana", Above: 1, Sensitivity: 1, Request: "once"}
	var opened atomic.Int32
	curatortest.AtOnce(8, func(int) {
		s, err := w.Sparse.Open(ctx, q)
		var refused *api.Refusal
		switch {
		case s != nil:
			opened.Add(1)
		case !errors.As(err, &refused) || !strings.Contains(err.Error(), "cannot be opened twice"):
			t.Error(err)
		}
	})
	if opened.Load() != 1 || w.Spent().Epsilon != curatortest.Amount("0.1") {
		t.Errorf("%d sessions for %v", opened.Load(), w.Spent().Epsilon)
	}
	w.Reopen()
	if s, err := w.Sparse.Open(ctx, q); s != nil || err == nil {
		t.Error("a session was opened again after a restart")
	}
	var other *ledger.RequestError
	if _, err := w.Ask(ctx, api.Question{Analyst: "ana", SQL: curatortest.Patients, Request: "once"}); !errors.As(err, &other) {
		t.Errorf("a question in the name of a session: %v", err)
	}
	q.Above = 2
	if _, err := w.Sparse.Open(ctx, q); !errors.As(err, &other) {
		t.Errorf("another session in its name: %v", err)
	}
	if _, err := w.Ask(ctx, api.Question{Analyst: "ana", SQL: curatortest.Patients, Request: "asked"}); err != nil {
		t.Fatal(err)
	}
	q.Request = "asked"
	if _, err := w.Sparse.Open(ctx, q); !errors.As(err, &other) {
		t.Errorf("a session in the name of a question: %v", err)
	}
}

// Answers of a session are not remembered, and answers that are do not become verdicts.
func TestSparseRemembersNothing(t *testing.T) {
	w := curatortest.New(t, curatortest.Plenty)
	r := w.Record()
	w.MustAsk(curatortest.Patients)
	s := w.OpenSparse(func(q *api.SparseQuestion) { q.Above = 100 })
	records := w.RecordCount()
	r.Take()
	for range 3 {
		_, err := s.Ask(ctx, curatortest.Patients, "1")
		w.Check(err)
	}
	if got := r.Take(); slices.Contains(got, "recall") || slices.Contains(got, "keep") || w.RecordCount() != records {
		t.Errorf("a session does %v", got)
	}
	_, err := s.Ask(ctx, "SELECT COUNT(*) FROM patients WHERE age > 30", "1")
	w.Check(err)
	if a := w.MustAsk("SELECT COUNT(*) FROM patients WHERE age > 30"); a.Receipt.Free {
		t.Error("a question of a session was remembered as an answer")
	}
}

// The first question that the engine does not finish is the last one, with one text.
func TestSparseEngineFails(t *testing.T) {
	w := curatortest.New(t, curatortest.Plenty)
	w.BearFailures()
	r := w.Record()
	for name, fail := range map[string]func(cancel func()) error{
		"a failure":    func(func()) error { return errors.New("a cause") },
		"a cancelling": func(cancel func()) error { cancel(); return nil },
	} {
		s := w.OpenSparse(nil)
		cancelled, cancel := context.WithCancel(ctx)
		r.Before["run"] = func() error { return fail(cancel) }
		if _, err := s.Ask(cancelled, curatortest.Patients, "1"); err != api.ErrSessionRun {
			t.Errorf("%s: %v", name, err)
		}
		delete(r.Before, "run")
		if _, err := s.Ask(ctx, curatortest.Patients, "1"); err != api.ErrSessionRun {
			t.Errorf("after %s: %v", name, err)
		}
		cancel()
	}
	// Who stops waiting for a turn, or comes too late, has computed nothing.
	s := w.OpenSparse(nil)
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	running, finish, first := make(chan struct{}), make(chan struct{}), make(chan error)
	r.Before["run"] = func() error { close(running); <-finish; return nil }
	go func() {
		_, err := s.Ask(ctx, curatortest.Patients, "1000000")
		first <- err
	}()
	<-running
	if _, err := s.Ask(cancelled, curatortest.Patients, "1"); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	close(finish)
	w.Check(<-first)
	delete(r.Before, "run")
	for range 20 { // which of the two is noticed first is chance
		if _, err := s.Ask(cancelled, curatortest.Patients, "1"); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
	if _, err := s.Ask(ctx, curatortest.Patients, "1"); err != nil {
		t.Error(err)
	}
}

func TestSparseDataChanges(t *testing.T) {
	w := curatortest.New(t, curatortest.Plenty)
	s := w.OpenSparse(nil)
	_, err := s.Ask(ctx, curatortest.Patients, "1000000")
	w.Check(err)
	w.Check(hospital.New(300, 2).Write(filepath.Join(w.Dir, "data")))
	later := time.Now().Add(time.Hour)
	w.Check(os.Chtimes(filepath.Join(w.Dir, "data", "patients.csv"), later, later))
	for range 2 {
		if _, err := s.Ask(ctx, curatortest.Patients, "1000000"); err != api.ErrSessionData {
			t.Errorf("got %v", err)
		}
	}
	if _, err := w.OpenSparse(nil).Ask(ctx, curatortest.Patients, "1000000"); err != nil {
		t.Error(err)
	}
}

func TestSparseExpires(t *testing.T) {
	w := curatortest.New(t, curatortest.Plenty)
	s := w.OpenSparse(nil)
	w.Dataset.Analysts["ana"].Expires = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	w.SetClock(func() time.Time { return time.Date(2030, 1, 2, 0, 0, 0, 0, time.UTC) })
	if _, err := s.Ask(ctx, curatortest.Patients, "1"); err == nil || !strings.Contains(err.Error(), "ended on") {
		t.Error(err)
	}
}

// Many ask at once, and no more than was paid for is above.
func TestSparseAtOnce(t *testing.T) {
	w := curatortest.New(t, curatortest.Plenty)
	s := w.OpenSparse(func(q *api.SparseQuestion) { q.Above = 5 })
	var above, halted atomic.Int32
	curatortest.AtOnce(30, func(int) {
		v, err := s.Ask(ctx, curatortest.Patients, "-1000000")
		switch {
		case err == api.ErrSessionUsed:
			halted.Add(1)
		case err != nil:
			t.Error(err)
		case v.Above:
			above.Add(1)
		}
	})
	if above.Load() != 5 || halted.Load() != 25 || s.Left() != 0 {
		t.Errorf("%d above, %d refused", above.Load(), halted.Load())
	}
}

// A lockout that begins between the look at it and the note begins in time: the verdict is neither
// noted nor told, and the session is there after the release.
func TestSparseNoteUnderLockout(t *testing.T) {
	w := curatortest.New(t, curatortest.Plenty)
	r := w.Record()
	s := w.OpenSparse(nil)
	r.Before["note"] = func() error {
		delete(r.Before, "note")
		_, err := w.Ledger.Fail(ctx,
			ledger.Incident{Analyst: "ana", Dataset: "hospital", Failure: ledger.FailedError, ByAnalyst: 1, ByDataset: 3})
		return err
	}
	if v, err := s.Ask(ctx, curatortest.Patients, "100000"); !curatortest.IsLockedOut(err) || v != nil {
		t.Errorf("told under a lockout: %+v, %v", v, err)
	}
	if differs, _ := w.Replayed(); len(differs) > 0 {
		t.Error(differs)
	}
	w.LetIn("ana")
	if v, err := s.Ask(ctx, curatortest.Patients, "100000"); err != nil || v.Above {
		t.Errorf("after the release: %+v, %v", v, err)
	}
}

// A lockout that begins when a session has drawn an answer leaves the session as one that drew
// none: afterwards nothing tells whether the question failed.
func TestSparseDrawnWhenLockedOut(t *testing.T) {
	var seen []string
	for _, threshold := range []string{"-100000", "100000"} { // above, and not
		w := curatortest.New(t, curatortest.Plenty)
		r := w.Record()
		s := w.OpenSparse(nil)
		_, err := s.Ask(ctx, curatortest.Patients, "100000") // which notes that sessions run, too
		w.Check(err)
		r.Before["note"] = func() error {
			delete(r.Before, "note")
			w.LockOut()
			return nil
		}
		if v, err := s.Ask(ctx, curatortest.Patients, threshold); !curatortest.IsLockedOut(err) || v != nil {
			t.Errorf("told under a lockout: %+v, %v", v, err)
		}
		w.LetIn("ana")
		v, err := s.Ask(ctx, curatortest.Patients, "100000")
		w.Check(err)
		seen = append(seen, fmt.Sprintf("%+v, %d left", *v, s.Left()))
	}
	if seen[0] != seen[1] {
		t.Errorf("told apart: %q", seen)
	}
}

// TestSparseEndsWithItsWindow: a session that was opened in one window does not answer in the next.
func TestSparseEndsWithItsWindow(t *testing.T) {
	w := curatortest.NewTeam(t, curatortest.Monthly, curatortest.TwoAnalysts)
	r := w.Record()
	session := func() *sparsesession.Session {
		s, err := w.Sparse.Open(ctx, api.SparseQuestion{Analyst: "ana", Epsilon: dp.One / 4, Above: 2, Sensitivity: 1,
			Request: curatortest.FreshID()})
		w.Check(err)
		_, err = s.Ask(ctx, curatortest.Patients, "100000")
		w.Check(err)
		return s
	}
	first, second := session(), session()
	w.RenewNow()
	r.Take()
	for range 2 {
		if v, err := first.Ask(ctx, curatortest.Patients, "100000"); err != api.ErrSessionWindow || v != nil {
			t.Errorf("%+v, %v", v, err)
		}
	}
	if calls := r.Take(); slices.Contains(calls, "run") {
		t.Errorf("the engine was asked: %v", calls)
	}
	if v, err := second.Ask(ctx, curatortest.Patients, "-100000"); err != api.ErrSessionWindow || v != nil || second.Left() != 2 {
		t.Errorf("%+v, %v, %d left", v, err, second.Left())
	}
	// Also where it ends while the engine runs, and nothing is told of what was drawn.
	third := session()
	r.Before["run"] = func() error { w.RenewNow(); return nil }
	if v, err := third.Ask(ctx, curatortest.Patients, "-100000"); err != api.ErrSessionWindow || v != nil || third.Left() != 2 {
		t.Errorf("%+v, %v, %d left", v, err, third.Left())
	}
	if differs, doubts := w.Replayed(); len(differs)+len(doubts) > 0 {
		t.Error(differs, doubts)
	}
}
