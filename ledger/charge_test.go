package ledger_test

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/account"
	"github.com/discreet-dp/discreet/ledger"
)

func good() ledger.Charge {
	return ledger.Charge{
		Request: "r", Analyst: "ana", Dataset: "hospital", DataVersion: "v1",
		Query: strings.Repeat("0a", 32), Mechanisms: "discrete-laplace", Window: 1,
		Cost:     dp.Cost{Epsilon: dp.One / 10, Rho: dp.One / 200, Delta: 0},
		Accounts: []ledger.Account{{Name: "hospital", Filter: account.PureFilter(dp.One)}},
	}
}

func TestValidate(t *testing.T) {
	if err := good().Validate(); err != nil {
		t.Fatal(err)
	}
	largest := good()
	largest.Request, largest.DataVersion, largest.Mechanisms = strings.Repeat("ü", 64), "", ""
	if err := largest.Validate(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		field  string
		change func(*ledger.Charge)
	}{
		{"request", func(c *ledger.Charge) { c.Request = "" }},
		{"request", func(c *ledger.Charge) { c.Request = strings.Repeat("r", 129) }},
		{"request", func(c *ledger.Charge) { c.Request = "a\x00b" }},
		{"request", func(c *ledger.Charge) { c.Request = "a\nb" }},
		{"request", func(c *ledger.Charge) { c.Request = "\xff" }},
		{"analyst", func(c *ledger.Charge) { c.Analyst = "" }},
		{"analyst", func(c *ledger.Charge) { c.Analyst = "\x1b[2J" }},
		{"data set", func(c *ledger.Charge) { c.Dataset = "" }},
		{"data version", func(c *ledger.Charge) { c.DataVersion = strings.Repeat("v", 257) }},
		{"list of mechanisms", func(c *ledger.Charge) { c.Mechanisms = strings.Repeat("m", 5000) }},
		{"query", func(c *ledger.Charge) { c.Query = "SELECT COUNT(*) FROM patients" }},
		{"query", func(c *ledger.Charge) { c.Query = strings.Repeat("0A", 32) }},
		{"cost", func(c *ledger.Charge) { c.Cost = dp.Cost{} }},
		{"list of accounts", func(c *ledger.Charge) { c.Accounts = nil }},
		{"list of accounts", func(c *ledger.Charge) { c.Accounts = append(c.Accounts, c.Accounts[0]) }},
		{"list of accounts", func(c *ledger.Charge) { c.Accounts = make([]ledger.Account, 65) }},
		{"account", func(c *ledger.Charge) { c.Accounts[0].Name = "" }},
		{"account", func(c *ledger.Charge) { c.Accounts[0].Filter = account.PureFilter(dp.Unbounded) }},
		{"account", func(c *ledger.Charge) { c.Accounts[0].Filter = account.ZCDPFilter(dp.Unbounded, 1) }},
	} {
		bad := good()
		c.change(&bad)
		var invalid *ledger.InvalidError
		if err := bad.Validate(); !errors.As(err, &invalid) || invalid.Field != c.field {
			t.Errorf("got %v; want an InvalidError of the %s", err, c.field)
		}
	}
	if ledger.ValidateKey("") == nil || ledger.ValidateKey("hospital v1 0a0a") != nil {
		t.Error("keys are not checked")
	}
	if ledger.ValidateAnswer(nil) == nil || ledger.ValidateAnswer(make([]byte, ledger.MaxAnswer+1)) == nil {
		t.Error("answers are not checked")
	}
}

