package planner

import (
	"math/big"
	"slices"

	"github.com/discreet-dp/discreet/internal/planner/expr"
	"github.com/discreet-dp/discreet/internal/planner/syntax"
	"github.com/discreet-dp/discreet/internal/planner/tree"
)

// statDraft is a Stat whose measures are still named by their spelling.
type statDraft struct {
	tree.Stat
	measure, count, square string
	at                     *big.Rat // of a quantile
	of                     string   // what an average or a variance is of, spelled
}

// same reports whether two drafts are released as one.
func (d statDraft) same(e statDraft) bool {
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
	stats     []statDraft
	measures  map[string]tree.Measure
	quantiles map[string]*quantiles
	known     bool // what some aggregate comes to was known, and is not released
}

func newReleases(e *env) *releases {
	return &releases{calculator: e.calculator, measures: map[string]tree.Measure{}, quantiles: map[string]*quantiles{}}
}

// add returns the index of what is released, which is released once however often it is named.
func (rel *releases) add(d statDraft) int {
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

func (rel *releases) addNumber(m tree.Measure) int {
	return rel.add(statDraft{Stat: tree.Stat{Kind: tree.MeasureStat, Of: m.Arg, Typ: releasedNumber(m.Step())}, measure: rel.addMeasure(m)})
}

// addVariance adds VARIANCE and its relatives. The squares are taken around the middle of the
// bounds, where they are smallest.
func (agg *aggregator) addVariance(arg tree.Expr, name string, pos int32) (int, error) {
	d := statDraft{Stat: tree.Stat{Kind: tree.VarianceStat, Of: arg, Typ: expr.ReleasedReal}}
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
	if expr.MaxAbs(square.Type()).Cmp(maxRowSteps) > 0 {
		return 0, syntax.Refuse(syntax.OutOfRange, pos,
			"ask the owner for narrower bounds or a coarser granularity, or round the column first",
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
	d.square = agg.out.addMeasure(agg.scaled(m))
	return agg.out.add(d), nil
}

// maxPersonSteps is how many steps one person's sum may have at most. With more, the noise, which
// is at least as large, would be drawn in steps that nobody can see: values are rounded to a
// coarser lattice first, each by itself. What that changes is a two-thousand-millionth of what the
// noise does.
var maxPersonSteps = big.NewInt(1 << 31)

func (agg *aggregator) sum(arg tree.Expr, pos int32) (tree.Measure, error) {
	t := arg.Type()
	reach := tree.Times(agg.in.rows.PersonRows(), expr.MaxAbs(t))
	if reach.Cmp(maxPersonSteps) <= 0 {
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
			tree.Times(agg.in.rows.PersonRows(), expr.MaxAbs(u)).Cmp(maxPersonSteps) <= 0 {
			return tree.Measure{Kind: tree.Sum, Arg: rounded}, nil
		}
	}
	return tree.Measure{Kind: tree.Sum, Arg: arg}, nil
}

// severalRows reports whether somebody may have several rows in a group, of which not all count.
func (agg *aggregator) severalRows() bool { return agg.groups.allowedRows(agg.in.rows) > 1 }

// scaled is a sum that is divided by a count: all rows of a person have a part in it.
func (agg *aggregator) scaled(m tree.Measure) tree.Measure {
	switch {
	case !agg.severalRows():
	case expr.Nullable(m.Arg):
		m.Scaled = tree.ByValues
	default:
		m.Scaled = tree.ByRows
	}
	return m
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

// sumWithin is the measure of SUM, with the bound on what one person adds to a group where there
// is one that is below what the rows that count can come to. Averages and variances have none: they
// add up distances from the middle of the bounds.
func (agg *aggregator) sumWithin(arg tree.Expr, pos int32) (tree.Measure, error) {
	limit := agg.maxSum(arg)
	if limit == nil {
		return agg.sum(arg, pos)
	}
	// A sum that the bound keeps short is not rounded.
	m := tree.Measure{Kind: tree.Sum, Arg: arg}
	if stepsOf(limit, m).Cmp(maxPersonSteps) > 0 {
		var err error
		if m, err = agg.sum(arg, pos); err != nil {
			return m, err
		}
	}
	most := stepsOf(limit, m)
	if most.Sign() == 0 {
		return m, syntax.Refuse(syntax.BadValue, pos, "set dp.max_sum to "+tree.Describe(expr.NewNumber(m.Step()))+" or more",
			"with at most %s for each person, nobody adds anything to this sum: its values are multiples of %s",
			tree.Describe(expr.NewNumber(limit)), tree.Describe(expr.NewNumber(m.Step())))
	}
	if most.Cmp(tree.Times(agg.groups.rowLimit(agg.in.rows), expr.MaxAbs(m.Arg.Type()))) < 0 {
		m.Most = most
		return m, nil
	}
	return agg.sum(arg, pos)
}

// stepsOf is how many steps of a measure are within a limit.
func stepsOf(limit *big.Rat, m tree.Measure) *big.Int {
	steps := new(big.Rat).Quo(limit, m.Step())
	return new(big.Int).Quo(steps.Num(), steps.Denom())
}

// maxSum is what one person adds at most to a sum of an expression in one group: the least of what
// the analyst and, of a column of the policy, the owner have said; nil where nobody has.
func (agg *aggregator) maxSum(arg tree.Expr) *big.Rat {
	limit := agg.in.env.options.MaxSum
	if c, ok := arg.(*tree.Case); ok && len(c.Whens) == 1 { // SUM(x) FILTER (WHERE ...)
		if none, null := c.Else.(*tree.Literal); null && none.IsNullLiteral() {
			arg = c.Whens[0].Then
		}
	}
	if c, ok := arg.(*tree.Column); ok && c.Field.Source != nil && c.Field.Public == "" {
		if own := c.Field.Source.MaxSum; own != nil && (limit == nil || own.Cmp(limit) < 0) {
			limit = own
		}
	}
	return limit
}

// quantiles are all quantiles of one expression, which are released together.
type quantiles struct {
	arg tree.Expr
	at  []*big.Rat
}

func (agg *aggregator) addQuantile(arg tree.Expr, at *big.Rat, note string, pos int32) (int, error) {
	if _, _, ok := tree.QuantileRange(arg); !ok {
		return 0, syntax.Refuse(syntax.Private, pos, "ask the owner to add bounds: [lowest, highest] to the column in the policy",
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
		return 0, syntax.Refuse(syntax.TooComplex, pos, "ask for fewer at a time", "the question asks for more than %d quantiles of one "+
			"expression", maxQuantiles)
	}
	typ := tree.Type{Kind: arg.Type().Kind}
	if t := arg.Type(); t.Kind == tree.Number {
		typ = releasedNumber(t.Step)
	}
	return agg.out.add(statDraft{Stat: tree.Stat{Kind: tree.QuantileStat, Of: arg, Note: note, Typ: typ}, measure: name, at: at}), nil
}

const maxQuantiles = 100
