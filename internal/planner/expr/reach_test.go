package expr_test

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/discreet-dp/discreet/internal/planner"
	"github.com/discreet-dp/discreet/internal/planner/expr"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/internal/test/daily"
	"github.com/discreet-dp/discreet/policy"
)

const dataset = `
datasets:
  d:
    engine: duckdb
    source: d.duckdb
    unit: t.pid
    budget: {epsilon: 10}
    analysts: {ana: {}}
    tables:
      t:
        unique: pid
        columns:
          pid: {type: integer}
          n:   {type: integer, bounds: [-120, 130]}
          c:   {type: decimal, bounds: [-3, 4], granularity: 0.05}
          d:   {type: date, bounds: [1999-11-20, 2001-02-10]}
          at:  {type: timestamp, bounds: ["1969-12-31 23:59:58", "1970-01-01 00:00:03"]}
          w:   {type: integer}
          b:   {type: date}
`

type maker struct{ *rand.Rand }

func (m maker) pick(from ...string) string { return from[m.IntN(len(from))] }

func (m maker) number(column string, depth int) string {
	leaf := column
	switch column {
	case "d", "b":
		leaf = "extract(" + m.pick("year", "isoyear", "quarter", "month", "week", "day", "dow", "isodow", "doy", "epoch", "decade",
			"century", "millennium") + " from " + m.time(column, depth-1) + ")"
	case "at":
		leaf = "extract(" + m.pick("epoch", "second", "minute", "hour", "day", "year", "milliseconds", "dow") + " from " +
			m.time(column, depth-1) + ")"
	}
	if depth <= 0 {
		return leaf
	}
	x := m.number(column, depth-1)
	k := m.pick("2", "3", "7", "10", "-3", "0.5", "1", "24")
	switch m.IntN(14) {
	case 0:
		return "floor(" + x + " / " + k + ")"
	case 1:
		return "(" + x + " * " + m.pick("2", "-3", "10", "0") + ")"
	case 2:
		return "(" + x + " + " + k + ")"
	case 3:
		return "(" + k + " - " + x + ")"
	case 4:
		return m.pick("round", "trunc", "ceil", "floor") + "(" + x + ")"
	case 5:
		return "round(" + x + ", -1)"
	case 6:
		return "abs(" + x + ")"
	case 7:
		return "floor(" + x + ") % " + m.pick("3", "7", "-5")
	case 8:
		return "CASE WHEN " + m.condition(column, depth-1) + " THEN " + x + " ELSE " + m.number(column, depth-1) + " END"
	case 9:
		return "greatest(" + x + ", " + k + ")"
	case 10:
		return "(" + x + " - " + m.number(column, depth-1) + ")"
	case 11:
		return "width_bucket(" + x + ", -10, 20, 5)"
	case 12:
		return "nullif(" + x + ", " + k + ")"
	}
	return leaf
}

func (m maker) time(column string, depth int) string {
	if depth <= 0 {
		return column
	}
	x := m.time(column, depth-1)
	switch m.IntN(7) {
	case 0:
		return "date_trunc('" + m.pick("year", "quarter", "month", "week", "day", "hour", "minute", "second", "decade", "century",
			"milliseconds") + "', " + x + ")"
	case 1:
		return "(" + x + " + INTERVAL '" + m.pick("1 month", "-3 days", "90 minutes", "1 second", "-1 year") + "')"
	case 2:
		return "CAST(" + x + " AS date)"
	case 3:
		return "CAST(" + x + " AS timestamp)"
	case 4:
		return "date_bin(INTERVAL '" + m.pick("7 days", "36 hours", "1.5 seconds") + "', " + x + ", '1999-12-25 10:00:00')"
	}
	return x
}

func (m maker) condition(column string, depth int) string {
	op := m.pick("=", "<", "<=", ">", ">=", "<>", "IS DISTINCT FROM", "IS NOT DISTINCT FROM")
	k := fmt.Sprint(m.IntN(60) - 20)
	switch m.IntN(8) {
	case 0:
		return "(" + m.condition(column, depth-1) + m.pick(" AND ", " OR ") + m.condition(column, depth-1) + ")"
	case 1:
		return "NOT (" + m.condition(column, depth-1) + ")"
	case 2:
		return m.number(column, depth) + " BETWEEN " + k + " AND " + k + " + 30"
	case 3:
		return m.number(column, depth) + m.pick(" IN ", " NOT IN ") + "(" + k + ", 3, 12, 1999)"
	case 4:
		return m.number(column, depth) + m.pick(" IS NULL", " IS NOT NULL")
	case 5:
		if column == "d" || column == "b" {
			return m.time(column, depth) + " " + op + " DATE '2000-0" + fmt.Sprint(1+m.IntN(9)) + "-15'"
		}
	case 6:
		if column == "at" {
			return m.time(column, depth) + " " + op + " TIMESTAMP '1970-01-01 00:00:0" + fmt.Sprint(m.IntN(4)) + "'"
		}
	}
	return m.number(column, depth) + " " + op + " " + k
}

