package rehearse

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp/mech"
	"github.com/discreet-dp/discreet/internal/curator/answers"
	"github.com/discreet-dp/discreet/internal/curator/pricing"
	"github.com/discreet-dp/discreet/internal/engine"
	"github.com/discreet-dp/discreet/internal/planner"
	"github.com/discreet-dp/discreet/internal/planner/tree"
)

// view is an answer without noise, under some policy.
type view struct {
	plan *planner.Statement
	rows map[string]*row // by their keys
	// order are the keys as the answer has them, and columns the names of what is noisy.
	order   []string
	columns []string
	rounded bool // sums are of values that were rounded, because one person's could be so large
}

// row is what an answer says of one group: nil where it says nothing.
type row struct {
	key    string // tells it from other rows
	label  []string
	values []*float64 // of the columns with noise
	bars   []*float64 // the half widths that they have at the price
	// variances are those of the noise in the values, to first order, where they were looked for.
	variances []float64
}

// look computes a question under a policy, without noise. Where shown is true, private keys that so
// few people have that they are hardly shown are left out, as noise would.
func (w world) look(ctx context.Context, q api.Question, shown bool) (*view, error) {
	p, err := w.price(ctx, q)
	if err != nil {
		return nil, err
	}
	st := p.Statement
	noisy := noisyColumns(st.Plans[0])
	counts := showCounts(st)
	released := make([]*answers.Released, len(p.Purchases))
	for i, b := range p.Purchases {
		found, err := w.engine.Run(ctx, b.Query)
		if err != nil {
			return nil, err
		}
		released[i] = withoutNoise(b, found, shown)
	}
	finish := func(released []*answers.Released) (*view, error) {
		v := &view{plan: st, rows: map[string]*row{}, rounded: roundsValues(st)}
		a, err := answers.Finish(ctx, p, nil, released)
		if err != nil {
			return nil, err
		}
		return v, v.read(a, noisy, counts)
	}
	v, err := finish(released)
	if err != nil || !shown {
		return v, err
	}
	return v, v.addVariances(p.Purchases, released, finish)
}

// addVariances adds what the noise of each measure does to each value: it is moved by one standard
// deviation, and what comes of it is compared. An error bar would not do: that of an average is
// wider than need be.
func (v *view) addVariances(buys []*pricing.Purchase, released []*answers.Released, finish func([]*answers.Released) (*view, error)) error {
	for i, b := range buys {
		for j, n := range b.Noise {
			by := int64(math.Ceil(math.Sqrt(mech.Variance(n.Mechanism))))
			all, moved := slices.Clone(released), *released[i]
			moved.Measures = slices.Clone(moved.Measures)
			moved.Measures[j] = slices.Clone(moved.Measures[j])
			for k := range moved.Measures[j] {
				moved.Measures[j][k] += by
			}
			all[i] = &moved
			other, err := finish(all)
			if err != nil {
				return err
			}
			for key, one := range v.rows {
				for at := range one.values {
					if d := difference(other.value(key, at), one.values[at]); d != nil {
						one.variances[at] += *d * *d
					}
				}
			}
		}
	}
	return nil
}

// roundsValues reports whether a sum is of values that the planner has rounded.
func roundsValues(st *planner.Statement) bool {
	for _, p := range st.Plans {
		for _, s := range p.Stats {
			if m := p.Query.Measures; !s.Kind.Exact() && s.Of != nil && m[s.Measure].Kind == tree.Sum && s.Of.Type().Step != nil &&
				m[s.Measure].Step().Cmp(s.Of.Type().Step) > 0 {
				return true
			}
		}
	}
	return false
}

// counted is what an average of no rows is told by: its column, and those of the numbers that it is
// divided by, which are all 0 then.
type counted struct {
	column int
	by     []int
}

