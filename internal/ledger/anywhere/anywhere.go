// Package anywhere opens, reads and copies ledgers wherever they are: in a file, or in a PostgreSQL
// database that several servers share.
package anywhere

import (
	"errors"
	"fmt"
	"iter"
	"os"

	"github.com/discreet-dp/discreet/internal/ledger/anchor"
	"github.com/discreet-dp/discreet/internal/ledger/chain"
	"github.com/discreet-dp/discreet/internal/ledger/desk"
	"github.com/discreet-dp/discreet/internal/ledger/postgres"
	"github.com/discreet-dp/discreet/internal/ledger/sqlite"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/policy"
)

// Options are how a ledger is opened.
type Options struct {
	// Full checks a ledger from its first record to its last, whatever checkpoints there are.
	Full bool
	// Tell, where it is not nil, is told now and then how many records were checked, of how many.
	Tell func(done, of uint64)
}

// Open opens the ledger of a policy with its anchor. The function lets go of that.
func Open(p *policy.Policy, o Options) (_ ledger.Ledger, release func() error, err error) {
	place, release, err := anchor.Open(p)
	if err != nil {
		return nil, release, err
	}
	var l ledger.Ledger
	if postgres.Is(p.Ledger) {
		l, err = postgres.OpenWith(p.Ledger, postgres.Options{Anchorage: place, Full: o.Full, Tell: o.Tell})
	} else {
		l, err = sqlite.OpenWith(p.Ledger, sqlite.Options{Anchorage: place, Every: uint64(p.Anchor.Every), Full: o.Full, Tell: o.Tell})
	}
	if err != nil {
		return nil, release, errors.Join(err, release())
	}
	return l, release, nil
}

// Recover counts what the anchor of a policy knows and its ledger has lost as spent.
func Recover(p *policy.Policy, place ledger.Anchorage, reason string) (desk.Recovered, error) {
	if postgres.Is(p.Ledger) {
		return postgres.Recover(p.Ledger, postgres.Options{Anchorage: place}, reason)
	}
	return sqlite.Recover(p.Ledger, sqlite.Options{Anchorage: place, Every: uint64(p.Anchor.Every)}, reason)
}

// BeginAnchor begins another anchor for the ledger of a policy, whose anchor is lost.
func BeginAnchor(p *policy.Policy, place ledger.Anchorage, reason string) (desk.Recovered, error) {
	if postgres.Is(p.Ledger) {
		return postgres.BeginAnchor(p.Ledger, postgres.Options{Anchorage: place}, reason)
	}
	return sqlite.BeginAnchor(p.Ledger, sqlite.Options{Anchorage: place, Every: uint64(p.Anchor.Every)}, reason)
}

// Reader reads a ledger. It changes nothing.
type Reader interface {
	// Path names the ledger.
	Path() string
	// Head returns the sequence and the hash of the last record.
	Head() (uint64, string)
	// Records returns all records in their order, each checked against its hash and the one before.
	Records() iter.Seq2[chain.Line, error]
	// Lines returns them with the bytes that are stored beside them: answers, and notes, which are
	// secret.
	Lines() iter.Seq2[chain.Stored, error]
	// Verify checks everything and adds it up.
	Verify(tell func(done, of uint64)) (chain.Summary, error)
	Close() error
}

// Read opens a ledger for reading. One in a file must not be open elsewhere; one in a database may
// be, and is read as it was at one moment.
func Read(where string) (Reader, error) {
	if postgres.Is(where) {
		r, err := postgres.Read(where)
		if err != nil { // not a nil of its own type
			return nil, err
		}
		return r, nil
	}
	r, err := sqlite.Read(where)
	if err != nil {
		return nil, err
	}
	return r, nil
}

// Copy copies a ledger to where there is none, and compares the two afterwards: the same records
// with the same hashes, answers and notes.
func Copy(from, to string, tell func(done, of uint64)) (chain.Summary, error) {
	source, err := Read(from)
	if err != nil {
		return chain.Summary{}, err
	}
	defer source.Close()
	// What is damaged is not copied, and what is verified here is what is compared with.
	want, err := source.Verify(tell)
	if err != nil {
		return chain.Summary{}, err
	}
	if postgres.Is(to) {
		err = postgres.Import(to, source.Lines())
	} else {
		if _, there := os.Lstat(to); there == nil {
			return chain.Summary{}, fmt.Errorf("there is something at %s already, and it is not replaced", to)
		}
		err = sqlite.Import(to, source.Lines())
	}
	if err != nil {
		return chain.Summary{}, err
	}
	return want, compare(source, to, want)
}

// compare returns an error unless the copy is the same.
func compare(source Reader, to string, want chain.Summary) error {
	r, err := Read(to)
	if err != nil {
		return err
	}
	defer r.Close()
	got, err := r.Verify(nil)
	if err != nil {
		return err
	}
	differ := fmt.Errorf("the copy in %s is not the same as %s: remove it, and copy again", r.Path(), source.Path())
	if got.Records != want.Records || got.Head != want.Head || got.Charges != want.Charges || got.Answers != want.Answers {
		return differ
	}
	next, stop := iter.Pull2(r.Lines())
	defer stop()
	for a, err := range source.Lines() {
		b, failed, more := next()
		if err := errors.Join(err, failed); err != nil {
			return err
		}
		if !more || a.Hash != b.Hash || a.Body != b.Body || string(a.Answer) != string(b.Answer) {
			return differ
		}
	}
	if _, _, more := next(); more {
		return differ
	}
	return nil
}
