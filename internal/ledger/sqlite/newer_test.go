package sqlite

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/ledger"
)

// plantFormat gives a ledger the format of another version, as its header says it.
func plantFormat(t *testing.T, path string, marker uint32) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	noError(t, err)
	binary.BigEndian.PutUint32(text[60:], marker)
	noError(t, os.WriteFile(path, text, 0o600))
	return text
}

// TestNewerLedger: a ledger of a newer version is refused in words, closed or left by a process
// that died, for reading and for writing, and nothing is changed.
func TestNewerLedger(t *testing.T) {
	for _, marker := range []uint32{Format + 1, logged | (Format + 1), Format + 20} {
		l, path := fresh(t)
		noError(t, l.Close())
		planted := plantFormat(t, path, marker)
		noError(t, os.WriteFile(path+".lock", []byte(lockFileOf("0.9.1")), 0o600))
		says := fmt.Sprintf("the ledger %s has the format %d, as Discreet 0.9.1 writes it. This is Discreet development, which reads the "+
			"format 3. Nothing was changed.", path, marker&^logged)
		if runtime.GOOS == "windows" {
			says = strings.Replace(says, ", as Discreet 0.9.1 writes it", "", 1)
		}
		check := func(err error) {
			t.Helper()
			var refused *ledger.CorruptError
			if !errors.As(err, &refused) || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "is damaged") {
				t.Errorf("%d: %v", marker, err)
			}
		}
		_, err := Open(path)
		check(err)
		_, err = OpenWith(path, Options{Full: true})
		check(err)
		_, err = Verify(path)
		check(err)
		after, err := os.ReadFile(path)
		noError(t, err)
		lock, err := os.ReadFile(path + ".lock")
		noError(t, err)
		if string(after) != string(planted) || string(lock) != lockFileOf("0.9.1") {
			t.Errorf("%d: something was changed", marker)
		}
	}
	// No number that no version ever has is taken for a version.
	l, path := fresh(t)
	noError(t, l.Close())
	plantFormat(t, path, 1<<20|Format)
	if _, err := Open(path); err == nil || !strings.Contains(err.Error(), "is damaged") {
		t.Error(err)
	}
}

func lockFileOf(version string) string {
	return "There is a ledger beside this file. Do not remove either.\nLast opened by Discreet " + version + "\n" // spelt out: it stays
}

// TestLockFileNamesTheVersion: whoever opens a ledger for writing is named, in the place of who was
// before, and a lock file of a version that named nobody is no obstacle.
func TestLockFileNamesTheVersion(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there is no lock file")
	}
	l, path := fresh(t)
	noError(t, l.Close())
	for _, before := range []string{lockFileOf("9.99.999-with-a-long-name"), lockText, "x"} {
		noError(t, os.WriteFile(path+".lock", []byte(before), 0o600))
		l, err := Open(path)
		noError(t, err)
		noError(t, l.Close())
		if got, err := os.ReadFile(path + ".lock"); err != nil || string(got) != lockFileOf("development") {
			t.Errorf("%q, %v", got, err)
		}
	}
}
