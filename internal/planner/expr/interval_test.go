package expr

import (
	"fmt"
	"maps"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/internal/planner/tree"
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
          r: {type: decimal}
          s: {type: text}
          y: {type: date, bounds: [1999-12-25, 2024-03-01]}
          z: {type: date}
          p: {type: timestamp, bounds: [1999-12-31 23:59:59, 2024-02-29 12:00:00.5]}
          q: {type: timestamp}
          t: {type: boolean}
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
func drawExpr(t *rapid.T, columns []*policy.Column, depth int) tree.Expr {
	if depth == 0 || rapid.IntRange(0, 4).Draw(t, "leaf") == 0 {
		if rapid.Bool().Draw(t, "constant") {
			r := big.NewRat(rapid.Int64Range(-20, 20).Draw(t, "numerator"),
				rapid.SampledFrom([]int64{1, 1, 2, 3, 100}).Draw(t, "denominator"))
			return NewNumber(r)
		}
		return asColumn(rapid.SampledFrom(columns).Draw(t, "column"))
	}
	if rapid.IntRange(0, 2).Draw(t, "function") > 0 {
		if e, ok := drawFunction(t, columns, depth); ok {
			return e
		}
	}
	l, r := drawExpr(t, columns, depth-1), drawExpr(t, columns, depth-1)
	op := rapid.SampledFrom([]tree.ArithOp{tree.Add, tree.Sub, tree.Mul, tree.Div, tree.Rem}).Draw(t, "op")
	e, err := NewArith(op, l, r, -1)
	if err != nil {
		return l // refused: what is left is still an expression
	}
	return e
}

// asColumn is a column of a relation that has no other.
func asColumn(c *policy.Column) *tree.Column { return &tree.Column{Field: ColumnField(c)} }

// drawRow draws a value for every column, often one at the ends of its interval.
func drawRow(t *rapid.T, columns []*policy.Column) map[string]tree.Value {
	row := map[string]tree.Value{}
	for _, c := range columns {
		typ := columnType(c)
		switch typ.Kind {
		case tree.Real:
			row[c.Name] = rapid.SampledFrom([]tree.Value{nil, 0.0, -1.5, 0.1, 1e300, -1e300, math.MaxFloat64, 5e-324, 3.0}).Draw(t, c.Name)
			continue
		case tree.Text:
			row[c.Name] = rapid.SampledFrom([]tree.Value{nil, "", "a", "Straße", "12", "-3.75", "2024-02-29", "2024-02-29 11:59:59.25",
				"true", " b ", "99999999999999999"}).Draw(t, c.Name)
			continue
		case tree.Boolean:
			row[c.Name] = rapid.SampledFrom([]tree.Value{nil, true, false}).Draw(t, c.Name)
			continue
		case tree.Date, tree.Timestamp:
			row[c.Name] = drawTime(t, typ)
			continue
		}
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
func outside(e tree.Expr, leaf func(tree.Expr) tree.Value) (found tree.Expr) {
	tree.Walk(e, func(x tree.Expr) {
		t := x.Type()
		switch v := Eval(x, leaf).(type) {
		case *big.Int:
			if v.Cmp(t.Lo) < 0 || v.Cmp(t.Hi) > 0 || t.TooWide() {
				found = x
			}
		case float64:
			if math.Abs(v) >= math.Ldexp(1, t.Exponent) && t.Exponent < tree.AnyExponent || !t.RealRange().Holds(v) {
				found = x
			}
		case string:
			if t.MaxLength > 0 && utf8.RuneCountInString(v) > t.MaxLength {
				found = x
			}
		case tree.Day, tree.Moment:
			lo, hi := t.Span()
			if n := timeNumber(v); n.Cmp(lo) < 0 || n.Cmp(hi) > 0 {
				found = x
			}
		}
	})
	return found
}

// drawTime draws a time inside the interval of a column, often one at its ends.
func drawTime(t *rapid.T, typ tree.Type) tree.Value {
	lo, hi := typ.Span()
	n := rapid.OneOf(rapid.Just(lo.Int64()), rapid.Just(hi.Int64()), rapid.Int64Range(lo.Int64(), hi.Int64()),
		rapid.SampledFrom([]int64{0, -1, tree.FirstDay, tree.LastDay, tree.FirstMicros, tree.LastMicros, 19782,
			19782 * tree.DayMicros})).Draw(t, "time")
	if n < lo.Int64() || n > hi.Int64() {
		return nil
	}
	return timeValue(typ.Kind, big.NewInt(n))
}

// drawFunction draws a call of any function of the table, or a cast, or a CASE.
func drawFunction(t *rapid.T, columns []*policy.Column, depth int) (tree.Expr, bool) {
	words := asColumn(columns[slices.IndexFunc(columns, func(c *policy.Column) bool { return c.Type == policy.Text })])
	rare := 5 // functions of several texts are drawn at all because arguments become texts when others did not fit
	arg := func() tree.Expr {
		if rapid.IntRange(0, rare).Draw(t, "of text") == 0 {
			return rapid.SampledFrom([]tree.Expr{words,
				&tree.Call{Fn: "substring", Args: []tree.Expr{words, NewNumber(tree.One), NewNumber(big.NewRat(3, 1))},
					Typ: textType(3)}}).Draw(t, "some text")
		}
		return drawExpr(t, columns, depth-1)
	}
	number := func() tree.Expr { return NewNumber(big.NewRat(rapid.Int64Range(-3, 6).Draw(t, "constant"), 1)) }
	text := func() tree.Expr {
		return NewText(rapid.SampledFrom([]string{"", "a", "12", "1.5", "day", "2024-02-29"}).Draw(t, "text"))
	}
	var e tree.Expr
	var err error
	switch rapid.IntRange(0, 5).Draw(t, "what") {
	case 0:
		name := rapid.SampledFrom(slices.Sorted(maps.Keys(CastKinds))).Draw(t, "type")
		var mods []int64
		if name == "numeric" || name == "varchar" {
			mods = []int64{rapid.Int64Range(5, 20).Draw(t, "precision"), rapid.Int64Range(0, 5).Draw(t, "scale")}
		}
		e, err = NewCast(arg(), name, CastKinds[name], mods, -1)
	case 1:
		var c tree.Expr
		if c, err = NewCompare(rapid.SampledFrom([]tree.CompareOp{tree.Eq, tree.Lt, tree.Ge, tree.Distinct}).Draw(t, "comparison"), arg(),
			arg(), -1); err == nil {
			e, err = NewCase([]tree.When{{If: c, Then: arg()}},
				rapid.SampledFrom([]tree.Expr{arg(), NewNull(tree.Type{})}).Draw(t, "else"), -1)
		}
	case 2:
		l, r := arg(), arg()
		if rapid.Bool().Draw(t, "times") {
			dates := slices.DeleteFunc(slices.Clone(columns), func(c *policy.Column) bool { return c.Type != policy.Date })
			l, r = asColumn(rapid.SampledFrom(dates).Draw(t, "date")),
				rapid.SampledFrom([]tree.Expr{r, asColumn(dates[0]), number()}).Draw(t, "other")
		}
		e, err = NewOperator(rapid.SampledFrom([]string{"+", "-"}).Draw(t, "sign"), l, r, -1)
	default:
		name := rapid.SampledFrom(Functions()).Draw(t, "name")
		f := Lookup(name)
		for _, rare = range []int{5, 5, 1, 1, 0, 0} {
			if e == nil || err != nil {
				e, err = drawCall(t, name, f, arg, number, text)
			}
		}
	}
	if err != nil || e == nil || e.Type().Kind == 0 {
		return nil, false
	}
	tree.Walk(e, func(x tree.Expr) {
		if c, ok := x.(*tree.Call); ok {
			drawn[c.Fn]++
		}
	})
	return e, true
}

func drawCall(t *rapid.T, name string, f *Function, arg, number, text func() tree.Expr) (tree.Expr, error) {
	args := make([]tree.Expr, rapid.IntRange(f.least, max(f.most, f.least+1)).Draw(t, "arguments"))
	for i := range args {
		switch k := rapid.IntRange(0, 3).Draw(t, "argument"); {
		case name == "extract" || name == "date_part" || name == "date_trunc":
			args[i] = arg()
			if i == 0 {
				args[i] = NewText(rapid.SampledFrom(fields).Draw(t, "field"))
			}
		case name == "width_bucket" && i > 0:
			args[i] = NewNumber(big.NewRat(int64(7*i-10), 1))
		case i == 0 && name != "concat_ws" || k > 2:
			args[i] = arg()
		case k == 0 || i == 0:
			args[i] = text()
		default:
			args[i] = number()
		}
	}
	return Named(name, args, -1)
}

// spelled has the type of every expression by its spelling.
var spelled = map[string]string{}

var drawn = map[string]int{}

// TestValuesStayInTheirIntervals is the proof that nothing overflows, tried on
// examples: no value of any part of an expression leaves the interval of its type.
func TestValuesStayInTheirIntervals(t *testing.T) {
	columns := numbers(t)
	check := func(t *rapid.T) {
		e := drawExpr(t, columns, 4)
		for k := range 200 {
			if k%5 == 0 { // another expression
				e = drawExpr(t, columns, 1+k%4)
			}
			row := drawRow(t, columns)
			leaf := func(e tree.Expr) tree.Value { return row[e.(*tree.Column).Field.Name] }
			if x := outside(e, leaf); x != nil {
				t.Fatalf("%s = %v is outside %v, for %v", tree.Format(x), Eval(x, leaf), x.Type(), row)
			}
			want, got := Eval(e, leaf), Eval(Normal(e), leaf)
			if fmt.Sprint(want) != fmt.Sprint(got) {
				t.Fatalf("%s = %v, but in its normal form %s = %v", tree.Format(e), want, tree.Format(Normal(e)), got)
			}
			if x := outside(Normal(e), leaf); x != nil {
				t.Fatalf("in the normal form %s = %v is outside %v, for %v", tree.Format(x), Eval(x, leaf), x.Type(), row)
			}
			tree.Describe(e)
			// Two expressions with one spelling would be one question.
			// But for those of NULL, which is spelt without its type and is nobody's value.
			if f := tree.Format(e); strings.Contains(f, "null") {
				continue
			} else if spelled[f] == "" {
				spelled[f] = e.Type().String()
			} else if spelled[f] != e.Type().String() {
				t.Fatalf("%s is a %v and a %s", f, e.Type(), spelled[f])
			}
		}
	}
	rapid.Check(t, check)
	for range 20 { // one run in twenty leaves out a function
		if len(neverDrawn()) == 0 {
			return
		}
		rapid.Check(t, check)
	}
	t.Errorf("never drawn: %v", neverDrawn())
}

// neverDrawn returns the functions that no expression had so far, of those that drawExpr can draw.
func neverDrawn() []string {
	return slices.DeleteFunc(Nodes(), func(name string) bool {
		return drawn[name] > 0 || name == "timestamp" || name == "date" || name == "add_interval"
	})
}

// TestPlantedIntervals shows that the check finds an interval that is a little
// too narrow in a part of an expression.
func TestPlantedIntervals(t *testing.T) {
	columns := numbers(t)
	a := asColumn(columns[0])
	for name, typ := range map[string]tree.Type{
		"upper end": tree.NumberType(tree.One, new(big.Int), big.NewInt(219), true),
		"lower end": tree.NumberType(tree.One, big.NewInt(1), big.NewInt(220), true),
	} {
		e := &tree.Compare{Op: tree.Gt, L: &tree.Arith{Op: tree.Add, L: a, R: a, Typ: typ}, R: NewNumber(tree.One)}
		found := false
		for _, v := range []int64{0, 55, 110} {
			found = found || outside(e, func(tree.Expr) tree.Value { return big.NewInt(v) }) != nil
		}
		if !found {
			t.Errorf("not found: %s", name)
		}
	}
}

// Rounding in a machine's numbers is rounding.
func TestRoundSmall(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	done := 0
	for range 200_000 {
		step := func() *big.Rat { return big.NewRat(1+r.Int64N(1<<r.IntN(32)), 1+r.Int64N(1<<r.IntN(32))) }
		from, to := step(), step()
		n := big.NewInt(r.Int64N(1<<(1+r.IntN(60))) * int64(1-2*r.IntN(2)))
		e := &tree.Call{Fn: []string{"round", "trunc", "floor", "ceil"}[r.IntN(4)], Typ: tree.Type{Kind: tree.Number, Step: to},
			Args: []tree.Expr{&tree.Literal{Typ: tree.Type{Kind: tree.Number, Step: from}}}}
		got, ok := roundSmall(e, n)
		if !ok {
			continue
		}
		done++
		p, q := e.RoundingRatio()
		if want := roundRatio(e.Fn, n, p, q); got.Cmp(want) != 0 {
			t.Fatalf("%s of %v steps of %v in steps of %v is %v and not %v", e.Fn, n, from, to, want, got)
		}
	}
	if done < 20_000 {
		t.Errorf("only %d were tried", done)
	}
}
