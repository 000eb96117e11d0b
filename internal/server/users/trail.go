package users

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/discreet-dp/discreet/internal/lru"
)

// Login is one line of the trail. Attempts of one hour that are alike in everything but their time
// share a line.
type Login struct {
	At       time.Time // of the first
	Name     string
	Address  string
	Listener string
	Outcome  string // in, denied, locked, expired, revoked or abandoned
	Token    string // its id, where one was used
	Count    int
	Until    time.Time // of the last
}

const (
	loginIn        = "in"
	loginDenied    = "denied"
	loginLocked    = "locked"
	loginExpired   = "expired"
	loginRevoked   = "revoked"
	loginAbandoned = "abandoned"
)

const (
	maxLinesKept    = 100_000 // lines of those who came in, and as many of those who did not
	maxLinesPerHour = 20      // lines of failures for an address; then all names are one
	severalNames    = "(several)"
	maxOpenLines    = 4096 // lines that can still be added to
	writeDelay      = time.Second
)

// trail writes lines. The first of its kind in an hour is in the file before the attempt is
// answered, and what is like it is counted in memory and in the file a second later, so that a
// flood costs no writes. Those who come in and those who do not have each their own: strangers
// choose how many lines they write, and neither does anybody wait for these who has one already,
// nor do they drive out of memory which one that is.
type trail struct {
	db        *backend
	succeeded *trailPart
	failed    *trailPart
	writing   sync.Mutex // so that of the two one writes at a time, and each waits for one line of the other
}

func newTrail(db *backend, now func() time.Time) *trail {
	t := &trail{db: db}
	t.succeeded, t.failed = newTrailPart(t, now), newTrailPart(t, now)
	return t
}

// add writes down how an attempt ended. Only for those who come in does an error matter: nobody
// does without a line.
func (t *trail) add(a Attempt, outcome, token string) error {
	if outcome == loginIn {
		return t.succeeded.add(a, outcome, token)
	}
	return t.failed.add(a, outcome, token)
}

func (t *trail) flush() error { return errors.Join(t.succeeded.flushNow(), t.failed.flushNow()) }

func (t *trail) close() error { return errors.Join(t.succeeded.close(), t.failed.close()) }

// trailPart is the lines of those who came in, or of those who did not.
type trailPart struct {
	*trail
	now func() time.Time

	mu      sync.Mutex
	lines   *lru.Map[lineKey, *line]
	names   *lru.Map[string, int] // lines of failures by address, in this hour
	hour    int64
	dirty   map[*line]bool
	timer   *time.Timer
	written int
	ended   bool
}

// lineKey is what attempts of one line have in common.
type lineKey struct {
	name, address, listener, outcome, token string
	hour                                    int64
}

// line is one that can still be added to.
type line struct {
	id    int64
	more  int // not in the file yet
	until time.Time
}

func newTrailPart(t *trail, now func() time.Time) *trailPart {
	return &trailPart{trail: t, now: now, lines: lru.New[lineKey, *line](maxOpenLines), names: lru.New[string, int](maxTallies),
		dirty: map[*line]bool{}}
}

func (t *trailPart) add(a Attempt, outcome, token string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended {
		return errors.New("the users are closed")
	}
	now := t.now()
	hour := now.Unix() / 3600
	if hour != t.hour {
		t.hour, t.names = hour, lru.New[string, int](maxTallies)
	}
	key := lineKey{printable(a.Name, 64), printable(a.Address, 64), printable(a.Listener, 16), outcome, token, hour}
	l, ok := t.lines.Get(key)
	if !ok && outcome != loginIn {
		// The network and not the address: whoever has many addresses has few networks.
		network := pairOf(a).address
		n, _ := t.names.Get(network)
		if n >= maxLinesPerHour {
			key.name, key.address = severalNames, network
			l, ok = t.lines.Get(key)
		}
		t.names.Put(network, n+1, 1)
	}
	if ok {
		l.more++
		l.until = now
		t.dirty[l] = true
		if t.timer == nil {
			t.timer = time.AfterFunc(writeDelay, t.flushLater)
		}
		return nil
	}
	return t.begin(key, now)
}

