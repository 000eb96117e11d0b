package pgwire

import (
	"context"
	"slices"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/jackc/pgx/v5/pgtype"
)

// extended does a message of the extended protocol. After an error, everything up to the next Sync
// is passed over.
func (s *session) extended(message pgproto3.FrontendMessage) error {
	var err error
	text, offset := "", 0
	switch m := message.(type) {
	case *pgproto3.Parse:
		text = m.Query
		offset, err = s.parse(m)
	case *pgproto3.Bind:
		text, offset, err = s.bind(m)
	case *pgproto3.Describe:
		text, offset, err = s.tellShape(m)
	case *pgproto3.Execute:
		text, offset, err = s.execute(m)
	case *pgproto3.Close:
		err = s.close(m)
	}
	if err == nil {
		return s.reached()
	}
	s.skipping = true
	if err := s.fail(err, text, offset); err != nil {
		return err
	}
	return s.flush() // so that nobody waits for it who sends no Sync yet
}

// sync ends a sequence of messages.
func (s *session) sync() error {
	s.skipping = false
	if !s.block.open {
		s.endPortals(s.declared)
	}
	s.ready()
	return s.flush()
}

func named(name string) error {
	if len(name) > maxName || !utf8.ValidString(name) {
		return failure(invalidParameter, "the name of a statement or a portal has at most %d bytes, of UTF-8", maxName)
	}
	return nil
}

// parse keeps a statement.
func (s *session) parse(m *pgproto3.Parse) (offset int, err error) {
	if err := named(m.Name); err != nil {
		return 0, err
	}
	if m.Name == "" {
		s.closeStatement("")
	} else if s.statements[m.Name] != nil {
		return 0, failure(duplicateStatement, "prepared statement %q already exists", clip(m.Name))
	}
	if len(m.ParameterOIDs) > maxParameters {
		return 0, failure(tooComplex, "a statement has at most %d parameters", maxParameters)
	}
	all, err := s.read(m.Query)
	if err != nil {
		return 0, err
	}
	if len(all) > 1 {
		return 0, failure(syntaxError, "cannot insert multiple commands into a prepared statement")
	}
	st := &statement{text: m.Query, kind: empty}
	if len(all) == 1 {
		st = all[0]
		if err := s.allowed(st); err != nil {
			return st.from, err
		}
		if err := s.route(st); err != nil {
			return st.from, err
		}
	}
	st.name, st.given = m.Name, slices.Clone(m.ParameterOIDs)
	if err := s.keepStatement(st); err != nil {
		return st.from, err
	}
	s.conn.send(&pgproto3.ParseComplete{})
	return 0, nil
}

// bind makes a portal of a statement and values.
func (s *session) bind(m *pgproto3.Bind) (text string, offset int, err error) {
	st := s.statements[m.PreparedStatement]
	if st == nil {
		return "", 0, failure(invalidStatement, "prepared statement %q does not exist", clip(m.PreparedStatement))
	}
	text, offset = st.text, st.from
	if err := named(m.DestinationPortal); err != nil {
		return text, offset, err
	}
	if err := s.allowed(st); err != nil {
		return text, offset, err
	}
	if m.DestinationPortal == "" {
		s.closePortal("")
	} else if s.portals[m.DestinationPortal] != nil {
		return text, offset, failure(duplicateCursor, "cursor %q already exists", clip(m.DestinationPortal))
	}
	values, err := s.arguments(st, m)
	if err != nil {
		return text, offset, err
	}
	for _, c := range m.ResultFormatCodes {
		if c != pgtype.TextFormatCode && c != pgtype.BinaryFormatCode {
			return text, offset, failure(invalidParameter, "a result has an unknown format")
		}
	}
	if len(m.ResultFormatCodes) > 1 { // one for each column, which must be known then
		if err := s.describe(st); err != nil {
			return text, offset, err
		}
		if len(m.ResultFormatCodes) != len(st.columns) {
			return text, offset, failure(protocolViolation, "bind message has %d result formats but query has %d columns",
				len(m.ResultFormatCodes), len(st.columns))
		}
	}
	if err := s.keepPortal(&portal{name: m.DestinationPortal, st: st, values: values,
		codes: slices.Clone(m.ResultFormatCodes)}); err != nil {
		return text, offset, err
	}
	s.conn.send(&pgproto3.BindComplete{})
	return "", 0, nil
}

// arguments reads the values of a Bind.
func (s *session) arguments(st *statement, m *pgproto3.Bind) ([]argument, error) {
	if n := len(m.ParameterFormatCodes); n > 1 && n != len(m.Parameters) {
		return nil, failure(protocolViolation, "bind message has %d parameter formats but %d parameters", n, len(m.Parameters))
	}
	want := max(st.values, len(st.given))
	if len(m.Parameters) != want {
		return nil, failure(protocolViolation, "bind message supplies %d parameters, but prepared statement %q requires %d",
			len(m.Parameters), clip(st.name), want)
	}
	if want == 0 {
		return nil, nil
	}
	if err := s.describe(st); err != nil {
		return nil, err
	}
	values := make([]argument, want)
	for i, data := range m.Parameters {
		var err error
		if values[i], err = decode(s.typeMap(), i+1, st.parameters[i], formatOf(m.ParameterFormatCodes, i), data); err != nil {
			return nil, err
		}
	}
	return values, nil
}

