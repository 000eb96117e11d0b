package pgwire

import (
	pg "github.com/pganalyze/pg_query_go/v6"
)

// runFetch does a FETCH or a MOVE. They come to the same places and the same rows as in PostgreSQL.
func (s *session) runFetch(n *pg.FetchStmt) (*result, error) {
	p := s.portals[n.Portalname]
	if p == nil || n.Portalname == "" || !p.fetchable() {
		return nil, failure(invalidCursor, "cursor %q does not exist", clip(n.Portalname))
	}
	walk := &walk{portal: p, move: n.Ismove}
	if walk.needsRows(n) && p.result == nil {
		if err := s.runPortal(p); err != nil {
			return nil, placeless(err)
		}
	}
	if err := walk.to(n.Direction, n.HowMany); err != nil {
		return nil, err
	}
	out := &result{tag: "FETCH", columns: p.columns(), rows: walk.rows, codes: p.codes, shared: true}
	if n.Ismove {
		out = &result{tag: "MOVE", count: walk.count}
	}
	if p.result != nil {
		out.answer, p.result.answer = p.result.answer, nil // it is told of once
	}
	return out, nil
}

// shapeFetch are the columns of a FETCH: those of its cursor.
func (s *session) shapeFetch(n *pg.FetchStmt) ([]column, error) {
	p := s.portals[n.Portalname]
	if p == nil || n.Portalname == "" || !p.fetchable() {
		return nil, failure(invalidCursor, "cursor %q does not exist", clip(n.Portalname))
	}
	if n.Ismove {
		return nil, nil
	}
	if err := s.describe(p.st); err != nil {
		return nil, placeless(err)
	}
	return p.columns(), nil
}

// walk goes through the rows of a portal. A portal stands before its first row, on a row, or behind
// its last, as portal.at says.
type walk struct {
	*portal
	move  bool
	rows  [][]any
	count int // rows that were passed or taken
}

// needsRows says whether a FETCH needs the answer: FETCH 0 before the first row does not.
func (w *walk) needsRows(n *pg.FetchStmt) bool { return n.HowMany != 0 || w.result != nil }

// to does a FETCH of a direction.
func (w *walk) to(direction pg.FetchDirection, n int64) error {
	switch direction {
	case pg.FetchDirection_FETCH_BACKWARD:
		n = -n
	case pg.FetchDirection_FETCH_ABSOLUTE:
		return w.absolute(n)
	case pg.FetchDirection_FETCH_RELATIVE:
		if n != 0 {
			return w.land(w.target(n))
		}
	}
	switch {
	case n > 0:
		return w.forward(n)
	case n < 0:
		return w.backward(-n)
	}
	if w.at == 0 || w.at > w.size() {
		return nil
	}
	w.take(w.at) // the row that it stands on, once more
	return nil
}

func (p *portal) size() int {
	if p.result == nil {
		return 0
	}
	return len(p.result.rows)
}

// target is where a step of n rows ends, at most one before the first and one behind the last.
func (w *walk) target(n int64) int {
	switch end := w.size() + 1; {
	case n > int64(end-w.at):
		return end
	case n < int64(-w.at):
		return 0
	default:
		return w.at + int(n)
	}
}

func (w *walk) absolute(n int64) error {
	end := int64(w.size() + 1)
	switch {
	case n >= 0:
		return w.land(int(min(n, end)))
	default:
		return w.land(int(max(end+n, 0)))
	}
}

// land goes to a place and takes the row that is there.
func (w *walk) land(at int) error {
	if at < w.at || at == w.at && at > 0 && at <= w.size() {
		if err := w.mayReturn(); err != nil {
			return err
		}
	}
	if w.at = at; at > 0 && at <= w.size() {
		w.take(at)
	}
	return nil
}

func (w *walk) take(at int) {
	w.count++
	if !w.move {
		w.rows = append(w.rows, w.result.rows[at-1])
	}
}

func (w *walk) forward(n int64) error {
	for end := w.target(n); w.at < end; {
		if w.at++; w.at <= w.size() {
			w.take(w.at)
		}
	}
	return nil
}

func (w *walk) backward(n int64) error {
	if err := w.mayReturn(); err != nil {
		return err
	}
	for end := w.target(-n); w.at > end; {
		if w.at--; w.at > 0 {
			w.take(w.at)
		}
	}
	return nil
}

func (w *walk) mayReturn() error {
	if w.cursor == nil || w.cursor.still {
		return failure(notInState, "cursor can only scan forward").hinting("Declare it with SCROLL option to enable backward scan.")
	}
	return nil
}

// fetchable says whether a portal has rows to fetch.
func (p *portal) fetchable() bool {
	return p.st.kind == question || p.st.kind == catalogue || p.st.kind == explaining
}

// columns are those that are sent.
func (p *portal) columns() []column {
	if p.shown != nil {
		return p.shown
	}
	return p.st.columns
}
