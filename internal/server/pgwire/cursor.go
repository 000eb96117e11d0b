package pgwire

import (
	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/api"
)

// cursor is what a portal has that a DECLARE made.
type cursor struct {
	name        string
	hold        bool // it outlives the transaction
	forwardOnly bool // NO SCROLL: it goes forward alone
	binary      bool
	serial      int // counts cursors, so that going back to a savepoint closes those after it

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
	st.cursor = cursor{name: n.Portalname, hold: has(holdCursor), forwardOnly: has(noScrollCursor), binary: has(binaryCursor)}
	return r.enclose(st, n.Query, pg.Token_FOR)
}

func (r *runner) runDeclare(st *statement, values []argument) (*result, error) {
	c := st.cursor
	switch {
	case !c.hold && !r.transactions.block.open && !r.several:
		return nil, failure(noTransaction, "DECLARE CURSOR can only be used in transaction blocks").
			withHint("BEGIN first, or declare it WITH HOLD")
	case r.objects.portals[c.name] != nil:
		return nil, failure(duplicateCursor, "cursor %q already exists", shorten(c.name))
	}
	if err := checkName(c.name); err != nil {
		return nil, err
	}
	if err := r.describer.describeInner(st); err != nil {
		return nil, err
	}
	r.objects.declared++
	c.serial, c.settings, c.request = r.objects.declared, r.settings.current.dp, st.own.request(r.settings.takeRequestName())
	p := &portal{name: c.name, st: st.detachInner(), values: values, cursor: &c}
	if c.binary {
		p.codes = []int16{1}
	}
	if err := r.objects.keepPortal(p); err != nil {
		return nil, err
	}
	return &result{tag: "DECLARE CURSOR"}, nil
}

// runCursor asks what a cursor is for, with the settings of its DECLARE, the first time that a row
// is needed. What fails can be asked again, under the same name where the DECLARE had one.
func (r *runner) runCursor(p *portal) (err error) {
	if p.result != nil {
		return nil
	}
	var out *result
	if p.st.kind == questionStatement {
		q := r.asker.question(p.st, p.st.sql(), p.values, p.cursor.request)
		q.Settings = p.st.settingsFrom(p.cursor.settings)
		out, err = r.asker.answer(p.st, q)
	} else {
		out, err = r.run(p.st, p.values)
	}
	if err != nil {
		return dropPosition(err)
	}
	if len(out.columns) != len(p.st.columns) {
		return internalFailure()
	}
	// What was described is what is sent.
	return r.objects.setResult(p, out, p.st.columns)
}

// runFetch does a FETCH or a MOVE. They come to the same positions and the same rows as in
// PostgreSQL.
func (r *runner) runFetch(n *pg.FetchStmt) (*result, error) {
	p, err := r.objects.findCursor(n.Portalname)
	if err != nil {
		return nil, err
	}
	walk := &cursorWalk{portal: p, move: n.Ismove}
	if walk.needsRows(n) && p.result == nil {
		if err := r.runPortal(p); err != nil {
			return nil, dropPosition(err)
		}
	}
	if err := walk.fetch(n.Direction, n.HowMany); err != nil {
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

// cursorWalk goes through the rows of a portal. A portal stands before its first row, on a row, or
// behind its last, as portal.position says.
type cursorWalk struct {
	*portal
	move  bool
	rows  [][]any
	count int // rows that were passed or taken
}

// needsRows says whether a FETCH needs the answer: FETCH 0 before the first row does not.
func (w *cursorWalk) needsRows(n *pg.FetchStmt) bool { return n.HowMany != 0 || w.result != nil }

func (w *cursorWalk) fetch(direction pg.FetchDirection, n int64) error {
	switch direction {
	case pg.FetchDirection_FETCH_BACKWARD:
		n = -n
	case pg.FetchDirection_FETCH_ABSOLUTE:
		return w.absolute(n)
	case pg.FetchDirection_FETCH_RELATIVE:
		if n != 0 {
			return w.moveTo(w.target(n))
		}
	}
	switch {
	case n > 0:
		return w.forward(n)
	case n < 0:
		return w.backward(-n)
	}
	if w.position == 0 || w.position > w.rowCount() {
		return nil
	}
	w.takeRow(w.position) // the row that it stands on, once more
	return nil
}

func (p *portal) rowCount() int {
	if p.result == nil {
		return 0
	}
	return len(p.result.rows)
}

// target is where a step of n rows ends, at most one before the first and one behind the last.
func (w *cursorWalk) target(n int64) int {
	switch end := w.rowCount() + 1; {
	case n > int64(end-w.position):
		return end
	case n < int64(-w.position):
		return 0
	default:
		return w.position + int(n)
	}
}

func (w *cursorWalk) absolute(n int64) error {
	end := int64(w.rowCount() + 1)
	switch {
	case n >= 0:
		return w.moveTo(int(min(n, end)))
	default:
		return w.moveTo(int(max(end+n, 0)))
	}
}

// moveTo goes to a position and takes the row that is there.
func (w *cursorWalk) moveTo(at int) error {
	if at < w.position || at == w.position && at > 0 && at <= w.rowCount() {
		if err := w.refuseBackward(); err != nil {
			return err
		}
	}
	if w.position = at; at > 0 && at <= w.rowCount() {
		w.takeRow(at)
	}
	return nil
}

func (w *cursorWalk) takeRow(at int) {
	w.count++
	if !w.move {
		w.rows = append(w.rows, w.result.rows[at-1])
	}
}

func (w *cursorWalk) forward(n int64) error {
	for end := w.target(n); w.position < end; {
		if w.position++; w.position <= w.rowCount() {
			w.takeRow(w.position)
		}
	}
	return nil
}

func (w *cursorWalk) backward(n int64) error {
	if err := w.refuseBackward(); err != nil {
		return err
	}
	for end := w.target(-n); w.position > end; {
		if w.position--; w.position > 0 {
			w.takeRow(w.position)
		}
	}
	return nil
}

func (w *cursorWalk) refuseBackward() error {
	if w.cursor == nil || w.cursor.forwardOnly {
		return failure(notInState, "cursor can only scan forward").withHint("Declare it with SCROLL option to enable backward scan.")
	}
	return nil
}

func (p *portal) hasRows() bool {
	return p.st.kind == questionStatement || p.st.kind == catalogueStatement || p.st.kind == explainStatement
}

func (p *portal) columns() []column {
	if p.sentColumns != nil {
		return p.sentColumns
	}
	return p.st.columns
}
