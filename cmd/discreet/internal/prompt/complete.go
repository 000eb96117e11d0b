package prompt

import (
	"maps"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/policy"
)

// keywords are the words that questions are made of.
var keywords = []string{
	"ALL", "AND", "AS", "ASC", "AVG", "BETWEEN", "BY", "CASE", "COUNT", "DESC", "DISTINCT", "ELSE", "END", "EXPLAIN",
	"FALSE", "FROM", "GROUP", "HAVING",
	"IN", "IS", "JOIN", "LIKE", "LIMIT", "NOT", "NULL", "OFFSET", "ON", "OR", "ORDER", "RESET", "SELECT", "SET",
	"SHOW", "SUM", "THEN", "TO", "TRUE",
	"USING", "WHEN", "WHERE",
}

// Completer knows what could come next. Everything that it offers is in the policy, which analysts
// may see.
type Completer struct {
	Policy  *policy.Policy
	Dataset *policy.Dataset // or nil
}

// Complete returns where in the text the last word begins, and what it could become. The text is
// everything up to the cursor, and line is where its last line begins.
func (c Completer) Complete(text string, line int) (start int, out []string) {
	if command := text[line:]; strings.HasPrefix(command, `\`) {
		word, argument, more := strings.Cut(command, " ")
		if !more {
			return line, matchPrefix(word, backslashNames())
		}
		start = len(text) - len(argument)
		switch word {
		case `\d`:
			return start, matchPrefix(argument, c.tables())
		case `\c`:
			return start, matchPrefix(argument, c.Policy.Names())
		case `\json`:
			return start, matchPrefix(argument, []string{"off", "on"})
		case `\explain`:
			start, out = c.Complete(argument, 0)
			return len(text) - len(argument) + start, out
		}
		return len(text), nil
	}
	all, open := SplitTokens(text)
	// Only the last statement counts. Inside of a quoted name the name is completed; inside of a
	// text nothing is.
	for i := len(all) - 1; i >= 0; i-- {
		if all[i].Is(";") {
			all = all[i+1:]
			break
		}
	}
	prefix, start := "", len(text)
	if n := len(all); n > 0 && all[n-1].End == len(text) && (all[n-1].kind == wordToken || all[n-1].kind == quotedToken && open) {
		prefix, start, all, open = all[n-1].text, all[n-1].Start, all[:n-1], false
	}
	if open || isComment(text[line:]) {
		return len(text), nil
	}
	before := func(i int) Token {
		if i > len(all) {
			return Token{}
		}
		return all[len(all)-i]
	}
	switch last := before(1); {
	case before(2).Is("dp") && last.Is("."), last.Is("set"), last.Is("reset"), last.Is("show"):
		names := SettingNames()
		if before(1).Is("show") || before(3).Is("show") {
			names = append(names, "dp.budget")
		}
		if last.Is(".") { // the whole name is offered, and begins two tokens earlier
			start = before(2).Start
			prefix = text[start:]
		} else if !last.Is("set") {
			names = append(names, "ALL")
		}
		return start, matchPrefix(prefix, names)
	case last.Is("."):
		return start, matchPrefix(prefix, c.columns([]string{c.tableNamed(all, before(2).name())}))
	case last.Is("from"), last.Is("join"):
		return start, matchPrefix(prefix, c.tables())
	}
	// A table that is named later is not known yet, so before FROM all columns are offered.
	words := append(matchPrefix(prefix, c.columns(c.tablesInFrom(all))), matchPrefix(prefix, matchKeywords(prefix))...)
	return start, words
}

// isComment reports whether a line ends in a comment that begins with two dashes.
func isComment(line string) bool {
	a, _ := SplitTokens(line)
	b, _ := SplitTokens(line + "x")
	return len(line) > 0 && len(a) == len(b) && (len(a) == 0 || a[len(a)-1].End == b[len(b)-1].End)
}

// matchKeywords returns the keywords in the letter case that was begun.
func matchKeywords(prefix string) []string {
	if prefix == "" || prefix != strings.ToLower(prefix) {
		return keywords
	}
	var out []string
	for _, k := range keywords {
		out = append(out, strings.ToLower(k))
	}
	return out
}

// matchPrefix returns the words that begin with the prefix, in whatever letter case.
func matchPrefix(prefix string, words []string) []string {
	var out []string
	for _, w := range words {
		bare := strings.Trim(w, `"`)
		p := strings.TrimPrefix(prefix, `"`)
		if len(bare) >= len(p) && strings.EqualFold(bare[:len(p)], p) && !slices.Contains(out, w) {
			out = append(out, w)
		}
	}
	return out
}

func (c Completer) tables() []string {
	if c.Dataset == nil {
		return nil
	}
	var out []string
	for _, t := range c.Dataset.TableNames() {
		out = append(out, NameOrQuoted(t))
	}
	return out
}

// columns returns the columns of the tables, of all where none is named.
func (c Completer) columns(tables []string) []string {
	if c.Dataset == nil {
		return nil
	}
	if len(tables) == 0 {
		tables = c.Dataset.TableNames()
	}
	seen := map[string]bool{}
	for _, name := range tables {
		if t := c.Table(name); t != nil {
			for _, column := range t.ColumnNames() {
				seen[NameOrQuoted(column)] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

// Table finds a table in whatever letter case.
func (c Completer) Table(name string) *policy.Table {
	if c.Dataset == nil {
		return nil
	}
	for _, n := range c.Dataset.TableNames() {
		if strings.EqualFold(n, name) {
			return c.Dataset.Tables[n]
		}
	}
	return nil
}

// tablesInFrom returns the tables after FROM and JOIN.
func (c Completer) tablesInFrom(all []Token) []string {
	var out []string
	for i, t := range all {
		if i > 0 && (all[i-1].Is("from") || all[i-1].Is("join")) && c.Table(t.name()) != nil {
			out = append(out, t.name())
		}
	}
	return out
}

// tableNamed returns the table that a name before a dot stands for: a table's own, or another that
// FROM gives it.
func (c Completer) tableNamed(all []Token, name string) string {
	for i, t := range all {
		if i == 0 || !(all[i-1].Is("from") || all[i-1].Is("join")) || i+1 >= len(all) {
			continue
		}
		alias := all[i+1]
		if alias.Is("as") && i+2 < len(all) {
			alias = all[i+2]
		}
		if strings.EqualFold(alias.name(), name) {
			return t.name()
		}
	}
	return name
}

// NameOrQuoted writes a name as SQL reads it. Letter case does not matter to questions.
func NameOrQuoted(name string) string {
	plain := name != "" && !isDigit(name[0]) && strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == ""
	if plain && !slices.Contains(keywords, strings.ToUpper(name)) {
		return name
	}
	return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
}

// Backslashes are the commands of a dialogue that are not SQL. All are free.
var Backslashes = [][2]string{
	{`\d`, "the tables"},
	{`\d TABLE`, "the columns of a table: types, bounds, keys"},
	{`\l`, "the datasets"},
	{`\c DATASET`, "ask another dataset"},
	{`\budget`, "what was spent and what is left"},
	{`\explain SELECT ...`, "what a question would cost, and how exact it would be"},
	{`\set`, "the settings"},
	{`\json on|off`, "print JSON, or tables"},
	{`\?`, "this help; also \\h"},
	{`\q`, "leave; so does Ctrl-D"},
}

// backslashNames lists the commands without what follows them.
func backslashNames() []string {
	var out []string
	for _, b := range Backslashes {
		if name, _, _ := strings.Cut(b[0], " "); len(out) == 0 || out[len(out)-1] != name {
			out = append(out, name)
		}
	}
	return out
}
