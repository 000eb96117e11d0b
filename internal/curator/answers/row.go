package answers

import (
	"context"
	"encoding/json"
	"math"
	"math/big"
	"slices"
	"strconv"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp/mech"
	"github.com/discreet-dp/discreet/internal/curator/pricing"
	"github.com/discreet-dp/discreet/internal/engine/postquery"
	"github.com/discreet-dp/discreet/internal/planner"
	"github.com/discreet-dp/discreet/internal/planner/announce"
	"github.com/discreet-dp/discreet/internal/planner/expr"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/policy"
)

// finisher makes rows of what was released.
type finisher struct {
	plan     *tree.Plan
	buy      *pricing.Purchase
	released *Released
	beta     float64
	halves   map[half]int64
	ratios   map[ratio]*mech.RatioNoise // see computeLaws
	known    []bar                      // see bars
	among    map[int]*members           // the answers that come after this one, by their first plan
	// nonnegative says that counts below 0 are 0.
	nonnegative bool
}

// half is the half width of a measure that is one of so many parts: each of them may be outside
// with an equal part of beta. It is that of as many noises as cells were summed.
type half struct{ measure, parts, cells int }

// ratio is what an average is made of, as one of so many parts. Without a noisy count, count is -1.
type ratio struct{ measure, count, parts int }

// groups is how many rows there are before HAVING.
func (f *finisher) groups() int {
	if f.buy.Query.Choice != nil {
		return len(f.released.Chosen)
	}
	if len(f.buy.Query.PrivateKeys()) > 0 {
		return len(f.released.Keys) * f.buy.Query.Groups()
	}
	return f.buy.Query.Groups()
}

// row is a group before it is shown.
type row struct {
	f      *finisher
	group  int // its place in the noisy vectors
	values []tree.Value
	order  []tree.Value // what ORDER BY compares
}

// row computes the stats of a group.
func (f *finisher) row(i int) *row {
	r := &row{f: f, group: i, values: make([]tree.Value, len(f.plan.Stats))}
	if f.buy.Query.Choice != nil {
		r.group = f.released.Chosen[i]
	}
	keys := f.keys(r.group)
	for i, s := range f.plan.Stats {
		r.values[i] = r.value(s, keys)
	}
	return r
}

// keys are those of a group, the private ones last. Combinations of private keys stand in the order
// of the keys, and each has all groups of the public ones.
func (f *finisher) keys(group int) []policy.Value {
	q := f.buy.Query
	if len(q.PrivateKeys()) == 0 {
		return q.Group(group)
	}
	return append(q.Group(group%q.Groups()), f.released.Keys[group/q.Groups()]...)
}

func (r *row) value(s tree.Stat, keys []policy.Value) tree.Value {
	f := r.f
	switch s.Kind {
	case tree.KeyStat:
		return expr.FromKey(keys[s.Key], f.plan.Query.Keys[s.Key].Expr.Type())
	case tree.AbsentStat:
		return nil
	case tree.GroupingStat:
		return big.NewInt(s.Bits)
	case tree.PeopleStat:
		return big.NewInt(*s.People)
	}
	if f.buy.Query.Choice != nil {
		return nil // the score of a chosen group is not released
	}
	switch s.Kind {
	case tree.MeasureStat:
		n := f.released.Measures[s.Measure][r.group]
		if f.nonnegative && f.plan.Query.Measures[s.Measure].Counts() {
			// What is counted is never below 0, so 0 is no further from it than n, and the error
			// bar of n holds for 0 as well.
			n = max(n, 0)
		}
		return big.NewInt(n)
	case tree.AverageStat:
		return r.averageWith(s, withoutBar).estimate
	case tree.VarianceStat:
		return r.variance(s).estimate
	case tree.QuantileStat:
		v := f.released.Quantiles[s.Measure][r.group][s.Quantile]
		switch s.Type().Kind {
		case tree.Date:
			return tree.Day(v)
		case tree.Timestamp:
			return tree.Moment(v)
		}
		return big.NewInt(v)
	}
	return nil
}

// noisy is a measure in a group, with its half width as one of so many parts.
func (r *row) noisy(measure, parts int) mech.Noisy {
	return mech.Noisy{Value: r.f.released.Measures[measure][r.group], HalfWidth: r.f.halfWidth(measure, parts, r.group)}
}

