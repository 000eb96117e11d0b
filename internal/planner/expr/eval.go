package expr

import (
	"cmp"
	"math/big"
	"strings"
	"unicode/utf8"

	"github.com/discreet-dp/discreet/internal/planner/meter"
	"github.com/discreet-dp/discreet/internal/planner/syntax"
	"github.com/discreet-dp/discreet/internal/planner/tree"
)

// Eval computes an expression; leaf gives the values of its columns, of
// released values and of Exists. It is used on what has been released, and
// by tests as the reference for what every engine must compute.
func Eval(e tree.Expr, leaf func(tree.Expr) tree.Value) tree.Value {
	return evaluation{nil, leaf}.value(e)
}

// Compute is Eval for who plans: what it takes is counted.
func Compute(m *meter.Meter, e tree.Expr, leaf func(tree.Expr) tree.Value) tree.Value {
	return evaluation{m, leaf}.value(e)
}

type evaluation struct {
	meter *meter.Meter
	leaf  func(tree.Expr) tree.Value
}

func (v evaluation) value(e tree.Expr) tree.Value {
	v.meter.Work(1, meter.Computed)
	switch e := e.(type) {
	case *tree.Column, *tree.Released, *tree.Exists:
		return v.leaf(e)
	case *tree.Literal:
		v.meter.Build(16)
		return e.Value()
	case *tree.Rescale:
		v.meter.Build(meter.Number)
		if x, ok := v.value(e.X).(*big.Int); ok {
			return new(big.Int).Mul(x, e.Factor)
		}
	case *tree.ToReal:
		v.meter.Work(2, meter.Computed)
		v.meter.Build(2 * meter.Number)
		if x, ok := v.value(e.X).(*big.Int); ok {
			return asReal(x, e.X.Type().Step)
		}
	case *tree.Arith:
		v.meter.Build(meter.Number)
		return evalArith(e.Op, v.value(e.L), v.value(e.R))
	case *tree.Compare:
		l, r := v.value(e.L), v.value(e.R)
		if e.Op == tree.Distinct || e.Op == tree.NotDistinct {
			same := l == nil && r == nil || l != nil && r != nil && CompareValues(l, r) == 0
			return same == (e.Op == tree.NotDistinct)
		}
		if l == nil || r == nil {
			return nil
		}
		return orderDecides(e.Op, CompareValues(l, r))
	case *tree.Logic:
		return v.logic(e)
	case *tree.Not:
		if x, ok := v.value(e.X).(bool); ok {
			return !x
		}
	case *tree.In:
		x := v.value(e.X)
		if x == nil {
			return nil
		}
		v.meter.Work(len(e.List), meter.Computed)
		for _, l := range e.List {
			if CompareValues(x, l.Value()) == 0 {
				return true
			}
		}
		return false
	case *tree.IsNull:
		return v.value(e.X) == nil
	case *tree.Case:
		for _, w := range e.Whens {
			if v.value(w.If) == true {
				return v.value(w.Then)
			}
		}
		return v.value(e.Else)
	case *tree.Call:
		return v.call(e)
	case *tree.Within:
		if x := v.value(e.X); x != nil && isWithin(e, x) {
			return x
		}
	case *tree.Like:
		if x, ok := v.value(e.X).(string); ok {
			v.meter.Work(len(x)*(len(e.Pattern)+1), meter.Liked)
			return matches(e, x)
		}
	}
	return nil
}

func evalArith(op tree.ArithOp, l, r tree.Value) tree.Value {
	if a, ok := l.(float64); ok {
		b, ok := r.(float64)
		if !ok {
			return nil
		}
		switch {
		case op == tree.Add:
			return a + b
		case op == tree.Sub:
			return a - b
		case op == tree.Mul:
			return a * b
		case b == 0:
			return nil
		}
		return a / b
	}
	a, ok1 := l.(*big.Int)
	b, ok2 := r.(*big.Int)
	if !ok1 || !ok2 {
		return nil
	}
	z := new(big.Int)
	switch op {
	case tree.Add:
		return z.Add(a, b)
	case tree.Sub:
		return z.Sub(a, b)
	case tree.Mul:
		return z.Mul(a, b)
	}
	if b.Sign() == 0 {
		return nil
	}
	if op == tree.Rem {
		return z.Rem(a, b)
	}
	return z.Quo(a, b)
}

func (v evaluation) logic(e *tree.Logic) tree.Value {
	decides := e.Op == tree.Or // the value that settles it
	null := false
	for _, a := range e.Args {
		switch v.value(a) {
		case decides:
			return decides
		case nil:
			null = true
		}
	}
	if null {
		return nil
	}
	return !decides
}

func orderDecides(op tree.CompareOp, c int) bool {
	switch op {
	case tree.Eq:
		return c == 0
	case tree.Ne:
		return c != 0
	case tree.Lt:
		return c < 0
	case tree.Le:
		return c <= 0
	case tree.Gt:
		return c > 0
	}
	return c >= 0
}

