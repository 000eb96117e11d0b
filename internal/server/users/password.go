package users

import (
	"context"
	"crypto/subtle"
	"encoding/base32"
	"encoding/base64"
	"fmt"
	"hash/maphash"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/xdg-go/stringprep"
	"golang.org/x/crypto/argon2"

	"github.com/discreet-dp/discreet/internal/server/clientaddr"
	"github.com/discreet-dp/discreet/internal/username"
)

// cost is what an argon2id hash takes. It is stored with each hash, so that it can grow.
type cost struct {
	memory uint32 // KiB
	passes uint32
	lanes  uint8
}

// today is above what OWASP asks for (19 MiB and 2 passes).
var today = cost{memory: 32 << 10, passes: 2, lanes: 1}

const (
	shortest    = 12
	longest     = 256         // bytes, so that nobody sends us a book to hash
	longestRest = time.Second // where a database kept a stranger waiting, and no hash did
	atOnce      = 4           // hashes, so that a flood of logins takes 128 MiB and no more
)

// alphabet has no letters that look like digits.
var alphabet = base32.NewEncoding("0123456789abcdefghjkmnpqrstvwxyz").WithPadding(base32.NoPadding)

// draw makes a password of 160 bits, in groups that can be read out.
func draw() string {
	text := alphabet.EncodeToString(random(20))
	var groups []string
	for ; text != ""; text = text[4:] {
		groups = append(groups, text[:4])
	}
	return strings.Join(groups, "-")
}

// PasswordRule says what a password of one's own must be.
const PasswordRule = "a password has 12 to 256 characters, at least 5 different ones, is not the name, and has only characters that all " +
	"programs write alike"

// checkPassword keeps out what is guessed first. Passwords that SASLprep (RFC 4013) would change
// are kept out too: not every driver applies it, and then the same password works in one program
// and not in the next.
func checkPassword(name, password string) error {
	different := map[rune]bool{}
	for _, r := range strings.ToLower(password) {
		different[r] = true
	}
	problem := ""
	prepared, err := stringprep.SASLprep.Prepare(password)
	switch {
	case !utf8.ValidString(password):
		problem = "is not UTF-8"
	case utf8.RuneCountInString(password) < shortest:
		problem = fmt.Sprintf("has fewer than %d characters", shortest)
	case len(password) > longest:
		problem = fmt.Sprintf("is longer than %d bytes", longest)
	case strings.EqualFold(password, name):
		problem = "is the name"
	case len(different) < 5:
		problem = "has fewer than 5 different characters"
	case err != nil || prepared != password:
		problem = "has a character that some programs would write differently"
	default:
		return nil
	}
	return &InvalidError{"the password", problem + "; " + PasswordRule}
}

// credentials draws a password where there is none, and makes what is stored of it.
func (s *Store) credentials(ctx context.Context, name, password string) (drawn, hash, keys string, err error) {
	if password == "" {
		password = draw()
		drawn = password
	} else if err := checkPassword(name, password); err != nil {
		return "", "", "", err
	}
	if keys, err = s.scramKeys(name, password); err != nil {
		return "", "", "", err
	}
	err = s.hashes.run(ctx, func() { hash = newHash(today, random(16), password) })
	return drawn, hash, keys, err
}

// newHash writes a hash as a PHC string.
func newHash(c cost, salt []byte, password string) string {
	encode := base64.RawStdEncoding.EncodeToString
	key := argon2.IDKey([]byte(password), salt, c.passes, c.memory, c.lanes, 32)
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, c.memory, c.passes, c.lanes, encode(salt), encode(key))
}

// matches hashes a password like a stored one. A hash that cannot be read matches nothing.
func matches(stored, password string) bool {
	parts := strings.Split(stored, "$")
	if len(parts) != 6 || parts[1] != "argon2id" || parts[2] != fmt.Sprintf("v=%d", argon2.Version) {
		return false
	}
	var c cost
	if n, err := fmt.Sscanf(parts[3], "m=%d,t=%d,p=%d", &c.memory, &c.passes, &c.lanes); n != 3 || err != nil {
		return false
	}
	if c.memory < 8 || c.memory > 256<<10 || c.passes < 1 || c.passes > 16 || c.lanes < 1 || c.lanes > 16 {
		return false
	}
	salt, err := base64.RawStdEncoding.DecodeString(parts[4])
	if err != nil {
		return false
	}
	return subtle.ConstantTimeCompare([]byte(newHash(c, salt, password)), []byte(stored)) == 1
}

