package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
)

// renew says every now and then that we are here, over a connection of its own, and looks for
// others that are not any more.
func (l *Ledger) renew() {
	var conn *pgx.Conn
	defer func() { hangUp(conn) }()
	// Others are looked after beside this, because that waits for the turn: whoever has it may wait
	// for the database for longer than a lease.
	caring := make(chan struct{}, 1)
	var reach unbroken
	reach.reached(time.Now(), l.lease)
	for {
		select {
		case <-l.stop:
			return
		case <-time.After(l.lease / 5):
		}
		ctx, cancel := context.WithTimeout(background, l.lease/2)
		lapsed, gone, err := l.seen(ctx, &conn)
		cancel()
		if err == nil {
			lapsed = reach.reached(time.Now(), l.lease) && lapsed
		}
		switch {
		case err != nil: // tried again; the next transaction of ours finds out whether we were given up
			hangUp(conn)
			conn = nil
		case gone:
			l.Take()
			l.halt(errFenced)
			l.Leave()
			return
		default:
			select {
			case caring <- struct{}{}:
				l.helpers.Go(func() {
					defer func() { <-caring }()
					if !lapsed || l.bury() == nil {
						l.mourn()
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

// buryFirst is bury for who has just come, and knows of no break but one that the database knows
// of: it has not been there for a lease itself.
func (l *Ledger) buryFirst() error {
	var long bool
	err := writer{l}.persist(func() error {
		return l.conn.QueryRow(background, "SELECT pg_postmaster_start_time() < clock_timestamp() - make_interval(secs => $1)",
			l.lease.Seconds()).Scan(&long)
	})
	if err != nil || !long {
		return err
	}
	return l.bury()
}

// seen renews our lease. It reports whether somebody else's is over, and whether we were given up.
func (l *Ledger) seen(ctx context.Context, conn **pgx.Conn) (lapsed, gone bool, err error) {
	if *conn == nil {
		if *conn, err = l.place.dial(ctx); err != nil {
			return false, false, err
		}
	}
	tag, err := (*conn).Exec(ctx, l.place.in("UPDATE ledger.servers SET seen = clock_timestamp() WHERE server = $1 AND state = 'serving'"),
		l.server)
	if err != nil || tag.RowsAffected() == 0 {
		return false, err == nil, err
	}
	err = (*conn).QueryRow(ctx, l.place.in("SELECT EXISTS (SELECT FROM ledger.servers WHERE "+over+")"), l.lease.Seconds()).Scan(&lapsed)
	return lapsed, false, err
}

// over is true of a server whose lease is over. It is the database's clock that says so, and all
// that it decides is that a server ends.
const over = "state = 'serving' AND seen < clock_timestamp() - make_interval(secs => $1)"

// bury gives up the servers whose leases are over. It has the head locked, so no transaction of
// theirs is under way, and the next one finds that they were given up. What they may have been
// answering is written down, to be counted once, by whoever is there to do it.
func (l *Ledger) bury() error {
	l.Take()
	defer l.Leave()
	if err := l.Stopped(); err != nil {
		return err
	}
	w := writer{l}
	if failure := w.Begin(); failure != nil {
		return failure
	}
	err := l.giveUp()
	end := "COMMIT"
	if err != nil {
		end = "ROLLBACK"
	}
	if _, e := l.conn.Exec(background, end); e != nil || err != nil {
		w.drop() // where the fate is not known it is done again
		return errors.Join(err, e)
	}
	return nil
}

func (l *Ledger) giveUp() error {
	rows, err := l.conn.Query(background, l.place.in("UPDATE ledger.servers SET state = 'gone' WHERE "+over+" RETURNING server"),
		l.lease.Seconds())
	if err != nil {
		return err
	}
	gone, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil || len(gone) == 0 {
		return err
	}
	open := l.State.Underway()
	sequences, datasets := make([]int64, 0, len(open)), make([]string, 0, len(open))
	for sequence, dataset := range open {
		sequences, datasets = append(sequences, int64(sequence)), append(datasets, dataset)
	}
	_, err = l.conn.Exec(background, l.place.in(`INSERT INTO ledger.deaths (server, dataset)
SELECT DISTINCT r.server, t.dataset FROM unnest($1::bigint[], $2::text[]) AS t (sequence, dataset)
JOIN ledger.records r ON r.sequence = t.sequence WHERE r.server = ANY ($3::bigint[]) ON CONFLICT DO NOTHING`), sequences, datasets, gone)
	return err
}

// WhenDied names who is told that there is something for [Ledger.Died] to return: another server
// has died.
func (l *Ledger) WhenDied(tell func()) {
	l.Take()
	defer l.Leave()
	l.told = tell
}

// mourn tells that somebody has died who was not counted yet.
func (l *Ledger) mourn() {
	l.Take()
	tell := l.told
	l.Leave()
	if tell != nil && len(l.Died()) > 0 {
		tell()
	}
}

// Died implements [ledger.Ledger]: the datasets that servers which ended without closing the ledger
// may have been answering questions about, once for each server that is not counted yet.
func (l *Ledger) Died() (all []string) {
	if l.Look(background) != nil {
		return nil
	}
	defer l.Leave()
	_ = writer{l}.persist(func() error {
		rows, err := l.conn.Query(background, l.place.in("SELECT dataset FROM ledger.deaths WHERE NOT counted ORDER BY server, dataset"))
		if err != nil {
			return err
		}
		all, err = pgx.CollectRows(rows, pgx.RowTo[string])
		return err
	})
	return all
}

// Crash implements [desk.Store]: one that is not counted yet is counted in the transaction that
// writes the incident.
func (w writer) Crash(dataset string) (bool, error) {
	tag, err := w.conn.Exec(background, w.place.in(`UPDATE ledger.deaths SET counted = true WHERE (server, dataset) =
(SELECT server, dataset FROM ledger.deaths WHERE dataset = $1 AND NOT counted ORDER BY server LIMIT 1)`), dataset)
	return err == nil && tag.RowsAffected() == 1, err
}
