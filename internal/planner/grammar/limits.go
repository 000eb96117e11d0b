package grammar

import (
	"fmt"
	"strings"
	"unicode/utf8"

	pg "github.com/pganalyze/pg_query_go/v6"
)

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
