package expr

import (
	"math/big"

	"github.com/discreet-dp/discreet/internal/plan/tree"
)

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
