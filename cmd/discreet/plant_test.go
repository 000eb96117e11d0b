package main

import (
	"crypto/ed25519"
	"database/sql"
	"encoding/hex"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/ledger/sqlite"
	"github.com/discreet-dp/discreet/ledger"
)

// shownToNobody is the answer that the scribe keeps: a text that no time of day or hash contains.
const shownToNobody = "forty-two people"

// scribe writes records into a ledger file as somebody would who knows the format: with the right
// hashes, whatever they say.
type scribe struct {
	t        testing.TB
	path     string
	records  []*ledger.Record
	previous string
	decided  ledger.Position // the owner's last decision
	spent    map[string]dp.Cost
	key      ed25519.PrivateKey
}

// newScribe begins a ledger beside a policy that has none yet.
func newScribe(t testing.TB, policy string) *scribe {
	t.Helper()
	s := &scribe{t: t, path: beside(policy, "policy.ledger"), spent: map[string]dp.Cost{},
		key: ed25519.NewKeyFromSeed([]byte(strings.Repeat("k", 32)))}
	l, err := sqlite.Open(s.path)
	if err != nil {
		t.Fatal(err)
	}
	if _, s.previous, err = l.Head(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *scribe) add(r *ledger.Record) *ledger.Record {
	r.Sequence, r.Previous = uint64(len(s.records)+1), s.previous
	if r.Kind == ledger.KindTopUp {
		r.Signature = hex.EncodeToString(ed25519.Sign(s.key, r.Signed(s.decided)))
	}
	s.previous = ledger.Hash(r.Encode())
	if r.Kind == ledger.KindTopUp || r.Kind == ledger.KindOwner {
		s.decided = ledger.Position{Sequence: r.Sequence, Hash: s.previous}
	}
	s.records = append(s.records, r)
	return r
}

func (s *scribe) owner() *ledger.Record {
	return s.add(&ledger.Record{Kind: ledger.KindOwner, Time: day(0), PublicKey: hex.EncodeToString(s.key.Public().(ed25519.PublicKey)),
		Reason: "first key"})
}

func (s *scribe) topUp(at time.Time, amount dp.Amount) *ledger.Record {
	return s.add(&ledger.Record{
		Kind: ledger.KindTopUp, Time: at, Accounts: []string{"hospital", "hospital/ana"}, Cost: dp.Cost{Epsilon: amount},
		Reason: "board decision", PublicKey: hex.EncodeToString(s.key.Public().(ed25519.PublicKey)),
	})
}

// charge spends epsilon of a pure budget with the limits of tenQuestions, of which so much was
// granted. It asks nobody.
func (s *scribe) charge(request string, at time.Time, epsilon, granted dp.Amount) *ledger.Record {
	cost := dp.Cost{Epsilon: epsilon, Rho: dp.Unbounded}
	r := &ledger.Record{
		Kind: ledger.KindCharge, Time: at, Request: request, Analyst: "ana", Dataset: "hospital", Query: ledger.Hash(request),
		Mechanisms: "discrete-laplace", Window: 1, Cost: cost,
	}
	for _, name := range []string{"hospital", "hospital/ana"} {
		s.spent[name] = s.spent[name].Add(cost)
		r.Balances = append(r.Balances, ledger.Balance{
			Account: name, Limit: dp.Cost{Epsilon: dp.One + granted, Rho: dp.Unbounded}, Granted: dp.Cost{Epsilon: granted},
			Spent: s.spent[name],
		})
	}
	return s.add(r)
}

func (s *scribe) answer(charge uint64) {
	s.add(&ledger.Record{Kind: ledger.KindAnswer, Time: day(0), Charge: charge, Key: fmt.Sprint("key", charge),
		AnswerHash: ledger.Hash(shownToNobody)})
}

// save puts the records into the file.
func (s *scribe) save() string {
	s.t.Helper()
	db, err := sql.Open("sqlite", s.path)
	if err != nil {
		s.t.Fatal(err)
	}
	defer db.Close()
	for _, r := range s.records {
		var answer any
		if r.Kind == ledger.KindAnswer {
			answer = []byte(shownToNobody)
		}
		body := r.Encode()
		if _, err := db.Exec("INSERT INTO records (sequence, body, hash, answer) VALUES (?, ?, ?, ?)", r.Sequence, body,
			ledger.Hash(body), answer); err != nil {
			s.t.Fatal(err)
		}
		if _, err := db.Exec("UPDATE head SET sequence = ?, hash = ?", r.Sequence, ledger.Hash(body)); err != nil {
			s.t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		s.t.Fatal(err)
	}
	return s.path
}

// today is when the tests of forecasts are.
var today = time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)

// day is so many days before today.
func day(ago float64) time.Time { return today.Add(-time.Duration(ago * 24 * float64(time.Hour))) }

// onThatDay makes it today until the test ends.
func onThatDay(t testing.TB) {
	present = func() time.Time { return today }
	t.Cleanup(func() { present = time.Now })
}

// contents are the bytes of a file.
func contents(t testing.TB, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
