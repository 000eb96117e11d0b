package answers

import (
	"context"
	"math"
	"math/big"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp/mech"
	"github.com/discreet-dp/discreet/internal/curator/pricing"
	"github.com/discreet-dp/discreet/internal/planner/expr"
	"github.com/discreet-dp/discreet/internal/planner/tree"
)

// Makeup says of what the answer to a question would be made, or why it cannot be put together with
// answers of other servers. It needs nothing that was released.
//
// What can be put together is what adds up: counts and sums, whose noises are independent at
// different servers, and averages, which are made of two of these. Everything that was decided at
// one server by its own noisy numbers cannot be undone: which rows or keys are shown, and what was
// computed from them.
func Makeup(p *pricing.Priced) *api.Makeup {
	st := p.Statement
	if st.Free() || st.Outer != nil || len(st.Plans) != 1 {
		return aside(st.Free(), st.Outer != nil)
	}
	one := st.Plans[0]
	if apart, instead := decided(one); apart != "" {
		return &api.Makeup{Apart: apart, Instead: instead}
	}
	f := &finisher{plan: one, buy: p.Purchases[p.AnsweredBy[0]]}
	out := &api.Makeup{}
	shown := map[int]bool{}
	for i, c := range announced(st, f.columns()) {
		column := api.MakeupOfColumn{Name: c.Name, Kind: c.Kind, Type: c.Type, Decimals: c.Decimals}
		s, ok := f.stat(i)
		if !ok {
			return &api.Makeup{Apart: f.columnName(i) + " is computed from noisy numbers, and the results of several servers do not " +
				"add up", Instead: "ask only for keys, counts, sums and averages, and compute with what comes back"}
		}
		switch s.Kind {
		case tree.KeyStat:
			if shown[s.Key] {
				return &api.Makeup{Apart: f.columnName(i) + " is a key that another column has already", Instead: "name it once"}
			}
			shown[s.Key] = true
			if column.Of, column.Values = api.OfKey, f.keyValues(i, s.Key); repeats(column.Values) {
				return &api.Makeup{Apart: "some keys look the same in " + f.columnName(i) + ", so nobody can tell which rows belong " +
					"together", Instead: "leave out the cast"}
			}
		case tree.PeopleStat:
			column.Of, column.Step = api.OfCount, "1"
		case tree.AverageStat:
			column.Of = api.OfAverage
		case tree.MeasureStat:
			m := one.Query.Measures[s.Measure]
			if m.Kind == tree.CountDistinct {
				return &api.Makeup{Apart: f.columnName(i) + " counts different values, and a value that several servers have is " +
					"still one value",
					Instead: "ask each server by itself"}
			}
			column.Of, column.Step = api.OfSum, m.Step().RatString()
			if m.Counts() {
				column.Of = api.OfCount
			}
			if n, ok := described(f.buy.Noise[s.Measure].Mechanism, 1); ok {
				column.Noise = n.Noise
			}
		case tree.VarianceStat:
			return &api.Makeup{Apart: f.columnName(i) + " is a variance, and the variances of several servers do not add up",
				Instead: "ask for COUNT(x), SUM(x) and SUM(x * x), and compute it from what comes back"}
		default:
			return &api.Makeup{Apart: f.columnName(i) + " is a quantile (as MIN, MAX and medians are), and the quantiles of several " +
				"servers do not give that of all", Instead: "ask for counts: how many there are below some values"}
		}
		out.Columns = append(out.Columns, column)
	}
	if len(shown) < len(one.Query.Keys) {
		return &api.Makeup{Apart: "it groups by a key that it does not show, so nobody can tell which rows belong together",
			Instead: "name all keys of GROUP BY among the columns"}
	}
	return out
}

// aside is the makeup of what is no single noisy question.
func aside(free, around bool) *api.Makeup {
	switch {
	case free:
		return &api.Makeup{Apart: "it has no noisy number in it", Instead: "ask each server by itself; it is free"}
	case around:
		return &api.Makeup{Apart: "it is a query around answers, and what each server computes from its noisy numbers does not add up",
			Instead: "ask for the answers inside, and compute with what comes back"}
	}
	return &api.Makeup{Apart: "it has several grouping sets or answers, whose numbers are made to agree at each server",
		Instead: "ask for each GROUP BY by itself"}
}

// decided says what of a question each server would decide by its own noisy numbers.
func decided(one *tree.Plan) (apart, instead string) {
	keysOnly := true
	for _, o := range one.Order {
		tree.Walk(o.By, func(x tree.Expr) {
			if r, ok := x.(*tree.Released); ok && one.Stats[r.Stat].Kind != tree.KeyStat {
				keysOnly = false
			}
		})
	}
	switch {
	case one.Query.Choice != nil:
		return "it asks for the best groups, and the best of all need not be among the best of each server",
			"ask for all groups with their counts, and choose from what comes back"
	case len(one.Query.PrivateKeys()) > 0:
		return "its keys are private: a key that too few people have at a server is not shown there, so totals would be too small by " +
			"an unknown amount", "group by keys that all servers list, or leave GROUP BY out"
	case len(one.Running) > 0:
		return "it has running totals, whose noise is not that of one number", "ask for the groups, and add them up"
	case len(one.Within) > 0:
		return "another noisy answer chooses its rows, and at each server it chooses others", "ask for all rows, and choose from " +
			"what comes back"
	case one.Having != nil:
		return "HAVING leaves out rows by each server's own noisy numbers", "leave it out, and choose from what comes back"
	case one.Limit != nil || one.Offset > 0:
		return "LIMIT and OFFSET leave out different rows at each server", "leave them out, and choose from what comes back"
	case one.Distinct:
		return "DISTINCT leaves out rows by each server's own noisy numbers", "leave it out"
	case !keysOnly:
		return "ORDER BY sorts by each server's own noisy numbers", "leave it out, or sort by keys; sort what comes back"
	}
	return "", ""
}

