package tools

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// script is what one tool sent: a file of testdata/corpus.
type script struct {
	name  string
	about []string // lines of who sent it
	lines []line
}

// line is one thing that a tool did on one of its connections.
type line struct {
	step       string // what the sender was about
	connection int    // from 1
	startup    string // the parameters of a new connection, or empty
	*statement
}

// statement is something sent, and what comes of it.
type statement struct {
	way      string   // simple, extended or describe
	sql      string   // with @name@ for OIDs
	types    []string // of parameters, as the client names them; - where it leaves that to the server
	asked    bool     // whether the client asked for the types first, and encodes values by them
	values   []value
	results  string // formats: text, binary, or one letter for each column
	rows     uint32 // how many rows at a time, or 0
	name     string // of the prepared statement, where a later text has it
	portal   string // likewise
	postgres string // the SQLSTATE with which PostgreSQL itself refused it, or empty
	outcome  string
}

type value struct {
	null, binary bool
	text         string
}

func (v value) String() string {
	format := ""
	if v.binary {
		format = " (binary)"
	}
	if v.null {
		return "null" + format
	}
	return fmt.Sprintf("%q%s", v.text, format)
}

// head is the line above a statement.
func (s *statement) head() string {
	words := []string{"=", s.way}
	if len(s.types) > 0 {
		words = append(words, "types="+strings.Join(s.types, ","))
	}
	if s.asked {
		words = append(words, "asked")
	}
	if s.results != "" && s.results != "text" {
		words = append(words, "results="+s.results)
	}
	if s.rows != 0 {
		words = append(words, fmt.Sprintf("rows=%d", s.rows))
	}
	if s.name != "" {
		words = append(words, "name="+s.name)
	}
	if s.portal != "" {
		words = append(words, "portal="+s.portal)
	}
	if s.postgres != "" {
		words = append(words, "postgres="+s.postgres)
	}
	return strings.Join(words, " ") + ": " + s.outcome
}

// body is what is sent, which makes two statements the same.
func (s *statement) body() string {
	var b strings.Builder
	for l := range strings.SplitSeq(s.sql, "\n") {
		b.WriteString(strings.TrimRight("    "+l, " \t\r") + "\n")
	}
	for i, v := range s.values {
		fmt.Fprintf(&b, "  $%d = %s\n", i+1, v)
	}
	return b.String()
}

// String writes a script as it stands in its file.
func (c *script) String() string {
	var b strings.Builder
	for _, l := range c.about {
		b.WriteString("# " + l + "\n")
	}
	step, connection := "", 0
	for _, l := range c.lines {
		if l.step != step {
			step, connection = l.step, 0
			fmt.Fprintf(&b, "\n@ %s\n", step)
		}
		if l.startup != "" || l.connection != connection {
			connection = l.connection
			b.WriteString(strings.TrimSpace(fmt.Sprintf("> %d %s", l.connection, l.startup)) + "\n")
		}
		if l.statement != nil {
			b.WriteString(l.head() + "\n" + l.body())
		}
	}
	return b.String()
}

func parse(name, text string) (*script, error) {
	c := &script{name: name}
	var step string
	var connection int
	var last *statement
	for i, l := range strings.Split(text, "\n") {
		fail := func(err any) error { return fmt.Errorf("%s:%d: %v: %s", name, i+1, err, l) }
		mark, rest, _ := strings.Cut(l, " ")
		switch {
		case strings.HasPrefix(l, "    "), last != nil && l == "":
			if last == nil {
				return nil, fail("a text without a head")
			}
			last.sql += strings.TrimPrefix(l, "    ") + "\n"
		case strings.HasPrefix(l, "  $"):
			v, err := parseValue(l)
			if err != nil {
				return nil, fail(err)
			}
			last.values = append(last.values, v)
		case mark == "#":
			c.about = append(c.about, rest)
		case mark == "@":
			step, last = rest, nil
		case mark == ">":
			last = nil
			number, startup, _ := strings.Cut(rest, " ")
			if _, err := fmt.Sscan(number, &connection); err != nil {
				return nil, fail(err)
			}
			if startup != "" {
				c.lines = append(c.lines, line{step: step, connection: connection, startup: startup})
			}
		case mark == "=":
			s, err := parseHead(rest)
			if err != nil {
				return nil, fail(err)
			}
			last = s
			c.lines = append(c.lines, line{step: step, connection: connection, statement: s})
		case l != "":
			return nil, fail("what is this")
		}
	}
	for _, l := range c.lines {
		if l.statement != nil {
			l.sql = strings.TrimRight(l.sql, "\n")
		}
	}
	return c, nil
}

