package planner_test

import (
	"fmt"
	"testing"

	"github.com/discreet-dp/discreet/internal/planner"
)

// TestTimesBeyondBounds: where a comparison with a time beyond the bounds of a column decides all
// rows, that is said, as it is of numbers.
func TestTimesBeyondBounds(t *testing.T) {
	ds := hospital(t)
	note := func(value string) string {
		return "[" + value + " is beyond the bounds of admitted, 2024-01-01 to 2024-01-03: what is beyond them counts as the nearer of " +
			"the two, in conditions too]"
	}
	for where, want := range map[string]string{
		"admitted < '2023-05-06'":                                note("'2023-05-06'"),
		"'2030-01-01' <= admitted":                               note("'2030-01-01'"),
		"admitted BETWEEN '2024-01-02' AND '2030-01-01'":         note("'2030-01-01'"),
		"admitted IN ('2024-01-02', '2030-01-01')":               note("'2030-01-01'"),
		"admitted > '2024-01-02' AND born < '1900-01-01'":        "[]",
		"admitted >= '2024-01-01' AND admitted <= '2024-01-03'":  "[]",
		"admitted IS NOT DISTINCT FROM NULL OR admitted <> NULL": "[]",
	} {
		st, err := planner.Prepare(ds, "SELECT COUNT(*) FROM patients WHERE "+where, planner.Options{Public: tables{}})
		if err != nil {
			t.Errorf("%s: %v", where, err)
			continue
		}
		if got := fmt.Sprint(st.Unlisted()); got != want {
			t.Errorf("%s:\n%s\n%s", where, got, want)
		}
	}
}
