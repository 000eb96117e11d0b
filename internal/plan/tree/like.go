package tree

import "strings"

// Like is whether all of a text matches a pattern, which is read when the
// question is planned. Its time is in proportion to the text for every pattern.
type Like struct {
	X       Expr
	Pattern Pattern
}

// Pattern is a sequence of characters and wildcards. No two Anything follow each other.
type Pattern []PatternPart

// PatternPart is a character or a wildcard.
type PatternPart rune

const (
	// PatternAnything is %, any number of any characters.
	PatternAnything PatternPart = -1
	// PatternOne is _, one character.
	PatternOne PatternPart = -2
)

// Anything reports whether the part is %, any number of characters.
func (p PatternPart) Anything() bool { return p == PatternAnything }

// One reports whether the part is _, any one character.
func (p PatternPart) One() bool { return p == PatternOne }

// String writes a pattern with a backslash before what is no wildcard.
func (p Pattern) String() string {
	var b strings.Builder
	for _, c := range p {
		switch {
		case c.Anything():
			b.WriteByte('%')
		case c.One():
			b.WriteByte('_')
		case c == '%' || c == '_' || c == '\\':
			b.WriteString("\\" + string(rune(c)))
		default:
			b.WriteRune(rune(c))
		}
	}
	return b.String()
}
