package syntax

import (
	"strings"
	"testing"
)

// TestDepthWithNames: END and comments do not make a question look flatter than it is.
func TestDepthWithNames(t *testing.T) {
	r := strings.Repeat
	deep := r("(", 500) + "1" + r(")", 500)
	for _, sql := range []string{
		"SELECT " + r("1 end, ", 600) + deep,
		"SELECT " + r("1 AS end, ", 600) + deep,
		"SELECT " + r("p.end, ", 600) + deep + " FROM patients p",
		"SELECT " + r("CASE WHEN p.end THEN ", 300) + "1" + r(" END", 300) + " FROM patients p",
		"SELECT " + r("NOT /**/ ", 500) + "true",
	} {
		if err := checkLimits(sql); err == nil || !strings.Contains(err.Error(), "levels deep") {
			t.Errorf("%.60s: %v", sql, err)
		}
	}
	if err := checkLimits("SELECT " + r("CASE WHEN true THEN (1) END end, ", 200) + "1"); err != nil {
		t.Error(err)
	}
}
