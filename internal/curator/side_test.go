package curator_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/lab/hospital"
	"github.com/discreet-dp/discreet/internal/test/curatortest"
	"github.com/discreet-dp/discreet/ledger"
)

// One count for the whole of (1, 1e-6) has the noise of epsilon 1, and ten of a tenth that of a
// tenth; many small ones are Gaussian, and there are more of them than epsilon would pay for.
func TestEitherSide(t *testing.T) {
	for _, c := range []struct {
		epsilon string
		n       int
		noise   string
	}{{"1", 1, "laplace"}, {"0.1", 10, "laplace"}, {"0.03", 54, "gaussian"}} {
		w := curatortest.New(t, curatortest.EitherNoise)
		n := 0
		for ; n < 100; n++ {
			a, err := w.AskAs("ana", fmt.Sprintf(curatortest.CountAges, n), curatortest.Amount(c.epsilon))
			if err != nil {
				if !errors.As(err, new(*ledger.BudgetError)) {
					t.Fatal(err)
				}
				break
			}
			if c.noise == "laplace" && a.Cost.Epsilon != curatortest.Amount(c.epsilon) {
				t.Errorf("question %d at %s costs %v", n, c.epsilon, a.Cost)
			}
		}
		accounts, err := w.Accounts(ctx, "ana")
		w.Check(err)
		for _, a := range accounts { // the promise is the policy's, on whichever side it was spent
			if a.Total != (api.Guarantee{Epsilon: dp.One, Delta: curatortest.Amount("1e-6")}) || a.Guarantee.Epsilon > dp.One ||
				a.ByEpsilon() != (c.noise == "laplace") {
				t.Errorf("%s: %+v", a.Name, a)
			}
		}
		all := w.Charges()
		if n != c.n {
			t.Errorf("%d questions at %s; want %d", n, c.epsilon, c.n)
		}
		for _, r := range all {
			if !strings.HasPrefix(r.Mechanisms, c.noise) {
				t.Errorf("a question at %s has %s", c.epsilon, r.Mechanisms)
			}
		}
		if differs, doubts := w.Replayed(); len(differs)+len(doubts) > 0 {
			t.Error(differs, doubts)
		}
		w.Leave()
	}
}

// Who changes the side in the middle, one way or the other, is held by both sums: nothing that was
// paid for on one side is forgotten on the other.
func TestEitherSwitch(t *testing.T) {
	for _, steps := range [][]string{{"laplace", "gaussian", "laplace"}, {"gaussian", "laplace", "gaussian"}} {
		w := curatortest.New(t, curatortest.EitherNoise)
		limit := w.Dataset.Filter().Limit()
		asked := 0
		for _, mechanism := range steps {
			for refused := false; !refused; asked++ {
				_, err := w.Ask(ctx, api.Question{Analyst: "ana", SQL: fmt.Sprintf(curatortest.CountAges, asked),
					Epsilon:  curatortest.Amount("0.03"),
					Settings: api.Settings{Mechanism: mechanism}, Request: curatortest.FreshID()})
				if refused = err != nil; err != nil && !errors.As(err, new(*ledger.BudgetError)) {
					t.Fatal(err)
				}
				if asked%40 == 39 { // change before it is used up
					break
				}
			}
		}
		var sum dp.Cost
		for _, r := range w.Charges() {
			sum = sum.Add(r.Cost)
			if sum.Epsilon > limit.Epsilon && sum.Rho > limit.Rho {
				t.Fatalf("%v: %v was admitted, of %v", steps, sum, limit)
			}
		}
		if sum != w.Spent() {
			t.Errorf("%v was spent, and the account says %v", sum, w.Spent())
		}
		if differs, doubts := w.Replayed(); len(differs)+len(doubts) > 0 {
			t.Error(differs, doubts)
		}
		w.Leave()
	}
}

// What was paid for stays free, with the same numbers, when the same question would be bought with
// other noise by now; and EXPLAIN says so.
func TestEitherRemembers(t *testing.T) {
	w := curatortest.New(t, curatortest.EitherNoise)
	r := w.Record()
	first := w.MustBeCharged("ana", fmt.Sprintf(curatortest.CountAges, 30), 0)
	if m := w.Charges()[0].Mechanisms; !strings.HasPrefix(m, "laplace") {
		t.Fatalf("the first question has %s", m)
	}
	for i := range 3 { // in rho, which closes the other side
		if _, err := w.Ask(ctx, api.Question{Analyst: "ana", SQL: fmt.Sprintf(curatortest.CountAges, 40+i),
			Epsilon:  curatortest.Amount("0.05"),
			Settings: api.Settings{Mechanism: "gaussian"}, Request: curatortest.FreshID()}); err != nil {
			t.Fatal(err)
		}
	}
	w.MustBeFree(r, "ana", fmt.Sprintf(curatortest.CountAges, 30), first)
	e, err := w.Explain(ctx, api.Question{Analyst: "ana", SQL: fmt.Sprintf(curatortest.CountAges, 30)})
	w.Check(err)
	if !e.Known || e.Pay != (dp.Cost{}) || !strings.HasPrefix(e.Noise, "Laplace") {
		t.Errorf("%+v", e)
	}
	if e, err = w.Explain(ctx, api.Question{Analyst: "ana", SQL: fmt.Sprintf(curatortest.CountAges, 31)}); err != nil || e.Known ||
		!strings.HasPrefix(e.Noise, "Gaussian") {
		t.Errorf("%v, %+v", err, e)
	}
}

