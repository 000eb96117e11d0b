package querycmd

import (
	"fmt"
	"strings"

	"github.com/discreet-dp/discreet/api"
)

// splitStatements cuts a text at its semicolons. What has no semicolon yet is the rest, and
// open says that it ends inside of a quote or a comment. Statements of nothing
// but space and comments are left out.
func splitStatements(text string) (done []string, rest string, open bool) {
	all, open := splitTokens(text)
	start, blank := 0, true
	for _, t := range all {
		if !t.is(";") {
			blank = false
			continue
		}
		if !blank {
			done = append(done, text[start:t.start])
		}
		start, blank = t.end, true
	}
	if !blank || open {
		rest = text[start:]
	}
	return done, rest, open
}

// oneLine writes a statement as one line, for the history. It says no where that
// would change what the statement means: a text can hold a line's end.
func oneLine(text string) (string, bool) {
	all, open := splitTokens(text)
	if open {
		return "", false
	}
	var b strings.Builder
	end := 0
	for _, t := range all {
		if strings.ContainsAny(t.text, "\r\n") {
			return "", false
		}
		// Where there was space or a comment, there is one space now.
		if t.start > end && b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(t.text)
		end = t.end
	}
	return b.String(), true
}

// tokenKind says what a token is, as far as cutting and completing need it.
type tokenKind int

const (
	wordToken   tokenKind = iota // a keyword or a name
	quotedToken                  // a name in double quotes
	stringToken                  // a text in quotes or between dollar signs
	numberToken
	otherToken // one character
)

// token is a piece of SQL, from start to end in the text.
type token struct {
	kind       tokenKind
	start, end int
	text       string
}

// is reports whether the token is this keyword or sign.
func (t token) is(word string) bool {
	return (t.kind == wordToken || t.kind == otherToken) && strings.EqualFold(t.text, word)
}

// name returns what the token names, without its quotes.
func (t token) name() string {
	if t.kind == quotedToken {
		return strings.ReplaceAll(strings.Trim(t.text, `"`), `""`, `"`)
	}
	return t.text
}

// splitTokens cuts SQL as PostgreSQL does, so that a semicolon in a text or in a comment
// ends nothing. It knows no grammar: whether a question makes sense is for the
// planner to say. open reports that the text ends inside of a quote or a comment.
func splitTokens(text string) (out []token, open bool) {
	add := func(kind tokenKind, start, end int) int {
		out = append(out, token{kind, start, end, text[start:end]})
		return end
	}
	for i := 0; i < len(text); {
		rest := text[i:]
		switch c := text[i]; {
		case c == ' ' || c >= '\t' && c <= '\r':
			i++
		case strings.HasPrefix(rest, "--"):
			n := strings.IndexByte(rest, '\n')
			if n < 0 {
				return out, false
			}
			i += n + 1
		case strings.HasPrefix(rest, "/*"):
			n := commentLength(rest)
			if n < 0 {
				return out, true
			}
			i += n
		case c == '\'' || c == '"' || (c == 'e' || c == 'E') && strings.HasPrefix(rest[1:], "'"):
			kind, n := quotationLength(rest)
			if n < 0 {
				add(kind, i, len(text))
				return out, true
			}
			i = add(kind, i, i+n)
		case c == '$' && dollarTag(rest) != "":
			mark := dollarTag(rest)
			n := strings.Index(rest[len(mark):], mark)
			if n < 0 {
				add(stringToken, i, len(text))
				return out, true
			}
			i = add(stringToken, i, i+n+2*len(mark))
		case isWordByte(c) && !isDigit(c) && c != '$':
			i = add(wordToken, i, i+countPrefix(rest, isWordByte))
		case isDigit(c):
			i = add(numberToken, i, i+countPrefix(rest, func(c byte) bool { return isWordByte(c) || c == '.' }))
		default:
			i = add(otherToken, i, i+1)
		}
	}
	return out, false
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// isWordByte reports whether a word goes on with c. PostgreSQL takes every byte above ASCII for a
// letter.
func isWordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || isDigit(c) || c == '_' || c == '$' || c >= 0x80
}

// countPrefix counts how many bytes at the start of s fit.
func countPrefix(s string, fits func(byte) bool) int {
	n := 0
	for n < len(s) && fits(s[n]) {
		n++
	}
	return n
}

// commentLength returns the length of the comment at the start of s, or -1 where it does not
// end. Comments nest.
func commentLength(s string) int {
	depth := 0
	for i := 0; i < len(s); i++ {
		switch {
		case strings.HasPrefix(s[i:], "/*"):
			depth++
			i++
		case strings.HasPrefix(s[i:], "*/"):
			depth--
			i++
			if depth == 0 {
				return i + 1
			}
		}
	}
	return -1
}

