package grammar

import (
	"errors"
	"strings"
	"testing"

	pg "github.com/pganalyze/pg_query_go/v6"
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
