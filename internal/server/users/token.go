package users

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"database/sql"
	"errors"
	"strings"
	"time"
	"unicode/utf8"
)

// Token is a password for programs, without its secret.
type Token struct {
	ID      string
	User    string
	Label   string
	Created time.Time
	Expires time.Time // zero means never
	Revoked time.Time
	Used    time.Time // about when it was last used: within the hour
}

// A token is written dsc_<id>_<secret>: an id of 50 bits, and a secret of 256.
const (
	tokenPrefix  = "dsc_"
	idLength     = 10
	secretLength = 52
	tokenLength  = len(tokenPrefix) + idLength + 1 + secretLength
)

const tokenColumns = `id, "user", label, created, expires, revoked, used`

func drawToken() (id, secret string) {
	id = alphabet.EncodeToString(random(7))[:idLength]
	return id, tokenPrefix + id + "_" + alphabet.EncodeToString(random(32))
}

// readToken returns the id of a token, where the text is one.
func readToken(secret string) (id string, ok bool) {
	if len(secret) != tokenLength || !strings.HasPrefix(secret, tokenPrefix) || secret[len(tokenPrefix)+idLength] != '_' {
		return "", false
	}
	id = secret[len(tokenPrefix):][:idLength]
	for _, c := range []byte(id + secret[tokenLength-secretLength:]) {
		if !(c >= '0' && c <= '9' || c >= 'a' && c <= 'z') {
			return "", false
		}
	}
	return id, true
}

// NewToken draws a token for a user, and returns its secret, which is stored nowhere.
func (s *Store) NewToken(ctx context.Context, name, label string, expires time.Time) (secret string, t Token, err error) {
	now := s.now()
	if !utf8.ValidString(label) || printable(label, 100) != label {
		return "", Token{}, &InvalidError{"the label", "must be at most 100 printable characters"}
	}
	if !expires.IsZero() && !expires.After(now) {
		return "", Token{}, &InvalidError{"the token", "would already have expired; give it a future date"}
	}
	id, secret := drawToken()
	hash := sha256.Sum256([]byte(secret))
	err = s.change(ctx, func(tx *sql.Tx) error {
		var revoked int64
		err := tx.QueryRow("SELECT revoked FROM main.users WHERE name = ?", name).Scan(&revoked)
		switch {
		case errors.Is(err, sql.ErrNoRows):
			return ErrUnknown
		case err != nil:
			return err
		case revoked != 0:
			return ErrRevoked
		}
		_, err = tx.Exec(`INSERT INTO main.tokens (id, "user", label, hash, created, expires) VALUES (?, ?, ?, ?, ?, ?)`, id, name, label, hash[:],
			stamp(now), stamp(expires))
		return err
	})
	if err != nil {
		return "", Token{}, err
	}
	return secret, Token{ID: id, User: name, Label: label, Created: unstamp(stamp(now)), Expires: unstamp(stamp(expires))}, nil
}

// Tokens lists the tokens of a user; of everybody, where the name is empty.
func (s *Store) Tokens(ctx context.Context, name string) ([]Token, error) {
	if name != "" {
		if r, err := s.findUser(ctx, name); err != nil {
			return nil, err
		} else if r == nil {
			return nil, ErrUnknown
		}
	}
	const where = ` FROM main.tokens WHERE ? IN ('', "user") ORDER BY "user", created, id`
	return selectAll(ctx, s.storage, func(r *sql.Rows) (Token, error) { return scanToken(r.Scan) }, "SELECT "+tokenColumns+where, name)
}

func scanToken(scan func(...any) error, more ...any) (t Token, err error) {
	var created, expires, revoked, used int64
	err = scan(append([]any{&t.ID, &t.User, &t.Label, &created, &expires, &revoked, &used}, more...)...)
	t.Created, t.Expires, t.Revoked, t.Used = unstamp(created), unstamp(expires), unstamp(revoked), unstamp(used)
	return t, err
}

func (s *Store) RevokeToken(ctx context.Context, id string) error {
	return s.change(ctx, func(tx *sql.Tx) error {
		err := checkCounts(tx.QueryRow("SELECT revoked FROM main.tokens WHERE id = ?", id), ErrNoToken)
		if err != nil {
			return err
		}
		_, err = tx.Exec("UPDATE main.tokens SET revoked = ? WHERE id = ?", stamp(s.now()), id)
		return err
	})
}

// Token checks a token. The attempt's name may be empty; where it is not, the token must be that
// user's.
func (s *Store) Token(ctx context.Context, a Attempt, secret string) (User, error) {
	id, _ := readToken(secret) // a text that is no token is looked up like one, and not found
	var hash []byte
	t, err := scanToken(s.findToken(ctx, id).Scan, &hash)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return User{}, s.explain(ctx, err)
	}
	found := err == nil
	if !found {
		hash = make([]byte, sha256.Size)
	}
	presented := sha256.Sum256([]byte(secret))
	if same := subtle.ConstantTimeCompare(presented[:], hash) == 1; !same || !found || a.Name != "" && a.Name != t.User {
		s.attempts.trail.add(a, loginDenied, "")
		return User{}, ErrDenied
	}
	// From here on it is who they say: what is wrong can be written down with their name.
	a.Name = t.User
	r, err := s.findUser(ctx, t.User)
	if err != nil {
		return User{}, err
	}
	switch {
	case r == nil:
		s.attempts.trail.add(a, loginDenied, t.ID)
		return User{}, ErrDenied
	case !t.Revoked.IsZero() || !r.Revoked.IsZero():
		s.attempts.trail.add(a, loginRevoked, t.ID)
		return User{}, ErrDenied
	case !t.Expires.IsZero() && !s.now().Before(t.Expires):
		s.attempts.trail.add(a, loginExpired, t.ID)
		return User{}, ErrDenied
	}
	if err := s.attempts.trail.add(a, loginIn, t.ID); err != nil {
		return User{}, s.report(err)
	}
	s.attempts.guard.addFamiliar(pairOf(a).address)
	return r.User, nil
}

