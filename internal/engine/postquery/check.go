package postquery

import (
	"maps"
	"slices"
	"strings"
	"time"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/planner/syntax"
)

// Check refuses what may not run over released results, and prints the rest for Describe and Run.
// It looks at the text and at names alone. tables has the columns of each released result. What it
// refuses is a *api.Refusal.
func Check(stmt *pg.SelectStmt, tables map[string][]string) (string, error) {
	p := newPrinter()
	for _, name := range slices.Sorted(maps.Keys(tables)) {
		p.scope.release(name, tables[name])
	}
	if stmt == nil {
		p.refuse(syntax.Malformed, -1, "write a SELECT", "there is no statement")
	}
	p.selectStmt(stmt, true)
	if p.refused != nil {
		return "", p.refused
	}
	return p.out.String(), nil
}

// refuse notes what is refused first. Nothing is printed after it, and nothing further down is
// looked at.
func (p *output) refuse(k syntax.Kind, pos int32, instead, format string, args ...any) {
	if p.refused == nil {
		p.refused = syntax.Refuse(k, pos, instead, format, args...)
	}
}

// output is what is printed so far, or what is refused, with what it costs DuckDB.
type output struct {
	out     *strings.Builder
	refused *api.Refusal
	depth   int
	cost    int
	weight  int // how often DuckDB copies what is printed now
}

// newPrinter returns what prints a statement. The printers below share its output, and each has
// what it counts.
func newPrinter() *statementPrinter {
	out := &output{out: &strings.Builder{}, weight: 1}
	functions := &functionPrinter{output: out}
	exprs := &exprPrinter{output: out, functions: functions}
	functions.exprs = exprs
	exprs.values = &valuePrinter{output: out, exprs: exprs}
	exprs.operators = &operatorPrinter{output: out, exprs: exprs, functions: functions}
	in := &scope{output: out, released: map[string]string{}, tables: map[string][]outputColumn{}}
	from := &fromPrinter{output: out, scope: in, exprs: exprs}
	p := &statementPrinter{output: out, scope: in, from: from, exprs: exprs}
	exprs.statements, from.statements = p, p
	return p
}

// fold is how DuckDB compares names: without regard to case.
func fold(name string) string { return strings.ToLower(name) }

// release notes a released result. Names that PostgreSQL tells apart by case alone are one in
// DuckDB.
func (p *scope) release(name string, columns []string) {
	p.checkName(name, -1)
	if other, ok := p.released[fold(name)]; ok {
		p.refuse(syntax.DuplicateAlias, -1, "give them names that differ in more than letter case",
			"the results %q and %q have the same name", other, name)
		return
	}
	p.released[fold(name)] = name
	for _, c := range columns {
		p.tables[fold(name)] = append(p.tables[fold(name)], outputColumn{name: c})
	}
	seen := map[string]bool{}
	for _, c := range columns {
		p.checkName(c, -1)
		if seen[fold(c)] {
			p.refuse(syntax.Duplicate, -1, "give each column its own name with AS", "the result %q has two columns called %q", name, c)
			return
		}
		seen[fold(c)] = true
	}
}

// checkName refuses what cannot be a name.
func (p *output) checkName(s string, pos int32) {
	if s == "" || len(s) > 4*MaxText || strings.ContainsRune(s, 0) || strings.Contains(s, tableMark) {
		p.refuse(syntax.Malformed, pos, "use a shorter name", "this is not a name")
		return
	}
}

// quotedName is a name as it is printed.
func (p *output) quotedName(s string, pos int32) string {
	p.checkName(s, pos)
	return `"` + strings.ReplaceAll(s, `"`, `""`) + `"`
}

// tableMark stands before the names that tables have in FROM, and before no other name. In DuckDB a
// table's name alone is a column too, of whole rows, and rows of rows of rows are made when it
// plans, outside of its limits of memory and of time. So no column can be called as a table is.
const tableMark = "\x01"

