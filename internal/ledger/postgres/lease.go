package postgres

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/jackc/pgx/v5"
)

// membership is what makes us one of the servers that share the ledger: we say that we are here,
// and give up those who do not.
type membership struct {
	l      *Ledger
	server int64 // our number among the servers
	lease  time.Duration
	told   func() // who is told that a server has died
}

func (m *membership) join() error {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return m.l.conn.QueryRow(background, m.l.database.in("INSERT INTO ledger.servers (host) VALUES ($1) RETURNING server"),
		fmt.Sprintf("%s, process %d", host, os.Getpid())).Scan(&m.server)
}

// keepRenewing says every now and then that we are here, over a connection of its own, and looks
// for others that are not any more.
func (m *membership) keepRenewing() {
	var conn *pgx.Conn
	defer func() { hangUp(conn) }()
	// Others are looked after beside this, because that waits for the lock: whoever has it may wait
	// for the database for longer than a lease.
	caring := make(chan struct{}, 1)
	var reach unbroken
	reach.reached(time.Now(), m.lease)
	for {
		select {
		case <-m.l.stop:
			return
		case <-time.After(m.lease / 5):
		}
		ctx, cancel := context.WithTimeout(background, m.lease/2)
		lapsed, gone, err := m.renewLease(ctx, &conn)
		cancel()
		if err == nil {
			lapsed = reach.reached(time.Now(), m.lease) && lapsed
		}
		switch {
		case err != nil: // tried again; the next transaction of ours finds out whether we were given up
			hangUp(conn)
			conn = nil
		case gone:
			m.l.Lock()
			m.l.halt(errFenced)
			m.l.Unlock()
			return
		default:
			select {
			case caring <- struct{}{}:
				m.l.helpers.Go(func() {
					defer func() { <-caring }()
					if !lapsed || m.giveUpLapsed() == nil {
						m.tellDeaths()
					}
				})
			default:
			}
		}
	}
}

// unbroken is for how long a server has reached the database without a break. Where the database
// was away nobody could renew a lease, and those who reach it first must not give up all others:
// they are waited for, for as long as a lease.
type unbroken struct{ since, last time.Time }

// reached takes in that the database was reached, and reports whether whoever has not done so for a
// lease is gone. Who was here a fifth of a lease before a break lacks a lease after four fifths.
func (u *unbroken) reached(now time.Time, lease time.Duration) bool {
	if now.Sub(u.last) > lease*3/4 {
		u.since = now
	}
	u.last = now
	return now.Sub(u.since) >= lease
}

// giveUpFirst is giveUpLapsed for who has just come, and knows of no break but one that the
// database knows of: it has not been there for a lease itself.
func (m *membership) giveUpFirst() error {
	var long bool
	err := writer{m.l}.persist(func() error {
		return m.l.conn.QueryRow(background, "SELECT pg_postmaster_start_time() < clock_timestamp() - make_interval(secs => $1)",
			m.lease.Seconds()).Scan(&long)
	})
	if err != nil || !long {
		return err
	}
	return m.giveUpLapsed()
}

// renewLease renews our lease. It reports whether somebody else's is over, and whether we were
// given up.
func (m *membership) renewLease(ctx context.Context, conn **pgx.Conn) (lapsed, gone bool, err error) {
	if *conn == nil {
		if *conn, err = m.l.database.dial(ctx); err != nil {
			return false, false, err
		}
	}
	tag, err := (*conn).Exec(ctx,
		m.l.database.in("UPDATE ledger.servers SET seen = clock_timestamp() WHERE server = $1 AND state = 'serving'"), m.server)
	if err != nil || tag.RowsAffected() == 0 {
		return false, err == nil, err
	}
	err = (*conn).QueryRow(ctx, m.l.database.in("SELECT EXISTS (SELECT FROM ledger.servers WHERE "+leaseIsOver+")"), m.lease.Seconds()).
		Scan(&lapsed)
	return lapsed, false, err
}

// leaseIsOver is true of a server whose lease is over. It is the database's clock that says so, and
// all that it decides is that a server ends.
const leaseIsOver = "state = 'serving' AND seen < clock_timestamp() - make_interval(secs => $1)"

