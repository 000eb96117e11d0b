// Package syntax is the text of a question, before anybody asks what it means: limits on its
// length, words and depth, which come first because the grammar recurses, PostgreSQL's own parser,
// and values of parameters, which become constants and nothing else. What it does not take it
// refuses: a [Refusal] follows from the text and the policy alone, so it tells nothing about the
// data and costs nothing.
package syntax

import (
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	pg "github.com/pganalyze/pg_query_go/v6"
	"github.com/pganalyze/pg_query_go/v6/parser"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/planner/grammar"
)

var questionLimits = grammar.Limits{Bytes: 64 << 10, Words: 4000, Depth: 64}

// Text is the text of a question, read: one SELECT, or why it is none. It is read once, by whoever
// meets it first, and then handed along with the question. Nobody changes it.
type Text struct {
	sql     string
	words   []grammar.Word
	stmt    *pg.SelectStmt
	refused *api.Refusal
	bound   string // the values of its parameters, spelled; empty where it has none yet
	now     string // what now() is in it; empty where it does not ask
	sent    *Text  // as it was before it had values and a time; nil where it has none
	kinds   []string

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
	p, err := grammar.Parse(sql, questionLimits)
	if err != nil {
		t.refused = hintParameter(sql, grammarRefusal(sql, err))
		return t
	}
	t.words = p.Words(0, len(sql))
	if t.stmt, t.refused = onlySelect(p); t.stmt != nil {
		respell(t.stmt)
	}
	return t
}

// NewText returns the question that a SELECT is, which stands between two places of a text that was
// parsed. The tree is the question's from now on.
func NewText(p *grammar.Parsed, s *pg.SelectStmt, from, to int) *Text {
	t := &Text{sql: p.Text[from:to], words: p.Words(from, to)}
	if e := questionLimits.Exceeded(t.sql, t.words); e != nil { // trees are large
		return &Text{sql: t.sql, refused: grammarRefusal(t.sql, e)}
	}
	if from > 0 {
		moveLocations(s.ProtoReflect(), int32(-from))
	}
	t.stmt = s
	respell(s)
	return t
}

func (t *Text) SQL() string { return t.sql }

// Key tells texts with their values apart.
func (t *Text) Key() string { return t.sql + t.bound }

// Sent returns the text as it was sent, with parameters and now() in it, and the kinds of the
// values that came for them.
func (t *Text) Sent() (sent *Text, kinds []string) {
	if t.sent == nil {
		return t, nil
	}
	return t.sent, t.kinds
}

// Select returns the SELECT that the text is, which is to be looked at and not changed.
func (t *Text) Select() (*pg.SelectStmt, error) {
	if t.refused != nil {
		r := *t.refused // whoever gets it may move its place
		return nil, &r
	}
	return t.stmt, nil
}

// onlySelect returns the only statement of a text, where it is a SELECT.
func onlySelect(p *grammar.Parsed) (*pg.SelectStmt, *api.Refusal) {
	switch n := len(p.Statements); {
	case n == 0: // only comments or semicolons
		return nil, emptyRefusal()
	case n > 1:
		at := p.Statements[1].StmtLocation
		for strings.IndexByte(" \n\t\r", p.Text[at]) >= 0 {
			at++ // the place is where the first statement ends
		}
		return nil, Refuse(Malformed, at, "send one SELECT at a time", "the text has %d statements", n)
	}
	switch n := p.Statements[0].Stmt.GetNode().(type) {
	case *pg.Node_SelectStmt:
		return n.SelectStmt, nil
	case *pg.Node_ExplainStmt:
		return nil, Refuse(Unsupported, -1, "run 'discreet explain' with only the SELECT, which is free", "EXPLAIN is not a question")
	case *pg.Node_VariableSetStmt:
		return nil, Refuse(Unsupported, -1, "pass the value separately, for example with --epsilon 0.5", "SET is not a question")
	}
	return nil, Refuse(Unsupported, -1, "write a SELECT of aggregates, as in SELECT COUNT(*) FROM table", "this is not a SELECT")
}

func emptyRefusal() *api.Refusal {
	return Refuse(Malformed, -1, "write a SELECT, as in SELECT COUNT(*) FROM table", "the question is empty")
}

// moveLocations moves all places that a tree has in its text; -1 is none.
func moveLocations(m protoreflect.Message, by int32) {
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case isLocation(f) && v.Int() > 0:
			m.Set(f, protoreflect.ValueOfInt32(int32(v.Int())+by))
		case f.Message() == nil || f.IsMap():
		case f.IsList():
			for i := range v.List().Len() {
				moveLocations(v.List().Get(i).Message(), by)
			}
		default:
			moveLocations(v.Message(), by)
		}
		return true
	})
}

