package budgets

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/lab/stat"
	"github.com/discreet-dp/discreet/ledger"
)

// TestNumbersOfPromises: every number is on the side that promises less.
func TestNumbersOfPromises(t *testing.T) {
	for text, want := range map[string]string{
		factor(dp.One): "2.72", factor(parse("0.1")): "1.11", factor(3 * dp.One): "20.1", factor(5 * dp.One): "149",
		factor(10 * dp.One): "22,027", factor(100 * dp.One): "10^44", factor(1 << 38): "1.29",
		oneIn(parse("1e-6")): "1,000,000", oneIn(parse("0.003")): "333", oneIn(parse("7e-7")): "1,420,000",
		upTo(parse("0.3"), 4): "0.3", upTo(parse("3.14159"), 4): "3.142", upTo(parse("3.1411"), 4): "3.142",
		upTo(parse("1e-6"), 4): "1e-06", upTo(0, 4): "0", upTo(parse("99.999"), 4): "100",
	} {
		if text != want {
			t.Errorf("got %s; want %s", text, want)
		}
	}
}

func parse(text string) dp.Amount {
	a, err := dp.Parse(text)
	if err != nil {
		panic(err)
	}
	return a
}

// TestPromiseOfPaidKeys: what private keys were paid stays in the promise, whatever the policy sets
// aside for them afterwards.
func TestPromiseOfPaidKeys(t *testing.T) {
	for _, after := range []string{"{epsilon: 1}", "{epsilon: 1, delta: 1e-6}", "{epsilon: 1, delta: 2e-6, keys_delta: 1e-6}"} {
		s := newShelf(t, "{epsilon: 1, delta: 1e-5, keys_delta: 5e-6}")
		keys := laplace("1")
		keys.Delta = parse("5e-6")
		s.charge("keys", keys)
		s.policy(after)
		for _, g := range []api.Guarantee{s.account().Total, s.account().Guarantee} {
			if g.Delta < keys.Delta || g.Epsilon < parse("0.9") {
				t.Errorf("%s: %+v", after, g)
			}
		}
		if got := s.promise(2); !strings.Contains(got[0], "(delta ") {
			t.Errorf("%s: %q", after, got)
		}
	}
	s := newShelf(t, "{epsilon: 1, delta: 1e-5, keys_delta: 5e-6}")
	keys := laplace("1")
	keys.Delta = parse("5e-6")
	s.charge("keys", keys)
	s.policy("{epsilon: 1}")
	s.promise(2, "(epsilon 1)", "(delta 5e-06)")
}

// TestLeftOfPaidKeys: where private keys were paid more than the policy has by now, an account
// admits nothing, says so, and says why.
func TestLeftOfPaidKeys(t *testing.T) {
	for _, after := range []string{"{epsilon: 2}", "{epsilon: 2, delta: 1e-5, keys_delta: 1e-6}"} {
		s := newShelf(t, "{epsilon: 2, delta: 1e-5, keys_delta: 5e-6}")
		keys := laplace("1")
		keys.Delta = parse("5e-6")
		s.charge("keys", keys)
		s.policy(after)
		_, err := s.ledger.Charge(ctx, ledger.Charge{Request: "more", Analyst: "ana", Dataset: "hospital", Query: ledger.Hash("more"),
			Window: 1, Cost: laplace("0.1"), Accounts: s.Charged("ana", 1)})
		var over *ledger.BudgetError
		if !errors.As(err, &over) {
			t.Fatalf("%s: %v", after, err)
		}
		left := s.account().Left
		for _, l := range []dp.Cost{left, over.Left} {
			if l.Epsilon != 0 || l.Rho != 0 && l.Rho != dp.Unbounded {
				t.Errorf("%s: nothing is admitted, and %v is left", after, l)
			}
		}
		if got := s.Advise(ctx, "ana", err).Error(); !strings.Contains(got, "give the budget its delta back") {
			t.Errorf("%s: %s", after, got)
		}
	}
}

