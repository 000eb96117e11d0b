package plan

import (
	"math/big"
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"
)

// quantiles are all quantiles of one expression, which are released together.
type quantiles struct {
	arg Expr
	at  []*big.Rat
}

// quantile adds a quantile.
func (q *question) quantile(arg Expr, at *big.Rat, note string, pos int32) (int, error) {
	if _, _, ok := QuantileRange(arg); !ok {
		return 0, refuse(pos, "ask the owner to add bounds: [lowest, highest] to the column in the policy", "a quantile needs a column with bounds, because every point between them is a possible answer")
	}
	name := Format(arg)
	if q.quantiles[name] == nil {
		q.quantiles[name] = &quantiles{arg: arg}
	}
	all := q.quantiles[name]
	if i, found := slices.BinarySearchFunc(all.at, at, (*big.Rat).Cmp); !found {
		all.at = slices.Insert(all.at, i, at)
	}
	if len(all.at) > maxQuantiles {
		return 0, refuse(pos, "ask for fewer at a time", "more than %d quantiles of one expression are asked for", maxQuantiles)
	}
	typ := Type{Kind: arg.Type().Kind}
	if t := arg.Type(); t.Kind == Number {
		typ = releasedNumber(t.Step)
	}
	return q.add(draft{Stat: Stat{Kind: QuantileStat, Of: arg, Note: note, typ: typ}, measure: name, at: at}), nil
}

const maxQuantiles = 100

// QuantileRange returns the public ends, in steps or days, between which quantiles of an expression are.
func QuantileRange(arg Expr) (lo, hi int64, ok bool) {
	t := arg.Type()
	switch t.Kind {
	case Number, Date, Timestamp:
		if t.Declared && t.Lo.IsInt64() && t.Hi.IsInt64() && t.Lo.Cmp(t.Hi) < 0 {
			return t.Lo.Int64(), t.Hi.Int64(), true
		}
	}
	return 0, 0, false
}

// percentile reads PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY x). On a lattice a quantile is a lattice point, so CONT and DISC are one.
func (q *question) percentile(f *pg.FuncCall, name string, filter Expr) (int, error) {
	const instead = "write PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY column)"
	if !f.AggWithinGroup || len(f.AggOrder) != 1 || len(f.Args) != 1 {
		return 0, refuse(f.Location, instead, "%s takes a number from 0 to 1, and one column to order by", name)
	}
	by := f.AggOrder[0].GetSortBy()
	p, err := checkExpr(below{q}, f.Args[0])
	if err != nil {
		return 0, err
	}
	l, ok := normal(adoptNumber(p)).(*Literal)
	if !ok || l.Number == nil {
		return 0, refuse(location(f.Args[0]), instead+", one call for each number", "the quantile must be a constant from 0 to 1")
	}
	at := new(big.Rat).Mul(new(big.Rat).SetInt(l.Number), l.typ.Step)
	if at.Sign() < 0 || at.Cmp(one) > 0 {
		return 0, refuse(location(f.Args[0]), instead, "the quantile must be a constant from 0 to 1")
	}
	if by.SortbyDir == pg.SortByDir_SORTBY_DESC {
		at.Sub(one, at)
	}
	arg, err := q.expression(by.GetNode())
	if err != nil {
		return 0, err
	}
	if err := summable(arg, name, f.Location); err != nil {
		return 0, err
	}
	if arg, err = filtered(filter, arg, f.Location); err != nil {
		return 0, err
	}
	return q.quantile(arg, at, "", f.Location)
}