// isLocation reports whether a field is a place in the text.
func isLocation(f protoreflect.FieldDescriptor) bool {
	return f.Kind() == protoreflect.Int32Kind && strings.HasSuffix(string(f.Name()), "location")
}

// grammarRefusal says why a question cannot be read. The parser's message and position are kept:
// both come from the text alone.
func grammarRefusal(text string, err error) *api.Refusal {
	const instead = "the grammar is PostgreSQL's; put text in single quotes and names in double quotes"
	var e *grammar.Excess
	if errors.As(err, &e) {
		what := [...]string{
			grammar.TooLong: "ask a shorter question", grammar.NotUTF8: "send the question as UTF-8", grammar.ZeroByte: "remove it",
			grammar.TooManyWords: "ask a shorter question", grammar.TooDeep: "use fewer levels",
			grammar.TooManyComments: "leave out comments",
		}[e.Kind]
		return Refuse(excessKind(e.Kind), e.At, what, "the question %s", e.Says)
	}
	var p *parser.Error
	if !errors.As(err, &p) {
		return Refuse(Malformed, -1, instead, "the text cannot be parsed")
	}
	return Refuse(Malformed, byteOffset(text, p.Cursorpos-1), instead, "%s", grammar.Message(p))
}

// HintQuotes says more where a column that is not there stands in double quotes, or in those that
// word processors make: it was meant as a text.
func (t *Text) HintQuotes(err error) error {
	r, ok := err.(*api.Refusal)
	if !ok || r.Code != string(NoColumn) || r.Position < 0 || r.Position >= len(t.sql) {
		return err
	}
	from := t.sql[r.Position:]
	if strings.HasPrefix(from, `"`) || strings.HasPrefix(from, "\u2018") || strings.HasPrefix(from, "\u201c") {
		more := *r
		more.Instead += "; put text in single quotes, as in 'F'; double quotes are for names"
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

// Location returns the place of a node in the text, for refusals: its own where the grammar keeps
// one, otherwise the first of those below it; -1 where there is none. An operator's place is the
// operator itself. It looks through the grammar's own description of its nodes, because most of the
// two hundred and more kinds of node are here only to be refused.
func Location(n *pg.Node) int32 {
	if n == nil {
		return -1
	}
	m := n.ProtoReflect()
	which := m.WhichOneof(m.Descriptor().Oneofs().ByName("node"))
	if which == nil {
		return -1
	}
	node := m.Get(which).Message()
	if own := node.Descriptor().Fields().ByName("location"); own != nil {
		return int32(node.Get(own).Int())
	}
	first := int32(-1)
	at := func(below any) {
		n, ok := below.(*pg.Node)
		if !ok {
			return
		}
		if pos := Location(n); pos >= 0 && (first < 0 || pos < first) {
			first = pos
		}
	}
	fields := node.Descriptor().Fields()
	for i := range fields.Len() {
		f := fields.Get(i)
		switch v := node.Get(f); {
		case f.IsList() && f.Message() != nil:
			for j := range v.List().Len() {
				at(v.List().Get(j).Message().Interface())
			}
		case f.Message() != nil && node.Has(f):
			at(v.Message().Interface())
		}
	}
	return first
}

// EachNode calls f for a node of the grammar and everything below it; f says whether to go on
// below.
func EachNode(n *pg.Node, f func(*pg.Node) bool) {
	if n != nil {
		eachMessage(n.ProtoReflect(), f)
	}
}

func eachMessage(m protoreflect.Message, f func(*pg.Node) bool) {
	if n, ok := m.Interface().(*pg.Node); ok && !f(n) {
		return
	}
	visit := func(d protoreflect.FieldDescriptor) {
		switch {
		case d.Message() == nil || d.IsMap():
		case d.IsList():
			list := m.Get(d).List()
			for i := range list.Len() {
				eachMessage(list.Get(i).Message(), f)
			}
		default:
			eachMessage(m.Get(d).Message(), f)
		}
	}
	// In the order of the grammar. Range has another one in every build, and what is found first is
	// what a refusal points at.
	if one := m.Descriptor().Oneofs(); one.Len() == 1 {
		if d := m.WhichOneof(one.Get(0)); d != nil {
			visit(d)
		}
		return
	}
	for _, d := range fieldsBelow(m.Descriptor()) {
		if m.Has(d) {
			visit(d)
		}
	}
}

// below has the fields of messages of the grammar that have messages in them. Most have none: to
// look at the others of each node took longer than all else that is done to most texts.
var below sync.Map // of []protoreflect.FieldDescriptor, by protoreflect.MessageDescriptor

// fieldsBelow returns these fields, in the order of the grammar.
func fieldsBelow(m protoreflect.MessageDescriptor) []protoreflect.FieldDescriptor {
	if found, ok := below.Load(m); ok {
		return found.([]protoreflect.FieldDescriptor)
	}
	var out []protoreflect.FieldDescriptor
	for i := range m.Fields().Len() {
		if d := m.Fields().Get(i); d.Message() != nil && !d.IsMap() {
			out = append(out, d)
		}
	}
	below.Store(m, out)
	return out
}

// TypeName returns the name of the type of a cast, or nothing.
func TypeName(c *pg.TypeCast) string {
	t := c.GetTypeName()
	names := t.GetNames()
	if len(names) == 0 || len(t.GetArrayBounds()) > 0 || t.GetSetof() {
		return ""
	}
	return names[len(names)-1].GetString_().GetSval()
}

func SelectNode(s *pg.SelectStmt) *pg.Node { return &pg.Node{Node: &pg.Node_SelectStmt{SelectStmt: s}} }

// schema is where all tables are.
const schema = "public"

// SelectOf returns the SELECT that the text is, with every name of a table or column as it is
// without the schema and the database in front of it, so that nobody after this has to know of
// them: public.t, db.public.t and ONLY t are t. It is to be looked at and not changed.
func (t *Text) SelectOf(database string) (*pg.SelectStmt, error) {
	s, err := t.Select()
	if err != nil || !isQualified(s) {
		return s, err
	}
	s = proto.Clone(s).(*pg.SelectStmt)
	n := qualified{database: database, named: map[string]bool{}}
	EachNode(SelectNode(s), func(x *pg.Node) bool {
		if q := x.GetCommonTableExpr(); q != nil {
			n.named[strings.ToLower(q.Ctename)] = true
		}
		return true
	})
	EachNode(SelectNode(s), func(x *pg.Node) bool {
		n.shorten(x)
		return n.refused == nil
	})
	if n.refused != nil {
		return nil, n.refused
	}
	return s, nil
}

// isQualified reports whether a name of a SELECT has something in front of it.
func isQualified(s *pg.SelectStmt) (found bool) {
	EachNode(SelectNode(s), func(n *pg.Node) bool {
		v := n.GetRangeVar()
		found = found || v != nil && (v.Schemaname != "" || v.Catalogname != "" || !v.Inh) || len(n.GetColumnRef().GetFields()) > 2
		return !found
	})
	return found
}

type qualified struct {
	database string
	named    map[string]bool // queries of WITH, which have no schema
	refused  *api.Refusal
}

func (q *qualified) shorten(n *pg.Node) {
	if v := n.GetRangeVar(); v != nil {
		q.check(v.Catalogname, v.Schemaname, v.Location)
		if v.Schemaname != "" && q.named[strings.ToLower(v.Relname)] {
			q.refuse(Unsupported, v.Location, "give the query of WITH another name",
				"WITH has a query of the name of the table %q", v.Relname)
		}
		v.Catalogname, v.Schemaname, v.Inh = "", "", true
	}
	c := n.GetColumnRef()
	from := len(c.GetFields()) - 2 // a table and a column are left
	if from <= 0 {
		return
	}
	before := make([]string, 2) // the database and the schema
	for i, f := range c.Fields[:from] {
		if from > 2 || f.GetString_() == nil {
			q.refuse(Malformed, c.Location, "write table.column", "the name has too many parts")
			return
		}
		before[2-from+i] = f.GetString_().Sval
	}
	q.check(before[0], before[1], c.Location)
	c.Fields = c.Fields[from:]
}

func (q *qualified) check(database, in string, at int32) {
	switch {
	case database != "" && !strings.EqualFold(database, q.database):
		q.refuse(Unsupported, at, "connect to that dataset, and ask there", "the question is asked of %q, and %q is another database",
			q.database, database)
	case in == "pg_catalog" || in == "information_schema":
		q.refuse(Unsupported, at, "ask only the catalogue, which is free and exact", "the catalogue cannot be asked together with tables")
	case in != "" && in != schema:
		q.refuse(NoTable, at, "write public.table, or only the table's name, and a name with a dot in it in double quotes",
			"there is no schema %q for tables: all of them are in %q", in, schema)
	}
}

func (q *qualified) refuse(k Kind, at int32, instead, format string, args ...any) {
	if q.refused == nil {
		q.refused = Refuse(k, at, instead, format, args...)
	}
}

// Bound puts the values of a question's parameters, and the time, into what was read of its text.
func Bound(q api.Question) (api.Question, error) {
	text := Open(q.SQL, q.Parsed)
	if len(q.Parameters) > 0 || strings.Contains(q.SQL, "$") {
		bound, err := text.Bind(q.Parameters)
		if err != nil {
			return q, err
		}
		text = bound
	}
	if q.Now.IsZero() {
		q.Now = time.Now()
	}
	q.Parsed, q.Parameters = text.At(q.Now), nil
	return q, nil
}
