package ledger

import (
	"time"

	"github.com/discreet-dp/discreet/dp"
)

// Balance is what one account may spend and has spent.
type Balance struct {
	Account string  `json:"account"`
	Limit   dp.Cost `json:"limit"`
	Spent   dp.Cost `json:"spent"`
}

// Left returns what may still be spent; Unbounded where the account does not
// limit a claim.
func (b Balance) Left() dp.Cost { return b.Limit.Sub(b.Spent) }

// Receipt says that a charge is on stable storage.
type Receipt struct {
	// Sequence is the position of the charge, and Hash the head of the ledger, in
	// hexadecimal, right after it.
	Sequence uint64    `json:"sequence"`
	Hash     string    `json:"hash"`
	Time     time.Time `json:"time"`
	Cost     dp.Cost   `json:"cost"`
	// Balances are those right after the charge, in the order of its accounts.
	Balances []Balance `json:"balances"`
	// Again says that the request had been charged before: nothing new was
	// spent, and everything above is as it was then.
	Again bool `json:"again"`
}
