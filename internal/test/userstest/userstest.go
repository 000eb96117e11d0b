// Package userstest writes files of users for tests. To hash a password takes long, as it should:
// the same users are made once in a process, and copied.
package userstest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"sync"
	"testing"

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

// Write writes a file with these users, and returns their passwords: the one that is given, or what
// was drawn for each.
func Write(t testing.TB, path string, roles map[string]users.Role, password string) map[string]string {
	t.Helper()
	mu.Lock()
	defer mu.Unlock()
	key := fmt.Sprint(roles, password)
	f, ok := made[key]
	if !ok {
		var err error
		if f, err = write(roles, password); err != nil {
			t.Fatal(err)
		}
		made[key] = f
	}
	if err := os.WriteFile(path, f.contents, 0o600); err != nil {
		t.Fatal(err)
	}
	return maps.Clone(f.passwords)
}

func write(roles map[string]users.Role, password string) (f file, err error) {
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
	f.passwords = map[string]string{}
	for name, role := range roles {
		drawn, err := store.Add(context.Background(), name, role, password)
		if err != nil {
			return f, errors.Join(err, store.Close())
		}
		if f.passwords[name] = drawn; password != "" {
			f.passwords[name] = password
		}
	}
	if err := store.Close(); err != nil {
		return f, err
	}
	f.contents, err = os.ReadFile(path)
	return f, err
}
