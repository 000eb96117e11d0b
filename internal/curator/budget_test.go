package curator_test

import (
	"errors"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/account"
	"github.com/discreet-dp/discreet/internal/lab/hospital"
	"github.com/discreet-dp/discreet/internal/test/curatortest"
	"github.com/discreet-dp/discreet/ledger"
)

// refusedBy checks that a question was refused by an account, and that no account changed.
func refusedBy(w *curatortest.World, account, analyst, text string) {
	w.T.Helper()
	before, err := w.Accounts(ctx, "ana", "ben")
	w.Check(err)
	_, err = w.AskAs(analyst, text, 0)
	var over *ledger.BudgetError
	if !errors.As(err, &over) || over.Account != account {
		w.T.Errorf("got %v; want a BudgetError of %s", err, account)
	}
	after, err := w.Accounts(ctx, "ana", "ben")
	w.Check(err)
	for i := range after {
		if after[i] != before[i] {
			w.T.Errorf("a refusal moved %s from %v to %v", after[i].Name, before[i].Spent, after[i].Spent)
		}
	}
}

func TestTenTenthsAreOne(t *testing.T) {
	w := curatortest.New(t, curatortest.Pure)
	left := dp.One
	for i := range 10 {
		a := w.MustAsk(curatortest.ByAge(i))
		if a.Cost.Epsilon != curatortest.Amount("0.1") || a.Remaining.Epsilon != left.Sub(curatortest.Amount("0.1")) {
			t.Errorf("question %d: cost %v, left %v of %v", i, a.Cost.Epsilon, a.Remaining.Epsilon, left)
		}
		left = a.Remaining.Epsilon
	}
	refusedBy(w, "hospital", "ana", curatortest.ByAge(10))
	if a := w.MustAsk(curatortest.ByAge(3)); !a.Receipt.Free {
		t.Error("what was paid for cannot be had again")
	}
	refusedBy(w, "hospital", "ben", curatortest.ByAge(11))
}

// shared is a hospital whose two analysts have half of the budget each.
func shared(t *testing.T, budget string) *curatortest.World {
	dataset := strings.Replace(hospital.Dataset("hospital", "data", budget), "ana: {share: 1}", "ana: {share: 0.5}", 1)
	return curatortest.Build(t, hospital.New(50, 1), dataset, 1)
}

func TestQuotas(t *testing.T) {
	w := shared(t, curatortest.Pure)
	for i := range 5 {
		w.MustAsk(curatortest.ByAge(i))
	}
	refusedBy(w, "hospital/ana", "ana", curatortest.ByAge(5))
	for i := range 5 {
		_, err := w.AskAs("ben", curatortest.ByAge(10+i), 0)
		w.Check(err)
	}
	refusedBy(w, "hospital/ben", "ben", curatortest.ByAge(15))

	// Shares of 1 and a half: the dataset's budget is spent before the second quota.
	w = curatortest.New(t, curatortest.Pure)
	for i := range 8 {
		w.MustAsk(curatortest.ByAge(i))
	}
	for i := range 2 {
		_, err := w.AskAs("ben", curatortest.ByAge(8+i), 0)
		w.Check(err)
	}
	refusedBy(w, "hospital", "ben", curatortest.ByAge(10))
	accounts, err := w.Accounts(ctx, "ana", "ben")
	w.Check(err)
	for i, want := range []dp.Amount{10, 8, 2} {
		if got := accounts[i].Spent.Epsilon; got != want*curatortest.Amount("0.1") {
			t.Errorf("%s has spent %v", accounts[i].Name, got)
		}
	}
	if r, err := w.Remaining(ctx, "ben"); err != nil || r.Epsilon != accounts[0].Left.Epsilon {
		t.Errorf("ben has %v left, the dataset %v", r, accounts[0].Left)
	}
}

func TestRhoAddsUp(t *testing.T) {
	w := curatortest.New(t, curatortest.Concentrated)
	left, err := w.Remaining(ctx, "ana")
	w.Check(err)
	limit := w.Dataset.Filter().Limit().Rho
	if total, _ := account.Epsilon(limit, curatortest.Amount("1e-6")); left.Rho != limit || left.Epsilon != total || total > dp.One {
		t.Errorf("at first there is %+v left of rho %v", left, limit)
	}
	sum := dp.Amount(0)
	for i, epsilon := range []string{"0.1", "0.05", "0.01", "0.09", "0.001", "0.1", "0.1"} {
		a, err := w.AskAs("ana", curatortest.ByAge(i), curatortest.Amount(epsilon))
		w.Check(err)
		sum += a.Cost.Rho
		e := curatortest.Amount(epsilon).Float()
		if a.Cost.Epsilon != curatortest.Amount(epsilon) || a.Cost.Delta != 0 || a.Cost.Rho.Float() > e*math.Tanh(e/2) ||
			a.Cost.Rho.Float() < e*math.Tanh(e/2)-0x1p-39 {
			t.Errorf("a question at %v cost %v", epsilon, a.Cost)
		}
		if w.Spent().Rho != sum || a.Remaining.Rho != limit-sum {
			t.Errorf("spent %v, left %v; want %v of %v", w.Spent().Rho, a.Remaining.Rho, sum, limit)
		}
		if a.Remaining.Epsilon > left.Epsilon || a.Remaining.Rho >= left.Rho || a.Remaining.Delta != left.Delta {
			t.Errorf("what is left went from %+v to %+v", left, a.Remaining)
		}
		left = a.Remaining
		accounts, err := w.Accounts(ctx)
		w.Check(err)
		if promised, _ := account.Epsilon(sum,
			curatortest.Amount("1e-6")); accounts[0].Guarantee != (api.Guarantee{Epsilon: promised, Delta: curatortest.Amount("1e-6")}) {
			t.Errorf("the promise is %+v; want epsilon %v", accounts[0].Guarantee, promised)
		}
	}
	refusedBy(w, "hospital", "ana", curatortest.ByAge(99))
}

