package interpret

import (
	"errors"
	"strings"
	"testing"
)

// TestLimitDepth: END and comments do not make a query look flatter than it is.
func TestLimitDepth(t *testing.T) {
	r := strings.Repeat
	deep := r("(", 500) + "1" + r(")", 500)
	for _, sql := range []string{
		"SELECT " + r("1 end, ", 600) + deep,
		"SELECT " + r("1 AS end, ", 600) + deep,
		"SELECT " + r("p.end, ", 600) + deep + " FROM pg_class p",
		"SELECT " + r("CASE WHEN p.end THEN ", 300) + "1" + r(" END", 300) + " FROM pg_class p",
		"SELECT " + r("NOT /**/ ", 500) + "true",
	} {
		var e *Error
		if _, err := Parse(sql); !errors.As(err, &e) || e.Code != "54001" {
			t.Errorf("%.60s: %v", sql, err)
		}
	}
	if _, err := Parse("SELECT " + r("CASE WHEN true THEN (1) END end, ", 200) + "1"); err != nil {
		t.Error(err)
	}
}
