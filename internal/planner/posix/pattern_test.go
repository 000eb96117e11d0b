package posix_test

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/discreet-dp/discreet/internal/planner/posix"
	"github.com/discreet-dp/discreet/internal/test/generate"
	"github.com/discreet-dp/discreet/internal/test/golden"
	"github.com/discreet-dp/discreet/internal/test/testpg"
)

func TestTranslate(t *testing.T) {
	for _, x := range []struct {
		pattern string
		fold    bool
		yes, no string // separated by |
	}{
		{"^a.c$", false, "abc|a\nc|aéc", "abcd|ac"},
		{"a$|^b", false, "a|xa|b|bx", "ax\n|xb"},
		{"straße", true, "STRAßE|Straße", "strasse"},
		{"É[à-ü]", true, "éÀ|ÉÜ", "ea"},
		{"k", true, "k|K", "\u212a"}, // the Kelvin sign is neither its upper nor its lower case
		{"[^k]", true, "x|\u212a", "k|K|kK"},
		{`\d\w\s`, false, "1a |9_\t", "١a "},
		{`\mcat\M`, false, "a cat.|cat", "cats|concat"},
		{`\ycat\y`, false, "a cat.", "cats"},
		{`.\Y|\Y(a|b)`, false, "ab|😀😀|xa", "a|B😀A"},
		{`a\b`, false, "a\b", "a"}, // backspace, as in PostgreSQL
		{`[[:digit:][:space:]x-]+$`, false, "12 x-", "y"},
		{`[]a]`, false, "]|a", "b"},
		{`[^]a]`, false, "b", "]|a"},
		{`a{2,3}b{0}c`, false, "aac", "ac|aabc"},
		{`x{,5}`, false, "x{,5}", "xx"},
		{`()|a`, false, "|a|b", ""},
		{`(?i)aB`, false, "AB|ab", "b"},
		{`\u00e9|\U0001F600`, false, "é|😀", "e"},
	} {
		written, err := posix.Translate(x.pattern, x.fold)
		if err != nil {
			t.Errorf("%q: %v", x.pattern, err)
			continue
		}
		own := regexp.MustCompile(written)
		for _, text := range strings.Split(x.yes, "|") {
			if !own.MatchString(text) {
				t.Errorf("%q does not match %q, as %s", x.pattern, text, written)
			}
		}
		for _, text := range strings.Split(x.no, "|") {
			if x.no != "" && own.MatchString(text) {
				t.Errorf("%q matches %q, as %s", x.pattern, text, written)
			}
		}
	}
}

// TestRefused sends patterns that would take longer than their texts, are too large, or are none.
func TestRefused(t *testing.T) {
	many := strings.Repeat
	for _, pattern := range []string{`(a)\1`, `a(?=b)`, `a(?!b)`, `(?<=a)b`, `(?<!a)b`, "***=a", "***:a", "(?x)a", "(?n)a",
		"(?p)a", "(?i", "(?q)a", "(a", "a)", "[a", "[", "[z-a]", "[a-[:digit:]]", "[[:nope:]]", "[[.a.]]", "[[=a=]]", "*",
		"+a", "?", "{1}", "a**", "a{1}{2}", "a{256}",
		"a{3,2}", "a{1", "a{1,", "^*", "$+", `\A?`, `\y{2}`, `\`, `\q`, `\x41`,
		`\cA`, `\u12`, `\ud800`, `\U00110000`, `\m`, `\m.`, `.\M`, `a\m`, `\Y`, `a|\Y`, `a*\Y`, `(\Y)*a`,
		many("a", 251), many("(", 31) + many(")", 31), "(a{1,30}){1,30}",
		many("[a-c]{200}", 3), "((a{0,0}){0,255}){0,255}", many("(a|b)", 49) + "{255}",
		"[" + many("aceg", 60) + "]" + "{255}", "((((((a{9}){9}){9}){9}){9}){9}){9}"} {
		start := golden.CPUTime(t)
		_, err := posix.Translate(pattern, false)
		var e *posix.Error
		if !errors.As(err, &e) || e.Reason == "" || e.Instead == "" {
			t.Errorf("%q is not refused: %v", pattern, err)
		}
		if took := golden.CPUTime(t) - start; took > time.Second {
			t.Errorf("%q took %v", pattern, took)
		}
	}
	for _, pattern := range []string{`a\`, `a\"b`, "(", "[a", "*", many("%", 251)} {
		if _, err := posix.Similar(pattern, '\\'); err == nil {
			t.Errorf("%q is not refused", pattern)
		}
	}
}

// TestLinear matches patterns that are made to be slow: none takes much longer for a text that is
// ten times as long.
func TestLinear(t *testing.T) {
	for _, pattern := range []string{"(a+)+$", "(a|aa)+$", "(.*)*b", "(a?){50}a{50}", "(x+x+)+y", `([a-z]+)*[0-9]{100}`,
		"(.|[a-z]|[^b]){40}c"} {
		written, err := posix.Translate(pattern, true)
		if err != nil {
			t.Errorf("%q: %v", pattern, err)
			continue
		}
		own := regexp.MustCompile(written)
		start := golden.CPUTime(t)
		own.MatchString(strings.Repeat("a", 20_000) + "!")
		if took := golden.CPUTime(t) - start; took > 20*time.Second {
			t.Errorf("%q took %v", pattern, took)
		}
	}
}

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
