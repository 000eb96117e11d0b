package curator_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/session/sessionhost"
	"github.com/discreet-dp/discreet/internal/test/curatortest"
	"github.com/discreet-dp/discreet/ledger"
)

var bought = []string{"version", "recall", "charge", "run", "version", "recall", "keep", "balances"}

func TestOrder(t *testing.T) {
	w := curatortest.New(t, curatortest.Pure)
	r := w.Record()
	r.Before["run"] = func() error {
		if got := w.OnDisk(); got.Charges != 1 || got.Answers != 0 || got.Balances[0].Spent.Epsilon != curatortest.Amount("0.1") {
			t.Errorf("when the engine runs the file says %+v; want the charge", got)
		}
		return nil
	}
	a := w.MustAsk("SELECT COUNT(*) FROM patients")
	if got := r.Take(); !slices.Equal(got, bought) {
		t.Errorf("the order is %v; want %v", got, bought)
	}
	if got := w.OnDisk(); got.Charges != 1 || got.Answers != 1 {
		t.Errorf("when Ask returns the file says %+v; want the charge and its answer", got)
	}
	if a.Receipt.Sequence != 2 || a.Receipt.Free || a.Receipt.Hash == "" || a.Cost.Epsilon != curatortest.Amount("0.1") {
		t.Errorf("receipt %+v, cost %v", a.Receipt, a.Cost)
	}
}

// Once the engine was touched the charge stays, and nothing can be had for it.
func TestEngineFails(t *testing.T) {
	w := curatortest.New(t, curatortest.Pure)
	r := w.Record()
	r.Before["run"] = func() error { return errors.New("a cause") }
	if _, err := w.AskSQL("SELECT COUNT(*) FROM patients"); err != sessionhost.ErrRun {
		t.Errorf("got %v; want the one fixed text", err)
	}
	// The incident is on the disk before anybody is told.
	if got := r.Take(); !slices.Equal(got, append(slices.Clone(bought[:4]), "fail")) {
		t.Errorf("the order is %v", got)
	}
	if got := w.OnDisk(); got.Charges != 1 || got.Answers != 0 || got.Balances[0].Spent.Epsilon != curatortest.Amount("0.1") {
		t.Errorf("the file says %+v; want a charge without an answer", got)
	}
}

// An analyst who stops waiting has paid, and the engine's error does not say how far it got.
func TestCancelled(t *testing.T) {
	w := curatortest.New(t, curatortest.Pure)
	r := w.Record()
	cancelled, cancel := context.WithCancel(ctx)
	r.Before["run"] = func() error { cancel(); return nil }
	q := api.Question{Analyst: "ana", SQL: "SELECT COUNT(*) FROM patients", Request: "once"}
	if _, err := w.Ask(cancelled, q); err != sessionhost.ErrRun {
		t.Errorf("got %v; want sessionhost.ErrRun", err)
	}
	if got := w.Spent().Epsilon; got != curatortest.Amount("0.1") {
		t.Errorf("spent %v; the charge must stay", got)
	}
	// The same request again is answered without a second charge.
	r.Before["run"] = nil
	a, err := w.Ask(ctx, q)
	w.Check(err)
	if !a.Receipt.Free || a.Cost != (dp.Cost{}) || w.Spent().Epsilon != curatortest.Amount("0.1") {
		t.Errorf("the retry cost %v; spent %v", a.Cost, w.Spent())
	}
	// Used for another question it is refused.
	q.SQL = "SELECT COUNT(*) FROM visits"
	var request *ledger.RequestError
	if _, err := w.Ask(ctx, q); !errors.As(err, &request) {
		t.Errorf("got %v; want a RequestError", err)
	}
}

