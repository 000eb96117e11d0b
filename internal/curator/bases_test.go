package curator

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/curator/pricing"
	"github.com/discreet-dp/discreet/internal/engine"
	"github.com/discreet-dp/discreet/internal/lab/hospital"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/store"
)

const sexAndCost = "SELECT sex, COUNT(*), SUM(cost) FROM patients GROUP BY sex"

// A ladder of prices costs its last step, for vectors and for sums beside counts; what was paid for
// stays free, with its numbers; and the books agree with a second opinion.
func TestLadder(t *testing.T) {
	for _, budget := range []string{pure, either} {
		w := newWorld(t, budget)
		before := dp.Amount(0)
		for _, text := range []string{"SELECT COUNT(*) FROM patients", sexAndCost} {
			for _, step := range []string{"0.1", "0.2", "0.4"} {
				w.charged("ana", text, amount(step))
			}
			after := w.spent().Epsilon
			if want := amount("0.4"); after-before > want || after-before < want-8 { // shares are rounded down
				t.Errorf("%s: the ladder costs %v", text, after-before)
			}
			before = after
			want, err := w.askAs("ana", text, amount("0.4"))
			w.check(err)
			if got, err := w.askAs("ben", text, amount("0.4")); err != nil || numbers(got) != numbers(want) || !got.Receipt.Free {
				t.Errorf("%v: %v, before %v", err, numbers(got), numbers(want))
			}
		}
		for _, c := range w.charges()[1:3] {
			if !strings.Contains(c.Mechanisms, "sharpening record") {
				t.Errorf("%s", c.Mechanisms)
			}
		}
		if differs, doubts := w.replayed(); len(differs)+len(doubts) > 0 {
			t.Error(differs, doubts)
		}
	}
}

// With Gaussian noise a ladder costs its last step too, in rho; its answers are remembered with
// their error bars, which are wider by what rounding adds, and its parts are derived of it.
func TestLadderGaussian(t *testing.T) {
	const gaussian = "{epsilon: 100, delta: 1e-6, noise: gaussian, per_query: {default: 0.1, max: 1}}"
	w := newWorld(t, gaussian)
	before := dp.Amount(0)
	for _, text := range []string{"SELECT COUNT(*) FROM patients", sexAndCost} {
		for _, step := range []string{"0.1", "0.2", "0.4", "0.8"} {
			w.charged("ana", text, amount(step))
		}
		after, alone := w.spent().Rho, pricing.Currency{}.Amount(amount("0.8"))
		if after-before > alone || after-before < alone-8 { // shares are rounded down
			t.Errorf("%s: the ladder costs %v, and its last step alone %v", text, after-before, alone)
		}
		before = after
		want, err := w.askAs("ana", text, amount("0.8"))
		w.check(err)
		w.reopen()
		got, err := w.askAs("ben", text, amount("0.8"))
		w.check(err)
		if numbers(got) != numbers(want) || !got.Receipt.Free || bars(got) != bars(want) {
			t.Errorf("%v %v, before %v %v", numbers(got), bars(got), numbers(want), bars(want))
		}
		fresh := newWorld(t, gaussian).charged("ana", text, amount("0.8"))
		for i, wide := range want.Errors[0] {
			if one := fresh.Errors[0][i]; one != nil && (*wide <= *one || *wide > *one+3) {
				t.Errorf("%s: bars of %v, and of one draw %v", text, *wide, *one)
			}
		}
		less, err := w.askAs("ben", text, amount("0.5"))
		w.check(err)
		if numbers(less) != numbers(want) || !less.Receipt.Free {
			t.Errorf("less for more: %v, %+v", numbers(less), less.Receipt)
		}
	}
	for _, c := range w.charges()[1:4] {
		if !strings.Contains(c.Mechanisms, "sharpening record") {
			t.Errorf("%s", c.Mechanisms)
		}
	}
	if differs, doubts := w.replayed(); len(differs)+len(doubts) > 0 {
		t.Error(differs, doubts)
	}
}

func bars(a *api.Answer) (out string) {
	for _, row := range a.Errors {
		for _, e := range row {
			if e != nil {
				out += fmt.Sprint(*e, " ")
			}
		}
	}
	return out
}

