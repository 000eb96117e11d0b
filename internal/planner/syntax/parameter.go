package syntax

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/planner/grammar"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/policy"
)

// MaxParameters is how many parameters a question can have. Each is a word of the text, so more
// would not fit anyway.
const MaxParameters = 1000

// numberText is all that a number can look like: no NaN, no infinity, no other base, no underscore.
// The exponent's size is dp.ParseDecimal's to check.
var numberText = regexp.MustCompile(`\A[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,3})?\z`)

// literal is a value as it is written in a text.
type literal struct {
	sql    string // with parentheses around it
	value  api.Parameter
	number string // how a number is spelled, with its sign
	array  bool
	items  []literal // of an array
}

// spellParameter checks a value and spells it. A value is as long as a text at most, and that is
// looked at first, so that no value makes work that a text could not. The parentheses end whatever
// word stands before it: without them E$1, U&$1 or a name before a quote would be read as one.
func spellParameter(p api.Parameter) (literal, *api.Refusal) {
	if p.Null {
		return literal{sql: "(NULL)", value: p}, nil
	}
	switch {
	case len(p.Text) > questionLimits.Bytes:
		return literal{}, Refuse(TooComplex, -1, "send a shorter value", "its value is longer than %d bytes", questionLimits.Bytes)
	case !utf8.ValidString(p.Text):
		return literal{}, Refuse(BadEncoding, -1, "send the value as UTF-8", "its value is not valid UTF-8")
	case strings.IndexByte(p.Text, 0) >= 0:
		return literal{}, Refuse(BadEncoding, -1, "remove it", "its value contains a zero byte")
	}
	bare := strings.TrimSpace(p.Text)
	if kind, ok := strings.CutSuffix(p.Kind, "[]"); ok {
		return spellArray(p, kind)
	}
	switch p.Kind {
	case "", "text":
		p.Kind = "text"
		return literal{sql: "(" + tree.Quote(p.Text) + ")", value: p}, nil
	case "integer", "decimal":
		return spellNumber(p, bare)
	case "boolean":
		b, ok := tree.ReadBoolean(bare)
		if !ok {
			return literal{}, Refuse(BadText, -1, "send true or false", "its value is not a boolean")
		}
		p.Text = "false"
		if b {
			p.Text = "true"
		}
		return literal{sql: "(" + p.Text + ")", value: p}, nil
	case "date":
		if _, ok := policy.ParseDate(bare); !ok {
			return literal{}, Refuse(BadTime, -1, "send a day as in 2024-01-31", "its value is not a date")
		}
		p.Text = bare
		return literal{sql: "(DATE " + tree.Quote(bare) + ")", value: p}, nil
	case "timestamp":
		if _, ok := policy.ParseTimestamp(bare); !ok {
			return literal{}, Refuse(BadTime, -1, "send a time in UTC as in 2024-01-31 12:30:00", "its value is not a timestamp")
		}
		p.Text = bare
		return literal{sql: "(TIMESTAMP " + tree.Quote(bare) + ")", value: p}, nil
	}
	return literal{}, Refuse(Unsupported, -1, "send an integer, decimal, text, boolean, date or timestamp", "its kind cannot be used here")
}

// spellArray spells an array, each of its values as one of their kind is.
func spellArray(p api.Parameter, kind string) (literal, *api.Refusal) {
	texts, ok := Elements(p.Text, MaxElements)
	if !ok {
		return literal{}, Refuse(BadText, -1, "send a list of values, in one dimension",
			"its value is not an array of at most %d elements", MaxElements)
	}
	out := literal{value: p, array: true}
	var all strings.Builder
	for i, t := range texts {
		one := api.Parameter{Kind: kind, Null: t == nil}
		if t != nil {
			one.Text = *t
		}
		l, refused := spellParameter(one)
		if refused != nil {
			return literal{}, refused
		}
		out.items = append(out.items, l)
		if i > 0 {
			all.WriteByte(',')
		}
		all.WriteString(l.sql)
	}
	out.sql = "(ARRAY[" + all.String() + "]::" + kind + "[])"
	return out, nil
}

