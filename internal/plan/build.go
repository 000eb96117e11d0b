package plan

import (
	"math/big"
	"slices"
	"unicode/utf8"
)

// The functions of this file make nodes whose types are right and whose values
// are proven not to overflow, or refuse.

func newNumber(v *big.Rat) *Literal {
	// The coarsest lattice that holds the literal: steps of 1 over its denominator.
	step := new(big.Rat).SetFrac(big.NewInt(1), v.Denom())
	n := new(big.Int).Set(v.Num())
	return &Literal{typ: numberType(step, n, n, true), Number: n}
}

func newText(s string) *Literal { return &Literal{typ: textType(utf8.RuneCountInString(s)), Text: &s} }
func newBool(b bool) *Literal   { return &Literal{typ: boolean, Bool: &b} }
func newDate(d int64) *Literal {
	return &Literal{typ: timeType(Date, big.NewInt(d), big.NewInt(d), true), Days: &d}
}
func newTimestamp(m int64) *Literal {
	return &Literal{typ: timeType(Timestamp, big.NewInt(m), big.NewInt(m), true), Micros: &m}
}

// newNull makes the NULL of a type; of no type where it is not known yet.
// It has one interval, wherever it comes from, because its spelling does not say another.
func newNull(t Type) *Literal {
	zero := new(big.Int)
	switch t.Kind {
	case Number:
		t = numberType(t.Step, zero, zero, true)
	case Real:
		t = realType(Range{}, true)
	case Text:
		t = textType(0)
	case Date, Timestamp:
		t = timeType(t.Kind, zero, zero, true)
	}
	return &Literal{typ: t}
}

// onLattice puts a number on a finer lattice.
func onLattice(e Expr, step *big.Rat, pos int32) (Expr, error) {
	t := e.Type()
	ratio := new(big.Rat).Quo(t.Step, step)
	if !ratio.IsInt() {
		panic("plan: a lattice that is not finer")
	}
	f := ratio.Num()
	if f.Cmp(big.NewInt(1)) == 0 {
		return checked(e, pos)
	}
	typ := numberType(step, new(big.Int).Mul(t.Lo, f), new(big.Int).Mul(t.Hi, f), t.Declared)
	if l, ok := e.(*Literal); ok && !l.IsNullLiteral() {
		n := new(big.Int).Mul(l.Number, f)
		return checked(&Literal{typ: numberType(step, n, n, true), Number: n}, pos)
	}
	return checked(&Rescale{X: e, Factor: f, typ: typ}, pos)
}

// oneLattice puts two numbers on the coarsest lattice that holds both.
func oneLattice(l, r Expr, pos int32) (Expr, Expr, error) {
	a, b := l.Type().Step, r.Type().Step
	// gcd(p/q, s/t) = gcd(p t, s q) / (q t)
	num := new(big.Int).GCD(nil, nil,
		new(big.Int).Mul(a.Num(), b.Denom()), new(big.Int).Mul(b.Num(), a.Denom()))
	step := new(big.Rat).SetFrac(num, new(big.Int).Mul(a.Denom(), b.Denom()))
	l, err := onLattice(l, step, pos)
	if err != nil {
		return nil, nil, err
	}
	r, err = onLattice(r, step, pos)
	return l, r, err
}

// checked refuses a number whose interval is too wide to compute with.
func checked(e Expr, pos int32) (Expr, error) {
	if e.Type().tooWide() {
		return nil, refuse(pos, "use smaller numbers or fewer digits, or ask the owner for narrower bounds or a coarser granularity",
			"a number here can need more than 120 bits")
	}
	return e, nil
}

func toReal(e Expr) Expr {
	t := e.Type()
	if t.Kind == Real {
		return e
	}
	return &ToReal{X: e, typ: realOf(t)}
}