// What is set aside for private keys is part of the promise and not of the conversion.
func TestKeysDelta(t *testing.T) {
	dataset := strings.Replace(hospital.Dataset("hospital", "data", curatortest.Concentrated), "delta: 1e-6",
		"delta: 1e-6, keys_delta: 4e-7", 1)
	w := curatortest.Build(t, hospital.New(50, 1), dataset, 1)
	w.MustAsk(curatortest.ByAge(1))
	accounts, err := w.Accounts(ctx, "ana", "ben")
	w.Check(err)
	for i, share := range []dp.Amount{1, 1, 2} {
		a := accounts[i]
		total, err := account.Epsilon(a.Limit.Rho, curatortest.Amount("1e-6")-curatortest.Amount("4e-7"))
		w.Check(err)
		if a.Limit.Delta != curatortest.Amount("4e-7")/share || a.Left.Delta != a.Limit.Delta ||
			a.Total != (api.Guarantee{Epsilon: total, Delta: curatortest.Amount("1e-6")}) || total > dp.One {
			t.Errorf("%+v", a)
		}
		// All of the limits, spent, are within the promise.
		all := account.ApproxZCDP{Rho: a.Limit.Rho.Float(), Delta: a.Limit.Delta.Float()}
		if e, err := all.EpsilonAt(a.Total.Delta.Float()); err != nil || e > a.Total.Epsilon.Float() {
			t.Errorf("%s: %+v is worth epsilon %v, %v", a.Name, all, e, err)
		}
	}
	spent, err := account.Epsilon(accounts[0].Spent.Rho, curatortest.Amount("1e-6")-curatortest.Amount("4e-7"))
	w.Check(err)
	if accounts[0].Guarantee != (api.Guarantee{Epsilon: spent, Delta: curatortest.Amount("1e-6")}) {
		t.Errorf("the promise is %+v; want epsilon %v", accounts[0].Guarantee, spent)
	}
	if whole, _ := account.Rho(dp.One, curatortest.Amount("1e-6")); accounts[0].Limit.Rho >= whole {
		t.Error("nothing was set aside")
	}
}

// What a refusal advises can be paid: it looks at every account that the question is
// charged to, and not only at the one that refused first.
func TestAdviceCanBePaid(t *testing.T) {
	for name, budget := range map[string]string{"pure": curatortest.Pure, "zCDP": curatortest.Concentrated} {
		t.Run(name, func(t *testing.T) {
			w := curatortest.New(t, budget) // ana may use all of it, ben half
			_, err := w.AskAs("ben", curatortest.ByAge(1), curatortest.Amount("0.11"))
			w.Check(err)
			_, err = w.AskAs("ben", curatortest.ByAge(2), curatortest.Amount("1"))
			if err == nil {
				t.Fatal("ben got more than there is")
			}
			found := regexp.MustCompile(`epsilon of at most ([0-9.]+),`).FindStringSubmatch(err.Error())
			if found == nil {
				t.Fatalf("no advice in: %v", err)
			}
			if _, err := w.AskAs("ben", curatortest.ByAge(2), curatortest.Amount(found[1])); err != nil {
				t.Errorf("advised %s, and then: %v", found[1], err)
			}
		})
	}
}

// Where nothing is left no smaller epsilon is advised, though another account has some.
func TestNothingLeft(t *testing.T) {
	w := curatortest.New(t, curatortest.Pure)
	_, err := w.AskAs("ben", curatortest.ByAge(1), curatortest.Amount("0.5"))
	w.Check(err)
	_, err = w.AskAs("ben", curatortest.ByAge(2), curatortest.Amount("1"))
	if err == nil || !strings.Contains(err.Error(), "Nothing is left to ask with") {
		t.Errorf("got: %v", err)
	}
}

