package outer

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/api"
)

// Check refuses what may not run over released results, and prints the rest for Describe and Run.
// It looks at the text and at names alone. tables has the columns of each released result. What it
// refuses is a *api.Refusal.
func Check(stmt *pg.SelectStmt, tables map[string][]string) (string, error) {
	p := &printer{released: map[string]string{}, widths: map[string]int{}, weight: 1}
	for _, name := range slices.Sorted(maps.Keys(tables)) {
		p.release(name, tables[name])
	}
	if stmt == nil {
		p.refuse(-1, "write a SELECT", "there is no statement")
	}
	p.selectStmt(stmt, true)
	if p.refused != nil {
		return "", p.refused
	}
	return p.out.String(), nil
}

// refuse notes what is refused first. Nothing is printed after it, and nothing further down is
// looked at.
func (p *printer) refuse(pos int32, instead, format string, args ...any) {
	if p.refused == nil {
		p.refused = &api.Refusal{Reason: fmt.Sprintf(format, args...), Instead: instead, Position: int(pos)}
	}
}

// printer writes what it knows, and refuses all else.
type printer struct {
	out      strings.Builder
	refused  *api.Refusal
	released map[string]string // by the name as DuckDB compares it
	ctes     []string          // WITH queries in sight, innermost last
	widths   map[string]int    // columns of released results and of WITH queries, by the name as DuckDB compares it
	sight    []source          // what is in FROM so far, here and around, innermost last
	depth    int
	cost     int
	weight   int // how often DuckDB copies what is printed now
	growing  int
	gathered int // aggregates that keep all values
	sources  int
	equal    int // conditions that two things are equal
	matched  int // columns that NATURAL and USING compare, for each table on the left
}

// fold is how DuckDB compares names: without regard to case.
func fold(name string) string { return strings.ToLower(name) }

// release notes a released result. Names that PostgreSQL tells apart by case alone are one in
// DuckDB.
func (p *printer) release(name string, columns []string) {
	p.name(name, -1)
	if other, ok := p.released[fold(name)]; ok {
		p.refuse(-1, "give them names that differ in more than case", "the results %q and %q have one name", other, name)
		return
	}
	p.released[fold(name)], p.widths[fold(name)] = name, len(columns)
	seen := map[string]bool{}
	for _, c := range columns {
		p.name(c, -1)
		if seen[fold(c)] {
			p.refuse(-1, "give each column a name of its own with AS", "the result %q has two columns %q", name, c)
			return
		}
		seen[fold(c)] = true
	}
}

// name refuses what cannot be a name.
func (p *printer) name(s string, pos int32) {
	if s == "" || len(s) > 4*MaxText || strings.ContainsRune(s, 0) || strings.Contains(s, mark) {
		p.refuse(pos, "use a shorter name", "this is not a name")
		return
	}
}

// quoted is a name as it is printed.
func (p *printer) quoted(s string, pos int32) string {
	p.name(s, pos)
	return `"` + strings.ReplaceAll(s, `"`, `""`) + `"`
}

// mark stands before the names that tables have in FROM, and before no other name. In DuckDB a
// table's name alone is a column too, of whole rows, and rows of rows of rows are made when it
// plans, outside of its limits of memory and of time. So no column can be called as a table is.
const mark = "\x01"

// table is the name of a table in FROM as it is printed.
func (p *printer) table(s string, pos int32) string {
	p.name(s, pos)
	return `"` + mark + strings.ReplaceAll(s, `"`, `""`) + `"`
}

// say prints.
func (p *printer) say(parts ...string) {
	for _, s := range parts {
		p.out.WriteString(s)
	}
}

// enter counts a node, which leave leaves. It reports whether there is anything left to print.
func (p *printer) enter(pos int32) bool {
	p.depth++
	p.cost += p.weight
	if p.depth > maxDepth {
		p.refuse(pos, "name parts of it in WITH", "this is nested more than %d deep", maxDepth)
	}
	if p.cost > maxCost {
		p.refuse(pos, "ask for less in one statement",
			"the statement is too large, with what is repeated in it (NULLIF, CASE and split_part repeat what they look at)")
	}
	return p.refused == nil
}

func (p *printer) leave() { p.depth-- }

// copied prints something that DuckDB copies n times.
func (p *printer) copied(n int, print func()) {
	before := p.weight
	p.weight = min(before*n, maxCost+1)
	print()
	p.weight = before
}

// list prints nodes with commas between them.
func list[T any](p *printer, all []T, print func(T)) {
	for i, x := range all {
		if p.refused != nil {
			return
		}
		if i > 0 {
			p.say(", ")
		}
		print(x)
	}
}

// text returns a name's part of a list of strings, which is how the parser has names.
func text(n *pg.Node) string { return n.GetString_().GetSval() }
