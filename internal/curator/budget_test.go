package curator

import (
	"errors"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/account"
	"github.com/discreet-dp/discreet/internal/curator/pricing"
	"github.com/discreet-dp/discreet/internal/lab/hospital"
	"github.com/discreet-dp/discreet/ledger"
)

// refusedBy checks that a question was refused by an account, and that no account changed.
func (w *world) refusedBy(account, analyst, text string) {
	w.t.Helper()
	before, err := w.Accounts(ctx, "ana", "ben")
	w.check(err)
	_, err = w.askAs(analyst, text, 0)
	var over *ledger.BudgetError
	if !errors.As(err, &over) || over.Account != account {
		w.t.Errorf("got %v; want a BudgetError of %s", err, account)
	}
	after, err := w.Accounts(ctx, "ana", "ben")
	w.check(err)
	for i := range after {
		if after[i] != before[i] {
			w.t.Errorf("a refusal moved %s from %v to %v", after[i].Name, before[i].Spent, after[i].Spent)
		}
	}
}

func TestTenTenthsAreOne(t *testing.T) {
	w := newWorld(t, pure)
	left := dp.One
	for i := range 10 {
		a := w.mustAsk(byAge(i))
		if a.Cost.Epsilon != amount("0.1") || a.Remaining.Epsilon != left.Sub(amount("0.1")) {
			t.Errorf("question %d: cost %v, left %v of %v", i, a.Cost.Epsilon, a.Remaining.Epsilon, left)
		}
		left = a.Remaining.Epsilon
	}
	w.refusedBy("hospital", "ana", byAge(10))
	if a := w.mustAsk(byAge(3)); !a.Receipt.Free {
		t.Error("what was paid for cannot be had again")
	}
	w.refusedBy("hospital", "ben", byAge(11))
}

// shared is a hospital whose two analysts have half of the budget each.
func shared(t *testing.T, budget string) *world {
	dataset := strings.Replace(hospital.Dataset("hospital", "data", budget), "ana: {share: 1}", "ana: {share: 0.5}", 1)
	return build(t, hospital.New(50, 1), dataset, 1)
}

func TestQuotas(t *testing.T) {
	w := shared(t, pure)
	for i := range 5 {
		w.mustAsk(byAge(i))
	}
	w.refusedBy("hospital/ana", "ana", byAge(5))
	for i := range 5 {
		_, err := w.askAs("ben", byAge(10+i), 0)
		w.check(err)
	}
	w.refusedBy("hospital/ben", "ben", byAge(15))

	// Shares of 1 and a half: the dataset's budget is spent before the second quota.
	w = newWorld(t, pure)
	for i := range 8 {
		w.mustAsk(byAge(i))
	}
	for i := range 2 {
		_, err := w.askAs("ben", byAge(8+i), 0)
		w.check(err)
	}
	w.refusedBy("hospital", "ben", byAge(10))
	accounts, err := w.Accounts(ctx, "ana", "ben")
	w.check(err)
	for i, want := range []dp.Amount{10, 8, 2} {
		if got := accounts[i].Spent.Epsilon; got != want*amount("0.1") {
			t.Errorf("%s has spent %v", accounts[i].Name, got)
		}
	}
	if r, err := w.Remaining(ctx, "ben"); err != nil || r.Epsilon != accounts[0].Left.Epsilon {
		t.Errorf("ben has %v left, the dataset %v", r, accounts[0].Left)
	}
}

func TestRhoAddsUp(t *testing.T) {
	w := newWorld(t, concentrated)
	left, err := w.Remaining(ctx, "ana")
	w.check(err)
	limit := w.dataset.Filter().Limit().Rho
	if total, _ := account.Epsilon(limit, amount("1e-6")); left.Rho != limit || left.Epsilon != total || total > dp.One {
		t.Errorf("at first there is %+v left of rho %v", left, limit)
	}
	sum := dp.Amount(0)
	for i, epsilon := range []string{"0.1", "0.05", "0.01", "0.09", "0.001", "0.1", "0.1"} {
		a, err := w.askAs("ana", byAge(i), amount(epsilon))
		w.check(err)
		sum += a.Cost.Rho
		e := amount(epsilon).Float()
		if a.Cost.Epsilon != amount(epsilon) || a.Cost.Delta != 0 || a.Cost.Rho.Float() > e*math.Tanh(e/2) ||
			a.Cost.Rho.Float() < e*math.Tanh(e/2)-0x1p-39 {
			t.Errorf("a question at %v cost %v", epsilon, a.Cost)
		}
		if w.spent().Rho != sum || a.Remaining.Rho != limit-sum {
			t.Errorf("spent %v, left %v; want %v of %v", w.spent().Rho, a.Remaining.Rho, sum, limit)
		}
		if a.Remaining.Epsilon > left.Epsilon || a.Remaining.Rho >= left.Rho || a.Remaining.Delta != left.Delta {
			t.Errorf("what is left went from %+v to %+v", left, a.Remaining)
		}
		left = a.Remaining
		accounts, err := w.Accounts(ctx)
		w.check(err)
		if promised, _ := account.Epsilon(sum,
			amount("1e-6")); accounts[0].Guarantee != (api.Guarantee{Epsilon: promised, Delta: amount("1e-6")}) {
			t.Errorf("the promise is %+v; want epsilon %v", accounts[0].Guarantee, promised)
		}
	}
	w.refusedBy("hospital", "ana", byAge(99))
}

