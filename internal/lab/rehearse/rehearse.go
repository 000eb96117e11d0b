package rehearse

import (
	"context"
	"errors"
	"io"
	"math"
	"math/big"
	"slices"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/curator/budgets"
	"github.com/discreet-dp/discreet/internal/curator/pricing"
	"github.com/discreet-dp/discreet/internal/engine"
	"github.com/discreet-dp/discreet/internal/ledger/memledger"
	"github.com/discreet-dp/discreet/internal/planner/syntax"
	"github.com/discreet-dp/discreet/policy"
	"github.com/discreet-dp/discreet/store"
)

// Rehearsal is a dataset to rehearse questions on. One question at a time is asked of it.
type Rehearsal struct {
	asked     world // as the policy says, for one analyst who has all of the budget
	unlimited world // where only bounds cut
	exact     world // where nothing does
	budget    dp.Amount
	auto      bool // questions choose their limits
	opened    []Engine
	tell      func(stage string)
}

// analyst is whom questions are drawn for: nobody of the policy.
const analyst = "rehearsal"

// endless is the epsilon of a budget that has enough for every question.
const endless = 100 * dp.One

// pinned is an engine whose data is taken to stay as it is meanwhile: nothing that is computed is
// kept.
type pinned struct {
	engine.Engine
	version store.Version
}

func (p pinned) Version(context.Context) (store.Version, error) { return p.version, nil }

// Engine is an engine that a rehearsal has opened.
type Engine interface {
	engine.Engine
	io.Closer
}

// New returns a rehearsal of questions to a dataset. It opens the data twice, once by bounds that
// nothing is beyond. Whatever takes long is told in words.
func New(ctx context.Context, ds *policy.Dataset, open func(context.Context, *policy.Dataset) (Engine, error), tell func(string)) (
	_ *Rehearsal, err error) {
	own := copied(ds)
	// What would be left of whose budget is not looked at: every question is the first.
	own.Budget.Renewal = policy.Renewal{}
	own.Groups, own.Streams, own.Holdouts = nil, nil, nil
	own.Analysts = map[string]*policy.Analyst{analyst: {Name: analyst, Share: big.NewRat(1, 1)}}
	r := &Rehearsal{asked: world{Dataset: own}, exact: world{Dataset: widest(own)}, budget: own.Budget.Epsilon, tell: tell}
	for _, t := range ds.Tables {
		r.auto = r.auto || t.Auto()
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, r.Close())
		}
	}()
	for _, w := range []*world{&r.asked, &r.exact} {
		tell("opening the data")
		e, err := open(ctx, w.Dataset)
		if err != nil {
			return nil, err
		}
		r.opened = append(r.opened, e)
		version, err := e.Version(ctx)
		if err != nil {
			return nil, err
		}
		w.engine = pinned{e, version}
	}
	return r, r.lift(ctx)
}

// Close closes the data.
func (r *Rehearsal) Close() error {
	var all []error
	for _, e := range r.opened {
		all = append(all, e.Close())
	}
	return errors.Join(all...)
}

// Report is what one question comes to. All of it is exact and private.
type Report struct {
	SQL     string    `json:"sql"`
	Skipped string    `json:"skipped,omitempty"` // why there are no figures
	Epsilon dp.Amount `json:"epsilon,omitempty"`
	Draws   int       `json:"draws,omitempty"`
	Cells   []Cell    `json:"cells,omitempty"`
	// Keys says how many rows an answer has, where that is not always the same number.
	Keys     *Keys     `json:"keys,omitempty"`
	Proposal *Proposal `json:"proposal,omitempty"`
	Notes    []string  `json:"notes,omitempty"`
}

// Cell is one number of an answer. What there is not is nil, such as an average of no rows.
type Cell struct {
	Group  []string `json:"group"`
	Column string   `json:"column"`
	Exact  *float64 `json:"exact"` // without limits and bounds
	Cut    *float64 `json:"cut"`   // with them
	// Bias is Cut less Exact: what limits cut, and then bounds.
	Bias     *float64 `json:"bias"`
	ByLimits *float64 `json:"by_limits"`
	ByBounds *float64 `json:"by_bounds"`
	Bar      *float64 `json:"error_bar"` // of noise, that answers have
	// Median and Most are how far answers are off in all: half of them by less than the first, and
	// 95 % by less than the second.
	Median *float64 `json:"median_error"`
	Most   *float64 `json:"error_95"`
}

// Keys is how many rows there are exactly, and how many answers leave out and have in excess. Cut
// are those that limits and bounds leave out by themselves.
type Keys struct {
	Exact    int `json:"exact"`
	Cut      int `json:"cut"`
	Dropped  int `json:"dropped"`
	Most     int `json:"dropped_95"`
	Invented int `json:"invented"`
}

