package replay_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/ledger/replay"
	"github.com/discreet-dp/discreet/internal/ledger/sqlite"
)

// TestPromise15InAnOlderLedger: a ledger of the version in which a charge paid in every window is
// opened and verified, and who decides it again is told where that was used. In it a question was
// charged in window 1, stopped, and answered in window 2 for the same charge; and a sparse vector
// session that was opened in window 1 was asked in window 2, of which there is no record.
func TestPromise15InAnOlderLedger(t *testing.T) {
	file, err := os.ReadFile(filepath.Join("testdata", "windows.ledger"))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "windows.ledger")
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := sqlite.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := sqlite.Verify(path); err != nil {
		t.Fatal(err)
	}
	r, err := sqlite.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	p := replay.New()
	var differs, doubts []string
	for line, err := range r.Records() {
		if err != nil {
			t.Fatal(err)
		}
		d := p.Next(line.Record, line.Hash)
		differs, doubts = append(differs, d.Differs...), append(doubts, d.Doubts...)
	}
	if len(differs) != 1 || !strings.Contains(differs[0], "charge 2 is of window 1 of \"hospital\", and was answered in window 2") ||
		!strings.Contains(differs[0], "epsilon 0.25") {
		t.Errorf("differs: %q", differs)
	}
	if len(doubts) != 1 || !strings.Contains(doubts[0], "session of charge 3") {
		t.Errorf("in doubt: %q", doubts)
	}
}