// TestPromiseOfALoweredLimit: an account promises no less than what was spent.
func TestPromiseOfALoweredLimit(t *testing.T) {
	s := newShelf(t, "{epsilon: 1}")
	s.charge("all", laplace("1"))
	s.policy("{epsilon: 0.5}")
	if a := s.account(); a.Total.Epsilon != dp.One {
		t.Errorf("%+v", a)
	}
	s.promise(2, "(epsilon 1)")
}

// TestPromiseOfAnUnknownFirstLimit plays an owner who raises a limit and stops when it looks best,
// where nobody knows what limit there was before the first answer: no rule to stop gets more than
// what is stated of the limit at which it stops.
func TestPromiseOfAnUnknownFirstLimit(t *testing.T) {
	lost := newShelf(t, "{epsilon: 1, delta: 1e-6, noise: gaussian}")
	if _, err := lost.ledger.Enter(ctx, ledger.Recovery{Reason: "the disk", Spent: []ledger.Balance{{Account: "hospital",
		Spent: dp.Cost{Epsilon: dp.Unbounded, Rho: 1 << 20}}}}); err != nil {
		t.Fatal(err)
	}
	pure := newShelf(t, "{epsilon: 1}")
	pure.charge("first", laplace("0.001"))
	for name, s := range map[string]*ledgerFixture{"recovered": lost, "pure": pure} {
		for _, steps := range []struct {
			raises int
			by     float64
		}{{60, 1.08}, {100, 1.05}, {160, 1.03}} {
			var rho, stated []float64
			delta := dp.Amount(0)
			for j := range steps.raises + 1 {
				s.policy(fmt.Sprintf("{epsilon: %.4f, delta: 1e-6, noise: gaussian}", 0.4*math.Pow(steps.by, float64(j))))
				a := s.account()
				rho, stated = append(rho, a.Limit.Rho.Float()), append(stated, a.Total.Epsilon.Float())
				delta = max(delta, a.Total.Delta)
			}
			worth := stat.StoppingDelta(rho, stated)
			if worth > delta.Float() {
				t.Errorf("%s: %d raises by %v are worth %.3g, and %v is stated", name, steps.raises, steps.by, worth, delta)
			}
			t.Logf("%s: %d raises by %v are worth %.3g; stated are epsilon %.4g at delta %v in the end", name, steps.raises, steps.by,
				worth, stated[steps.raises], delta)
		}
	}
}

// TestPromiseOfALaterWindow: what earlier windows told can be seen in this one, so nothing is said
// of all that may be seen.
func TestPromiseOfALaterWindow(t *testing.T) {
	s := newShelf(t, "{epsilon: 1, renewal: {every: month, windows: 3}}")
	s.charge("one", laplace("1"))
	if _, err := s.Renew(ctx, "a month"); err != nil {
		t.Fatal(err)
	}
	got := s.promise(4, "(epsilon 1)", "given everything that earlier windows told", "nothing that it adds is more than")
	if strings.Contains(got[0], "nothing that they can see") || !strings.Contains(got[1], "who would then guess") {
		t.Errorf("%q", got)
	}
}

