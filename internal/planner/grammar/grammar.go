// Package grammar is the one guard and the one parser for whatever text of SQL comes from outside,
// by whichever way: limits on its length, its words and its depth come first, because the
// grammar recurses and a hostile text must not choose how deep, and then PostgreSQL's own parser
// reads it. What a text means, and what to tell who sent it, is for others.
package grammar

import (
	"fmt"
	"strings"
	"sync/atomic"
	"unicode/utf8"

	pg "github.com/pganalyze/pg_query_go/v6"
	"github.com/pganalyze/pg_query_go/v6/parser"
)

// Parsed is a text as the grammar reads it.
type Parsed struct {
	Text       string
	Statements []*pg.RawStmt
	words      []Word
}

var parses atomic.Int64

// Parses returns how many texts the grammar has read in this process, for the test that a question
// is read once.
func Parses() int64 { return parses.Load() }

// Parse reads a text of statements. It is the one guard and the one parser for whatever comes from
// outside, by whichever way. Its errors are an *Excess, or the parser's own.
func Parse(text string, l Limits) (*Parsed, error) {
	words, err := scan(text, l)
	if err != nil {
		return nil, err
	}
	parses.Add(1)
	found, err := pg.Parse(text)
	if err != nil {
		return nil, err
	}
	return &Parsed{Text: text, Statements: found.Stmts, words: words}, nil
}

// Words returns the words between two places of the text, with their places in that part.
func (p *Parsed) Words(from, to int) []Word {
	var part []Word
	for _, w := range p.words {
		if int(w.Start) >= from && int(w.End) <= to {
			part = append(part, Word{w.Kind, w.Start - int32(from), w.End - int32(from)})
		}
	}
	return part
}

// Message is what the parser says, which may quote all of a long text.
func Message(p *parser.Error) string {
	message := []rune(strings.TrimSpace(p.Message))
	if len(message) > 200 {
		message = append(message[:200], []rune(" ...")...)
	}
	return string(message)
}

// Limits bound a text before the grammar sees it: the grammar recurses, and so do those who look at
// its trees, and a hostile text must not choose how deep.
type Limits struct {
	Bytes, Words int
	Depth        int // open parentheses, brackets and CASEs; NOTs in a row
}

// Excess says why a text is not looked at.
type Excess struct {
	Kind ExcessKind
	Says string // stands after what the text is called: "is longer than 100 bytes"
	At   int32  // -1 where there is no place
}

type ExcessKind int

// What can be wrong with a text.
const (
	TooLong ExcessKind = iota
	NotUTF8
	ZeroByte
	TooManyWords
	TooDeep
	TooManyComments
)

// maxComments is how many beginnings of comments a text may have, times its bytes: the scanner
// looks at all of the text at each of them, wherever it is, and takes 5 ns for a byte.
const maxComments = 1 << 24

func (e *Excess) Error() string { return "the text " + e.Says }

// Word is a word of a text, as PostgreSQL's scanner finds it.
type Word struct {
	Kind       pg.Token
	Start, End int32
}

// scan returns the words of a text that is within the limits. Its errors are an *Excess, or the
// scanner's own.
func scan(text string, l Limits) ([]Word, error) {
	if e := l.Exceeded(text, nil); e != nil { // first: scanning takes time too
		return nil, e
	}
	if !utf8.ValidString(text) {
		return nil, &Excess{NotUTF8, "is not valid UTF-8", -1}
	}
	if at := strings.IndexByte(text, 0); at >= 0 {
		return nil, &Excess{ZeroByte, "contains a zero byte", int32(at)}
	}
	found, err := pg.Scan(text)
	if err != nil {
		return nil, err
	}
	words := make([]Word, len(found.Tokens))
	for i, t := range found.Tokens {
		words[i] = Word{t.Token, t.Start, t.End}
	}
	if e := l.Exceeded(text, words); e != nil {
		return nil, e
	}
	return words, nil
}

// Exceeded says what of a text or of its words is beyond the limits, or nil.
func (l Limits) Exceeded(text string, words []Word) *Excess {
	if len(text) > l.Bytes {
		return &Excess{TooLong, fmt.Sprintf("is longer than %d bytes", l.Bytes), -1}
	}
	if strings.Count(text, "/*")*len(text) > maxComments {
		return &Excess{TooManyComments, "has too many comments of the form /* ... */ for its length", -1}
	}
	if len(words) > l.Words {
		return &Excess{TooManyWords, fmt.Sprintf("has more than %d words", l.Words), -1}
	}
	if at, found := deeper(words, l.Depth); found {
		return &Excess{TooDeep, fmt.Sprintf("is nested more than %d levels deep", l.Depth), at}
	}
	return nil
}

// deeper returns where a text is first nested more than limit levels deep, and whether it is.
//
// What nests is parentheses, brackets, CASEs, and operators that stand before something, such as
// NOT and -, in a row. The measure is never below the nesting of what the grammar has accepted so
// far. It may be above: AS case opens a CASE that nothing closes but a bracket around it.
func deeper(words []Word, limit int) (at int32, found bool) {
	var open stack
	chain, before := 0, pg.Token_NUL
	for _, w := range words {
		switch w.Kind {
		case pg.Token_SQL_COMMENT, pg.Token_C_COMMENT:
			continue // it separates nothing: NOT /**/ NOT is NOT NOT
		case pg.Token_ASCII_40, pg.Token_ASCII_91, pg.Token_CASE: // ( [ CASE
			open = append(open, w.Kind)
		case pg.Token_ASCII_41: // )
			open.close(pg.Token_ASCII_40)
		case pg.Token_ASCII_93: // ]
			open.close(pg.Token_ASCII_91)
		case pg.Token_END_P:
			// END is also a name, in SELECT 1 end, SELECT 1 AS end and t.end. A name after a dot
			// can stand inside of a CASE.
			if before != pg.Token_ASCII_46 && before != pg.Token_AS && open.top() == pg.Token_CASE {
				open = open[:len(open)-1]
			}
		}
		switch w.Kind {
		case pg.Token_NOT, pg.Token_ASCII_45, pg.Token_ASCII_43, pg.Token_Op: // NOT - + and others
			chain++
		default:
			chain = 0
		}
		if len(open) > limit || chain > limit {
			return w.Start, true
		}
		before = w.Kind
	}
	return 0, false
}

// stack is what is open, the innermost last.
type stack []pg.Token

func (s stack) top() pg.Token {
	if len(s) == 0 {
		return pg.Token_NUL
	}
	return s[len(s)-1]
}

// close closes down to the innermost opener of a kind, and nothing where there is none: the grammar
// stops there.
func (s *stack) close(opener pg.Token) {
	for i := len(*s) - 1; i >= 0; i-- {
		if (*s)[i] == opener {
			*s = (*s)[:i]
			return
		}
	}
}