// tableName is the name of a table in FROM as it is printed.
func (p *output) tableName(s string, pos int32) string {
	p.checkName(s, pos)
	return `"` + tableMark + strings.ReplaceAll(s, `"`, `""`) + `"`
}

func (p *output) write(parts ...string) {
	for _, s := range parts {
		p.out.WriteString(s)
	}
}

// enter counts a node, which leave leaves. It reports whether there is anything left to print.
func (p *output) enter(pos int32) bool {
	p.depth++
	p.cost += p.weight
	if p.depth > maxDepth {
		p.refuse(syntax.TooComplex, pos, "name parts of it in WITH", "this is nested more than %d levels deep", maxDepth)
	}
	if p.cost > maxCost {
		p.refuseLarge(pos)
	}
	return p.refused == nil
}

func (p *output) leave() { p.depth-- }

// withCopies prints something that DuckDB copies n times.
func (p *output) withCopies(n int, print func()) {
	before := p.weight
	p.weight = min(before*n, maxCost+1)
	print()
	p.weight = before
}

// capture prints something elsewhere, and returns it.
func (p *output) capture(print func()) string {
	before := p.out
	p.out = &strings.Builder{}
	print()
	s := p.out.String()
	p.out = before
	return s
}

// captureCosting also returns what it costs, for what is printed more than once.
func (p *output) captureCosting(print func()) (text string, cost int) {
	before := p.cost
	return p.capture(print), p.cost - before
}

// repeat counts something that was printed and is written n more times.
func (p *output) repeat(cost, n int) {
	if p.cost += cost * n; p.cost > maxCost {
		p.refuseLarge(-1)
	}
}

func (p *output) refuseLarge(pos int32) {
	p.refuse(syntax.TooComplex, pos, "ask for less in one statement",
		"the statement is too large, counting repetitions (NULLIF, CASE, split_part, JSON "+
			"and arrays repeat their arguments)")
}

func printList[T any](p *output, all []T, print func(T)) {
	for i, x := range all {
		if p.refused != nil {
			return
		}
		if i > 0 {
			p.write(", ")
		}
		print(x)
	}
}

// stringOf returns a name's part of a list of strings, which is how the parser has names.
func stringOf(n *pg.Node) string { return n.GetString_().GetSval() }

// What one call may use.
const (
	MaxRows       = 100_000  // of a result
	MaxBytes      = 16 << 20 // of a result, as text
	MaxColumns    = 100      // of a result and of every SELECT inside
	MaxText       = 1000     // characters of a text that is made or written
	MaxMade       = 32 << 20 // bytes of JSON and arrays that are made, with what they are made of
	MaxRunning    = 4        // calls at a time; others wait
	MaxOwnRunning = 2        // calls of WithOwnTurns at a time, beside those
	Time          = 10 * time.Second
	Memory        = "256MB"
)

// What a statement may be. The tree is walked by recursion, by us and by DuckDB.
const (
	maxDepth    = 150     // nodes inside each other; DuckDB has a limit of 1000 for what we print of them
	maxCost     = 20_000  // nodes, counted as often as DuckDB copies them
	maxGrowing  = 32      // calls that make texts longer; each can hold a few MB for the rows in work
	maxSources  = 40      // tables, subqueries and functions in FROM; DuckDB cannot be stopped while it orders joins
	maxMatched  = 2_000   // columns of NATURAL JOIN and USING, for each table on their left; nor while it looks for these
	maxEqual    = 40      // conditions that compare two columns; nor while it makes more of these
	maxSets     = 64      // grouping sets of one GROUP BY
	maxArgs     = 32      // of one function
	maxMembers  = 100     // arguments of a function that makes JSON
	maxElements = 100_000 // of an array, and of JSON that an aggregate makes
	maxPadding  = 4       // characters of a replacement
	maxDecimals = 30      // digits after the point of a released decimal
)
