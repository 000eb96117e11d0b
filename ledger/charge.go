package ledger

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/account"
)

// Limits of what a ledger stores. They keep a hostile client from filling the
// disk with one request, and are far above what a policy needs.
const (
	MaxRequest    = 128      // bytes of a request identifier
	MaxName       = 256      // bytes of an account, an analyst, a data set or a version
	MaxMechanisms = 4096     // bytes of the list of mechanisms
	MaxKey        = 32 << 10 // bytes of the key of an answer, or of several together
	MaxAccounts   = 64       // accounts in a charge
	MaxReason     = 1024     // bytes of a reason
	MaxRecovered  = 1 << 20  // accounts in a recovery
	MaxAnswer     = 64 << 20 // bytes of an answer
)

// maxAmount is the most that one claim of one charge may cost: 2^20, which is
// also the most that [dp.Floor] lets an owner put into a budget.
const maxAmount = dp.One << 20

// Account is a place where privacy is spent, and the filter that limits it. The
// name is what counts: the ledger adds up by name, and the filter may change between
// charges as the owner changes the policy.
type Account struct {
	Name   string // "hospital" for a data set, "hospital/ana" for an analyst's quota in it
	Filter account.Filter
}

// Charge asks to spend the cost of one question.
type Charge struct {
	// Request is the idempotency key, chosen by the caller.
	Request string
	// Analyst, Dataset and DataVersion say who asks about what. The data version may be empty.
	Analyst, Dataset, DataVersion string
	// Looked says that whoever asks has looked at the data, and Since is the dataset's last record
	// of kind version by then; see [Version]. Where there is a later one by now, the data was seen
	// to change, perhaps by another server, and the charge is refused with a [*VersionError].
	Looked bool
	Since  uint64
	// Query is the SHA-256, in lower-case hexadecimal, of the normalised private
	// query with its parameters, and never its text.
	Query string
	// Mechanisms says how the answer is made private, such as
	// "discrete-gaussian x2". It may be empty.
	Mechanisms string
	// Window is the current window of the dataset; see [Ledger.Window]. Where it is not any more,
	// the charge is refused with a [*WindowError].
	Window uint64
	// Cost is what all mechanisms together cost.
	Cost dp.Cost
	// Accounts are all that the charge touches, each named once.
	Accounts []Account
	// Firsts are notes that are written with the charge, or neither is: each is the first of its
	// session. Where one of these has notes already the charge is refused with [ErrBehind], and
	// nothing was spent. A request that was charged before has written its own.
	Firsts []First
	// Missed are keys under which whoever asks has found no answer. Where one was kept meanwhile,
	// by another server, the charge is refused with [ErrBehind]: what is there is free.
	Missed []string
}

// First is the first note of a session, made by the charge that is written with it.
type First struct {
	Session string
	Entry   func(charge uint64) []byte
}

// Validate returns an [*InvalidError] unless the charge is well formed. Every
// ledger calls it before anything else.
func (c Charge) Validate() error {
	for _, f := range []struct {
		name, text string
		least, max int
	}{
		{"request", c.Request, 1, MaxRequest},
		{"analyst", c.Analyst, 1, MaxName},
		{"data set", c.Dataset, 1, MaxName},
		{"data version", c.DataVersion, 0, MaxName},
		{"list of mechanisms", c.Mechanisms, 0, MaxMechanisms},
	} {
		if err := validText(f.name, f.text, f.least, f.max); err != nil {
			return err
		}
	}
	if !isHash(c.Query) {
		return &InvalidError{"query", "must be a SHA-256 in lower-case hexadecimal, never the text of a query"}
	}
	if c.Window == 0 {
		return &InvalidError{"window", "is missing: windows are counted from 1"}
	}
	if err := validCost(c.Cost); err != nil {
		return err
	}
	if len(c.Accounts) == 0 || len(c.Accounts) > MaxAccounts {
		return &InvalidError{"list of accounts", fmt.Sprintf("must name 1 to %d accounts", MaxAccounts)}
	}
	for i, a := range c.Accounts {
		if err := a.validate(); err != nil {
			return err
		}
		if slices.ContainsFunc(c.Accounts[:i], func(b Account) bool { return a.Name == b.Name }) {
			return &InvalidError{"list of accounts", fmt.Sprintf("names %q twice", a.Name)}
		}
	}
	return c.validateFirsts()
}

