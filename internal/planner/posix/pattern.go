package posix

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// MaxLength is how many characters a pattern has at most, and maxWeight how large its written-out
// form may be: how often something stands in it where repetitions are written out, and a class as
// often as it has ranges. A matcher may look at each of these for each character of a text.
const (
	MaxLength = 250
	maxWeight = 500
	maxRepeat = 255 // as in PostgreSQL
	maxDepth  = 30  // brackets inside each other
)

// Error says why a pattern cannot be used, and what to write instead.
type Error struct{ Reason, Instead string }

func (e *Error) Error() string { return e.Reason }

func refuse(instead, format string, args ...any) *Error {
	return &Error{fmt.Sprintf(format, args...), instead}
}

// kind is what a part of a pattern is.
type kind int

const (
	characters kind = iota // one of a set
	sequence               // parts one after the other
	choice                 // one of the parts
	repeated               // a part, from least to most times
	begin                  // the beginning of the text
	end                    // its end
	boundary               // where a word begins or ends
	noBoundary             // elsewhere
	wordBegins             // where a word begins
	wordEnds               // where one ends
)

type part struct {
	kind        kind
	set         set
	parts       []*part
	least, most int // most is -1 where there is no limit
}

// Translate reads a pattern of PostgreSQL and writes it in the signs that this package is about.
// fold says that case is ignored.
func Translate(pattern string, fold bool) (string, error) {
	if err := refuseLong(pattern); err != nil {
		return "", err
	}
	return translate(pattern, fold)
}

func refuseLong(pattern string) error {
	if utf8.RuneCountInString(pattern) > MaxLength {
		return refuse("write a shorter pattern", "a pattern has at most %d characters", MaxLength)
	}
	return nil
}

func translate(pattern string, fold bool) (string, error) {
	r := &reader{rest: []rune(pattern), fold: fold}
	p, err := r.whole()
	if err != nil {
		return "", err
	}
	if w := p.weight(); w > maxWeight {
		return "", refuse("repeat less, or write a simpler pattern",
			"with its repetitions written out, the pattern has more than %d parts", maxWeight)
	}
	var b strings.Builder
	if err := p.write(&b); err != nil {
		return "", err
	}
	return b.String(), nil
}

// weight is the size of the written-out form, up to a little above the limit.
func (p *part) weight() int {
	sum := 1
	switch p.kind {
	case characters:
		return max(1, len(p.set))
	case repeated:
		times := max(p.least, p.most, 1)
		return min(p.parts[0].weight()*times+1, maxWeight+1)
	}
	for _, q := range p.parts {
		sum = min(sum+q.weight(), maxWeight+1)
	}
	return sum
}

// write writes a part. Every group stands in brackets, so that no precedence has to be right.
func (p *part) write(b *strings.Builder) error {
	switch p.kind {
	case characters:
		b.WriteString(p.set.String())
	case sequence:
		b.WriteString("(?:")
		for i, q := range p.parts {
			if err := p.decided(i); err != nil {
				return err
			}
			if err := q.write(b); err != nil {
				return err
			}
		}
		b.WriteString(")")
	case choice:
		b.WriteString("(?:")
		for i, q := range p.parts {
			if i > 0 {
				b.WriteByte('|')
			}
			if err := q.write(b); err != nil {
				return err
			}
		}
		b.WriteString(")")
	case repeated:
		b.WriteString("(?:")
		if err := p.parts[0].write(b); err != nil {
			return err
		}
		b.WriteString(")" + p.times())
	case begin:
		b.WriteString(`\A`)
	case end:
		b.WriteString(`\z`)
	case boundary, wordBegins, wordEnds:
		b.WriteString(`\b`)
	case noBoundary:
		b.WriteString(`\B`)
	}
	return nil
}

func (p *part) times() string {
	switch {
	case p.least == 0 && p.most == 1:
		return "?"
	case p.least == 0 && p.most < 0:
		return "*"
	case p.least == 1 && p.most < 0:
		return "+"
	case p.most < 0:
		return fmt.Sprintf("{%d,}", p.least)
	}
	return fmt.Sprintf("{%d,%d}", p.least, p.most)
}

// decided makes sure that the beginning of a word stands before what is part of one, and the end
// behind: then it is where a word begins or ends, which a matcher knows. What is not at the edge of
// a word stands beside a character: RE2 finds such places inside of characters too, between the
// bytes of one.
func (p *part) decided(i int) error {
	of := p.parts[i].kind
	if of == noBoundary && !(i > 0 && p.parts[i-1].takesOne()) && !(i+1 < len(p.parts) && p.parts[i+1].takesOne()) {
		return refuse(`write it next to a character, as in a\Y or \Y.`, `\Y must come directly before or after a character`)
	}
	beside := i + 1
	if of == wordEnds {
		beside = i - 1
	}
	if of != wordBegins && of != wordEnds || beside >= 0 && beside < len(p.parts) && p.parts[beside].isWord() {
		return nil
	}
	return refuse(`write \y, which is where a word begins or ends`,
		`\m must come directly before a letter or a digit of a word, and \M directly after one`)
}

// takesOne reports whether a part is one character or more.
func (p *part) takesOne() bool {
	switch p.kind {
	case characters:
		return true
	case sequence:
		return slices.ContainsFunc(p.parts, (*part).takesOne)
	case choice:
		return !slices.ContainsFunc(p.parts, func(q *part) bool { return !q.takesOne() })
	case repeated:
		return p.least > 0 && p.parts[0].takesOne()
	}
	return false
}

// isWord reports whether a part is one or more characters of words.
func (p *part) isWord() bool {
	switch p.kind {
	case characters:
		return len(p.set) > 0 && p.set.isInside(words)
	case repeated:
		return p.least > 0 && p.parts[0].isWord()
	}
	return false
}

// Similar reads a pattern of SIMILAR TO, which matches the whole text, and writes it as [Translate]
// does. The escape is 0 where there is none.
func Similar(pattern string, escape rune) (string, error) {
	if err := refuseLong(pattern); err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString("^(?:")
	escaped, class := false, bracket{}
	for _, c := range pattern {
		switch {
		case escaped && c == '"':
			return "", refuse("leave it out", `the escape character with a quote marks a part of the text, which only SUBSTRING can use`)
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

// Like reads a pattern of LIKE, or of ILIKE where case is folded, and writes it as [Translate]
// does. An engine's own LIKE takes a power of the text's length that grows with each % of the
// pattern.
func Like(pattern string, escape rune, fold bool) (string, error) {
	if err := refuseLong(pattern); err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString("^(?:")
	escaped := false
	for _, c := range pattern {
		switch {
		case !escaped && c == escape:
			escaped = true
			continue
		case !escaped && c == '%':
			b.WriteString(".*")
		case !escaped && c == '_':
			b.WriteByte('.')
		case strings.ContainsRune(`\.^$[](){}|*+?`, c):
			b.WriteString(`\` + string(c))
		default:
			b.WriteRune(c)
		}
		escaped = false
	}
	if escaped {
		return "", refuse("write the escape character twice", "the pattern ends with its escape character")
	}
	b.WriteString(")$")
	return translate(b.String(), fold)
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