// halfWidth is that of the noise that is in the numbers, which may be another purchase's.
func (f *finisher) halfWidth(measure, parts, group int) int64 {
	if f.released.Halves != nil { // which hold all at once, however many parts there are
		return f.released.Halves[measure][group]
	}
	n := f.noise(measure, group)
	h := half{measure, parts, n.Count}
	w, ok := f.halves[h]
	if !ok {
		w = n.HalfWidth(f.beta / float64(parts))
		f.halves[h] = w
	}
	return w
}

// noise is what is in the number of a group, which may be another purchase's.
func (f *finisher) noise(measure, group int) mech.NumberNoise {
	out := f.noiseOfOne(measure)
	if f.released.Derived != 0 {
		out.Count = f.released.Cells[group]
	}
	return out
}

// noiseOfOne is what is in the number of a group that was released by itself.
func (f *finisher) noiseOfOne(measure int) mech.NumberNoise {
	out := mech.NumberNoise{Mechanism: f.buy.Noise[measure].Mechanism, Count: 1, Off: f.released.OffBy(measure)}
	if f.released.Derived != 0 {
		out.Mechanism = f.released.Noise[measure].Mechanism
	}
	return out
}

// divisor is what an average or a variance divides by: a noisy count, or how many people there are,
// which is public and exact.
func (r *row) divisor(s tree.Stat, parts int) mech.Noisy {
	if s.People != nil {
		return mech.Noisy{Value: *s.People}
	}
	return r.noisy(s.Count, parts)
}

// mean is an average, where the exact one is, and how far from the estimate that can be.
type mean struct {
	estimate float64
	around   span
	half     float64
}

// average divides a noisy sum by a count. The sum was taken around a center, in steps; the mean
// lies between the bounds of what was summed.
func (r *row) average(s tree.Stat, parts int) mean { return r.averageWith(s, r.ratio(s, parts)) }

func (r *row) averageWith(s tree.Stat, noise *mech.RatioNoise) mean {
	m := r.f.plan.Query.Measures[s.Measure]
	lo, hi := float(m.Arg.Type().Lo), float(m.Arg.Type().Hi)
	sum := r.f.released.Measures[s.Measure][r.group]
	var estimate, from, to float64
	switch {
	case s.Twin:
		estimate, from, to = noise.Part(sum, r.f.released.Measures[s.Count][r.group], hi)
	case s.People != nil:
		estimate, from, to = noise.Ratio(sum, *s.People, lo, hi)
	default:
		estimate, from, to = noise.Ratio(sum, r.f.released.Measures[s.Count][r.group], lo, hi)
	}
	// A step is a fraction such as 1/100, and 0.725 is 14.5/20 and not 14.5 times 0.05.
	num, den := float(m.Step().Num()), float(m.Step().Denom())
	at := func(x float64) float64 { return (x + float(s.Center)) * num / den }
	if own := s.Of.Type().Step; !s.Twin && own.Cmp(m.Step()) != 0 { // the sum was rounded, and the center was not
		center := float(s.Center) * float(own.Num()) / float(own.Denom())
		at = func(x float64) float64 { return x*num/den + center }
	}
	return mean{at(estimate), span{at(from), at(to)}, max(estimate-from, to-estimate) * num / den}
}

// leaf gives the values of a row to an expression.
func (r *row) leaf(e tree.Expr) tree.Value {
	x := e.(*tree.Released)
	if x.Part == tree.PartValue {
		return r.values[x.Stat]
	}
	return r.part(x)
}

// part is an end of the interval of a value, or half of its width; NULL where the value has none.
func (r *row) part(x *tree.Released) tree.Value {
	s := r.f.plan.Stats[x.Stat]
	if s.Kind == tree.PeopleStat {
		if x.Part == tree.PartError {
			return new(big.Int)
		}
		return r.values[x.Stat]
	}
	if s.Kind == tree.MeasureStat && r.f.buy.Query.Choice == nil {
		v := r.noisy(s.Measure, 1)
		value, half := big.NewInt(v.Value), big.NewInt(v.HalfWidth)
		switch x.Part {
		case tree.PartLow:
			return value.Sub(value, half)
		case tree.PartHigh:
			return value.Add(value, half)
		}
		return half
	}
	v, ok := r.values[x.Stat].(float64)
	around, known := r.span(x.Stat, len(partsOf(s)))
	if !ok || !known {
		return nil
	}
	switch x.Part {
	case tree.PartLow:
		return around.lo
	case tree.PartHigh:
		return around.hi
	}
	return around.reach(v)
}

