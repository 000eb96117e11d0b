package duckdb

import (
	"context"
	"database/sql"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/audit/generate"
	"github.com/discreet-dp/discreet/internal/dialect"
	"github.com/discreet-dp/discreet/internal/plan/posix"
)

// TestPatterns holds made-up patterns against made-up texts in DuckDB's RE2 and in Go's regexp,
// which is the reference: they are two programs, and what package posix writes means the same in
// both.
func TestPatterns(t *testing.T) {
	db, err := sql.Open("duckdb", "")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	d := generate.NewDice("patterns", 7)
	for range 1500 {
		written, err := posix.Translate(generate.Pattern(d), d.One(2))
		if err != nil {
			continue
		}
		texts := []string{"", strings.Repeat("aZ", 500)}
		for range 20 {
			texts = append(texts, generate.Subject(d))
		}
		matchesAlike(t, db, written, texts)
	}
	for _, pattern := range []string{"(a+)+$", "(.*)*b", "(a?){50}a{50}", `([a-z]+)*[0-9]{100}`,
		"[^a]{150}", "(|a)*$", "(a|[c-z]){60}", "[[:punct:]é-ü]{60}"} {
		written, err := posix.Translate(pattern, true)
		if err != nil {
			t.Errorf("%q: %v", pattern, err)
			continue
		}
		matchesAlike(t, db, written, []string{"", "aab", strings.Repeat("é", 300), strings.Repeat("a", 20_000) + "!", "\x00a"})
	}
}

func matchesAlike(t *testing.T, db *sql.DB, written string, texts []string) {
	t.Helper()
	own := regexp.MustCompile(written)
	found := "SELECT list(" + sqlDialect.Try(sqlDialect.Finds("x", dialect.QuoteText(written))) +
		")::VARCHAR FROM (SELECT unnest(CAST($1 AS VARCHAR[])) AS x)"
	var there string
	if err := db.QueryRowContext(context.Background(), found, texts).Scan(&there); err != nil {
		t.Errorf("%s: %v", written, err)
		return
	}
	here := make([]string, len(texts))
	for i, x := range texts {
		here[i] = fmt.Sprint(own.MatchString(x))
	}
	if want := "[" + strings.Join(here, ", ") + "]"; there != want {
		t.Errorf("%s in %.300q: %s in DuckDB, %s here", written, texts, there, want)
	}
}
