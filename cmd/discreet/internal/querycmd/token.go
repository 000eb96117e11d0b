package querycmd

import "strings"

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
