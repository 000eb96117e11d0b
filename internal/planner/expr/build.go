package expr

import (
	"math/big"
	"slices"
	"unicode/utf8"

	"github.com/discreet-dp/discreet/internal/planner/syntax"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/policy"
)

// The functions of this file make nodes whose types are right and whose values
// are proven not to overflow, or refuse.

func NewNumber(v *big.Rat) *tree.Literal {
	// The coarsest lattice that holds the literal: steps of 1 over its denominator.
	step := new(big.Rat).SetFrac(big.NewInt(1), v.Denom())
	n := new(big.Int).Set(v.Num())
	return &tree.Literal{Typ: tree.NumberType(step, n, n, true), Number: n}
}

func NewText(s string) *tree.Literal {
	return &tree.Literal{Typ: textType(utf8.RuneCountInString(s)), Text: &s}
}

func NewBool(b bool) *tree.Literal { return &tree.Literal{Typ: tree.Bool, Bool: &b} }

func newDate(d int64) *tree.Literal {
	return &tree.Literal{Typ: tree.TimeType(tree.Date, big.NewInt(d), big.NewInt(d), true), Days: &d}
}

func newTimestamp(m int64) *tree.Literal {
	return &tree.Literal{Typ: tree.TimeType(tree.Timestamp, big.NewInt(m), big.NewInt(m), true), Micros: &m}
}

// NewNull makes the NULL of a type; of no type where it is not known yet.
// It has one interval, wherever it comes from, because its spelling does not say another.
func NewNull(t tree.Type) *tree.Literal {
	zero := new(big.Int)
	switch t.Kind {
	case tree.Number:
		t = tree.NumberType(t.Step, zero, zero, true)
	case tree.Real:
		t = realType(tree.Range{}, true)
	case tree.Text:
		t = textType(0)
	case tree.Date, tree.Timestamp:
		t = tree.TimeType(t.Kind, zero, zero, true)
	}
	return &tree.Literal{Typ: t}
}

// onLattice puts a number on a finer lattice.
func onLattice(e tree.Expr, step *big.Rat, pos int32) (tree.Expr, error) {
	t := e.Type()
	ratio := new(big.Rat).Quo(t.Step, step)
	if !ratio.IsInt() {
		panic("expr: a lattice that is not finer")
	}
	f := ratio.Num()
	if f.Cmp(big.NewInt(1)) == 0 {
		return Checked(e, pos)
	}
	typ := tree.NumberType(step, new(big.Int).Mul(t.Lo, f), new(big.Int).Mul(t.Hi, f), t.Declared)
	if l, ok := e.(*tree.Literal); ok && !l.IsNullLiteral() {
		n := new(big.Int).Mul(l.Number, f)
		return Checked(&tree.Literal{Typ: tree.NumberType(step, n, n, true), Number: n}, pos)
	}
	return Checked(&tree.Rescale{X: e, Factor: f, Typ: typ}, pos)
}

// oneLattice puts two numbers on the coarsest lattice that holds both.
func oneLattice(l, r tree.Expr, pos int32) (tree.Expr, tree.Expr, error) {
	a, b := l.Type().Step, r.Type().Step
	// gcd(p/q, s/t) = gcd(p t, s q) / (q t)
	num := new(big.Int).GCD(nil, nil, new(big.Int).Mul(a.Num(), b.Denom()), new(big.Int).Mul(b.Num(), a.Denom()))
	step := new(big.Rat).SetFrac(num, new(big.Int).Mul(a.Denom(), b.Denom()))
	l, err := onLattice(l, step, pos)
	if err != nil {
		return nil, nil, err
	}
	r, err = onLattice(r, step, pos)
	return l, r, err
}

// Checked refuses a number whose interval is too wide to compute with.
func Checked(e tree.Expr, pos int32) (tree.Expr, error) {
	if e.Type().TooWide() {
		return nil, syntax.Refuse(syntax.OutOfRange, pos,
			"use smaller numbers or fewer digits, or ask the owner for narrower bounds or a coarser granularity",
			"a number here can need more than 120 bits")
	}
	return e, nil
}

