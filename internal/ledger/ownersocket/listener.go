// Package ownersocket lets the owner work on a ledger in a file while a server has it open: over a
// Unix socket beside it, which has the rights of the ledger itself. A ledger in a file has one
// writer, so what the owner reads and enters goes through that one. No charge is made this way, and
// none is answered. Beside the ledger's own business the owner can have the policy read again.
//
// A signature is made where the key is. The server says what it is about to write, and the owner's
// side signs it only where that is what was asked for.
package ownersocket

import (
	"context"
	"crypto"
	"crypto/ed25519"
	"encoding/gob"
	"errors"
	"io"
	"iter"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/discreet-dp/discreet/internal/ledger/chain"
	"github.com/discreet-dp/discreet/ledger"
)

// Backend is of a ledger that is open here what its owner reads and enters.
type Backend interface {
	Head(ctx context.Context) (sequence uint64, hash string, err error)
	Window(ctx context.Context, dataset string) (uint64, error)
	Lockout(ctx context.Context, dataset, analyst string) (ledger.Lockout, error)
	Balances(ctx context.Context, accounts []ledger.Account) ([]ledger.Balance, error)
	Notes(ctx context.Context, session string) ([][]byte, error)
	Enter(ctx context.Context, e ledger.Entry) (ledger.Receipt, error)
	// Lines returns the records up to one with what is stored beside them, each checked.
	Lines(ctx context.Context, last uint64) iter.Seq2[chain.Stored, error]
}

// Reload reads the policy of the server again, or only says what that would change. File is what
// the owner takes for that policy. It is none of the ledger's business, but this is the way in that
// is the owner's alone.
type Reload func(ctx context.Context, file string, trial bool) ([]byte, error)

// Listener is the server's side of the socket.
type Listener struct {
	backend  Backend
	reload   Reload
	listener net.Listener
	name     string
	ctx      context.Context
	end      context.CancelFunc
	serving  sync.WaitGroup
}

// Open listens for the owner of a ledger that is open here. Whoever has a ledger open is the only
// one, so a socket that is there was left by a process that died. Reload may be nil.
func Open(l Backend, path string, reload Reload) (*Listener, error) {
	name := socket(path)
	listener, err := listen(name)
	if err != nil {
		return nil, err
	}
	s := &Listener{backend: l, reload: reload, listener: listener, name: name}
	s.ctx, s.end = context.WithCancel(context.Background())
	s.serving.Go(s.accept)
	return s, nil
}

// listen makes the socket in a folder that nobody else may enter, and gives it its name when it has
// its rights: what the rights of a new socket are is not ours to say.
func listen(name string) (_ net.Listener, err error) {
	dir, err := os.MkdirTemp(filepath.Dir(name), ".h")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	made := filepath.Join(dir, "s")
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: made})
	if err != nil {
		return nil, err
	}
	listener.SetUnlinkOnClose(false)
	if err := errors.Join(os.Chmod(made, 0o600), os.Rename(made, name)); err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	return listener, nil
}

// Close stops listening, and lets go of whoever is connected.
func (s *Listener) Close() error {
	s.end()
	err := os.Remove(s.name)
	if errors.Is(err, os.ErrNotExist) {
		err = nil
	}
	err = errors.Join(err, s.listener.Close())
	s.serving.Wait()
	return err
}

func (s *Listener) accept() {
	for {
		c, err := s.listener.Accept()
		if err != nil {
			return
		}
		s.serving.Go(func() {
			defer c.Close()
			defer context.AfterFunc(s.ctx, func() { c.Close() })()
			v := &exchange{Listener: s, conn: c, in: gob.NewDecoder(c), out: gob.NewEncoder(c)}
			_ = c.SetDeadline(time.Now().Add(patience))
			var m message
			if v.in.Decode(&m) == nil {
				v.serve(&m)
			}
		})
	}
}

// exchange is one connection, over which one thing is wanted.
type exchange struct {
	*Listener
	conn net.Conn
	in   *gob.Decoder
	out  *gob.Encoder
}

func (v *exchange) serve(m *message) {
	var a message
	var err error
	switch m.Want {
	case wantHead:
		a.Head.Sequence, a.Head.Hash, err = v.backend.Head(v.ctx)
	case wantWindow:
		a.Window, err = v.backend.Window(v.ctx, m.Dataset)
	case wantLockout:
		a.Door, err = v.backend.Lockout(v.ctx, m.Dataset, m.Analyst)
	case wantBalances:
		accounts := make([]ledger.Account, len(m.Accounts))
		for i, name := range m.Accounts {
			accounts[i].Name = name // limits are the policy's, which the owner has
		}
		a.Balances, err = v.backend.Balances(v.ctx, accounts)
	case wantNotes:
		if _, open := ledger.NotesProtected(m.Session); !open {
			err = errors.New("the notes of a session are secret")
			break
		}
		a.Notes, err = v.backend.Notes(v.ctx, m.Session)
	case wantLines:
		err = v.lines(m.Last)
	case wantEntry:
		a.Receipt, err = v.enter(m.Entry)
	case wantReload:
		a.Reloaded, err = v.reloads(m.Policy, m.Trial)
	default:
		err = errors.New("this server and the command are of different versions")
	}
	if err != nil {
		a = message{Failed: err.Error()}
	}
	_ = v.say(a) // who has gone is told nothing
}

func (v *exchange) say(m message) error {
	_ = v.conn.SetDeadline(time.Now().Add(patience))
	return v.out.Encode(m)
}

// linesPerMessage is how many lines are sent at a time.
const linesPerMessage = 64

// lines sends records. What comes after the last of them is a message without any.
func (v *exchange) lines(last uint64) error {
	var batch []line
	for s, err := range v.backend.Lines(v.ctx, last) {
		if err != nil {
			return err
		}
		batch = append(batch, line{s.Body, s.Hash, s.Answer})
		if len(batch) == linesPerMessage {
			if err := v.say(message{Lines: batch}); err != nil {
				return err
			}
			batch = nil
		}
	}
	if len(batch) > 0 {
		return v.say(message{Lines: batch})
	}
	return nil
}

// reloads reads the policy again, and says now and then that it is not done.
func (v *exchange) reloads(file string, trial bool) (out []byte, err error) {
	if v.reload == nil {
		return nil, errors.New("this server does not read its policy again; restart it")
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		out, err = v.reload(v.ctx, file, trial)
	}()
	for {
		select {
		case <-done:
			return out, err
		case <-time.After(patience):
			_ = v.say(message{Wait: true}) // who has gone has wanted it
		}
	}
}

// enter enters something, which the other side signs.
func (v *exchange) enter(p *entry) (ledger.Receipt, error) {
	var signer crypto.Signer
	if p != nil && p.Public != nil {
		signer = signing{v, p.Public}
	}
	e, err := p.unpack(signer)
	if err != nil {
		return ledger.Receipt{}, err
	}
	return v.backend.Enter(v.ctx, e)
}

type signing struct {
	*exchange
	public ed25519.PublicKey
}

func (s signing) Public() crypto.PublicKey { return s.public }

func (s signing) Sign(_ io.Reader, text []byte, _ crypto.SignerOpts) ([]byte, error) {
	if err := s.say(message{Sign: text}); err != nil {
		return nil, err
	}
	var m message
	err := s.in.Decode(&m)
	return m.Signature, err
}