// tellShape answers a Describe.
func (s *session) tellShape(m *pgproto3.Describe) (text string, offset int, err error) {
	var st *statement
	var codes []int16
	switch m.ObjectType {
	case 'S':
		if st = s.statements[m.Name]; st == nil {
			return "", 0, failure(invalidStatement, "prepared statement %q does not exist", clip(m.Name))
		}
	case 'P':
		p := s.portals[m.Name]
		if p == nil {
			return "", 0, failure(invalidCursor, "portal %q does not exist", clip(m.Name))
		}
		st, codes = p.st, p.codes
	default:
		return "", 0, failure(protocolViolation, "statements and portals can be described, and nothing else")
	}
	if err := s.allowed(st); err != nil && st.kind != transaction {
		return st.text, st.from, err
	}
	if err := s.describe(st); err != nil {
		return st.text, st.from, err
	}
	if m.ObjectType == 'S' {
		s.conn.send(&pgproto3.ParameterDescription{ParameterOIDs: st.parameters})
	}
	if st.columns == nil {
		s.conn.send(&pgproto3.NoData{})
	} else {
		// It costs as much as a text of that length, and a few bytes ask for it. It is sent when
		// the place is given back: a client may take its time to read.
		var shape *pgproto3.RowDescription
		if err := s.running(func(ctx context.Context) error {
			return s.server.options.Dispatcher.Read(ctx, s.user.Name, shapeBytes*len(st.columns),
				func() { shape = describing(st.columns, codes) })
		}); err != nil {
			return st.text, st.from, err
		}
		s.conn.send(shape)
	}
	return "", 0, nil
}

// shapeBytes is what a column takes in a row description, about.
const shapeBytes = 32

// execute runs a portal, or goes on with it.
func (s *session) execute(m *pgproto3.Execute) (text string, offset int, err error) {
	p := s.portals[m.Portal]
	if p == nil {
		return "", 0, failure(invalidCursor, "portal %q does not exist", clip(m.Portal))
	}
	st := p.st
	if st.kind == empty {
		s.conn.send(&pgproto3.EmptyQueryResponse{})
		return "", 0, nil
	}
	if err := s.allowed(st); err != nil {
		return st.text, st.from, err
	}
	if err := s.still(); err != nil {
		return st.text, st.from, err
	}
	if p.result == nil {
		if err := s.runPortal(p); err != nil {
			return st.text, st.from, err
		}
	} else if p.result.columns == nil {
		return st.text, st.from, failure(notInState, "portal %q cannot be run", clip(m.Portal))
	}
	if p.result.copy != nil {
		r := *p.result
		err := s.sending(r.rows, func() error { return s.sendCopy(&r) })
		p.result.columns, p.result.copy, p.result.rows, p.result.answer = nil, nil, nil, nil
		s.hold(p) // nothing, any more
		return st.text, st.from, err
	}
	return st.text, st.from, s.rows(p, int64(m.MaxRows))
}

// runPortal runs a portal that was not run yet.
func (s *session) runPortal(p *portal) error {
	if p.cursor != nil {
		return s.askCursor(p)
	}
	r, err := s.run(p.st, p.values)
	if err != nil {
		return err
	}
	shown := r.columns
	if p.st.described && r.copy == nil {
		// What was described is what is sent.
		if shown = p.st.columns; len(p.st.columns) != len(r.columns) {
			return internal()
		}
	}
	return s.result(p, r, shown)
}

// result gives a portal its result, where there is room for it.
func (s *session) result(p *portal, r *result, shown []column) error {
	p.result, p.shown = r, shown
	if err := s.hold(p); err != nil {
		p.result = nil
		return err
	}
	return nil
}

// rows sends the next rows of a portal, most of them at once.
func (s *session) rows(p *portal, most int64) error {
	next := p.rest()
	more := most > 0 && most < 1<<31 && int64(len(next)) > most
	if more {
		next = next[:most]
	}
	if err := s.sending(next, func() error { return s.sendRows(p.shown, p.codes, next) }); err != nil {
		return err
	}
	p.at += len(next)
	if more {
		if err := s.hold(p); err != nil {
			return err
		}
		s.conn.send(&pgproto3.PortalSuspended{})
		return nil
	}
	s.complete(p.result, len(next))
	if p.cursor == nil {
		p.result.rows = p.result.rows[:0:0]
		p.at = 0
	}
	return s.hold(p)
}

// close closes a statement or a portal; what does not exist is closed already.
func (s *session) close(m *pgproto3.Close) error {
	switch m.ObjectType {
	case 'S':
		s.closeStatement(m.Name)
	case 'P':
		s.closePortal(m.Name)
	default:
		return failure(protocolViolation, "statements and portals can be closed, and nothing else")
	}
	s.conn.send(&pgproto3.CloseComplete{})
	return nil
}