// showCounts adds columns to a statement that nobody else has: what averages and variances are
// divided by. An answer with noise has an average in every group, and the exact one has none where
// nobody is.
func showCounts(st *planner.Statement) (out []counted) {
	shown := len(st.Plans[0].Columns)
	for n, p := range st.Plans {
		for at, o := range p.Columns[:shown] {
			tree.Walk(o.Expr, func(e tree.Expr) {
				r, ok := e.(*tree.Released)
				if !ok || p.Stats[r.Stat].Kind != tree.AverageStat && p.Stats[r.Stat].Kind != tree.VarianceStat ||
					p.Stats[r.Stat].People != nil {
					return
				}
				measures := []int{p.Stats[r.Stat].Count}
				if p.Stats[r.Stat].Twin {
					measures = append(measures, p.Stats[r.Stat].Measure)
				}
				c := counted{column: at}
				for _, m := range measures {
					c.by = append(c.by, len(p.Columns))
					t := tree.NumberType(big.NewRat(1, 1), new(big.Int), big.NewInt(1<<40), false)
					p.Stats = append(p.Stats, tree.Stat{Kind: tree.MeasureStat, Measure: m, Typ: t})
					p.Columns = append(p.Columns, tree.Output{Expr: &tree.Released{Stat: len(p.Stats) - 1, Typ: t}})
				}
				if n == 0 {
					out = append(out, c)
				}
			})
		}
	}
	return out
}

// withoutNoise is what an engine has found, as if it had been released with noise 0.
func withoutNoise(b *pricing.Purchase, found *engine.Result, shown bool) *answers.Released {
	out, places, groups := &answers.Released{}, []int{0}, b.Query.Groups()
	if len(b.Query.PrivateKeys()) > 0 {
		people := found.Persons
		if i := b.Query.Decider(); i >= 0 {
			people = found.Measures[i]
		}
		places = places[:0]
		for i, n := range people.Open() {
			if !shown || b.Keys == nil || n >= b.Keys.KeptFrom() {
				places = append(places, i)
			}
		}
		out.Keys = found.Combos.Pick(places)
	}
	for _, m := range found.Measures {
		out.Measures = append(out.Measures, m.Pick(places, groups).Open())
	}
	return out
}

// read takes the numbers out of an answer.
func (v *view) read(a *api.Answer, noisy []bool, counts []counted) error {
	names := make([]string, len(noisy))
	for i := range noisy {
		names[i] = a.Columns[i].Name
	}
	for i, name := range labels(v.plan.Plans[0], names) {
		if noisy[i] {
			v.columns = append(v.columns, name)
		}
	}
	for i, values := range a.Rows {
		for _, c := range counts {
			if !slices.ContainsFunc(c.by, func(by int) bool { n := numberOf(values[by]); return n == nil || *n != 0 }) {
				values[c.column] = nil
			}
		}
		one := readRow(values[:len(noisy)], a.Errors[i], noisy)
		if v.rows[one.key] != nil {
			return &inexact{"its rows cannot be told apart; name in the SELECT what GROUP BY names, and GROUPING(...) of sets"}
		}
		v.rows[one.key], v.order = one, append(v.order, one.key)
	}
	return nil
}

// readRow separates the keys of a row from its noisy numbers.
func readRow(values []any, bars []*float64, noisy []bool) *row {
	out := &row{}
	for i, value := range values {
		if noisy[i] {
			out.values, out.bars = append(out.values, numberOf(value)), append(out.bars, bars[i])
			continue
		}
		text := "NULL"
		if value != nil {
			text = fmt.Sprint(value)
		}
		out.key, out.label = out.key+fmt.Sprintf("%#v ", value), append(out.label, text)
	}
	out.variances = make([]float64, len(out.values))
	return out
}

// noisyColumns says of each column of an answer whether noise is in it.
func noisyColumns(p *tree.Plan) []bool {
	var out []bool
	for _, o := range p.Columns {
		out = append(out, p.IsNoisy(o.Expr))
	}
	return out
}

// numberOf is a value of an answer as a number, or nil where it is none.
func numberOf(value any) *float64 {
	n, err := strconv.ParseFloat(fmt.Sprint(value), 64)
	if err != nil || value == nil {
		return nil
	}
	return &n
}
