package users

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"github.com/xdg-go/scram"
)

// rounds is how often SCRAM hashes a password. Clients do the work, at every login (some 20 to 60
// ms), and pgjdbc and node-postgres refuse more than 100,000 since 2026. PostgreSQL's own 4,096
// makes a stolen file 16 times cheaper to guess against.
const rounds = 65_536

// derive makes a value of a name that only this file can make.
func (s *Store) derive(what, name string) []byte {
	mac := hmac.New(sha256.New, s.secret)
	fmt.Fprintf(mac, "%s\x00%s", what, name)
	return mac.Sum(nil)
}

// salt is the same for a name whether there is a user or not, and whatever the password, so that it
// tells nothing. It is the file's own, as the secret is, so no table that was made for another file
// helps against this one.
func (s *Store) salt(name string) []byte { return s.derive("salt", name)[:16] }

// scramKeys is what is stored of a password for SCRAM, written as PostgreSQL does.
func (s *Store) scramKeys(name, password string) (string, error) {
	client, err := scram.SHA256.NewClient("", password, "")
	if err != nil {
		return "", &InvalidError{"the password", "cannot be written as SCRAM needs it; " + PasswordRule}
	}
	salt := s.salt(name)
	keys, err := client.GetStoredCredentialsWithError(scram.KeyFactors{Salt: string(salt), Iters: rounds})
	if err != nil {
		return "", err
	}
	encode := base64.StdEncoding.EncodeToString
	return fmt.Sprintf("SCRAM-SHA-256$%d:%s$%s:%s", rounds, encode(salt), encode(keys.StoredKey), encode(keys.ServerKey)), nil
}

var errKeys = errors.New("the keys of a user cannot be read; give them a new password")

// readKeys reads what scramKeys wrote.
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
func (s *Store) fakeKeys(name string) scram.StoredCredentials {
	return scram.StoredCredentials{
		KeyFactors: scram.KeyFactors{Salt: string(s.salt(name)), Iters: rounds},
		StoredKey:  s.derive("stored key", name), ServerKey: s.derive("server key", name),
	}
}

// fakeHash is a hash that takes as long as a user's and matches nothing.
func (s *Store) fakeHash(name string) string {
	encode := base64.RawStdEncoding.EncodeToString
	return fmt.Sprintf("$argon2id$v=19$m=%d,t=%d,p=%d$%s$%s", today.memory, today.passes, today.lanes,
		encode(s.derive("argon2 salt", name)[:16]), encode(s.derive("argon2", name)))
}