// axes are the columns with all of their places; those of the last two are made here.
var axes = map[string]expr.Axis{
	"n": {Kind: tree.Number, In: expr.Interval{Lo: -120, Hi: 130}}, "c": {Kind: tree.Number, In: expr.Interval{Lo: -60, Hi: 80}},
	"d":  {Kind: tree.Date, In: expr.Interval{Lo: 10915, Hi: 11363}},
	"at": {Kind: tree.Timestamp, In: expr.Interval{Lo: -1_700, Hi: 2_600}},
	"w":  {Kind: tree.Number, In: expr.Interval{Lo: -40, Hi: 40}}, "b": {Kind: tree.Date, In: expr.Interval{Lo: -719300, Hi: -718000}},
}

// TestReach: an expression has the values at the places that are found, and no others; and a
// condition is true nowhere outside of what it narrows to. All places are looked at.
func TestReach(t *testing.T) {
	p, err := policy.Parse("policy.yaml", []byte(dataset))
	if err != nil {
		t.Fatal(err)
	}
	ds := p.Datasets["d"]
	seed := uint64(2)
	if !daily.Full() {
		seed += uint64(daily.Turn(1000)) // others every day
	}
	m := maker{rand.New(rand.NewPCG(1, seed))}
	tried, fewer, narrower := 0, 0, 0
	for range daily.Rounds(170, 500) {
		column := m.pick("n", "c", "d", "at", "w", "b")
		st, err := planner.Prepare(ds, "SELECT COUNT(*) FILTER (WHERE "+m.condition(column, 2)+"), COUNT("+m.number(column, 3)+") FROM t",
			planner.Options{})
		if err != nil {
			continue
		}
		for _, measure := range st.Plans[0].Query.Measures {
			if measure.Arg == nil {
				continue
			}
			a := axes[column]
			a.Index = index(measure.Arg)
			if a.Index < 0 {
				continue
			}
			tried++
			points, ok := a.Points(measure.Arg, 1<<13)
			if !ok {
				t.Fatal("too many")
			}
			if int64(len(points)) < (a.In.Hi-a.In.Lo)/2 {
				fewer++
			}
			have := map[string]bool{}
			for _, x := range points {
				have[value(&a, measure.Arg, x)] = true
			}
			in, present := expr.Interval{}, false
			condition := measure.Arg
			if c, ok := condition.(*tree.Case); ok { // the filter of a count
				condition = c.Whens[0].If
			}
			in, present = a.Narrow(condition)
			if in != a.In {
				narrower++
			}
			if present && expr.Eval(condition, func(tree.Expr) tree.Value { return nil }) == true {
				t.Fatalf("%s is true of NULL", tree.Format(condition))
			}
			for x := a.In.Lo; x <= a.In.Hi; x++ {
				if v := value(&a, measure.Arg, x); !have[v] {
					t.Fatalf("%s of %s: %s at %d is missing from %d points", tree.Format(measure.Arg), column, v, x, len(points))
				}
				if at := expr.Eval(condition, func(tree.Expr) tree.Value { return a.Value(x) }); at == true && (x < in.Lo || x > in.Hi) {
					t.Fatalf("%s is true at %d, and narrowed to %v", tree.Format(condition), x, in)
				}
			}
		}
	}
	t.Logf("%d expressions, %d with few points, %d narrower", tried, fewer, narrower)
	if tried < daily.Rounds(80, 300) || fewer < daily.Rounds(20, 100) || narrower < daily.Rounds(5, 30) {
		t.Errorf("%d expressions, %d with few points, %d narrower", tried, fewer, narrower)
	}
}

// index is that of the column of an expression, or -1.
func index(e tree.Expr) int {
	found := -1
	tree.Walk(e, func(x tree.Expr) {
		if c, ok := x.(*tree.Column); ok {
			found = c.Index
		}
	})
	return found
}

func value(a *expr.Axis, e tree.Expr, x int64) string {
	v := expr.Eval(e, func(tree.Expr) tree.Value { return a.Value(x) })
	if n, ok := v.(*big.Int); ok {
		return n.String()
	}
	return fmt.Sprint(v)
}
