package plan

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// normal rewrites an expression so that questions that mean the same are, in the
// common cases, the same tree: constants are folded, AND and OR are
// flattened, sorted and without repetitions, and what they say about one expression is joined. The value is the same for
// every row. What may be done where only the truth of a condition counts is in truth.
func normal(e Expr) Expr {
	switch x := e.(type) {
	case *Logic:
		e = normalLogic(x)
	case *Not:
		e = negated(normal(x.X))
	case *In:
		e = listed(normal(x.X), x.List)
		if c, ok := e.(*Compare); ok {
			e = simpleCompare(c)
		}
	case *Compare:
		e = simpleCompare(normalCompare(&Compare{Op: x.Op, L: normal(x.L), R: normal(x.R)}))
	case *IsNull:
		e = &IsNull{normal(x.X)}
	case *Exists:
		if x.On != nil {
			e = &Exists{From: x.From, Outer: x.Outer, On: normal(x.On)}
		}
	case *Rescale:
		e = oneFactor(&Rescale{X: normal(x.X), Factor: x.Factor, typ: x.typ})
	case *ToReal:
		e = &ToReal{X: normal(x.X), typ: x.typ}
	case *Arith:
		e = simpleArith(&Arith{Op: x.Op, L: normal(x.L), R: normal(x.R), typ: x.typ})
	case *Case:
		e = normalCase(x)
	case *Call:
		args := make([]Expr, len(x.Args))
		for i, a := range x.Args {
			args[i] = normal(a)
		}
		e = &Call{Fn: x.Fn, Args: args, typ: x.typ}
	case *Within:
		e = &Within{X: normal(x.X), typ: x.typ}
	case *Like:
		e = &Like{X: normal(x.X), Pattern: x.Pattern}
	}
	return fold(e)
}

// negated is NOT of a normal expression, with the NOT moved as far down as it
// goes. All of it holds for NULL too: NOT of a comparison is the opposite
// comparison, both NULL where a side is, and De Morgan's laws are those of SQL.
func negated(e Expr) Expr {
	switch e := e.(type) {
	case *Not:
		return e.X
	case *Compare:
		return simpleCompare(normalCompare(&Compare{Op: e.Op.opposite(), L: e.L, R: e.R}))
	case *Logic:
		op := And
		if e.Op == And {
			op = Or
		}
		args := make([]Expr, len(e.Args))
		for i, a := range e.Args {
			args[i] = negated(a)
		}
		return normalLogic(&Logic{op, args})
	}
	return &Not{e}
}

// opposite is the comparison that holds where op does not.
func (op CompareOp) opposite() CompareOp {
	return map[CompareOp]CompareOp{Eq: Ne, Ne: Eq, Lt: Ge, Ge: Lt, Gt: Le, Le: Gt, Distinct: NotDistinct, NotDistinct: Distinct}[op]
}

// normalCompare decides which side is the left one, so that a < b and b > a are
// one question: a constant, which folding may have made only now, goes to the right.
func normalCompare(c *Compare) *Compare {
	_, l := c.L.(*Literal)
	_, r := c.R.(*Literal)
	a, b := Format(c.L), Format(c.R)
	if l && !r || l == r && (a > b || a == b && (c.Op == Gt || c.Op == Ge)) {
		return &Compare{Op: c.Op.flip(), L: c.R, R: c.L}
	}
	return c
}

func normalLogic(x *Logic) Expr {
	var args []Expr
	for _, a := range x.Args {
		a = normal(a)
		if l, ok := a.(*Logic); ok && l.Op == x.Op {
			args = append(args, l.Args...)
			continue
		}
		if b, ok := a.(*Literal); ok && b.Bool != nil {
			if *b.Bool == (x.Op == Or) {
				return b // x OR true, x AND false
			}
			continue // x AND true, x OR false
		}
		args = append(args, a)
	}
	args = merged(x.Op, args)
	slices.SortFunc(args, func(a, b Expr) int { return strings.Compare(Format(a), Format(b)) })
	args = slices.CompactFunc(args, func(a, b Expr) bool { return Format(a) == Format(b) })
	switch len(args) {
	case 0:
		return newBool(x.Op == And)
	case 1:
		return args[0]
	}
	return &Logic{Op: x.Op, Args: args}
}

