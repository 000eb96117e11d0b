package curator

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/curator/pricing"
	"github.com/discreet-dp/discreet/internal/curator/profile"
	"github.com/discreet-dp/discreet/internal/planner"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/policy"
)

// limits are those of a question that chooses them, or has named them.
//
// They are chosen from a noisy count of people by how many rows each has in the question, which is
// a question itself ([planner.SpreadOf]): it is checked, priced, charged and kept like any other,
// and what is chosen from its answer is post-processing. Who asks has to ask it first, by itself,
// so that it leaves at its own time. Together the two cost at most what was offered for the one. Of
// a count that was paid for before, nothing is paid again, and the question has the whole price.
type limits struct {
	question api.Question  // with numbers for limits, or, where there is first, with the policy's
	first    *api.Question // has to be asked before; nil where nothing has to
	rest     dp.Amount     // what is left for the question then
	chooses  bool
}

// First returns the question that has to be asked before another one, because its limits are to be
// chosen from the answer, and that other one at what is left of its price. Where nothing has to be
// asked before, first is nil.
func (c *Curator) First(ctx context.Context, q api.Question) (first *api.Question, then api.Question, err error) {
	q, _, holdout := parse(q)
	if holdout {
		return nil, q, nil
	}
	l, err := c.chooseLimits(ctx, q)
	if err != nil || l.first == nil {
		return nil, q, err
	}
	q.Epsilon, q.Settings.Epsilon = l.rest, 0
	return l.first, q, nil
}

// MayChoose reports whether limits of a question may have to be chosen.
func (c *Curator) MayChoose(s api.Settings) bool {
	return s.ChoosesLimits() || slices.ContainsFunc(c.dataset.TableNames(), func(name string) bool { return c.dataset.Tables[name].Auto() })
}

func (c *Curator) chooseLimits(ctx context.Context, q api.Question) (*limits, error) {
	same := &limits{question: q}
	if q.Chosen != nil || !c.MayChoose(q.Settings) {
		return same, nil
	}
	statement, s, _, err := c.planner.prepare(ctx, q)
	if err != nil {
		return nil, err
	}
	byRows, byGroups := chosenBy(c.dataset, statement, s)
	l := &limits{question: q}
	for _, n := range []*int64{&l.question.Settings.MaxRows, &l.question.Settings.MaxGroups} {
		*n = max(*n, 0)
	}
	if statement.Empty || statement.Free() || !byRows && !byGroups {
		return l, nil
	}
	l.chooses = true
	switch {
	case s.Error != nil:
		return nil, api.Refuse("name a price with dp.epsilon, or set dp.max_rows and dp.max_groups to numbers",
			"dp.error finds a price for limits that are known, and these are chosen for a price")
	case q.Parts:
		return nil, api.Refuse("set dp.max_rows and dp.max_groups to numbers", "several servers would each choose limits of their own")
	}
	spread, err := planner.SpreadOf(c.dataset, textOf(q), statement, c.planner.Options(ctx, s))
	if err != nil {
		return nil, err
	}
	p, _, err := c.planner.prices(textOf(l.question).Key(), statement, l.settings(s))
	if err != nil {
		return nil, err
	}
	price := p.Epsilon
	half := p.Currency.Half(price)
	count := api.Question{Dataset: q.Dataset, Analyst: q.Analyst, SQL: spread.SQL, Epsilon: c.dataset.Budget.MinEpsilon, AsOf: q.AsOf,
		Alone: true, Settings: api.Settings{Stream: "off"}}
	answer, ok := c.remembered(ctx, count)
	if !ok {
		if half < c.dataset.Budget.MinEpsilon {
			return nil, api.Refuse("ask with a larger dp.epsilon, or set dp.max_rows and dp.max_groups to numbers",
				"half of the price pays for choosing the limits, and epsilon %v is less than a question costs here", half)
		}
		count.Epsilon, count.Free = half, q.Free
		l.first, l.rest = &count, half
		return l, nil
	}
	people, err := profile.ReadSpread(spread, answer)
	if err != nil {
		return nil, err
	}
	choose := func(price dp.Amount) (api.Question, error) {
		at := l.settings(s)
		at.Epsilon = price
		p, other, err := c.planner.prices(textOf(q).Key(), statement, at)
		if err != nil {
			return api.Question{}, err
		}
		noises := []profile.Noise{noiseOf(p)}
		if other != nil { // which of the two it will be depends on what is left by then, and limits do not
			noises = append(noises, noiseOf(other))
		}
		out := chosen(l.question, p, noises, spread, people, byRows, byGroups)
		if out.Chosen != nil && !spread.Groups && spread.Unit == nil {
			out.Chosen.People, err = profile.Read(answer)
		}
		return out, err
	}
	// What was paid for when the count was paid too is found before anything is paid anew.
	if half >= c.dataset.Budget.MinEpsilon {
		q, err := choose(half)
		if err != nil {
			return nil, err
		}
		q.Epsilon, q.Settings.Epsilon = half, 0
		if _, ok := c.remembered(ctx, q); ok {
			l.question = q
			return l, nil
		}
	}
	l.question, err = choose(price)
	return l, err
}

// settings are those of the question without limits that are to be chosen.
func (l *limits) settings(s api.Settings) api.Settings {
	s.MaxRows, s.MaxGroups = l.question.Settings.MaxRows, l.question.Settings.MaxGroups
	return s
}