// TestWindowsDroppedAndPutBack: what was spent in a window while the policy had none is of that
// window, and of no other.
func TestWindowsDroppedAndPutBack(t *testing.T) {
	const monthly, once = "{epsilon: 1, renewal: {every: month, windows: 12}}", "{epsilon: 12}"
	s := newShelf(t, once)
	s.charge("before", laplace("0.5"))
	s.policy(monthly)
	s.promise(4, "(epsilon 1.5)")
	renew := func() {
		t.Helper()
		if _, err := s.Renew(ctx, "a month"); err != nil {
			t.Fatal(err)
		}
	}
	renew()
	s.promise(4, "(epsilon 1)")
	s.charge("two", laplace("1"))
	s.policy(once)
	s.charge("dropped", laplace("1"))
	s.policy(monthly)
	s.promise(4, "(epsilon 2)")
	renewed, err := s.Renew(ctx, "a month")
	if err != nil || !strings.Contains(renewed.Promise[0], "(epsilon 1)") {
		t.Errorf("%q, %v", renewed.Promise, err)
	}
	s.promise(4, "(epsilon 1)")

	// With a delta it is rho that counts, and of the limits together none was fixed beforehand.
	const rho = "{epsilon: 1, delta: 1e-6, noise: gaussian, renewal: {every: month, windows: 12}}"
	s = newShelf(t, rho)
	renew()
	s.policy("{epsilon: 12, delta: 1e-6, noise: gaussian}")
	s.charge("dropped", dp.Cost{Epsilon: dp.Unbounded, Rho: dp.One / 50})
	s.policy(rho)
	got := s.promise(5)
	if strings.Contains(got[0], "(epsilon 1)") || !strings.Contains(got[4], "would promise epsilon 1.") {
		t.Errorf("%q", got)
	}
}

// TestPromiseOfWhatCanStillBeSpent: what an account promises is how it may end. Once more than its
// rho was spent it ends within its epsilon, and where neither of the two admits anything, as it is.
func TestPromiseOfWhatCanStillBeSpent(t *testing.T) {
	after := func(charged, policy string) (total, guarantee api.Guarantee, left api.Remaining, text []string) {
		t.Helper()
		s := newShelf(t, "{epsilon: 1, delta: 1e-6}")
		s.charge("one", laplace(charged))
		s.policy(policy)
		left, err := s.Remaining(ctx, "ana")
		if err != nil {
			t.Fatal(err)
		}
		return s.account().Total, s.account().Guarantee, left, s.promise(2)
	}
	// Of 0.99 the rho is 25 times that of the limit, and as large as that of a limit of
	// 4.94.
	for policy, want := range map[string]string{
		"{epsilon: 1, delta: 1e-6}": "1", "{epsilon: 1.2, delta: 1e-6}": "1.2", "{epsilon: 2, delta: 1e-6}": "2",
		"{epsilon: 4, delta: 1e-6}": "4", "{epsilon: 1, delta: 1e-6, noise: gaussian}": "0.99",
		"{epsilon: 1.2, delta: 1e-6, noise: gaussian}": "0.99", "{epsilon: 4, delta: 1e-6, noise: gaussian}": "0.99",
		"{epsilon: 0.5, delta: 1e-6}": "0.99",
	} {
		total, spent, left, text := after("0.99", policy)
		if total.Epsilon != parse(want) || total.Delta != parse("1e-6") || spent.Epsilon != parse("0.99") {
			t.Errorf("%s: promises %+v, of which %+v is spent; want epsilon %s", policy, total, spent, want)
		}
		if got := left.Epsilon; want == "0.99" && got != 0 || want != "0.99" && got != parse(want).Sub(parse("0.99")) {
			t.Errorf("%s: %v is left", policy, got)
		}
		if lowered := strings.Contains(policy, "0.5"); len(text) != 2 && !lowered || len(text) != 3 && lowered {
			t.Errorf("%s: %q", policy, text)
		}
	}
	// Where rho admits more, it is rho that counts, however little was spent.
	for policy, least := range map[string]float64{
		"{epsilon: 5, delta: 1e-6, noise: gaussian}": 5, "{epsilon: 5, delta: 1e-6}": 5,
	} {
		total, _, _, text := after("0.99", policy)
		if total.Epsilon.Float() < least || total.Delta <= parse("1.9e-6") || len(text) != 3 {
			t.Errorf("%s: promises %+v: %q", policy, total, text)
		}
	}
	if total, _, _, _ := after("0.01", "{epsilon: 1.2, delta: 1e-6}"); total.Epsilon <= parse("1.2") || total.Delta <= parse("1.9e-6") {
		t.Errorf("both sides are open, and %+v is promised", total)
	}
}
