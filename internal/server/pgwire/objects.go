package pgwire

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/discreet-dp/discreet/internal/pgcatalog"
	"github.com/discreet-dp/discreet/internal/server/clientlimits"
)

// portal is a statement with values, which is run when it is first executed.
type portal struct {
	name        string
	st          *statement
	values      []argument
	codes       []int16 // formats of the result
	result      *result // nil before it is run
	position    int     // the row that it stands on, from 1; 0 before the first, and one more than there are behind the last
	heldBytes   int     // of its rows
	cursor      *cursor // of a DECLARE
	sentColumns []column
	keptBytes   int
	createdAt   time.Time
}

// unsentRows are the rows that the client does not have yet.
func (p *portal) unsentRows() [][]any { return p.result.rows[min(p.position, p.rowCount()):] }

// objectStore has what a client keeps by names: prepared statements and portals.
type objectStore struct {
	memory     *heldMemory
	statements map[string]*statement
	portals    map[string]*portal
	latest     *statement // the one whose tree is kept
	declared   int        // cursors, so far
}

// keepStatement makes room for a statement, or says that there is none. Its tree is kept where
// there is room for that too.
func (o *objectStore) keepStatement(st *statement) error {
	if len(o.statements) >= maxPreparedStatements {
		return failure(outOfMemory, "the session has as many prepared statements as it can hold").withHint("DEALLOCATE some, or all")
	}
	if o.latest != nil {
		o.dropTree(o.latest)
	}
	err := o.memory.retain(st)
	if err != nil && st.question != nil {
		st.question = nil
		err = o.memory.retain(st)
	}
	if err != nil {
		return err
	}
	st.preparedAt, o.latest, o.statements[st.name] = time.Now(), st, st
	return nil
}

func (o *objectStore) dropTree(st *statement) {
	st.question = nil
	o.memory.recount(st) // which can only be less
	o.latest = nil
}

func (o *objectStore) closeStatement(name string) {
	if st := o.statements[name]; st != nil {
		delete(o.statements, name)
		if o.latest == st {
			o.dropTree(st)
		}
		o.memory.release(st) // which a portal may keep
	}
}

func (o *objectStore) closeStatements() {
	for name := range o.statements {
		o.closeStatement(name)
	}
}

func (o *objectStore) keepPortal(p *portal) error {
	bytes := len(p.name) + 2*len(p.codes) + 512
	for _, v := range p.values {
		bytes += v.size()
	}
	if p.cursor != nil {
		bytes += len(p.cursor.request)
	}
	if len(o.portals) >= maxPortals {
		return failure(outOfMemory, "the session has as many portals as it can hold").withHint("close some, or end the transaction")
	}
	if err := o.memory.keep(bytes); err != nil {
		return err
	}
	if err := o.memory.retain(p.st); err != nil {
		o.memory.keep(-bytes)
		return err
	}
	p.keptBytes, p.createdAt, o.portals[p.name] = bytes, time.Now(), p
	return nil
}

func (o *objectStore) closePortal(name string) {
	if p := o.portals[name]; p != nil {
		delete(o.portals, name)
		o.memory.keep(-p.keptBytes)
		o.memory.share.Give(p.heldBytes)
		o.memory.release(p.st)
	}
}

func (o *objectStore) closePortals() {
	for name := range o.portals {
		o.closePortal(name)
	}
}

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

// findCursor is what FETCH and MOVE are for: a portal with a name and with rows.
func (o *objectStore) findCursor(name string) (*portal, error) {
	p := o.portals[name]
	if p == nil || name == "" || !p.hasRows() {
		return nil, failure(invalidCursor, "cursor %q does not exist", shorten(name))
	}
	return p, nil
}

func (o *objectStore) names() (cursors []pgcatalog.Cursor, prepared []pgcatalog.Prepared) {
	for name, p := range o.portals {
		if name == "" {
			continue
		}
		k := pgcatalog.Cursor{Name: name, Statement: p.st.sql(), Created: p.createdAt}
		if c := p.cursor; c != nil {
			k.Hold, k.Binary, k.Scroll = c.hold, c.binary, !c.forwardOnly
		}
		cursors = append(cursors, k)
	}
	for name, st := range o.statements {
		if name != "" {
			prepared = append(prepared, pgcatalog.Prepared{Name: name, Statement: st.sql(), Parameters: st.parameterTypes,
				SQL: st.fromPrepare, Created: st.preparedAt})
		}
	}
	slices.SortFunc(cursors, func(a, b pgcatalog.Cursor) int { return strings.Compare(a.Name, b.Name) })
	slices.SortFunc(prepared, func(a, b pgcatalog.Prepared) int { return strings.Compare(a.Name, b.Name) })
	return cursors, prepared
}

