package chain

import (
	"cmp"
	"crypto"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/ledger"
)

// Link is a record in its place, as it is written.
type Link struct {
	Record     *ledger.Record
	Body, Hash string
}

// First returns the record with which a ledger begins.
func First(identity string, now time.Time) *Link {
	r := &ledger.Record{Kind: ledger.KindLedger, Time: now, Identity: identity}
	body := r.Encode()
	return &Link{r, body, ledger.Hash(body)}
}

// link puts records after the last one, each after the one before.
func (s *State) link(records ...*ledger.Record) []*Link {
	links := make([]*Link, len(records))
	sequence, previous := s.Head()
	for i, r := range records {
		sequence++
		r.Sequence, r.Previous = sequence, previous
		body := r.Encode()
		previous = ledger.Hash(body)
		links[i] = &Link{r, body, previous}
	}
	return links
}

// Answer returns the record that keeps an answer, whose hash is given.
func (s *State) Answer(charge uint64, key, answerHash string, now time.Time) *Link {
	return s.link(&ledger.Record{Kind: ledger.KindAnswer, Time: now, Charge: charge, Key: key, AnswerHash: answerHash})[0]
}

// Charge returns the records that would make the charge: itself, after one of kind version where
// the data is another. It returns a [*ledger.BudgetError] where an account does not cover it, a
// [*ledger.WindowError] where the window is not the current one, and a [*ledger.LockoutError] where
// the dataset is closed to the analyst. It changes nothing.
func (s *State) Charge(c ledger.Charge, now time.Time) ([]*Link, error) {
	if s.Incidents.Closed(c.Dataset, c.Analyst) {
		return nil, &ledger.LockoutError{Dataset: c.Dataset}
	}
	if current := s.Window(c.Dataset); c.Window != current {
		return nil, &ledger.WindowError{Dataset: c.Dataset, Window: c.Window, Want: current}
	}
	if c.Looked && c.Since != s.versions[c.Dataset].since {
		return nil, &ledger.VersionError{Dataset: c.Dataset}
	}
	r := &ledger.Record{
		Kind: ledger.KindCharge, Time: now,
		Request: c.Request, Analyst: c.Analyst, Dataset: c.Dataset, DataVersion: c.DataVersion,
		Query: c.Query, Mechanisms: c.Mechanisms, Window: c.Window, Cost: c.Cost,
		Balances: make([]ledger.Balance, len(c.Accounts)),
	}
	var refused *ledger.BudgetError // by the account that has least left, which is the one to talk about
	for i, a := range c.Accounts {
		b := s.Accounts.Balance(a)
		left := b.Left()
		b.Spent = b.Spent.Add(c.Cost)
		if !b.Spent.Fits(b.Limit) && (refused == nil || hasLess(left, refused.Left)) {
			refused = &ledger.BudgetError{Account: a.Name, Want: c.Cost, Left: left}
		}
		r.Balances[i] = b
	}
	if refused != nil {
		return nil, refused
	}
	if s.versions.last(c.Dataset) == c.DataVersion {
		return s.link(r), nil
	}
	version := &ledger.Record{Kind: ledger.KindVersion, Time: now, Dataset: c.Dataset, DataVersion: c.DataVersion}
	return s.link(version, r), nil
}

func hasLess(a, b dp.Cost) bool {
	return cmp.Or(cmp.Compare(a.Epsilon, b.Epsilon), cmp.Compare(a.Rho, b.Rho), cmp.Compare(a.Delta, b.Delta)) < 0
}

// Differs says in which way a charge is another one than the record with the same request, or
// nothing where it is the same. Accounts and limits do not count: the owner may have changed them
// since. Windows do, in another way: see [State.Lapsed].
func Differs(r *ledger.Record, c ledger.Charge) string {
	for _, f := range []struct {
		name string
		same bool
	}{
		{"request", r.Request == c.Request},
		{"analyst", r.Analyst == c.Analyst},
		{"data set", r.Dataset == c.Dataset},
		{"data version", r.DataVersion == c.DataVersion},
		{"question or price", r.Query == c.Query && r.Cost == c.Cost},
	} {
		if !f.same {
			return f.name
		}
	}
	return ""
}

func Receipt(r *ledger.Record, hash string, again bool) ledger.Receipt {
	return ledger.Receipt{
		Sequence: r.Sequence, Hash: hash, Time: r.Time.UTC(), Cost: r.Cost,
		Window: r.Window, Balances: r.Balances, Again: again,
	}
}

// Note returns the record of a note of a session, whose hash is given with its salt. It returns
// [ledger.ErrEra] where the session began in an era that is over.
func (s *State) Note(session, noteHash string, now time.Time) (*Link, error) {
	if s.Notes.ended(session) {
		return nil, ledger.ErrEra
	}
	return s.link(&ledger.Record{Kind: ledger.KindNote, Time: now, Session: session, AnswerHash: noteHash})[0], nil
}

