package plan

import (
	"math/big"
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"
)

// draft is a Stat whose measures are still named by their spelling.
type draft struct {
	Stat
	measure, count, square string
	at                     *big.Rat // of a quantile
}

// same reports whether two drafts are released as one.
func (d draft) same(e draft) bool {
	if d.Kind != e.Kind {
		return false
	}
	switch d.Kind {
	case KeyStat:
		return d.Key == e.Key
	case MeasureStat:
		return d.measure == e.measure
	case QuantileStat:
		return d.measure == e.measure && d.at.Cmp(e.at) == 0 && d.Note == e.Note
	}
	return d.Sample == e.Sample && d.Root == e.Root && Format(d.Of) == Format(e.Of)
}

// add returns the index of what is released, which is released once however often it is named.
func (q *question) add(d draft) int {
	if i := slices.IndexFunc(q.stats, d.same); i >= 0 {
		return i
	}
	q.stats = append(q.stats, d)
	return len(q.stats) - 1
}

func (q *question) addMeasure(m Measure) string {
	name := m.Format()
	if _, ok := q.measures[name]; !ok {
		q.measures[name] = m
	}
	return name
}

// measured adds a count or a sum.
func (q *question) measured(m Measure) int {
	return q.add(draft{Stat: Stat{Kind: MeasureStat, Of: m.Arg, typ: releasedNumber(m.Step())}, measure: q.addMeasure(m)})
}

// variance adds VARIANCE and its relatives. The squares are taken around the middle of the bounds, where
// they are smallest.
func (q *question) variance(arg Expr, name string, pos int32) (int, error) {
	d := draft{Stat: Stat{Kind: VarianceStat, Of: arg, typ: releasedReal}}
	d.Sample = name != "var_pop" && name != "stddev_pop"
	d.Root = name[0] == 's'
	centered, center, err := around(arg, pos)
	if err != nil {
		return 0, err
	}
	square, err := newArith(Mul, centered, centered, pos)
	if err != nil {
		return 0, err
	}
	if maxAbs(square.Type()).Cmp(maxSteps) > 0 {
		return 0, refuse(pos, "ask the owner for narrower bounds or a coarser granularity, or round the column first", "the squares of this %s could exceed 2^53 steps", name)
	}
	// A square is not negative, which interval arithmetic does not see.
	bounded := numberType(square.Type().Step, new(big.Int), square.Type().Hi, true)
	square = normal(&Arith{Op: Mul, L: centered, R: centered, typ: bounded})
	d.SquareCenter = center
	m, err := q.summed(square, pos)
	if err != nil {
		return 0, err
	}
	d.square = q.addMeasure(m)
	return q.add(d), nil
}

// maxReach is how many steps one person's sum may have at most. With more, the noise, which is at least as large, would be
// drawn in steps that nobody can see: values are rounded to a coarser lattice first, each by itself. What that changes is a
// two-thousand-millionth of what the noise does.
var maxReach = big.NewInt(1 << 31)

// summed is the measure of a sum.
func (q *question) summed(arg Expr, pos int32) (Measure, error) {
	t := arg.Type()
	reach := times(q.rows.rows(), maxAbs(t))
	if reach.Cmp(maxReach) <= 0 {
		return Measure{Kind: Sum, Arg: arg}, nil
	}
	// The largest number of digits after the point, from the left of it on, at which the sum is short enough.
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
		rounded, err := functions["round"].build([]Expr{arg, newNumber(new(big.Rat).SetInt64(digits))}, pos)
		if err != nil {
			return Measure{}, err
		}
		rounded = normal(rounded)
		if u := rounded.Type(); u.Kind == Number && maxAbs(u).Sign() > 0 && times(q.rows.rows(), maxAbs(u)).Cmp(maxReach) <= 0 {
			return Measure{Kind: Sum, Arg: rounded}, nil
		}
	}
	return Measure{Kind: Sum, Arg: arg}, nil
}

// around moves an expression to the middle of its bounds, and says where that is.
func around(arg Expr, pos int32) (Expr, *big.Int, error) {
	t := arg.Type()
	middle := new(big.Int).Add(t.Lo, t.Hi)
	middle.Rsh(middle, 1)
	if middle.Sign() == 0 {
		return arg, middle, nil
	}
	centered, err := newArith(Sub, arg, fromValue(middle, t), pos)
	if err != nil {
		return nil, nil, err
	}
	return normal(centered), middle, nil
}

