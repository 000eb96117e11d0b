package users

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base32"
	"encoding/base64"
	"errors"
	"fmt"
	"hash/maphash"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/xdg-go/scram"
	"github.com/xdg-go/stringprep"
	"golang.org/x/crypto/argon2"

	"github.com/discreet-dp/discreet/internal/server/clientlimits"
	"github.com/discreet-dp/discreet/internal/username"
)

// argonCost is what an argon2id hash takes. It is stored with each hash, so that it can grow.
type argonCost struct {
	memory uint32 // KiB
	passes uint32
	lanes  uint8
}

// hashCost is above what OWASP asks for (19 MiB and 2 passes).
var hashCost = argonCost{memory: 32 << 10, passes: 2, lanes: 1}

const (
	minPasswordLength = 12
	maxPasswordBytes  = 256         // bytes, so that nobody sends us megabytes to hash
	maxRest           = time.Second // where a database kept a stranger waiting, and no hash did
	maxHashesAtOnce   = 4           // hashes, so that a flood of logins takes 128 MiB and no more
)

// alphabet has no letters that look like digits.
var alphabet = base32.NewEncoding("0123456789abcdefghjkmnpqrstvwxyz").WithPadding(base32.NoPadding)

// drawPassword makes a password of 160 bits, in groups that can be read out.
func drawPassword() string {
	text := alphabet.EncodeToString(random(20))
	var groups []string
	for ; text != ""; text = text[4:] {
		groups = append(groups, text[:4])
	}
	return strings.Join(groups, "-")
}

// PasswordRule says what a password of one's own must be.
const PasswordRule = "a password must have 12 to 256 characters, at least 5 of them different, must not be the name, and can only have " +
	"characters that all programs encode alike"

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
	case utf8.RuneCountInString(password) < minPasswordLength:
		problem = fmt.Sprintf("has fewer than %d characters", minPasswordLength)
	case len(password) > maxPasswordBytes:
		problem = fmt.Sprintf("is longer than %d bytes", maxPasswordBytes)
	case strings.EqualFold(password, name):
		problem = "is the same as the name"
	case len(different) < 5:
		problem = "has fewer than 5 different characters"
	case err != nil || prepared != password:
		problem = "has a character that some programs would encode differently"
	default:
		return nil
	}
	return &InvalidError{"the password", problem + "; " + PasswordRule}
}

// credentials draws a password where there is none, and makes what is stored of it.
func (s *Store) credentials(ctx context.Context, name, password string) (drawn, hash, keys string, err error) {
	if password == "" {
		password = drawPassword()
		drawn = password
	} else if err := checkPassword(name, password); err != nil {
		return "", "", "", err
	}
	if keys, err = s.keys.scramKeys(name, password); err != nil {
		return "", "", "", err
	}
	err = s.hashes.run(ctx, func() { hash = newHash(hashCost, random(16), password) })
	return drawn, hash, keys, err
}

// newHash writes a hash as a PHC string.
func newHash(c argonCost, salt []byte, password string) string {
	encode := base64.RawStdEncoding.EncodeToString
	key := argon2.IDKey([]byte(password), salt, c.passes, c.memory, c.lanes, 32)
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, c.memory, c.passes, c.lanes, encode(salt), encode(key))
}

// hashMatches hashes a password like a stored one. A hash that cannot be read matches nothing.
func hashMatches(stored, password string) bool {
	parts := strings.Split(stored, "$")
	if len(parts) != 6 || parts[1] != "argon2id" || parts[2] != fmt.Sprintf("v=%d", argon2.Version) {
		return false
	}
	var c argonCost
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
	slots     chan struct{}
	turns     [256]chan struct{}
	strangers networkQueue
	rest      int          // how many times as long as a stranger took nobody of them has a turn after it
	begun     atomic.Int64 // tests look at it
}

func newHashes() *hashes {
	h := &hashes{seed: maphash.MakeSeed(), slots: make(chan struct{}, maxHashesAtOnce), rest: 3}
	for i := range h.turns {
		h.turns[i] = make(chan struct{}, 1)
	}
	return h
}

