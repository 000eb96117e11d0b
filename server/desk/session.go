package desk

import (
	"context"
	"errors"
	"time"

	"github.com/discreet-dp/discreet"
)

// ErrNoSession: there is none of this name that belongs to the analyst.
var ErrNoSession = errors.New("there is no such session; it may have ended, or the server was started anew")

// Session is an interactive mechanism that an analyst has open. Kinds of sessions plug in by being something that can be asked.
type Session struct {
	ID      string
	Kind    string // sparse
	Analyst string
	Dataset string
	Opened  time.Time
	Sparse  *discreet.Sparse
}

// OpenSparse opens a session of the sparse vector technique, which is charged for in full at once.
func (d *Desk) OpenSparse(ctx context.Context, o discreet.SparseQuestion) (*Session, error) {
	return nil, errors.ErrUnsupported
}

// AskSparse asks a session; it takes its turn like every question.
func (d *Desk) AskSparse(ctx context.Context, analyst, id, sql string, threshold string) (*discreet.SparseVerdict, error) {
	return nil, errors.ErrUnsupported
}

// Session returns a session of an analyst's; Sessions all of them; CloseSession ends one, which gives nothing back.
func (d *Desk) Session(analyst, id string) (*Session, error) { return nil, ErrNoSession }
func (d *Desk) Sessions(analyst string) []*Session           { return nil }
func (d *Desk) CloseSession(analyst, id string) error        { return ErrNoSession }
