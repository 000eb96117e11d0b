package curator

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"slices"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/curator/answercache"
	"github.com/discreet-dp/discreet/internal/curator/answers"
	"github.com/discreet-dp/discreet/internal/curator/pricing"
	"github.com/discreet-dp/discreet/internal/curator/profile"
	"github.com/discreet-dp/discreet/internal/planner/syntax"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/policy"
)

// mostWhole is how many values of one answer get a second interval: each takes memory that nobody
// has counted before.
const mostWhole = 10_000

// profile returns the profile of a table where one was paid for on the data that is asked about.
func (a *request) profile(ctx context.Context, t *policy.Table) (*profile.Profile, bool) {
	if !profile.Of(t) {
		return nil, false
	}
	answer := a.profileAnswer(ctx, t, func() string { return profile.Question(t) })
	if answer == nil {
		return nil, false
	}
	p, err := profile.Read(answer)
	return p, err == nil
}

// profileAnswer returns the answer to a question of package profile, about a table or a column,
// where it was paid for on the data that is asked about. It costs nothing, waits for nothing and
// looks at nothing but what was kept.
func (a *request) profileAnswer(ctx context.Context, of any, sql func() string) *api.Answer {
	known, ok := a.c.profileTexts.Load(of)
	if !ok {
		known, _ = a.c.profileTexts.LoadOrStore(of, syntax.Open(sql(), nil))
	}
	text := known.(*syntax.Text)
	q := api.Question{Analyst: a.question.Analyst, SQL: text.SQL(), Parsed: text, Epsilon: a.c.dataset.Budget.MinEpsilon}
	statement, s, _, err := a.c.planner.prepare(ctx, q)
	if err != nil {
		return nil
	}
	p, other, err := a.c.planner.prices(text.Key(), statement, s)
	if err != nil {
		return nil
	}
	for _, p := range []*pricing.Priced{p, other} {
		if p == nil {
			continue
		}
		found, err := a.c.memory.Recall(ctx, p, a.data.ID, answercache.Horizon{AsOf: a.horizon.AsOf, Spoken: true, Sharpest: true})
		if err != nil || len(missing(p, found.Released)) > 0 {
			continue
		}
		if answer, err := answers.Finish(ctx, p, nil, found.Released); err == nil {
			return answer
		}
	}
	return nil
}

// sayCounted adds to an answer what the profile of its table says of what limits cut. It is made of
// what was released, and of nothing else.
func (a *request) sayCounted(ctx context.Context, out *api.Answer) {
	plans := a.Priced.Statement.Plans
	if i := slices.IndexFunc(plans, weighsPeople); out.Cut && i >= 0 {
		out.Notes = append(out.Notes, fmt.Sprintf("in averages, people with more rows than count (max_rows %d) weigh as if they had "+
			"no more", plans[i].Query.MaxRows()))
	}
	if a.outer != nil || len(plans) != 1 || a.moved {
		return
	}
	q := &plans[0].Query
	t, most, filtered := tableOf(q)
	if t == nil || asksOthers(q) {
		return
	}
	if !out.Cut {
		if a.Settings.Errors == api.ErrorWhole && !sumsAreLimited(plans[0]) {
			out.Whole = intervals(out)
		}
		return
	}
	// Limits that were chosen come from a profile of these very rows, and not of the whole table.
	var people *counted
	if chosen := a.question.Chosen; chosen != nil && chosen.Version == out.Version.Number {
		people, _ = chosen.People.(*counted)
	}
	if people != nil && people.profile == nil {
		if people.addWhole(plans[0], out); out.Whole != nil {
			return
		}
	}
	if sumsAreLimited(plans[0]) {
		return // what max_sum cuts, no count of rows tells
	}
	kept, error, known := keptRows(plans[0], out)
	if a.Settings.Counts != "" && len(out.Rows) > 1 {
		known = false // counts that noise made negative are 0, so that their sum is too large
	}
	var p *profile.Profile
	if people != nil {
		p = people.profile
	}
	everything, oneGroup := p != nil || !filtered && len(q.Keys) == 0, len(q.PrivateKeys()) == 0 && q.Groups() == 1
	if !everything && !known && !oneGroup {
		return
	}
	if p == nil {
		p, _ = a.profile(ctx, t)
	}
	if p == nil || len(p.Cells) == 0 {
		return
	}
	var cut profile.Range // how many rows are left out
	switch {
	case everything:
		s := p.Share(most)
		out.Counted = &api.Counted{Low: s.Low, About: s.About, High: s.High}
		cut = p.Cut(most)
	case known:
		rows := p.Rows()
		part := func(of, rows float64) float64 { return min(1, max(0, of/max(1, rows))) }
		out.Counted = &api.Counted{Low: part(kept-error, rows.High), About: part(kept, rows.About), High: 1, AtLeast: true}
		cut.High = max(0, rows.High-(kept-error))
	default:
		// A condition leaves out rows that were cut, and it may be all of these. Where there are
		// more groups than one, a person's rows in others are cut too, and a profile does not say
		// how many these are.
		cut.High = p.Cut(most).High
	}
	if out.Counted != nil && out.Counted.AtLeast && out.Counted.Low < 0.01 {
		out.Counted = nil // noise hides how much it is
	}
	if out.Counted != nil {
		out.Counted.Most = p.Most()
		out.Notes = append(out.Notes, sayShare(out.Counted, out.Limits))
	}
	addWhole(plans[0], out, rowsWithin(cut, allPeople(q)), fmt.Sprintf("nobody has more than %d rows", p.Most()))
	sayBeyond(out, p.Beyond)
}

