package plan

import (
	"fmt"
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/policy"
)

// numbers are the columns that random expressions are made of: bounded,
// unbounded, on a fine and on a coarse lattice.
func numbers(t testing.TB) []*policy.Column {
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
          a: {type: integer, bounds: [0, 110]}
          b: {type: integer, bounds: [-3, 2]}
          c: {type: decimal, bounds: [-50, 50000], granularity: 0.01}
          d: {type: integer, bounds: [-1000, 3000], granularity: 500}
          e: {type: integer}
          f: {type: integer, bounds: [-9007199254740992, 9007199254740992]}
`))
	if err != nil {
		t.Fatal(err)
	}
	table := p.Datasets["d"].Tables["t"]
	var out []*policy.Column
	for _, name := range table.ColumnNames() {
		out = append(out, table.Columns[name])
	}
	return out
}

// drawExpr draws an expression of numbers, as deep as the refusals let it be.
func drawExpr(t *rapid.T, columns []*policy.Column, depth int) Expr {
	if depth == 0 || rapid.IntRange(0, 4).Draw(t, "leaf") == 0 {
		if rapid.Bool().Draw(t, "constant") {
			r := big.NewRat(rapid.Int64Range(-20, 20).Draw(t, "numerator"), rapid.SampledFrom([]int64{1, 1, 2, 3, 100}).Draw(t, "denominator"))
			return newNumber(r)
		}
		return asColumn(rapid.SampledFrom(columns).Draw(t, "column"))
	}
	l, r := drawExpr(t, columns, depth-1), drawExpr(t, columns, depth-1)
	op := rapid.SampledFrom([]ArithOp{Add, Sub, Mul, Div, Rem}).Draw(t, "op")
	e, err := newArith(op, l, r, -1)
	if err != nil {
		return l // refused: what is left is still an expression
	}
	return e
}

// asColumn is a column of a relation that has no other.
func asColumn(c *policy.Column) *Column { return &Column{Field: columnField(c)} }

// drawRow draws a value for every column, often one at the ends of its interval.
func drawRow(t *rapid.T, columns []*policy.Column) map[string]Value {
	row := map[string]Value{}
	for _, c := range columns {
		typ := columnType(c)
		lo, hi := typ.Lo.Int64(), typ.Hi.Int64()
		switch rapid.IntRange(0, 4).Draw(t, "end of "+c.Name) {
		case 0:
			row[c.Name] = big.NewInt(lo)
		case 1:
			row[c.Name] = big.NewInt(hi)
		case 2: // NULL
		default:
			row[c.Name] = big.NewInt(rapid.Int64Range(lo, hi).Draw(t, c.Name))
		}
	}
	return row
}

// outside returns a part of e whose value lies outside what its type says, or nil.
func outside(e Expr, leaf func(Expr) Value) (found Expr) {
	walk(e, func(x Expr) {
		t := x.Type()
		switch v := Eval(x, leaf).(type) {
		case *big.Int:
			if v.Cmp(t.Lo) < 0 || v.Cmp(t.Hi) > 0 || t.tooWide() {
				found = x
			}
		case float64:
			if math.Abs(v) >= math.Ldexp(1, t.Exponent) || t.Exponent > maxExponent {
				found = x
			}
		}
	})
	return found
}

// TestValuesStayInTheirIntervals is the proof that nothing overflows, tried on
// examples: no value of any part of an expression leaves the interval of its type.
func TestValuesStayInTheirIntervals(t *testing.T) {
	columns := numbers(t)
	rapid.Check(t, func(t *rapid.T) {
		e := drawExpr(t, columns, 4)
		for range 20 {
			row := drawRow(t, columns)
			leaf := func(e Expr) Value { return row[e.(*Column).Field.Name] }
			if x := outside(e, leaf); x != nil {
				t.Fatalf("%s = %v is outside %v, for %v", Format(x), Eval(x, leaf), x.Type(), row)
			}
			want, got := Eval(e, leaf), Eval(normal(e), leaf)
			if fmt.Sprint(want) != fmt.Sprint(got) {
				t.Fatalf("%s = %v, but in its normal form %s = %v", Format(e), want, Format(normal(e)), got)
			}
		}
	})
}

// TestPlantedIntervals shows that the check finds an interval that is a little
// too narrow in a part of an expression.
func TestPlantedIntervals(t *testing.T) {
	columns := numbers(t)
	a := asColumn(columns[0])
	for name, typ := range map[string]Type{
		"upper end": numberType(one, new(big.Int), big.NewInt(219), true),
		"lower end": numberType(one, big.NewInt(1), big.NewInt(220), true),
	} {
		e := &Compare{Op: Gt, L: &Arith{Op: Add, L: a, R: a, typ: typ}, R: newNumber(one)}
		found := false
		for _, v := range []int64{0, 55, 110} {
			found = found || outside(e, func(Expr) Value { return big.NewInt(v) }) != nil
		}
		if !found {
			t.Errorf("not found: %s", name)
		}
	}
}
