// Package ownerkey keeps the key with which the owner of the data signs: an Ed25519 key in a file
// that only the owner can read, as PKCS #8 in PEM, which other tools read too.
//
// A file is made once and never overwritten, because a key that is gone cannot sign for its
// successor. A file that others can read is refused, as ssh does: whoever can read it can raise
// every budget.
package ownerkey

import (
	"crypto/ed25519"
	"crypto/x509"
	"encoding/binary"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/discreet-dp/discreet/internal/entropy"
)

// Error is a key file that cannot be used, and what to do about it. It never holds any of the
// file's text.
type Error struct{ Path, Problem string }

func (e *Error) Error() string { return fmt.Sprintf("the key file %s %s", e.Path, e.Problem) }

// missingError is an [*Error] that is [fs.ErrNotExist] too.
type missingError struct{ file *Error }

func (e *missingError) Error() string   { return e.file.Error() }
func (e *missingError) Unwrap() []error { return []error{e.file, fs.ErrNotExist} }

const (
	blockType       = "PRIVATE KEY"
	maxKeyFileBytes = 64 << 10
)

// Make makes a new key in a new file. Where there is a file already it returns an error that is
// [fs.ErrExist].
func Make(path string) (ed25519.PrivateKey, error) {
	source := entropy.New()
	seed := make([]byte, 0, ed25519.SeedSize)
	for len(seed) < ed25519.SeedSize {
		seed = binary.BigEndian.AppendUint64(seed, source.Uint64())
	}
	key := ed25519.NewKeyFromSeed(seed)
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	err = pem.Encode(f, &pem.Block{Type: blockType, Bytes: der})
	// On stable storage before its public half is recorded: a ledger whose owner has lost the key
	// has no top-ups for ever.
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = syncFolder(filepath.Dir(path))
	}
	if err != nil {
		return nil, errors.Join(err, os.Remove(path))
	}
	return key, nil
}

func syncFolder(path string) error {
	if runtime.GOOS == "windows" {
		return nil // a folder is no file there
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// Load reads a key. A file that is not there gives an [*Error] that is [fs.ErrNotExist].
func Load(path string) (ed25519.PrivateKey, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &missingError{&Error{path, "does not exist; name the file that 'discreet ledger key' made"}}
	} else if err != nil {
		return nil, &Error{path, "cannot be read: " + causeWithoutPath(err)}
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, &Error{path, "cannot be read: " + causeWithoutPath(err)}
	case !info.Mode().IsRegular():
		return nil, &Error{path, "is not a file"}
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0:
		return nil,
			&Error{path,
				fmt.Sprintf("can be read or written by others (mode %04o), who could then raise every budget; run chmod 600 on it, and "+
					"if others had it, make a new key with 'discreet ledger key --old'", info.Mode().Perm())}
	}
	text, err := io.ReadAll(io.LimitReader(f, maxKeyFileBytes))
	if err != nil {
		return nil, &Error{path, "cannot be read: " + causeWithoutPath(err)}
	}
	block, _ := pem.Decode(text)
	if block == nil || block.Type != blockType {
		return nil, &Error{path, "does not hold a private key in PEM; name the file that 'discreet ledger key' made"}
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	key, ok := parsed.(ed25519.PrivateKey)
	if err != nil || !ok {
		return nil, &Error{path, "does not hold an Ed25519 key; name the file that 'discreet ledger key' made"}
	}
	return key, nil
}

// causeWithoutPath is what the system said, without the path once more.
func causeWithoutPath(err error) string {
	var at *fs.PathError
	if errors.As(err, &at) {
		return at.Err.Error()
	}
	return err.Error()
}
