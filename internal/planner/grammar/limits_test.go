package grammar

import (
	"errors"
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

// TestComments: the scanner takes time for each comment in proportion to the whole text.
func TestComments(t *testing.T) {
	r, long := strings.Repeat, Limits{Bytes: 256 << 10, Words: 20_000, Depth: 100}
	for _, sql := range []string{
		r("/*", 20_000), r("/*", 5_000) + r("*/", 5_000) + "SELECT 1", r("/**/", 10_000) + "SELECT 1",
		"SELECT 1 " + r("+/**/", 6_000) + "1", "SELECT '" + r("/*", 20_000) + "'",
	} {
		var e *Excess
		if _, err := Parse(sql, long); !errors.As(err, &e) || e.Kind != TooManyComments {
			t.Errorf("%.60s: %v", sql, err)
		}
	}
	for _, sql := range []string{r("/* a comment */ ", 1000) + "SELECT 1", "SELECT '" + r("x", 200_000) + "'" + r("/* a */", 60)} {
		if _, err := Parse(sql, long); err != nil {
			t.Errorf("%.60s: %v", sql, err)
		}
	}
}
