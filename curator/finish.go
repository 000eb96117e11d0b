package curator

import (
	"encoding/json"
	"math/big"
	"slices"
	"strconv"

	"github.com/discreet-dp/discreet/mech"
	"github.com/discreet-dp/discreet/plan"
	"github.com/discreet-dp/discreet/policy"
)

// row is a row before it is shown: the value of every output, and its error.
type row struct {
	values []plan.Value
	errors []float64
}

// finish makes the answer from noisy integers. It is post-processing: it sees
// nothing else.
func (p *priced) finish(noisy [][]int64) *Answer {
	q := p.plan
	rows := make([]row, 0, q.Query.Groups())
	halves := p.halfWidths()
	for g := range q.Query.Groups() {
		r := p.row(noisy, halves, g)
		if q.Having == nil || plan.Eval(q.Having, r.leaf) == true {
			rows = append(rows, r)
		}
	}
	if len(q.Order) > 0 {
		slices.SortStableFunc(rows, func(a, b row) int { return q.Compare(a.leaf, b.leaf) })
	}
	rows = rows[min(q.Offset, int64(len(rows))):]
	if q.Limit != nil && *q.Limit < int64(len(rows)) {
		rows = rows[:*q.Limit]
	}
	a := &Answer{MaxRows: q.Query.MaxRows(), MaxGroups: q.Query.MaxGroups(), Cut: q.Query.Table.UnitKind == policy.Many}
	for _, o := range q.Outputs[:q.Visible] {
		a.Columns = append(a.Columns, column(o))
	}
	for _, r := range rows {
		values, errs := make([]any, q.Visible), make([]*float64, q.Visible)
		for i, o := range q.Outputs[:q.Visible] {
			values[i] = show(r.values[i], o)
			if o.Kind != plan.KeyOutput {
				errs[i] = &r.errors[i]
			}
		}
		a.Rows, a.Errors = append(a.Rows, values), append(a.Errors, errs)
	}
	return a
}

func (r row) leaf(e plan.Expr) plan.Value { return r.values[e.(*plan.Released).Output] }

// halfWidth is the error bar of a measure, alone and as one of the two parts of an average,
// each of which may fail with half the probability.
type halfWidth struct{ alone, half int64 }

func (p *priced) halfWidths() []halfWidth {
	out := make([]halfWidth, len(p.noise))
	for i, m := range p.noise {
		out[i] = halfWidth{m.HalfWidth(1 - Confidence), m.HalfWidth((1 - Confidence) / 2)}
	}
	return out
}

// row computes the outputs of a group.
func (p *priced) row(noisy [][]int64, halves []halfWidth, g int) row {
	outputs := p.plan.Outputs
	r := row{make([]plan.Value, len(outputs)), make([]float64, len(outputs))}
	keys := p.plan.Query.Group(g)
	for i, o := range outputs {
		switch o.Kind {
		case plan.KeyOutput:
			r.values[i] = keyValue(keys[o.Key])
		case plan.MeasureOutput:
			r.values[i] = big.NewInt(noisy[o.Measure][g])
			r.errors[i] = scaled(big.NewInt(halves[o.Measure].alone), p.plan.Query.Measures[o.Measure].Step())
		case plan.AverageOutput:
			sum := mech.Noisy{Value: noisy[o.Measure][g], HalfWidth: halves[o.Measure].half}
			count := mech.Noisy{Value: noisy[o.Count][g], HalfWidth: halves[o.Count].half}
			r.values[i], r.errors[i] = p.average(o, sum, count)
		}
	}
	return r
}

// average divides a noisy sum by a noisy count. The sum was taken around a
// center, in steps; the mean lies between the bounds of what was summed.
func (p *priced) average(o plan.Output, sum, count mech.Noisy) (mean, half float64) {
	m := p.plan.Query.Measures[o.Measure]
	lo, _ := new(big.Float).SetInt(m.Arg.Type().Lo).Float64()
	hi, _ := new(big.Float).SetInt(m.Arg.Type().Hi).Float64()
	mean, half = mech.RatioInterval(sum, count, lo, hi)
	center, _ := new(big.Float).SetInt(o.Center).Float64()
	// A step is a fraction such as 1/100, and 0.725 is 14.5/20 and not 14.5 times 0.05.
	num, _ := new(big.Float).SetInt(m.Step().Num()).Float64()
	den, _ := new(big.Float).SetInt(m.Step().Denom()).Float64()
	return (mean + center) * num / den, half * num / den
}

func scaled(n *big.Int, step *big.Rat) float64 {
	f, _ := new(big.Rat).Mul(new(big.Rat).SetInt(n), step).Float64()
	return f
}

func keyValue(v policy.Value) plan.Value {
	switch {
	case v.Null:
		return nil
	case v.Type == policy.Text:
		return v.Text
	case v.Type == policy.Boolean:
		return v.Bool()
	case v.Type == policy.Date:
		return plan.Day(v.Int)
	case v.Type == policy.Timestamp:
		return plan.Moment(v.Int)
	}
	return big.NewInt(v.Int)
}

func column(o plan.Output) Column {
	c := Column{Name: o.Name, Noisy: o.Kind != plan.KeyOutput, Decimals: -1}
	if o.Type().Kind == plan.Number {
		c.Decimals = decimals(o.Type().Step)
	}
	return c
}

// show turns a value into what an answer holds.
func show(v plan.Value, o plan.Output) any {
	switch v := v.(type) {
	case *big.Int:
		x := new(big.Rat).Mul(new(big.Rat).SetInt(v), o.Type().Step)
		return json.Number(x.FloatString(decimals(o.Type().Step)))
	case float64:
		return json.Number(strconv.FormatFloat(v, 'g', -1, 64))
	case plan.Day:
		return v.String()
	case plan.Moment:
		return v.String()
	}
	return v
}

// decimals returns how many digits after the point multiples of a step need, at
// most 12: a step of a third has no end.
func decimals(step *big.Rat) int {
	x := new(big.Rat).Set(step)
	for n := range 12 {
		if x.IsInt() {
			return n
		}
		x.Mul(x, big.NewRat(10, 1))
	}
	return 12
}