// Real is a number as a floating-point one.
func Real(e tree.Expr) tree.Expr {
	t := e.Type()
	if t.Kind == tree.Real {
		return e
	}
	return &tree.ToReal{X: e, Typ: realOf(t)}
}

func NewArith(op tree.ArithOp, l, r tree.Expr, pos int32) (tree.Expr, error) {
	for _, e := range []tree.Expr{l, r} {
		// A constant that was quoted is a number only now. An engine has no number for
		// one that is too wide, and would fail on the first row that reaches it.
		if _, err := Checked(e, pos); err != nil {
			return nil, err
		}
		if k := e.Type().Kind; k != tree.Number && k != tree.Real {
			instead := "use numbers"
			if k == tree.Date || k == tree.Timestamp {
				instead = "add days to a date or an INTERVAL to a timestamp, as in day + 7 or at + INTERVAL '1 month'; subtract dates; " +
					"compare with constants"
			}
			return nil, syntax.Refuse(syntax.NoFunction, pos, instead, "%s needs numbers, but this is %s", tree.Symbol(op), Article(k))
		}
	}
	real := l.Type().Kind == tree.Real || r.Type().Kind == tree.Real
	switch {
	case op == tree.Div && l.Type().Integer() && r.Type().Integer() && !Pointed(l) && !Pointed(r):
		return newQuotient(tree.Quo, l, r, pos)
	case op == tree.Rem && !(l.Type().Integer() && r.Type().Integer()):
		return nil, syntax.Refuse(syntax.NoFunction, pos, "use whole numbers", "%% needs whole numbers")
	case op == tree.Rem:
		return newQuotient(tree.Rem, l, r, pos)
	case op == tree.Div || real:
		return newRealArith(op, l, r, pos)
	}
	if op != tree.Mul {
		var err error
		if l, r, err = oneLattice(l, r, pos); err != nil {
			return nil, err
		}
	}
	a, b := l.Type(), r.Type()
	step, declared := a.Step, a.Declared && b.Declared
	var ends []*big.Int
	switch op {
	case tree.Add:
		ends = []*big.Int{new(big.Int).Add(a.Lo, b.Lo), new(big.Int).Add(a.Hi, b.Hi)}
	case tree.Sub:
		ends = []*big.Int{new(big.Int).Sub(a.Lo, b.Hi), new(big.Int).Sub(a.Hi, b.Lo)}
	case tree.Mul:
		step = new(big.Rat).Mul(a.Step, b.Step)
		for _, x := range []*big.Int{a.Lo, a.Hi} {
			for _, y := range []*big.Int{b.Lo, b.Hi} {
				ends = append(ends, new(big.Int).Mul(x, y))
			}
		}
	}
	lo, hi := slices.MinFunc(ends, (*big.Int).Cmp), slices.MaxFunc(ends, (*big.Int).Cmp)
	if op == tree.Mul && lo.Sign() < 0 && tree.Format(l) == tree.Format(r) {
		lo = new(big.Int) // a square, as a variance has them: one spelling has one interval
	}
	return Checked(&tree.Arith{Op: op, L: l, R: r, Typ: tree.NumberType(step, lo, hi, declared)}, pos)
}

// Pointed reports whether a whole number was written as a decimal one, or is a sum: 7 / 2.0 is 3.5,
// as in PostgreSQL, where 7 / 2 is 3.
func Pointed(e tree.Expr) bool {
	switch e := e.(type) {
	case *tree.Released:
		return e.Summed
	case *tree.Literal:
		return e.Point
	case *tree.Arith:
		return (e.Op == tree.Add || e.Op == tree.Sub || e.Op == tree.Mul) && (Pointed(e.L) || Pointed(e.R))
	case *tree.Case:
		return slices.ContainsFunc(append([]tree.When{{Then: e.Else}}, e.Whens...), func(w tree.When) bool { return Pointed(w.Then) })
	case *tree.Call:
		switch e.Fn {
		case "coalesce", "nullif", "greatest", "least", "abs":
			return slices.ContainsFunc(e.Args, Pointed)
		}
	}
	return false
}

