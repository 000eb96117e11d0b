package ledger_test

import (
	"crypto/ed25519"
	"errors"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/ledger"
)

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
