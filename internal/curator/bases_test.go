package curator_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/curator/pricing"
	"github.com/discreet-dp/discreet/internal/engine"
	"github.com/discreet-dp/discreet/internal/lab/hospital"
	"github.com/discreet-dp/discreet/internal/test/curatortest"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/store"
)

const sexAndCost = "SELECT sex, COUNT(*), SUM(cost) FROM patients GROUP BY sex"

// A ladder of prices costs its last step, for vectors and for sums beside counts; what was paid for
// stays free, with its numbers; and the ledger agrees with a second opinion.
func TestLadder(t *testing.T) {
	for _, budget := range []string{curatortest.Pure, curatortest.EitherNoise} {
		w := curatortest.New(t, budget)
		before := dp.Amount(0)
		for _, text := range []string{"SELECT COUNT(*) FROM patients", sexAndCost} {
			for _, step := range []string{"0.1", "0.2", "0.4"} {
				w.MustBeCharged("ana", text, curatortest.Amount(step))
			}
			after := w.Spent().Epsilon
			if want := curatortest.Amount("0.4"); after-before > want || after-before < want-8 { // shares are rounded down
				t.Errorf("%s: the ladder costs %v", text, after-before)
			}
			before = after
			want, err := w.AskAs("ana", text, curatortest.Amount("0.4"))
			w.Check(err)
			if got, err := w.AskAs("ben", text, curatortest.Amount("0.4")); err != nil ||
				curatortest.Numbers(got) != curatortest.Numbers(want) || !got.Receipt.Free {
				t.Errorf("%v: %v, before %v", err, curatortest.Numbers(got), curatortest.Numbers(want))
			}
		}
		checkSharpened(w, 1, 3)
	}
}

// checkSharpened checks that some charges sharpened earlier ones, and that a replay agrees.
func checkSharpened(w *curatortest.World, from, to int) {
	w.T.Helper()
	for _, c := range w.Charges()[from:to] {
		if !strings.Contains(c.Mechanisms, "sharpening record") {
			w.T.Errorf("%s", c.Mechanisms)
		}
	}
	if differs, doubts := w.Replayed(); len(differs)+len(doubts) > 0 {
		w.T.Error(differs, doubts)
	}
}

// With Gaussian noise a ladder costs its last step too, in rho; its answers are remembered with
// their error bars, which are wider by what rounding adds, and its parts are derived of it.
func TestLadderGaussian(t *testing.T) {
	const gaussian = "{epsilon: 100, delta: 1e-6, noise: gaussian, per_query: {default: 0.1, max: 1}}"
	w := curatortest.New(t, gaussian)
	before := dp.Amount(0)
	for _, text := range []string{"SELECT COUNT(*) FROM patients", sexAndCost} {
		for _, step := range []string{"0.1", "0.2", "0.4", "0.8"} {
			w.MustBeCharged("ana", text, curatortest.Amount(step))
		}
		after, alone := w.Spent().Rho, pricing.Currency{}.Amount(curatortest.Amount("0.8"))
		if after-before > alone || after-before < alone-8 { // shares are rounded down
			t.Errorf("%s: the ladder costs %v, and its last step alone %v", text, after-before, alone)
		}
		before = after
		want, err := w.AskAs("ana", text, curatortest.Amount("0.8"))
		w.Check(err)
		w.Reopen()
		got, err := w.AskAs("ben", text, curatortest.Amount("0.8"))
		w.Check(err)
		if curatortest.Numbers(got) != curatortest.Numbers(want) || !got.Receipt.Free || curatortest.Bars(got) != curatortest.Bars(want) {
			t.Errorf("%v %v, before %v %v", curatortest.Numbers(got), curatortest.Bars(got), curatortest.Numbers(want),
				curatortest.Bars(want))
		}
		fresh := curatortest.New(t, gaussian).MustBeCharged("ana", text, curatortest.Amount("0.8"))
		for i, wide := range want.Errors[0] {
			if one := fresh.Errors[0][i]; one != nil && (*wide <= *one || *wide > *one+3) {
				t.Errorf("%s: bars of %v, and of one draw %v", text, *wide, *one)
			}
		}
		less, err := w.AskAs("ben", text, curatortest.Amount("0.5"))
		w.Check(err)
		if curatortest.Numbers(less) != curatortest.Numbers(want) || !less.Receipt.Free {
			t.Errorf("less for more: %v, %+v", curatortest.Numbers(less), less.Receipt)
		}
	}
	checkSharpened(w, 1, 4)
}

