package grammar

import (
	"errors"
	"strings"
	"testing"

	pg "github.com/pganalyze/pg_query_go/v6"
)

// TestDeeper: nothing that the grammar takes as a name or a comment makes a text look flatter than
// it is.
func TestDeeper(t *testing.T) {
	r := strings.Repeat
	deep := r("(", 50) + "1" + r(")", 50)
	for _, c := range []struct {
		sql  string
		deep bool
	}{
		{"SELECT " + r("(", 10) + "1" + r(")", 10), false},
		{"SELECT " + r("(", 11) + "1" + r(")", 11), true},
		{"SELECT " + r("(1) + ", 50) + "1", false},
		{"SELECT " + r("CASE WHEN true THEN 1 END + ", 50) + "1", false},
		{"SELECT " + r("CASE WHEN true THEN ", 11) + "1" + r(" END", 11), true},
		{"SELECT " + r("ARRAY[", 11) + "1" + r("]", 11), true},
		{"SELECT " + r("(ARRAY[1])[1] + ", 50) + "1", false},
		// END is a name.
		{"SELECT " + r("1 end, ", 60) + deep, true},
		{"SELECT " + r("1 AS end, ", 60) + deep, true},
		{"SELECT " + r("t.end, ", 60) + deep + " FROM t", true},
		{"SELECT " + r("((SELECT 1 end) + ", 11) + "1" + r(")", 11), true},
		{"SELECT CASE WHEN true THEN " + r("(SELECT 1 end) + ", 60) + deep + " END", true},
		{"SELECT " + r("CASE WHEN t.end THEN ", 50) + "1" + r(" END", 50) + " FROM t", true},
		{"SELECT " + r("CASE WHEN t./**/end THEN ", 50) + "1" + r(" END", 50) + " FROM t", true},
		{"SELECT " + r("CASE WHEN t.-- a\nend THEN ", 50) + "1" + r(" END", 50) + " FROM t", true},
		{"SELECT " + r("1 AS case, 1 end, ", 60) + deep, true},
		// CASE is a name, which a bracket ends.
		{"SELECT " + r("(SELECT 1 AS case) + ", 50) + "1", false},
		// Operators before something.
		{"SELECT " + r("NOT ", 10) + "true", false},
		{"SELECT " + r("NOT ", 11) + "true", true},
		{"SELECT " + r("- + ", 6) + "1", true},
		{"SELECT " + r("NOT /**/ ", 11) + "true", true},
		{"SELECT " + r("- -- a\n", 11) + "1", true},
		// What the grammar refuses must not be a panic.
		{r(") ] END ", 50), false},
		{"([)]", false},
		{"", false},
	} {
		words, err := scan(c.sql, Limits{1 << 20, 1 << 20, 1 << 20})
		if err != nil {
			t.Fatal(err)
		}
		if _, got := deeper(words, 10); got != c.deep {
			t.Errorf("%.100s: %v", c.sql, got)
		}
		if _, err := pg.Parse(c.sql); err != nil && strings.HasPrefix(c.sql, "SELECT") {
			t.Errorf("%.100s: %v", c.sql, err)
		}
	}
}

// TestPlace: the place is where it gets too deep.
func TestPlace(t *testing.T) {
	var e *Excess
	if _, err := scan("SELECT 1 end, (((1)))", Limits{100, 100, 2}); !errors.As(err, &e) || e.Kind != TooDeep || e.At != 16 {
		t.Error(err)
	}
}
