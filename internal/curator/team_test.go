package curator_test

import (
	"context"
	"crypto/ed25519"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/account"
	"github.com/discreet-dp/discreet/internal/curator"
	"github.com/discreet-dp/discreet/internal/ledger/sqlite"
	"github.com/discreet-dp/discreet/internal/test/curatortest"
	"github.com/discreet-dp/discreet/ledger"
)

func owner(w *curatortest.World, seed byte) ed25519.PrivateKey {
	w.T.Helper()
	key := ed25519.NewKeyFromSeed(slices.Repeat([]byte{seed}, ed25519.SeedSize))
	_, err := w.Ledger.Enter(ctx, ledger.Owner{Public: key.Public().(ed25519.PublicKey), Reason: "test"})
	w.Check(err)
	return key
}

// everything is all accounts of all analysts.
func everything(w *curatortest.World) []api.Account {
	w.T.Helper()
	all, err := w.Accounts(ctx, w.Dataset.AnalystNames()...)
	w.Check(err)
	return all
}

// balance returns what an account has spent.
func balance(w *curatortest.World, name string) dp.Cost {
	w.T.Helper()
	b, err := w.Ledger.Balances(ctx, []ledger.Account{{Name: name, Filter: account.PureFilter(1)}})
	w.Check(err)
	return b[0].Spent
}

