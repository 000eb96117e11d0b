package syntax

import (
	"fmt"
	"strconv"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/grammar"
)

// mark is a parameter's place.
type mark struct {
	number     int
	start, end int32
}

// Bind returns the question with the values of its parameters.
//
// A value cannot become anything but a value: the text is parsed with its parameters, and the
// values are put into the tree as constants, where the parameters stood. No value is ever read as
// SQL. Places are those in the text as it was sent.
func (t *Text) Bind(values []api.Parameter) (*Text, error) {
	marks, count, err := t.parameters()
	if err != nil {
		return nil, err
	}
	if len(values) != count {
		return nil, Refuse(firstMark(marks), "send one value for each", "the question has %s, and %s came with it",
			plural(count, "parameter"), plural(len(values), "value"))
	}
	if count == 0 {
		return t, nil
	}
	literals := make([]literal, count)
	for i, v := range values {
		l, refused := spellParameter(v)
		if refused != nil {
			return nil, Refuse(placeOf(marks, i+1), refused.Instead, "parameter $%d: %s", i+1, refused.Reason)
		}
		literals[i] = l
	}
	size := len(t.sql) // one value may stand in many places
	for _, m := range marks {
		if size += len(literals[m.number-1].sql); size > questions.Bytes {
			return nil, Refuse(m.start, "ask a shorter question, or send shorter values",
				"with its values the question is longer than %d bytes", questions.Bytes)
		}
	}
	if e := questions.Exceeded("", t.written(literals)); e != nil {
		return nil, refused(t.sql, e)
	}
	if misplaced(SelectNode(t.stmt)) {
		return nil, Refuse(firstMark(marks), hereInstead, "a parameter cannot be used in this place")
	}
	bound := &Text{sql: t.sql, words: t.words, stmt: proto.Clone(t.stmt).(*pg.SelectStmt), now: t.now, bound: t.bound}
	for _, l := range literals {
		bound.bound += "\x00" + l.sql
	}
	substitute(t.sql, SelectNode(bound.stmt), literals)
	spread(bound.stmt)
	return bound, nil
}

// Parameters returns how many parameters a text has: the largest of their numbers.
func (t *Text) Parameters() (int, error) {
	_, count, err := t.parameters()
	return count, err
}

// parameters returns the places of the parameters, and the largest of their numbers. They are those
// that PostgreSQL's own scanner finds, so one in a quoted text, a comment or a name is none.
func (t *Text) parameters() ([]mark, int, error) {
	s, err := t.Select()
	if err != nil {
		return nil, 0, err
	}
	var marks []mark
	count := 0
	for _, w := range t.words {
		if w.Kind != pg.Token_PARAM {
			continue
		}
		n, err := strconv.Atoi(t.sql[w.Start+1 : w.End])
		if err != nil || n < 1 || n > MaxParameters {
			return nil, 0, Refuse(w.Start, "number them from $1 on", "parameters are $1 to $%d", MaxParameters)
		}
		count = max(count, n)
		marks = append(marks, mark{n, w.Start, w.End})
	}
	if at, found := ordinalParameter(SelectNode(s)); found {
		return nil, 0,
			Refuse(at, "write the column's name or position into the question", "a parameter cannot say what to sort or to group by")
	}
	return marks, count, nil
}

// written are the words that the text would have with its values written into it, in parentheses:
// who sends values may ask as much as who writes them out.
func (t *Text) written(literals []literal) []grammar.Word {
	var words []grammar.Word
	for _, w := range t.words {
		if w.Kind != pg.Token_PARAM {
			words = append(words, w)
			continue
		}
		n, _ := strconv.Atoi(t.sql[w.Start+1 : w.End])
		for _, kind := range literals[n-1].words() {
			words = append(words, grammar.Word{Kind: kind, Start: w.Start, End: w.End})
		}
	}
	return words
}

// hintParameter says more where the grammar stops at a parameter: DATE $1 is none, and $1::date is.
func hintParameter(text string, r *api.Refusal) *api.Refusal {
	if r.Position >= 0 && r.Position+1 < len(text) && text[r.Position] == '$' && '0' <= text[r.Position+1] && text[r.Position+1] <= '9' {
		r.Instead = hereInstead
	}
	return r
}

const hereInstead = "a parameter stands where an expression can: write $1::date and not DATE $1, and write names, fields and " +
	"units of time out"

// misplaced finds a parameter where PostgreSQL has none and this parser takes one: DATE $1, which
// is a cast without a place of its own, and EXTRACT($1 FROM x).
func misplaced(n *pg.Node) bool {
	found := false
	EachNode(n, func(n *pg.Node) bool {
		if c := n.GetTypeCast(); c != nil && c.Location < 0 && c.Arg.GetParamRef() != nil {
			found = true
		}
		if f := n.GetFuncCall(); f != nil && f.Funcformat == pg.CoercionForm_COERCE_SQL_SYNTAX && len(f.Args) == 2 &&
			f.Args[0].GetParamRef() != nil {
			found = found || f.Funcname[len(f.Funcname)-1].GetString_().GetSval() == "extract"
		}
		return !found
	})
	return found
}

// ordinalParameter finds a parameter that is all there is to sort or group by. A constant there is
// the position of a column, and a value is never read as one. A minus before a constant is a part
// of it, so - - $1 would be one too.
func ordinalParameter(n *pg.Node) (at int32, found bool) {
	check := func(n *pg.Node) {
		inner := n
		for IsMinus(inner) {
			inner = inner.GetAExpr().Rexpr
		}
		if p := inner.GetParamRef(); p != nil && !found {
			at, found = p.Location, true
		}
	}
	EachNode(n, func(n *pg.Node) bool {
		switch x := n.GetNode().(type) {
		case *pg.Node_SortBy:
			check(x.SortBy.Node)
		case *pg.Node_SelectStmt:
			for _, list := range [][]*pg.Node{x.SelectStmt.GroupClause, x.SelectStmt.DistinctClause} {
				for _, k := range list {
					check(k)
				}
			}
		case *pg.Node_GroupingSet:
			for _, k := range x.GroupingSet.Content {
				check(k)
			}
		}
		return true
	})
	return at, found
}

// IsMinus reports whether a node is -x.
func IsMinus(n *pg.Node) bool {
	a := n.GetAExpr()
	return a != nil && a.Kind == pg.A_Expr_Kind_AEXPR_OP && a.Lexpr == nil && len(a.Name) == 1 && a.Name[0].GetString_().GetSval() == "-"
}

// placeOf is where a parameter stands first, or -1.
func placeOf(marks []mark, number int) int32 {
	for _, m := range marks {
		if m.number == number {
			return m.start
		}
	}
	return -1
}

func firstMark(marks []mark) int32 {
	if len(marks) == 0 {
		return -1
	}
	return marks[0].start
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
