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
	"github.com/discreet-dp/discreet/internal/curator/answercache"
	"github.com/discreet-dp/discreet/internal/curator/pricing"
	"github.com/discreet-dp/discreet/internal/curator/profile"
	"github.com/discreet-dp/discreet/internal/planner"
	"github.com/discreet-dp/discreet/internal/planner/syntax"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/policy"
)

// limits are those of a question that chooses them, or has named them.
//
// They are chosen from a noisy count of people by how many rows each has in the question, which is
// a question itself ([planner.SpreadOf]): it is checked, priced, charged and kept like any other,
// and what is chosen from its answer is post-processing. Who asks has to ask it first, by itself,
// so that it leaves at its own time, and hands its answer on ([api.Question.Count]). Together the
// two cost at most what was offered for the one. Of a count that was paid for before, nothing is
// paid again, and the question has the whole price.
type limits struct {
	question api.Question  // with numbers for limits, or, where there is first, with the policy's
	first    *api.Question // has to be asked before; nil where nothing has to
	rest     dp.Amount     // what is left for the question then
	paid     bool          // the question has paid for first before, and is asked again
	chooses  bool

	settings api.Settings // without limits that are to be chosen
	byRows   bool
	byGroups bool
	spread   *planner.Spread
	priced   *pricing.Priced
	other    *pricing.Priced // with other noise, or nil
}

// First returns the question that has to be asked before another one, because its limits are to be
// chosen from the answer, and that other one at what is left of its price. Where nothing has to be
// asked before, first is nil. Who cannot pay for both pays for neither.
func (c *Curator) First(ctx context.Context, q api.Question) (first *api.Question, then api.Question, err error) {
	q, _, holdout := parse(q)
	if holdout {
		return nil, q, nil
	}
	l, err := c.chooseLimits(ctx, q)
	if err != nil || l.first == nil {
		return nil, q, err
	}
	if !l.paid {
		err := c.Unaffordable(ctx, q.Analyst, pricing.Cost(l.priced.Purchases))
		if err != nil && l.other != nil {
			err = c.Unaffordable(ctx, q.Analyst, pricing.Cost(l.other.Purchases))
		}
		if err != nil {
			return nil, q, err
		}
	}
	q.Epsilon, q.Settings.Epsilon, q.CountOf = l.rest, 0, l.first.SQL
	return l.first, q, nil
}

// MayChoose reports whether limits of a question may have to be chosen.
func (c *Curator) MayChoose(s api.Settings) bool {
	return s.ChoosesLimits() || slices.ContainsFunc(c.dataset.TableNames(), func(name string) bool { return c.dataset.Tables[name].Auto() })
}

// goodCount is which part of the price of a count is enough for another one to be taken in its
// place: who pays little decides nothing for those who pay much.
const goodCount = 4

func (c *Curator) chooseLimits(ctx context.Context, q api.Question) (*limits, error) {
	if q.Chosen != nil || !c.MayChoose(q.Settings) {
		return &limits{question: q}, nil
	}
	l, err := c.openLimits(ctx, q)
	if err != nil || !l.chooses {
		return l, err
	}
	price, least := l.priced.Epsilon, c.dataset.Budget.MinEpsilon
	if q.Count != nil {
		if q.CountOf != l.spread.SQL {
			return nil, api.ErrChanging // the policy has, and people are to be counted in another way
		}
		return l, c.choose(l, price, q.Count)
	}
	half := l.priced.Currency.Half(price)
	count := api.Question{Dataset: q.Dataset, Analyst: q.Analyst, SQL: l.spread.SQL, Epsilon: max(least, half/goodCount), AsOf: q.AsOf,
		Alone: true, Settings: api.Settings{Stream: "off"}}
	request := ""
	if q.Request != "" {
		request = "limits " + ledger.Hash(q.Request)
	}
	if l.paid, err = c.chargedBefore(ctx, q.Analyst, request); err != nil {
		return nil, err
	}
	var answer *api.Answer
	if !l.paid {
		answer, _ = c.remembered(ctx, count)
	}
	if answer == nil {
		if half < least {
			return nil, syntax.Refuse(syntax.BadValue, -1, "ask with a larger dp.epsilon, or set dp.max_rows and dp.max_groups to numbers",
				"half of the price pays for choosing the limits, and epsilon %v is less than a question costs here", half)
		}
		count.Epsilon, count.Request = half, request
		l.first, l.rest = &count, half
		return l, nil
	}
	// What was paid for when the count was paid too is found before anything is paid anew.
	if count.Epsilon = half; half >= least {
		at := *l
		if own, ok := c.remembered(ctx, count); ok && c.paidWith(ctx, count, own) {
			if err := c.choose(&at, half, own); err != nil {
				return nil, err
			}
			at.question.Epsilon, at.question.Settings.Epsilon = half, 0
			if _, ok := c.remembered(ctx, at.question); ok {
				return &at, nil
			}
		}
	}
	return l, c.choose(l, price, answer)
}

