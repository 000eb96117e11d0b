package api

import (
	"crypto"
	"fmt"

	"github.com/discreet-dp/discreet/dp"
)

// Account is one account as a person reads it.
type Account struct {
	Name string `json:"name"`
	// Kind is dataset, window, group or analyst. A window is a dataset's account for one renewal
	// window.
	Kind string `json:"kind"`
	// Window is the renewal window that the account belongs to, from 1 on, of Windows; both are 0
	// where the dataset is not renewed. The dataset's own account is that of all windows together,
	// and its Window is 0 too.
	Window  uint64 `json:"window,omitempty"`
	Windows uint64 `json:"windows,omitempty"`
	// Part is how much of the limit is spent, from 0 to 1, and Alert the highest of the thresholds
	// 50, 80 and 95 that is passed, or 0.
	Part  float64 `json:"part"`
	Alert int     `json:"alert"`
	// Granted is what top-ups added to the limit.
	Granted dp.Cost `json:"granted"`
	// Expires is the first day, as 2006-01-02, on which an analyst may not ask any more; empty
	// where there is none.
	Expires string `json:"expires,omitempty"`
	// Limit, Spent and Left are in the claims that the account adds up: epsilon for a pure budget,
	// and for an (epsilon, delta) budget rho, or epsilon and rho, of which one has to stay within
	// its limit; null for the others. Side is the one of the two that is further from it.
	Limit dp.Cost `json:"limit"`
	Spent dp.Cost `json:"spent"`
	Left  dp.Cost `json:"left"`
	Side  string  `json:"side"`
	// Total is what the account can come to. Of a dataset it is the promise: everything that is
	// ever answered from it is, together, (Epsilon, Delta)-differentially private, whoever stops
	// when. Of a window it is the same of what the window adds, given all that was told before it
	// began and may still be seen. Of a group or an analyst it is no promise: it is how much of the
	// dataset's their questions may use up. They see more, because what others have paid for is
	// free, and who sharpens an answer of somebody else's pays the difference alone.
	//
	// Where the limit is another by now than at the first charge, it was chosen after answers were
	// seen, which counts: see account.Raised and account.Unfixed. Where it was lowered below what
	// was spent, what was spent counts. Guarantee is what the amount spent so far is worth in the
	// same terms. It would be the promise if that amount had been the limit from the start; of a
	// moment that somebody chooses after seeing answers it says nothing (see account.Odometer,
	// which does).
	Guarantee Guarantee `json:"guarantee"`
	Total     Guarantee `json:"total"`
}

// ByEpsilon reports whether the account is read by its epsilon, and not by its rho.
func (a Account) ByEpsilon() bool { return a.Side == "epsilon" }

// Questions is about how many questions at a price the account has left; nil where nobody knows.
func (a Account) Questions(epsilon dp.Amount) *int64 {
	left := Remaining{Pure: a.Left.Epsilon, Rho: a.Left.Rho, KeysDelta: dp.Unbounded}
	if n, ok := left.Questions(epsilon); ok {
		return &n
	}
	return nil
}

// Guarantee is an (epsilon, delta) promise.
type Guarantee struct {
	Epsilon dp.Amount `json:"epsilon"`
	Delta   dp.Amount `json:"delta"`
}

// Remaining is what an analyst can still spend: the least of what is left in all accounts that a
// question is charged to.
type Remaining struct {
	// Epsilon is how much is left to grow to the promise: the total epsilon less what was
	// spent so far is worth. Rho is what charges are taken from under an (epsilon, delta)
	// budget, and null under a pure one, where it is epsilon.
	Epsilon dp.Amount `json:"epsilon"`
	Rho     dp.Amount `json:"rho"`
	Delta   dp.Amount `json:"delta"`
	// Pure is what is left of the sum of epsilon, where the budget is kept by that: of a pure one,
	// and of one that is kept by either sum until Gaussian noise was paid for. A question that has
	// an epsilon is paid from Pure or from Rho, whichever has it.
	Pure dp.Amount `json:"pure"`
	// KeysDelta is what is left of the delta that is set aside for private keys.
	KeysDelta dp.Amount `json:"keys_delta"`
}

// ByEpsilon reports whether what is left is epsilon alone, of a budget that is kept by either sum.
func (r Remaining) ByEpsilon() bool { return r.Pure > 0 && r.Rho == 0 }

// Renewed says which window began.
type Renewed struct {
	Sequence uint64 `json:"sequence"`
	Window   uint64 `json:"window"`
	Windows  uint64 `json:"windows"`
	// Promise is what is promised in this window and over all, in sentences.
	Promise []string `json:"promise"`
}

// TopUp is more budget, which the owner signs for.
type TopUp struct {
	// Account is empty for the dataset, the name of an analyst, or group: and the name of a group.
	Account string
	// Epsilon is how much more the limit is worth by itself, at the same delta. The promise grows
	// by more where there were answers before it: see [Account].
	Epsilon dp.Amount
	// Delta is how much more there is for private keys.
	Delta  dp.Amount
	Reason string
	Signer crypto.Signer // the owner's Ed25519 key
}

// Raised says what a top-up did.
type Raised struct {
	Sequence uint64 `json:"sequence"`
	// Amount is what was added to the limits, in what they count.
	Amount dp.Cost `json:"amount"`
	// Before and After are the accounts that were raised.
	Before []Account `json:"before"`
	After  []Account `json:"after"`
	// PromiseBefore and Promise are what is promised to the people in the data, in sentences. That
	// of a quota moves neither.
	PromiseBefore []string `json:"promise_before"`
	Promise       []string `json:"promise"`
}

// Alert says that a charge took an account over a part of its limit.
type Alert struct {
	Account string `json:"account"`
	Percent int    `json:"percent"`
}

func (a Alert) String() string {
	return fmt.Sprintf("%d %% of the budget of %q is spent", a.Percent, a.Account)
}

// Incident is a question that failed after its charge, as the owner is told of it.
type Incident struct {
	Analyst string  `json:"analyst"`
	Dataset string  `json:"dataset"`
	Charge  uint64  `json:"charge"` // the charge that paid for it; 0 where that was another's, or before
	Failure Failure `json:"failure"`
	// Closed says that the dataset is closed to the analyst by now.
	Closed bool `json:"closed"`
}

// Failure says, in one of a few words, how a question failed after its charge. Nothing else of it
// is recorded: words of an engine could hold data.
type Failure string
