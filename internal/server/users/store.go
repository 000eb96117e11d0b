package users

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/discreet-dp/discreet/internal/username"
)

// Store is the users. It is safe for concurrent use.
type Store struct {
	*storage
	keys     keyMaker
	hashes   *hashes
	attempts *attempts
	visits   *Visits
	saved    *SavedItems

	find, findEpoch, findToken preparedQuery
	close                      sync.Once
	closed                     error
}

func (s *Store) Visits() *Visits { return s.visits }

func (s *Store) SavedItems() *SavedItems { return s.saved }

func openAt(where string, create bool, now func() time.Time) (_ *Store, err error) {
	db, err := openBackend(where, create)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, db.Close())
		}
	}()
	all := &storage{db: db, now: now}
	s := &Store{storage: all, hashes: newHashes(), visits: &Visits{storage: all}, saved: &SavedItems{storage: all}}
	if err := db.QueryRow("SELECT secret FROM main.secret").Scan(&s.keys.secret); err != nil || len(s.keys.secret) != 32 {
		return nil, fmt.Errorf("the users in %s are damaged: restore them from a copy (their secret is missing)", where)
	}
	for _, p := range []struct {
		to  *preparedQuery
		sql string
	}{
		{&s.find, "SELECT name, role, created, revoked, epoch, argon2, scram FROM main.users WHERE name = ?"},
		{&s.findEpoch, "SELECT epoch FROM main.users WHERE name = ? AND revoked = 0"},
		{&s.findToken, "SELECT " + tokenColumns + ", hash FROM main.tokens WHERE id = ?"},
		{&s.visits.query, visitQuery},
	} {
		if *p.to, err = db.prepare(p.sql); err != nil {
			return nil, db.explain(err)
		}
	}
	trail := newTrail(db, now)
	s.attempts = &attempts{storage: all, trail: trail, guard: newGuard(now, trail.pairs)}
	s.visits.attempts = s.attempts
	return s, nil
}

// Close lets go of the users, when the trail is in its place.
func (s *Store) Close() error {
	s.close.Do(func() { s.closed = errors.Join(s.attempts.trail.close(), s.db.Close()) })
	return s.closed
}

// Tell says whom to tell that users cannot be read or written, at most once a minute: whoever tries
// to come in is only told that nobody can. It is called before the first attempt.
func (s *Store) Tell(tell func(error)) { s.storage.reportTo = tell }

// row is a user with what proves who they are.
type row struct {
	User
	argon2, scram string
}

// findUser finds a user, or returns nil. A name that no user can have is looked up like any other.
func (s *Store) findUser(ctx context.Context, name string) (*row, error) {
	var r row
	var created, revoked int64
	err := s.find(ctx, name).Scan(&r.Name, &r.Role, &created, &revoked, &r.epoch, &r.argon2, &r.scram)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, s.explain(ctx, err)
	}
	r.Created, r.Revoked = unstamp(created), unstamp(revoked)
	return &r, nil
}

// Add adds a user with a password; with a drawn one, which is returned, where it is empty.
func (s *Store) Add(ctx context.Context, name string, role Role, password string) (string, error) {
	if err := errors.Join(CheckName(name), role.check()); err != nil {
		return "", err
	}
	// Asked before the slow part, and decided by the table.
	if r, err := s.findUser(ctx, name); err != nil {
		return "", err
	} else if r != nil {
		return "", ErrExists
	}
	password, hash, keys, err := s.credentials(ctx, name, password)
	if err != nil {
		return "", err
	}
	return passwordIf(password, s.change(ctx, func(tx *sql.Tx) error {
		done, err := tx.Exec("INSERT INTO main.users (name, role, created, argon2, scram) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
			name, string(role), stamp(s.now()), hash, keys)
		return expectOneRow(done, err, ErrExists)
	}))
}