// TestAccountsOfATeam: which accounts a charge is taken from, each with which limit.
func TestAccountsOfATeam(t *testing.T) {
	rho := func(e, d string) dp.Amount {
		r, err := account.Rho(curatortest.Amount(e), curatortest.Amount(d))
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	pure := func(e dp.Amount) dp.Cost { return dp.Cost{Epsilon: e, Rho: dp.Unbounded} }
	concentrated := func(r, d dp.Amount) dp.Cost { return dp.Cost{Epsilon: dp.Unbounded, Rho: r, Delta: d} }
	type account struct {
		name, kind string
		limit      dp.Cost
	}
	keys, rhoDelta := curatortest.Amount("4e-7"), fmt.Sprint(curatortest.Amount("1e-6").Sub(curatortest.Amount("4e-7")).Float())
	whole := rho("1", rhoDelta)
	for _, c := range []struct {
		budget, analyst string
		renewals        int
		want            []account
	}{
		{"{epsilon: 1}", "ana", 0, []account{
			{"hospital", "dataset", pure(dp.One)}, {"hospital/group:cardiology", "group", pure(curatortest.Amount("0.6"))},
			{"hospital/group:students", "group", pure(curatortest.Amount("0.2"))}, {"hospital/ana", "analyst", pure(dp.One / 2)}}},
		{"{epsilon: 1}", "cyn", 0, []account{
			{"hospital", "dataset", pure(dp.One)}, {"hospital/group:students", "group", pure(curatortest.Amount("0.2"))},
			{"hospital/cyn", "analyst", pure(dp.One)}}},
		{"{epsilon: 1, delta: 1e-6}", "ben", 0, []account{
			{"hospital", "dataset", concentrated(rho("1", "1e-6"), 0)},
			{"hospital/group:cardiology", "group", concentrated(rho("1", "1e-6")*3/5, 0)},
			{"hospital/ben", "analyst", concentrated(rho("0.3", "1e-6"), 0)}}},
		{curatortest.Monthly, "ben", 1, []account{
			{"hospital", "dataset", pure(3 * dp.One / 2)}, {"hospital#2", "window", pure(dp.One / 2)},
			{"hospital/group:cardiology#2", "group", pure(curatortest.Amount("0.3"))}, {"hospital/ben#2", "analyst",
				pure(curatortest.Amount("0.3"))}}},
		{curatortest.MonthlyRho, "cyn", 2, []account{
			{"hospital", "dataset", concentrated(12*whole, 12*keys)}, {"hospital#3", "window", concentrated(whole, keys)},
			{"hospital/group:students#3", "group", concentrated(rho("0.2", rhoDelta), 0)},
			{"hospital/cyn#3", "analyst", concentrated(whole, keys)}}},
	} {
		w := curatortest.NewTeam(t, c.budget, curatortest.Cardiology)
		for range c.renewals {
			w.RenewNow()
		}
		_, err := w.AskAs(c.analyst, curatortest.ByAge(1), curatortest.Amount("0.01"))
		w.Check(err)
		var charged *ledger.Record
		for r, err := range w.Ledger.Records(ctx, 1) {
			w.Check(err)
			if r.Kind == ledger.KindCharge {
				charged = r
			}
		}
		accounts, err := w.Accounts(ctx, c.analyst)
		w.Check(err)
		if len(charged.Balances) != len(c.want) || len(accounts) != len(c.want) {
			t.Fatalf("%s: charged %v, shown %v", c.budget, charged.Balances, accounts)
		}
		for i, want := range c.want {
			b, a := charged.Balances[i], accounts[i]
			if b.Limit.Delta != want.limit.Delta && a.Kind == "group" { // the part of delta is in proportion of rho
				want.limit.Delta = dp.Amount(float64(keys) * want.limit.Rho.Float() / whole.Float())
			}
			if b.Account != want.name || b.Limit != want.limit || b.Spent != charged.Cost {
				t.Errorf("%s: charged %+v; want %+v", c.budget, b, want)
			}
			if a.Name != want.name || a.Kind != want.kind || a.Limit != want.limit || a.Spent != charged.Cost || a.Part <= 0 {
				t.Errorf("%s: shown %+v; want %+v", c.budget, a, want)
			}
			if window := uint64(c.renewals + 1); w.Dataset.Budget.Renews() && a.Kind != "dataset" && a.Window != window ||
				a.Windows != uint64(w.Dataset.Budget.Renewal.Windows) {
				t.Errorf("%s: %+v is not of window %d", c.budget, a, window)
			}
		}
		w.Leave()
	}
}

// TestGroupRefuses: where a group has no more, nothing is spent anywhere, for none of its analysts.
func TestGroupRefuses(t *testing.T) {
	w := curatortest.NewTeam(t, curatortest.Pure,
		"analysts: {ana: , ben: , cyn: }\n    groups: {few: {epsilon: 0.3, analysts: [ana, ben]}}")
	for i := range 3 {
		_, err := w.AskAs([]string{"ana", "ben"}[i%2], curatortest.ByAge(i), 0)
		w.Check(err)
	}
	before, records := everything(w), w.RecordCount()
	for i, analyst := range []string{"ana", "ben"} {
		_, err := w.AskAs(analyst, curatortest.ByAge(10+i), 0)
		var over *ledger.BudgetError
		if !errors.As(err, &over) || over.Account != "hospital/group:few" {
			t.Errorf("%s: %v", analyst, err)
		}
		e, err := w.Explain(ctx, api.Question{Analyst: analyst, SQL: curatortest.ByAge(20)})
		w.Check(err)
		if e.Affordable || e.Remaining.Epsilon > 10 {
			t.Errorf("%s is told %+v", analyst, e.Remaining)
		}
	}
	if after := everything(w); !slices.Equal(after, before) || w.RecordCount() != records {
		t.Errorf("a refusal moved %+v to %+v", before, after)
	}
	if _, err := w.AskAs("cyn", curatortest.ByAge(30), 0); err != nil {
		t.Errorf("who is not in the group is refused: %v", err)
	}
}

// TestWindows spends one window after the other, up to the end of all.
func TestWindows(t *testing.T) {
	w := curatortest.NewTeam(t, curatortest.Monthly, curatortest.TwoAnalysts)
	next := 0
	spend := func(n int) {
		t.Helper()
		for range n {
			w.MustAsk(curatortest.ByAge(next))
			next++
		}
	}
	for window := 1; window <= 3; window++ {
		spend(5)
		before := everything(w)
		_, err := w.AskSQL(curatortest.ByAge(next))
		var over *ledger.BudgetError
		if !errors.As(err, &over) || window < 3 && over.Account != fmt.Sprint("hospital#", window) ||
			!strings.Contains(err.Error(), "begin the next window") {
			t.Errorf("window %d: %v", window, err)
		}
		if !slices.Equal(everything(w), before) {
			t.Errorf("window %d: a refusal spent something", window)
		}
		if window < 3 {
			w.RenewNow()
			if r, err := w.Remaining(ctx, "ana"); err != nil || r.Epsilon != curatortest.Amount("0.5") {
				t.Errorf("at first there is %+v left in window %d, %v", r, window+1, err)
			}
		}
	}
	if a := w.MustAsk(curatortest.ByAge(0)); !a.Receipt.Free {
		t.Error("what was paid for in the first window is not free in the third")
	}
	var refused *api.Refusal
	if _, err := w.Renew(ctx, "once more"); !errors.As(err, &refused) || !strings.Contains(err.Error(), "3 windows") {
		t.Errorf("a fourth window: %v", err)
	}
	// Somebody who writes the record without asking the policy gets a window, and nothing to spend
	// in it.
	_, err := w.Ledger.Enter(ctx, ledger.Renewal{Dataset: "hospital", From: 3, Reason: "by hand"})
	w.Check(err)
	var over *ledger.BudgetError
	if _, err := w.AskSQL(curatortest.ByAge(next)); !errors.As(err, &over) || over.Account != "hospital" {
		t.Errorf("beyond the total: %v", err)
	}
	if got := balance(w, "hospital").Epsilon; got != 15*curatortest.Amount("0.1") {
		t.Errorf("%v was spent", got)
	}
	// Unspent windows do not add to later ones.
	w = curatortest.NewTeam(t, curatortest.Monthly, curatortest.TwoAnalysts)
	w.RenewNow()
	w.RenewNow()
	for i := range 5 {
		w.MustAsk(curatortest.ByAge(i))
	}
	if _, err := w.AskSQL(curatortest.ByAge(6)); !errors.As(err, &over) || over.Account != "hospital#3" {
		t.Errorf("got %v", err)
	}
	w = curatortest.New(t, curatortest.Pure)
	if _, err := w.Renew(ctx, "no"); !errors.As(err, &refused) || !strings.Contains(err.Error(), "once, for good") {
		t.Errorf("a budget without windows: %v", err)
	}
}

// renewing is a ledger in which a window ends just before a charge.
type renewing struct {
	ledger.Ledger
	times int
}

func (r *renewing) Charge(ctx context.Context, c ledger.Charge) (ledger.Receipt, error) {
	if r.times > 0 {
		r.times--
		if _, err := r.Enter(ctx, ledger.Renewal{Dataset: c.Dataset, From: c.Window, Reason: "race"}); err != nil {
			return ledger.Receipt{}, err
		}
	}
	return r.Ledger.Charge(ctx, c)
}

func TestWindowEndsUnderACharge(t *testing.T) {
	w := curatortest.NewTeam(t, curatortest.Monthly, curatortest.TwoAnalysts)
	w.Curator = curator.New(w.Dataset, w.Data, &renewing{w.Ledger, 2}, curatortest.Seeded(1))
	w.MustAsk(curatortest.ByAge(1))
	for name, want := range map[string]dp.Amount{"hospital": curatortest.Amount("0.1"), "hospital#1": 0, "hospital#2": 0,
		"hospital#3":     curatortest.Amount("0.1"),
		"hospital/ana#3": curatortest.Amount("0.1"), "hospital/ana": 0} {
		if got := balance(w, name).Epsilon; got != want {
			t.Errorf("%s has spent %v; want %v", name, got, want)
		}
	}
	w.Curator = curator.New(w.Dataset, w.Data, &renewing{w.Ledger, 100}, curatortest.Seeded(1))
	if _, err := w.AskSQL(curatortest.ByAge(2)); !errors.As(err, new(*ledger.WindowError)) {
		t.Errorf("got %v", err)
	}
	if got := balance(w, "hospital").Epsilon; got != curatortest.Amount("0.1") {
		t.Errorf("%v was spent", got)
	}
}

// TestTopUp: a limit grows by exactly what was signed.
func TestTopUp(t *testing.T) {
	w := curatortest.NewTeam(t, "{epsilon: 0.3, per_query: {default: 0.1, max: 0.3}}",
		"analysts: {ana: , ben: {share: 0.5}}\n    groups: {all: {analysts: [ana, ben]}}")
	var over *ledger.BudgetError
	var bad *ledger.SignatureError
	if _, err := w.TopUp(ctx, api.TopUp{Epsilon: dp.One, Reason: "no owner",
		Signer: ed25519.NewKeyFromSeed(make([]byte, 32))}); !errors.As(err, &bad) || !strings.Contains(err.Error(), "ledger key") {
		t.Errorf("without an owner: %v", err)
	}
	key := owner(w, 1)
	for i := range 3 {
		w.MustAsk(curatortest.ByAge(i))
	}
	before := everything(w)
	for name, signer := range map[string]ed25519.PrivateKey{"another": ed25519.NewKeyFromSeed(make([]byte, 32))} {
		if _, err := w.TopUp(ctx, api.TopUp{Epsilon: dp.One, Reason: name, Signer: signer}); !errors.As(err, &bad) {
			t.Errorf("the key of %s: %v", name, err)
		}
	}
	if _, err := w.TopUp(ctx, api.TopUp{Epsilon: dp.One, Reason: "unsigned"}); !errors.As(err, new(*ledger.InvalidError)) {
		t.Errorf("unsigned: %v", err)
	}
	if !slices.Equal(everything(w), before) {
		t.Error("a refused top-up changed something")
	}
	// The dataset alone is not enough, where quotas are spent too.
	for i, name := range []string{"", "group:all", "ana"} {
		if _, err := w.AskSQL(curatortest.ByAge(10)); !errors.As(err, &over) {
			t.Errorf("before %q: %v", name, err)
		}
		r, err := w.TopUp(ctx, api.TopUp{Account: name, Epsilon: curatortest.Amount("0.2"), Reason: "more", Signer: key})
		w.Check(err)
		a := r.After[0]
		if len(r.After) != 1 || r.Amount != (dp.Cost{Epsilon: curatortest.Amount("0.2")}) ||
			a.Limit.Epsilon != curatortest.Amount("0.3")+curatortest.Amount("0.2") ||
			a.Granted != r.Amount ||
			r.Before[0].Limit.Epsilon != curatortest.Amount("0.3") || a.Total.Epsilon != a.Limit.Epsilon ||
			a.Kind != []string{"dataset", "group", "analyst"}[i] {
			t.Errorf("%q: %+v", name, r)
		}
	}
	e, err := w.Explain(ctx, api.Question{Analyst: "ana", SQL: curatortest.ByAge(10)})
	w.Check(err)
	if !e.Affordable {
		t.Error("a price is said to be too high that a top-up pays for")
	}
	w.MustAsk(curatortest.ByAge(10))
	w.MustAsk(curatortest.ByAge(11))
	if _, err := w.AskSQL(curatortest.ByAge(12)); !errors.As(err, &over) {
		t.Errorf("after all is spent: %v", err)
	}
	for _, c := range []struct {
		t    api.TopUp
		want string
	}{
		{api.TopUp{Account: "eve", Epsilon: 1}, "name one of ana, ben"}, {api.TopUp{Account: "group:eve", Epsilon: 1}, "name one of all"},
		{api.TopUp{Epsilon: 0}, "this top-up adds nothing"}, {api.TopUp{Epsilon: 1, Delta: 1}, "is pure"},
		{api.TopUp{Epsilon: 100 * dp.One}, "the most is epsilon 100"},
	} {
		c.t.Signer, c.t.Reason = key, "refused"
		var refused *api.Refusal
		if _, err := w.TopUp(ctx, c.t); !errors.As(err, &refused) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c.t, err)
		}
	}
	// It outlives the process, and the ledger checks.
	w.Reopen()
	if a := everything(w)[0]; a.Granted.Epsilon != curatortest.Amount("0.2") {
		t.Errorf("after opening again: %+v", a)
	}
}