// What is explained is what is paid.
func TestLadderExplained(t *testing.T) {
	w := curatortest.New(t, curatortest.Pure)
	w.MustBeCharged("ana", "SELECT COUNT(*) FROM patients", curatortest.Amount("0.1"))
	e, err := w.Explain(ctx, api.Question{Analyst: "ana", SQL: "SELECT COUNT(*) FROM patients", Epsilon: curatortest.Amount("0.3")})
	w.Check(err)
	a := w.MustBeCharged("ana", "SELECT COUNT(*) FROM patients", curatortest.Amount("0.3"))
	if e.Pay != a.Cost || e.Pay.Epsilon != curatortest.Amount("0.3")-curatortest.Amount("0.1") ||
		e.Cost.Epsilon != curatortest.Amount("0.3") || e.Questions[0].Sharpens == 0 {
		t.Errorf("explained %+v, paid %v", e, a.Cost)
	}
	// In rho the price has an epsilon too, and the error is that of the average.
	w = curatortest.New(t, "{epsilon: 1, delta: 1e-6, noise: gaussian, keys_delta: 0, per_query: {default: 0.1, max: 1}}")
	for _, step := range []string{"0.05", "0.1", "0.15"} {
		e, err := w.Explain(ctx, api.Question{Analyst: "ana", SQL: "SELECT COUNT(*) FROM patients", Epsilon: curatortest.Amount(step)})
		w.Check(err)
		a := w.MustBeCharged("ana", "SELECT COUNT(*) FROM patients", curatortest.Amount(step))
		if e.Pay != a.Cost || a.Cost.Epsilon > curatortest.Amount(step) || *e.Questions[0].Measures[0].Error != *a.Errors[0][0] {
			t.Errorf("explained %v with %v, paid %v for %v", e.Pay, *e.Questions[0].Measures[0].Error, a.Cost, *a.Errors[0][0])
		}
	}
}

// The sharper answer is made of the first: both are the same number with probability
// (a2/a1) ((1-a1)/(1-a2))^2 and a little more, which is a quarter here, and would be 3 % if the
// second were a draw of its own.
func TestLadderNoise(t *testing.T) {
	w := curatortest.New(t, curatortest.Plenty)
	const n = 100
	same := 0
	for i := range n {
		text := fmt.Sprintf(curatortest.CountAges, i)
		if curatortest.Numbers(w.MustBeCharged("ana", text, curatortest.Amount("0.05"))) == curatortest.Numbers(w.MustBeCharged("ana",
			text, curatortest.Amount("0.1"))) {
			same++
		}
	}
	if same < 10 || same > 45 {
		t.Errorf("%d of %d are the same", same, n)
	}
}