// placeSum decides which sum an average or a variance is made of. Where the question has the
// plain sum anyway it is used, and nothing more is paid for. Otherwise values
// are summed around the middle of their bounds, which halves the noise.
func (q *question) placeSum(d *draft) error {
	d.count = q.addMeasure(countValues(d.Of))
	plain, err := q.summed(d.Of, -1)
	if err != nil {
		return err
	}
	d.Center = new(big.Int)
	if _, ok := q.measures[plain.Format()]; ok {
		d.measure = plain.Format()
		return nil
	}
	centered, center, err := around(d.Of, -1)
	if err != nil {
		return err
	}
	m, err := q.summed(centered, -1)
	if err != nil {
		return err
	}
	d.measure, d.Center = q.addMeasure(m), center
	return nil
}

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

// interval reads dp_low(x), dp_high(x) and dp_error(x) of an aggregate.
func (q *question) interval(f *pg.FuncCall, part ReleasedPart) (Expr, error) {
	if len(f.Args) != 1 || f.Args[0].GetFuncCall() == nil || f.AggStar {
		return nil, refuse(f.Location, "write for example dp_error(COUNT(*))", "%s takes one aggregate", functionName(f))
	}
	i, err := q.aggregate(f.Args[0].GetFuncCall())
	if err != nil {
		return nil, err
	}
	typ := q.stats[i].typ
	if part == PartError && (typ.Kind == Date || typ.Kind == Timestamp) {
		typ = releasedNumber(one)
	}
	return &Released{Stat: i, Part: part, typ: typ}, nil
}

var intervals = map[string]ReleasedPart{"dp_low": PartLow, "dp_high": PartHigh, "dp_error": PartError}

// finish puts measures into their canonical order and connects stats to them.
func (q *question) finish(distinct bool) (*Plan, error) {
	p := &Plan{Columns: q.output, Having: q.restrict, Order: q.order, Limit: q.count, Offset: q.skip, Distinct: distinct}
	p.Query = Query{
		Dataset: q.dataset.Name, Neighbours: q.dataset.Neighbours, From: q.rows.Relation, Where: q.filter, Keys: q.keys,
		rows: atMost(q.rows.rows()), groups: atMost(q.rows.groups()),
	}
	if q.rows.Single() {
		p.Query.rows, p.Query.groups = 1, 1
	}
	if !slices.ContainsFunc(q.keys, func(k Key) bool { return !once(k.Expr) }) {
		p.Query.groups = 1
	}
	if m := q.options.MaxGroups; m != 0 {
		if m < 1 || m > p.Query.groups {
			return nil, refuse(-1, "set dp.max_groups to a number from 1 to what the policy allows here", "one person counts in at most %d groups of this question", p.Query.groups)
		}
		p.Query.groups = m
	}
	choice, err := q.choice(p)
	if err != nil {
		return nil, err
	}
	if choice {
		return p, nil
	}
	for i := range q.stats {
		if d := &q.stats[i]; d.Kind == AverageStat || d.Kind == VarianceStat {
			if err := q.placeSum(d); err != nil {
				return nil, err
			}
		}
	}
	for name, all := range q.quantiles {
		m := Measure{Kind: Quantile, Arg: all.arg, At: all.at}
		spelled := q.addMeasure(m)
		for i := range q.stats {
			if d := &q.stats[i]; d.Kind == QuantileStat && d.measure == name {
				d.measure = spelled
				d.Quantile, _ = slices.BinarySearchFunc(all.at, d.at, (*big.Rat).Cmp)
			}
		}
	}
	if len(q.measures) == 0 && len(p.Query.PrivateKeys()) == 0 {
		return nil, refuse(first(q.targets), "add an aggregate, as in COUNT(*)", "the question selects no aggregate")
	}
	if len(q.measures) > maxMeasures {
		return nil, refuse(first(q.targets), "ask for fewer at a time", "the question has more than %d aggregates", maxMeasures)
	}
	names := make([]string, 0, len(q.measures))
	for name := range q.measures {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		p.Query.Measures = append(p.Query.Measures, q.measures[name])
	}
	for _, d := range q.stats {
		for _, place := range []struct {
			of   string
			into *int
		}{{d.measure, &d.Stat.Measure}, {d.count, &d.Stat.Count}, {d.square, &d.Stat.Square}} {
			if i, ok := slices.BinarySearch(names, place.of); ok {
				*place.into = i
			}
		}
		p.Stats = append(p.Stats, d.Stat)
	}
	return p, provenTotal(&p.Query)
}

// maxMeasures bounds the aggregates of a question. They share its price, so far fewer make sense.
const maxMeasures = 200