// giveUpLapsed gives up the servers whose leases are over. It has the head locked, so no
// transaction of theirs is under way, and the next one finds that they were given up. What they may
// have been answering is written down, to be counted once, by whoever is there to do it.
func (m *membership) giveUpLapsed() error {
	m.l.Lock()
	defer m.l.Unlock()
	if err := m.l.StopCause(); err != nil {
		return err
	}
	w := writer{m.l}
	if failure := w.Begin(); failure != nil {
		return failure
	}
	err := m.recordDeaths()
	end := "COMMIT"
	if err != nil {
		end = "ROLLBACK"
	}
	if _, e := m.l.conn.Exec(background, end); e != nil || err != nil {
		w.drop() // where the fate is not known it is done again
		return errors.Join(err, e)
	}
	return nil
}

func (m *membership) recordDeaths() error {
	rows, err := m.l.conn.Query(background,
		m.l.database.in("UPDATE ledger.servers SET state = 'gone' WHERE "+leaseIsOver+" RETURNING server"),
		m.lease.Seconds())
	if err != nil {
		return err
	}
	gone, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil || len(gone) == 0 {
		return err
	}
	open := m.l.State.Underway()
	sequences, datasets := make([]int64, 0, len(open)), make([]string, 0, len(open))
	for sequence, dataset := range open {
		sequences, datasets = append(sequences, int64(sequence)), append(datasets, dataset)
	}
	_, err = m.l.conn.Exec(background, m.l.database.in(`INSERT INTO ledger.deaths (server, dataset)
SELECT DISTINCT r.server, t.dataset FROM unnest($1::bigint[], $2::text[]) AS t (sequence, dataset)
JOIN ledger.records r ON r.sequence = t.sequence WHERE r.server = ANY ($3::bigint[]) ON CONFLICT DO NOTHING`), sequences, datasets, gone)
	return err
}

// tellDeaths tells that somebody has died who was not counted yet.
func (m *membership) tellDeaths() {
	m.l.Lock()
	tell := m.told
	m.l.Unlock()
	if tell != nil && len(m.l.Died()) > 0 {
		tell()
	}
}

// leave says that we end, over a new connection where the one that we had was lost since: whoever
// ends without is counted as one that died.
func (m *membership) leave() (err error) {
	ctx, cancel := context.WithTimeout(background, leaveTimeout)
	defer cancel()
	for {
		if m.l.conn == nil || m.l.conn.IsClosed() {
			m.l.conn = nil // what follows may fail
			m.l.conn, err = m.l.database.dial(ctx)
		}
		if m.l.conn != nil {
			_, err = m.l.conn.Exec(ctx, m.l.database.in(sayLeft), m.server)
			if err == nil {
				return nil
			}
			hangUp(m.l.conn)
			m.l.conn = nil
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(50 * time.Millisecond):
		}
	}
}

const sayLeft = "UPDATE ledger.servers SET state = 'left' WHERE server = $1 AND state = 'serving'"

// leaveTimeout is how long is tried to say that we end.
const leaveTimeout = 5 * time.Second

// WhenDied names who is told that there is something for [Ledger.Died] to return: another server
// has died.
func (l *Ledger) WhenDied(tell func()) {
	l.Lock()
	defer l.Unlock()
	l.servers.told = tell
}

// Died implements [ledger.Ledger]: the datasets that servers which ended without closing the ledger
// may have been answering questions about, once for each server that is not counted yet.
func (l *Ledger) Died() (all []string) {
	if l.LockForRead(background) != nil {
		return nil
	}
	defer l.Unlock()
	_ = writer{l}.persist(func() error {
		rows, err := l.conn.Query(background, l.database.in("SELECT dataset FROM ledger.deaths WHERE NOT counted ORDER BY server, dataset"))
		if err != nil {
			return err
		}
		all, err = pgx.CollectRows(rows, pgx.RowTo[string])
		return err
	})
	return all
}

// CountCrash implements [groupcommit.Store]: one that is not counted yet is counted in the
// transaction that writes the incident.
func (w writer) CountCrash(dataset string) (bool, error) {
	tag, err := w.conn.Exec(background, w.database.in(`UPDATE ledger.deaths SET counted = true WHERE (server, dataset) =
(SELECT server, dataset FROM ledger.deaths WHERE dataset = $1 AND NOT counted ORDER BY server LIMIT 1)`), dataset)
	return err == nil && tag.RowsAffected() == 1, err
}