// A reader who meets one of these errors must learn what to do next.
func TestErrorsSayWhatToDo(t *testing.T) {
	disk := errors.New("no space left on device")
	for _, c := range []struct {
		err  error
		says []string
	}{
		{&ledger.BudgetError{Account: "hospital/ana", Want: dp.Cost{Epsilon: dp.Unbounded, Rho: dp.One / 4, Delta: 0},
			Left: dp.Cost{Epsilon: dp.Unbounded, Rho: dp.One / 8, Delta: 0}},
			[]string{`"hospital/ana"`, "wanted rho 0.25,", "left rho 0.125.", "Nothing was spent"}},
		{&ledger.BudgetError{Account: "a", Want: dp.Cost{Epsilon: dp.Unbounded, Rho: dp.One / 4, Delta: 0},
			Left: dp.Cost{Epsilon: dp.Unbounded, Rho: 0, Delta: 0}},
			[]string{"wanted rho 0.25,", "left rho 0."}},
		{&ledger.BudgetError{Account: "a", Want: dp.Cost{Epsilon: dp.Unbounded}, Left: dp.Cost{Epsilon: 1, Rho: dp.Unbounded}},
			[]string{"pure", "Laplace"}},
		{&ledger.BudgetError{Account: "a", Want: dp.Cost{Epsilon: 1, Rho: dp.Unbounded}, Left: dp.Cost{Epsilon: dp.Unbounded, Rho: 1}},
			[]string{"zero-concentrated"}},
		{&ledger.CorruptError{Path: "l.db", Where: "record 7"},
			[]string{"l.db", "record 7", "Nothing was changed", "backup", "Do not delete"}},
		{&ledger.WriteError{Path: "l.db", Err: disk}, []string{"l.db", "no space", "Nothing was spent"}},
		{&ledger.WriteError{Path: "l.db", Err: disk, Broken: true}, []string{"stopped", "Nothing may be released"}},
		{&ledger.RequestError{Request: "r", Differs: "query"}, []string{`"r"`, "another query", "new identifier"}},
		{fmt.Errorf("l.db: %w", ledger.ErrBusy), []string{"l.db", "one writer"}},
	} {
		for _, s := range c.says {
			if !strings.Contains(c.err.Error(), s) {
				t.Errorf("%q does not say %q", c.err, s)
			}
		}
	}
	if !errors.Is(&ledger.WriteError{Err: disk}, disk) || !errors.Is(&ledger.CorruptError{Err: disk}, disk) {
		t.Error("causes are lost")
	}
}

func TestValidateEntries(t *testing.T) {
	key := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	public := key.Public().(ed25519.PublicKey)
	topup := func(change func(*ledger.TopUp)) ledger.TopUp {
		e := ledger.TopUp{Accounts: []string{"a", "b"}, Amount: dp.Cost{Rho: 1}, Reason: "why", Signer: key}
		change(&e)
		return e
	}
	for _, e := range []ledger.Entry{
		ledger.Renewal{Dataset: "d", From: 1, Reason: "why"},
		ledger.Owner{Public: public, Reason: "why"},
		topup(func(*ledger.TopUp) {}),
		ledger.Recovery{Spent: []ledger.Balance{{Account: "a"}}, Reason: "why"},
	} {
		if err := e.Validate(); err != nil {
			t.Errorf("%+v: %v", e, err)
		}
	}
	for field, all := range map[string][]ledger.Entry{
		"window":   {ledger.Renewal{Dataset: "d", Reason: "why"}},
		"data set": {ledger.Renewal{From: 1, Reason: "why"}},
		"reason": {
			ledger.Renewal{Dataset: "d", From: 1}, ledger.Owner{Public: public}, ledger.Recovery{},
			topup(func(e *ledger.TopUp) { e.Reason = strings.Repeat("w", 1025) }),
			topup(func(e *ledger.TopUp) { e.Reason = "a\nb" }),
		},
		"key of the owner": {ledger.Owner{Public: public[1:], Reason: "why"}, ledger.Owner{Public: nil, Reason: "why"}},
		"signature":        {topup(func(e *ledger.TopUp) { e.Signer = nil })},
		"amount": {
			topup(func(e *ledger.TopUp) { e.Amount = dp.Cost{} }),
			topup(func(e *ledger.TopUp) { e.Amount.Epsilon = dp.Unbounded }),
			topup(func(e *ledger.TopUp) { e.Amount.Delta = dp.One<<20 + 1 }),
		},
		"account": {topup(func(e *ledger.TopUp) { e.Accounts[1] = "" }), ledger.Recovery{Spent: []ledger.Balance{{}}, Reason: "why"}},
		"list of accounts": {
			topup(func(e *ledger.TopUp) { e.Accounts = nil }),
			topup(func(e *ledger.TopUp) { e.Accounts[1] = "a" }),
			ledger.Recovery{Spent: []ledger.Balance{{Account: "a"}, {Account: "a"}}, Reason: "why"},
		},
	} {
		for _, e := range all {
			var invalid *ledger.InvalidError
			if err := e.Validate(); !errors.As(err, &invalid) || invalid.Field != field {
				t.Errorf("%+v: got %v; want a word about the %s", e, err, field)
			}
		}
	}
}

func TestKeys(t *testing.T) {
	if got := ledger.Keys("hospital v1 0a"); !slices.Equal(got, []string{"hospital v1 0a"}) {
		t.Errorf("one key is %q", got)
	}
	joined := ledger.JoinKeys("hospital v1 0a", "hospital v1 0b")
	if got := ledger.Keys(joined); !slices.Equal(got, []string{"hospital v1 0a", "hospital v1 0b", joined}) {
		t.Errorf("two keys are %q", got)
	}
	if err := ledger.ValidateKey(joined); err != nil {
		t.Error(err)
	}
}
