package pgwire

import (
	"errors"
	"fmt"

	"github.com/discreet-dp/discreet/internal/server/bytelimit"
)

// full says that there is no room, and when there may be.
func full(err error) error {
	var e *bytelimit.FullError
	if !errors.As(err, &e) {
		return err
	}
	hint := "read or close what your other sessions and requests have open"
	if e.Others {
		hint = "others have to read their answers first"
	}
	return failure(outOfMemory, "%s", e.Error()).hinting(fmt.Sprintf("%s, or try again in %d seconds, when what nobody reads is dropped; "+
		"what was paid for is free", hint, int(e.Wait.Seconds())))
}

// borrow counts bytes that a message takes while it is heard. What is small is not counted: who
// holds as much as they may can still say ROLLBACK, and CLOSE.
func (s *session) borrow(n int) error {
	if n <= lateBuffer {
		return nil
	}
	if err := s.share.Take(n); err != nil {
		return full(err)
	}
	return nil
}

func (s *session) giveBack(n int) {
	if n > lateBuffer {
		s.share.Give(n)
	}
}

// keep counts bytes, more or fewer, of what the session keeps: statements, portals and
// temporary views.
func (s *session) keep(more int) error {
	if more > 0 && s.kept+more > maxKept {
		return failure(outOfMemory, "the session keeps as much as it can").
			hinting("DEALLOCATE statements, close cursors, or end the transaction")
	}
	if err := s.share.Take(more); err != nil {
		return full(err)
	}
	s.share.Give(-more)
	s.kept += more
	return nil
}

// retain counts a statement, once for all that keep it: its name, and portals.
func (s *session) retain(st *statement) error {
	if st.keepers == 0 {
		size := st.size()
		if err := s.keep(size); err != nil {
			return err
		}
		st.bytes = size
	}
	st.keepers++
	return nil
}

// release counts one fewer that keeps a statement.
func (s *session) release(st *statement) {
	if st.keepers--; st.keepers == 0 {
		s.keep(-st.bytes)
		st.bytes = 0
	}
}

// recount counts what became of a statement that is kept: it was described, or its tree is gone.
func (s *session) recount(st *statement) error {
	if st.keepers == 0 {
		return nil
	}
	size := st.size()
	if err := s.keep(size - st.bytes); err != nil {
		return err
	}
	st.bytes = size
	return nil
}

// size is about how many bytes the rows of a result take, and their error bars.
func (r *result) size() int {
	n, _ := bytelimit.Rows(r.rows)
	if r.answer != nil {
		for _, row := range r.answer.Errors {
			n += 24 + 16*len(row)
		}
	}
	return n
}

// hold counts what a portal has: all of its rows, from when they are there until the client has the
// last. A cursor can go back, so it keeps them until it is closed.
func (s *session) hold(p *portal) error {
	size := 0
	if len(p.rest()) > 0 || p.cursor != nil {
		if size = p.held; size == 0 {
			size = p.result.size()
		}
	}
	if err := s.share.Take(size - p.held); err != nil {
		return full(err)
	}
	s.share.Give(p.held - size)
	p.held = size
	return nil
}

// sending sends rows, of which one at a time is written down, and copied to where messages wait.
func (s *session) sending(rows [][]any, send func() error) error {
	_, largest := bytelimit.Rows(rows)
	if err := s.borrow(2 * largest); err != nil {
		return err
	}
	defer s.giveBack(2 * largest)
	return send()
}