// TestTopUpOfWindows: the current window's promise grows by the epsilon, that of all windows by the
// same rho, and the next window has what the policy says.
func TestTopUpOfWindows(t *testing.T) {
	w := curatortest.NewTeam(t, curatortest.MonthlyRho, curatortest.TwoAnalysts)
	key := owner(w, 1)
	before := everything(w)
	delta := w.Dataset.Budget.RhoDelta()
	for i := range 2 {
		r, err := w.TopUp(ctx, api.TopUp{Epsilon: curatortest.Amount("0.5"), Delta: curatortest.Amount("1e-7"), Reason: "more",
			Signer: key})
		w.Check(err)
		want, err := account.Rho(r.Before[1].Total.Epsilon+curatortest.Amount("0.5"), delta)
		w.Check(err)
		all, window := r.After[0], r.After[1]
		if window.Name != "hospital#1" || window.Limit.Rho != want ||
			window.Total.Epsilon > r.Before[1].Total.Epsilon+curatortest.Amount("0.5") ||
			window.Total.Epsilon < r.Before[1].Total.Epsilon+curatortest.Amount("0.4999999") {
			t.Errorf("top-up %d: the window has %+v; want rho %v", i, window, want)
		}
		if all.Limit.Rho != r.Before[0].Limit.Rho+r.Amount.Rho || all.Total.Epsilon >= r.Before[0].Total.Epsilon+curatortest.Amount("0.5") {
			t.Errorf("top-up %d: all windows have %+v after %+v", i, all, r.Before[0])
		}
		if window.Limit.Delta != r.Before[1].Limit.Delta+curatortest.Amount("1e-7") || window.Total.Delta != delta+window.Limit.Delta ||
			all.Total.Delta != delta+all.Limit.Delta {
			t.Errorf("top-up %d: delta is %+v and %+v", i, window, all)
		}
	}
	r, err := w.TopUp(ctx, api.TopUp{Account: "ana", Epsilon: curatortest.Amount("0.5"), Reason: "more", Signer: key})
	w.Check(err)
	if len(r.After) != 1 || r.After[0].Name != "hospital/ana#1" {
		t.Errorf("%+v", r)
	}
	w.RenewNow()
	for i, a := range everything(w) {
		if i > 0 && (a.Limit != before[i].Limit || a.Granted != dp.Cost{}) {
			t.Errorf("a top-up outlived its window: %+v", a)
		}
	}
}

