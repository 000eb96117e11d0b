// Package userstest writes files of users for tests. To hash a password takes long, as it should:
// here what is stored of a password takes little to make and to check. The numbers that say how
// much stand in the file, so it is checked by the same code.
package userstest

import (
	"crypto/hmac"
	"crypto/sha256"
	"database/sql"
	"encoding/base64"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/xdg-go/scram"
	"golang.org/x/crypto/argon2"

	"github.com/discreet-dp/discreet/internal/server/users"
)

type file struct {
	contents  []byte
	passwords map[string]string
}

var (
	mu   sync.Mutex
	made = map[string]file{}
)

// Write writes a file with these users, and returns their passwords: the one that is given, or one
// for each.
func Write(t testing.TB, path string, roles map[string]users.Role, password string) map[string]string {
	t.Helper()
	return WriteRounds(t, path, roles, password, Rounds)
}

// WriteRounds is Write for clients that take few rounds of SCRAM, as ours do: where they connect
// often, most of the time goes there.
func WriteRounds(t testing.TB, path string, roles map[string]users.Role, password string, rounds int) map[string]string {
	t.Helper()
	mu.Lock()
	defer mu.Unlock()
	key := fmt.Sprint(roles, password, rounds)
	f, ok := made[key]
	if !ok {
		var err error
		if f, err = write(roles, password, rounds); err != nil {
			t.Fatal(err)
		}
		made[key] = f
	}
	if err := os.WriteFile(path, f.contents, 0o600); err != nil {
		t.Fatal(err)
	}
	return maps.Clone(f.passwords)
}

func write(roles map[string]users.Role, password string, rounds int) (f file, err error) {
	dir, err := os.MkdirTemp("", "users-*")
	if err != nil {
		return f, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "users")
	store, err := users.Open(path)
	if err != nil {
		return f, err
	}
	if err := store.Close(); err != nil {
		return f, err
	}
	f.passwords = map[string]string{}
	for name := range roles {
		if f.passwords[name] = password; password == "" {
			f.passwords[name] = Password(name)
		}
	}
	if err := insert(path, roles, f.passwords, rounds); err != nil {
		return f, err
	}
	f.contents, err = os.ReadFile(path)
	return f, err
}

// Password is what Write gives a user as a password where none is given.
func Password(name string) string { return "the-password-of-" + name }

// Rounds is how often SCRAM hashes: PostgreSQL's own number, which every client takes. The tests of
// a package that log in often, by drivers that take fewer, set it before they begin.
var Rounds = 4096

// insert writes users as the store does, with hashes that take little.
func insert(path string, roles map[string]users.Role, passwords map[string]string, rounds int) error {
	db, err := sql.Open("sqlite", path)
	if err != nil {
		return err
	}
	defer db.Close()
	var secret []byte
	if err := db.QueryRow("SELECT secret FROM secret").Scan(&secret); err != nil {
		return err
	}
	for name, password := range passwords {
		mac := hmac.New(sha256.New, secret)
		fmt.Fprintf(mac, "salt\x00%s", name)
		salt := mac.Sum(nil)[:16] // as strangers get it who ask for this name
		client, err := scram.SHA256.NewClient("", password, "")
		if err != nil {
			return err
		}
		keys, err := client.GetStoredCredentialsWithError(scram.KeyFactors{Salt: string(salt), Iters: rounds})
		if err != nil {
			return err
		}
		encode, plain := base64.StdEncoding.EncodeToString, base64.RawStdEncoding.EncodeToString
		hash := argon2.IDKey([]byte(password), salt, 1, 64, 1, 32)
		if _, err := db.Exec("INSERT INTO users (name, role, created, argon2, scram) VALUES (?, ?, ?, ?, ?)", name, string(roles[name]),
			time.Now().UnixMicro(), fmt.Sprintf("$argon2id$v=%d$m=64,t=1,p=1$%s$%s", argon2.Version, plain(salt), plain(hash)),
			fmt.Sprintf("SCRAM-SHA-256$%d:%s$%s:%s", rounds, encode(salt), encode(keys.StoredKey), encode(keys.ServerKey))); err != nil {
			return err
		}
	}
	return nil
}
