package expr

import (
	"math/big"

	"github.com/discreet-dp/discreet/internal/plan/syntax"
	"github.com/discreet-dp/discreet/internal/plan/tree"
)

// maxThresholds bounds those of one width_bucket.
const maxThresholds = 100

// NewThresholds makes width_bucket(x, ARRAY[...]): how many of the thresholds, which rise, x is not
// below.
func NewThresholds(x tree.Expr, thresholds []tree.Expr, pos int32) (tree.Expr, error) {
	const instead = "write width_bucket(x, ARRAY[18, 40, 65])"
	if k := x.Type().Kind; k != tree.Number && k != tree.Real && k != tree.Date && k != tree.Timestamp {
		return nil, syntax.Refuse(pos, instead, "width_bucket cannot take %s", Article(k))
	}
	if len(thresholds) > maxThresholds {
		return nil, syntax.Refuse(pos, "write fewer of them", "width_bucket has more than %d thresholds", maxThresholds)
	}
	var whens []tree.When
	var before *big.Rat
	for i, a := range thresholds {
		l, ok := Constant(Adopt(a, x))
		at := position(l)
		switch {
		case !ok || at == nil:
			return nil, syntax.Refuse(pos, instead, "the thresholds of width_bucket must be constants")
		case before != nil && before.Cmp(at) > 0:
			return nil, syntax.Refuse(pos, "write the smaller ones first", "the thresholds of width_bucket do not rise")
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

// position is where a constant stands among others of its kind; nil where it is no number and no
// time.
func position(l *tree.Literal) *big.Rat {
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