// TestForgedTopUp: a record that somebody else has signed does not check, and neither does one
// whose amount was changed.
func TestForgedTopUp(t *testing.T) {
	w := curatortest.NewTeam(t, curatortest.Pure, curatortest.TwoAnalysts)
	key := owner(w, 1)
	sequence, hash, err := w.Ledger.Head(ctx)
	w.Check(err)
	_, err = w.TopUp(ctx, api.TopUp{Epsilon: dp.One, Reason: "signed", Signer: key})
	w.Check(err)
	path := w.Dir + "/policy.ledger"
	w.Check(w.Ledger.Close())
	if _, err := sqlite.Verify(path); err != nil {
		t.Fatal(err)
	}
	for name, forge := range map[string]func(*ledger.Record){
		"amount":  func(r *ledger.Record) { r.Cost.Epsilon *= 2 },
		"account": func(r *ledger.Record) { r.Accounts[0] = "hospital/ana" },
		"key": func(r *ledger.Record) {
			other := ed25519.NewKeyFromSeed(make([]byte, 32))
			r.PublicKey = fmt.Sprintf("%x", []byte(other.Public().(ed25519.PublicKey)))
			r.Signature = fmt.Sprintf("%x", ed25519.Sign(other, r.Signed(ledger.Position{Sequence: sequence, Hash: hash})))
		},
		"signature": func(r *ledger.Record) { r.Signature = strings.Repeat("0", 128) },
	} {
		forged := w.Dir + "/" + name + ".ledger"
		rewriteLast(t, path, forged, forge)
		var corrupt *ledger.CorruptError
		if _, err := sqlite.Verify(forged); !errors.As(err, &corrupt) {
			t.Errorf("a forged %s: %v", name, err)
		}
	}
	// The forger's tool itself makes ledgers that check.
	same := w.Dir + "/same.ledger"
	rewriteLast(t, path, same, func(*ledger.Record) {})
	if _, err := sqlite.Verify(same); err != nil {
		t.Errorf("the same record: %v", err)
	}
}

