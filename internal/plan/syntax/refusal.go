package syntax

import (
	"errors"
	"fmt"
	"strings"

	"github.com/pganalyze/pg_query_go/v6/parser"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/grammar"
)

// The codes.
const (
	badGrammar = "42601"
	noSchema   = "3F000"
	NoTable    = "42P01"
	NoColumn   = "42703"
	NoFunction = "42883"
)

// Refuse makes a Refusal at a position of the text; pos is -1 where there is none.
func Refuse(pos int32, instead, format string, args ...any) *api.Refusal {
	return &api.Refusal{Reason: fmt.Sprintf(format, args...), Instead: instead, Position: int(pos)}
}

// refused says why a question cannot be read. The parser's message and position are kept: both come
// from the text alone.
func refused(text string, err error) *api.Refusal {
	const instead = "the grammar is PostgreSQL's; text stands in single quotes and names in double ones"
	var e *grammar.Excess
	if errors.As(err, &e) {
		what := [...]string{
			grammar.TooLong: "ask a shorter question", grammar.NotUTF8: "send the question as UTF-8", grammar.ZeroByte: "remove it",
			grammar.TooManyWords: "ask a shorter question", grammar.TooDeep: "write it with fewer levels",
			grammar.TooManyComments: "leave comments out",
		}[e.Kind]
		return Refuse(e.At, what, "the question %s", e.Says)
	}
	var p *parser.Error
	if !errors.As(err, &p) {
		return Refuse(-1, instead, "the text cannot be parsed").WithCode(badGrammar)
	}
	return Refuse(byteOffset(text, p.Cursorpos-1), instead, "%s", grammar.Message(p)).WithCode(badGrammar)
}

// HintQuotes says more where a column that is not there stands in double quotes, or in those that
// word processors make: it was meant as a text.
func (t *Text) HintQuotes(err error) error {
	r, ok := err.(*api.Refusal)
	if !ok || r.Code != NoColumn || r.Position < 0 || r.Position >= len(t.sql) {
		return err
	}
	from := t.sql[r.Position:]
	if strings.HasPrefix(from, `"`) || strings.HasPrefix(from, "\u2018") || strings.HasPrefix(from, "\u201c") {
		more := *r
		more.Instead += "; text stands in single quotes, as in 'F', and double ones are for names"
		return &more
	}
	return err
}

// byteOffset turns the parser's position of an error, which counts characters, into
// a position in bytes, which all others are.
func byteOffset(text string, characters int) int32 {
	for i := range text {
		if characters == 0 {
			return int32(i)
		}
		characters--
	}
	if characters == 0 {
		return int32(len(text))
	}
	return -1
}
