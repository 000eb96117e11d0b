package chain

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"time"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/ledger"
)

// Kind says what a record is.
type Kind string

// The kinds of records.
const (
	Ledger Kind = "ledger"
	Charge Kind = "charge"
	Answer Kind = "answer"
)

// Format is the version of the layout of records.
const Format = "1"

// Record is one link of the chain. Which fields count depends on its kind.
type Record struct {
	Kind     Kind
	Sequence uint64
	Time     time.Time
	Previous string // the hash of the record before; all kinds but Ledger

	// Ledger
	Identity string

	// Charge
	Request, Analyst, Dataset, DataVersion, Query, Mechanisms string
	Cost                                                      dp.Cost
	Balances                                                  []ledger.Balance // after the charge

	// Answer
	Charge     uint64 // the sequence of the charge that paid for it
	Key        string
	AnswerHash string

	scratch []byte // reused by Read
}

// Encode returns the one encoding of the record.
func (r *Record) Encode() string {
	e := encoder{make([]byte, 0, 512)}
	e.text(string(r.Kind))
	e.number(r.Sequence)
	e.text(r.Time.UTC().Format(time.RFC3339Nano))
	switch r.Kind {
	case Ledger:
		e.text(Format)
		e.text(r.Identity)
		return string(e.buf)
	case Charge:
		for _, s := range []string{r.Request, r.Analyst, r.Dataset, r.DataVersion, r.Query, r.Mechanisms} {
			e.text(s)
		}
		e.cost(r.Cost)
		e.number(uint64(len(r.Balances)))
		for _, b := range r.Balances {
			e.text(b.Account)
			e.cost(b.Limit)
			e.cost(b.Spent)
		}
	case Answer:
		e.number(r.Charge)
		e.text(r.Key)
		e.text(r.AnswerHash)
	}
	e.text(r.Previous)
	return string(e.buf)
}

// Decode reads a record. It reuses the memory of r.
func (r *Record) Decode(body string) error {
	*r = Record{Balances: r.Balances[:0], scratch: r.scratch}
	d := decoder{rest: body}
	r.Kind = Kind(d.text())
	r.Sequence = d.number()
	if !r.decodeTime(d.text()) {
		return errEncoding
	}
	switch r.Kind {
	case Ledger:
		if d.text() != Format {
			return errEncoding
		}
		r.Identity = d.text()
	case Charge:
		for _, s := range []*string{&r.Request, &r.Analyst, &r.Dataset, &r.DataVersion, &r.Query, &r.Mechanisms} {
			*s = d.text()
		}
		r.Cost = d.cost()
		n := d.number()
		if n > ledger.MaxAccounts {
			return errEncoding
		}
		for range n {
			r.Balances = append(r.Balances, ledger.Balance{Account: d.text(), Limit: d.cost(), Spent: d.cost()})
		}
		r.Previous = d.text()
	case Answer:
		r.Charge = d.number()
		r.Key = d.text()
		r.AnswerHash = d.text()
		r.Previous = d.text()
	default:
		return errEncoding
	}
	if d.bad || d.rest != "" {
		return errEncoding
	}
	return nil
}

// decodeTime takes the one way in which Encode writes a time.
func (r *Record) decodeTime(text string) bool {
	var err error
	r.Time, err = time.Parse(time.RFC3339Nano, text)
	var b [len(time.RFC3339Nano)]byte
	return err == nil && string(r.Time.UTC().AppendFormat(b[:0], time.RFC3339Nano)) == text
}

// Hash returns the hash of an encoded record or of an answer.
func Hash[T string | []byte](b T) string {
	h := sha256.Sum256([]byte(b))
	return hex.EncodeToString(h[:])
}

// Read decodes a record that was stored with its hash and checks it. The answer is
// the hash of the bytes that were stored with it, or empty where there are none.
func (r *Record) Read(body, hash, answer string) error {
	// This is the inner loop of opening a ledger, so nothing is allocated here.
	r.scratch = append(r.scratch[:0], body...)
	var digits [2 * sha256.Size]byte
	sum := sha256.Sum256(r.scratch)
	hex.Encode(digits[:], sum[:])
	if string(digits[:]) != hash {
		return errors.New("the record was changed: it does not have its hash")
	}
	if err := r.Decode(body); err != nil {
		return err
	}
	if r.AnswerHash != answer {
		return errors.New("the answer was changed: it does not have its hash")
	}
	return nil
}
