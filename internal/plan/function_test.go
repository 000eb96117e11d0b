package plan

import (
	"math/big"
	"testing"

	"github.com/discreet-dp/discreet/internal/plan/expr"
	"github.com/discreet-dp/discreet/internal/plan/syntax"
	"github.com/discreet-dp/discreet/internal/plan/tree"
	"github.com/discreet-dp/discreet/policy"
)

// meaning checks an expression on the columns of a small table.
func meaning(t *testing.T, text string) tree.Expr {
	t.Helper()
	p, err := policy.Parse("p.yaml", []byte(`
datasets:
  d:
    engine: duckdb
    source: d.duckdb
    unit: row
    budget: {epsilon: 1}
    analysts: {a: {}}
    tables:
      t:
        columns:
          low: {type: integer, bounds: [-9, -5]}
          high: {type: integer, bounds: [5, 9], nullable: false}
          wide: {type: integer}
          at: {type: timestamp, bounds: [2024-01-30 23:00:00, 2024-01-31 01:00:00]}
`))
	if err != nil {
		t.Fatal(err)
	}
	s, err := syntax.Open("SELECT "+text+" FROM t", nil).Select()
	if err != nil {
		t.Fatal(err)
	}
	around := newEnv(p.Datasets["d"], Options{})
	from, err := rowReader{around}.readFrom(s)
	if err != nil {
		t.Fatal(err)
	}
	e, err := checkExpr(&rowScope{env: around, rows: from}, s.TargetList[0].GetResTarget().GetVal())
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return e
}

// escaped returns a part of e, a number or a time, whose value lies outside what its type says, or
// nil.
func escaped(e tree.Expr, leaf func(tree.Expr) tree.Value) (found tree.Expr) {
	tree.Walk(e, func(x tree.Expr) {
		lo, hi := x.Type().Span()
		var n *big.Int
		switch v := expr.Eval(x, leaf).(type) {
		case *big.Int:
			n = v
		case tree.Day:
			n = big.NewInt(int64(v))
		case tree.Moment:
			n = big.NewInt(int64(v))
		default:
			return
		}
		if n.Cmp(lo) < 0 || n.Cmp(hi) > 0 {
			found = x
		}
	})
	return found
}

// TestIntervalsWithNull: a NULL is passed over, so it must not bound the others. What the
// policy says about NULL is not a proof.
func TestIntervalsWithNull(t *testing.T) {
	values := map[string][]tree.Value{
		"low":  {nil, big.NewInt(-9), big.NewInt(-5)},
		"high": {nil, big.NewInt(5), big.NewInt(9)},
		"wide": {nil, tree.MinInt64, tree.MaxInt64},
		"at": {nil, tree.Moment(1706655600_000000), tree.Moment(1706662800_000000), tree.Moment(1706659200_000000),
			tree.Moment(1706659199_999999)},
	}
	for _, text := range []string{
		"greatest(low, high)", "least(low, high)", "coalesce(low, high)", "nullif(high, 9)", "greatest(low, 0)", "least(high, 7)",
		"least(greatest(wide, 0), 100)",
		"CASE WHEN low > -7 THEN low WHEN high > 7 THEN high ELSE 20 END", "CASE WHEN low > -7 THEN low END", "abs(low)",
		"abs(least(low, high))", "-abs(wide)",
		"round(low, -1)", "round(high, -1)", "at + INTERVAL '1 month'", "at - INTERVAL '2 months'", "at + INTERVAL '1 month -1 second'",
		"date_trunc('day', at)", "CAST(at AS date)", "width_bucket(wide, 0, 10, 3)",
	} {
		e := meaning(t, text)
		for _, low := range values["low"] {
			for _, high := range values["high"] {
				for _, wide := range values["wide"] {
					for _, at := range values["at"] {
						row := map[string]tree.Value{"low": low, "high": high, "wide": wide, "at": at}
						leaf := func(e tree.Expr) tree.Value { return row[e.(*tree.Column).Field.Name] }
						if x := escaped(e, leaf); x != nil {
							t.Fatalf("%s: %s = %v is outside %v, for %v", text, tree.Format(x), expr.Eval(x, leaf), x.Type(), row)
						}
					}
				}
			}
		}
	}
}

// TestDeclaredEnds: a sum is calibrated to ends that somebody chose, and to no others.
func TestDeclaredEnds(t *testing.T) {
	for text, want := range map[string]bool{
		"low": true, "wide": false, "abs(low)": true, "abs(wide)": false, "greatest(wide, 0)": false, "least(wide, 0)": false,
		"least(greatest(wide, 0), 100)": true, "greatest(least(wide, 100), 0)": true, "least(greatest(wide, low), 100)": false,
		"least(greatest(wide, 0), high)":            false,
		"CASE WHEN wide > 0 THEN low ELSE wide END": false, "CASE WHEN wide > 0 THEN low ELSE high END": true,
		"coalesce(wide, 0)": false, "coalesce(least(greatest(wide, 0), 100), 5)": true, "nullif(wide, 0)": false, "sign(wide)": true,
		"round(wide, -2)":       false,
		"CAST(wide AS integer)": false, "CAST(wide AS numeric(5,2))": true, "round(wide / 7.0, 2)": false, "round(low / 7.0, 2)": true,
		"width_bucket(wide, 0, 10, 3)": true,
		"extract(month from at)":       true, "extract(year from at)": true, "extract(epoch from at)": true,
	} {
		if got := meaning(t, text).Type().Declared; got != want {
			t.Errorf("%s: declared %v", text, got)
		}
	}
}
