package plan

import (
	"math/big"
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/internal/plan/expr"
	"github.com/discreet-dp/discreet/internal/plan/syntax"
	"github.com/discreet-dp/discreet/internal/plan/tree"
)

// draft is a Stat whose measures are still named by their spelling.
type draft struct {
	tree.Stat
	measure, count, square string
	at                     *big.Rat // of a quantile
	of                     string   // what an average or a variance is of, spelled
}

// same reports whether two drafts are released as one.
func (d draft) same(e draft) bool {
	if d.Kind != e.Kind {
		return false
	}
	switch d.Kind {
	case tree.KeyStat, tree.AbsentStat:
		return d.Key == e.Key
	case tree.GroupingStat:
		return d.Key == e.Key && d.Bits == e.Bits
	case tree.MeasureStat:
		return d.measure == e.measure
	case tree.QuantileStat:
		return d.measure == e.measure && d.at.Cmp(e.at) == 0 && d.Note == e.Note
	}
	return d.Sample == e.Sample && d.Root == e.Root && d.of == e.of
}

// releases is what a question releases, each once. Measures are named by their canonical spelling,
// and quantiles by what they are of.
type releases struct {
	calculator
	stats     []draft
	measures  map[string]tree.Measure
	quantiles map[string]*quantiles
}

// add returns the index of what is released, which is released once however often it is named.
func (rel *releases) add(d draft) int {
	if d.Kind == tree.AverageStat || d.Kind == tree.VarianceStat {
		d.of = rel.spell(d.Of)
	}
	if i := slices.IndexFunc(rel.stats, d.same); i >= 0 {
		return i
	}
	rel.stats = append(rel.stats, d)
	return len(rel.stats) - 1
}

func (rel *releases) addMeasure(m tree.Measure) string {
	name := rel.spellMeasure(m)
	if _, ok := rel.measures[name]; !ok {
		rel.measures[name] = m
	}
	return name
}

// measured adds a count or a sum.
func (rel *releases) addNumber(m tree.Measure) int {
	return rel.add(draft{Stat: tree.Stat{Kind: tree.MeasureStat, Of: m.Arg, Typ: releasedNumber(m.Step())}, measure: rel.addMeasure(m)})
}

// variance adds VARIANCE and its relatives. The squares are taken around the middle of the bounds,
// where they are smallest.
func (agg *aggregator) addVariance(arg tree.Expr, name string, pos int32) (int, error) {
	d := draft{Stat: tree.Stat{Kind: tree.VarianceStat, Of: arg, Typ: expr.ReleasedReal}}
	d.Sample = name != "var_pop" && name != "stddev_pop"
	d.Root = name[0] == 's'
	centered, center, err := agg.recenter(arg, pos)
	if err != nil {
		return 0, err
	}
	square, err := expr.NewArith(tree.Mul, centered, centered, pos)
	if err != nil {
		return 0, err
	}
	if expr.MaxAbs(square.Type()).Cmp(maxSteps) > 0 {
		return 0, syntax.Refuse(pos, "ask the owner for narrower bounds or a coarser granularity, or round the column first",
			"the squares of this %s could exceed 2^53 steps", name)
	}
	// A square is not negative, which interval arithmetic does not see.
	bounded := tree.NumberType(square.Type().Step, new(big.Int), square.Type().Hi, true)
	square = agg.in.env.normal(&tree.Arith{Op: tree.Mul, L: centered, R: centered, Typ: bounded})
	d.SquareCenter = center
	m, err := agg.sum(square, pos)
	if err != nil {
		return 0, err
	}
	d.square = agg.out.addMeasure(m)
	return agg.out.add(d), nil
}

// maxReach is how many steps one person's sum may have at most. With more, the noise, which is at
// least as large, would be drawn in steps that nobody can see: values are rounded to a coarser
// lattice first, each by itself. What that changes is a two-thousand-millionth of what the noise
// does.
var maxReach = big.NewInt(1 << 31)

