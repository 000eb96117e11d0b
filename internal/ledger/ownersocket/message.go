package ownersocket

import (
	"crypto"
	"crypto/ed25519"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/discreet-dp/discreet/internal/ledger/chain"
	"github.com/discreet-dp/discreet/ledger"
)

// socket is the path of the socket beside a ledger.
func socket(path string) string { return path + ".hatch" }

// patience is how long one side waits for the other in the middle of something. A server has the
// ledger for nobody else while it waits for a signature.
var patience = 5 * time.Second

const (
	wantHead     = "head"
	wantLines    = "lines"
	wantWindow   = "window"
	wantLockout  = "door"
	wantBalances = "balances"
	wantNotes    = "notes"
	wantEntry    = "entry"
	wantReload   = "reload"
)

// message is what one side says to the other.
type message struct {
	Want             string // from the owner
	Dataset, Analyst string
	Session          string
	Accounts         []string
	Last             uint64 // up to which record
	Entry            *entry
	Signature        []byte
	Policy           string // to be reloaded
	Trial            bool

	Failed   string // from the server
	Head     ledger.Position
	Lines    []line // none after the last
	Window   uint64
	Door     ledger.Lockout // its name in messages of earlier versions
	Balances []ledger.Balance
	Notes    [][]byte
	Receipt  ledger.Receipt
	Sign     []byte // what is to be signed
	Reloaded []byte // what came of a reload, in the words of whoever did it
	Wait     bool   // it takes longer than anybody waits for an answer
}

// line is a record with what is stored beside it.
type line struct {
	Body, Hash string
	Answer     []byte
}

// entry is what the owner enters, without the key.
type entry struct {
	Renewal *ledger.Renewal
	Owner   *ledger.Owner
	TopUp   *ledger.TopUp
	Release *ledger.Release
	Public  ed25519.PublicKey // of who signs
}

// pack takes an entry apart.
func pack(e ledger.Entry) (*entry, crypto.Signer, error) {
	p, signer := new(entry), crypto.Signer(nil)
	switch e := e.(type) {
	case ledger.Renewal:
		// A renewal has no place for a signature, and a key never goes through here.
		if e.Signer != nil {
			return nil, nil, errors.New("a renewal is signed for by the server's own interface, and needs no signature on this machine")
		}
		p.Renewal = &e
	case ledger.Owner:
		signer, e.Signer = e.Signer, nil
		p.Owner = &e
	case ledger.TopUp:
		signer, e.Signer = e.Signer, nil
		p.TopUp = &e
	case ledger.Release:
		signer, e.Signer = e.Signer, nil
		p.Release = &e
	default:
		return nil, nil, fmt.Errorf("a %T can be entered only while no server has the ledger open", e)
	}
	if signer != nil {
		p.Public, _ = signer.Public().(ed25519.PublicKey)
	}
	return p, signer, nil
}

// unpack puts an entry together, to be signed by somebody.
func (p *entry) unpack(signer crypto.Signer) (ledger.Entry, error) {
	switch {
	case p == nil:
	case p.Renewal != nil:
		return *p.Renewal, nil
	case p.Owner != nil:
		p.Owner.Signer = signer
		return *p.Owner, nil
	case p.TopUp != nil:
		p.TopUp.Signer = signer
		return *p.TopUp, nil
	case p.Release != nil:
		p.Release.Signer = signer
		return *p.Release, nil
	}
	return nil, errors.New("nothing is entered")
}

// checkAsked returns an error unless what is to be signed is what was asked for, wherever in the
// ledger it stands.
func (p *entry) checkAsked(sign []byte) error {
	var r ledger.Record
	if err := r.DecodeSigned(string(sign)); err != nil {
		return err
	}
	public := fmt.Sprintf("%x", []byte(p.Public))
	same := false
	switch r.Kind {
	case ledger.KindOwner:
		same = p.Owner != nil && r.PublicKey == fmt.Sprintf("%x", []byte(p.Owner.Public)) && r.Reason == p.Owner.Reason
	case ledger.KindTopUp:
		same = p.TopUp != nil && r.PublicKey == public && r.Reason == p.TopUp.Reason && r.Cost == p.TopUp.Amount &&
			slices.Equal(r.Accounts, p.TopUp.Accounts)
	case ledger.KindRelease:
		same = p.Release != nil && r.PublicKey == public && r.Reason == p.Release.Reason && r.Dataset == p.Release.Dataset &&
			r.Analyst == p.Release.Analyst
	}
	if !same {
		return errors.New("the server wants a signature for something that was not asked for")
	}
	return nil
}

func (l line) read() (chain.Stored, error) {
	var r ledger.Record
	err := r.Read(l.Body, l.Hash, chain.AnswerHash(l.Answer))
	return chain.Stored{Line: chain.Line{Record: &r, Body: l.Body, Hash: l.Hash}, Answer: l.Answer}, err
}
