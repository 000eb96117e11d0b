// Package openledger opens, reads and copies ledgers wherever they are: in a file, or in a
// PostgreSQL database that several servers share.
package openledger

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"

	"github.com/discreet-dp/discreet/internal/ledger/anchor"
	"github.com/discreet-dp/discreet/internal/ledger/chain"
	"github.com/discreet-dp/discreet/internal/ledger/groupcommit"
	"github.com/discreet-dp/discreet/internal/ledger/ownersocket"
	"github.com/discreet-dp/discreet/internal/ledger/postgres"
	"github.com/discreet-dp/discreet/internal/ledger/sqlite"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/policy"
)

// FileFormat and PostgresFormat are the formats of ledgers that are read and written here.
const (
	FileFormat     = sqlite.Format
	PostgresFormat = postgres.Format
)

type Options struct {
	// Full checks a ledger from its first record to its last, whatever checkpoints there are.
	Full bool
	// OwnerSocket lets the owner read a ledger in a file, and enter what owners do, while it is
	// open here; see [Dial]. Where its folder takes no socket there is none.
	OwnerSocket bool
	// Reload is what the owner can have done over it beside.
	Reload ownersocket.Reload
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
		options := sqlite.Options{Anchorage: place, Every: uint64(p.Anchor.Every), Full: o.Full, Tell: o.Tell}
		l, err = openFile(p.Ledger, options, o)
	}
	if err != nil {
		return nil, release, errors.Join(sayWhere(err, p.Ledger), release())
	}
	return l, release, nil
}

// sayWhere adds where the anchor of a ledger was to an error that misses it.
func sayWhere(err error, path string) error {
	var refused *ledger.UnanchoredError
	if !errors.As(err, &refused) {
		return err
	}
	r, unread := Read(path)
	if unread != nil {
		return err
	}
	defer r.Close()
	if _, was, unread := AnchorOf(r); unread == nil {
		refused.Was = was
	}
	return err
}

// AnchorOf reports whether a ledger has an anchor, by its own records, and where that was when the
// ledger got it.
func AnchorOf(r Reader) (has bool, was string, err error) {
	for line, err := range r.Lines() {
		if err != nil {
			return false, "", err
		}
		if anchored, says := ledger.NotesAnchor(line.Record.Session); says && line.Record.Kind == ledger.KindNote &&
			len(line.Answer) > ledger.NoteSalt {
			has, was = anchored, string(line.Answer[ledger.NoteSalt:])
		}
	}
	return has, was, nil
}

func openFile(path string, how sqlite.Options, o Options) (ledger.Ledger, error) {
	l, err := sqlite.OpenWith(path, how)
	if err != nil { // not a nil of its own type
		return nil, err
	}
	if !o.OwnerSocket {
		return l, nil
	}
	s, err := ownersocket.Open(l, l.Path, o.Reload)
	if err != nil {
		return l, nil // the owner stops the server, as without one
	}
	return listening{l, s}, nil
}

// listening is a ledger with its owner's socket, which is closed first: from then on another
// process may have the ledger, and a socket of its own.
type listening struct {
	*sqlite.Ledger
	socket *ownersocket.Listener
}

func (l listening) Close() error { return errors.Join(l.socket.Close(), l.Ledger.Close()) }

// Dial returns the ledger of a policy for what its owner reads and enters, where it is in a file
// that a server has open; otherwise nil, and it can be opened.
func Dial(p *policy.Policy) (ledger.Ledger, error) {
	if postgres.Is(p.Ledger) {
		return nil, nil
	}
	v, there, err := dial(p.Ledger)
	if err != nil || !there {
		return nil, err
	}
	return v.Ledger(), nil
}

// Reload has the server that has the ledger of a policy open read its policy again; false where no
// server can be asked.
func Reload(ctx context.Context, p *policy.Policy, trial bool) (said []byte, there bool, err error) {
	if postgres.Is(p.Ledger) {
		return nil, false, nil
	}
	v, there, err := dial(p.Ledger)
	if err != nil || !there {
		return nil, false, err
	}
	file, err := filepath.Abs(p.Path)
	if err != nil {
		return nil, true, err
	}
	said, err = v.Reload(ctx, file, trial)
	return said, true, err
}

// dial looks for the owner's socket of a ledger in a file, by the one name that the ledger has.
func dial(path string) (*ownersocket.Client, bool, error) {
	name, err := filepath.Abs(path)
	if err == nil {
		name, err = filepath.EvalSymlinks(name)
	}
	if err != nil {
		return nil, false, nil // there is no ledger
	}
	return ownersocket.Dial(name)
}

// Recover counts what the anchor of a policy knows and its ledger has lost as spent.
func Recover(p *policy.Policy, place ledger.Anchorage, reason string) (groupcommit.Recovered, error) {
	if postgres.Is(p.Ledger) {
		return postgres.Recover(p.Ledger, postgres.Options{Anchorage: place}, reason)
	}
	return sqlite.Recover(p.Ledger, sqlite.Options{Anchorage: place, Every: uint64(p.Anchor.Every)}, reason)
}

// BeginAnchor begins another anchor for the ledger of a policy, whose anchor is lost.
func BeginAnchor(p *policy.Policy, place ledger.Anchorage, reason string) (groupcommit.Recovered, error) {
	if postgres.Is(p.Ledger) {
		return postgres.BeginAnchor(p.Ledger, postgres.Options{Anchorage: place}, reason)
	}
	return sqlite.BeginAnchor(p.Ledger, sqlite.Options{Anchorage: place, Every: uint64(p.Anchor.Every)}, reason)
}

// GiveUpAnchor says in the ledger of a policy that it has no anchor from here on.
func GiveUpAnchor(p *policy.Policy, place ledger.Anchorage, reason string) error {
	if postgres.Is(p.Ledger) {
		return postgres.GiveUpAnchor(p.Ledger, postgres.Options{Anchorage: place}, reason)
	}
	return sqlite.GiveUpAnchor(p.Ledger, sqlite.Options{Anchorage: place, Every: uint64(p.Anchor.Every)}, reason)
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

// Read opens a ledger for reading, as it is at one moment. Servers may have it open; of those that
// have one in a file, the one with an owner's socket is asked, and others must have closed it.
func Read(where string) (Reader, error) {
	if postgres.Is(where) {
		r, err := postgres.Read(where)
		if err != nil { // not a nil of its own type
			return nil, err
		}
		return r, nil
	}
	if v, there, err := dial(where); err != nil {
		return nil, err
	} else if there {
		return v, nil
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