func parseHead(text string) (*statement, error) {
	words, outcome, ok := strings.Cut(text, ":")
	if !ok {
		return nil, fmt.Errorf("no outcome")
	}
	s := &statement{outcome: strings.TrimSpace(outcome)}
	for i, w := range strings.Fields(words) {
		name, v, _ := strings.Cut(w, "=")
		switch {
		case i == 0:
			s.way = w
		case name == "types":
			s.types = strings.Split(v, ",")
		case name == "asked":
			s.asked = true
		case name == "results":
			s.results = v
		case name == "name":
			s.name = v
		case name == "portal":
			s.portal = v
		case name == "postgres":
			s.postgres = v
		case name == "rows":
			if _, err := fmt.Sscan(v, &s.rows); err != nil {
				return nil, err
			}
		default:
			return nil, fmt.Errorf("what is %s", w)
		}
	}
	return s, nil
}

func parseValue(l string) (value, error) {
	_, text, ok := strings.Cut(l, " = ")
	if !ok {
		return value{}, fmt.Errorf("no value")
	}
	text, binary := strings.CutSuffix(text, " (binary)")
	if text == "null" {
		return value{null: true, binary: binary}, nil
	}
	v := value{binary: binary}
	var err error
	v.text, err = strconv.Unquote(text)
	return v, err
}

func corpus(t testing.TB) []*script {
	t.Helper()
	files, err := filepath.Glob("testdata/corpus/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no corpus: %v", err)
	}
	var out []*script
	for _, f := range files {
		out = append(out, readScript(t, f))
	}
	return out
}

func readScript(t testing.TB, file string) *script {
	t.Helper()
	text, err := os.ReadFile(file)
	must(t, err)
	c, err := parse(strings.TrimSuffix(filepath.Base(file), ".txt"), string(text))
	must(t, err)
	return c
}

// stateful are statements that the next ones stand on: they are kept however often they come.
var stateful = []string{"BEGIN", "START", "COMMIT", "END", "ROLLBACK", "ABORT", "SAVEPOINT", "RELEASE", "SET", "DECLARE", "FETCH", "MOVE",
	"CLOSE", "PREPARE", "EXECUTE", "DISCARD", "RESET"}

func (s *statement) verb() string {
	word := strings.ToUpper(strings.TrimLeft(s.sql, " \t\r\n("))
	if i := strings.IndexFunc(word, func(r rune) bool { return r < 'A' || r > 'Z' }); i >= 0 {
		word = word[:i]
	}
	return word
}

// brief leaves out what was sent before in the same way, and transactions and connections of which
// nothing is left then.
func (c *script) brief() {
	seen := map[string]bool{}
	first := func(key string) bool {
		is := !seen[key]
		seen[key] = true
		return is
	}
	var kept []line
	for _, l := range c.lines {
		switch {
		case l.statement == nil:
			kept = append(kept, l)
		case slices.Contains(stateful, l.verb()):
			kept = append(kept, l)
		case first(l.way + strings.Join(l.types, ",") + l.results + "\n" + l.body()):
			kept = append(kept, l)
		}
	}
	c.lines = withoutEmptyTransactions(kept, first)
	c.forgetNames()
	c.lines = withoutIdleConnections(c.lines, first)
}

// forgetNames leaves out the names of statements and portals that no text has.
func (c *script) forgetNames() {
	said := func(name string) bool {
		return slices.ContainsFunc(c.lines, func(l line) bool {
			return l.statement != nil && strings.Contains(l.sql, name)
		})
	}
	for _, l := range c.lines {
		if l.statement != nil && !said(l.name) {
			l.name = ""
		}
		if l.statement != nil && !said(l.portal) {
			l.portal = ""
		}
	}
}

// withoutEmptyTransactions drops runs of statements without which nothing is different: state
// that is set and left again, where the same run was there before.
func withoutEmptyTransactions(lines []line, first func(string) bool) []line {
	var out []line
	for i := 0; i < len(lines); {
		if lines[i].statement == nil || !slices.Contains(stateful, lines[i].verb()) {
			out = append(out, lines[i])
			i++
			continue
		}
		run := ""
		j := i
		for ; j < len(lines) && lines[j].statement != nil && lines[j].connection == lines[i].connection &&
			slices.Contains(stateful, lines[j].verb()); j++ {
			run += lines[j].way + lines[j].body()
			if end := lines[j].verb(); end == "COMMIT" || end == "ROLLBACK" || end == "END" || end == "ABORT" {
				j++
				break
			}
		}
		closed := lines[i].verb() == "BEGIN" && (lines[j-1].verb() == "COMMIT" || lines[j-1].verb() == "ROLLBACK")
		if !closed || first("run "+run) {
			out = append(out, lines[i:j]...)
		}
		i = j
	}
	return out
}

func withoutIdleConnections(lines []line, first func(string) bool) []line {
	used := map[int]bool{}
	for _, l := range lines {
		used[l.connection] = used[l.connection] || l.statement != nil
	}
	var out []line
	for _, l := range lines {
		if l.statement != nil || used[l.connection] || first("startup "+l.startup) {
			out = append(out, l)
		}
	}
	return out
}
