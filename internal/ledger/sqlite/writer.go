package sqlite

import (
	"errors"
	"time"

	"github.com/discreet-dp/discreet/internal/ledger/chain"
	"github.com/discreet-dp/discreet/internal/ledger/desk"
	"github.com/discreet-dp/discreet/ledger"
)

// writer is the ledger as its desk sees it.
type writer struct{ *Ledger }

var _ desk.Store = writer{}

// Begin implements [desk.Store]. Nobody else writes this file.
func (writer) Begin() *ledger.WriteError { return nil }

// Refresh implements [desk.Store].
func (writer) Refresh(time.Time) error { return nil }

// Crash implements [desk.Store]: whoever opens a ledger counts what it finds.
func (writer) Crash(string) (bool, error) { return true, nil }

// Anchor implements [desk.Store].
func (w writer) Anchor(made []*chain.Link) error { return w.storeAnchor(made) }

// Failed implements [desk.Store].
func (w writer) Failed(g *desk.Group, cause error) *ledger.WriteError { return w.failed(g, cause) }

// Served implements [desk.Store].
func (w writer) Served() {
	w.shorten()
	w.checkpoint()
}

// Write implements [desk.Store]. It is one transaction: the records and the head, or neither.
func (w writer) Write(g *desk.Group) error {
	if len(g.Links) == 0 {
		return nil
	}
	if !w.marked {
		// From here on the file needs its log, and must say so before the first charge is only
		// there.
		if err := w.conn.mark(opened); err != nil {
			return err
		}
		w.marked = true
	}
	var err error
	if w.log, err = logSize(w.Path); err != nil {
		return err
	}
	if _, err := w.begin.ExecContext(background); err != nil {
		return err
	}
	for i, k := range g.Links {
		if _, err := w.insertRecord.ExecContext(background, int64(k.Record.Sequence), k.Body, k.Hash, g.Answers[i]); err != nil {
			return err
		}
	}
	last := g.Links[len(g.Links)-1]
	result, err := w.updateHead.ExecContext(background, int64(last.Record.Sequence), last.Hash, int64(g.Sequence), g.Hash)
	if err != nil {
		return err
	}
	if n, err := result.RowsAffected(); err != nil || n != 1 {
		return errors.Join(errors.New("the head in the file is not the head of this ledger"), err)
	}
	_, err = w.commit.ExecContext(background)
	w.commits++
	return err
}