// What is explained is what is paid.
func TestLadderExplained(t *testing.T) {
	w := newWorld(t, pure)
	w.charged("ana", "SELECT COUNT(*) FROM patients", amount("0.1"))
	e, err := w.Explain(ctx, api.Question{Analyst: "ana", SQL: "SELECT COUNT(*) FROM patients", Epsilon: amount("0.3")})
	w.check(err)
	a := w.charged("ana", "SELECT COUNT(*) FROM patients", amount("0.3"))
	if e.Pay != a.Cost || e.Pay.Epsilon != amount("0.3")-amount("0.1") || e.Cost.Epsilon != amount("0.3") || e.Questions[0].Sharpens == 0 {
		t.Errorf("explained %+v, paid %v", e, a.Cost)
	}
	// In rho the price has an epsilon too, and the error is that of the average.
	w = newWorld(t, "{epsilon: 1, delta: 1e-6, noise: gaussian, keys_delta: 0, per_query: {default: 0.1, max: 1}}")
	for _, step := range []string{"0.05", "0.1", "0.15"} {
		e, err := w.Explain(ctx, api.Question{Analyst: "ana", SQL: "SELECT COUNT(*) FROM patients", Epsilon: amount(step)})
		w.check(err)
		a := w.charged("ana", "SELECT COUNT(*) FROM patients", amount(step))
		if e.Pay != a.Cost || a.Cost.Epsilon > amount(step) || *e.Questions[0].Measures[0].Error != *a.Errors[0][0] {
			t.Errorf("explained %v with %v, paid %v for %v", e.Pay, *e.Questions[0].Measures[0].Error, a.Cost, *a.Errors[0][0])
		}
	}
}