// A request that was charged and stopped is sent again when the budget stands elsewhere: it is
// computed with the noise that it was charged for, and not charged again.
func TestEitherRetry(t *testing.T) {
	w := curatortest.New(t, curatortest.EitherNoise)
	q := api.Question{Analyst: "ana", SQL: fmt.Sprintf(curatortest.CountAges, 30), Request: "again"}
	waiting, cancel := context.WithCancel(ctx)
	w.Wire.Engine = &curatortest.HangingUpEngine{Engine: w.Wire.Engine, Cancel: cancel}
	if _, err := w.Ask(waiting, q); err == nil {
		t.Fatal("it was answered")
	}
	if n := len(w.Charges()); n != 1 {
		t.Fatalf("%d charges", n)
	}
	if _, err := w.Ask(ctx, api.Question{Analyst: "ana", SQL: fmt.Sprintf(curatortest.CountAges, 40), Epsilon: curatortest.Amount("0.05"),
		Settings: api.Settings{Mechanism: "gaussian"}, Request: curatortest.FreshID()}); err != nil {
		t.Fatal(err)
	}
	before := w.Spent()
	a, err := w.Ask(ctx, q)
	if err != nil {
		t.Fatal(err)
	}
	if w.Spent() != before || !a.Receipt.Free {
		t.Errorf("it was charged again: %v", a.Receipt)
	}
	if differs, doubts := w.Replayed(); len(differs)+len(doubts) > 0 {
		t.Error(differs, doubts)
	}
}

// Where a part of a question is known, on one side, and the rest is not, it gets the noise that is
// sharper for what the rest takes, and not what that part was paid for with.
func TestEitherPartlyKnown(t *testing.T) {
	w := curatortest.New(t, curatortest.EitherNoise)
	w.MustBeCharged("ana", "SELECT sex, smoker, COUNT(*) FROM patients GROUP BY CUBE (sex, smoker)", curatortest.Amount("0.05"))
	e, err := w.Explain(ctx, api.Question{Analyst: "ana", Epsilon: curatortest.Amount("0.05"),
		SQL: "SELECT sex, smoker, age, COUNT(*) FROM patients GROUP BY CUBE (sex, smoker, age)"})
	w.Check(err)
	if e.Known || !strings.HasPrefix(e.Noise, "Gaussian") || !strings.Contains(e.Noise, "sharper") {
		t.Errorf("%s", e.Noise)
	}
	if e, err = w.Explain(ctx, api.Question{Analyst: "ana", Epsilon: curatortest.Amount("0.05"),
		SQL: "SELECT sex, smoker, COUNT(*) FROM patients GROUP BY ROLLUP (sex, smoker)"}); err != nil || !e.Known {
		t.Errorf("%v, %+v", err, e)
	}
}

// Who pays more gets more, also where what was bought with one noise is as good as the other would
// be at the new price; and what was paid for stays free.
func TestEitherPaysMore(t *testing.T) {
	text := strings.NewReplacer("max_rows: 6", "max_rows: 50", "max_groups: 2", "max_groups: 5").
		Replace(hospital.Dataset("hospital", "data", "{epsilon: 100, delta: 1e-6, noise: auto, per_query: {default: 0.1, max: 10}}"))
	w := curatortest.Build(t, hospital.New(500, 1), text, 1)
	const sql = "SELECT ward, COUNT(*), SUM(cost), AVG(cost), COUNT(cost) FROM visits GROUP BY ward"
	var paid []dp.Amount
	last := math.Inf(1)
	for _, price := range []string{"0.1", "0.15", "0.25", "0.4", "0.6", "1", "1.5", "2.5", "4"} {
		at := curatortest.Amount(price)
		e, err := w.Explain(ctx, api.Question{Analyst: "ana", SQL: sql, Epsilon: at})
		w.Check(err)
		a, err := w.AskAs("ana", sql, at)
		w.Check(err)
		if half := *a.Errors[0][1]; half >= last || a.Receipt.Free || e.Known {
			t.Errorf("at %s the error is %v after %v, free %v, %v in EXPLAIN", price, half, last, a.Receipt.Free, e.Known)
		} else {
			last = half
		}
		for _, before := range append(paid, at) {
			if a, err := w.AskAs("ana", sql, before); err != nil || !a.Receipt.Free || *a.Errors[0][1] > last {
				t.Errorf("%v after %v: free %v, %v", before, at, a.Receipt.Free, err)
			}
		}
		paid = append(paid, at)
	}
}