// hashes lets few hashes run at once, and of each name and address one after the other: many at
// once would all be tried before the first of them counts as a failure. Who comes from an address
// that somebody came in from before waits for no stranger. Strangers are decided one after the
// other, in turn by network, so that whoever comes from somewhere new waits for as many guesses as
// there are networks that guess. They rest between guesses, so that a flood takes a quarter of a
// processor.
type hashes struct {
	seed      maphash.Seed
	places    chan struct{}
	turns     [256]chan struct{}
	strangers queue
	rest      int          // how many times as long as a stranger took nobody of them has a turn after it
	begun     atomic.Int64 // tests look at it
}

func newHashes() *hashes {
	h := &hashes{seed: maphash.MakeSeed(), places: make(chan struct{}, atOnce), rest: 3}
	for i := range h.turns {
		h.turns[i] = make(chan struct{}, 1)
	}
	return h
}

// turn waits for the turn of a pair; what it returns ends it.
func (h *hashes) turn(ctx context.Context, p pair, familiar bool) (func(), error) {
	if !familiar {
		leave, err := h.strangers.enter(ctx, clientaddr.Network(p.address))
		begin := time.Now()
		return func() {
			if rest := min(time.Duration(h.rest)*time.Since(begin), longestRest); rest > 0 {
				time.AfterFunc(rest, leave)
			} else {
				leave()
			}
		}, err
	}
	turn := h.turns[maphash.Comparable(h.seed, p)%uint64(len(h.turns))]
	select {
	case turn <- struct{}{}:
		return func() { <-turn }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// run runs a hash when there is a place for it.
func (h *hashes) run(ctx context.Context, f func()) error {
	select {
	case h.places <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-h.places }()
	h.begun.Add(1)
	f()
	return nil
}

// Password checks a password, by argon2id.
func (s *Store) Password(ctx context.Context, a Attempt, password string) (User, error) {
	a.Name = username.Canonical(a.Name)
	if err := s.locked(a); err != nil {
		return User{}, err
	}
	end, err := s.hashes.turn(ctx, pairOf(a), s.Familiar(a.Address))
	if err != nil {
		return User{}, err
	}
	defer end()
	// Whoever waited for others of the same name or address may be locked out by now, and must not
	// cost a hash.
	if err := s.locked(a); err != nil {
		return User{}, err
	}
	r, err := s.lookup(ctx, a.Name)
	if err != nil {
		return User{}, err
	}
	stored := s.fakeHash(a.Name)
	if r != nil {
		stored = r.argon2
	}
	if len(password) > longest {
		password = "" // matches nothing, and takes as long
	}
	if prepared, err := stringprep.SASLprep.Prepare(password); err == nil {
		password = prepared
	}
	match := false
	if err := s.hashes.run(ctx, func() { match = matches(stored, password) }); err != nil {
		return User{}, err
	}
	return s.settle(a, r, func() bool { return match })
}

// settle decides an attempt, counts it, and writes it into the trail.
func (s *Store) settle(a Attempt, r *row, proof func() bool) (User, error) {
	proven := false
	wait := s.guard.attempt(pairOf(a), func() bool {
		proven = proof() && r != nil
		return proven && r.Revoked.IsZero()
	})
	switch {
	case wait > 0:
		return User{}, s.lockOut(a, wait)
	case !proven:
		s.trail.add(a, outDenied, "")
		return User{}, ErrDenied
	case !r.Revoked.IsZero():
		s.trail.add(a, outRevoked, "")
		return User{}, ErrDenied
	}
	if err := s.trail.add(a, outIn, ""); err != nil {
		return User{}, s.failed(err)
	}
	return r.User, nil
}

// locked returns a LockedError to whom has to wait.
func (s *Store) locked(a Attempt) error {
	if wait := s.guard.wait(pairOf(a)); wait > 0 {
		return s.lockOut(a, wait)
	}
	return nil
}

func (s *Store) lockOut(a Attempt, wait time.Duration) error {
	s.lockedOut.Add(1)
	s.trail.add(a, outLocked, "")
	return &LockedError{Wait: wait}
}

// LockedOut is how many attempts since the start had to wait.
func (s *Store) LockedOut() uint64 { return s.lockedOut.Load() }