// begin writes a line that is the first of its kind.
func (t *trailPart) begin(key lineKey, now time.Time) error {
	t.writing.Lock()
	defer t.writing.Unlock()
	good := boolBit(key.outcome == loginIn)
	id, err := t.db.insert("INSERT INTO main.logins (at, until, count, name, address, door, outcome, token, good) "+
		"VALUES (?, ?, 1, ?, ?, ?, ?, ?, ?)", stamp(now), stamp(now), key.name, key.address, key.listener, key.outcome, key.token, good)
	if err != nil {
		return err
	}
	t.lines.Put(key, &line{id: id}, 1)
	if key.token != "" && good == 1 {
		if _, err := t.db.Exec("UPDATE main.tokens SET used = ? WHERE id = ?", stamp(now), key.token); err != nil {
			return err
		}
	}
	if t.written++; t.written%1000 == 1 {
		return t.trim(maxLinesKept)
	}
	return nil
}

func boolBit(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// trim forgets the oldest lines, of failures and of the others each for itself: a flood of failures
// does not wash away who came in.
func (t *trail) trim(most int) error {
	tx, err := t.db.Begin()
	if err != nil {
		return err
	}
	defer tx.Rollback()
	for good := range 2 {
		_, err := tx.Exec(`DELETE FROM main.logins WHERE good = ?1 AND id <=
			(SELECT id FROM main.logins WHERE good = ?1 ORDER BY id DESC LIMIT 1 OFFSET ?2)`, good, most)
		if err != nil {
			return err
		}
	}
	return tx.Commit()
}

func (t *trailPart) flushLater() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.ended {
		t.flush()
	}
}

func (t *trailPart) flushNow() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.flush()
}

func (t *trailPart) flush() error {
	if t.timer != nil {
		t.timer.Stop()
		t.timer = nil
	}
	if len(t.dirty) == 0 {
		return nil
	}
	t.writing.Lock()
	defer t.writing.Unlock()
	tx, err := t.db.Begin()
	if err != nil {
		return err
	}
	defer tx.Rollback()
	for l := range t.dirty {
		if _, err := tx.Exec("UPDATE main.logins SET count = count + ?, until = ? WHERE id = ?", l.more, stamp(l.until), l.id); err != nil {
			return err
		}
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	for l := range t.dirty {
		l.more = 0
	}
	clear(t.dirty)
	return nil
}

func (t *trailPart) close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended {
		return nil
	}
	t.ended = true
	return t.flush()
}

// pairs returns who came in lately, and from where.
func (t *trail) pairs() map[pair]time.Time {
	rows, err := t.db.Query(`SELECT name, address, MAX(until) FROM
		(SELECT * FROM main.logins WHERE good = 1 ORDER BY id DESC LIMIT 10000) AS lately GROUP BY name, address`)
	if err != nil {
		return nil // the guard is stricter then
	}
	defer rows.Close()
	out := map[pair]time.Time{}
	for rows.Next() {
		var a Attempt
		var at int64
		if rows.Scan(&a.Name, &a.Address, &at) == nil {
			out[pairOf(a)] = unstamp(at)
		}
	}
	if rows.Err() != nil {
		return nil
	}
	return out
}

// Logins returns the last n lines of the trail, of one name or of all, the newest first.
func (s *Store) Logins(ctx context.Context, name string, n int) ([]Login, error) {
	if err := s.attempts.trail.flush(); err != nil {
		return nil, s.explain(ctx, err)
	}
	query := "SELECT at, until, count, name, address, door, outcome, token FROM main.logins ORDER BY id DESC LIMIT ?"
	args := []any{max(n, 0)}
	if name != "" {
		query, args = strings.Replace(query, "ORDER", "WHERE name = ? ORDER", 1), []any{name, max(n, 0)}
	}
	scan := func(r *sql.Rows) (l Login, err error) {
		var at, until int64
		err = r.Scan(&at, &until, &l.Count, &l.Name, &l.Address, &l.Listener, &l.Outcome, &l.Token)
		l.At, l.Until = unstamp(at), unstamp(until)
		return l, err
	}
	return selectAll(ctx, s.storage, scan, query, args...)
}

// printable makes a text from outside fit for a line: so many characters, all of which can be
// printed.
func printable(text string, most int) string {
	if len(text) > most*utf8.UTFMax {
		text = text[:most*utf8.UTFMax]
	}
	out := []rune(strings.ToValidUTF8(text, "?"))
	if len(out) > most {
		out = out[:most]
	}
	for i, r := range out {
		if !unicode.IsPrint(r) {
			out[i] = '?'
		}
	}
	return string(out)
}