func newArith(op ArithOp, l, r Expr, pos int32) (Expr, error) {
	for _, e := range []Expr{l, r} {
		// A constant that was quoted is a number only now. An engine has no number for
		// one that is too wide, and would fail on the first row that reaches it.
		if _, err := checked(e, pos); err != nil {
			return nil, err
		}
		if k := e.Type().Kind; k != Number && k != Real {
			instead := "use numbers"
			if k == Date || k == Timestamp {
				instead = "add days to a date or an INTERVAL to a timestamp, as in day + 7 or at + INTERVAL '1 month'; subtract dates; compare with constants"
			}
			return nil, refuse(pos, instead, "%s needs numbers, and this is %s", sqlOp(op), article(k))
		}
	}
	real := l.Type().Kind == Real || r.Type().Kind == Real
	switch {
	case op == Div && l.Type().Integer() && r.Type().Integer() && !pointed(l) && !pointed(r):
		return newQuotient(Quo, l, r, pos)
	case op == Rem && !(l.Type().Integer() && r.Type().Integer()):
		return nil, refuse(pos, "use whole numbers", "%% needs whole numbers")
	case op == Rem:
		return newQuotient(Rem, l, r, pos)
	case op == Div || real:
		return newRealArith(op, l, r, pos)
	}
	if op != Mul {
		var err error
		if l, r, err = oneLattice(l, r, pos); err != nil {
			return nil, err
		}
	}
	a, b := l.Type(), r.Type()
	step, declared := a.Step, a.Declared && b.Declared
	var ends []*big.Int
	switch op {
	case Add:
		ends = []*big.Int{new(big.Int).Add(a.Lo, b.Lo), new(big.Int).Add(a.Hi, b.Hi)}
	case Sub:
		ends = []*big.Int{new(big.Int).Sub(a.Lo, b.Hi), new(big.Int).Sub(a.Hi, b.Lo)}
	case Mul:
		step = new(big.Rat).Mul(a.Step, b.Step)
		for _, x := range []*big.Int{a.Lo, a.Hi} {
			for _, y := range []*big.Int{b.Lo, b.Hi} {
				ends = append(ends, new(big.Int).Mul(x, y))
			}
		}
	}
	lo, hi := slices.MinFunc(ends, (*big.Int).Cmp), slices.MaxFunc(ends, (*big.Int).Cmp)
	if op == Mul && lo.Sign() < 0 && Format(l) == Format(r) {
		lo = new(big.Int) // a square, as a variance has them: one spelling has one interval
	}
	return checked(&Arith{Op: op, L: l, R: r, typ: numberType(step, lo, hi, declared)}, pos)
}

// pointed reports whether a whole number was written as a decimal one: 7 / 2.0 is 3.5, as
// in PostgreSQL, where 7 / 2 is 3.
func pointed(e Expr) bool {
	switch e := e.(type) {
	case *Literal:
		return e.point
	case *Arith:
		return (e.Op == Add || e.Op == Sub || e.Op == Mul) && (pointed(e.L) || pointed(e.R))
	}
	return false
}

// newQuotient is division or remainder of whole numbers, truncated towards zero.
func newQuotient(op ArithOp, l, r Expr, pos int32) (Expr, error) {
	a, b := l.Type(), r.Type()
	// The absolute value of a quotient is at most that of the dividend; that of a
	// remainder is below that of the divisor, with the sign of the dividend.
	m := maxAbs(a)
	if op == Rem {
		if n := new(big.Int).Sub(maxAbs(b), big.NewInt(1)); n.Cmp(m) < 0 && n.Sign() >= 0 {
			m = n
		}
	}
	lo, hi := new(big.Int).Neg(m), m
	if a.Lo.Sign() >= 0 && (op == Rem || b.Lo.Sign() >= 0) {
		lo = new(big.Int)
	}
	e := &Arith{Op: op, L: l, R: r, typ: numberType(one, lo, hi, a.Declared && b.Declared)}
	if err := notTooLarge(e, pos); err != nil {
		return nil, err
	}
	return checked(e, pos)
}

func maxAbs(t Type) *big.Int {
	lo, hi := new(big.Int).Abs(t.Lo), new(big.Int).Abs(t.Hi)
	if lo.Cmp(hi) > 0 {
		return lo
	}
	return hi
}

// newRealArith computes with doubles. A divisor must be a number on a lattice:
// when it is not zero it is at least one step away from it, and so the
// quotient is bounded. Or it is proven to be away from zero.
func newRealArith(op ArithOp, l, r Expr, pos int32) (Expr, error) {
	divisor := r.Type()
	l, r = toReal(l), toReal(r)
	a, b := l.Type(), r.Type()
	if op == Div && divisor.Kind == Real && b.real().holds(0) {
		return nil, refuse(pos, "multiply instead, or divide by a column or a number", "the divisor is itself the result of a division, and could be as close to zero as numbers are")
	}
	least := 0.0 // the smallest divisor
	if op == Div && divisor.Kind == Number {
		least = stepSize(divisor)
	}
	t := realType(realArith(op, a.real(), b.real(), least), a.Declared && b.Declared)
	if max(a.Exponent, b.Exponent, t.Exponent) > maxExponent {
		return nil, refuse(pos, "compare the column as it is, cast it, as in CAST(x AS numeric(10,2)), or ask the owner for a granularity in the policy",
			"this could exceed what a floating-point number holds, because a decimal without granularity can have any size")
	}
	e := &Arith{Op: op, L: l, R: r, typ: t}
	return e, notTooLarge(e, pos)
}