// What is set aside for private keys is part of the promise and not of the conversion.
func TestKeysDelta(t *testing.T) {
	dataset := strings.Replace(hospital.Dataset("hospital", "data", concentrated), "delta: 1e-6", "delta: 1e-6, keys_delta: 4e-7", 1)
	w := build(t, hospital.New(50, 1), dataset, 1)
	w.mustAsk(byAge(1))
	accounts, err := w.Accounts(ctx, "ana", "ben")
	w.check(err)
	for i, share := range []dp.Amount{1, 1, 2} {
		a := accounts[i]
		total, err := account.Epsilon(a.Limit.Rho, amount("1e-6")-amount("4e-7"))
		w.check(err)
		if a.Limit.Delta != amount("4e-7")/share || a.Left.Delta != a.Limit.Delta ||
			a.Total != (api.Guarantee{Epsilon: total, Delta: amount("1e-6")}) || total > dp.One {
			t.Errorf("%+v", a)
		}
		// All of the limits, spent, are within the promise.
		all := account.ApproxZCDP{Rho: a.Limit.Rho.Float(), Delta: a.Limit.Delta.Float()}
		if e, err := all.EpsilonAt(a.Total.Delta.Float()); err != nil || e > a.Total.Epsilon.Float() {
			t.Errorf("%s: %+v is worth epsilon %v, %v", a.Name, all, e, err)
		}
	}
	spent, err := account.Epsilon(accounts[0].Spent.Rho, amount("1e-6")-amount("4e-7"))
	w.check(err)
	if accounts[0].Guarantee != (api.Guarantee{Epsilon: spent, Delta: amount("1e-6")}) {
		t.Errorf("the promise is %+v; want epsilon %v", accounts[0].Guarantee, spent)
	}
	if whole, _ := account.Rho(dp.One, amount("1e-6")); accounts[0].Limit.Rho >= whole {
		t.Error("nothing was set aside")
	}
}

// No question costs more than was asked for, and hardly less.
func TestCostIsWhatWasAsked(t *testing.T) {
	kinds := []string{"COUNT(*)", "COUNT(smoker)", "SUM(age)", "SUM(cost)", "AVG(cost)", "SUM(age * 2)", "AVG(age)"}
	for _, budget := range []string{pure, concentrated} {
		budget := strings.Replace(budget, "per_query: {", "per_query: {min: 1e-12, ", 1)
		ds := parsed(t, hospital.Dataset("hospital", "data", budget))
		c := New(ds, nil, nil, nil)
		rapid.Check(t, func(r *rapid.T) {
			epsilon := dp.Amount(rapid.Uint64Range(1<<20, uint64(dp.One)).Draw(r, "epsilon"))
			picks := rapid.SliceOfN(rapid.SampledFrom(kinds), 1, 6).Draw(r, "aggregates")
			p, err := price(c, api.Question{Analyst: "ana", SQL: "SELECT " + strings.Join(picks, ", ") + " FROM patients", Epsilon: epsilon})
			if err != nil {
				if !ds.Budget.Pure() && strings.Contains(err.Error(), "too small") || strings.Contains(err.Error(), "lattice step") {
					return
				}
				r.Fatal(err)
			}
			n := dp.Amount(len(p.Purchases[0].Noise))
			if ds.Budget.Pure() {
				if pricing.Cost(p.Purchases).Epsilon > epsilon || pricing.Cost(p.Purchases).Epsilon+n <= epsilon ||
					p.Tag(p.Purchases) != pricing.Cost(p.Purchases) {
					r.Fatalf("asked for %d units, charged %d", epsilon, pricing.Cost(p.Purchases).Epsilon)
				}
				return
			}
			e := epsilon.Float()
			if most := e * math.Tanh(e/2); pricing.Cost(p.Purchases).Rho.Float() > most ||
				pricing.Cost(p.Purchases).Rho.Float() < most-float64(n+1)*0x1p-40 {
				r.Fatalf("asked for rho %v, charged %v", most, pricing.Cost(p.Purchases).Rho.Float())
			}
			if p.Tag(p.Purchases).Epsilon != epsilon || pricing.Cost(p.Purchases).Epsilon != dp.Unbounded {
				r.Fatalf("the tag is %v, the cost %v", p.Tag(p.Purchases), pricing.Cost(p.Purchases))
			}
		})
	}
}