// An answer is sharpened once. What was charged and never answered does not free it, and a restart
// does not either.
func TestSharpenedOnce(t *testing.T) {
	w := curatortest.New(t, curatortest.Pure)
	text := "SELECT COUNT(*) FROM patients"
	w.MustBeCharged("ana", text, curatortest.Amount("0.1"))
	waiting, cancel := context.WithCancel(ctx)
	w.Wire.Engine = &curatortest.HangingUpEngine{Engine: w.Wire.Engine, Cancel: cancel}
	again := api.Question{Analyst: "ana", SQL: text, Epsilon: curatortest.Amount("0.2"), Request: "again"}
	if _, err := w.Ask(waiting, again); err == nil {
		t.Fatal("it was answered")
	}
	w.Reopen()
	// The first answer is noted as used: another question pays in full.
	a, err := w.AskAs("ana", text, curatortest.Amount("0.3"))
	w.Check(err)
	if a.Cost.Epsilon != curatortest.Amount("0.3") {
		t.Errorf("a second one is made of the same answer, for %v", a.Cost)
	}
	// The request that used it has what it paid for, from the sharper answer by now.
	b, err := w.Ask(ctx, again)
	w.Check(err)
	if !b.Receipt.Free || curatortest.Numbers(a) != curatortest.Numbers(b) {
		t.Errorf("%+v", b)
	}
}

// A request that was stopped after its note is computed for its charge, of the same base.
func TestSharpenedRetry(t *testing.T) {
	w := curatortest.New(t, curatortest.Pure)
	text := "SELECT COUNT(*) FROM patients"
	w.MustBeCharged("ana", text, curatortest.Amount("0.1"))
	waiting, cancel := context.WithCancel(ctx)
	w.Wire.Engine = &curatortest.HangingUpEngine{Engine: w.Wire.Engine, Cancel: cancel}
	again := api.Question{Analyst: "ana", SQL: text, Epsilon: curatortest.Amount("0.2"), Request: "again"}
	if _, err := w.Ask(waiting, again); err == nil {
		t.Fatal("it was answered")
	}
	before := w.Spent()
	if _, err := w.Ask(ctx, again); err != nil || w.Spent() != before || before.Epsilon != curatortest.Amount("0.2") {
		t.Errorf("%v: %v, before %v", err, w.Spent(), before)
	}
}

// In another window nobody has paid for the base: there the sharper answer is paid in full. So it
// is after a recovery.
func TestSharpenedWindow(t *testing.T) {
	w := curatortest.New(t, "{epsilon: 1, per_query: {default: 0.1, max: 1}, renewal: {every: month, windows: 3}}")
	text := "SELECT COUNT(*) FROM patients"
	w.MustBeCharged("ana", text, curatortest.Amount("0.1"))
	_, err := w.Renew(ctx, "a month is over")
	w.Check(err)
	if a := w.MustBeCharged("ana", text, curatortest.Amount("0.3")); a.Cost.Epsilon != curatortest.Amount("0.3") {
		t.Errorf("it costs %v", a.Cost)
	}
	if a := w.MustBeCharged("ana", text, curatortest.Amount("0.4")); a.Cost.Epsilon != curatortest.Amount("0.4")-curatortest.Amount("0.3") {
		t.Errorf("it costs %v", a.Cost)
	}
}

// ending is a ledger in which a window ends before a charge.
type ending struct {
	ledger.Ledger
	end func()
}

func (l *ending) Charge(ctx context.Context, c ledger.Charge) (ledger.Receipt, error) {
	if l.end != nil {
		end := l.end
		l.end = nil
		end()
	}
	return l.Ledger.Charge(ctx, c)
}

// A window that ends between the price and the charge makes it the whole price.
func TestSharpenedWindowEnds(t *testing.T) {
	w := curatortest.New(t, "{epsilon: 1, per_query: {default: 0.1, max: 1}, renewal: {every: month, windows: 3}}")
	text := "SELECT COUNT(*) FROM patients"
	w.MustBeCharged("ana", text, curatortest.Amount("0.1"))
	w.Rewire(w.Data, &ending{w.Ledger, func() {
		_, err := w.Renew(ctx, "a month is over")
		w.Check(err)
	}})
	a, err := w.AskAs("ana", text, curatortest.Amount("0.3"))
	w.Check(err)
	if a.Cost.Epsilon != curatortest.Amount("0.3") {
		t.Errorf("it costs %v", a.Cost)
	}
}

