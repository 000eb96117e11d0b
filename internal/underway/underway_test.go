package underway

import (
	"os"
	"path/filepath"
	"testing"
)

// openAfterDeath opens a file as the next process after one that died, and says by whose question
// that was.
func openAfterDeath(t *testing.T, path string, asks ...string) (*File, string) {
	t.Helper()
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range asks {
		f.Begin("d", name)
	}
	if f, err = Open(path); err != nil { // what the other had open is not closed in order
		t.Fatal(err)
	}
	return f, f.Suspect("d")
}

func TestSuspects(t *testing.T) {
	path := filepath.Join(t.TempDir(), "underway")
	if _, who := openAfterDeath(t, path); who != "" {
		t.Errorf("nobody asked, and %q is named", who)
	}
	if _, who := openAfterDeath(t, path, "ana"); who != "ana" {
		t.Errorf("ana asked, and %q is named", who)
	}
	f, who := openAfterDeath(t, path, "ana", "ben", "cleo")
	if who != "" || !f.Suspected("ana") || !f.Suspected("ben") || f.Suspected("dora") {
		t.Errorf("three asked, and %q is named: %v", who, f.suspects)
	}
	f.Begin("d", "ben")() // has an answer
	if f.Suspected("ben") {
		t.Error("who has an answer is suspected")
	}
	// Ben was cleared, dora was not there, and cleo does not ask.
	if _, who := openAfterDeath(t, path, "ana", "ben", "dora"); who != "ana" {
		t.Errorf("ana was there twice, and %q is named", who)
	}
}

func TestInOrder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "underway")
	f, _ := Open(path)
	f.Begin("d", "ana")
	done := f.Begin("e", "ben")
	f.Begin("d", "a\tb")
	done()
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if _, who := openAfterDeath(t, path); who != "" {
		t.Errorf("it was closed in order, and %q is named", who)
	}
	if err := os.WriteFile(path, []byte("asks\td\tana\nasks\td\tb"), 0o600); err != nil {
		t.Fatal(err)
	}
	g, err := Open(path)
	if err != nil || g.Suspect("e") != "" || g.Suspect("d") != "ana" || g.Suspect("d") != "" {
		t.Error(err)
	}
	var none *File
	none.Begin("d", "ana")()
	if none.Suspect("d") != "" || none.Suspected("ana") || none.Close() != nil {
		t.Error("no file names nobody")
	}
}

// Who looks at the catalogue while a question of theirs is under way is one, and not two.
func TestOneAnalystTwice(t *testing.T) {
	path := filepath.Join(t.TempDir(), "underway")
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	f.Begin("", "ana")
	f.Begin("d", "ana")
	if f, err = Open(path); err != nil || f.Suspect("d") != "ana" {
		t.Errorf("ana alone asked, and is not named: %v", err)
	}
	f.Forget()
	openAfterDeath(t, path, "ana", "ben")
	// Ana was there before, and only looks now.
	f, _ = Open(path)
	f.Begin("", "ana")
	f.Begin("d", "cleo")
	if f, err = Open(path); err != nil || f.Suspect("d") != "ana" {
		t.Errorf("ana was there twice, and is not named: %v", err)
	}
}
