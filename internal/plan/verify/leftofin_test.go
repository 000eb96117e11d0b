package verify_test

import (
	"testing"

	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/plan/verify"
)

// TestLeftOfIN: a subquery on the left of IN asks about the row outside alone, and has only its
// fields before its own.
func TestLeftOfIN(t *testing.T) {
	ds := load(t, "hospital.yaml", "hospital")
	for _, text := range []string{
		"SELECT COUNT(*) FROM visits a WHERE CASE WHEN EXISTS (SELECT 1 FROM patients p WHERE p.pid = a.pid AND p.age = 3) THEN a.cost " +
			"ELSE 7 END IN (SELECT b.cost FROM visits b WHERE b.pid = a.pid)",
		"SELECT COUNT(*) FROM patients p WHERE (SELECT COUNT(*) FROM visits v WHERE v.pid = p.pid) IN (SELECT q.age FROM patients q " +
			"WHERE q.pid = p.pid)",
	} {
		s, err := plan.Prepare(ds, text, plan.Options{Public: columns{}})
		if err != nil {
			t.Fatal(err)
		}
		if err := verify.Query(ds, &s.Plans[0].Query); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}
