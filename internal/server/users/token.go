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

// drawToken makes a token and its id.
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
	if !utf8.ValidString(label) || clean(label, 100) != label {
		return "", Token{}, &InvalidError{"the label", "must be at most 100 characters that can be printed"}
	}
	if !expires.IsZero() && !expires.After(now) {
		return "", Token{}, &InvalidError{"the token", "would have expired already; give it a day that is to come"}
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
		if r, err := s.lookup(ctx, name); err != nil {
			return nil, err
		} else if r == nil {
			return nil, ErrUnknown
		}
	}
	rows, err := s.db.QueryContext(ctx, "SELECT "+tokenColumns+` FROM main.tokens WHERE ? IN ('', "user") ORDER BY "user", created, id`, name)
	if err != nil {
		return nil, s.trouble(ctx, err)
	}
	defer rows.Close()
	var out []Token
	for rows.Next() {
		t, err := scanToken(rows.Scan)
		if err != nil {
			return nil, s.trouble(ctx, err)
		}
		out = append(out, t)
	}
	if err := rows.Err(); err != nil {
		return nil, s.trouble(ctx, err)
	}
	return out, nil
}

func scanToken(scan func(...any) error, more ...any) (t Token, err error) {
	var created, expires, revoked, used int64
	err = scan(append([]any{&t.ID, &t.User, &t.Label, &created, &expires, &revoked, &used}, more...)...)
	t.Created, t.Expires, t.Revoked, t.Used = unstamp(created), unstamp(expires), unstamp(revoked), unstamp(used)
	return t, err
}

// RevokeToken ends a token.
func (s *Store) RevokeToken(ctx context.Context, id string) error {
	return s.change(ctx, func(tx *sql.Tx) error {
		err := counts(tx.QueryRow("SELECT revoked FROM main.tokens WHERE id = ?", id), ErrNoToken)
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
		return User{}, s.trouble(ctx, err)
	}
	found := err == nil
	if !found {
		hash = make([]byte, sha256.Size)
	}
	presented := sha256.Sum256([]byte(secret))
	if same := subtle.ConstantTimeCompare(presented[:], hash) == 1; !same || !found || a.Name != "" && a.Name != t.User {
		s.trail.add(a, outDenied, "")
		return User{}, ErrDenied
	}
	// From here on it is who they say: what is wrong can be written down with their name.
	a.Name = t.User
	r, err := s.lookup(ctx, t.User)
	if err != nil {
		return User{}, err
	}
	switch {
	case r == nil:
		s.trail.add(a, outDenied, t.ID)
		return User{}, ErrDenied
	case !t.Revoked.IsZero() || !r.Revoked.IsZero():
		s.trail.add(a, outRevoked, t.ID)
		return User{}, ErrDenied
	case !t.Expires.IsZero() && !s.now().Before(t.Expires):
		s.trail.add(a, outExpired, t.ID)
		return User{}, ErrDenied
	}
	if err := s.trail.add(a, outIn, t.ID); err != nil {
		return User{}, s.failed(err)
	}
	s.guard.came(pairOf(a).address)
	return r.User, nil
}