// TestAlerts: each threshold is told once, and only when it is passed.
func TestAlerts(t *testing.T) {
	w := curatortest.NewTeam(t, "{epsilon: 1, per_query: {default: 0.05, max: 1}}",
		"analysts: {ana: , ben: }\n    groups: {half: {share: 0.5, analysts: [ana]}}")
	told := map[string][]int{}
	ask := func(analyst string, i int) {
		t.Helper()
		a, err := w.AskAs(analyst, curatortest.ByAge(i), 0)
		w.Check(err)
		for _, alert := range a.Alerts {
			told[alert.Account] = append(told[alert.Account], alert.Percent, i)
		}
	}
	for i := range 10 {
		ask("ana", i)
	}
	if a := w.MustAsk(curatortest.ByAge(3)); len(a.Alerts) > 0 {
		t.Errorf("a free answer has alerts %v", a.Alerts)
	}
	for i := range 10 {
		ask("ben", 10+i)
	}
	// Rounded down, twenty twentieths are a little less than one, and ten less than half.
	want := map[string][]int{"hospital": {50, 10, 80, 16, 95, 19}, "hospital/group:half": {50, 5, 80, 8, 95, 9}, "hospital/ana": nil,
		"hospital/ben": nil}
	for name := range want {
		if !slices.Equal(told[name], want[name]) {
			t.Errorf("%s: alerts (percent, question) %v; want %v", name, told[name], want[name])
		}
	}
	if len(told) != 2 {
		t.Errorf("alerts of %v", told)
	}
	for _, a := range everything(w) {
		if want := map[string]int{"hospital": 95, "hospital/group:half": 95}[a.Name]; a.Alert != want {
			t.Errorf("%s shows %d", a.Name, a.Alert)
		}
	}
}

