package sqlite

import (
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/discreet-dp/discreet/internal/ledger/desk"
	"github.com/discreet-dp/discreet/ledger"
)

// failed decides what a failed write means, and returns the error for everybody who took part in
// it. A full disk is noticed before a commit is complete, so after a rollback the ledger can go on
// if the file proves to be as it was. Any other failure, above all of fsync, stops this ledger for
// good: the kernel may have dropped what it could not write and report success the next time, so to
// try again would be to confirm what is not there (Rebello et al. 2020, "Can Applications Recover
// from fsync Failures?").
func (l *Ledger) failed(g *desk.Group, cause error) *ledger.WriteError {
	l.Broken = &ledger.WriteError{Path: l.Path, Broken: true, Err: cause}
	if !full(cause) {
		return l.Broken
	}
	// SQLite may have rolled back by itself, so an error here says nothing.
	_, _ = l.conn.ExecContext(background, "ROLLBACK")
	// Frames of the transaction may be left in the log, and must not be found before those of
	// another one. Where there is no room in the file for what is in the log, they are cut off.
	err := l.conn.empty()
	if full(err) && l.marked { // the marker is a transaction of one page, and leaves nothing that could be mistaken
		err = cutLog(l.Path, l.log)
	} else if full(err) {
		err = nil
	}
	if err != nil {
		return l.Broken
	}
	// The state has records that the file has not. The one checkpoint that is believed is the one
	// that this ledger read or made.
	mine := l.checkpoints.sum
	state, _ := fromCheckpoint(l.conn, l.Path, func(sum string) bool { return sum == mine }, nil)
	if state == nil {
		state, err = checkRecords(l.conn, l.Path, int64(g.Sequence)*smallest, nil)
	}
	if err == nil {
		err = checkHead(l.conn, l.Path, state)
	}
	if err != nil {
		return l.Broken
	}
	if sequence, hash := state.Head(); sequence != g.Sequence || hash != g.Hash {
		return l.Broken
	}
	l.State, l.Broken = state, nil
	return &ledger.WriteError{Path: l.Path, Err: cause}
}

func full(err error) bool { return code(err)&0xff == sqlite3.SQLITE_FULL }