// Steps of a ladder that cost less than a question may cost that, and not the whole price; and what
// is explained is what is paid.
func TestSharpenedLeast(t *testing.T) {
	w := curatortest.New(t, "{epsilon: 1, per_query: {min: 0.05, default: 0.1, max: 1}}")
	w.MustBeCharged("ana", "SELECT COUNT(*) FROM patients", curatortest.Amount("0.1"))
	e, err := w.Explain(ctx, api.Question{Analyst: "ana", SQL: "SELECT COUNT(*) FROM patients", Epsilon: curatortest.Amount("0.12")})
	w.Check(err)
	if a := w.MustBeCharged("ana", "SELECT COUNT(*) FROM patients",
		curatortest.Amount("0.12")); a.Cost.Epsilon != curatortest.Amount("0.05") || e.Pay != a.Cost {
		t.Errorf("it costs %v, and %v was explained", a.Cost, e.Pay)
	}
	if spent := w.Spent().Epsilon; spent != curatortest.Amount("0.1")+curatortest.Amount("0.05") {
		t.Errorf("%v was spent", spent)
	}
	// The same in rho.
	w = curatortest.New(t, "{epsilon: 1, delta: 1e-6, noise: gaussian, keys_delta: 0, per_query: {min: 0.05, default: 0.1, max: 1}}")
	first := w.MustBeCharged("ana", "SELECT COUNT(*) FROM patients", curatortest.Amount("0.1")).Cost.Rho
	if a := w.MustBeCharged("ana", "SELECT COUNT(*) FROM patients", curatortest.Amount("0.101")); a.Cost.Rho >= first/2 ||
		a.Cost.Rho < first/5 {
		t.Errorf("it costs %v, and the first %v", a.Cost, first)
	}
}

// Many who climb at once pay for the highest step that was asked for, each step once: no answer is
// made of one that another is made of.
func TestLadderAtOnce(t *testing.T) {
	for _, budget := range []string{curatortest.Plenty, curatortest.Rich} {
		w := curatortest.New(t, budget)
		for i := range 5 {
			text, before := curatortest.ByAge(i), w.Spent().Epsilon
			w.MustBeCharged("ana", text, curatortest.Amount("0.1"))
			var all sync.WaitGroup
			for i := range 8 {
				all.Go(func() {
					if _, err := w.AskAs("ana", text, curatortest.Amount("0.1")+dp.Amount(i+1)*curatortest.Amount("0.05")); err != nil {
						t.Error(err)
					}
				})
			}
			all.Wait()
			// Averages are rounded once more than what the next lower step asks for, which may be
			// bought beside them.
			if got := w.Spent().Epsilon - before; budget == curatortest.Plenty &&
				got != curatortest.Amount("0.1")+8*curatortest.Amount("0.05") {
				t.Errorf("spent %v", got)
			}
		}
		used := map[string]bool{}
		for _, c := range w.Charges() {
			_, base, ok := strings.Cut(c.Mechanisms, "sharpening ")
			if ok && used[base] {
				t.Errorf("two answers are made of %s", base)
			}
			used[base] = true
		}
	}
}

// An answer is not sharpened with the numbers of other data, which would tell of both more than was
// paid for.
func TestSharpenedMoved(t *testing.T) {
	w := curatortest.New(t, curatortest.Plenty)
	text := "SELECT COUNT(*) FROM patients"
	w.MustBeCharged("ana", text, curatortest.Amount("0.1"))
	w.Wire.Engine = &curatortest.LoadingEngine{Engine: w.Wire.Engine, Load: func() { w.WriteData(hospital.New(300, 2)) }, Back: nil}
	if a, err := w.AskAs("ana", text, curatortest.Amount("0.3")); !errors.Is(err, api.ErrMoved) {
		t.Fatalf("%v, %+v", err, a)
	}
	if a := w.MustBeCharged("ana", text, curatortest.Amount("0.3")); a.Cost.Epsilon != curatortest.Amount("0.3") {
		t.Errorf("of the new data it costs %v", a.Cost)
	}
}

