package syntax

import (
	"errors"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"
	"github.com/pganalyze/pg_query_go/v6/parser"

	"github.com/discreet-dp/discreet/api"
)

// Parse returns the single SELECT of a text.
func Parse(text string) (*pg.SelectStmt, error) {
	if err := checkLimits(text); err != nil {
		return nil, err
	}
	parsed, err := pg.Parse(text)
	if err != nil {
		return nil, syntaxRefusal(text, err)
	}
	switch n := len(parsed.Stmts); {
	case n == 0: // only comments or semicolons
		return nil, emptyRefusal()
	case n > 1:
		at := parsed.Stmts[1].StmtLocation
		for text[at] == ' ' || text[at] == '\n' || text[at] == '\t' || text[at] == '\r' {
			at++ // the place is where the first statement ends
		}
		return nil, Refuse(at, "send one SELECT at a time", "the text has %d statements", n)
	}
	switch n := parsed.Stmts[0].Stmt.GetNode().(type) {
	case *pg.Node_SelectStmt:
		return n.SelectStmt, nil
	case *pg.Node_ExplainStmt:
		return nil, Refuse(-1, "run 'discreet explain' with the SELECT alone, which is free", "EXPLAIN is not a question")
	case *pg.Node_VariableSetStmt:
		return nil, Refuse(-1, "pass the value beside the question, for example with --epsilon 0.5", "SET is not a question")
	}
	return nil, Refuse(-1, "write a SELECT of aggregates, as in SELECT COUNT(*) FROM table", "this is not a SELECT")
}

// syntaxRefusal keeps the parser's message and position: both come from the
// text alone.
func syntaxRefusal(text string, err error) error {
	const instead = "the grammar is PostgreSQL's; text stands in single quotes and names in double ones"
	var p *parser.Error
	if errors.As(err, &p) {
		message := []rune(strings.TrimSpace(p.Message)) // it may quote all of a long text
		if len(message) > 200 {
			message = append(message[:200], []rune(" ...")...)
		}
		return Refuse(byteOffset(text, p.Cursorpos-1), instead, "%s", string(message)).WithCode(badGrammar)
	}
	return Refuse(-1, instead, "the text cannot be parsed").WithCode(badGrammar)
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

func emptyRefusal() *api.Refusal {
	return Refuse(-1, "write a SELECT, as in SELECT COUNT(*) FROM table", "the question is empty")
}
