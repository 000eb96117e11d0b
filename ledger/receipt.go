package ledger

import (
	"time"

	"github.com/discreet-dp/discreet/dp"
)

// Balance is what one account may spend and has spent.
type Balance struct {
	Account string `json:"account"`
	// Limit is what may be spent altogether, and Granted the part of it that top-ups added.
	Limit   dp.Cost `json:"limit"`
	Granted dp.Cost `json:"granted"`
	Spent   dp.Cost `json:"spent"`
	// First is the limit at the account's first charge, which is the one that was fixed before the
	// first answer. It is no part of a record, and is there in what [Ledger.Balances] returns; zero
	// where nothing was charged yet, or where something counts as spent of which there is no
	// charge.
	First dp.Cost `json:"-"`
}

// Left returns what may still be spent; Unbounded where the account does not
// limit a claim.
func (b Balance) Left() dp.Cost { return b.Limit.Sub(b.Spent) }

// Part returns how much of its limit an account has spent, from 0 to 1; see [dp.Cost.Part].
func (b Balance) Part() float64 { return b.Spent.Part(b.Limit) }

// Receipt says that a record is on stable storage.
type Receipt struct {
	// Sequence is the position of the record, and Hash the head of the ledger, in
	// hexadecimal, right after it.
	Sequence uint64    `json:"sequence"`
	Hash     string    `json:"hash"`
	Time     time.Time `json:"time"`
	Cost     dp.Cost   `json:"cost"`
	// Window is that of a charge, in which alone it pays.
	Window uint64 `json:"window,omitempty"`
	// Balances are those right after the charge, in the order of its accounts.
	Balances []Balance `json:"balances"`
	// Again says that the request had been charged before: nothing new was
	// spent, and everything above is as it was then.
	Again bool `json:"again"`
}