// A visit is what somebody is in who signed in with a browser: from a password, or from what an
// OpenID provider said, to signing out. The browser holds its secret in a cookie.

// Ends are when visits end by themselves.
type Ends struct {
	Idle  time.Duration // after so long without a request
	Whole time.Duration // after so long, whatever there was
}

// DefaultEnds are those of somebody who goes for lunch, and of a long day.
var DefaultEnds = Ends{Idle: 30 * time.Minute, Whole: 12 * time.Hour}

// LongestVisit is what a visit can take at most, whatever its ends: its row is forgotten then.
const LongestVisit = 30 * 24 * time.Hour

const (
	visitPrefix = "dsv_"
	visitLength = len(visitPrefix) + secretLength
	maxVisits   = 100 // of one user; the oldest ends where there would be more
)

// Visits are the sessions of browsers. It is safe for concurrent use.
type Visits struct {
	*storage
	attempts *attempts
	query    preparedQuery
}

// Begin begins a visit of somebody who came in, and returns its secret, which is stored
// nowhere.
func (s *Visits) Begin(ctx context.Context, u User) (secret string, err error) {
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

const visitQuery = `SELECT u.name, u.role, u.created, u.revoked, u.epoch, v.epoch, v.created, v.used, v.ended
	FROM main.visits v JOIN main.users u ON u.name = v."user" WHERE v.hash = ?`

// find finds a visit, or returns nil. It is found by a hash, so how long that takes tells nothing
// about a secret.
func (s *Visits) find(ctx context.Context, secret string) (*visit, error) {
	if len(secret) != visitLength || !strings.HasPrefix(secret, visitPrefix) {
		secret = "" // nobody's
	}
	hash := sha256.Sum256([]byte(secret))
	var v visit
	var created, revoked int64
	err := s.query(ctx, hash[:]).Scan(&v.user.Name, &v.user.Role, &created, &revoked, &v.user.epoch, &v.epoch, &v.created, &v.used,
		&v.ended)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, s.explain(ctx, err)
	}
	v.user.Created, v.user.Revoked = unstamp(created), unstamp(revoked)
	return &v, nil
}

// endReason says how a visit has ended; nothing where it goes on.
func (v *visit) endReason(now time.Time, e Ends) string {
	switch {
	case v.ended != 0 || !v.user.Revoked.IsZero() || v.epoch != v.user.epoch:
		return loginRevoked
	case now.Sub(unstamp(v.used)) >= e.Idle || now.Sub(unstamp(v.created)) >= min(e.Whole, LongestVisit):
		return loginExpired
	}
	return ""
}

// Check checks the secret of a visit, and notes that it is used. One that has ended is written into
// the trail as a token would be; one that goes on is not: who signed in is there already.
func (s *Visits) Check(ctx context.Context, a Attempt, secret string, e Ends) (User, error) {
	v, err := s.find(ctx, secret)
	if err != nil {
		return User{}, err
	}
	if v == nil {
		s.attempts.trail.add(a, loginDenied, "")
		return User{}, ErrDenied
	}
	now := s.now()
	if how := v.endReason(now, e); how != "" {
		a.Name = v.user.Name
		s.attempts.trail.add(a, how, "")
		return User{}, ErrDenied
	}
	// Not with every request: a page sends many.
	if now.Sub(unstamp(v.used)) >= min(time.Minute, e.Idle/8) {
		hash := sha256.Sum256([]byte(secret))
		_, err := s.db.ExecContext(ctx, "UPDATE main.visits SET used = ?1 WHERE hash = ?2 AND used < ?1", stamp(now), hash[:])
		if err != nil {
			return User{}, s.explain(ctx, err)
		}
	}
	s.attempts.guard.addFamiliar(pairOf(a).address)
	return v.user.User, nil
}

// CheckAgain says whether a visit that came in goes on, for a question whose turn comes later:
// nil, or ErrDenied.
func (s *Visits) CheckAgain(ctx context.Context, secret string, e Ends) error {
	v, err := s.find(ctx, secret)
	if err != nil {
		return err
	}
	if v == nil || v.endReason(s.now(), e) != "" {
		return ErrDenied
	}
	return nil
}

// End ends a visit, at all servers. One that has ended, or never was, stays so.
func (s *Visits) End(ctx context.Context, secret string) error {
	hash := sha256.Sum256([]byte(secret))
	return s.change(ctx, func(tx *sql.Tx) error {
		_, err := tx.Exec("UPDATE main.visits SET ended = ? WHERE hash = ? AND ended = 0", stamp(s.now()), hash[:])
		return err
	})
}

func (s *Visits) EndAll(ctx context.Context, name string) error {
	return s.change(ctx, func(tx *sql.Tx) error {
		_, err := tx.Exec(`UPDATE main.visits SET ended = ? WHERE "user" = ? AND ended = 0`, stamp(s.now()), name)
		return err
	})
}