// Incident returns the record of an incident that was validated. It changes nothing.
func (s *State) Incident(i ledger.Incident, now time.Time) *Link {
	return s.link(&ledger.Record{
		Kind: ledger.KindIncident, Time: now, Charge: i.Charge, Analyst: i.Analyst, Dataset: i.Dataset, Failure: i.Failure,
		ByAnalyst: i.ByAnalyst, ByDataset: i.ByDataset,
	})[0]
}

// Entry returns the record of an entry that was validated. It changes nothing.
func (s *State) Entry(e ledger.Entry, now time.Time) (*Link, error) {
	r := &ledger.Record{Time: now}
	var signer crypto.Signer
	switch e := e.(type) {
	case ledger.Renewal:
		if current := s.Window(e.Dataset); e.From != current {
			return nil, &ledger.WindowError{Dataset: e.Dataset, Window: e.From, Want: current}
		}
		r.Kind, r.Dataset, r.Window, r.Reason = ledger.KindRenewal, e.Dataset, e.From+1, e.Reason
		signer = e.Signer
	case ledger.Owner:
		r.Kind, r.PublicKey, r.Reason = ledger.KindOwner, hex.EncodeToString(e.Public), e.Reason
		signer = e.Signer
	case ledger.TopUp:
		r.Kind, r.Accounts, r.Cost, r.Reason = ledger.KindTopUp, e.Accounts, e.Amount, e.Reason
		r.PublicKey = s.Owner.publicKey(e.Signer)
		signer = e.Signer
	case ledger.Recovery:
		r.Kind, r.AnchorSequence, r.AnchorHash, r.Reason = ledger.KindRecovery, e.Anchor.Sequence, e.Anchor.Hash, e.Reason
		if s.Owner.key == "" {
			r.PublicKey = e.Anchor.Owner
		}
		for _, b := range e.Spent {
			r.Balances = append(r.Balances, ledger.Balance{Account: b.Account, Spent: b.Spent})
		}
	case ledger.Release:
		r.Kind, r.Dataset, r.Analyst, r.Reason = ledger.KindRelease, e.Dataset, e.Analyst, e.Reason
		if e.Signer != nil {
			r.PublicKey, signer = s.Owner.publicKey(e.Signer), e.Signer
		}
	default:
		return nil, fmt.Errorf("there is no record for a %T", e)
	}
	r.Sequence, r.Previous = s.sequence+1, s.hash
	if signer != nil {
		if err := s.Owner.sign(r, signer); err != nil {
			return nil, err
		}
	}
	if err := s.Owner.check(r); err != nil {
		return nil, &ledger.SignatureError{Problem: err.Error()}
	}
	link := s.link(r)[0]
	if err := s.Check(link.Record); err != nil {
		return nil, &ledger.InvalidError{Field: "entry", Problem: "cannot be written: " + err.Error()}
	}
	return link, nil
}

// checkEntry returns an error unless an entry can come next.
func (s *State) checkEntry(r *ledger.Record) error {
	switch r.Kind {
	case ledger.KindVersion:
		if s.versions.last(r.Dataset) == r.DataVersion {
			return fmt.Errorf("the data of %q has not changed", r.Dataset)
		}
		return nil
	case ledger.KindRenewal:
		if current := s.Window(r.Dataset); current == math.MaxUint64 || r.Window != current+1 {
			return fmt.Errorf("window %d of %q does not follow window %d", r.Window, r.Dataset, current)
		}
		return nil
	case ledger.KindOwner, ledger.KindRelease:
		return s.Owner.check(r)
	case ledger.KindTopUp:
		if len(r.Accounts) == 0 {
			return errors.New("the top-up names no account")
		}
		for i, a := range r.Accounts {
			if slices.Contains(r.Accounts[:i], a) {
				return fmt.Errorf("the account %q is topped up twice", a)
			}
		}
		return s.Owner.check(r)
	case ledger.KindRecovery:
		if r.PublicKey != "" && (s.Owner.key != "" || !isKey(r.PublicKey)) {
			return errors.New("the recovery names another owner")
		}
		seen := map[string]bool{}
		for _, b := range r.Balances {
			if !s.Accounts.Spent(b.Account).Within(b.Spent) || seen[b.Account] || b.Limit != (dp.Cost{}) || b.Granted != (dp.Cost{}) {
				return fmt.Errorf("the recovery takes back what %q has spent", b.Account)
			}
			seen[b.Account] = true
		}
		return nil
	}
	return errors.New("a ledger begins only once")
}