func newCompare(op CompareOp, l, r Expr, pos int32) (Expr, error) {
	l, r, err := identities(op, l, r, pos)
	if err != nil {
		return nil, err
	}
	if l, r, err = comparable2(l, r, pos); err != nil {
		return nil, err
	}
	// A literal goes to the right, so that 5 < x and x > 5 are one question.
	if _, ok := l.(*Literal); ok {
		l, r, op = r, l, op.flip()
	}
	return &Compare{Op: op, L: l, R: r}, nil
}

// identities looks at columns that say who or what a row is about. Two that mean the same are compared as they are
// stored; one that is not listed can be compared in no other way.
func identities(op CompareOp, l, r Expr, pos int32) (Expr, Expr, error) {
	a, ok1 := l.(*Column)
	b, ok2 := r.(*Column)
	if ok1 && ok2 && a.Field.Identity != "" && a.Field.Identity == b.Field.Identity && (op == Eq || op == Ne) {
		return a.stored(), b.stored(), nil
	}
	if l.Type().Kind == Identity || r.Type().Kind == Identity {
		return nil, nil, refuse(pos, "compare it with = to the same column of another table", "a column that says who or what a row is about, and that the policy does not list, can only be joined on")
	}
	return l, r, nil
}

// stored is an identity as it is stored.
func (e *Column) stored() *Column {
	if e.Field.raw() {
		return e
	}
	f := e.Field
	f.Type, f.Nullable, f.Twin, f.Source = Type{Kind: Identity}, true, 0, nil
	return &Column{Index: e.Index + e.Field.Twin, Field: f}
}

func (op CompareOp) flip() CompareOp {
	switch op {
	case Lt:
		return Gt
	case Le:
		return Ge
	case Gt:
		return Lt
	case Ge:
		return Le
	}
	return op
}

// comparable2 brings two expressions to one type.
func comparable2(l, r Expr, pos int32) (Expr, Expr, error) {
	l, r = adopt(l, r), adopt(r, l)
	a, b := l.Type().Kind, r.Type().Kind
	switch {
	case a == Number && b == Number:
		return oneLattice(l, r, pos)
	case (a == Number || a == Real) && (b == Number || b == Real):
		for _, e := range []Expr{l, r} {
			if _, err := checked(e, pos); err != nil {
				return nil, nil, err
			}
		}
		return toReal(l), toReal(r), nil
	case a == b:
		return l, r, nil
	case a == Date && b == Timestamp:
		l, err := midnight(l, pos)
		return l, r, err
	case a == Timestamp && b == Date:
		r, err := midnight(r, pos)
		return l, r, err
	}
	return nil, nil, refuse(pos, comparison(a, b), "%s cannot be compared with %s", article(a), article(b))
}

// comparison says how to write a comparison of two kinds that do not fit.
func comparison(a, b Kind) string {
	if a != Text && b != Text {
		return "compare values of one type"
	}
	switch max(a, b) + min(a, b) - Text { // the other one
	case Number:
		return "a number stands without quotes, as in age > 40, and text with them, as in sex = 'F'"
	case Real:
		return "a number stands without quotes, as in cost > 1.5; NaN and infinity are not numbers here"
	case Date:
		return "write a date as in '2024-01-31'"
	case Timestamp:
		return "write a timestamp as in '2024-01-31 12:00:00'"
	case Boolean:
		return "write true or false"
	}
	return "compare values of one type"
}

// adopt gives a literal that has no type of its own yet, a quoted string or
// NULL, the type of the other side, as PostgreSQL does.
func adopt(e, other Expr) Expr {
	l, ok := e.(*Literal)
	if !ok {
		return e
	}
	t := other.Type()
	if l.IsNullLiteral() && t.Kind != 0 {
		return newNull(t)
	}
	if l.Text != nil && t.Kind != Text {
		if lit, ok := readLiteral(*l.Text, t.Kind); ok {
			return lit
		}
	}
	return e
}

// article names a kind in a sentence. A NULL that nothing gave a type has none.
func article(k Kind) string {
	switch k {
	case 0:
		return "NULL"
	case Text:
		return "text"
	case Identity:
		return "a column that says who or what a row is about"
	}
	return "a " + k.String()
}

func sqlOp(op ArithOp) string {
	switch op {
	case Quo:
		return "/"
	case Rem:
		return "%"
	}
	return string(op)
}

// fromValue makes the literal of a value.
func fromValue(v Value, t Type) *Literal {
	switch v := v.(type) {
	case *big.Int:
		return &Literal{typ: numberType(t.Step, v, v, true), Number: v}
	case string:
		return newText(v)
	case bool:
		return newBool(v)
	case Day:
		return newDate(int64(v))
	case Moment:
		return newTimestamp(int64(v))
	}
	return newNull(t)
}
