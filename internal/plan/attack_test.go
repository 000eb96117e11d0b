package plan_test

import (
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/testcpu"
)

const counting = "SELECT COUNT(*) FROM patients WHERE "

// TestHostileSizes sends texts that are built to exhaust a parser or a stack.
// Each must be refused, quickly.
func TestHostileSizes(t *testing.T) {
	ds := hospital(t)
	many := func(part string, n int) string { return strings.Repeat(part, n) }
	equal := "age = cost"
	for i := range 24 {
		equal += " AND age = cost + " + strconv.Itoa(i+1)
	}
	for name, text := range map[string]string{
		"parentheses":       counting + many("(", 100_000) + "1=1" + many(")", 100_000),
		"few parentheses":   counting + many("(", 65) + "1=1" + many(")", 65),
		"megabyte":          counting + "zip = '" + many("x", 1<<20) + "'",
		"megabyte of space": many(" ", 1<<20) + "SELECT COUNT(*) FROM patients",
		"comment":           "SELECT COUNT(*) /*" + many("x", 1<<20) + "*/ FROM patients",
		"nested comments":   "SELECT " + many("/*", 30_000) + many("*/", 30_000) + " FROM patients WHERE (",
		"ors":               counting + "age=1" + many(" OR age=1", 50_000),
		"ors below 64 KiB":  counting + "a" + many(" OR a", 8_000),
		"minus":             counting + "age = " + many("- ", 50_000) + "1",
		"few minus":         counting + "age = " + many("- ", 1_000) + "1",
		"plus and minus":    counting + "age = " + many("- + ", 100) + "1",
		"nots":              counting + many("NOT ", 50_000) + "true",
		"few nots":          counting + many("NOT ", 1_000) + "true",
		"operators":         counting + many("~ ", 1_000) + "age = 1",
		"named operators":   counting + many("OPERATOR(-) ", 900) + "age = 1",
		"cases":             counting + many("CASE WHEN true THEN ", 1_000) + "1" + many(" END", 1_000),
		"brackets":          counting + "age" + many("[1", 1_000) + many("]", 1_000),
		"subscripts":        counting + "age" + many("[1]", 1_000) + " = 1",
		"casts":             counting + "age" + many("::text::int", 900) + " = 1",
		"functions":         counting + many("abs(-", 64) + "age" + many(")", 64) + many("+1", 70) + " = 1",
		"roundings":         counting + many("round(1.5/", 20) + "age" + many(")", 20) + " = 1",
		"texts":             counting + "zip = 'a'" + many(" || 'a'", 900),
		"simple cases":      counting + many("CASE ", 30) + "age" + many(" WHEN 1 THEN 1 WHEN 2 THEN 2 END", 30) + " = 1",
		"long texts":        counting + many("lower(", 33) + "zip" + many(")", 33) + " = 'a'",
		"pattern":           counting + "zip LIKE '" + many("a_", 200) + "'",
		"collations":        counting + "zip" + many(` COLLATE "C"`, 1_900) + " = 'a'",
		"is null":           counting + "age" + many(" IS NULL", 1_900),
		"sum of ones":       counting + "age = 1" + many("+1", 1_900),
		"sum of columns":    counting + "1 = age" + many("+age", 1_900),
		"products":          counting + "1 = age" + many("*1", 1_900),
		"fine products":     counting + "weight < age" + many("*1e-30", 100),
		"joins":             "SELECT COUNT(*) FROM patients" + many(" NATURAL JOIN patients", 1_000),
		"unions":            "SELECT 1" + many(" UNION SELECT 1", 1_000),
		"subqueries":        "SELECT COUNT(*) FROM " + many("(SELECT * FROM ", 60) + "patients" + many(") x", 60),
		"statements":        many("SELECT COUNT(*) FROM patients;", 500),
		"equalities":        counting + equal,
		"semicolons":        many(";", 3_000),
		"names":             counting + many("a.", 1_900) + "b = 1",
		"aggregate levels":  "SELECT SUM(age" + many("+1", 200) + ") FROM patients",
		"windows": "SELECT COUNT(*) FROM (SELECT pid" + many(", lag(cost) OVER (PARTITION BY pid ORDER BY day)", 51) +
			" FROM visits) t",
		"window levels": "SELECT COUNT(*) FROM (SELECT lag(cost" + many("+1", 200) + ") OVER (PARTITION BY pid) FROM visits) t",
		"window in window": "SELECT COUNT(*) FROM (SELECT " + many("max(", 30) + "cost" + many(") OVER (PARTITION BY pid)", 30) +
			" AS m FROM visits) t WHERE m > 3",
		"order of a window": "SELECT COUNT(*) FROM (SELECT lag(cost) OVER (PARTITION BY pid ORDER BY " + many("day, cost + 1, ", 20) +
			"cost" + many(", cost + 2 * cost", 17) + ", cost * 3, cost * 4, cost * 5, cost * 6, cost * 7, cost * 8, cost * 9, cost * 10, " +
			"cost * 11, cost * 12, cost * 13, cost * 14, cost * 15, cost * 16) AS m FROM visits) t WHERE m > 3",
		"having levels":    "SELECT COUNT(*) FROM patients HAVING COUNT(*)" + many("+1", 200) + " > 1",
		"order levels":     "SELECT COUNT(*) FROM patients ORDER BY COUNT(*)" + many("+1", 200),
		"zero byte":        counting + "zip = 'a\x00b'",
		"zero bytes":       many("\x00", 1_000),
		"not UTF-8":        counting + "zip = '\xff\xfe'",
		"half a character": counting + "zip = '\xe2\x82'",
		"surrogate":        counting + "zip = '\xed\xa0\x80'",
		"long name":        "SELECT COUNT(*) FROM " + many("p", 60_000),
		"long number":      counting + "age = " + many("9", 60_000),
		"long exponent":    counting + "age = 1e" + many("9", 60),
		"quotes":           counting + "zip = " + many("'", 30_001),
		"dollars":          counting + "zip = " + many("$a$", 301),
		"byte order mark":  "\ufeffSELECT COUNT(*) FROM patients WHERE zip = ",
	} {
		t.Run(name, func(t *testing.T) {
			start := testcpu.Worked(t)
			_, err := plan.Prepare(ds, text, plan.Options{})
			var r *api.Refusal
			switch {
			case !errors.As(err, &r):
				t.Fatalf("not refused: %v", err)
			case r.Reason == "" || r.Instead == "" || len(r.Error()) > 1_000:
				t.Errorf("a refusal of %d bytes: %.100s", len(r.Reason), r)
			case r.Position < -1 || r.Position > len(text):
				t.Errorf("position %d is outside the text", r.Position)
			}
			// Slow machines differ by a factor of ten, not of a hundred.
			if took := testcpu.Worked(t) - start; took > 2*time.Second {
				t.Errorf("it took %v", took)
			}
		})
	}
}

// TestLargeQuestions keeps the limits from refusing what people ask.
func TestLargeQuestions(t *testing.T) {
	ds := hospital(t)
	for name, text := range map[string]string{
		"long list":   counting + "age IN (1" + strings.Repeat(", 2", 1_500) + ")",
		"many ors":    counting + "age = 1" + strings.Repeat(" OR cost = 2", 900),
		"long sum":    "SELECT SUM(age" + strings.Repeat(" + age", 100) + ") FROM patients",
		"parentheses": counting + strings.Repeat("(", 60) + "age = 1" + strings.Repeat(")", 60),
		"text":        counting + "zip = '" + strings.Repeat("é", 30_000) + "'",
		"many sums":   "SELECT COUNT(*)" + strings.Repeat(", SUM(age), AVG(cost)", 300) + " FROM patients",
	} {
		if _, err := plan.Prepare(ds, text, plan.Options{}); err != nil {
			t.Errorf("%s: %.200v", name, err)
		}
	}
}