// Rehearse draws a question so many times at a price; 0 stands for the policy's.
func (r *Rehearsal) Rehearse(ctx context.Context, sql string, epsilon dp.Amount, draws int) (*Report, error) {
	q, err := syntax.Bound(api.Question{Dataset: r.asked.Name, Analyst: analyst, SQL: sql, Epsilon: epsilon,
		Settings: api.Settings{Stream: "off"}})
	if err != nil {
		return nil, err
	}
	out := &Report{SQL: sql, Draws: draws}
	err = r.fill(ctx, out, q)
	if reason, ok := whyNot(err); ok {
		return &Report{SQL: sql, Skipped: reason}, nil
	}
	return out, err
}

func (r *Rehearsal) fill(ctx context.Context, out *Report, q api.Question) error {
	r.setBudget(r.budget)
	p, err := r.asked.price(ctx, q)
	if err != nil {
		return err
	}
	out.Epsilon = p.Epsilon
	enough, err := budgets.New(r.asked.Dataset, memledger.New()).Affords(ctx, analyst, pricing.Cost(p.Purchases))
	if err != nil {
		return err
	}
	if !enough {
		r.setBudget(endless)
		out.Notes = append(out.Notes, "the price is more than the whole budget, so nobody can ask it")
	}
	var views [3]*view
	for i, w := range []world{r.exact, r.unlimited, r.asked} {
		r.tell("computing exactly")
		views[i], err = w.look(ctx, q, false)
		var refused *api.Refusal
		switch {
		case errors.As(err, &refused): // the question itself was planned above
			return &inexact{"without limits and bounds it cannot be computed: " + refused.Reason}
		case err != nil:
			return err
		}
	}
	drawn, err := r.draw(ctx, q, views[0], noisyColumns(p.Statement.Plans[0]), out.Draws)
	if err != nil {
		return err
	}
	if out.compare(views, drawn); len(views[0].rows) > 0 && len(out.Cells) == 0 {
		return &inexact{"none of its columns is a number"}
	}
	for _, one := range p.Statement.Plans {
		public := func(name string) bool { return r.asked.Tables[name].Public }
		if slices.ContainsFunc(pricing.Tables(one.Query.From), public) {
			out.Notes = append(out.Notes, "limits of public tables are kept in the exact answer too")
			break
		}
	}
	if r.auto {
		out.Notes = append(out.Notes, "limits that are auto are shown at their largest; a question chooses smaller ones")
	}
	if views[0].rounded {
		out.Notes = append(out.Notes,
			"one person's sum may be so large that values are rounded before they are summed, in the exact answer too")
	}
	out.Proposal, err = r.propose(ctx, q, views[0])
	return err
}

// setBudget sets the epsilon of the budget that questions are paid from. It may decide the noise.
func (r *Rehearsal) setBudget(epsilon dp.Amount) {
	for _, w := range []world{r.asked, r.unlimited, r.exact} {
		w.Budget.Epsilon = epsilon
	}
}

// compare fills in the cells: views are those where nothing cuts, where only bounds do, and where
// all does.
func (out *Report) compare(views [3]*view, d *drawn) {
	exact, cut := views[0], views[2]
	k := &Keys{Exact: len(exact.rows), Dropped: int(*quantile(d.dropped, 0.5)), Most: int(*quantile(d.dropped, 0.95)),
		Invented: int(*quantile(d.invented, 0.5))}
	for _, key := range exact.order {
		if cut.rows[key] == nil {
			k.Cut++
		}
		for at, name := range exact.columns {
			c := Cell{Group: exact.rows[key].label, Column: name, Exact: exact.value(key, at), Cut: cut.value(key, at)}
			c.Bias = difference(c.Cut, c.Exact)
			c.ByBounds = difference(views[1].value(key, at), c.Exact)
			c.ByLimits = difference(c.Bias, c.ByBounds)
			if one := cut.rows[key]; one != nil {
				c.Bar = one.bars[at]
			}
			if off := d.off[key]; off != nil {
				c.Median, c.Most = quantile(off[at], 0.5), quantile(off[at], 0.95)
			}
			if c.Exact != nil || c.Cut != nil {
				out.Cells = append(out.Cells, c)
			}
		}
	}
	if k.Cut+k.Most+k.Invented > 0 {
		out.Keys = k
	}
}

func (v *view) value(key string, at int) *float64 {
	if one := v.rows[key]; one != nil {
		return one.values[at]
	}
	return nil
}

func difference(a, b *float64) *float64 {
	if a == nil || b == nil {
		return nil
	}
	d := *a - *b
	return &d
}

// quantile is the least number that a part of some is not above, or nil where there are none.
func quantile(all []float64, part float64) *float64 {
	if len(all) == 0 {
		return nil
	}
	slices.Sort(all)
	return &all[max(0, int(math.Ceil(part*float64(len(all))))-1)]
}
