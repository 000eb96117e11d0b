package curator

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/account"
	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
)

// TestPromiseAfterTopUps: a limit that was raised after an answer is not promised as if it had been
// there before. 20 top-ups of 0.2 on (1, 1e-6) were printed as (5, 1e-6), and are worth a delta of
// 1.97e-6 there (account.TestRaisedLimits).
func TestPromiseAfterTopUps(t *testing.T) {
	w := team(t, concentrated, twoAnalysts)
	key := w.owner(1)
	topUp := func() {
		t.Helper()
		_, err := w.TopUp(ctx, api.TopUp{Epsilon: amount("0.2"), Reason: "they asked", Signer: key})
		w.check(err)
	}
	dataset := func() api.Account { return w.everything()[0] }
	// alone is what a limit would promise if it had been the limit from the start.
	alone := func(a api.Account) api.Guarantee {
		epsilon, err := account.Epsilon(a.Limit.Rho, amount("1e-6"))
		w.check(err)
		return api.Guarantee{Epsilon: epsilon, Delta: amount("1e-6")}
	}

	// What is raised before the first answer is the limit that was fixed before it.
	topUp()
	if a := dataset(); a.Total != alone(a) || a.Total.Delta != amount("1e-6") || a.Total.Epsilon < amount("1.1999") {
		t.Errorf("before the first answer: %+v", a)
	}
	w.mustAsk(byAge(1))
	first := dataset()
	if first.Total != alone(first) {
		t.Errorf("%+v", first)
	}
	for i := range 19 {
		topUp()
		_, err := w.askAs("ana", byAge(2+i), amount("0.02"))
		w.check(err)
	}
	a, want := dataset(), account.Reading{}
	want, err := account.Raised(first.Limit.Rho, a.Limit.Rho, amount("1e-6"))
	w.check(err)
	if a.Total != (api.Guarantee{Epsilon: want.Epsilon, Delta: 2 * amount("1e-6")}) || a.Total.Epsilon < alone(a).Epsilon {
		t.Errorf("after 19 top-ups: %+v; want %v", a, want)
	}
	got, err := w.Promise(ctx)
	w.check(err)
	if len(got) != 3 || !contains(got[0], "epsilon "+rounded(want.Epsilon)+")", "(delta 2e-06)") ||
		!contains(got[2], "not the one that was fixed before the first answer", "epsilon "+rounded(alone(a).Epsilon)+" at delta 1e-06") {
		t.Errorf("%q", got)
	}
	// What an analyst can still spend is counted with the limit by itself, as the charges are.
	left, err := w.Remaining(ctx, "ana")
	w.check(err)
	if own := w.everything()[1]; left.Epsilon > alone(own).Epsilon || left.Delta != amount("1e-6") {
		t.Errorf("%+v of %+v", left, own)
	}

	// The same where the policy says more, also after a restart.
	w = team(t, concentrated, twoAnalysts)
	w.mustAsk(byAge(1))
	w.dataset.Budget.Epsilon = 2 * dp.One
	w.reopen()
	if a := dataset(); a.Total.Delta != 2*amount("1e-6") || a.Total.Epsilon < 2*dp.One {
		t.Errorf("with a larger epsilon: %+v", a)
	}

	// Pure budgets are sums of what is certain.
	w = team(t, pure, twoAnalysts)
	key = w.owner(1)
	w.mustAsk(byAge(1))
	topUp()
	got, err = w.Promise(ctx)
	w.check(err)
	if a := dataset(); a.Total != (api.Guarantee{Epsilon: amount("1.2")}) || len(got) != 2 || strings.Contains(got[0], "delta") {
		t.Errorf("a pure budget: %+v, %q", a, got)
	}
}

// rounded writes an amount with four digits, rounded up.
func rounded(a dp.Amount) string {
	unit := math.Pow(10, 3-math.Floor(math.Log10(a.Float())))
	return strconv.FormatFloat(math.Ceil(a.Float()*unit)/unit, 'g', 4, 64)
}