// openLimits finds out whether a question chooses limits, and from what.
func (c *Curator) openLimits(ctx context.Context, q api.Question) (*limits, error) {
	statement, s, _, err := c.planner.prepare(ctx, q)
	if err != nil {
		return nil, err
	}
	l := &limits{question: q}
	l.byRows, l.byGroups = chosenBy(c.dataset, statement, s)
	for _, n := range []*int64{&l.question.Settings.MaxRows, &l.question.Settings.MaxGroups} {
		*n = max(*n, 0)
	}
	if statement.Empty || statement.Free() || !l.byRows && !l.byGroups {
		return l, nil
	}
	l.chooses = true
	switch {
	case s.Error != nil:
		return nil, syntax.Refuse(syntax.BadValue, -1, "name a price with dp.epsilon, or set dp.max_rows and dp.max_groups to numbers",
			"dp.error finds a price for limits that are known, and these are chosen for a price")
	case q.Parts:
		return nil, syntax.Refuse(syntax.Unsupported, -1, "set dp.max_rows and dp.max_groups to numbers",
			"several servers would each choose limits of their own")
	}
	if l.spread, err = planner.SpreadOf(c.dataset, textOf(q), statement, c.planner.Options(ctx, s)); err != nil {
		return nil, err
	}
	l.settings = s
	l.settings.MaxRows, l.settings.MaxGroups = l.question.Settings.MaxRows, l.question.Settings.MaxGroups
	l.priced, l.other, err = c.planner.prices(textOf(l.question).Key(), statement, l.settings)
	return l, err
}

// chargedBefore reports whether an analyst was charged under a request.
func (c *Curator) chargedBefore(ctx context.Context, analyst, request string) (bool, error) {
	if request == "" {
		return false, nil
	}
	charge, _, _, err := c.ledger.Request(ctx, request)
	return charge != nil && charge.Analyst == analyst && charge.Dataset == c.dataset.Name, err
}

// paidWith reports whether the answer to a count was paid for at the price that the count names,
// and is not made of a dearer one: whether it is as noisy as that.
func (c *Curator) paidWith(ctx context.Context, count api.Question, answer *api.Answer) bool {
	a, err := c.newRequest(ctx, count, answercache.Horizon{AsOf: count.AsOf, Spoken: true})
	if err != nil {
		return false
	}
	defer a.close()
	for _, p := range []*pricing.Priced{a.Priced, a.other} {
		if p == nil || len(answer.Errors) == 0 {
			continue
		}
		b, own := p.Purchases[0], answer.Errors[0][len(answer.Columns)-1]
		if own != nil && *own == pricing.Scaled(big.NewInt(b.Noise[0].HalfWidth(p.Beta())), b.Query.Measures[0].Step()) {
			return true
		}
	}
	return false
}

// choose sets the limits for a price, from the answer to the count.
func (c *Curator) choose(l *limits, price dp.Amount, count *api.Answer) error {
	people, err := profile.ReadSpread(l.spread, count)
	if err != nil {
		return err
	}
	at := l.settings
	at.Epsilon = price
	p, other, err := c.planner.prices(textOf(l.question).Key(), l.priced.Statement, at)
	if err != nil {
		return err
	}
	noises := []profile.Noise{noiseOf(p)}
	if other != nil { // which of the two it will be depends on what is left by then, and limits do not
		noises = append(noises, noiseOf(other))
	}
	l.question = chosen(l.question, p, noises, l.spread, people, l.byRows, l.byGroups)
	if l.question.Chosen == nil {
		return nil
	}
	from := &counted{spread: people, of: l.spread}
	l.question.Chosen.Version, l.question.Chosen.People = count.Version.Number, from
	// Only where there are no groups has the count all of a person's rows.
	if l.spread.Unit == nil && len(p.Statement.Plans[0].Query.Keys) == 0 {
		from.profile, err = profile.Read(count)
	}
	return err
}

// counted is what limits were chosen from: people by what they have in the question.
type counted struct {
	spread  *profile.Spread
	of      *planner.Spread
	profile *profile.Profile // nil where there are groups, or sums
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
		Share: fmt.Sprintf("about %s of the %s count, as far as people can be told from the noise", percentages(best.Least, best.Most),
			what)}
	if best.Above {
		q.Chosen.Share = fmt.Sprintf("at most %.0f %% of the %s count: people may have many times the largest limit", 100*best.Most, what)
	}
	if !best.Told {
		q.Chosen.Share = "at this price nobody could be told from the noise, so that it is not known how much counts"
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
		e.Questions[i].Averages = nil
	}
	e.Deadline = nil
	e.Limits = fmt.Sprintf("chosen first, from a count of people by how many rows they have, which takes epsilon %v of the price, once; "+
		"the noise above is that of the largest limits", l.first.Epsilon)
}