// The sharper answer is made of the first: both are the same number with probability
// (a2/a1) ((1-a1)/(1-a2))^2 and a little more, which is a quarter here, and would be 3 % if the
// second were a draw of its own.
func TestLadderNoise(t *testing.T) {
	w := newWorld(t, plenty)
	const n = 100
	same := 0
	for i := range n {
		text := fmt.Sprintf(countAges, i)
		if numbers(w.charged("ana", text, amount("0.05"))) == numbers(w.charged("ana", text, amount("0.1"))) {
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
	w := newWorld(t, pure)
	text := "SELECT COUNT(*) FROM patients"
	w.charged("ana", text, amount("0.1"))
	waiting, cancel := context.WithCancel(ctx)
	w.wire.Engine = &hungUp{w.wire.Engine, cancel}
	again := api.Question{Analyst: "ana", SQL: text, Epsilon: amount("0.2"), Request: "again"}
	if _, err := w.Ask(waiting, again); err == nil {
		t.Fatal("it was answered")
	}
	w.reopen()
	// The first answer is noted as used: another question pays in full.
	a, err := w.askAs("ana", text, amount("0.3"))
	w.check(err)
	if a.Cost.Epsilon != amount("0.3") {
		t.Errorf("a second one is made of the same answer, for %v", a.Cost)
	}
	// The request that used it has what it paid for, from the sharper answer by now.
	b, err := w.Ask(ctx, again)
	w.check(err)
	if !b.Receipt.Free || numbers(a) != numbers(b) {
		t.Errorf("%+v", b)
	}
}

// A request that was stopped after its note is computed for its charge, of the same base.
func TestSharpenedRetry(t *testing.T) {
	w := newWorld(t, pure)
	text := "SELECT COUNT(*) FROM patients"
	w.charged("ana", text, amount("0.1"))
	waiting, cancel := context.WithCancel(ctx)
	w.wire.Engine = &hungUp{w.wire.Engine, cancel}
	again := api.Question{Analyst: "ana", SQL: text, Epsilon: amount("0.2"), Request: "again"}
	if _, err := w.Ask(waiting, again); err == nil {
		t.Fatal("it was answered")
	}
	before := w.spent()
	if _, err := w.Ask(ctx, again); err != nil || w.spent() != before || before.Epsilon != amount("0.2") {
		t.Errorf("%v: %v, before %v", err, w.spent(), before)
	}
}

// In another window nobody has paid for the base: there the sharper answer is paid in full. So it
// is after a recovery.
func TestSharpenedWindow(t *testing.T) {
	w := newWorld(t, "{epsilon: 1, per_query: {default: 0.1, max: 1}, renewal: {every: month, windows: 3}}")
	text := "SELECT COUNT(*) FROM patients"
	w.charged("ana", text, amount("0.1"))
	_, err := w.Renew(ctx, "a month is over")
	w.check(err)
	if a := w.charged("ana", text, amount("0.3")); a.Cost.Epsilon != amount("0.3") {
		t.Errorf("it costs %v", a.Cost)
	}
	if a := w.charged("ana", text, amount("0.4")); a.Cost.Epsilon != amount("0.4")-amount("0.3") {
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
	w := newWorld(t, "{epsilon: 1, per_query: {default: 0.1, max: 1}, renewal: {every: month, windows: 3}}")
	text := "SELECT COUNT(*) FROM patients"
	w.charged("ana", text, amount("0.1"))
	w.rewire(w.data, &ending{w.books, func() {
		_, err := w.Renew(ctx, "a month is over")
		w.check(err)
	}})
	a, err := w.askAs("ana", text, amount("0.3"))
	w.check(err)
	if a.Cost.Epsilon != amount("0.3") {
		t.Errorf("it costs %v", a.Cost)
	}
}

// Steps of a ladder that cost less than a question may cost that, and not the whole price; and what
// is explained is what is paid.
func TestSharpenedLeast(t *testing.T) {
	w := newWorld(t, "{epsilon: 1, per_query: {min: 0.05, default: 0.1, max: 1}}")
	w.charged("ana", "SELECT COUNT(*) FROM patients", amount("0.1"))
	e, err := w.Explain(ctx, api.Question{Analyst: "ana", SQL: "SELECT COUNT(*) FROM patients", Epsilon: amount("0.12")})
	w.check(err)
	if a := w.charged("ana", "SELECT COUNT(*) FROM patients", amount("0.12")); a.Cost.Epsilon != amount("0.05") || e.Pay != a.Cost {
		t.Errorf("it costs %v, and %v was explained", a.Cost, e.Pay)
	}
	if spent := w.spent().Epsilon; spent != amount("0.1")+amount("0.05") {
		t.Errorf("%v was spent", spent)
	}
	// The same in rho.
	w = newWorld(t, "{epsilon: 1, delta: 1e-6, noise: gaussian, keys_delta: 0, per_query: {min: 0.05, default: 0.1, max: 1}}")
	first := w.charged("ana", "SELECT COUNT(*) FROM patients", amount("0.1")).Cost.Rho
	if a := w.charged("ana", "SELECT COUNT(*) FROM patients", amount("0.101")); a.Cost.Rho >= first/2 || a.Cost.Rho < first/5 {
		t.Errorf("it costs %v, and the first %v", a.Cost, first)
	}
}

// Many who climb at once pay for the highest step that was asked for, each step once: no answer is
// made of one that another is made of.
func TestLadderAtOnce(t *testing.T) {
	for _, budget := range []string{plenty, rich} {
		w := newWorld(t, budget)
		for i := range 5 {
			text, before := byAge(i), w.spent().Epsilon
			w.charged("ana", text, amount("0.1"))
			var all sync.WaitGroup
			for i := range 8 {
				all.Go(func() {
					if _, err := w.askAs("ana", text, amount("0.1")+dp.Amount(i+1)*amount("0.05")); err != nil {
						t.Error(err)
					}
				})
			}
			all.Wait()
			// Averages are rounded once more than what the next lower step asks for, which may be
			// bought beside them.
			if got := w.spent().Epsilon - before; budget == plenty && got != amount("0.1")+8*amount("0.05") {
				t.Errorf("spent %v", got)
			}
		}
		used := map[string]bool{}
		for _, c := range w.charges() {
			_, base, ok := strings.Cut(c.Mechanisms, "sharpening ")
			if ok && used[base] {
				t.Errorf("two answers are made of %s", base)
			}
			used[base] = true
		}
	}
}

// loading is an engine whose data changes right before a question runs, after it was priced and
// charged.
type loading struct {
	engine.Engine
	load func()
	back func() // after it ran, or nil
}

func (l *loading) Run(ctx context.Context, q *tree.Query) (*engine.Result, error) {
	l.before()
	r, err := l.Engine.Run(ctx, q)
	l.after()
	return r, err
}

func (l *loading) Fetch(ctx context.Context, t *tree.Table, into engine.Collector) (engine.ReadFrom, error) {
	l.before()
	read, err := l.Engine.Fetch(ctx, t, into)
	l.after()
	return read, err
}

func (l *loading) before() {
	if l.load != nil {
		load := l.load
		l.load = nil
		load()
	}
}

func (l *loading) after() {
	if l.back != nil {
		back := l.back
		l.back = nil
		back()
	}
}

// write puts other data there, and lets the engine find it, as the next question of anybody does.
func (w *world) write(h *hospital.Hospital) {
	w.check(h.Write(filepath.Join(w.dir, "data")))
	_, err := w.data.Version(ctx)
	w.check(err)
}

// An answer is not sharpened with the numbers of other data, which would tell of both more than was
// paid for.
func TestSharpenedMoved(t *testing.T) {
	w := newWorld(t, plenty)
	text := "SELECT COUNT(*) FROM patients"
	w.charged("ana", text, amount("0.1"))
	w.wire.Engine = &loading{w.wire.Engine, func() { w.write(hospital.New(300, 2)) }, nil}
	if a, err := w.askAs("ana", text, amount("0.3")); !errors.Is(err, api.ErrMoved) {
		t.Fatalf("%v, %+v", err, a)
	}
	if a := w.charged("ana", text, amount("0.3")); a.Cost.Epsilon != amount("0.3") {
		t.Errorf("of the new data it costs %v", a.Cost)
	}
}

// Nor with those of data that was there for so long as it ran, and is gone again; and what was
// computed of that is no base.
func TestSharpenedThereAndBack(t *testing.T) {
	w := newWorld(t, plenty)
	text, was := "SELECT COUNT(*) FROM patients", hospital.New(200, 1)
	there := func() { w.write(hospital.New(300, 2)) }
	whole := w.wire.Engine
	w.wire.Engine = &loading{whole, there, func() { w.write(was) }}
	w.charged("ana", text, amount("0.1"))
	if a := w.charged("ana", text, amount("0.2")); a.Cost.Epsilon != amount("0.2") {
		t.Errorf("what ran on other data is sharpened for %v", a.Cost)
	}
	w.wire.Engine = &loading{whole, there, func() { w.write(was) }}
	if a, err := w.askAs("ana", text, amount("0.4")); !errors.Is(err, api.ErrMoved) {
		t.Fatalf("%v, %+v", err, a)
	}
}

// An answer that was computed of other data than it is kept under is no base when that data is
// back.
func TestSharpenedOfOtherData(t *testing.T) {
	w := newWorld(t, plenty)
	text := "SELECT COUNT(*) FROM patients"
	w.wire.Engine = &loading{w.wire.Engine, func() { w.write(hospital.New(300, 2)) }, nil}
	w.charged("ana", text, amount("0.1"))
	w.write(hospital.New(200, 1))
	if a := w.charged("ana", text, amount("0.3")); a.Cost.Epsilon != amount("0.3") {
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
	w := newWorld(t, plenty)
	text := "SELECT COUNT(*) FROM patients"
	w.wire.Engine = named{w.wire.Engine}
	w.charged("ana", text, amount("0.1"))
	if a := w.charged("ana", text, amount("0.3")); a.Cost.Epsilon != amount("0.3") {
		t.Errorf("it costs %v", a.Cost)
	}
}

// Another build may compute other numbers of the same data.
func TestSharpenedProgram(t *testing.T) {
	w := newWorld(t, plenty)
	text := "SELECT COUNT(*) FROM patients"
	restore := SetProgram("an earlier one")
	t.Cleanup(restore)
	w.charged("ana", text, amount("0.1"))
	restore()
	if Program() == "" {
		t.Fatal("this one has no name")
	}
	if a := w.charged("ana", text, amount("0.3")); a.Cost.Epsilon != amount("0.3") {
		t.Errorf("it costs %v", a.Cost)
	}
}

// A request that was charged and stopped is computed for its charge, whatever others bought of the
// same question since: it neither finds a base that it was not charged by, nor a better one.
func TestSharpenedRetryAfterOthers(t *testing.T) {
	text := "SELECT COUNT(*) FROM patients"
	for _, first := range []string{"", "0.1"} {
		w := newWorld(t, plenty)
		if first != "" {
			w.charged("ana", text, amount(first))
		}
		waiting, cancel := context.WithCancel(ctx)
		w.wire.Engine = &hungUp{w.wire.Engine, cancel}
		again := api.Question{Analyst: "ana", SQL: text, Epsilon: amount("0.3"), Request: "again"}
		if _, err := w.Ask(waiting, again); err == nil {
			t.Fatal("it was answered")
		}
		w.charged("ben", text, amount("0.2"))
		before := w.spent()
		if _, err := w.Ask(ctx, again); err != nil || w.spent() != before {
			t.Errorf("after %q: %v: spent %v, before %v", first, err, w.spent(), before)
		}
	}
}
