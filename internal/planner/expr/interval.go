package expr

import (
	"math"
	"math/big"
	"slices"

	"github.com/discreet-dp/discreet/internal/planner/syntax"
	"github.com/discreet-dp/discreet/internal/planner/tree"
)

// endSlack is how far, in proportion, the ends of logarithms and powers are moved.
const endSlack = 1.0 / (1 << 40)

// widen moves ends outward, by far more than libraries differ. The smallest doubles, of
// which only some bits are left, are not told apart.
func widen(low, high float64) tree.Range {
	low, high = low-endSlack*math.Abs(low), high+endSlack*math.Abs(high)
	if math.Abs(low) < smallest {
		low = math.Floor(low/smallest) * smallest
	}
	if math.Abs(high) < smallest {
		high = math.Ceil(high/smallest) * smallest
	}
	return tree.Range{Low: low, High: high}
}

// smallest is the smallest positive double that has all of its bits.
const smallest = 0x1p-1022

func realType(r tree.Range, declared bool) tree.Type {
	if !(r.Low <= r.High) { // no range at all, such as that of infinity minus infinity
		r = tree.Range{Low: math.Inf(-1), High: math.Inf(1)}
	}
	t := tree.Type{Kind: tree.Real, Range: &r, Declared: declared, Exponent: tree.AnyExponent}
	if m := r.Largest(); m <= math.MaxFloat64 {
		_, t.Exponent = math.Frexp(m)
	}
	return t
}

// realOf is the type of a Number that is turned into a Real.
func realOf(t tree.Type) tree.Type {
	r := tree.Range{Low: asReal(t.Lo, t.Step), High: asReal(t.Hi, t.Step)}
	if t.Wide() {
		// Above 64 bits an engine may round the last bit otherwise. Zero is exact.
		if t.Lo.Sign() != 0 {
			r.Low = math.Nextafter(r.Low, math.Inf(-1))
		}
		if t.Hi.Sign() != 0 {
			r.High = math.Nextafter(r.High, math.Inf(1))
		}
	}
	return realType(r, t.Declared)
}

// asReal turns a number of steps into a double, with the same two roundings as an
// engine: to a double, then by the step.
func asReal(n *big.Int, step *big.Rat) float64 {
	f, _ := new(big.Float).SetPrec(53).SetInt(n).Float64()
	num, _ := new(big.Float).SetInt(step.Num()).Float64()
	den, _ := new(big.Float).SetInt(step.Denom()).Float64()
	return f * num / den
}

func stepSize(t tree.Type) float64 { return asReal(big.NewInt(1), t.Step) }

// realArith is the range of an operation. A divisor is at least least away from zero
// where its own range holds zero.
func realArith(op tree.ArithOp, a, b tree.Range, least float64) tree.Range {
	switch op {
	case tree.Add:
		return tree.Range{Low: a.Low + b.Low, High: a.High + b.High}
	case tree.Sub:
		return tree.Range{Low: a.Low - b.High, High: a.High - b.Low}
	case tree.Mul:
		return corners(a, []float64{b.Low, b.High}, func(x, y float64) float64 { return x * y })
	}
	if !b.Holds(0) {
		return corners(a, []float64{b.Low, b.High}, func(x, y float64) float64 { return x / y })
	}
	var ends []float64
	if b.High > 0 {
		ends = append(ends, min(least, b.High), b.High)
	}
	if b.Low < 0 {
		ends = append(ends, b.Low, max(-least, b.Low))
	}
	if len(ends) == 0 { // zero, always: every quotient is NULL
		return tree.Range{}
	}
	return corners(a, ends, func(x, y float64) float64 { return x / y })
}

func corners(a tree.Range, ends []float64, f func(x, y float64) float64) tree.Range {
	var all []float64
	for _, x := range []float64{a.Low, a.High} {
		for _, y := range ends {
			all = append(all, f(x, y))
		}
	}
	return tree.Range{Low: slices.Min(all), High: slices.Max(all)}
}