// A question that is cancelled between its release and its being kept is kept all the same.
func TestCancelledWhileKeeping(t *testing.T) {
	w := curatortest.New(t, curatortest.Pure)
	r := w.Record()
	cancelled, cancel := context.WithCancel(ctx)
	r.Before["keep"] = func() error { cancel(); return nil }
	const text = "SELECT COUNT(*) FROM patients"
	if _, err := w.Ask(cancelled, api.Question{Analyst: "ana", SQL: text, Request: curatortest.FreshID()}); err == nil {
		t.Error("the context ended, and nobody said so")
	}
	if a := w.MustAsk(text); !a.Receipt.Free {
		t.Error("what was paid for was lost")
	}
}

func TestChargeFails(t *testing.T) {
	full := &ledger.WriteError{Path: "l", Err: errors.New("no space left on device")}
	for _, c := range []struct {
		name string
		fail func(*curatortest.World, *curatortest.Recorder)
		want func(error) bool
	}{
		{"disk", func(_ *curatortest.World, r *curatortest.Recorder) { r.Before["charge"] = func() error { return full } },
			func(err error) bool { return errors.Is(err, full) }},
		{"budget", func(w *curatortest.World, _ *curatortest.Recorder) {
			if _, err := w.AskAs("ana", "SELECT COUNT(*) FROM visits", dp.One); err != nil {
				t.Fatal(err)
			}
		}, func(err error) bool { var b *ledger.BudgetError; return errors.As(err, &b) }},
		{"closed", func(w *curatortest.World, _ *curatortest.Recorder) { w.Check(w.Ledger.Close()) }, func(err error) bool {
			return errors.Is(err, ledger.ErrClosed)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := curatortest.New(t, curatortest.Pure)
			r := w.Record()
			c.fail(w, r)
			before := w.OnDisk()
			r.Take()
			if _, err := w.AskSQL("SELECT COUNT(*) FROM patients"); !c.want(err) {
				t.Errorf("got %v", err)
			}
			if slices.Contains(r.Take(), "run") {
				t.Error("the engine ran without a charge")
			}
			if after := w.OnDisk(); after.Head != before.Head {
				t.Errorf("the ledger changed from %+v to %+v", before, after)
			}
		})
	}
}

// An answer that could not be kept is not released.
func TestKeepFails(t *testing.T) {
	w := curatortest.New(t, curatortest.Pure)
	full := &ledger.WriteError{Path: "l", Err: errors.New("no space left on device")}
	w.Record().Before["keep"] = func() error { return full }
	if a, err := w.AskSQL("SELECT COUNT(*) FROM patients"); a != nil || !errors.Is(err, full) {
		t.Errorf("got %v and %v", a, err)
	}
}

// What cannot be asked touches nothing at all.
func TestRefusedTouchesNothing(t *testing.T) {
	w := curatortest.New(t, curatortest.Pure)
	r := w.Record()
	for _, q := range []api.Question{
		{Analyst: "ana", SQL: "SELECT * FROM patients"},
		{Analyst: "ana", SQL: "SELECT COUNT(*) FROM patients", Epsilon: dp.One + 1},
		{Analyst: "ana", SQL: "SELECT COUNT(*), COUNT(age), SUM(age) FROM patients", Epsilon: 2},
		{Analyst: "bob", SQL: "SELECT COUNT(*) FROM patients"},
		{Analyst: "", SQL: "SELECT COUNT(*) FROM patients"},
		{Analyst: "ana", SQL: ""},
		// 111 ages, 2, 3, 5 and 6 kinds: 19,980 groups, and hundreds of sums.
		{Analyst: "ana", SQL: wide(200)},
	} {
		q.Request = curatortest.FreshID()
		var refusal *api.Refusal
		if _, err := w.Ask(ctx, q); !errors.As(err, &refusal) {
			t.Errorf("%.60s: got %v; want a Refusal", q.SQL, err)
		}
		if _, err := w.Explain(ctx, q); !errors.As(err, &refusal) {
			t.Errorf("explain %.60s: got %v; want a Refusal", q.SQL, err)
		}
	}
	if got := r.Take(); len(got) > 0 {
		t.Errorf("refused questions called %v", got)
	}
}

