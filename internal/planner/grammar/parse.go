package grammar

import (
	"strings"
	"sync/atomic"

	pg "github.com/pganalyze/pg_query_go/v6"
	"github.com/pganalyze/pg_query_go/v6/parser"
)

// Parsed is a text as the grammar reads it.
type Parsed struct {
	Text       string
	Statements []*pg.RawStmt
	words      []Word
}

// parses counts the texts that the grammar has read, for the test that a question is read once.
var parses atomic.Int64

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
