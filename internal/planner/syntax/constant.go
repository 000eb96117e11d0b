package syntax

import (
	"strconv"
	"strings"
	"time"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/policy"
)

// substitute puts values into the places of parameters, as the grammar would read them there: it
// takes a minus, but not OPERATOR(-), into the number that follows.
func substitute(sql string, n *pg.Node, values []literal) {
	EachNode(n, func(n *pg.Node) bool {
		minus, at, inner := 0, int32(-1), n
		for IsMinus(inner) && sql[inner.GetAExpr().Location] == '-' {
			if minus++; at < 0 {
				at = inner.GetAExpr().Location
			}
			inner = inner.GetAExpr().Rexpr
		}
		p := inner.GetParamRef()
		if p == nil {
			return true
		}
		l := values[p.Number-1]
		if inner != n && l.number == "" {
			return true // of a text it is not
		}
		if minus == 0 {
			at = p.Location
		}
		n.Node = l.constant(at, minus%2 == 1).Node
		return false
	})
}

// constant is the value as the grammar reads it at a place.
func (l literal) constant(at int32, negative bool) *pg.Node {
	if l.array {
		array := &pg.A_ArrayExpr{Location: at}
		for _, e := range l.items {
			array.Elements = append(array.Elements, e.constant(at, false))
		}
		return &pg.Node{Node: &pg.Node_AArrayExpr{AArrayExpr: array}}
	}
	c := &pg.A_Const{Location: at}
	switch v := l.value; {
	case v.Null:
		c.Isnull = true
	case l.number != "":
		l.setNumber(c, negative)
	case v.Kind == "boolean":
		c.Val = &pg.A_Const_Boolval{Boolval: &pg.Boolean{Boolval: v.Text == "true"}}
	default:
		c.Val = &pg.A_Const_Sval{Sval: &pg.String{Sval: v.Text}}
	}
	node := &pg.Node{Node: &pg.Node_AConst{AConst: c}}
	names := map[string][]string{"date": {"date"}, "timestamp": {"pg_catalog", "timestamp"}}[l.value.Kind]
	if names == nil || l.value.Null {
		return node
	}
	typ := &pg.TypeName{Typemod: -1, Location: at}
	for _, name := range names {
		typ.Names = append(typ.Names, &pg.Node{Node: &pg.Node_String_{String_: &pg.String{Sval: name}}})
	}
	return &pg.Node{Node: &pg.Node_TypeCast{TypeCast: &pg.TypeCast{Arg: node, TypeName: typ, Location: -1}}}
}

// setNumber sets a number: a whole one of 32 bits, or its text, in which the sign stands.
func (l literal) setNumber(c *pg.A_Const, negative bool) {
	digits, minus := strings.CutPrefix(l.number, "-")
	minus = minus != negative
	if n, err := strconv.ParseInt(digits, 10, 32); err == nil {
		if minus {
			n = -n
		}
		c.Val = &pg.A_Const_Ival{Ival: &pg.Integer{Ival: int32(n)}}
		return
	}
	if minus {
		digits = "-" + digits
	}
	c.Val = &pg.A_Const_Fval{Fval: &pg.Float{Fval: digits}}
}

// words are the kinds of the words that a value has where it is written out: what matters of them
// is what nests.
func (l literal) words() []pg.Token {
	const other = pg.Token_ICONST
	middle := []pg.Token{other}
	switch {
	case l.value.Null:
	case l.array:
		middle = nil
		for _, e := range l.items {
			middle = append(append(middle, other), e.words()...)
		}
	case strings.HasPrefix(l.number, "-"):
		middle = []pg.Token{pg.Token_ASCII_45, other}
	case l.value.Kind == "date" || l.value.Kind == "timestamp":
		middle = []pg.Token{other, other}
	}
	return append(append([]pg.Token{pg.Token_ASCII_40}, middle...), pg.Token_ASCII_41)
}

// At returns the question as it is asked at a moment: now(), CURRENT_DATE and the like are
// constants of it, as parameters are, and part of what it is remembered by. A question that does
// not ask for the time is the same at every moment.
func (t *Text) At(moment time.Time) *Text {
	if t.refused != nil || t.now != "" || t.timeless.Load() {
		return t
	}
	micros := moment.UTC().UnixMicro()
	asks, days := false, true
	EachNode(SelectNode(t.stmt), func(n *pg.Node) bool {
		asks = asks || momentConstant(n, micros) != nil || isAge(n)
		days = days && (momentConstant(n, micros) == nil || isToday(n))
		return true
	})
	if !asks {
		t.timeless.Store(true)
		return t
	}
	out := &Text{sql: t.sql, words: t.words, stmt: proto.Clone(t.stmt).(*pg.SelectStmt), now: policy.FormatTimestamp(micros)}
	out.sent, out.kinds = t.Sent()
	if days {
		out.now = out.now[:len("2006-01-02")]
	}
	out.bound = t.bound + "\x00now " + out.now
	EachNode(SelectNode(out.stmt), func(n *pg.Node) bool {
		if c := momentConstant(n, micros); c != nil {
			n.Node = c.Node
			return false
		}
		if isAge(n) { // of today
			f := n.GetFuncCall()
			f.Args = append([]*pg.Node{dateNode(micros, f.Location)}, f.Args...)
		}
		return true
	})
	return out
}

