package discreet_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/ledger"
)

// Whose answer could not be secured is told the identifier with which to ask again, and then is not
// charged twice.
func TestAskAgainAfterTheAnchorFailed(t *testing.T) {
	path := deployment(t)
	safe := filepath.Join(t.TempDir(), "safe")
	away := safe + ".away"
	text, err := os.ReadFile(path)
	if err = errors.Join(err, os.Mkdir(safe, 0o700)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, fmt.Appendf(nil, "anchor: {file: %q}\n%s", filepath.Join(safe, "anchor"), text), 0o600); err != nil {
		t.Fatal(err)
	}
	db := open(t, path)
	question := api.Question{Dataset: db.Policy().Names()[0], Analyst: "ana", SQL: "SELECT COUNT(*) FROM patients"}
	if err := os.Rename(safe, away); err != nil { // the volume is gone
		t.Fatal(err)
	}
	_, err = db.Ask(t.Context(), question)
	var failed *ledger.WriteError
	if !errors.As(err, &failed) || !failed.Charged {
		t.Fatalf("got %v", err)
	}
	name := regexp.MustCompile("The request identifier is ([0-9a-f]{32})$").FindStringSubmatch(err.Error())
	if name == nil {
		t.Fatalf("no identifier in: %v", err)
	}
	if err := os.Rename(away, safe); err != nil {
		t.Fatal(err)
	}
	question.Request = name[1]
	a, err := db.Ask(t.Context(), question)
	if err != nil {
		t.Fatal(err)
	}
	accounts, err := db.Budget(t.Context(), question.Dataset)
	if err != nil {
		t.Fatal(err)
	}
	if got := accounts[0].Spent.Epsilon.Short(); got != "0.1" || !a.Receipt.Free {
		t.Errorf("spent %s, receipt %+v", got, a.Receipt)
	}
}