// newQuotient is division or remainder of whole numbers, truncated towards zero.
func newQuotient(op tree.ArithOp, l, r tree.Expr, pos int32) (tree.Expr, error) {
	a, b := l.Type(), r.Type()
	// The absolute value of a quotient is at most that of the dividend; that of a
	// remainder is below that of the divisor, with the sign of the dividend.
	m := MaxAbs(a)
	if op == tree.Rem {
		if n := new(big.Int).Sub(MaxAbs(b), big.NewInt(1)); n.Cmp(m) < 0 && n.Sign() >= 0 {
			m = n
		}
	}
	lo, hi := new(big.Int).Neg(m), m
	if a.Lo.Sign() >= 0 && (op == tree.Rem || b.Lo.Sign() >= 0) {
		lo = new(big.Int)
	}
	if by, ok := Constant(r); ok && op == tree.Quo && by.Number != nil && by.Number.Sign() > 0 {
		lo, hi = new(big.Int).Quo(a.Lo, by.Number), new(big.Int).Quo(a.Hi, by.Number) // a staircase
	}
	e := &tree.Arith{Op: op, L: l, R: r, Typ: tree.NumberType(tree.One, lo, hi, a.Declared && b.Declared)}
	if err := NotTooLarge(e, pos); err != nil {
		return nil, err
	}
	return Checked(e, pos)
}

func MaxAbs(t tree.Type) *big.Int {
	lo, hi := new(big.Int).Abs(t.Lo), new(big.Int).Abs(t.Hi)
	if lo.Cmp(hi) > 0 {
		return lo
	}
	return hi
}

// newRealArith computes with doubles. A divisor must be a number on a lattice:
// when it is not zero it is at least one step away from it, and so the
// quotient is bounded. Or it is proven to be away from zero.
func newRealArith(op tree.ArithOp, l, r tree.Expr, pos int32) (tree.Expr, error) {
	divisor := r.Type()
	if cast, ok := r.(*tree.ToReal); ok {
		divisor = cast.X.Type()
	}
	l, r = Real(l), Real(r)
	a, b := l.Type(), r.Type()
	if isReleased(l) || isReleased(r) {
		// No engine computes it, and what is not finite is shown as NULL.
		e := &tree.Arith{Op: op, L: l, R: r, Typ: ReleasedReal}
		return e, NotTooLarge(e, pos)
	}
	if op == tree.Div && divisor.Kind == tree.Real && b.RealRange().Holds(0) {
		return nil, syntax.Refuse(syntax.Unsupported, pos, "multiply instead, or divide by a column or a number",
			"the divisor is itself the result of a division, and could be arbitrarily close to zero")
	}
	least := 0.0 // the smallest divisor
	if op == tree.Div && divisor.Kind == tree.Number {
		least = stepSize(divisor)
	}
	t := realType(realArith(op, a.RealRange(), b.RealRange(), least), a.Declared && b.Declared)
	if max(a.Exponent, b.Exponent, t.Exponent) > tree.MaxExponent {
		return nil,
			syntax.Refuse(syntax.Unsupported, pos,
				"compare the column itself, cast it, as in CAST(x AS numeric(10,2)), or ask the owner for a granularity in the policy",
				"this could exceed what a floating-point number holds, because a decimal without granularity can have any size")
	}
	e := &tree.Arith{Op: op, L: l, R: r, Typ: t}
	return e, NotTooLarge(e, pos)
}

// ReleasedReal is the type of a floating-point number above the noise, where numbers have no
// limits.
var ReleasedReal = tree.Type{Kind: tree.Real, Exponent: 200}

// isReleased reports whether an expression is above the noise.
func isReleased(e tree.Expr) bool {
	found := false
	tree.Walk(e, func(x tree.Expr) {
		_, ok := x.(*tree.Released)
		found = found || ok
	})
	return found
}

func NewCompare(op tree.CompareOp, l, r tree.Expr, pos int32) (tree.Expr, error) {
	l, r, err := compareIdentities(op, l, r, pos)
	if err != nil {
		return nil, err
	}
	if l, r, err = Unite(l, r, pos); err != nil {
		return nil, err
	}
	// A literal goes to the right, so that 5 < x and x > 5 are one question.
	if _, ok := l.(*tree.Literal); ok {
		l, r, op = r, l, flipComparison(op)
	}
	return &tree.Compare{Op: op, L: l, R: r}, nil
}