// TestExpiry: from its day on an analyst gets nothing, free answers neither, and nothing is spent.
func TestExpiry(t *testing.T) {
	w := curatortest.NewTeam(t, curatortest.Pure, "analysts: {ana: {expires: 2027-01-01}, ben: }")
	at := func(text string) {
		day, err := time.Parse(time.RFC3339, text)
		w.Check(err)
		w.SetClock(func() time.Time { return day })
	}
	at("2026-12-31T23:59:59Z")
	w.MustAsk(curatortest.ByAge(1))
	before := everything(w)
	if before[1].Expires != "2027-01-01" || before[2].Expires != "" {
		t.Errorf("%+v", before)
	}
	for _, now := range []string{"2027-01-01T00:00:00Z", "2027-01-01T09:00:00+10:00", "2036-12-31T00:00:00Z"} {
		at(now)
		if now == "2027-01-01T09:00:00+10:00" { // which is still the day before in UTC
			if _, err := w.AskSQL(curatortest.ByAge(1)); err != nil {
				t.Errorf("at %s: %v", now, err)
			}
			continue
		}
		for _, text := range []string{curatortest.ByAge(1), curatortest.ByAge(2)} {
			var refused *api.Refusal
			if _, err := w.AskSQL(text); !errors.As(err, &refused) || !strings.Contains(err.Error(), "ended on 2027-01-01") {
				t.Errorf("at %s: %v", now, err)
			}
			if _, err := w.Explain(ctx, api.Question{Analyst: "ana", SQL: text}); !errors.As(err, &refused) {
				t.Errorf("at %s: %v", now, err)
			}
		}
		if _, err := w.AskAs("ben", curatortest.ByAge(1), 0); err != nil {
			t.Errorf("at %s: %v", now, err)
		}
	}
	if !slices.Equal(everything(w), before) {
		t.Error("something was spent")
	}
}

// TestClockJumps asks the same of two worlds, one of them with a clock that jumps ten years forth
// and back between any two questions. All decisions are the same, and so is what was spent where.
func TestClockJumps(t *testing.T) {
	run := func(years ...int) string {
		w := curatortest.NewTeam(t, curatortest.Monthly, strings.Replace(curatortest.Cardiology, "cyn: }", "cyn: {expires: 2999-01-01}}",
			1))
		key := owner(w, 1)
		var log strings.Builder
		for i := range 30 {
			w.SetClock(func() time.Time { return time.Now().AddDate(years[i%len(years)], 0, 0) })
			analyst := []string{"ana", "ben", "cyn"}[i%3]
			a, err := w.AskAs(analyst, curatortest.ByAge(i%25), 0)
			fmt.Fprintln(&log, i, analyst, err)
			if err == nil {
				fmt.Fprintln(&log, a.Cost, a.Remaining, a.Alerts, a.Receipt.Free)
			}
			if i%8 == 7 {
				_, err := w.Renew(ctx, "test")
				fmt.Fprintln(&log, err)
			}
			if i == 12 {
				_, err := w.TopUp(ctx, api.TopUp{Account: "ana", Epsilon: curatortest.Amount("0.1"), Reason: "test", Signer: key})
				fmt.Fprintln(&log, err)
			}
		}
		return log.String() + fmt.Sprint(everything(w))
	}
	jumping := run(0, 10, -10, 10)
	if steady := run(0); jumping != steady || !strings.Contains(steady, "does not cover") || !strings.Contains(steady, "3 windows") {
		t.Errorf("with a clock that jumps:\n%s\nwithout:\n%s", jumping, steady)
	}
}