// Nor with those of data that was there for so long as it ran, and is gone again; and what was
// computed of that is no base.
func TestSharpenedThereAndBack(t *testing.T) {
	w := curatortest.New(t, curatortest.Plenty)
	text, was := "SELECT COUNT(*) FROM patients", hospital.New(200, 1)
	there := func() { w.WriteData(hospital.New(300, 2)) }
	whole := w.Wire.Engine
	w.Wire.Engine = &curatortest.LoadingEngine{Engine: whole, Load: there, Back: func() { w.WriteData(was) }}
	w.MustBeCharged("ana", text, curatortest.Amount("0.1"))
	if a := w.MustBeCharged("ana", text, curatortest.Amount("0.2")); a.Cost.Epsilon != curatortest.Amount("0.2") {
		t.Errorf("what ran on other data is sharpened for %v", a.Cost)
	}
	w.Wire.Engine = &curatortest.LoadingEngine{Engine: whole, Load: there, Back: func() { w.WriteData(was) }}
	if a, err := w.AskAs("ana", text, curatortest.Amount("0.4")); !errors.Is(err, api.ErrMoved) {
		t.Fatalf("%v, %+v", err, a)
	}
}

// An answer that was computed of other data than it is kept under is no base when that data is
// back.
func TestSharpenedOfOtherData(t *testing.T) {
	w := curatortest.New(t, curatortest.Plenty)
	text := "SELECT COUNT(*) FROM patients"
	w.Wire.Engine = &curatortest.LoadingEngine{Engine: w.Wire.Engine, Load: func() { w.WriteData(hospital.New(300, 2)) }, Back: nil}
	w.MustBeCharged("ana", text, curatortest.Amount("0.1"))
	w.WriteData(hospital.New(200, 1))
	if a := w.MustBeCharged("ana", text, curatortest.Amount("0.3")); a.Cost.Epsilon != curatortest.Amount("0.3") {
		t.Errorf("it costs %v", a.Cost)
	}
}

// named is an engine whose data has a name that need not change with it.
type named struct{ engine.Engine }

func (named) Version(context.Context) (store.Version, error) {
	return store.Version{Name: "monday"}, nil
}

// Where an owner's query names the data a change may be missed, so that nothing is sharpened.
func TestSharpenedNamed(t *testing.T) {
	w := curatortest.New(t, curatortest.Plenty)
	text := "SELECT COUNT(*) FROM patients"
	w.Wire.Engine = named{w.Wire.Engine}
	w.MustBeCharged("ana", text, curatortest.Amount("0.1"))
	if a := w.MustBeCharged("ana", text, curatortest.Amount("0.3")); a.Cost.Epsilon != curatortest.Amount("0.3") {
		t.Errorf("it costs %v", a.Cost)
	}
}

// A request that was charged and stopped is computed for its charge, whatever others bought of the
// same question since: it neither finds a base that it was not charged by, nor a better one.
func TestSharpenedRetryAfterOthers(t *testing.T) {
	text := "SELECT COUNT(*) FROM patients"
	for _, first := range []string{"", "0.1"} {
		w := curatortest.New(t, curatortest.Plenty)
		if first != "" {
			w.MustBeCharged("ana", text, curatortest.Amount(first))
		}
		waiting, cancel := context.WithCancel(ctx)
		w.Wire.Engine = &curatortest.HangingUpEngine{Engine: w.Wire.Engine, Cancel: cancel}
		again := api.Question{Analyst: "ana", SQL: text, Epsilon: curatortest.Amount("0.3"), Request: "again"}
		if _, err := w.Ask(waiting, again); err == nil {
			t.Fatal("it was answered")
		}
		w.MustBeCharged("ben", text, curatortest.Amount("0.2"))
		before := w.Spent()
		if _, err := w.Ask(ctx, again); err != nil || w.Spent() != before {
			t.Errorf("after %q: %v: spent %v, before %v", first, err, w.Spent(), before)
		}
	}
}