// compareIdentities looks at columns that say who or what a row is about. Two that mean the same
// are compared as they are stored; one that is not listed can be compared in no other way.
func compareIdentities(op tree.CompareOp, l, r tree.Expr, pos int32) (tree.Expr, tree.Expr, error) {
	a, ok1 := l.(*tree.Column)
	b, ok2 := r.(*tree.Column)
	if ok1 && ok2 && a.Field.Identity != "" && a.Field.Identity == b.Field.Identity && (op == tree.Eq || op == tree.Ne) {
		return a.Stored(), b.Stored(), nil
	}
	if l.Type().Kind == tree.Identity || r.Type().Kind == tree.Identity {
		return nil, nil, syntax.Refuse(syntax.Private, pos, "compare it with = to the same column of another table",
			"a column that identifies people or their records and is not listed in the policy can only be joined on")
	}
	return l, r, nil
}

func flipComparison(op tree.CompareOp) tree.CompareOp {
	switch op {
	case tree.Lt:
		return tree.Gt
	case tree.Le:
		return tree.Ge
	case tree.Gt:
		return tree.Lt
	case tree.Ge:
		return tree.Le
	}
	return op
}

func Unite(l, r tree.Expr, pos int32) (tree.Expr, tree.Expr, error) {
	l, r = Adopt(l, r), Adopt(r, l)
	a, b := l.Type().Kind, r.Type().Kind
	switch {
	case a == tree.Number && b == tree.Number:
		return oneLattice(l, r, pos)
	case (a == tree.Number || a == tree.Real) && (b == tree.Number || b == tree.Real):
		for _, e := range []tree.Expr{l, r} {
			if _, err := Checked(e, pos); err != nil {
				return nil, nil, err
			}
		}
		return Real(l), Real(r), nil
	case a == b:
		return l, r, nil
	case a == tree.Date && b == tree.Timestamp:
		l, err := Midnight(l, pos)
		return l, r, err
	case a == tree.Timestamp && b == tree.Date:
		r, err := Midnight(r, pos)
		return l, r, err
	}
	kind := syntax.NoFunction
	switch k := unreadKind(l, r); k {
	case 0:
	case tree.Date, tree.Timestamp: // spelt as one is, as '2024-02-30': "text" would not say what is wrong
		return nil, nil, syntax.Refuse(badText(k), pos, comparison(a, b), "this text is not a %s", k)
	default:
		kind = badText(k)
	}
	return nil, nil, syntax.Refuse(kind, pos, comparison(a, b), "%s cannot be compared with %s", Article(a), Article(b))
}

// unreadKind is the kind that a quoted string should have had and has not; 0 where there is none.
func unreadKind(l, r tree.Expr) tree.Kind {
	if _, ok := l.(*tree.Literal); ok {
		l, r = r, l
	}
	if t, ok := r.(*tree.Literal); ok && t.Text != nil && l.Type().Kind != tree.Identity {
		return l.Type().Kind
	}
	return 0
}

// badText is the kind of refusal of a text that is none of a kind.
func badText(k tree.Kind) syntax.Kind {
	if k == tree.Date || k == tree.Timestamp {
		return syntax.BadTime
	}
	return syntax.BadText
}

// comparison says how to write a comparison of two kinds that do not fit.
func comparison(a, b tree.Kind) string {
	if a != tree.Text && b != tree.Text {
		return "compare values of the same type"
	}
	switch max(a, b) + min(a, b) - tree.Text { // the other one
	case tree.Number:
		return "write numbers without quotes, as in age > 40, and text with quotes, as in sex = 'F'"
	case tree.Real:
		return "write numbers without quotes, as in cost > 1.5; NaN and infinity are not numbers here"
	case tree.Date:
		return "write a date as in '2024-01-31'"
	case tree.Timestamp:
		return "write a timestamp as in '2024-01-31 12:00:00'"
	case tree.Boolean:
		return "write true or false"
	}
	return "compare values of the same type"
}