// TestDue: a reminder goes by what was recorded.
func TestDue(t *testing.T) {
	w := curatortest.NewTeam(t, curatortest.Monthly, curatortest.TwoAnalysts)
	if _, spent, err := w.Due(ctx, time.Now()); spent || err != nil {
		t.Errorf("before anything was spent: %v", err)
	}
	w.MustAsk(curatortest.ByAge(1))
	today := time.Now().UTC()
	for range 2 {
		next, spent, err := w.Due(ctx, time.Now())
		w.Check(err)
		if want := w.Dataset.Budget.Renewal.Next(today); !spent || next != want && next != want.AddDate(0, 0, 1) {
			t.Errorf("due on %v; want %v", next, want)
		}
		w.RenewNow()
	}
	if _, _, err := w.Due(ctx, time.Now()); err == nil {
		t.Error("the last window is due to be renewed")
	}
}

// TestDueAfterJump: a clock that jumps a century while the owner renews does not put the next
// renewal off by one.
func TestDueAfterJump(t *testing.T) {
	w := curatortest.NewTeam(t, curatortest.Monthly, curatortest.TwoAnalysts)
	w.MustAsk(curatortest.ByAge(1))
	w.Ledger.Now = func() time.Time { return time.Now().AddDate(100, 0, 0) }
	w.RenewNow()
	w.Ledger.Now = time.Now
	if next, spent, err := w.Due(ctx, time.Now()); spent || err != nil {
		t.Errorf("in a window without a charge: due on %v, %v", next, err)
	}
	w.MustAsk(curatortest.ByAge(2))
	next, spent, err := w.Due(ctx, time.Now())
	w.Check(err)
	if want := w.Dataset.Budget.Renewal.Next(time.Now().UTC()); !spent || next.After(want) {
		t.Errorf("due on %v; want %v", next, want)
	}
}

