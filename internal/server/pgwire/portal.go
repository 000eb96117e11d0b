package pgwire

import (
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

// keepStatement makes room for a statement, or says that there is none. Its tree is kept where
// there is room for that too.
func (s *session) keepStatement(st *statement) error {
	if len(s.statements) >= maxPrepared {
		return failure(outOfMemory, "the session keeps as many prepared statements as it can").hinting("DEALLOCATE some, or all")
	}
	if s.latest != nil {
		s.dropTree(s.latest)
	}
	err := s.retain(st)
	if err != nil && st.question != nil {
		st.question = nil
		err = s.retain(st)
	}
	if err != nil {
		return err
	}
	st.since, s.latest, s.statements[st.name] = time.Now(), st, st
	return nil
}

func (s *session) dropTree(st *statement) {
	st.question = nil
	s.recount(st) // which can only be less
	s.latest = nil
}

func (s *session) closeStatement(name string) {
	if st := s.statements[name]; st != nil {
		delete(s.statements, name)
		if s.latest == st {
			s.dropTree(st)
		}
		s.release(st) // which a portal may keep
	}
}

func (s *session) closeStatements() {
	for name := range s.statements {
		s.closeStatement(name)
	}
}

func (s *session) keepPortal(p *portal) error {
	bytes := len(p.name) + 2*len(p.codes) + 512
	for _, v := range p.values {
		bytes += v.size()
	}
	if p.cursor != nil {
		bytes += len(p.cursor.request)
	}
	if len(s.portals) >= maxPortals {
		return failure(outOfMemory, "the session has as many portals as it can").hinting("close some, or end the transaction")
	}
	if err := s.keep(bytes); err != nil {
		return err
	}
	if err := s.retain(p.st); err != nil {
		s.keep(-bytes)
		return err
	}
	p.bytes, p.since, s.portals[p.name] = bytes, time.Now(), p
	return nil
}

func (s *session) closePortal(name string) {
	if p := s.portals[name]; p != nil {
		delete(s.portals, name)
		s.keep(-p.bytes)
		s.share.Give(p.held)
		s.release(p.st)
	}
}

func (s *session) closePortals() {
	for name := range s.portals {
		s.closePortal(name)
	}
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
