package syntax

import (
	"strings"
	"sync/atomic"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/grammar"
)

// questions are the limits of a question.
var questions = grammar.Limits{Bytes: 64 << 10, Words: 4000, Depth: 64}

// Text is the text of a question, read: one SELECT, or why it is none. It is read once, by whoever
// meets it first, and then handed along with the question. Nobody changes it.
type Text struct {
	sql     string
	words   []grammar.Word
	stmt    *pg.SelectStmt
	refused *api.Refusal
	bound   string // the values of its parameters, spelled; empty where it has none yet
	now     string // what now() is in it; empty where it does not ask

	timeless atomic.Bool // it was found not to ask for the time
}

// Open reads a text, unless it was read before.
func Open(sql string, before api.Parsed) *Text {
	if t, ok := before.(*Text); ok && t != nil && t.sql == sql {
		return t
	}
	t := &Text{sql: sql}
	if strings.TrimSpace(sql) == "" {
		t.refused = emptyRefusal()
		return t
	}
	p, err := grammar.Parse(sql, questions)
	if err != nil {
		t.refused = hintParameter(sql, refused(sql, err))
		return t
	}
	t.words = p.Words(0, len(sql))
	if t.stmt, t.refused = single(p); t.stmt != nil {
		spread(t.stmt)
	}
	return t
}

// NewText returns the question that a SELECT is, which stands between two places of a text that was
// parsed. The tree is the question's from now on.
func NewText(p *grammar.Parsed, s *pg.SelectStmt, from, to int) *Text {
	t := &Text{sql: p.Text[from:to], words: p.Words(from, to)}
	if e := questions.Exceeded(t.sql, t.words); e != nil { // trees are large
		return &Text{sql: t.sql, refused: refused(t.sql, e)}
	}
	if from > 0 {
		movePlaces(s.ProtoReflect(), int32(-from))
	}
	t.stmt = s
	spread(s)
	return t
}

// SQL is the text.
func (t *Text) SQL() string { return t.sql }

// Key tells texts with their values apart.
func (t *Text) Key() string { return t.sql + t.bound }

// Select returns the SELECT that the text is, which is to be looked at and not changed.
func (t *Text) Select() (*pg.SelectStmt, error) {
	if t.refused != nil {
		r := *t.refused // whoever gets it may move its place
		return nil, &r
	}
	return t.stmt, nil
}

// single returns the only statement of a text, where it is a SELECT.
func single(p *grammar.Parsed) (*pg.SelectStmt, *api.Refusal) {
	switch n := len(p.Statements); {
	case n == 0: // only comments or semicolons
		return nil, emptyRefusal()
	case n > 1:
		at := p.Statements[1].StmtLocation
		for strings.IndexByte(" \n\t\r", p.Text[at]) >= 0 {
			at++ // the place is where the first statement ends
		}
		return nil, Refuse(at, "send one SELECT at a time", "the text has %d statements", n)
	}
	switch n := p.Statements[0].Stmt.GetNode().(type) {
	case *pg.Node_SelectStmt:
		return n.SelectStmt, nil
	case *pg.Node_ExplainStmt:
		return nil, Refuse(-1, "run 'discreet explain' with the SELECT alone, which is free", "EXPLAIN is not a question")
	case *pg.Node_VariableSetStmt:
		return nil, Refuse(-1, "pass the value beside the question, for example with --epsilon 0.5", "SET is not a question")
	}
	return nil, Refuse(-1, "write a SELECT of aggregates, as in SELECT COUNT(*) FROM table", "this is not a SELECT")
}

func emptyRefusal() *api.Refusal {
	return Refuse(-1, "write a SELECT, as in SELECT COUNT(*) FROM table", "the question is empty")
}

// movePlaces moves all places that a tree has in its text; -1 is none.
func movePlaces(m protoreflect.Message, by int32) {
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case isPlace(f) && v.Int() > 0:
			m.Set(f, protoreflect.ValueOfInt32(int32(v.Int())+by))
		case f.Message() == nil || f.IsMap():
		case f.IsList():
			for i := range v.List().Len() {
				movePlaces(v.List().Get(i).Message(), by)
			}
		default:
			movePlaces(v.Message(), by)
		}
		return true
	})
}

// isPlace reports whether a field is a place in the text.
func isPlace(f protoreflect.FieldDescriptor) bool {
	return f.Kind() == protoreflect.Int32Kind && strings.HasSuffix(string(f.Name()), "location")
}