// sayBeyond says how many people there can be of whom the condition does not hold under which what
// is cut is known.
func sayBeyond(out *api.Answer, people float64) {
	if n := math.Ceil(people); n >= 1 && (out.Counted != nil || out.Whole != nil) {
		out.Notes = append(out.Notes, fmt.Sprintf("up to %.0f people may have more than that, which is in no interval", n))
	}
}

// addWhole adds the intervals that include what limits cut, where these were chosen from people in
// groups, or from their sums.
func (c *counted) addWhole(p *tree.Plan, out *api.Answer) {
	q := &p.Query
	if len(q.Keys) > 0 && !c.of.Groups || len(q.Measures) == 0 || cutsBefore(q.From) {
		return // people may be in groups that the count knows nothing of, or were cut before it
	}
	limit, within := float64(q.MaxRows()), func(cut profile.Range) cutOf { return rowsWithin(cut, allPeople(q)) }
	if unit := c.of.Unit; unit != nil {
		m := q.Measures[0]
		limit = float64(c.of.Most)
		if m.Most != nil {
			limit, _ = new(big.Rat).Quo(new(big.Rat).Mul(new(big.Rat).SetInt(m.Most), m.Step()), unit).Float64()
		}
		size, _ := unit.Float64()
		within = func(cut profile.Range) cutOf {
			return func(m *tree.Measure) (low, high float64, known bool) {
				low, high = sumsWithin(m, size*cut.Low, size*cut.High)
				return low, high, true
			}
		}
	}
	cut, most, in, ok := c.spread.Cut(limit, float64(q.MaxGroups()), len(q.Keys) > 0)
	if !ok {
		return
	}
	what := "has more than " + c.of.Show(most) + " rows"
	if c.of.Unit != nil {
		what = "has a sum beyond " + c.of.Show(most)
	}
	known := "nobody " + what
	if c.of.Groups {
		known += fmt.Sprintf(" in a group, and nobody is in more than %.0f groups", in)
	}
	addWhole(p, out, within(cut), known)
	sayBeyond(out, c.spread.Beyond())
}

// cutsBefore reports whether rows of people are left out before they are grouped.
func cutsBefore(r tree.Relation) bool {
	switch r := r.(type) {
	case *tree.Cut:
		return true
	case *tree.Select:
		return cutsBefore(r.From)
	}
	return false
}

