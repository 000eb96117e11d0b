package prompt

import (
	"fmt"
	"strings"

	"github.com/discreet-dp/discreet/api"
)

// SplitStatements cuts a text at its semicolons. What has no semicolon yet is the rest, and
// open says that it ends inside of a quote or a comment. Statements of nothing
// but space and comments are left out.
func SplitStatements(text string) (done []string, rest string, open bool) {
	all, open := SplitTokens(text)
	start, blank := 0, true
	for _, t := range all {
		if !t.Is(";") {
			blank = false
			continue
		}
		if !blank {
			done = append(done, text[start:t.Start])
		}
		start, blank = t.End, true
	}
	if !blank || open {
		rest = text[start:]
	}
	return done, rest, open
}

// OneLine writes a statement as one line, for the history. It says no where that
// would change what the statement means: a text can hold a line's end.
func OneLine(text string) (string, bool) {
	all, open := SplitTokens(text)
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
		if t.Start > end && b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(t.text)
		end = t.End
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

// Token is a piece of SQL, from start to end in the text.
type Token struct {
	kind       tokenKind
	Start, End int
	text       string
}

// Is reports whether the token is this keyword or sign.
func (t Token) Is(word string) bool {
	return (t.kind == wordToken || t.kind == otherToken) && strings.EqualFold(t.text, word)
}

// name returns what the token names, without its quotes.
func (t Token) name() string {
	if t.kind == quotedToken {
		return strings.ReplaceAll(strings.Trim(t.text, `"`), `""`, `"`)
	}
	return t.text
}

// SplitTokens cuts SQL as PostgreSQL does, so that a semicolon in a text or in a comment
// ends nothing. It knows no grammar: whether a question makes sense is for the
// planner to say. open reports that the text ends inside of a quote or a comment.
func SplitTokens(text string) (out []Token, open bool) {
	add := func(kind tokenKind, start, end int) int {
		out = append(out, Token{kind, start, end, text[start:end]})
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

// Setting is something that an analyst can set.
type Setting struct{ Name, About string }

// KnownSettings is every setting, and what it is. Package curator gives them their meaning.
var KnownSettings = []Setting{
	{"dp.epsilon", "the price of a question"},
	{"dp.delta", "how much delta private keys may cost"},
	{"dp.error", "the error that counts, sums and averages should have, at the lowest price"},
	{"dp.values", "about how many values the smallest average is of, for dp.error"},
	{"dp.confidence", "how often the exact number is within the error"},
	{"dp.mechanism", "the noise of counts and sums: laplace or gaussian"},
	{"dp.max_rows", "the most rows of one person that count in a group, or auto"},
	{"dp.max_groups", "the most groups that one person counts in, or auto"},
	{"dp.max_sum", "the most that one person adds to a sum in one group"},
	{"dp.stream", "whether counts go through a stream of the policy: auto, on or off"},
	{"dp.errors", "whether answers have columns of error bars: off, columns, interval or whole"},
	{"dp.counts", "whether negative counts are shown as they are (noisy) or as 0 (nonnegative)"},
}

// Settings are the values that were set, as they were written.
type Settings map[string]string

// Apply fills a question with what was set.
func (s Settings) Apply(q *api.Question) (err error) {
	q.Settings, err = api.ParseSettings(s)
	return err
}

// Set changes a setting, if its value can be used.
func (s Settings) Set(name, text string) error {
	if err := new(api.Settings).Set(name, text); err != nil {
		return err
	}
	s[strings.ToLower(name)] = text
	return nil
}

// Change does what a SET or a RESET says.
func (s Settings) Change(c *SettingCommand) error {
	switch {
	case c.Verb == "set":
		if err := s.Set(c.Name, c.Text); err != nil {
			return &api.Refusal{Reason: err.Error(), Position: c.Pos}
		}
		// A price and an error that finds the price exclude each other: here the later one counts.
		switch c.Name {
		case "dp.epsilon":
			delete(s, "dp.error")
		case "dp.error":
			delete(s, "dp.epsilon")
		}
	case c.Name == "all":
		clear(s)
	default:
		delete(s, c.Name)
	}
	return nil
}

// SettingNames are the names of all settings.
func SettingNames() []string {
	var names []string
	for _, k := range KnownSettings {
		names = append(names, k.Name)
	}
	return names
}

// SettingCommand is a SET, RESET or SHOW that was read.
type SettingCommand struct {
	Verb string // set, reset or show
	Name string // a setting, budget or all
	At   Setting
	Text string // the value
	Pos  int    // where the value is
}

// ReadSettingCommand reads SET name = value, SET name TO value, RESET name and SHOW name. It
// returns nil for everything that does not begin with one of these words.
func ReadSettingCommand(text string) (*SettingCommand, error) {
	all, open := SplitTokens(text)
	if len(all) == 0 || !(all[0].Is("set") || all[0].Is("reset") || all[0].Is("show")) {
		return nil, nil
	}
	c := &SettingCommand{Verb: strings.ToLower(all[0].text)}
	usage := map[string]string{
		"set":   "write for example SET dp.epsilon = 0.5",
		"reset": "write for example RESET dp.epsilon, or RESET ALL",
		"show":  "write for example SHOW dp.epsilon, SHOW dp.budget, or SHOW ALL",
	}[c.Verb]
	wrong := func(pos int, reason string) (*SettingCommand, error) {
		return nil, &api.Refusal{Reason: reason, Instead: usage, Position: pos}
	}
	if open {
		return wrong(-1, "a quote is not closed")
	}
	n := 1
	for n < len(all) && (all[n].kind == wordToken && !all[n].Is("to") || all[n].Is(".")) && (n == 1 || all[n].Start == all[n-1].End) {
		n++
	}
	if n == 1 {
		return wrong(-1, "the name of a setting is missing")
	}
	name := strings.ToLower(text[all[1].Start:all[n-1].End])
	rest := all[n:]
	found := false
	for _, k := range KnownSettings {
		if k.Name == name {
			c.At, found = k, true
		}
	}
	c.Name = name
	if !found && !(name == "all" && c.Verb != "set") && !(name == "dp.budget" && c.Verb == "show") {
		return nil, &api.Refusal{Reason: fmt.Sprintf("there is no setting %q", name), Instead: "the settings are " +
			strings.Join(SettingNames(), ", "), Position: all[1].Start}
	}
	if c.Verb != "set" {
		if len(rest) > 0 {
			return wrong(rest[0].Start, fmt.Sprintf("%s takes one name", strings.ToUpper(c.Verb)))
		}
		return c, nil
	}
	if len(rest) < 2 || !(rest[0].Is("=") || rest[0].Is("to")) {
		return wrong(all[n-1].Start, "the value is missing")
	}
	rest = rest[1:]
	c.Pos = rest[0].Start
	c.Text = text[c.Pos:rest[len(rest)-1].End]
	if len(rest) == 1 && rest[0].kind == stringToken && strings.HasPrefix(c.Text, "'") {
		c.Text = strings.ReplaceAll(c.Text[1:len(c.Text)-1], "''", "'")
	} else if len(rest) == 1 && rest[0].Is("default") {
		c.Verb = "reset"
	}
	return c, nil
}