// fold replaces an expression without columns by its value.
func fold(e Expr) Expr {
	constant := true
	walk(e, func(x Expr) {
		switch x.(type) {
		case *Column, *Released, *Exists:
			constant = false
		}
	})
	if _, ok := e.(*Literal); ok || !constant || e.Type().Kind == Real {
		return e
	}
	return fromValue(Eval(e, nil), e.Type())
}

// Format writes an expression in one canonical spelling. It names each
// column's lattice and bounds, so that a changed policy is another question.
func Format(e Expr) string {
	var b strings.Builder
	format(&b, e, noOutside)
	return b.String()
}

// noOutside is for expressions outside of an [Exists]: more fields than a row has.
const noOutside = math.MaxInt

// format writes an expression. Fields from outer on are those of the relation in an [Exists], and are counted from its first: how many
// the row outside has depends on what else is asked about it, and in which order.
func format(b *strings.Builder, e Expr, outer int) {
	list := func(op string, args ...Expr) {
		b.WriteString("(" + op)
		for _, a := range args {
			b.WriteByte(' ')
			format(b, a, outer)
		}
		b.WriteByte(')')
	}
	switch e := e.(type) {
	case *Column:
		if e.Index < outer {
			fmt.Fprintf(b, "%d", e.Index)
		} else {
			fmt.Fprintf(b, "inside %d", e.Index-outer)
		}
		fmt.Fprintf(b, ":%s:%v", e.Field.format(), e.Field.Type)
		if c := e.Field.Source; (e.Field.Type.Kind == Date || e.Field.Type.Kind == Timestamp) && c != nil && c.Bounds != nil {
			fmt.Fprintf(b, "[%s..%s]", c.Show(c.Bounds.LoSteps), c.Show(c.Bounds.HiSteps))
		}
	case *Literal:
		b.WriteString(e.format())
	case *Released:
		fmt.Fprintf(b, "#%d.%d", e.Stat, e.Part)
	case *Rescale:
		list("scale "+e.Factor.String(), e.X)
	case *ToReal:
		list("real", e.X)
	case *Arith:
		list(string(e.Op), e.L, e.R)
	case *Compare:
		list(string(e.Op), e.L, e.R)
	case *Logic:
		list(string(e.Op), e.Args...)
	case *Not:
		list("NOT", e.X)
	case *In:
		args := []Expr{e.X}
		for _, l := range e.List {
			args = append(args, l)
		}
		list("IN", args...)
	case *IsNull:
		list("NULL?", e.X)
	case *Exists:
		fmt.Fprintf(b, "(exists %s", formatRelation(e.From))
		if e.On != nil {
			b.WriteString(" on ")
			format(b, e.On, e.Outer)
		}
		b.WriteByte(')')
	case *Case:
		list("case", parts(e)...)
	case *Call:
		list(e.Fn, e.Args...)
	case *Within:
		list("within "+e.ends(), e.X)
	case *Like:
		list("like "+strconv.Quote(e.Pattern.String()), e.X)
	default:
		panic(fmt.Sprintf("plan: no spelling for %T", e))
	}
}

func (e *Literal) format() string {
	switch v := e.Value().(type) {
	case nil:
		if e.typ.Kind == Number && !e.typ.Integer() {
			return "null*" + e.typ.Step.RatString()
		}
		return "null"
	case string:
		return strconv.Quote(v)
	case bool:
		return strconv.FormatBool(v)
	case Day:
		return v.String()
	case Moment:
		return v.String()
	default:
		s := fmt.Sprint(v)
		if !e.typ.Integer() {
			s += "*" + e.typ.Step.RatString()
		}
		return s
	}
}
