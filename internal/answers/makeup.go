package answers

import (
	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/plan/expr"
	"github.com/discreet-dp/discreet/internal/plan/tree"
	"github.com/discreet-dp/discreet/internal/pricing"
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
	for i, c := range f.columns() {
		column := api.MakeupOfColumn{Name: c.Name, Kind: c.Kind, Type: c.Type, Decimals: c.Decimals}
		s, ok := f.stat(i)
		if !ok {
			return &api.Makeup{Apart: f.columnName(i) + " is computed from noisy numbers, and what is computed from each server's " +
				"does not add up", Instead: "ask for keys, counts, sums and averages alone, and compute with what comes back"}
		}
		switch s.Kind {
		case tree.KeyStat:
			if shown[s.Key] {
				return &api.Makeup{Apart: f.columnName(i) + " is a key that another column has already", Instead: "name it once"}
			}
			shown[s.Key] = true
			if column.Of, column.Values = api.OfKey, f.keyValues(i, s.Key); repeats(column.Values) {
				return &api.Makeup{Apart: "some keys look the same as " + f.columnName(i) + ", so that nobody can tell which rows belong " +
					"together", Instead: "leave out the cast"}
			}
		case tree.PeopleStat:
			column.Of, column.Step = api.OfCount, "1"
		case tree.AverageStat:
			column.Of = api.OfAverage
		case tree.MeasureStat:
			m := one.Query.Measures[s.Measure]
			if m.Kind == tree.CountDistinct {
				return &api.Makeup{Apart: f.columnName(i) + " counts different values, and one that several servers have is one value",
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
			return &api.Makeup{Apart: f.columnName(i) + " is a variance, and those of several servers do not add up",
				Instead: "ask for COUNT(x), SUM(x) and SUM(x * x), and compute it from what comes back"}
		default:
			return &api.Makeup{Apart: f.columnName(i) + " is a quantile (as MIN, MAX and medians are), and those of several servers " +
				"say nothing about that of all", Instead: "ask for counts: how many there are below some values"}
		}
		out.Columns = append(out.Columns, column)
	}
	if len(shown) < len(one.Query.Keys) {
		return &api.Makeup{Apart: "it groups by a key that it does not show, so that nobody can tell which rows belong together",
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
		return &api.Makeup{Apart: "it is a query around answers, and what is computed from each server's noisy numbers does not add up",
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
		return "its keys are private: one that too few people have at a server is not shown there, so totals would be too small by " +
			"nobody knows what", "group by keys that all servers list, or leave GROUP BY out"
	case len(one.Running) > 0:
		return "it has running totals, whose noise is not that of one number", "ask for the groups, and add them up"
	case len(one.Within) > 0:
		return "another noisy answer chooses its rows, at each server others", "ask for all rows, and choose from what comes back"
	case one.Having != nil:
		return "HAVING leaves out rows by each server's own noisy numbers", "leave it out, and choose from what comes back"
	case one.Limit != nil || one.Offset > 0:
		return "LIMIT and OFFSET leave out rows, at each server others", "leave them out, and choose from what comes back"
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