func textType(length int) tree.Type { return tree.Type{Kind: tree.Text, MaxLength: max(1, length)} }

// Hull is the type of a value that is one of several, all of one kind and on one
// lattice. A NULL adds nothing.
func Hull(of []tree.Expr) tree.Type {
	t := of[0].Type() // where all are NULL
	first := true
	for _, e := range of {
		if l, ok := e.(*tree.Literal); ok && l.IsNullLiteral() {
			continue
		}
		u := e.Type()
		if first {
			t, first = u, false
			continue
		}
		t.LoDeclared, t.HiDeclared = t.LoIsDeclared() && u.LoIsDeclared(), t.HiIsDeclared() && u.HiIsDeclared()
		t.Declared = t.Declared && u.Declared
		switch t.Kind {
		case tree.Number:
			t.Lo, t.Hi = Smaller(t.Lo, u.Lo), Larger(t.Hi, u.Hi)
		case tree.Real:
			t = realType(t.RealRange().Hull(u.RealRange()), t.Declared)
		case tree.Text:
			if t.MaxLength == 0 || u.MaxLength == 0 {
				t.MaxLength = 0
			}
			if t.MaxLength > 0 {
				t.MaxLength = max(t.MaxLength, u.MaxLength)
			}
		case tree.Date, tree.Timestamp:
			a, b := t.Span()
			c, d := u.Span()
			t.Lo, t.Hi = Smaller(a, c), Larger(b, d)
		}
	}
	return t
}

func Smaller(a, b *big.Int) *big.Int {
	if a.Cmp(b) <= 0 {
		return a
	}
	return b
}

func Larger(a, b *big.Int) *big.Int {
	if a.Cmp(b) >= 0 {
		return a
	}
	return b
}

const Operators = "use =, <>, <, <=, >, >=, IN, BETWEEN, IS NULL, LIKE, ~, ||, + - * / % and ^"

func NewOperator(op string, l, r tree.Expr, pos int32) (tree.Expr, error) {
	if op == "+" || op == "-" {
		if e, ok, err := newDateArith(op, l, r, pos); ok {
			return e, err
		}
	}
	switch op {
	case "+", "-", "*", "/":
		return NewArith(tree.ArithOp(op), AdoptNumber(l), AdoptNumber(r), pos)
	case "%":
		return NewArith(tree.Rem, AdoptNumber(l), AdoptNumber(r), pos)
	case "=", "<>", "<", "<=", ">", ">=":
		return NewCompare(tree.CompareOp(op), l, r, pos)
	case "||":
		return Named("||", []tree.Expr{l, r}, pos)
	case "^":
		return Named("power", []tree.Expr{l, r}, pos)
	case "~", "!~", "~*", "!~*":
		return newOperatorMatch(op, l, r, pos)
	}
	return nil, syntax.Refuse(syntax.NoFunction, pos, Operators, "the operator %s cannot be used", op)
}

// AdoptNumber reads a quoted constant as a number where arithmetic needs one.
func AdoptNumber(e tree.Expr) tree.Expr { return Adopt(e, NewNumber(tree.One)) }

func NewIn(x tree.Expr, list []tree.Expr, pos int32) (tree.Expr, error) {
	if len(list) == 0 {
		return nil, syntax.Refuse(syntax.Malformed, pos, "list constants, as in IN ('a', 'b')", "the list of IN is empty")
	}
	in := &tree.In{X: x}
	var equals []tree.Expr
	for _, e := range list {
		_, e, err := Unite(x, e, pos)
		if err != nil {
			return nil, err
		}
		if lit, ok := e.(*tree.Literal); ok {
			in.List = append(in.List, lit)
		}
		equals = append(equals, &tree.Compare{Op: tree.Eq, L: x, R: e})
	}
	if len(in.List) < len(list) { // something else than constants; reals have none
		e := &tree.Logic{Op: tree.Or, Args: equals}
		return e, NotTooLarge(e, pos)
	}
	return in, nil
}

// maxLevels bounds operations inside each other, as in 1 + 1 + 1.
const maxLevels = 128

