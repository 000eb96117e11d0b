package plan

import (
	"math/big"
	"slices"
	"strconv"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/internal/plan/expr"
	"github.com/discreet-dp/discreet/internal/plan/syntax"
	"github.com/discreet-dp/discreet/internal/plan/tree"
)

// quantiles are all quantiles of one expression, which are released together.
type quantiles struct {
	arg tree.Expr
	at  []*big.Rat
}

// quantile adds a quantile.
func (agg *aggregator) addQuantile(arg tree.Expr, at *big.Rat, note string, pos int32) (int, error) {
	if _, _, ok := tree.QuantileRange(arg); !ok {
		return 0, syntax.Refuse(pos, "ask the owner to add bounds: [lowest, highest] to the column in the policy",
			"a quantile needs a column with bounds, because every point between them is a possible answer")
	}
	name := tree.Format(arg)
	if agg.out.quantiles[name] == nil {
		agg.out.quantiles[name] = &quantiles{arg: arg}
	}
	all := agg.out.quantiles[name]
	if i, found := slices.BinarySearchFunc(all.at, at, (*big.Rat).Cmp); !found {
		all.at = slices.Insert(all.at, i, at)
	}
	if len(all.at) > maxQuantiles {
		return 0, syntax.Refuse(pos, "ask for fewer at a time", "more than %d quantiles of one expression are asked for", maxQuantiles)
	}
	typ := tree.Type{Kind: arg.Type().Kind}
	if t := arg.Type(); t.Kind == tree.Number {
		typ = releasedNumber(t.Step)
	}
	return agg.out.add(draft{Stat: tree.Stat{Kind: tree.QuantileStat, Of: arg, Note: note, Typ: typ}, measure: name, at: at}), nil
}

const maxQuantiles = 100

// percentile reads PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY x). On a lattice a quantile is a
// lattice point, so CONT and DISC are one.
func (agg *aggregator) readPercentile(f *pg.FuncCall, name string, filter tree.Expr) (int, error) {
	const instead = "write PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY column)"
	if !f.AggWithinGroup || len(f.AggOrder) != 1 || len(f.Args) != 1 {
		return 0, syntax.Refuse(f.Location, instead, "%s takes a number from 0 to 1, and one column to order by", name)
	}
	if list := f.Args[0].GetAArrayExpr(); list != nil {
		return 0, syntax.Refuse(syntax.Location(f.Args[0]), "write "+oneByOne(name, list, f.AggOrder[0].GetSortBy())+
			": several of one column share one price", "an answer has no arrays, so %s takes one number at a time", name)
	}
	by := f.AggOrder[0].GetSortBy()
	p, err := checkExpr(agg.in, f.Args[0])
	if err != nil {
		return 0, err
	}
	l, ok := expr.Normal(expr.AdoptNumber(p)).(*tree.Literal)
	if !ok || l.Number == nil {
		return 0,
			syntax.Refuse(syntax.Location(f.Args[0]), instead+", one call for each number", "the quantile must be a constant from 0 to 1")
	}
	at := new(big.Rat).Mul(new(big.Rat).SetInt(l.Number), l.Typ.Step)
	if at.Sign() < 0 || at.Cmp(tree.One) > 0 {
		return 0, syntax.Refuse(syntax.Location(f.Args[0]), instead, "the quantile must be a constant from 0 to 1")
	}
	if by.SortbyDir == pg.SortByDir_SORTBY_DESC {
		at.Sub(tree.One, at)
	}
	arg, _, err := agg.in.readExact(by.GetNode())
	if err != nil {
		return 0, err
	}
	if err := summable(arg, name, f.Location); err != nil {
		return 0, err
	}
	if arg, err = agg.in.onlyWhere(filter, arg, f.Location); err != nil {
		return 0, err
	}
	return agg.addQuantile(arg, at, "", f.Location)
}

// oneByOne writes the calls that an array of quantiles stands for, as far as they are numbers and
// the column has a plain name.
func oneByOne(name string, list *pg.A_ArrayExpr, by *pg.SortBy) string {
	column := "column"
	if ref := by.GetNode().GetColumnRef(); ref != nil {
		if text, err := columnName(ref); err == nil {
			column = strings.ReplaceAll(text, "\x00", ".")
		}
	}
	if by.GetSortbyDir() == pg.SortByDir_SORTBY_DESC {
		column += " DESC"
	}
	if len(list.Elements) == 0 {
		return name + "(0.5) WITHIN GROUP (ORDER BY " + column + ")"
	}
	var out []string
	for _, n := range list.Elements {
		number := "0.5"
		if v := n.GetAConst().GetFval(); v != nil {
			number = v.Fval
		} else if v := n.GetAConst().GetIval(); v != nil {
			number = strconv.Itoa(int(v.Ival))
		}
		if call := name + "(" + number + ") WITHIN GROUP (ORDER BY " + column + ")"; !slices.Contains(out, call) && len(out) < 3 {
			out = append(out, call)
		}
	}
	if len(list.Elements) > len(out) {
		out = append(out, "...")
	}
	return strings.Join(out, ", ")
}
