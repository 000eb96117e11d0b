package users

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"strings"
	"time"
)

// A visit is what somebody is in who signed in with a browser: from a password, or from what an
// OpenID provider said, to signing out. The browser holds its secret in a cookie.

// Ends are when visits end by themselves.
type Ends struct {
	Idle  time.Duration // after so long without a request
	Whole time.Duration // after so long, whatever there was
}

// UsualEnds are those of somebody who goes for lunch, and of a long day.
var UsualEnds = Ends{Idle: 30 * time.Minute, Whole: 12 * time.Hour}

// LongestVisit is what a visit can take at most, whatever its ends: its row is forgotten then.
const LongestVisit = 30 * 24 * time.Hour

const (
	visitPrefix = "dsv_"
	visitLength = len(visitPrefix) + secretLength
	maxVisits   = 100 // of one user; the oldest ends where there would be more
)

// BeginVisit begins a visit of somebody who came in, and returns its secret, which is stored
// nowhere.
func (s *Store) BeginVisit(ctx context.Context, u User) (secret string, err error) {
	secret = visitPrefix + alphabet.EncodeToString(random(32))
	hash := sha256.Sum256([]byte(secret))
	now := s.now()
	err = s.change(ctx, func(tx *sql.Tx) error {
		// They came in a moment ago, and may have been revoked since.
		var epoch int64
		err := tx.QueryRow("SELECT epoch FROM main.users WHERE name = ? AND revoked = 0", u.Name).Scan(&epoch)
		if errors.Is(err, sql.ErrNoRows) || err == nil && epoch != u.epoch {
			return ErrDenied
		}
		if err != nil {
			return err
		}
		if _, err := tx.Exec("DELETE FROM main.visits WHERE created < ?", stamp(now.Add(-LongestVisit))); err != nil {
			return err
		}
		if _, err := tx.Exec(`DELETE FROM main.visits WHERE "user" = ?1 AND created <=
			(SELECT created FROM main.visits WHERE "user" = ?1 ORDER BY created DESC LIMIT 1 OFFSET ?2)`, u.Name, maxVisits-1); err != nil {
			return err
		}
		_, err = tx.Exec(`INSERT INTO main.visits (hash, "user", epoch, created, used) VALUES (?, ?, ?, ?, ?)`, hash[:], u.Name, epoch,
			stamp(now), stamp(now))
		return err
	})
	if err != nil {
		return "", err
	}
	return secret, nil
}

// visit is one as it is stored, with its user.
type visit struct {
	user                        row
	epoch, created, used, ended int64
}

const visitQuestion = `SELECT u.name, u.role, u.created, u.revoked, u.epoch, v.epoch, v.created, v.used, v.ended
	FROM main.visits v JOIN main.users u ON u.name = v."user" WHERE v.hash = ?`

// visit finds a visit, or returns nil. It is found by a hash, so how long that takes tells nothing
// about a secret.
func (s *Store) visit(ctx context.Context, secret string) (*visit, error) {
	if len(secret) != visitLength || !strings.HasPrefix(secret, visitPrefix) {
		secret = "" // nobody's
	}
	hash := sha256.Sum256([]byte(secret))
	var v visit
	var created, revoked int64
	err := s.findVisit(ctx, hash[:]).Scan(&v.user.Name, &v.user.Role, &created, &revoked, &v.user.epoch, &v.epoch, &v.created, &v.used,
		&v.ended)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, s.trouble(ctx, err)
	}
	v.user.Created, v.user.Revoked = unstamp(created), unstamp(revoked)
	return &v, nil
}

// over says how a visit has ended; nothing where it goes on.
func (v *visit) over(now time.Time, e Ends) string {
	switch {
	case v.ended != 0 || !v.user.Revoked.IsZero() || v.epoch != v.user.epoch:
		return outRevoked
	case now.Sub(unstamp(v.used)) >= e.Idle || now.Sub(unstamp(v.created)) >= min(e.Whole, LongestVisit):
		return outExpired
	}
	return ""
}

// Visit checks the secret of a visit, and notes that it is used. One that has ended is written into
// the trail as a token would be; one that goes on is not: who signed in is there already.
func (s *Store) Visit(ctx context.Context, a Attempt, secret string, e Ends) (User, error) {
	v, err := s.visit(ctx, secret)
	if err != nil {
		return User{}, err
	}
	if v == nil {
		s.trail.add(a, outDenied, "")
		return User{}, ErrDenied
	}
	now := s.now()
	if how := v.over(now, e); how != "" {
		a.Name = v.user.Name
		s.trail.add(a, how, "")
		return User{}, ErrDenied
	}
	// Not with every request: a page sends many.
	if now.Sub(unstamp(v.used)) >= min(time.Minute, e.Idle/8) {
		hash := sha256.Sum256([]byte(secret))
		_, err := s.db.ExecContext(ctx, "UPDATE main.visits SET used = ?1 WHERE hash = ?2 AND used < ?1", stamp(now), hash[:])
		if err != nil {
			return User{}, s.trouble(ctx, err)
		}
	}
	s.guard.came(pairOf(a).address)
	return v.user.User, nil
}

// StillVisits says whether a visit that came in goes on, for a question whose turn comes later:
// nil, or ErrDenied.
func (s *Store) StillVisits(ctx context.Context, secret string, e Ends) error {
	v, err := s.visit(ctx, secret)
	if err != nil {
		return err
	}
	if v == nil || v.over(s.now(), e) != "" {
		return ErrDenied
	}
	return nil
}

// EndVisit ends a visit, at all servers. One that has ended, or never was, stays so.
func (s *Store) EndVisit(ctx context.Context, secret string) error {
	hash := sha256.Sum256([]byte(secret))
	return s.change(ctx, func(tx *sql.Tx) error {
		_, err := tx.Exec("UPDATE main.visits SET ended = ? WHERE hash = ? AND ended = 0", stamp(s.now()), hash[:])
		return err
	})
}

// EndVisits ends all visits of a user.
func (s *Store) EndVisits(ctx context.Context, name string) error {
	return s.change(ctx, func(tx *sql.Tx) error {
		_, err := tx.Exec(`UPDATE main.visits SET ended = ? WHERE "user" = ? AND ended = 0`, stamp(s.now()), name)
		return err
	})
}