// An explanation is free and runs nothing.
func TestExplain(t *testing.T) {
	w := curatortest.New(t, curatortest.Pure)
	r := w.Record()
	q := api.Question{Analyst: "ana", SQL: "SELECT sex, AVG(age) FROM patients GROUP BY sex", Request: curatortest.FreshID()}
	before, err := w.Explain(ctx, q)
	w.Check(err)
	if got := r.Take(); slices.Contains(got, "run") || slices.Contains(got, "charge") || slices.Contains(got, "keep") {
		t.Errorf("an explanation called %v", got)
	}
	a, err := w.Ask(ctx, q)
	w.Check(err)
	if before.Cost != a.Cost || before.Known || !before.Affordable || len(before.Questions) != 1 || before.Questions[0].Groups != 3 ||
		len(before.Questions[0].Measures) != 2 {
		t.Errorf("explained %+v; it cost %v", before, a.Cost)
	}
	after, err := w.Explain(ctx, q)
	w.Check(err)
	if !after.Known || after.Remaining != a.Remaining || before.After != a.Remaining {
		t.Errorf("after the answer: %+v", after)
	}
	q.SQL, q.Epsilon = "SELECT COUNT(*) FROM visits", dp.One
	if over, err := w.Explain(ctx, q); err != nil || over.Affordable {
		t.Errorf("epsilon 1 is said to be affordable after 0.1 of 1: %+v, %v", over, err)
	}
}

// What is known before anybody looks is free, and nothing is read, charged or kept for it: whatever
// the data is, also where it is not as the owner has said.
func TestKnownBeforehand(t *testing.T) {
	w := curatortest.New(t, curatortest.Pure)
	r := w.Record()
	for text, want := range map[string]string{
		"SELECT COUNT(*) FROM patients WHERE age > 200":                                             "[[0]]",
		"SELECT COUNT(*), SUM(age), AVG(age), MEDIAN(age) FROM patients WHERE 1 = 2":                "[[0 0 <nil> <nil>]]",
		"SELECT SUM(0), SUM(age * 0), COUNT(NULL), dp_error(SUM(0)) FROM patients":                  "[[0 0 0 0]]",
		"SELECT sex, COUNT(*) FROM patients WHERE age > 20 AND age < 10 GROUP BY sex ORDER BY sex":  "[[F 0] [M 0] [X 0]]",
		"SELECT sex, COUNT(*) FROM patients WHERE sex = 'F' AND sex = 'M' GROUP BY ROLLUP (sex)":    "[[F 0] [<nil> 0]]",
		"SELECT n + 1 FROM (SELECT COUNT(*) AS n FROM visits WHERE false) AS t":                     "[[1]]",
		"SELECT COUNT(*) FROM patients WHERE age > 200 HAVING COUNT(*) > 0":                         "[]",
		"SELECT sex FROM patients WHERE age > 200 GROUP BY sex ORDER BY COUNT(*) DESC, sex LIMIT 1": "[[F]]",
	} {
		for range 2 {
			a, err := w.Ask(ctx, api.Question{Analyst: "ana", SQL: text, Request: curatortest.FreshID()})
			if err != nil {
				t.Errorf("%s: %v", text, err)
				continue
			}
			if got := fmt.Sprint(a.Rows); got != want {
				t.Errorf("%s: got %s, want %s", text, got, want)
			}
			if a.Cost != (dp.Cost{}) || len(a.Errors) > 0 && slices.ContainsFunc(a.Errors[0], func(e *float64) bool { return e != nil }) {
				t.Errorf("%s: it cost %v, and has errors %v", text, a.Cost, a.Errors)
			}
			for _, call := range r.Take() {
				if call == "run" || call == "charge" || call == "keep" {
					t.Errorf("%s: it called %s", text, call)
				}
			}
		}
	}
}

// wide returns a question with many groups and n sums.
func wide(n int) string {
	text := "SELECT age, sex, zip, diagnosis, smoker"
	for i := range n {
		text += fmt.Sprintf(", SUM(age + %d)", i)
	}
	return text + " FROM patients GROUP BY age, sex, zip, diagnosis, smoker"
}