// weighsPeople reports whether people with more rows than count weigh less in an average than they
// do in SQL.
func weighsPeople(p *tree.Plan) bool {
	return slices.ContainsFunc(p.Query.Measures, func(m tree.Measure) bool { return m.Scaled != tree.Unscaled })
}

// sumsAreLimited reports whether what a person adds to a sum is limited by itself (max_sum).
func sumsAreLimited(p *tree.Plan) bool {
	return slices.ContainsFunc(p.Query.Measures, func(m tree.Measure) bool { return m.Most != nil })
}

// intervals are those of the error bars: where limits cut nothing, what is asked for is in them.
func intervals(a *api.Answer) [][]*api.Range {
	if len(a.Rows)*len(a.Columns) > mostWhole || len(a.Errors) != len(a.Rows) {
		return nil
	}
	out := make([][]*api.Range, len(a.Rows))
	for i, row := range a.Rows {
		out[i] = make([]*api.Range, len(row))
		for j, half := range a.Errors[i] {
			if v := number(row[j]); half != nil && !math.IsNaN(v) {
				out[i][j] = &api.Range{Low: v - *half, High: v + *half}
			}
		}
	}
	return out
}

// tableOf is the one table that a question reads, how many rows of a person count, and whether it
// leaves rows out by itself; nil where it joins tables, or reads them otherwise than row by row.
func tableOf(q *tree.Query) (t *policy.Table, most int64, filtered bool) {
	from, most, filtered := q.From, q.MaxRows(), q.Where != nil
	for {
		switch r := from.(type) {
		case *tree.Scan:
			return r.Table, most, filtered
		case *tree.Cut: // so that there is less work, and perhaps below max_rows
			from, most = r.From, min(most, r.Rows)
		case *tree.Select:
			from, filtered = r.From, filtered || r.Where != nil
		default:
			return nil, 0, false
		}
	}
}

// asksOthers reports whether what a row comes to depends on other rows, which limits may have cut
// too: it is not known then what it would be without.
func asksOthers(q *tree.Query) (found bool) {
	look := func(e tree.Expr) {
		if e != nil {
			tree.Walk(e, func(x tree.Expr) {
				_, ok := x.(*tree.Exists)
				found = found || ok
			})
		}
	}
	look(q.Where)
	for _, k := range q.Keys {
		look(k.Expr)
	}
	for _, m := range q.Measures {
		look(m.Arg)
	}
	for from := q.From; ; {
		switch r := from.(type) {
		case *tree.Cut:
			from = r.From
		case *tree.Select:
			look(r.Where)
			for _, e := range r.Columns {
				look(e)
			}
			from = r.From
		default:
			return found
		}
	}
}

// stat is what a column shows, where it shows a noisy count or sum as it is.
func stat(p *tree.Plan, column int) *tree.Measure {
	r, ok := p.Columns[column].Expr.(*tree.Released)
	if !ok || r.Part != tree.PartValue || p.Stats[r.Stat].Kind != tree.MeasureStat {
		return nil
	}
	return &p.Query.Measures[p.Stats[r.Stat].Measure]
}

// keptRows is how many rows count in all groups of an answer, and its error, where it counts them
// and shows all groups.
func keptRows(p *tree.Plan, a *api.Answer) (kept, error float64, known bool) {
	if p.Having != nil || p.Limit != nil || p.Offset > 0 || p.Distinct || len(p.Within) > 0 || p.Query.Choice != nil {
		return 0, 0, false
	}
	for j := range a.Columns {
		if m := stat(p, j); m == nil || m.Kind != tree.CountRows {
			continue
		}
		for i := range a.Rows {
			v, e := number(a.Rows[i][j]), a.Errors[i][j]
			if e == nil || math.IsNaN(v) {
				return 0, 0, false
			}
			kept, error = kept+v, error+*e**e
		}
		return kept, math.Sqrt(error), len(a.Rows) > 0
	}
	return 0, 0, false
}

// cutOf is between which numbers what limits leave out of a measure is; known is false where nobody
// knows.
type cutOf func(m *tree.Measure) (low, high float64, known bool)