// turn waits for the turn of a pair; what it returns ends it.
func (h *hashes) turn(ctx context.Context, p pair, familiar bool) (func(), error) {
	if !familiar {
		leave, err := h.strangers.enter(ctx, clientlimits.Network(p.address))
		begin := time.Now()
		return func() {
			if rest := min(time.Duration(h.rest)*time.Since(begin), maxRest); rest > 0 {
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

// run runs a hash when there is a slot for it.
func (h *hashes) run(ctx context.Context, f func()) error {
	select {
	case h.slots <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-h.slots }()
	h.begun.Add(1)
	f()
	return nil
}

// Password checks a password, by argon2id.
func (s *Store) Password(ctx context.Context, a Attempt, password string) (User, error) {
	a.Name = username.Canonical(a.Name)
	if err := s.attempts.refuseLocked(a); err != nil {
		return User{}, err
	}
	end, err := s.hashes.turn(ctx, pairOf(a), s.Familiar(a.Address))
	if err != nil {
		return User{}, err
	}
	defer end()
	// Whoever waited for others of the same name or address may be locked out by now, and must not
	// cost a hash.
	if err := s.attempts.refuseLocked(a); err != nil {
		return User{}, err
	}
	r, err := s.findUser(ctx, a.Name)
	if err != nil {
		return User{}, err
	}
	stored := s.keys.fakeHash(a.Name)
	if r != nil {
		stored = r.argon2
	}
	if len(password) > maxPasswordBytes {
		password = "" // matches nothing, and takes as long
	}
	if prepared, err := stringprep.SASLprep.Prepare(password); err == nil {
		password = prepared
	}
	match := false
	if err := s.hashes.run(ctx, func() { match = hashMatches(stored, password) }); err != nil {
		return User{}, err
	}
	return s.attempts.decide(a, r, func() bool { return match })
}

// LockedOut is how many attempts since the start had to wait.
func (s *Store) LockedOut() uint64 { return s.attempts.lockedOut.Load() }

// scramRounds is how often SCRAM hashes a password. Clients do the work, at every login (some 20 to
// 60 ms), and pgjdbc and node-postgres refuse more than 100,000 since 2026. PostgreSQL's own 4,096
// makes a stolen file 16 times cheaper to guess against.
var scramRounds = 65_536

// keyMaker makes what is stored of names and passwords.
type keyMaker struct {
	secret []byte // makes salts for names, whether there is a user or not
}

// derive makes a value of a name that only this file can make.
func (k keyMaker) derive(what, name string) []byte {
	mac := hmac.New(sha256.New, k.secret)
	fmt.Fprintf(mac, "%s\x00%s", what, name)
	return mac.Sum(nil)
}

// salt is the same for a name whether there is a user or not, and whatever the password, so that it
// tells nothing. It is the file's own, as the secret is, so no table that was made for another file
// helps against this one.
func (k keyMaker) salt(name string) []byte { return k.derive("salt", name)[:16] }

// scramKeys is what is stored of a password for SCRAM, written as PostgreSQL does.
func (k keyMaker) scramKeys(name, password string) (string, error) {
	client, err := scram.SHA256.NewClient("", password, "")
	if err != nil {
		return "", &InvalidError{"the password", "cannot be encoded as SCRAM needs it; " + PasswordRule}
	}
	salt := k.salt(name)
	keys, err := client.GetStoredCredentialsWithError(scram.KeyFactors{Salt: string(salt), Iters: scramRounds})
	if err != nil {
		return "", err
	}
	encode := base64.StdEncoding.EncodeToString
	return fmt.Sprintf("SCRAM-SHA-256$%d:%s$%s:%s", scramRounds, encode(salt), encode(keys.StoredKey), encode(keys.ServerKey)), nil
}

var errKeys = errors.New("the keys of a user cannot be read; give them a new password")

func readKeys(text string) (c scram.StoredCredentials, err error) {
	var salt, stored, server string
	rest, ok := strings.CutPrefix(text, "SCRAM-SHA-256$")
	factors, keys, ok2 := strings.Cut(rest, "$")
	count, salt, ok3 := strings.Cut(factors, ":")
	stored, server, ok4 := strings.Cut(keys, ":")
	if _, err := fmt.Sscanf(count, "%d", &c.Iters); !ok || !ok2 || !ok3 || !ok4 || err != nil {
		return c, errKeys
	}
	decode := base64.StdEncoding.DecodeString
	raw, err1 := decode(salt)
	c.Salt = string(raw)
	var err2, err3 error
	c.StoredKey, err2 = decode(stored)
	c.ServerKey, err3 = decode(server)
	if errors.Join(err1, err2, err3) != nil || len(c.StoredKey) != sha256.Size || len(c.ServerKey) != sha256.Size {
		return c, errKeys
	}
	return c, nil
}

// fakeKeys are those of a name without a user. Nobody knows a proof for them: that would be a
// number whose SHA-256 is the stored key.
func (k keyMaker) fakeKeys(name string) scram.StoredCredentials {
	return scram.StoredCredentials{
		KeyFactors: scram.KeyFactors{Salt: string(k.salt(name)), Iters: scramRounds},
		StoredKey:  k.derive("stored key", name), ServerKey: k.derive("server key", name),
	}
}

// fakeHash is a hash that takes as long as a user's and matches nothing.
func (k keyMaker) fakeHash(name string) string {
	encode := base64.RawStdEncoding.EncodeToString
	return fmt.Sprintf("$argon2id$v=19$m=%d,t=%d,p=%d$%s$%s", hashCost.memory, hashCost.passes, hashCost.lanes,
		encode(k.derive("argon2 salt", name)[:16]), encode(k.derive("argon2", name)))
}