func float(n *big.Int) float64 {
	f, _ := new(big.Float).SetInt(n).Float64()
	return f
}

// Describe says which columns the answer to a statement has. It needs nothing that was released.
func (d Descriptions) Describe(ctx context.Context, st *planner.Statement) ([]api.Column, error) {
	if st.Rows != nil {
		return announced(st, rowColumns(st.Rows)), nil
	}
	around, err := d.CheckOuter(ctx, st)
	if err != nil {
		return nil, err
	}
	if around != nil {
		return slices.Clone(around.columns), nil
	}
	return announced(st, (&finisher{plan: st.Plans[0]}).columns()), nil
}

// rowColumns describes columns of tables, of which no row is shown: as the policy declares them,
// which is how the catalogue shows them.
func rowColumns(rows []tree.Output) []api.Column {
	out := []api.Column{}
	for _, o := range rows {
		c := describeColumn(o, bar{})
		if column, ok := o.Expr.(*tree.Column); ok && column.Field.Source != nil {
			own := announce.OfColumn(column.Field.Source)
			c.Kind, c.Type, c.Modifier = column.Field.Source.Type.String(), own.Name, own.Modifier
		}
		out = append(out, c)
	}
	return out
}

// columns describes the columns of the answer. It needs the plan and nothing that was released.
func (f *finisher) columns() []api.Column {
	var out []api.Column
	for _, o := range f.plan.Columns {
		c := describeColumn(o, f.bar(o.Expr))
		// A key has at most 64 bits, however wide the column's interval is.
		if r, ok := o.Expr.(*tree.Released); ok && o.Cast == "" && f.plan.Stats[r.Stat].Kind == tree.KeyStat && r.Typ.Integer() {
			c.Kind = postquery.Integer.String()
			c.Type = typeNames[c.Kind]
		}
		out = append(out, c)
	}
	return out
}

func describeColumn(o tree.Output, b bar) api.Column {
	c := api.Column{Name: o.Name, Kind: kindOf(o).String(), Noisy: b.noisy, Approximate: b.noisy && !b.alone, Decimals: -1}
	c.Bar = b.noisy && !b.unknown && slices.Contains([]string{"integer", "decimal", "real"}, c.Kind)
	c.Type = typeNames[c.Kind]
	if t := o.Expr.Type(); t.Kind == tree.Number {
		c.Decimals = pricing.Decimals(t.Step)
	}
	return c
}

// typeNames are PostgreSQL's types for values of a kind, where it has none for the expression.
var typeNames = map[string]string{"integer": "int8", "decimal": "numeric", "real": "float8", "text": "text", "boolean": "bool",
	"date": "date", "timestamp": "timestamp"}

// kindOf is the kind of a column.
func kindOf(o tree.Output) postquery.Kind {
	t := o.Expr.Type()
	switch t.Kind {
	case tree.Number:
		if o.Cast == "numeric" { // which divides in another way than whole numbers do
			return postquery.Decimal
		}
		// The interval of a noisy number is no promise, so what is computed of several is held in
		// decimals.
		if t.Integer() && !t.Wide() {
			return postquery.Integer
		}
		return postquery.Decimal
	case tree.Real:
		return postquery.Real
	case tree.Boolean:
		return postquery.Boolean
	case tree.Date:
		return postquery.Date
	case tree.Timestamp:
		return postquery.Timestamp
	}
	return postquery.Text
}

// show turns a value into what an answer holds. What is not finite is NULL, and zero has no sign.
func show(v tree.Value, o tree.Output) any {
	t := o.Expr.Type()
	switch v := v.(type) {
	case *big.Int:
		x := new(big.Rat).Mul(new(big.Rat).SetInt(v), t.Step)
		return json.Number(x.FloatString(pricing.Decimals(t.Step)))
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil
		}
		switch {
		case v == 0:
			return json.Number("0") // without the sign of a negative one
		case o.Cast == "numeric": // which has no exponents
			return json.Number(strconv.FormatFloat(v, 'f', -1, 64))
		case o.Cast == "float4":
			return json.Number(expr.SpellReal(v, 32))
		}
		return json.Number(expr.SpellReal(v, 64))
	case tree.Day:
		return v.String()
	case tree.Moment:
		return v.String()
	}
	return v
}
