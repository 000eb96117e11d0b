package discreet_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/lab/hospital"
	"github.com/discreet-dp/discreet/ledger"
)

// A budget error says that nothing was spent; what is not affordable, as EXPLAIN says, takes
// nothing.
func TestLimitsOfWhoCannotPay(t *testing.T) {
	dir := t.TempDir()
	if err := hospital.New(500, 1).Write(filepath.Join(dir, "data")); err != nil {
		t.Fatal(err)
	}
	text := "datasets:\n" + strings.NewReplacer("max_rows: 6", "max_rows: auto", "max_groups: 2", "max_groups: auto").
		Replace(hospital.Dataset("hospital", "data", "{epsilon: 0.17, per_query: {default: 0.1, max: 0.15}}"))
	path := filepath.Join(dir, "policy.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	db := open(t, path)
	if _, err := db.Ask(background, api.Question{Analyst: "ana", SQL: people}); err != nil {
		t.Fatal(err)
	}
	q := api.Question{Analyst: "ana", SQL: "SELECT COUNT(*) FROM visits"}
	before, err := db.Explain(background, q)
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.Ask(background, q)
	after, _ := db.Explain(background, q)
	if before.Affordable || !errors.As(err, new(*ledger.BudgetError)) {
		t.Fatal(before.Affordable, err)
	}
	if before.Remaining.Epsilon != after.Remaining.Epsilon {
		t.Errorf("%v\nleft before: %v, and after: %v", err, before.Remaining.Epsilon, after.Remaining.Epsilon)
	}
}
