package tools

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// kinds of steps, by their names; all others ask something.
var (
	looking = regexp.MustCompile(`^(list|columns?$|columns |look|describe|keys|types|complete|exists|info|privileges|functions|procedures|` +
		`tables?$|table (in|schema|types)|tbl|reflect|multi|objects|search|dashboard|what it can|has$|indexes|references|version|valid|` +
		`schema|select star|datasets|refresh|settings|client$|hstore|json types|codec)`)
	fetching = regexp.MustCompile(`^(copy|cursor|chart|binary|prepare|again|stream|chunks|fetch|scroll|declare|named|pipeline|portal|gdesc|` +
		`crosstab|box plot|histogram|bar$|pie$|batches|arrow|view data|pool|async|server cursor|dictionaries|rows as|max rows|simple|` +
		`several|batch|transaction|savepoint|session|modes|reserve|values|for each|filter values|samples|explore|profile|isolation|` +
		`read |csv|data frame|glimpse|print)`)
	driver = regexp.MustCompile(`^(psycopg2?|pg|postgres|connectorx|adbc|sqlalchemy|dbplyr|metabase|without copy|simple|csv|query): `)
)

// TestTable holds the table of docs/tools.md against what the tools did.
func TestTable(t *testing.T) {
	const file, end = "../../../docs/tools.md", "\n<!-- end -->"
	const begin = "<!-- made by go test ./internal/test/tools -run TestTable -rewrite -->\n"
	text, err := os.ReadFile(file)
	must(t, err)
	head, rest, ok := strings.Cut(string(text), begin)
	_, tail, closed := strings.Cut(rest, end)
	if !ok || !closed {
		t.Fatalf("%s has no room for the table", file)
	}
	made := head + begin + table(t) + end + tail
	if *rewrite {
		must(t, os.WriteFile(file, []byte(made), 0o644))
	} else if made != string(text) {
		t.Errorf("%s has another table; -rewrite writes it", file)
	}
}

func table(t *testing.T) string {
	files, err := filepath.Glob("testdata/steps/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no steps: %v", err)
	}
	var b strings.Builder
	b.WriteString("| tool | connects | looks around | asks | fetches, draws | statements | refused, and why |\n" +
		"|---|---|---|---|---|---|---|\n")
	by, well, refused := map[string]int{}, 0, 0
	for _, f := range files {
		text, err := os.ReadFile(f)
		must(t, err)
		c := readScript(t, filepath.Join("testdata/corpus", filepath.Base(f)))
		c.count(by)
		well += strings.Count("\n"+string(text), "\nok ")
		refused += strings.Count("\n"+string(text), "\nno ")
		b.WriteString(row(string(text), c) + "\n")
	}
	fmt.Fprintf(&b, "\nTogether %d tools sent %d statements. Of these %d are answered free and %d for a\n"+
		"price, %d are refused for privacy, %d are refused by PostgreSQL too, and %d do not work yet. Of\n"+
		"their %d steps %d went well, and %d were refused.\n",
		len(files), sum(by), by["free"], by["paid"], by["private"], by["absent"], by["FAILED"], well+refused, well, refused)
	return b.String()
}

// row is a tool's line of the table.
func row(steps string, c *script) string {
	var versions, order []string
	done := map[string]int{}
	refused := map[string][]string{}
	for l := range strings.SplitSeq(strings.TrimSpace(steps), "\n") {
		mark, text, _ := strings.Cut(l, " ")
		name, reason, _ := strings.Cut(text, " | ")
		switch mark {
		case "tool":
			versions = append(versions, text)
		case "ok":
			done[kind(name)]++
		case "no":
			reason, _, _ = strings.Cut(reason, " ")
			if !slices.Contains(order, reason) {
				order = append(order, reason)
			}
			refused[reason] = append(refused[reason], name)
		}
	}
	connects := "no"
	if len(done) > 0 {
		connects = "yes"
	}
	var why []string
	for _, reason := range order {
		why = append(why, reason+": "+list(refused[reason]))
	}
	by := map[string]int{}
	c.count(by)
	return fmt.Sprintf("| %s | %s | %d | %d | %d | %d, %d refused | %s |", strings.Join(versions, ", "), connects, done["looks"],
		done["asks"], done["fetches"], sum(by), by["private"], strings.Join(why, "; "))
}

func list(names []string) string {
	const most = 4
	if len(names) > most {
		return strings.Join(names[:most], ", ") + fmt.Sprintf(" and %d more", len(names)-most)
	}
	return strings.Join(names, ", ")
}

func kind(step string) string {
	step = strings.ToLower(driver.ReplaceAllString(step, ""))
	switch {
	case looking.MatchString(step):
		return "looks"
	case fetching.MatchString(step):
		return "fetches"
	}
	return "asks"
}

// count adds up the statements by what comes of them: answered free or paid, private where they are
// refused, absent where PostgreSQL refuses them too, and FAILED.
func (c *script) count(by map[string]int) {
	for _, l := range c.lines {
		if l.statement != nil {
			outcome, _, _ := strings.Cut(l.outcome, " ")
			by[outcome]++
		}
	}
}

func sum(by map[string]int) (n int) {
	for _, v := range by {
		n += v
	}
	return n
}
