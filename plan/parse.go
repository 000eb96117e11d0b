package plan

import (
	"errors"
	"math/big"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"
	"github.com/pganalyze/pg_query_go/v6/parser"
)

func ratOf(n int64) *big.Rat { return new(big.Rat).SetInt64(n) }

// parse returns the single SELECT of a text.
func parse(text string) (*pg.SelectStmt, error) {
	if err := checkLimits(text); err != nil {
		return nil, err
	}
	tree, err := pg.Parse(text)
	if err != nil {
		return nil, syntaxRefusal(err)
	}
	if len(tree.Stmts) != 1 {
		return nil, refuse(-1, "send one SELECT at a time", "the text has %d statements", len(tree.Stmts))
	}
	switch n := tree.Stmts[0].Stmt.GetNode().(type) {
	case *pg.Node_SelectStmt:
		return n.SelectStmt, nil
	case *pg.Node_ExplainStmt:
		return nil, refuse(-1, "run 'discreet explain' with the SELECT alone, which is free", "EXPLAIN is not a question")
	case *pg.Node_VariableSetStmt:
		return nil, refuse(-1, "pass the value beside the question, for example with --epsilon 0.5", "SET is not a question")
	}
	return nil, refuse(-1, "write a SELECT of aggregates, as in SELECT COUNT(*) FROM table", "this is not a SELECT")
}

// syntaxRefusal keeps the parser's message and position: both come from the
// text alone.
func syntaxRefusal(err error) error {
	var p *parser.Error
	if errors.As(err, &p) {
		return refuse(int32(p.Cursorpos-1), "check the spelling near there; the grammar is PostgreSQL's", "%s", strings.TrimSpace(p.Message))
	}
	return refuse(-1, "the grammar is PostgreSQL's", "the text cannot be parsed")
}