// chosenBy reports which limits of a statement are to be chosen: those that the settings say, and
// where they say nothing those of tables of which the policy says so.
func chosenBy(ds *policy.Dataset, st *planner.Statement, s api.Settings) (rows, groups bool) {
	for _, p := range st.Plans {
		others := slices.ContainsFunc(p.Query.Measures, func(m tree.Measure) bool { return m.Kind != tree.CountPersons })
		if !p.Query.Bounded() || !others && p.Query.MaxGroups() == 1 {
			continue // no limit changes anything
		}
		for _, name := range pricing.Tables(p.Query.From) {
			t := ds.Tables[name]
			rows, groups = rows || s.MaxRows == api.Auto || s.MaxRows == 0 && t.AutoRows,
				groups || s.MaxGroups == api.Auto || s.MaxGroups == 0 && t.AutoGroups
		}
	}
	return rows, groups
}

// chosen is a question with the limits that have the least error at its price.
func chosen(
	q api.Question, p *pricing.Priced, noises []profile.Noise, spread *planner.Spread, people *profile.Spread, byRows, byGroups bool,
) api.Question {
	query := &p.Statement.Plans[0].Query
	rows, groups := profile.Limits(query.MaxRows()), profile.Limits(query.MaxGroups())
	if spread.Unit != nil {
		rows = profile.Limits(spread.Most)
		rows = slices.DeleteFunc(rows, func(n float64) bool { // less than a step of the sum
			return new(big.Rat).Mul(spread.Unit, new(big.Rat).SetFloat64(n)).Cmp(query.Measures[0].Step()) < 0
		})
	}
	if !byRows {
		rows = []float64{rows[len(rows)-1]}
	}
	if !byGroups || len(query.Keys) == 0 {
		groups = []float64{groups[len(groups)-1]}
	}
	of := max(query.Groups(), 1)
	if len(query.PrivateKeys()) > 0 {
		of *= int(query.MaxGroups())
	}
	best := people.Choose(noises[0], rows, groups, float64(of))
	for _, noise := range noises[1:] {
		if other := people.Choose(noise, rows, groups, float64(of)); other.Error < best.Error {
			best = other
		}
	}
	if !best.Told {
		best.Rows, best.Groups = rows[0], groups[0]
	}
	var named []string
	switch {
	case !byRows:
	case spread.Unit != nil:
		q.Settings.MaxSum = new(big.Rat).Mul(spread.Unit, new(big.Rat).SetFloat64(best.Rows))
		shown, _ := q.Settings.Show("dp.max_sum")
		named = append(named, "max_sum "+shown)
	default:
		q.Settings.MaxRows = int64(best.Rows)
		named = append(named, fmt.Sprintf("max_rows %d", q.Settings.MaxRows))
	}
	if byGroups && query.MaxGroups() > 1 {
		q.Settings.MaxGroups = int64(best.Groups)
		named = append(named, fmt.Sprintf("max_groups %d", q.Settings.MaxGroups))
	}
	if len(named) == 0 {
		return q
	}
	what := "rows"
	if spread.Unit != nil {
		what = "sums"
	}
	q.Chosen = &api.LimitChoice{Limits: strings.Join(named, " and ") + " chosen for the least error, of noise and of what is cut",
		Share: fmt.Sprintf("about %s of the %s count", percentages(best.Least, best.Most), what)}
	if !best.Told {
		q.Chosen.Share = "at this price nobody could be told from the noise"
	}
	return q
}

func percentages(least, most float64) string {
	low, high := fmt.Sprintf("%.0f", 100*least), fmt.Sprintf("%.0f", 100*most)
	if low == high {
		return low + " %"
	}
	return low + " to " + high + " %"
}

// noiseOf is the noise of a question for one row of one person, from what it is at the limits that
// it was priced with: it is in proportion to what one person changes.
func noiseOf(p *pricing.Priced) profile.Noise {
	for _, b := range p.Purchases {
		for _, m := range p.Inquiry(b).Measures {
			if m.Sensitivity > 0 && m.Deviation > 0 && m.Norm != "each" {
				n := profile.Noise{Deviation: m.Deviation / m.Sensitivity, Gaussian: m.Norm == "l2"}
				if !n.Gaussian {
					n.Deviation *= math.Sqrt2 // of the Laplace distribution with that scale
				}
				return n
			}
		}
	}
	e, _ := p.Epsilon.Rat().Float64() // as for a count by itself
	return profile.Noise{Deviation: math.Sqrt2 / max(e, 1e-9)}
}

// explain says that there is a price and no error to choose; and where limits are not chosen yet,
// that nobody knows the error.
func (l *limits) explain(e *api.Explanation) {
	e.NoError = cmp.Or(e.NoError, "limits are chosen for a price")
	if l.first == nil {
		return
	}
	for i := range e.Questions {
		for j := range e.Questions[i].Measures {
			e.Questions[i].Measures[j].Error = nil
		}
	}
	e.Deadline = nil
	e.Limits = fmt.Sprintf("chosen first, from a count of people by how many rows they have, which takes epsilon %v of the price, once; "+
		"the noise above is that of the largest limits", l.first.Epsilon)
}
