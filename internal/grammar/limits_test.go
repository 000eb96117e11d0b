package grammar

import (
	"strings"
	"testing"
)

var limits = Limits{Bytes: 64 << 10, Words: 4000, Depth: 64}

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
		if _, err := scan(sql, limits); err == nil || !strings.Contains(err.Error(), "levels deep") {
			t.Errorf("%.60s: %v", sql, err)
		}
	}
	if _, err := scan("SELECT "+r("CASE WHEN true THEN (1) END end, ", 200)+"1", limits); err != nil {
		t.Error(err)
	}
}