// spellNumber spells a number. A decimal has a point even where it is whole, because 1 / 2 and 1.0
// / 2 are not the same.
func spellNumber(p api.Parameter, text string) (literal, *api.Refusal) {
	_, err := dp.ParseDecimal(text)
	switch {
	case err != nil || !numberText.MatchString(text):
		return literal{},
			Refuse(BadText, -1, "send a decimal number of at most 64 digits, with an exponent of at most 400", "its value is not a number")
	case p.Kind == "integer" && strings.ContainsAny(text, ".eE"):
		return literal{}, Refuse(BadText, -1, "send a whole number, or a decimal", "its value is not a whole number")
	case p.Kind == "decimal" && !strings.ContainsAny(text, ".eE"):
		text += ".0"
	}
	p.Text = strings.TrimPrefix(text, "+")
	return literal{sql: "(" + p.Text + ")", value: p, number: p.Text}, nil
}

type parameterMark struct {
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
		return nil, Refuse(NoParameter, firstMark(marks), "send one value for each", "the question has %s, but %s came with it",
			plural(count, "parameter"), plural(len(values), "value"))
	}
	if count == 0 {
		return t, nil
	}
	literals := make([]literal, count)
	for i, v := range values {
		l, refused := spellParameter(v)
		if refused != nil {
			return nil, Refuse(KindOf(refused), firstLocation(marks, i+1), refused.Instead, "parameter $%d: %s", i+1, refused.Reason)
		}
		literals[i] = l
	}
	size := len(t.sql) // one value may stand in many places
	for _, m := range marks {
		if size += len(literals[m.number-1].sql); size > questionLimits.Bytes {
			return nil, Refuse(TooComplex, m.start, "ask a shorter question, or send shorter values",
				"with its values the question is longer than %d bytes", questionLimits.Bytes)
		}
	}
	if e := questionLimits.Exceeded("", t.written(literals)); e != nil {
		return nil, grammarRefusal(t.sql, e)
	}
	if isMisplaced(SelectNode(t.stmt)) {
		return nil, Refuse(Unsupported, firstMark(marks), parameterInstead, "a parameter cannot be used in this place")
	}
	bound := &Text{sql: t.sql, words: t.words, stmt: proto.Clone(t.stmt).(*pg.SelectStmt), now: t.now, bound: t.bound}
	bound.sent, _ = t.Sent()
	for _, l := range literals {
		bound.bound += "\x00" + l.sql
		bound.kinds = append(bound.kinds, l.value.Kind)
	}
	substitute(t.sql, SelectNode(bound.stmt), literals)
	respell(bound.stmt)
	return bound, nil
}

// Parameters returns how many parameters a text has: the largest of their numbers.
func (t *Text) Parameters() (int, error) {
	_, count, err := t.parameters()
	return count, err
}

// parameters returns the places of the parameters, and the largest of their numbers. They are those
// that PostgreSQL's own scanner finds, so one in a quoted text, a comment or a name is none.
func (t *Text) parameters() ([]parameterMark, int, error) {
	s, err := t.Select()
	if err != nil {
		return nil, 0, err
	}
	var marks []parameterMark
	count := 0
	for _, w := range t.words {
		if w.Kind != pg.Token_PARAM {
			continue
		}
		n, err := strconv.Atoi(t.sql[w.Start+1 : w.End])
		if err != nil || n < 1 || n > MaxParameters {
			return nil, 0, Refuse(NoParameter, w.Start, "number them from $1", "parameters are $1 to $%d", MaxParameters)
		}
		count = max(count, n)
		marks = append(marks, parameterMark{n, w.Start, w.End})
	}
	if at, found := ordinalParameter(SelectNode(s)); found {
		return nil, 0,
			Refuse(Unsupported, at, "write the column's name or position in the question",
				"a parameter cannot say what to sort or group by")
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
		r.Instead = parameterInstead
	}
	return r
}

const parameterInstead = "a parameter can only be used in place of an expression: write $1::date, not DATE $1, and write out names, " +
	"fields and units of time"

// isMisplaced finds a parameter where PostgreSQL has none and this parser takes one: DATE $1, which
// is a cast without a place of its own, and EXTRACT($1 FROM x).
func isMisplaced(n *pg.Node) bool {
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

// firstLocation is where a parameter stands first, or -1.
func firstLocation(marks []parameterMark, number int) int32 {
	for _, m := range marks {
		if m.number == number {
			return m.start
		}
	}
	return -1
}

func firstMark(marks []parameterMark) int32 {
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
