package posix_test

import (
	"context"
	"regexp"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/discreet-dp/discreet/internal/audit/generate"
	"github.com/discreet-dp/discreet/internal/plan/posix"
	"github.com/discreet-dp/discreet/internal/testpg"
)

// TestMeansWhatPostgreSQLMeans holds made-up patterns against made-up texts, here and in a real
// PostgreSQL under COLLATE "C". What is taken here is taken there, and matches the same. Case is
// ignored in texts of ASCII only: under "C" PostgreSQL knows no other.
func TestMeansWhatPostgreSQLMeans(t *testing.T) {
	conn, err := pgx.Connect(t.Context(), testpg.Start(t).URL())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	d := generate.NewDice("patterns", 1)
	taken := 0
	for range 3000 {
		pattern := generate.Pattern(d)
		var texts []string
		for range 12 {
			texts = append(texts, generate.Subject(d))
		}
		fold := d.One(3)
		if fold || len(pattern) > 4 && pattern[:4] == "(?i)" {
			texts, pattern = asciiOnly(texts), onlyASCII(pattern)
		}
		written, err := posix.Translate(pattern, fold)
		if err != nil {
			continue
		}
		taken++
		operator := map[bool]string{false: "~", true: "~*"}[fold]
		compare(t, conn, `x COLLATE "C" `+operator+" $2", pattern, texts, written)
	}
	if taken < 2000 {
		t.Errorf("only %d patterns were taken", taken)
	}
}

// compare asks PostgreSQL about texts.
func compare(t *testing.T, conn *pgx.Conn, condition, pattern string, texts []string, written string) {
	t.Helper()
	own := regexp.MustCompile(written)
	var there []bool
	sql := "SELECT array_agg(" + condition + " ORDER BY i) FROM unnest($1::text[]) WITH ORDINALITY AS t(x, i)"
	if err := conn.QueryRow(context.Background(), sql, texts, pattern).Scan(&there); err != nil {
		t.Errorf("%q is taken here, and there: %v", pattern, err)
		return
	}
	for i, x := range texts {
		if here := own.MatchString(x); here != there[i] {
			t.Errorf("%q in %q: %v here (as %s), %v there", pattern, x, here, written, there[i])
		}
	}
}

var beyond = regexp.MustCompile(`[^\x00-\x7f]|\\u00e9`)

func onlyASCII(text string) string { return beyond.ReplaceAllString(text, "b") }

func asciiOnly(texts []string) (out []string) {
	for _, x := range texts {
		out = append(out, onlyASCII(x))
	}
	return out
}

func TestSimilarMeansWhatPostgreSQLMeans(t *testing.T) {
	conn, err := pgx.Connect(t.Context(), testpg.Start(t).URL())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	d := generate.NewDice("similar", 1)
	for range 500 {
		pattern := generate.Similar(d)
		written, err := posix.Similar(pattern, '\\')
		if err != nil {
			continue
		}
		texts := []string{"", "a", "Zz9", "azz", "aé9", "Z.^", "%", "abc"}
		for range 6 {
			texts = append(texts, generate.Subject(d))
		}
		compare(t, conn, `x COLLATE "C" SIMILAR TO $2`, pattern, texts, written)
	}
}