// Adopt gives a literal that has no type of its own yet, a quoted string or
// NULL, the type of the other side, as PostgreSQL does.
func Adopt(e, other tree.Expr) tree.Expr {
	l, ok := e.(*tree.Literal)
	if !ok {
		return e
	}
	t := other.Type()
	if l.IsNullLiteral() && t.Kind != 0 {
		return NewNull(t)
	}
	if l.Text != nil && t.Kind != tree.Text {
		if lit, ok := readLiteral(*l.Text, t.Kind); ok {
			return lit
		}
	}
	return e
}

// Article names a kind in a sentence. A NULL that nothing gave a type has none.
func Article(k tree.Kind) string {
	switch k {
	case 0:
		return "NULL"
	case tree.Text:
		return "text"
	case tree.Identity:
		return "a column that identifies people or their records"
	}
	return "a " + k.String()
}

func FromValue(v tree.Value, t tree.Type) *tree.Literal {
	switch v := v.(type) {
	case *big.Int:
		return &tree.Literal{Typ: tree.NumberType(t.Step, v, v, true), Number: v}
	case string:
		return NewText(v)
	case bool:
		return NewBool(v)
	case tree.Day:
		return newDate(int64(v))
	case tree.Moment:
		return newTimestamp(int64(v))
	}
	return NewNull(t)
}

// columnType is the type that the policy gives a column.
func columnType(c *policy.Column) tree.Type {
	switch c.Type {
	case policy.Text:
		return tree.Type{Kind: tree.Text}
	case policy.Boolean:
		return tree.Bool
	case policy.Date:
		return timeColumn(tree.Date, c)
	case policy.Timestamp:
		return timeColumn(tree.Timestamp, c)
	case policy.Integer, policy.Decimal:
		switch {
		case c.Bounds != nil:
			return tree.NumberType(c.Granularity, big.NewInt(c.Bounds.LoSteps), big.NewInt(c.Bounds.HiSteps), true)
		case c.Granularity != nil:
			return tree.NumberType(c.Granularity, tree.MinInt64, tree.MaxInt64, false)
		}
		// A decimal of unknown granularity can only be compared.
		return tree.Type{Kind: tree.Real, Exponent: tree.AnyExponent}
	}
	return tree.Type{}
}

func timeColumn(k tree.Kind, c *policy.Column) tree.Type {
	if c.Bounds == nil {
		return tree.Type{Kind: k}
	}
	return tree.TimeType(k, big.NewInt(c.Bounds.LoSteps), big.NewInt(c.Bounds.HiSteps), true)
}

func ColumnField(c *policy.Column) tree.Field {
	return tree.Field{Name: c.Name, Type: columnType(c), Nullable: c.Nullable, Source: c}
}

// NewCase brings the branches to one type. The value is one of all branches, the last one too.
func NewCase(whens []tree.When, otherwise tree.Expr, pos int32) (tree.Expr, error) {
	values := make([]tree.Expr, 0, len(whens)+1)
	for _, w := range whens {
		values = append(values, w.Then)
	}
	values, err := Unify(append(values, otherwise), "CASE", pos)
	if err != nil {
		return nil, err
	}
	e := &tree.Case{Else: values[len(whens)], Typ: Hull(values)}
	for i, w := range whens {
		e.Whens = append(e.Whens, tree.When{If: w.If, Then: values[i]})
	}
	if err := NotTooLarge(e, pos); err != nil {
		return nil, err
	}
	return Checked(e, pos)
}

// normalCase leaves out what is never reached.
func (n normalizer) normalCase(x *tree.Case) tree.Expr {
	e := &tree.Case{Else: n.normal(x.Else), Typ: x.Typ}
	for _, w := range x.Whens {
		w = tree.When{If: n.truth(n.normal(w.If)), Then: n.normal(w.Then)}
		if l, ok := w.If.(*tree.Literal); ok {
			if l.Bool == nil || !*l.Bool {
				continue
			}
			e.Else = w.Then
			break
		}
		e.Whens = append(e.Whens, w)
	}
	if len(e.Whens) == 0 {
		return e.Else
	}
	return e
}
