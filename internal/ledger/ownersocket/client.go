package ownersocket

import (
	"context"
	"crypto"
	"encoding/gob"
	"errors"
	"fmt"
	"iter"
	"net"
	"time"

	"github.com/discreet-dp/discreet/internal/ledger/chain"
	"github.com/discreet-dp/discreet/ledger"
)

// Client is the owner's side: a ledger that another process has open. It is for reading, and for
// what owners enter; see [Client.Ledger].
type Client struct {
	path string
	head ledger.Position
}

// Dial returns the ledger at a path as it is now, or false where no process listens for its owner.
func Dial(path string) (*Client, bool, error) {
	c, err := net.Dial("unix", socket(path))
	if err != nil {
		return nil, false, nil // nobody is there
	}
	c.Close()
	v := &Client{path: path}
	a, err := v.ask(context.Background(), message{Want: wantHead})
	v.head = a.Head
	return v, true, err
}

// ask asks for one thing and returns what is said first.
func (v *Client) ask(ctx context.Context, m message) (message, error) {
	c, in, err := v.begin(ctx, m)
	if err != nil {
		return message{}, err
	}
	defer c.Close()
	return in.next()
}

type replies struct {
	*gob.Decoder
	back *gob.Encoder
	conn net.Conn
	path string
}

func (v *Client) begin(ctx context.Context, m message) (net.Conn, replies, error) {
	c, err := new(net.Dialer).DialContext(ctx, "unix", socket(v.path))
	var out *gob.Encoder
	if err == nil {
		_ = c.SetDeadline(time.Now().Add(patience))
		out = gob.NewEncoder(c)
		err = out.Encode(m)
	}
	if err != nil {
		return nil, replies{}, fmt.Errorf("the server that has the ledger %s open cannot be asked: %w", v.path, err)
	}
	return c, replies{gob.NewDecoder(c), out, c, v.path}, nil
}

func (s replies) next() (message, error) {
	_ = s.conn.SetDeadline(time.Now().Add(4 * patience)) // it may wait for its disk
	var m message
	if err := s.Decode(&m); err != nil {
		return message{}, fmt.Errorf("the server that has the ledger %s open has gone: %w", s.path, err)
	}
	if m.Failed != "" {
		return message{}, errors.New(m.Failed)
	}
	return m, nil
}

func (v *Client) Path() string { return v.path }

// Head returns the sequence and the hash of the record that was the last when the client dialled.
func (v *Client) Head() (uint64, string) { return v.head.Sequence, v.head.Hash }

// Lines returns the records up to that one with what is stored beside them, each checked against
// its hash and against the one before.
func (v *Client) Lines() iter.Seq2[chain.Stored, error] {
	return func(yield func(chain.Stored, error) bool) {
		c, in, err := v.begin(context.Background(), message{Want: wantLines, Last: v.head.Sequence})
		if err != nil {
			yield(chain.Stored{}, err)
			return
		}
		defer c.Close()
		next, previous := uint64(0), ""
		for {
			m, err := in.next()
			if err == nil && len(m.Lines) == 0 && (next != v.head.Sequence+1 || previous != v.head.Hash) {
				err = v.corrupt(next, "it is missing")
			}
			if err != nil {
				yield(chain.Stored{}, err)
				return
			}
			if len(m.Lines) == 0 {
				return
			}
			for _, l := range m.Lines {
				s, err := l.read()
				if err == nil && (s.Record.Sequence != next || s.Record.Previous != previous) {
					err = errors.New("the record does not continue the one before")
				}
				if err != nil {
					yield(chain.Stored{}, v.corrupt(next, err.Error()))
					return
				}
				if !yield(s, nil) {
					return
				}
				next, previous = next+1, s.Hash
			}
		}
	}
}

func (v *Client) corrupt(record uint64, problem string) error {
	return &ledger.CorruptError{Path: v.path, Where: fmt.Sprintf("record %d: %s", record, problem)}
}

// Records is Lines without what is stored beside them.
func (v *Client) Records() iter.Seq2[chain.Line, error] { return chain.WithoutAnswers(v.Lines()) }

// Verify checks the ledger from its first record on and adds it up.
func (v *Client) Verify(tell func(done, of uint64)) (chain.Summary, error) {
	s, _, err := chain.Verify(v.path, v.Records(), func(*chain.State) error { return nil }, func(done uint64) {
		if tell != nil {
			tell(done, v.head.Sequence)
		}
	})
	return s, err
}

// Close does nothing: every question has a connection of its own.
func (v *Client) Close() error { return nil }

// enter enters something, and signs it where it is what was asked for.
func (v *Client) enter(ctx context.Context, e ledger.Entry) (ledger.Receipt, error) {
	if err := e.Validate(); err != nil {
		return ledger.Receipt{}, err
	}
	p, signer, err := pack(e)
	if err != nil {
		return ledger.Receipt{}, err
	}
	c, in, err := v.begin(ctx, message{Want: wantEntry, Entry: p})
	if err != nil {
		return ledger.Receipt{}, err
	}
	defer c.Close()
	a, err := in.next()
	if err == nil && a.Sign != nil {
		if signer == nil {
			return ledger.Receipt{}, errors.New("the server wants a signature for something that was not asked for")
		}
		if err := p.checkAsked(a.Sign); err != nil {
			return ledger.Receipt{}, err
		}
		signature, err := signer.Sign(nil, a.Sign, crypto.Hash(0))
		if err == nil {
			err = in.back.Encode(message{Signature: signature})
		}
		if err != nil {
			return ledger.Receipt{}, err
		}
		a, err = in.next()
		return a.Receipt, err
	}
	return a.Receipt, err
}

// Reload has the server read its policy again, which is to be the file of an absolute path, and
// returns what that one says of it.
func (v *Client) Reload(ctx context.Context, file string, trial bool) ([]byte, error) {
	c, in, err := v.begin(ctx, message{Want: wantReload, Policy: file, Trial: trial})
	if err != nil {
		return nil, err
	}
	defer c.Close()
	defer context.AfterFunc(ctx, func() { c.Close() })()
	for {
		a, err := in.next()
		if err != nil || !a.Wait {
			return a.Reloaded, err
		}
	}
}