// summed is the measure of a sum.
func (agg *aggregator) sum(arg tree.Expr, pos int32) (tree.Measure, error) {
	t := arg.Type()
	reach := tree.Times(agg.in.rows.PersonRows(), expr.MaxAbs(t))
	if reach.Cmp(maxReach) <= 0 {
		return tree.Measure{Kind: tree.Sum, Arg: arg}, nil
	}
	// The largest number of digits after the point, from the left of it on, at which the sum is
	// short enough.
	for digits := int64(12); digits > -19; digits-- {
		step := new(big.Rat).SetInt64(1)
		ten := new(big.Rat).SetInt64(10)
		for range max(digits, -digits) {
			if digits > 0 {
				step.Quo(step, ten)
			} else {
				step.Mul(step, ten)
			}
		}
		if step.Cmp(t.Step) <= 0 {
			continue
		}
		rounded, err := expr.Named("round", []tree.Expr{arg, expr.NewNumber(new(big.Rat).SetInt64(digits))}, pos)
		if err != nil {
			return tree.Measure{}, err
		}
		rounded = agg.in.env.normal(rounded)
		if u := rounded.Type(); u.Kind == tree.Number && expr.MaxAbs(u).Sign() > 0 &&
			tree.Times(agg.in.rows.PersonRows(), expr.MaxAbs(u)).Cmp(maxReach) <= 0 {
			return tree.Measure{Kind: tree.Sum, Arg: rounded}, nil
		}
	}
	return tree.Measure{Kind: tree.Sum, Arg: arg}, nil
}

// recenter moves an expression to the middle of its bounds, and says where that is.
func (agg *aggregator) recenter(arg tree.Expr, pos int32) (tree.Expr, *big.Int, error) {
	t := arg.Type()
	middle := new(big.Int).Add(t.Lo, t.Hi)
	middle.Rsh(middle, 1)
	if middle.Sign() == 0 {
		return arg, middle, nil
	}
	centered, err := expr.NewArith(tree.Sub, arg, expr.FromValue(middle, t), pos)
	if err != nil {
		return nil, nil, err
	}
	return agg.in.env.normal(centered), middle, nil
}

// placeSum decides which sum an average or a variance is made of. Where the question has the
// plain sum anyway it is used, and nothing more is paid for. Otherwise values
// are summed around the middle of their bounds, which halves the noise.
func (pl *placer) placeAverage(d *draft) error {
	if count := pl.aggregates.countValues(d.Of); pl.people != nil && pl.countsEverybody(count) {
		d.People = pl.people
	} else if !pl.twins {
		d.count = pl.out.addMeasure(count)
	}
	plain, err := pl.aggregates.sum(d.Of, -1)
	if err != nil {
		return err
	}
	d.Center = new(big.Int)
	if pl.twins {
		return pl.placeTwins(d)
	}
	if _, ok := pl.out.measures[plain.Format()]; ok {
		d.measure = plain.Format()
		return nil
	}
	centered, center, err := pl.aggregates.recenter(d.Of, -1)
	if err != nil {
		return err
	}
	m, err := pl.aggregates.sum(centered, -1)
	if err != nil {
		return err
	}
	d.measure, d.Center = pl.out.addMeasure(m), center
	return nil
}

// interval reads dp_low(x), dp_high(x) and dp_error(x) of an aggregate.
func (ar *answerReader) readInterval(f *pg.FuncCall, part tree.ReleasedPart) (tree.Expr, error) {
	if len(f.Args) != 1 || f.Args[0].GetFuncCall() == nil || f.AggStar {
		return nil, syntax.Refuse(f.Location, "write for example dp_error(COUNT(*))", "%s takes one aggregate", functionName(f))
	}
	i, err := ar.aggregates.read(f.Args[0].GetFuncCall())
	if err != nil {
		return nil, err
	}
	typ := ar.out.stats[i].Typ
	if part == tree.PartError && (typ.Kind == tree.Date || typ.Kind == tree.Timestamp) {
		typ = releasedNumber(tree.One)
	}
	return &tree.Released{Stat: i, Part: part, Typ: typ}, nil
}

var intervals = map[string]tree.ReleasedPart{"dp_low": tree.PartLow, "dp_high": tree.PartHigh, "dp_error": tree.PartError}
