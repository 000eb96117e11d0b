package ownerkey

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestMakeAndLoad(t *testing.T) {
	path := filepath.Join(t.TempDir(), "owner.key")
	made, err := Make(path)
	if err != nil {
		t.Fatal(err)
	}
	if info, _ := os.Stat(path); runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("the file has mode %v", info.Mode())
	}
	read, err := Load(path)
	if err != nil || !read.Equal(made) {
		t.Errorf("read %v", err)
	}
	if message := []byte("more"); !ed25519.Verify(made.Public().(ed25519.PublicKey), message, ed25519.Sign(read, message)) {
		t.Error("what it signs does not verify")
	}
	before, _ := os.ReadFile(path)
	if _, err := Make(path); !errors.Is(err, fs.ErrExist) {
		t.Errorf("made twice: %v", err)
	}
	if after, _ := os.ReadFile(path); string(after) != string(before) {
		t.Error("a key was overwritten")
	}
	if other, err := Make(path + "2"); err != nil || other.Equal(made) {
		t.Errorf("two keys are the same, or %v", err)
	}
}

func TestBadFiles(t *testing.T) {
	dir := t.TempDir()
	other, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(other)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ text, want string }{
		"empty":  {"", "does not hold a private key"},
		"text":   {"secret word", "does not hold a private key"},
		"public": {string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})), "does not hold a private key"},
		"ecdsa":  {string(pem.EncodeToMemory(&pem.Block{Type: blockType, Bytes: der})), "does not hold an Ed25519 key"},
		"broken": {string(pem.EncodeToMemory(&pem.Block{Type: blockType, Bytes: []byte("secret word")})), "does not hold an Ed25519 key"},
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := Load(path)
		var bad *Error
		if !errors.As(err, &bad) || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "secret word") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Load(dir); !errors.As(err, new(*Error)) {
		t.Errorf("a folder: %v", err)
	}
	if _, err := Load(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) || !errors.As(err, new(*Error)) ||
		strings.Contains(err.Error(), "\n") {
		t.Errorf("no file: %v", err)
	}
	if runtime.GOOS == "windows" {
		return
	}
	path := filepath.Join(dir, "owner.key")
	if _, err := Make(path); err != nil {
		t.Fatal(err)
	}
	for _, mode := range []os.FileMode{0o644, 0o640, 0o604, 0o620, 0o602} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(path); err == nil || !strings.Contains(err.Error(), "chmod 600") {
			t.Errorf("mode %o: %v", mode, err)
		}
	}
}