// rowsWithin is what so many rows are: each can have been in any group, and adds to a count 0 or 1,
// and to a sum a value within the bounds. What max_sum cuts, no number of rows tells. All says that
// everybody of whom a row is asked for counts.
func rowsWithin(cut profile.Range, all bool) cutOf {
	return func(m *tree.Measure) (low, high float64, known bool) {
		low, high = 0, cut.High
		switch m.Kind {
		case tree.CountRows: // these were rows too
			low = cut.Low
		case tree.CountPersons:
			if all {
				high = 0
			}
		case tree.Sum:
			t := m.Arg.Type()
			low, high = cut.High*min(0, pricing.Scaled(t.Lo, t.Step)), cut.High*max(0, pricing.Scaled(t.Hi, t.Step))
		}
		return low, high, m.Most == nil
	}
}

// allPeople reports whether limits leave nobody out, but rows of people.
func allPeople(q *tree.Query) bool { return len(q.Keys) == 0 && !cutsBefore(q.From) }

// sumsWithin is what is cut of people's sums, which have the signs that values can have.
func sumsWithin(m *tree.Measure, low, high float64) (least, most float64) {
	switch t := m.Arg.Type(); {
	case t.Lo.Sign() >= 0:
		return low, high
	case t.Hi.Sign() <= 0:
		return -high, -low
	}
	return -high, high
}

// addWhole adds the intervals that include what limits cut, and says under which condition. What
// bounds cut is in none of them.
func addWhole(p *tree.Plan, a *api.Answer, cut cutOf, condition string) {
	if len(a.Rows)*len(a.Columns) > mostWhole {
		return
	}
	whole := make([][]*api.Range, len(a.Rows))
	some, sums := false, false
	const bounded = " and no value is beyond its bounds"
	for i := range a.Rows {
		whole[i] = make([]*api.Range, len(a.Columns))
		for j := range a.Columns {
			m, e := stat(p, j), a.Errors[i][j]
			v := number(a.Rows[i][j])
			if m == nil || e == nil || math.IsNaN(v) || m.Kind == tree.Quantile {
				continue
			}
			low, high, known := cut(m)
			if !known {
				continue
			}
			whole[i][j], some, sums = &api.Range{Low: v - *e + low, High: v + *e + high}, true, sums || m.Kind == tree.Sum
		}
	}
	if !some {
		return
	}
	a.Whole = whole
	if len(a.Rows) > 1 { // they stand beside each row
		if sums {
			condition += bounded
		}
		if sums || a.Counted == nil { // which has the rest of the condition
			a.Notes = append(a.Notes, "what is cut is known if "+condition)
		}
		return
	}
	for j, c := range a.Columns {
		if r := whole[0][j]; r != nil {
			low, high := r.Rough()
			text := fmt.Sprintf("%s is between %s and %s with what is cut, if %s", c.Name, low, high, condition)
			if stat(p, j).Kind == tree.Sum {
				text += bounded
			}
			a.Notes = append(a.Notes, text)
		}
	}
}

// number is a value that is shown; not a number where it is none.
func number(v any) float64 {
	n, _ := v.(json.Number)
	f, err := n.Float64()
	if err != nil {
		return math.NaN()
	}
	return f
}

// sayShare says how much counts, in one sentence.
func sayShare(c *api.Counted, l api.Limits) string {
	percent := func(f float64) string { return fmt.Sprintf("%.0f", 100*f) }
	limits := fmt.Sprintf("max_rows %d", l.MaxRows)
	if l.MaxGroups > 1 {
		limits += fmt.Sprintf(", max_groups %d", l.MaxGroups)
	}
	if !c.AtLeast && c.Low > 0.995 {
		return fmt.Sprintf("all rows count, if nobody has more than %d", c.Most)
	}
	share := fmt.Sprintf("about %s %% (%s to %s)", percent(c.About), percent(c.Low), percent(c.High))
	if c.AtLeast {
		share = "at least " + percent(c.Low) + " %"
	}
	return fmt.Sprintf("%s of the rows count (%s), if nobody has more than %d rows", share, limits, c.Most)
}
