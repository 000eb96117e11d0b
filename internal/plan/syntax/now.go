package syntax

import (
	"time"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/policy"
)

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
		asks = asks || clock(n, micros) != nil || isAge(n)
		days = days && (clock(n, micros) == nil || isToday(n))
		return true
	})
	if !asks {
		t.timeless.Store(true)
		return t
	}
	out := &Text{sql: t.sql, words: t.words, stmt: proto.Clone(t.stmt).(*pg.SelectStmt), now: policy.FormatTimestamp(micros)}
	if days {
		out.now = out.now[:len("2006-01-02")]
	}
	out.bound = t.bound + "\x00now " + out.now
	EachNode(SelectNode(out.stmt), func(n *pg.Node) bool {
		if c := clock(n, micros); c != nil {
			n.Node = c.Node
			return false
		}
		if isAge(n) { // of today
			f := n.GetFuncCall()
			f.Args = append([]*pg.Node{today(micros, f.Location)}, f.Args...)
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

// clock is the constant that a node stands for which asks for the time, or nil.
func clock(n *pg.Node, micros int64) *pg.Node {
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
			return today(micros, f.Location)
		case pg.SQLValueFunctionOp_SVFOP_CURRENT_TIMESTAMP, pg.SQLValueFunctionOp_SVFOP_LOCALTIMESTAMP:
			return momentNode(micros, f.Location)
		case pg.SQLValueFunctionOp_SVFOP_CURRENT_TIMESTAMP_N, pg.SQLValueFunctionOp_SVFOP_LOCALTIMESTAMP_N:
			return momentNode(rounded(micros, f.Typmod), f.Location)
		}
	}
	return nil
}

// rounded is a moment with so many digits after the seconds.
func rounded(micros int64, digits int32) int64 {
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

func today(micros int64, at int32) *pg.Node {
	return literal{value: api.Parameter{Kind: "date", Text: policy.FormatTimestamp(micros)[:len("2006-01-02")]}}.constant(at, false)
}