// SetPassword gives a user another password, and lets them in again who was revoked. Their tokens
// stay as they are: those that were revoked stay so.
func (s *Store) SetPassword(ctx context.Context, name, password string) (string, error) {
	if r, err := s.findUser(ctx, name); err != nil {
		return "", err
	} else if r == nil {
		return "", ErrUnknown
	}
	password, hash, keys, err := s.credentials(ctx, name, password)
	if err != nil {
		return "", err
	}
	return passwordIf(password, s.change(ctx, func(tx *sql.Tx) error {
		done, err := tx.Exec("UPDATE main.users SET argon2 = ?, scram = ?, revoked = 0, epoch = epoch + 1 WHERE name = ?", hash, keys, name)
		return expectOneRow(done, err, ErrUnknown)
	}))
}

// checkCounts says whether something is there, and not revoked yet.
func checkCounts(row *sql.Row, missing error) error {
	var revoked int64
	err := row.Scan(&revoked)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return missing
	case err == nil && revoked != 0:
		return ErrRevoked
	}
	return err
}

// Revoke keeps a user out, with all tokens, from now on.
func (s *Store) Revoke(ctx context.Context, name string) error {
	return s.change(ctx, func(tx *sql.Tx) error {
		err := checkCounts(tx.QueryRow("SELECT revoked FROM main.users WHERE name = ?", name), ErrUnknown)
		if err != nil {
			return err
		}
		now := stamp(s.now())
		if _, err := tx.Exec("UPDATE main.users SET revoked = ?, epoch = epoch + 1 WHERE name = ?", now, name); err != nil {
			return err
		}
		_, err = tx.Exec(`UPDATE main.tokens SET revoked = ? WHERE "user" = ? AND revoked = 0`, now, name)
		return err
	})
}

// passwordIf returns a password only where it counts.
func passwordIf(password string, err error) (string, error) {
	if err != nil {
		return "", err
	}
	return password, nil
}

// expectOneRow wants a statement to have changed one row.
func expectOneRow(done sql.Result, err, none error) error {
	if err != nil {
		return err
	}
	if n, err := done.RowsAffected(); err != nil || n != 1 {
		return errors.Join(err, none)
	}
	return nil
}

func (s *Store) List(ctx context.Context) ([]User, error) {
	scan := func(r *sql.Rows) (u User, err error) {
		var created, revoked int64
		err = r.Scan(&u.Name, &u.Role, &created, &revoked, &u.epoch)
		u.Created, u.Revoked = unstamp(created), unstamp(revoked)
		return u, err
	}
	return selectAll(ctx, s.storage, scan, "SELECT name, role, created, revoked, epoch FROM main.users ORDER BY name")
}

// CheckAgain says whether somebody who came in is still a user, with the password that they came in
// with: nil, or ErrDenied. It is asked before every statement, so it is cheap, and an open
// connection ends when its user or its password does.
func (s *Store) CheckAgain(ctx context.Context, u User) error {
	epoch, err := s.epoch(ctx, u.Name)
	if err == nil && epoch != u.epoch {
		err = ErrDenied
	}
	return err
}

// epoch is read each time. SQLite keeps the pages of a file in memory and asks the log whether they
// still count, which is the cache that we would build; what a database confirmed to another server
// is what it tells us.
func (s *Store) epoch(ctx context.Context, name string) (epoch int64, err error) {
	err = s.findEpoch(ctx, name).Scan(&epoch)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return 0, ErrDenied
	case err != nil:
		return 0, s.explain(ctx, err)
	}
	return epoch, nil
}

// Vouch lets somebody in whom a provider vouches for that the owner trusts, if there is such a
// user. It is an attempt like every other: it is in the trail, and who has to wait has to wait here
// too.
//
// The name is the user's to the last byte. Somebody who types their own name may write it in
// several ways, which are one: here they have proved who they are by a password. At a provider ana,
// ａna and ana with a soft hyphen in it are three people, and only one of them is Ana.
func (s *Store) Vouch(ctx context.Context, a Attempt) (User, error) {
	if username.Check(a.Name) != "" {
		s.attempts.trail.add(a, loginDenied, "")
		return User{}, ErrDenied
	}
	if err := s.attempts.refuseLocked(a); err != nil {
		return User{}, err
	}
	r, err := s.findUser(ctx, a.Name)
	if err != nil {
		return User{}, err
	}
	return s.attempts.decide(a, r, func() bool { return true })
}