func (c Charge) validateFirsts() error {
	for i, n := range c.Firsts {
		if err := ValidateNote(n.Session, n.Entry(1<<63)); err != nil { // as long as any
			return err
		}
		if slices.ContainsFunc(c.Firsts[:i], func(o First) bool { return o.Session == n.Session }) {
			return &InvalidError{"list of notes", fmt.Sprintf("names %q twice", n.Session)}
		}
		if _, ok := NotesCharge(n.Session); ok {
			return &InvalidError{"list of notes", "contains a note of a session that another charge pays for"}
		}
	}
	return nil
}

// ValidateKey returns an [*InvalidError] unless the text can be the key of an answer.
func ValidateKey(key string) error { return validText("key", key, 1, MaxKey) }

// ValidateAnswer returns an [*InvalidError] unless the bytes can be kept as an answer.
func ValidateAnswer(answer []byte) error {
	switch {
	case len(answer) == 0:
		return &InvalidError{"answer", "is missing"}
	case len(answer) > MaxAnswer:
		return &InvalidError{"answer", fmt.Sprintf("is %d bytes long; the most is %d", len(answer), MaxAnswer)}
	}
	return nil
}

func (a Account) validate() error {
	if err := validText("account", a.Name, 1, MaxName); err != nil {
		return err
	}
	if l := a.Filter.Limit(); claimsNothing(l) {
		return &InvalidError{"account", fmt.Sprintf("%q has no limit, so it would admit everything", a.Name)}
	}
	return nil
}

// validCost refuses what a sum must not take in. A claim of zero is refused because a filter that
// adds up that claim would admit it for ever; it is what a cost looks like whose author forgot a
// field. A real mechanism claims at least one unit, or Unbounded where it claims nothing.
func validCost(c dp.Cost) error {
	if claimsNothing(c) {
		return &InvalidError{"cost", "claims no privacy at all: neither epsilon nor rho is bounded, or delta is not"}
	}
	if c.Epsilon == 0 || (c.Rho == 0 && c.Delta == 0) {
		return &InvalidError{"cost", "has a claim of zero, which would be free; write dp.Unbounded where there is no claim"}
	}
	for _, a := range []dp.Amount{c.Epsilon, c.Rho, c.Delta} {
		if a != dp.Unbounded && a > maxAmount {
			return &InvalidError{"cost", fmt.Sprintf("is above the largest, %v", maxAmount)}
		}
	}
	return nil
}

// claimsNothing reports whether a cost bounds neither epsilon nor rho, or no delta,
// which belongs to both.
func claimsNothing(c dp.Cost) bool {
	return c.Delta == dp.Unbounded || c.Epsilon == dp.Unbounded && c.Rho == dp.Unbounded
}

// validText refuses text that is too short or too long, that is not UTF-8, and control
// characters, which would let a name rewrite the line it is printed on.
func validText(field, text string, least, most int) error {
	switch {
	case len(text) < least:
		return &InvalidError{field, "is missing"}
	case len(text) > most:
		return &InvalidError{field, fmt.Sprintf("is %d bytes long; the most is %d", len(text), most)}
	case !utf8.ValidString(text):
		return &InvalidError{field, "is not UTF-8"}
	}
	if strings.ContainsFunc(text, unicode.IsControl) {
		return &InvalidError{field, "contains a control character"}
	}
	return nil
}

func isHash(s string) bool {
	return len(s) == 64 && strings.Trim(s, "0123456789abcdef") == ""
}

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

// Left returns what may still be spent; Unbounded where the account does not limit a claim. Where
// more delta was spent than there is by now, it is nothing.
func (b Balance) Left() dp.Cost {
	left := b.Limit.Sub(b.Spent)
	if b.Spent.Delta > b.Limit.Delta {
		for _, claim := range []*dp.Amount{&left.Epsilon, &left.Rho} {
			if *claim != dp.Unbounded {
				*claim = 0
			}
		}
	}
	return left
}

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

// Thresholds are the parts of a limit, in percent, at which an alert is given.
var Thresholds = []int{50, 80, 95}

// Alert says that a charge took an account over a part of its limit.
type Alert = api.Alert

// Alerts returns the alerts of a charge: of each account the highest threshold that this charge and
// none before it passed. They follow from the record alone, so each is given once. A request that
// had been charged before has none.
func (r Receipt) Alerts() []Alert {
	if r.Again {
		return nil
	}
	var all []Alert
	for _, b := range r.Balances {
		before := b
		before.Spent = b.Spent.Sub(r.Cost)
		passed := 0
		for _, percent := range Thresholds {
			if at := float64(percent) / 100; before.Part() < at && b.Part() >= at {
				passed = percent
			}
		}
		if passed > 0 {
			all = append(all, Alert{Account: b.Account, Percent: passed})
		}
	}
	return all
}
