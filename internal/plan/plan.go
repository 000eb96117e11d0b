package plan

import (
	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/internal/plan/tree"
	"github.com/discreet-dp/discreet/policy"
)

// Statement is a checked text: the private questions in it, and what is done with their
// answers.
type Statement struct {
	// Plans are the questions that are paid for. Several of them, in a row, may be one answer
	// ([tree.Plan].Continues).
	Plans []*tree.Plan
	// Cubes are those of them that can be released together.
	Cubes []*tree.Cube
	// Outer is a SELECT over the answers, free and for another engine, in which the answer
	// that begins with Plans[i] is the table AnswerName(i); nil where the first answer is the
	// result.
	Outer *pg.SelectStmt
	// Tables are the public tables that Outer names beside answers, or alone, by PublicName. They
	// are about nobody, so they are free and exact.
	Tables []*policy.Table
	// Empty says that the answer has no rows, whatever the data is: then nothing is bought, and its
	// columns are all of it. Rows are these columns where rows of tables were asked for, and there
	// are no plans.
	Empty bool
	Rows  []tree.Output
}

// Free reports whether the answer follows from the policy, the text and public tables: it has no
// rows, or is made of lists of public keys. Then there is no noise in it, and no price.
func (s *Statement) Free() bool {
	for _, p := range s.Plans {
		if !s.Empty && !p.Query.ListsKeys() {
			return false
		}
	}
	return true
}