func TestPromise(t *testing.T) {
	for _, c := range []struct {
		budget string
		want   []string
	}{
		{"{epsilon: 1}", []string{
			"For good: whatever analysts ask and whoever colludes, nothing that they may see of hospital is more than 2.72 times as " +
				"likely (epsilon 1) with one person's data as without it.",
			"So somebody who would guess something about a person right half of the time guesses it right at most 74 % of the time."}},
		{"{epsilon: 6}", []string{
			"For good: whatever analysts ask and whoever colludes, nothing that they may see of hospital is more than 404 times as " +
				"likely (epsilon 6) with one person's data as without it.",
			"Once all of it is spent, somebody who would guess something about a person right half of the time may guess it right " +
				"nearly always: so large an epsilon keeps hardly any single guess from being right."}},
		{curatortest.MonthlyRho, []string{
			"Within this window (a month, number 1 of 12): whatever analysts ask and whoever colludes, nothing that they may see of " +
				"hospital is more than 2.72 times as likely (epsilon 1), and 1 in 1,000,000 more (delta 1e-06), with one person's " +
				"data as without it.",
			"So somebody who would guess something about a person right half of the time guesses it right at most 74 % of the time.",
			"Over all 12 windows together: nothing is more than 46.9 times as likely (epsilon 3.847), and 1 in 185,000 more (delta " +
				"5.4e-06), with one person's data as without it.",
			"So somebody who would guess something about a person right half of the time guesses it right at most 98 % of the time."}},
	} {
		w := curatortest.NewTeam(t, c.budget, curatortest.TwoAnalysts)
		for n := range 2 { // an answer changes nothing of it
			got, err := w.Promise(ctx)
			w.Check(err)
			if !slices.Equal(got, c.want) {
				t.Errorf("after %d answers:\n%s\nwant:\n%s", n, strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
			w.MustAsk(curatortest.ByAge(1))
		}
	}
}

// TestPromiseOfTheSpent: an owner who lowers a limit below what was spent is told what was spent;
// with Gaussian noise, what the limit was before the first answer, since who lowers it has seen
// answers.
func TestPromiseOfTheSpent(t *testing.T) {
	gaussian := strings.TrimSuffix(curatortest.Concentrated, "}") + ", noise: gaussian}"
	for _, budget := range []string{curatortest.Pure, curatortest.Concentrated, gaussian} {
		w := curatortest.NewTeam(t, budget, curatortest.TwoAnalysts)
		_, err := w.AskAs("ana", curatortest.ByAge(1), curatortest.Amount("0.15"))
		w.Check(err)
		w.Dataset.Budget.Epsilon = curatortest.Amount("0.05")
		a := everything(w)[0]
		got, err := w.Promise(ctx)
		w.Check(err)
		total, sentences := curatortest.Amount("0.15"), 3
		switch budget {
		case curatortest.Pure:
			sentences = 2
		case gaussian:
			total = dp.One
		}
		if len(got) != sentences || sentences == 3 && !strings.Contains(got[2], "would promise epsilon 0.05 at delta 1e-06") {
			t.Errorf("%s: %+v: %q", budget, a, got)
		}
		if rounded(a.Total.Epsilon) != rounded(total) || budget != curatortest.Pure && a.Total.Delta != curatortest.Amount("1e-6") {
			t.Errorf("%s: %+v", budget, a)
		}
		if a.Guarantee.Epsilon < curatortest.Amount("0.1499") || !strings.Contains(got[0], "epsilon "+rounded(total)) {
			t.Errorf("%s: %+v has the promise %s", budget, a, got[0])
		}
	}
}

// TestPromiseOfTheFirstWindow: what was spent before there were windows counts in the first.
func TestPromiseOfTheFirstWindow(t *testing.T) {
	w := curatortest.NewTeam(t, "{epsilon: 1, per_query: {max: 1}}", curatortest.TwoAnalysts)
	_, err := w.AskAs("ana", curatortest.ByAge(1), curatortest.Amount("1"))
	w.Check(err)
	w.Dataset.Budget.Renewal.Every, w.Dataset.Budget.Renewal.Windows = "month", 12
	for _, want := range []string{"(epsilon 2)", "(epsilon 1)"} {
		got, err := w.Promise(ctx)
		w.Check(err)
		if !strings.Contains(got[0], want) {
			t.Errorf("got %s; want %s", got[0], want)
		}
		_, err = w.Renew(ctx, "a new month")
		w.Check(err)
	}
}

// rewriteLast copies a ledger, with another last record that has the right hash and is the head, as
// a forger with access to the file would.
func rewriteLast(t *testing.T, from, to string, change func(*ledger.Record)) {
	t.Helper()
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(from)
	check(err)
	check(os.WriteFile(to, text, 0o600))
	db, err := sql.Open("sqlite", to)
	check(err)
	defer db.Close()
	db.SetMaxOpenConns(1)
	var body, trigger string
	check(db.QueryRow("SELECT body FROM records ORDER BY sequence DESC LIMIT 1").Scan(&body))
	check(db.QueryRow("SELECT sql FROM sqlite_schema WHERE name = 'records_not_updated'").Scan(&trigger))
	var r ledger.Record
	check(r.Decode(body))
	change(&r)
	body = r.Encode()
	for _, s := range []struct {
		sql  string
		args []any
	}{
		{"DROP TRIGGER records_not_updated", nil},
		{"UPDATE records SET body = ?, hash = ? WHERE sequence = ?", []any{body, ledger.Hash(body), r.Sequence}},
		{"UPDATE head SET hash = ?", []any{ledger.Hash(body)}},
		{trigger, nil},
	} {
		_, err := db.Exec(s.sql, s.args...)
		check(err)
	}
}