// quotationLength returns the length of the quotation at the start of s, or -1 where it does
// not end. A quote is written twice, and in E” also with a backslash.
func quotationLength(s string) (tokenKind, int) {
	start, kind := 0, stringToken
	escapes := s[0] != '\'' && s[0] != '"'
	if escapes {
		start = 1
	}
	quote := s[start]
	if quote == '"' {
		kind = quotedToken
	}
	for i := start + 1; i < len(s); i++ {
		switch {
		case escapes && s[i] == '\\':
			i++
		case s[i] == quote && i+1 < len(s) && s[i+1] == quote:
			i++
		case s[i] == quote:
			return kind, i + 1
		}
	}
	return kind, -1
}

// dollarTag returns the mark $$ or $tag$ at the start of s, or nothing.
func dollarTag(s string) string {
	n := 1 + countPrefix(s[1:], func(c byte) bool { return isWordByte(c) && c != '$' })
	if n >= len(s) || s[n] != '$' || n > 1 && isDigit(s[1]) {
		return ""
	}
	return s[:n+1]
}

type setting struct{ name, about string }

// knownSettings is every setting, and what it is. Package curator gives them their meaning.
var knownSettings = []setting{
	{"dp.epsilon", "what a question pays"},
	{"dp.delta", "how much of delta private keys may cost"},
	{"dp.error", "the error that counts and sums should have, at the least price"},
	{"dp.confidence", "how often the exact number lies within the error"},
	{"dp.mechanism", "the noise of counts and sums: laplace or gaussian"},
	{"dp.max_groups", "in how many groups one person counts at most"},
	{"dp.max_sum", "what one person adds to a sum in one group at most"},
	{"dp.stream", "whether counts go through a stream of the policy: auto, on or off"},
	{"dp.errors", "whether answers have columns of error bars: off, columns or interval"},
	{"dp.counts", "whether counts below 0 are shown as they are: noisy, or as 0: nonnegative"},
}

// settings are the values that were set, as they were written.
type settings map[string]string

// apply fills a question with what was set.
func (s settings) apply(q *api.Question) (err error) {
	q.Settings, err = api.ParseSettings(s)
	return err
}

// set changes a setting, if its value can be used.
func (s settings) set(name, text string) error {
	if err := new(api.Settings).Set(name, text); err != nil {
		return err
	}
	s[strings.ToLower(name)] = text
	return nil
}

func settingNames() []string {
	var names []string
	for _, k := range knownSettings {
		names = append(names, k.name)
	}
	return names
}

// settingCommand is a SET, RESET or SHOW that was read.
type settingCommand struct {
	verb string // set, reset or show
	name string // a setting, budget or all
	at   setting
	text string // the value
	pos  int    // where the value is
}

// readSettingCommand reads SET name = value, SET name TO value, RESET name and SHOW name. It
// returns nil for everything that does not begin with one of these words.
func readSettingCommand(text string) (*settingCommand, error) {
	all, open := splitTokens(text)
	if len(all) == 0 || !(all[0].is("set") || all[0].is("reset") || all[0].is("show")) {
		return nil, nil
	}
	c := &settingCommand{verb: strings.ToLower(all[0].text)}
	usage := map[string]string{
		"set":   "write for example SET dp.epsilon = 0.5",
		"reset": "write for example RESET dp.epsilon, or RESET ALL",
		"show":  "write for example SHOW dp.epsilon, SHOW dp.budget, or SHOW ALL",
	}[c.verb]
	wrong := func(pos int, reason string) (*settingCommand, error) {
		return nil, &api.Refusal{Reason: reason, Instead: usage, Position: pos}
	}
	if open {
		return wrong(-1, "a quote is not closed")
	}
	n := 1
	for n < len(all) && (all[n].kind == wordToken && !all[n].is("to") || all[n].is(".")) && (n == 1 || all[n].start == all[n-1].end) {
		n++
	}
	if n == 1 {
		return wrong(-1, "the name of a setting is missing")
	}
	name := strings.ToLower(text[all[1].start:all[n-1].end])
	rest := all[n:]
	found := false
	for _, k := range knownSettings {
		if k.name == name {
			c.at, found = k, true
		}
	}
	c.name = name
	if !found && !(name == "all" && c.verb != "set") && !(name == "dp.budget" && c.verb == "show") {
		return nil, &api.Refusal{Reason: fmt.Sprintf("there is no setting %q", name), Instead: "the settings are " +
			strings.Join(settingNames(), ", "), Position: all[1].start}
	}
	if c.verb != "set" {
		if len(rest) > 0 {
			return wrong(rest[0].start, fmt.Sprintf("%s takes one name", strings.ToUpper(c.verb)))
		}
		return c, nil
	}
	if len(rest) < 2 || !(rest[0].is("=") || rest[0].is("to")) {
		return wrong(all[n-1].start, "the value is missing")
	}
	rest = rest[1:]
	c.pos = rest[0].start
	c.text = text[c.pos:rest[len(rest)-1].end]
	if len(rest) == 1 && rest[0].kind == stringToken && strings.HasPrefix(c.text, "'") {
		c.text = strings.ReplaceAll(c.text[1:len(c.text)-1], "''", "'")
	} else if len(rest) == 1 && rest[0].is("default") {
		c.verb = "reset"
	}
	return c, nil
}
