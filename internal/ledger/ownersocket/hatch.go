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

// Source is a ledger that is open here.
type Source interface {
	ledger.Ledger
	// Lines returns the records up to one with what is stored beside them, each checked.
	Lines(ctx context.Context, last uint64) iter.Seq2[chain.Stored, error]
}

// Hatch is the server's side.
type Hatch struct {
	source   Source
	listener net.Listener
	name     string
	ctx      context.Context
	end      context.CancelFunc
	serving  sync.WaitGroup
}

// Open opens the hatch of a ledger that is open here. Whoever has a ledger open is the only one, so
// a socket that is there was left by a process that died.
func Open(l Source, path string) (*Hatch, error) {
	name := socket(path)
	listener, err := listen(name)
	if err != nil {
		return nil, err
	}
	h := &Hatch{source: l, listener: listener, name: name}
	h.ctx, h.end = context.WithCancel(context.Background())
	h.serving.Go(h.accept)
	return h, nil
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

// Close closes the hatch, and lets go of whoever is there.
func (h *Hatch) Close() error {
	h.end()
	err := os.Remove(h.name)
	if errors.Is(err, os.ErrNotExist) {
		err = nil
	}
	err = errors.Join(err, h.listener.Close())
	h.serving.Wait()
	return err
}

func (h *Hatch) accept() {
	for {
		c, err := h.listener.Accept()
		if err != nil {
			return
		}
		h.serving.Go(func() {
			defer c.Close()
			defer context.AfterFunc(h.ctx, func() { c.Close() })()
			v := &visitor{Hatch: h, conn: c, in: gob.NewDecoder(c), out: gob.NewEncoder(c)}
			_ = c.SetDeadline(time.Now().Add(patience))
			var m message
			if v.in.Decode(&m) == nil {
				v.serve(&m)
			}
		})
	}
}

// visitor is somebody who wants one thing.
type visitor struct {
	*Hatch
	conn net.Conn
	in   *gob.Decoder
	out  *gob.Encoder
}

// serve does what is wanted.
func (v *visitor) serve(m *message) {
	var a message
	var err error
	switch m.Want {
	case wantHead:
		a.Head.Sequence, a.Head.Hash, err = v.source.Head(v.ctx)
	case wantWindow:
		a.Window, err = v.source.Window(v.ctx, m.Dataset)
	case wantLockout:
		a.Door, err = v.source.Lockout(v.ctx, m.Dataset, m.Analyst)
	case wantBalances:
		accounts := make([]ledger.Account, len(m.Accounts))
		for i, name := range m.Accounts {
			accounts[i].Name = name // limits are the policy's, which the owner has
		}
		a.Balances, err = v.source.Balances(v.ctx, accounts)
	case wantNotes:
		if _, open := ledger.NotesProtected(m.Session); !open {
			err = errors.New("the notes of a session are its secret")
			break
		}
		a.Notes, err = v.source.Notes(v.ctx, m.Session)
	case wantLines:
		err = v.lines(m.Last)
	case wantEntry:
		a.Receipt, err = v.enter(m.Entry)
	default:
		err = errors.New("this server is of another version than the command")
	}
	if err != nil {
		a = message{Failed: err.Error()}
	}
	_ = v.say(a) // who has gone is told nothing
}

func (v *visitor) say(m message) error {
	_ = v.conn.SetDeadline(time.Now().Add(patience))
	return v.out.Encode(m)
}

// some is how many lines are sent at a time.
const some = 64

// lines sends records. What comes after the last of them is a message without any.
func (v *visitor) lines(last uint64) error {
	var batch []line
	for s, err := range v.source.Lines(v.ctx, last) {
		if err != nil {
			return err
		}
		batch = append(batch, line{s.Body, s.Hash, s.Answer})
		if len(batch) == some {
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

// enter enters something, which the other side signs.
func (v *visitor) enter(p *entry) (ledger.Receipt, error) {
	var signer crypto.Signer
	if p != nil && p.Public != nil {
		signer = signing{v, p.Public}
	}
	e, err := p.unpacked(signer)
	if err != nil {
		return ledger.Receipt{}, err
	}
	return v.source.Enter(v.ctx, e)
}

// signing lets the other side sign.
type signing struct {
	*visitor
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