// Now is what now() is in the question, as a timestamp; a day where it asks for no more, and empty
// where it does not ask.
func (t *Text) Now() string { return t.now }

func isToday(n *pg.Node) bool {
	f := n.GetSqlvalueFunction()
	return f != nil && f.Op == pg.SQLValueFunctionOp_SVFOP_CURRENT_DATE
}

// momentConstant is the constant that a node stands for which asks for the time, or nil.
func momentConstant(n *pg.Node, micros int64) *pg.Node {
	switch x := n.GetNode().(type) {
	case *pg.Node_FuncCall:
		f := x.FuncCall
		if len(f.Args) > 0 || f.Over != nil || f.AggFilter != nil || f.AggStar {
			return nil
		}
		switch bareName(f) {
		case "now", "transaction_timestamp", "statement_timestamp", "clock_timestamp":
			return momentNode(micros, f.Location)
		}
	case *pg.Node_SqlvalueFunction:
		f := x.SqlvalueFunction
		switch f.Op {
		case pg.SQLValueFunctionOp_SVFOP_CURRENT_DATE:
			return dateNode(micros, f.Location)
		case pg.SQLValueFunctionOp_SVFOP_CURRENT_TIMESTAMP, pg.SQLValueFunctionOp_SVFOP_LOCALTIMESTAMP:
			return momentNode(micros, f.Location)
		case pg.SQLValueFunctionOp_SVFOP_CURRENT_TIMESTAMP_N, pg.SQLValueFunctionOp_SVFOP_LOCALTIMESTAMP_N:
			return momentNode(roundMicros(micros, f.Typmod), f.Location)
		}
	}
	return nil
}

// roundMicros is a moment with so many digits after the seconds.
func roundMicros(micros int64, digits int32) int64 {
	return time.UnixMicro(micros).Round(map[int32]time.Duration{0: time.Second, 1: time.Second / 10, 2: time.Second / 100,
		3: time.Millisecond, 4: time.Millisecond / 10, 5: time.Millisecond / 100}[digits]).UnixMicro()
}

// isAge reports whether a node is age(x), which is the time from x to the beginning of today.
func isAge(n *pg.Node) bool {
	f := n.GetFuncCall()
	return f != nil && len(f.Args) == 1 && bareName(f) == "age"
}

// bareName is the name of a function, without the schema that PostgreSQL has it in.
func bareName(f *pg.FuncCall) string {
	names := f.Funcname
	if len(names) == 2 && names[0].GetString_().GetSval() == "pg_catalog" {
		names = names[1:]
	}
	if len(names) != 1 {
		return ""
	}
	return names[0].GetString_().GetSval()
}

func momentNode(micros int64, at int32) *pg.Node {
	return literal{value: api.Parameter{Kind: "timestamp", Text: policy.FormatTimestamp(micros)}}.constant(at, false)
}

func dateNode(micros int64, at int32) *pg.Node {
	return literal{value: api.Parameter{Kind: "date", Text: policy.FormatTimestamp(micros)[:len("2006-01-02")]}}.constant(at, false)
}

// The bits of WindowDef.FrameOptions (FRAMEOPTION_... in PostgreSQL's parsenodes.h).
const (
	FrameGiven          int32 = 0x00001
	FrameRange          int32 = 0x00002
	FrameRows           int32 = 0x00004
	FrameGroups         int32 = 0x00008
	FrameBetween        int32 = 0x00010 // BETWEEN was written
	StartUnbounded      int32 = 0x00020
	EndNever            int32 = 0x00040 // UNBOUNDED PRECEDING
	StartNever          int32 = 0x00080 // UNBOUNDED FOLLOWING
	EndUnbounded        int32 = 0x00100
	StartCurrent        int32 = 0x00200
	EndCurrent          int32 = 0x00400
	StartPreceding      int32 = 0x00800
	EndPreceding        int32 = 0x01000
	StartFollowing      int32 = 0x02000
	EndFollowing        int32 = 0x04000
	FrameExcludeCurrent int32 = 0x08000
	FrameExcludeGroup   int32 = 0x10000
	FrameExcludeTies    int32 = 0x20000

	FrameOffsets   = StartPreceding | StartFollowing | EndPreceding | EndFollowing
	FrameExclusion = FrameExcludeCurrent | FrameExcludeGroup | FrameExcludeTies
)