// CompareValues orders two values of one type that are not NULL. Text is
// ordered by its bytes and false comes before true.
func CompareValues(l, r tree.Value) int {
	switch l := l.(type) {
	case *big.Int:
		return l.Cmp(r.(*big.Int))
	case float64:
		return cmp.Compare(l, r.(float64))
	case string:
		return strings.Compare(l, r.(string))
	case tree.Day:
		return cmp.Compare(l, r.(tree.Day))
	case tree.Moment:
		return cmp.Compare(l, r.(tree.Moment))
	case bool:
		if l == r.(bool) {
			return 0
		} else if l {
			return 1
		}
		return -1
	}
	panic("expr: a value of no type")
}

// CompareRows orders two rows of released values by ORDER BY; the leaves give each row's values.
func CompareRows(order []tree.Order, a, b func(tree.Expr) tree.Value) int {
	x, y := make([]tree.Value, len(order)), make([]tree.Value, len(order))
	for i, o := range order {
		x[i], y[i] = Eval(o.By, a), Eval(o.By, b)
	}
	return CompareOrdered(order, x, y)
}

// CompareOrdered is CompareRows for what each row has for the items of ORDER BY.
func CompareOrdered(order []tree.Order, a, b []tree.Value) int {
	for i, o := range order {
		l, r := a[i], b[i]
		c := 0
		switch {
		case l == nil && r == nil:
			continue
		case l == nil || r == nil:
			// Where NULLs stand does not depend on the direction.
			if (l == nil) == o.NullsFirst {
				return -1
			}
			return 1
		default:
			c = CompareValues(l, r)
		}
		if o.Descending {
			c = -c
		}
		if c != 0 {
			return c
		}
	}
	return 0
}

// maxPattern bounds a pattern: an engine may look at every character of a text
// once for each of its characters.
const maxPattern = 250

func literalPattern(s string) tree.Pattern {
	var p tree.Pattern
	for _, r := range s {
		p = append(p, tree.PatternPart(r))
	}
	return p
}

// ReadPattern reads a pattern with its escape character; none where escape is 0.
func ReadPattern(text string, escape rune) (tree.Pattern, bool) {
	var p tree.Pattern
	escaped := false
	for _, r := range text {
		switch {
		case escaped:
			p, escaped = append(p, tree.PatternPart(r)), false
		case r == escape && escape != 0:
			escaped = true
		case r == '%':
			if len(p) == 0 || p[len(p)-1] != tree.PatternAnything {
				p = append(p, tree.PatternAnything)
			}
		case r == '_':
			p = append(p, tree.PatternOne)
		default:
			p = append(p, tree.PatternPart(r))
		}
	}
	return p, !escaped
}

func NewLike(x tree.Expr, p tree.Pattern, pos int32) (tree.Expr, error) {
	if len(p) > maxPattern {
		return nil, syntax.Refuse(syntax.TooComplex, pos, "write a shorter pattern", "a pattern has at most %d characters", maxPattern)
	}
	return &tree.Like{X: x, Pattern: p}, nil
}

// matches compares from left to right and goes back to the last % only, which is enough: what
// an earlier % could take, the last one can take too.
func matches(e *tree.Like, text string) bool {
	p := e.Pattern
	i, j, star, from := 0, 0, -1, 0
	for i < len(text) {
		r, n := utf8.DecodeRuneInString(text[i:])
		switch {
		case j < len(p) && p[j].Anything():
			star, from = j, i
			j++
		case j < len(p) && (p[j].One() || rune(p[j]) == r):
			i, j = i+n, j+1
		case star >= 0:
			_, n = utf8.DecodeRuneInString(text[from:])
			from += n
			i, j = from, star+1
		default:
			return false
		}
	}
	for j < len(p) && p[j].Anything() {
		j++
	}
	return j == len(p)
}

// Texts is what the constant texts of an expression weigh.
func Texts(e tree.Expr) (n int) {
	tree.Walk(e, func(x tree.Expr) { n += TextsOf(x) })
	return n
}

// TextsOf is what those of one node weigh.
func TextsOf(e tree.Expr) (n int) {
	var all []*tree.Literal
	switch e := e.(type) {
	case *tree.Literal:
		all = []*tree.Literal{e}
	case *tree.In:
		all = e.List
	case *tree.Like:
		n = len(e.Pattern) / 16
	}
	for _, l := range all {
		if l.Text != nil {
			n += len(*l.Text) / 32
		}
	}
	return n
}

// Civil restricts a time to the years 1 to 9999, in which all calendars of engines agree.
func Civil(x tree.Expr, pos int32) (tree.Expr, error) {
	if x.Type().Kind == tree.Date {
		return restrict(x, big.NewInt(tree.FirstDay), big.NewInt(tree.LastDay), false, pos)
	}
	return restrict(x, big.NewInt(tree.FirstMicros), big.NewInt(tree.LastMicros), false, pos)
}

// Midnight turns a date into the moment that it begins.
func Midnight(x tree.Expr, pos int32) (tree.Expr, error) {
	x, err := Civil(x, pos)
	if err != nil {
		return nil, err
	}
	lo, hi := x.Type().Span()
	day := big.NewInt(tree.DayMicros)
	return NewCall("timestamp",
		tree.TimeType(tree.Timestamp, new(big.Int).Mul(lo, day), new(big.Int).Mul(hi, day), x.Type().Declared), pos, x)
}

// Duration is a constant distance between moments, in the three parts that SQL keeps apart.
type Duration struct {
	Months       int
	Days, Micros int64
}
