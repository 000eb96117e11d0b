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