// setResult gives a portal its result, where there is room for it.
func (o *objectStore) setResult(p *portal, r *result, shown []column) error {
	p.result, p.sentColumns = r, shown
	if err := o.memory.holdRows(p); err != nil {
		p.result = nil
		return err
	}
	return nil
}

// heldMemory counts what one connection holds, before it is there.
type heldMemory struct {
	share *clientlimits.Share // all of it
	kept  int                 // of them, bytes of what is kept: statements, portals, views
	most  int                 // bytes that may be kept
}

// borrow counts bytes that a message takes while it is heard. What is small is not counted: who
// holds as much as they may can still say ROLLBACK, and CLOSE.
func (m *heldMemory) borrow(n int) error {
	if n <= readBufferBytes {
		return nil
	}
	if err := m.share.Take(n); err != nil {
		return fullError(err)
	}
	return nil
}

func (m *heldMemory) giveBack(n int) {
	if n > readBufferBytes {
		m.share.Give(n)
	}
}

// keep counts bytes, more or fewer, of what the session keeps: statements, portals and
// temporary views.
func (m *heldMemory) keep(more int) error {
	if more > 0 && m.kept+more > m.most {
		return failure(outOfMemory, "the session holds as much data as it can").
			withHint("DEALLOCATE statements, close cursors, or end the transaction")
	}
	if err := m.share.Take(more); err != nil {
		return fullError(err)
	}
	m.share.Give(-more)
	m.kept += more
	return nil
}

// retain counts a statement, once for all that keep it: its name, and portals.
func (m *heldMemory) retain(st *statement) error {
	if st.keepers == 0 {
		size := st.size()
		if err := m.keep(size); err != nil {
			return err
		}
		st.keptBytes = size
	}
	st.keepers++
	return nil
}

// release counts one fewer that keeps a statement.
func (m *heldMemory) release(st *statement) {
	if st.keepers--; st.keepers == 0 {
		m.keep(-st.keptBytes)
		st.keptBytes = 0
	}
}

// recount counts what became of a statement that is kept: it was described, or its tree is gone.
func (m *heldMemory) recount(st *statement) error {
	if st.keepers == 0 {
		return nil
	}
	size := st.size()
	if err := m.keep(size - st.keptBytes); err != nil {
		return err
	}
	st.keptBytes = size
	return nil
}

// size is about how many bytes the rows of a result take, and their error bars.
func (r *result) size() int {
	n, _ := clientlimits.RowsSize(r.rows)
	if r.answer != nil {
		for _, row := range r.answer.Errors {
			n += 24 + 16*len(row)
		}
	}
	return n
}

// holdRows counts the rows of a portal, all of them from when they are there until the client has
// the last. A cursor can go back, so it keeps them until it is closed.
func (m *heldMemory) holdRows(p *portal) error {
	size := 0
	if len(p.unsentRows()) > 0 || p.cursor != nil {
		if size = p.heldBytes; size == 0 {
			size = p.result.size()
		}
	}
	if err := m.share.Take(size - p.heldBytes); err != nil {
		return fullError(err)
	}
	m.share.Give(p.heldBytes - size)
	p.heldBytes = size
	return nil
}

// whileSending counts what sending rows takes: one at a time is written down, and copied to where
// messages wait.
func (m *heldMemory) whileSending(rows [][]any, send func() error) error {
	_, largest := clientlimits.RowsSize(rows)
	if err := m.borrow(2 * largest); err != nil {
		return err
	}
	defer m.giveBack(2 * largest)
	return send()
}

// fullError says that there is no room, and when there may be.
func fullError(err error) error {
	var e *clientlimits.FullError
	if !errors.As(err, &e) {
		return err
	}
	hint := "read or close what your other sessions and requests have open"
	if e.Others {
		hint = "others must read their answers first"
	}
	return failure(outOfMemory, "%s", e.Error()).withHint(fmt.Sprintf("%s, or try again in %d seconds, when unread answers are dropped; "+
		"what was paid for is free", hint, int(e.Wait.Seconds())))
}
