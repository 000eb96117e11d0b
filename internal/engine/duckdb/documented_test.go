package duckdb

import (
	"errors"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/plan/expr"
)

// documented is a line of docs/sql-functions.md: the forms, and what examples of them are.
type documented struct {
	forms    string
	examples [][2]string // an expression and its value, or "refused"
}

var example = regexp.MustCompile("`([^`]+)` → (?:`([^`]+)`|(refused))")

func readDocumented(t *testing.T) []documented {
	text, err := os.ReadFile("../../../docs/sql-functions.md")
	if err != nil {
		t.Fatal(err)
	}
	var out []documented
	for line := range strings.Lines(string(text)) {
		line = strings.ReplaceAll(line, `\|`, "\x01")
		cells := strings.Split(strings.Trim(line, "|\n"), "|")
		if len(cells) != 4 || strings.HasPrefix(cells[0], "-") || strings.TrimSpace(cells[0]) == "form" {
			continue
		}
		d := documented{forms: strings.ReplaceAll(cells[0], "\x01", "|")}
		for _, m := range example.FindAllStringSubmatch(strings.ReplaceAll(cells[3], "\x01", "|"), -1) {
			d.examples = append(d.examples, [2]string{m[1], m[2] + m[3]})
		}
		if len(d.examples) == 0 || strings.Count(cells[3], "→") != len(d.examples) {
			t.Errorf("examples that cannot be read: %s", line)
		}
		out = append(out, d)
	}
	return out
}

// TestDocumented checks every example of docs/sql-functions.md: with expr.Eval, and with
// DuckDB. HAVING keeps an expression as it was written, without folding constants.
func TestDocumented(t *testing.T) {
	e := sampleTable(t, t.TempDir(), []row{{"n": int64(1)}})
	checked := 0
	for _, d := range readDocumented(t) {
		for _, x := range d.examples {
			text := "(" + x[0] + ") IS NOT DISTINCT FROM " + x[1]
			switch x[1] {
			case "NULL":
				text = "(" + x[0] + ") IS NULL"
			case "refused":
				text = "(" + x[0] + ") IS NULL"
			}
			p, err := prepareOne(e.dataset, "SELECT COUNT(*) FROM t HAVING "+text)
			if x[1] == "refused" {
				if !errors.As(err, new(*api.Refusal)) {
					t.Errorf("%s is not refused: %v", x[0], err)
				}
				continue
			}
			if err != nil {
				t.Errorf("%s: %v", text, err)
				continue
			}
			if v := expr.Eval(p.Having, nil); v != true {
				t.Errorf("%s is %v", text, v)
			}
			got, err := valuesOf(t, e, p.Having, same)
			if err != nil || got[0] != true {
				t.Errorf("%s is %v in DuckDB: %v", text, got, err)
			}
			checked++
		}
	}
	if checked < 150 {
		t.Errorf("only %d examples", checked)
	}
}

// TestEveryFunctionIsDocumented: every name that can be called is in the table, with an
// example that calls it.
func TestEveryFunctionIsDocumented(t *testing.T) {
	all := readDocumented(t)
	for _, name := range expr.Functions() {
		form, called := false, false
		for _, d := range all {
			form = form || strings.Contains(d.forms, "`"+name+"(") || name == "||" && strings.Contains(d.forms, "||")
			for _, x := range d.examples {
				called = called || strings.Contains(x[0], name+"(") || name == "||" && strings.Contains(x[0], "||")
			}
		}
		if !form || !called {
			t.Errorf("%s: in the table %v, in an example %v", name, form, called)
		}
	}
}
