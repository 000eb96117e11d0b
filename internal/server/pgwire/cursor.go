package pgwire

import (
	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/api"
)

// cursor is what a portal has that a DECLARE made.
type cursor struct {
	name   string
	hold   bool // it outlives the transaction
	still  bool // NO SCROLL: it goes forward alone
	binary bool
	serial int // counts cursors, so that going back to a savepoint closes those after it

	// What the question is asked with is what was set at the DECLARE, however late it is asked.
	settings api.Settings
	request  string
}

// The options of a DECLARE, as the grammar has them.
const (
	binaryCursor   = 1 << 0
	scrollCursor   = 1 << 1
	noScrollCursor = 1 << 2
	holdCursor     = 1 << 5
)

// routeDeclare takes DECLARE ... CURSOR FOR SELECT. It is checked and described when it is
// declared, which is free, and asked and paid for by the first FETCH or MOVE that needs a row.
func (s *session) routeDeclare(st *statement, n *pg.DeclareCursorStmt) error {
	has := func(option int32) bool { return n.Options&option != 0 }
	if has(scrollCursor) && has(noScrollCursor) {
		return failure(invalidCursorDefinition, "cannot specify both SCROLL and NO SCROLL")
	}
	st.cursor = cursor{name: n.Portalname, hold: has(holdCursor), still: has(noScrollCursor), binary: has(binaryCursor)}
	return s.enclose(st, n.Query, pg.Token_FOR)
}

func (s *session) runDeclare(st *statement, values []argument) (*result, error) {
	c := st.cursor
	switch {
	case !c.hold && !s.block.open && !s.several:
		return nil, failure(noTransaction, "DECLARE CURSOR can only be used in transaction blocks").
			hinting("BEGIN first, or declare it WITH HOLD")
	case s.portals[c.name] != nil:
		return nil, failure(duplicateCursor, "cursor %q already exists", clip(c.name))
	}
	if err := named(c.name); err != nil {
		return nil, err
	}
	if err := s.describeInner(st); err != nil {
		return nil, err
	}
	s.declared++
	c.serial, c.settings, c.request = s.declared, s.settings.now.dp, s.settings.take()
	p := &portal{name: c.name, st: st.alone(), values: values, cursor: &c}
	if c.binary {
		p.codes = []int16{1}
	}
	if err := s.keepPortal(p); err != nil {
		return nil, err
	}
	return &result{tag: "DECLARE CURSOR"}, nil
}

// ask asks what a cursor is for, the first time that a row is needed. What fails can be asked
// again, under the same name where the DECLARE had one.
func (s *session) askCursor(p *portal) error {
	if p.result != nil {
		return nil
	}
	r, err := s.runAs(p.st, p.values, p.cursor)
	if err != nil {
		return placeless(err)
	}
	if len(r.columns) != len(p.st.columns) {
		return internal()
	}
	// What was described is what is sent.
	return s.result(p, r, p.st.columns)
}

// closeAfter closes the cursors that were declared after a savepoint.
func (s *session) closeAfter(serial int) {
	for name, p := range s.portals {
		if p.cursor != nil && p.cursor.serial > serial {
			s.closePortal(name)
		}
	}
}

// endPortals closes what a transaction leaves behind: all portals, but for cursors WITH HOLD, and
// these too where the transaction that declared them is undone.
func (s *session) endPortals(kept int) {
	for name, p := range s.portals {
		if p.cursor == nil || !p.cursor.hold || p.cursor.serial > kept {
			s.closePortal(name)
		}
	}
}
