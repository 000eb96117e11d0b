package expr

import (
	"math/big"

	"github.com/discreet-dp/discreet/internal/plan/meter"
	"github.com/discreet-dp/discreet/internal/plan/tree"
)

// NewCall makes a node, or refuses one that is too wide or too large.
func NewCall(fn string, t tree.Type, pos int32, args ...tree.Expr) (tree.Expr, error) {
	e := &tree.Call{Fn: fn, Args: args, Typ: t}
	if err := NotTooLarge(e, pos); err != nil {
		return nil, err
	}
	return Checked(e, pos)
}

func (v evaluation) call(e *tree.Call) tree.Value {
	f := node(e.Fn)
	args := make([]tree.Value, len(e.Args))
	bytes := 0
	for i, a := range e.Args {
		if args[i] = v.value(a); args[i] == nil && !f.nulls {
			return nil
		}
		if s, ok := args[i].(string); ok {
			bytes += len(s)
		}
	}
	if e.Fn == "matches" && v.meter != nil {
		return v.meter.Match(args[1].(string), args[0].(string))
	}
	v.meter.Work(2+len(args)+bytes/textPart, meter.Computed)
	v.meter.Work(f.scratch/textPart, meter.Computed/4)
	if e.Fn == "replace" { // each part that is found takes time, and there may be one in every few bytes
		v.meter.Work(bytes/4, meter.Computed/2)
	}
	v.meter.Build(16*len(args) + max(usualScratch, f.scratch))
	out := f.eval(e, args)
	switch out := out.(type) {
	case string: // of at most maxJoined characters, where it is longer than what it is made of
		v.meter.Work(3+len(out)/textPart, meter.Computed)
		v.meter.Build(meter.Number + len(out))
		if len(out) > bytes { // it may have grown more than once
			v.meter.Build(len(out))
		}
	case *big.Int:
		v.meter.Build(meter.Integer)
	}
	return out
}

// textPart is how much of a text is looked at in the time that a node takes.
const textPart = 16

// restrict restricts a number or a time to an interval, in steps. It changes nothing where the
// value cannot be outside.
func restrict(x tree.Expr, lo, hi *big.Int, declared bool, pos int32) (tree.Expr, error) {
	t := x.Type()
	from, to := t.Lo, t.Hi
	if t.Kind != tree.Number {
		from, to = t.Span()
	}
	if from.Cmp(lo) >= 0 && to.Cmp(hi) <= 0 {
		return x, nil
	}
	t.Lo, t.Hi = Larger(from, lo), Smaller(to, hi)
	t.Declared = t.Declared || declared
	if t.Lo.Cmp(t.Hi) > 0 { // never inside
		t.Lo, t.Hi = new(big.Int), new(big.Int)
		return NewNull(t), nil
	}
	e := &tree.Within{X: x, Typ: t}
	return e, NotTooLarge(e, pos)
}

// restrictReal is restrict for a Real.
func restrictReal(x tree.Expr, r tree.Range, declared bool, pos int32) (tree.Expr, error) {
	t := x.Type()
	have := t.RealRange()
	if have.Inside(r) {
		return x, nil
	}
	r = tree.Range{Low: max(have.Low, r.Low), High: min(have.High, r.High)}
	if r.Low > r.High {
		return NewNull(realType(tree.Range{}, true)), nil
	}
	e := &tree.Within{X: x, Typ: realType(r, t.Declared || declared)}
	return e, NotTooLarge(e, pos)
}

func isWithin(e *tree.Within, v tree.Value) bool {
	switch v := v.(type) {
	case *big.Int:
		return e.Typ.Lo.Cmp(v) <= 0 && v.Cmp(e.Typ.Hi) <= 0
	case float64:
		return e.Typ.Range.Holds(v)
	case tree.Day:
		return e.Typ.Lo.Cmp(big.NewInt(int64(v))) <= 0 && e.Typ.Hi.Cmp(big.NewInt(int64(v))) >= 0
	case tree.Moment:
		return e.Typ.Lo.Cmp(big.NewInt(int64(v))) <= 0 && e.Typ.Hi.Cmp(big.NewInt(int64(v))) >= 0
	}
	return false
}

// mayVanish reports whether a node can be NULL where nothing below it is.
func mayVanish(e tree.Expr) bool {
	switch e := e.(type) {
	case *tree.Within:
		return true
	case *tree.Call:
		return node(e.Fn).vanishes
	}
	return false
}

// Copies is how often an engine may write a part of a node.
func Copies(e tree.Expr, part int) int {
	switch e := e.(type) {
	case *tree.Within:
		return 2
	case *tree.Arith:
		if part == 1 && (e.Op == tree.Div || e.Op == tree.Quo || e.Op == tree.Rem) {
			return 2 // the divisor is looked at before
		}
	case *tree.Call:
		return max(1, node(e.Fn).copies)
	}
	return 1
}
