package posix

import "strings"

// Similar reads a pattern of SIMILAR TO, which matches the whole text, and writes it as [Translate]
// does. The escape is 0 where there is none.
func Similar(pattern string, escape rune) (string, error) {
	if err := notTooLong(pattern); err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString("^(?:")
	escaped, class := false, bracket{}
	for _, c := range pattern {
		switch {
		case escaped && c == '"':
			return "", refuse("leave it out", `the escape character and a quote mark a part of the text, which is for SUBSTRING alone`)
		case escaped:
			b.WriteString(`\` + string(c))
			escaped = false
			class.pass(c)
		case c == escape && escape != 0:
			escaped = true
		case class.open:
			if c == '\\' {
				b.WriteByte('\\')
			}
			b.WriteRune(c)
			class.pass(c)
		case c == '[':
			b.WriteRune(c)
			class = bracket{open: true, first: true}
		case c == '%':
			b.WriteString(".*")
		case c == '_':
			b.WriteByte('.')
		case c == '(':
			b.WriteString("(?:")
		case strings.ContainsRune(`\.^$`, c):
			b.WriteString(`\` + string(c))
		default:
			b.WriteRune(c)
		}
	}
	if escaped {
		return "", refuse("write the escape character twice", "the pattern ends with its escape character")
	}
	b.WriteString(")$")
	return translate(b.String(), false)
}

// bracket is where a reader is inside of [ ].
type bracket struct {
	open   bool
	first  bool // nothing but ^ was there yet, so that ] is one of the characters
	before rune
	name   bool // inside of [: :]
}

func (b *bracket) pass(c rune) {
	switch {
	case !b.open:
	case b.name:
		b.name = !(c == ']' && b.before == ':')
	case c == ':' && b.before == '[':
		b.name = true
	case c == ']' && !b.first:
		b.open = false
	}
	b.first = b.first && c == '^'
	b.before = c
}