// CheckLevels refuses an expression that is nested deeper than every engine
// takes. Chains such as 1 + 1 + 1 nest without a parenthesis.
func CheckLevels(e tree.Expr, pos int32) error {
	if tree.Levels(e) > maxLevels {
		return syntax.Refuse(syntax.TooComplex, pos, "write it with fewer operations", "this chains or nests more than %d operations",
			maxLevels)
	}
	return nil
}

// maxNodes bounds an expression after BETWEEN, IN and CASE, which write a side
// more than once, have made it larger than its text. Nested, they would double it each time.
// So would an engine that writes what is below a node more than once, as for a clamp: a
// node may be written as often as copies says, and that is counted too.
const maxNodes = 5000

// NotTooLarge refuses an expression of more than maxNodes nodes, and stops counting there.
func NotTooLarge(e tree.Expr, pos int32) error {
	left := maxNodes
	var count func(tree.Expr)
	count = func(e tree.Expr) {
		if left--; left < 0 {
			return
		}
		i := 0
		tree.EachPart(e, func(p tree.Expr) {
			for n := Copies(e, i); n > 0 && left >= 0; n-- {
				count(p)
			}
			i++
		})
	}
	if count(e); left < 0 {
		return syntax.Refuse(syntax.TooComplex, pos, "use a column or a shorter expression in it",
			"BETWEEN, IN, CASE, divisors and roundings repeat the expressions in them, and this one grows too large")
	}
	return nil
}

const maxThresholds = 100

// NewThresholds makes width_bucket(x, ARRAY[...]): how many of the thresholds, which rise, x is not
// below.
func NewThresholds(x tree.Expr, thresholds []tree.Expr, pos int32) (tree.Expr, error) {
	const instead = "write width_bucket(x, ARRAY[18, 40, 65])"
	if k := x.Type().Kind; k != tree.Number && k != tree.Real && k != tree.Date && k != tree.Timestamp {
		return nil, syntax.Refuse(syntax.NoFunction, pos, instead, "width_bucket cannot take %s", Article(k))
	}
	if len(thresholds) > maxThresholds {
		return nil, syntax.Refuse(syntax.TooComplex, pos, "write fewer of them", "width_bucket has more than %d thresholds", maxThresholds)
	}
	var whens []tree.When
	var before *big.Rat
	for i, a := range thresholds {
		l, ok := Constant(Adopt(a, x))
		at := constantPosition(l)
		switch {
		case !ok || at == nil:
			return nil, syntax.Refuse(syntax.Unsupported, pos, instead, "the thresholds of width_bucket must be constants")
		case before != nil && before.Cmp(at) > 0:
			return nil, syntax.Refuse(syntax.BadValue, pos, "write the smaller ones first",
				"the thresholds of width_bucket must be in rising order")
		}
		above, err := NewCompare(tree.Ge, x, l, pos)
		if err != nil {
			return nil, err
		}
		before, whens = at, append([]tree.When{{If: above, Then: NewNumber(big.NewRat(int64(i)+1, 1))}}, whens...)
	}
	below, err := NewCompare(tree.Lt, x, Adopt(thresholds[0], x), pos)
	if err != nil {
		return nil, err
	}
	if !Nullable(x) { // so that there is no group of NULL
		return NewCase(whens, NewNumber(new(big.Rat)), pos)
	}
	whens = append(whens, tree.When{If: below, Then: NewNumber(new(big.Rat))})
	return NewCase(whens, NewNull(tree.Type{}), pos)
}

// constantPosition is where a constant stands among others of its kind; nil where it is no number
// and no time.
func constantPosition(l *tree.Literal) *big.Rat {
	switch {
	case l == nil:
		return nil
	case l.Number != nil:
		return new(big.Rat).Mul(new(big.Rat).SetInt(l.Number), l.Typ.Step)
	case l.Days != nil:
		return new(big.Rat).SetInt64(*l.Days)
	case l.Micros != nil:
		return new(big.Rat).SetInt64(*l.Micros)
	}
	return nil
}
