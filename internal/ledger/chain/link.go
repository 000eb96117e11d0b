package chain

import (
	"time"

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