// stat is what a column is made of, where it is one value and nothing is computed from it.
func (f *finisher) stat(column int) (tree.Stat, bool) {
	r, ok := uncast(f.plan.Columns[column].Expr).(*tree.Released)
	if !ok || r.Part != tree.PartValue {
		return tree.Stat{}, false
	}
	return f.plan.Stats[r.Stat], true
}

// keyValues are those of a key, as the column shows them.
func (f *finisher) keyValues(column, key int) []any {
	k := f.plan.Query.Keys[key]
	out := make([]any, len(k.Values))
	for i, v := range k.Values {
		value := func(tree.Expr) tree.Value { return expr.FromKey(v, k.Expr.Type()) } // of the key, which is all that there is
		out[i] = show(expr.Eval(f.plan.Columns[column].Expr, value), f.plan.Columns[column])
	}
	return out
}

// repeats reports whether two values are shown alike.
func repeats(values []any) bool {
	seen := map[any]bool{}
	for _, v := range values {
		if seen[v] {
			return true
		}
		seen[v] = true
	}
	return false
}

// Parts are the noisy numbers that the values of an answer were made of, row by row as Finish shows
// them. They are what was released, so they are as public as the answer. It is nil where [Makeup]
// says that an answer cannot be put together with others.
func Parts(ctx context.Context, p *pricing.Priced, all []*Released) ([][]api.Part, error) {
	if Makeup(p).Apart != "" {
		return nil, nil
	}
	by := p.AnsweredBy[0]
	f := &finisher{plan: p.Statement.Plans[0], buy: p.Purchases[by], released: all[by], beta: p.Beta(), halves: map[half]int64{}}
	var out [][]api.Part
	if err := computeLaws(ctx, []*finisher{f}); err != nil {
		return nil, err
	}
	rows, err := shown(ctx, []*finisher{f})
	if err != nil {
		return nil, err
	}
	for _, r := range rows {
		parts := make([]api.Part, len(f.plan.Columns))
		for i := range parts {
			s, _ := f.stat(i)
			part, ok := r.taken(s)
			if !ok {
				return nil, nil
			}
			parts[i] = part
		}
		out = append(out, parts)
	}
	return out, nil
}

// taken is a value of a row, taken apart; nothing for a key. It fails where nobody can say what the
// noise is, as of what came through a stream.
func (r *row) taken(s tree.Stat) (api.Part, bool) {
	switch s.Kind {
	case tree.KeyStat:
		return api.Part{}, true
	case tree.PeopleStat:
		n := withoutNoise(*s.People)
		return api.Part{Sum: &n}, true
	case tree.MeasureStat:
		n, ok := r.number(s.Measure)
		return api.Part{Sum: &n}, ok
	}
	m := r.f.plan.Query.Measures[s.Measure]
	sum, ok := r.number(s.Measure)
	step, own := m.Step(), s.Of.Type().Step
	if s.Twin {
		own = step
	}
	center := new(big.Rat).Mul(new(big.Rat).SetInt(s.Center), own)
	// from is an end of the range that the distances from the center have.
	from := func(steps *big.Int) string {
		end := new(big.Rat).Mul(new(big.Rat).SetInt(steps), step)
		return end.Add(end, center).RatString()
	}
	out := api.Part{Sum: &sum, Center: center.RatString(), Low: from(m.Arg.Type().Lo), High: from(m.Arg.Type().Hi)}
	switch {
	case !ok:
		return api.Part{}, false
	case s.People != nil:
		n := withoutNoise(*s.People)
		out.Count = &n
	default:
		n, ok := r.number(s.Count)
		if !ok {
			return api.Part{}, false
		}
		if s.Twin {
			out.Below, out.Low = &n, out.Center
		} else {
			out.Count = &n
		}
	}
	return out, true
}

// number is a measure in a group, with the noise that is in it, which may be another purchase's.
func (r *row) number(measure int) (api.NoisyNumber, bool) {
	f := r.f
	if f.released.Halves != nil {
		return api.NoisyNumber{}, false
	}
	noise, cells := f.buy.Noise[measure], 1
	if f.released.Derived != 0 {
		noise, cells = f.released.Noise[measure], f.released.Cells[r.group]
	}
	out, ok := described(noise.Mechanism, cells)
	out.Value, out.Step = f.released.Measures[measure][r.group], f.plan.Query.Measures[measure].Step().RatString()
	if more := f.released.OffBy(measure); more > 0 {
		out.Off += more + 1 // of a normal, as what was averaged
	}
	return out, ok && out.Off >= 0
}

// described says what the sum of so many independent noises of one mechanism is. What was averaged
// or is one of many numbers that agree is within some steps of a normal, and a normal within one of
// discrete Gaussian noise ([mech.MarginalNoise]).
func described(m mech.Mechanism, cells int) (out api.NoisyNumber, ok bool) {
	name, off := "gaussian", int64(0)
	switch m := m.(type) {
	case *mech.Laplace:
		name = "laplace"
	case *mech.Gaussian:
	case *mech.AveragedNoise:
		off = m.ExtraSteps() + 1
	case *mech.MarginalNoise:
		reach, _ := m.Reach().Float64()
		if cells > 1 || reach > 1<<52 { // they are not independent
			return out, false
		}
		off = int64(math.Ceil(reach)) + 3
	default:
		return out, false
	}
	out.Noise = []api.Noises{{Mechanism: name, Parameter: m.Parameter().RatString(), Count: cells}}
	out.Off = off * int64(cells)
	return out, true
}

func withoutNoise(n int64) api.NoisyNumber { return api.NoisyNumber{Value: n, Step: "1"} }
