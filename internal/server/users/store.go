package users

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"time"
)

// Store is the file. It is safe for concurrent use.
type Store struct {
	db     *sql.DB
	path   string
	secret []byte // makes salts for names, whether there is a user or not
	now    func() time.Time

	guard  *guard
	hashes *hashes
	trail  *trail

	find, still, findToken *sql.Stmt
	close                  sync.Once
	closed                 error
}

// Open opens the users at a path, and makes the file where there is none.
func Open(path string) (*Store, error) { return openAt(path, time.Now) }

func openAt(path string, now func() time.Time) (_ *Store, err error) {
	db, err := open(path)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, db.Close())
		}
	}()
	s := &Store{db: db, path: path, now: now, hashes: newHashes()}
	if err := db.QueryRow("SELECT secret FROM secret").Scan(&s.secret); err != nil || len(s.secret) != 32 {
		return nil, fmt.Errorf("the users in %s are damaged: restore the file from a copy (their secret is missing)", path)
	}
	for _, p := range []struct {
		to  **sql.Stmt
		sql string
	}{
		{&s.find, "SELECT name, role, created, revoked, epoch, argon2, scram FROM users WHERE name = ?"},
		{&s.still, "SELECT epoch FROM users WHERE name = ? AND revoked = 0"},
		{&s.findToken, "SELECT " + tokenColumns + ", hash FROM tokens WHERE id = ?"},
	} {
		if *p.to, err = db.Prepare(p.sql); err != nil {
			return nil, unreadable(path, err)
		}
	}
	s.trail = newTrail(db, now)
	s.guard = newGuard(now, s.trail.pairs)
	return s, nil
}

// Close closes the file, when the trail is in it.
func (s *Store) Close() error {
	s.close.Do(func() { s.closed = errors.Join(s.trail.close(), s.db.Close()) })
	return s.closed
}

// row is a user with what proves who they are.
type row struct {
	User
	argon2, scram string
}

// lookup finds a user, or returns nil. A name that no user can have is looked up like any other.
func (s *Store) lookup(ctx context.Context, name string) (*row, error) {
	var r row
	var created, revoked int64
	err := s.find.QueryRowContext(ctx, name).Scan(&r.Name, &r.Role, &created, &revoked, &r.epoch, &r.argon2, &r.scram)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, s.trouble(ctx, err)
	}
	r.Created, r.Revoked = unstamp(created), unstamp(revoked)
	return &r, nil
}

// trouble puts an error of the file into words.
func (s *Store) trouble(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return unreadable(s.path, err)
}

// change runs a transaction that is done as a whole or not at all.
func (s *Store) change(ctx context.Context, f func(tx *sql.Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	tx, err := s.db.BeginTx(background, nil)
	if err != nil {
		return s.trouble(ctx, err)
	}
	defer tx.Rollback()
	if err := f(tx); err != nil {
		if code(err) != 0 {
			return s.trouble(ctx, err)
		}
		return err
	}
	if err := tx.Commit(); err != nil {
		return s.trouble(ctx, err)
	}
	return nil
}

// Add adds a user with a password; with a drawn one, which is returned, where it is empty.
func (s *Store) Add(ctx context.Context, name string, role Role, password string) (string, error) {
	if err := errors.Join(Name(name), role.check()); err != nil {
		return "", err
	}
	// Asked before the slow part, and decided by the table.
	if r, err := s.lookup(ctx, name); err != nil {
		return "", err
	} else if r != nil {
		return "", ErrExists
	}
	password, hash, keys, err := s.credentials(ctx, name, password)
	if err != nil {
		return "", err
	}
	return drawn(password, s.change(ctx, func(tx *sql.Tx) error {
		done, err := tx.Exec("INSERT INTO users (name, role, created, argon2, scram) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING", name,
			string(role), stamp(s.now()), hash, keys)
		return one(done, err, ErrExists)
	}))
}

// SetPassword gives a user another password, and lets them in again who was revoked. Their tokens
// stay as they are: those that were revoked stay so.
func (s *Store) SetPassword(ctx context.Context, name, password string) (string, error) {
	if r, err := s.lookup(ctx, name); err != nil {
		return "", err
	} else if r == nil {
		return "", ErrUnknown
	}
	password, hash, keys, err := s.credentials(ctx, name, password)
	if err != nil {
		return "", err
	}
	return drawn(password, s.change(ctx, func(tx *sql.Tx) error {
		done, err := tx.Exec("UPDATE users SET argon2 = ?, scram = ?, revoked = 0, epoch = epoch + 1 WHERE name = ?", hash, keys, name)
		return one(done, err, ErrUnknown)
	}))
}

// counts says whether something is there, and not revoked yet.
func counts(row *sql.Row, missing error) error {
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
		err := counts(tx.QueryRow("SELECT revoked FROM users WHERE name = ?", name), ErrUnknown)
		if err != nil {
			return err
		}
		now := stamp(s.now())
		if _, err := tx.Exec("UPDATE users SET revoked = ?, epoch = epoch + 1 WHERE name = ?", now, name); err != nil {
			return err
		}
		_, err = tx.Exec("UPDATE tokens SET revoked = ? WHERE user = ? AND revoked = 0", now, name)
		return err
	})
}

// drawn returns a password only where it counts.
func drawn(password string, err error) (string, error) {
	if err != nil {
		return "", err
	}
	return password, nil
}

// one wants a statement to have changed one row.
func one(done sql.Result, err, none error) error {
	if err != nil {
		return err
	}
	if n, err := done.RowsAffected(); err != nil || n != 1 {
		return errors.Join(err, none)
	}
	return nil
}

// List returns all users by name.
func (s *Store) List(ctx context.Context) ([]User, error) {
	rows, err := s.db.QueryContext(ctx, "SELECT name, role, created, revoked, epoch FROM users ORDER BY name")
	if err != nil {
		return nil, s.trouble(ctx, err)
	}
	defer rows.Close()
	var out []User
	for rows.Next() {
		var u User
		var created, revoked int64
		if err := rows.Scan(&u.Name, &u.Role, &created, &revoked, &u.epoch); err != nil {
			return nil, s.trouble(ctx, err)
		}
		u.Created, u.Revoked = unstamp(created), unstamp(revoked)
		out = append(out, u)
	}
	if err := rows.Err(); err != nil {
		return nil, s.trouble(ctx, err)
	}
	return out, nil
}

// Still says whether somebody who came in is still a user, with the password that they came in
// with: nil, or ErrDenied. It is asked before every statement, so it is cheap, and an open
// connection ends when its user or its password does.
func (s *Store) Still(ctx context.Context, u User) error {
	epoch, err := s.epoch(ctx, u.Name)
	if err == nil && epoch != u.epoch {
		err = ErrDenied
	}
	return err
}

// epoch is read from the file each time: SQLite keeps its pages in memory and asks the log whether
// they still count, which is the cache that we would build.
func (s *Store) epoch(ctx context.Context, name string) (int64, error) {
	var epoch int64
	err := s.still.QueryRowContext(ctx, name).Scan(&epoch)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return 0, ErrDenied
	case err != nil:
		return 0, s.trouble(ctx, err)
	}
	return epoch, nil
}
