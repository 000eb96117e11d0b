package pgwire

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/discreet-dp/discreet/internal/server/catalog"
)

// portal is a statement with values, which is run when it is first executed.
type portal struct {
	name   string
	st     *statement
	values []argument
	codes  []int16 // formats of the result
	result *result // nil before it is run
	at     int     // the row that it stands on, from 1; 0 before the first, and one more than there are behind the last
	held   int     // bytes that count as held
	cursor *cursor // of a DECLARE
	shown  []column
	bytes  int
	since  time.Time // when it was made
}

// rest are the rows that the client does not have yet.
func (p *portal) rest() [][]any { return p.result.rows[min(p.at, p.size()):] }

// keepStatement makes room for a statement, or says that there is none.
func (s *session) keepStatement(st *statement) error {
	if len(s.statements) >= maxPrepared || s.kept+st.size() > maxKept {
		return failure(outOfMemory, "the session keeps as many prepared statements as it can").hinting("DEALLOCATE some, or all")
	}
	st.bytes, st.since = st.size(), time.Now()
	s.kept += st.bytes
	if s.latest != nil {
		s.latest.question = nil
	}
	s.latest = st
	s.statements[st.name] = st
	return nil
}

func (s *session) closeStatement(name string) {
	if st := s.statements[name]; st != nil {
		s.kept -= st.bytes
		delete(s.statements, name)
		st.question = nil // a portal may keep the statement, which is counted no more
		if s.latest == st {
			s.latest = nil
		}
	}
}

func (s *session) closeStatements() {
	for name := range s.statements {
		s.closeStatement(name)
	}
}

func (s *session) keepPortal(p *portal) error {
	p.bytes = len(p.name) + 2*len(p.codes) + 256
	for _, v := range p.values {
		p.bytes += v.size()
	}
	if p.cursor != nil { // whose statement is kept by nobody else
		p.bytes += p.st.size() + len(p.cursor.request)
	}
	if len(s.portals) >= maxPortals || s.kept+p.bytes > maxKept {
		return failure(outOfMemory, "the session has as many portals as it can").hinting("close some, or end the transaction")
	}
	s.kept, p.since = s.kept+p.bytes, time.Now()
	s.portals[p.name] = p
	return nil
}

func (s *session) closePortal(name string) {
	if p := s.portals[name]; p != nil {
		s.kept -= p.bytes
		s.held -= p.held
		s.server.connections.hold(s.user.Name, -p.held)
		delete(s.portals, name)
	}
}

func (s *session) closePortals() {
	for name := range s.portals {
		s.closePortal(name)
	}
}

// hold counts what a suspended portal keeps: all of its rows, from the first time that some are
// left to the end of the last. A cursor can go back, so it keeps them until it is closed.
func (s *session) hold(p *portal) error {
	size := 0
	if len(p.rest()) > 0 || p.cursor != nil {
		if size = p.held; size == 0 {
			size = weight(p.result.rows)
		}
	}
	if more := size - p.held; more > 0 && (s.held+more > maxHeld || !s.server.connections.hold(s.user.Name, more)) {
		return failure(outOfMemory, "suspended portals hold as much as they can").hinting("fetch all rows at once, or close some")
	} else if more < 0 {
		s.server.connections.hold(s.user.Name, more)
	}
	s.held += size - p.held
	p.held = size
	return nil
}

// weight is about how many bytes rows take.
func weight(rows [][]any) int {
	n := 0
	for _, row := range rows {
		n += 24
		for _, v := range row {
			n += 16
			switch v := v.(type) {
			case string:
				n += len(v)
			case json.Number:
				n += 16 + len(v)
			case []any:
				n += weight([][]any{v})
			}
		}
	}
	return n
}

// keptNames are what the session has by names, for its catalogue.
func (s *session) keptNames() (cursors []catalog.Cursor, prepared []catalog.Prepared) {
	for name, p := range s.portals {
		if name == "" {
			continue
		}
		k := catalog.Cursor{Name: name, Statement: p.st.sql(), Created: p.since}
		if c := p.cursor; c != nil {
			k.Hold, k.Binary, k.Scroll = c.hold, c.binary, !c.still
		}
		cursors = append(cursors, k)
	}
	for name, st := range s.statements {
		if name != "" {
			prepared = append(prepared, catalog.Prepared{Name: name, Statement: st.sql(), Parameters: st.parameters, SQL: st.named,
				Created: st.since})
		}
	}
	slices.SortFunc(cursors, func(a, b catalog.Cursor) int { return strings.Compare(a.Name, b.Name) })
	slices.SortFunc(prepared, func(a, b catalog.Prepared) int { return strings.Compare(a.Name, b.Name) })
	return cursors, prepared
}
