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
func (r *router) routeDeclare(st *statement, n *pg.DeclareCursorStmt) error {
	has := func(option int32) bool { return n.Options&option != 0 }
	if has(scrollCursor) && has(noScrollCursor) {
		return failure(invalidCursorDefinition, "cannot specify both SCROLL and NO SCROLL")
	}
	st.cursor = cursor{name: n.Portalname, hold: has(holdCursor), still: has(noScrollCursor), binary: has(binaryCursor)}
	return r.enclose(st, n.Query, pg.Token_FOR)
}

func (r *runner) runDeclare(st *statement, values []argument) (*result, error) {
	c := st.cursor
	switch {
	case !c.hold && !r.transactions.block.open && !r.several:
		return nil, failure(noTransaction, "DECLARE CURSOR can only be used in transaction blocks").
			hinting("BEGIN first, or declare it WITH HOLD")
	case r.objects.portals[c.name] != nil:
		return nil, failure(duplicateCursor, "cursor %q already exists", clip(c.name))
	}
	if err := named(c.name); err != nil {
		return nil, err
	}
	if err := r.describer.describeInner(st); err != nil {
		return nil, err
	}
	r.objects.declared++
	c.serial, c.settings, c.request = r.objects.declared, r.settings.now.dp, r.settings.take()
	p := &portal{name: c.name, st: st.alone(), values: values, cursor: &c}
	if c.binary {
		p.codes = []int16{1}
	}
	if err := r.objects.keepPortal(p); err != nil {
		return nil, err
	}
	return &result{tag: "DECLARE CURSOR"}, nil
}

// closeCursorsAfter closes the cursors that were declared after a savepoint.
func (o *objectStore) closeCursorsAfter(serial int) {
	for name, p := range o.portals {
		if p.cursor != nil && p.cursor.serial > serial {
			o.closePortal(name)
		}
	}
}

// endPortals closes what a transaction leaves behind: all portals, but for cursors WITH HOLD, and
// these too where the transaction that declared them is undone.
func (o *objectStore) endPortals(kept int) {
	for name, p := range o.portals {
		if p.cursor == nil || !p.cursor.hold || p.cursor.serial > kept {
			o.closePortal(name)
		}
	}
}

// runCursor asks what a cursor is for, with the settings of its DECLARE, the first time that a row
// is needed. What fails can be asked again, under the same name where the DECLARE had one.
func (r *runner) runCursor(p *portal) (err error) {
	if p.result != nil {
		return nil
	}
	var out *result
	if p.st.kind == question {
		q := r.asker.question(p.st, p.st.sql(), p.values, p.cursor.request)
		q.Settings = p.st.shaped(p.cursor.settings)
		out, err = r.asker.answer(q)
	} else {
		out, err = r.run(p.st, p.values)
	}
	if err != nil {
		return placeless(err)
	}
	if len(out.columns) != len(p.st.columns) {
		return internal()
	}
	// What was described is what is sent.
	return r.objects.setResult(p, out, p.st.columns)
}

// runFetch does a FETCH or a MOVE. They come to the same places and the same rows as in PostgreSQL.
func (r *runner) runFetch(n *pg.FetchStmt) (*result, error) {
	p := r.objects.portals[n.Portalname]
	if p == nil || n.Portalname == "" || !p.fetchable() {
		return nil, failure(invalidCursor, "cursor %q does not exist", clip(n.Portalname))
	}
	walk := &walk{portal: p, move: n.Ismove}
	if walk.needsRows(n) && p.result == nil {
		if err := r.runPortal(p); err != nil {
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