// What was spent under a budget with a delta has no pure epsilon. Where the owner takes the delta
// away, that is said, and not that another window or a higher limit would help.
func TestAdviceWithoutDelta(t *testing.T) {
	w := curatortest.New(t, curatortest.Concentrated)
	_, err := w.AskAs("ana", curatortest.ByAge(1), curatortest.Amount("0.1"))
	w.Check(err)
	w.Dataset.Budget.Delta, w.Dataset.Budget.KeysDelta = 0, 0
	_, err = w.AskAs("ana", curatortest.ByAge(2), curatortest.Amount("0.1"))
	if err == nil || !strings.Contains(err.Error(), "give the budget its delta back") {
		t.Errorf("got: %v", err)
	}
}

// TestPromiseAfterTopUps: a limit that was raised after an answer is not promised as if it had been
// there before. 20 top-ups of 0.2 on (1, 1e-6) were printed as (5, 1e-6), and are worth a delta of
// 1.97e-6 there (account.TestRaisedLimits).
func TestPromiseAfterTopUps(t *testing.T) {
	w := curatortest.NewTeam(t, curatortest.Concentrated, curatortest.TwoAnalysts)
	key := owner(w, 1)
	topUp := func() {
		t.Helper()
		_, err := w.TopUp(ctx, api.TopUp{Epsilon: curatortest.Amount("0.2"), Reason: "they asked", Signer: key})
		w.Check(err)
	}
	dataset := func() api.Account { return everything(w)[0] }
	// alone is what a limit would promise if it had been the limit from the start.
	alone := func(a api.Account) api.Guarantee {
		epsilon, err := account.Epsilon(a.Limit.Rho, curatortest.Amount("1e-6"))
		w.Check(err)
		return api.Guarantee{Epsilon: epsilon, Delta: curatortest.Amount("1e-6")}
	}

	// What is raised before the first answer is the limit that was fixed before it.
	topUp()
	if a := dataset(); a.Total != alone(a) || a.Total.Delta != curatortest.Amount("1e-6") ||
		a.Total.Epsilon < curatortest.Amount("1.1999") {
		t.Errorf("before the first answer: %+v", a)
	}
	w.MustAsk(curatortest.ByAge(1))
	first := dataset()
	if first.Total != alone(first) {
		t.Errorf("%+v", first)
	}
	for i := range 19 {
		topUp()
		_, err := w.AskAs("ana", curatortest.ByAge(2+i), curatortest.Amount("0.02"))
		w.Check(err)
	}
	a := dataset()
	want, err := account.ClaimOfRaisedLimit(first.Limit.Rho, a.Limit.Rho, curatortest.Amount("1e-6"))
	w.Check(err)
	if a.Total != (api.Guarantee{Epsilon: want.Epsilon, Delta: 2 * curatortest.Amount("1e-6")}) || a.Total.Epsilon < alone(a).Epsilon {
		t.Errorf("after 19 top-ups: %+v; want %v", a, want)
	}
	got, err := w.Promise(ctx)
	w.Check(err)
	if len(got) != 3 || !curatortest.ContainsAll(got[0], "epsilon "+rounded(want.Epsilon)+")", "(delta 2e-06)") ||
		!curatortest.ContainsAll(got[2], "not the one that was fixed before the first answer",
			"epsilon "+rounded(alone(a).Epsilon)+" at delta 1e-06") {
		t.Errorf("%q", got)
	}
	// What an analyst can still spend is counted with the limit by itself, as the charges are.
	left, err := w.Remaining(ctx, "ana")
	w.Check(err)
	if own := everything(w)[1]; left.Epsilon > alone(own).Epsilon || left.Delta != curatortest.Amount("1e-6") {
		t.Errorf("%+v of %+v", left, own)
	}

	// The same where the policy says more, also after a restart.
	w = curatortest.NewTeam(t, curatortest.Concentrated, curatortest.TwoAnalysts)
	w.MustAsk(curatortest.ByAge(1))
	w.Dataset.Budget.Epsilon = 2 * dp.One
	w.Reopen()
	if a := dataset(); a.Total.Delta != 2*curatortest.Amount("1e-6") || a.Total.Epsilon < 2*dp.One {
		t.Errorf("with a larger epsilon: %+v", a)
	}

	// Pure budgets are sums of what is certain.
	w = curatortest.NewTeam(t, curatortest.Pure, curatortest.TwoAnalysts)
	key = owner(w, 1)
	w.MustAsk(curatortest.ByAge(1))
	topUp()
	got, err = w.Promise(ctx)
	w.Check(err)
	if a := dataset(); a.Total != (api.Guarantee{Epsilon: curatortest.Amount("1.2")}) || len(got) != 2 ||
		strings.Contains(got[0], "delta") {
		t.Errorf("a pure budget: %+v, %q", a, got)
	}
}

// rounded writes an amount with four digits, rounded up.
func rounded(a dp.Amount) string {
	unit := math.Pow(10, 3-math.Floor(math.Log10(a.Float())))
	return strconv.FormatFloat(math.Ceil(a.Float()*unit)/unit, 'g', 4, 64)
}
