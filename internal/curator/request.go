package curator

import (
	"context"
	"errors"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/answers"
	"github.com/discreet-dp/discreet/internal/interactive"
	"github.com/discreet-dp/discreet/internal/memory"
	"github.com/discreet-dp/discreet/internal/pace"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/plan/syntax"
	"github.com/discreet-dp/discreet/internal/pricing"
	"github.com/discreet-dp/discreet/internal/streamsession"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/policy"
)

// asking is a question on its way: checked and priced, then claimed by sources, and then released.
// Explain shows what Ask pays, so what is shown and what is charged are one number and not two that
// agree.
type asking struct {
	*pricing.Priced
	other     *pricing.Priced // the same question with other noise, where there is a choice
	c         *Curator
	shared    bool    // others may have the same plan
	otherPart float64 // of what is left, that the other noise would take; 0 where one was paid for
	question  api.Question
	horizon   memory.Horizon
	outer     *answers.OuterQuery
	data      interactive.Data
	routes    []*streamsession.Route // for each purchase, how a stream can answer it, or nil

	released []*answers.Released      // for each purchase; nil until it is there
	missed   []string                 // keys under which nothing was found
	own      own                      // the charge of the request, where it was made before
	charged  *charged                 // what this call was charged
	moved    bool                     // the data changed while it was computed
	diverted streamsession.Diversions // answered through streams, which charge for themselves
	bought   []*pricing.Purchase      // computed, with one charge
	bases    bases                    // what some of them are made of
	made     *api.Answer              // of all that was released, or nil: it is made by finish

	empty *plan.Statement // it has no rows whatever the data is: nothing else of the above is there

	paid    api.Receipt
	spent   dp.Cost // as an analyst reads it
	claimed dp.Cost // as it adds up
	alerts  []ledger.Alert
	uses    []api.Through
}

// newAsking does what costs nothing: it checks and prices a question, and opens the streams that
// could answer it.
func (c *Curator) newAsking(ctx context.Context, q api.Question, see memory.Horizon) (*asking, error) {
	if _, err := c.Protected(ctx); err != nil {
		return nil, err
	}
	statement, s, shared, err := c.check(ctx, q)
	if err != nil {
		return nil, err
	}
	if statement.Empty {
		return &asking{c: c, question: q, empty: statement, Priced: &pricing.Priced{Statement: statement, Settings: s}}, nil
	}
	p, other, err := c.prices(asked(q).Key(), statement, s)
	if err != nil {
		return nil, err
	}
	a := &asking{Priced: p, other: other, c: c, shared: shared, question: q, horizon: see, diverted: streamsession.Diversions{}}
	if a.outer, err = answers.CheckOuter(ctx, p.Statement); err != nil {
		return nil, err
	}
	if err := c.checkPublic(ctx, p.Statement.Tables); err != nil {
		return nil, err
	}
	if a.data, err = c.Data(ctx); err != nil {
		return nil, err
	}
	a.routes, err = c.Streams.Routes(ctx, p, a.data)
	return a, err
}

// close gives the streams back.
func (a *asking) close() { streamsession.CloseAll(a.routes) }

// keys name what nobody else may ask for at the same time.
func (a *asking) keys() []string {
	keys := make([]string, len(a.Purchases))
	for i, b := range a.Purchases {
		keys[i] = b.Key(a.data.ID)
		if r := a.routes[i]; r != nil && r.Fits(a.Priced, b) {
			keys = append(keys, r.Key)
		}
	}
	for _, b := range a.Purchases {
		// In whatever it is paid: whoever found a base that somebody else is using would be charged
		// for nothing.
		if family, ok := memory.Family(b, a.data.ID); ok {
			keys = append(keys, family)
		}
	}
	if a.other != nil { // which of the two it will be is found when nobody else asks it
		for _, b := range a.other.Purchases {
			keys = append(keys, b.Key(a.data.ID))
		}
	}
	return keys
}

// charge is what the purchases that are computed are charged with, and tags is that as an analyst
// reads it.
func (a *asking) charge() dp.Cost { return a.bases.cost(a.bought) }
func (a *asking) tags() dp.Cost {
	if len(a.bases.of) > 0 {
		return a.Currency.Read(a.charge())
	}
	return a.Tag(a.bought)
}

// most is what all of it comes to at most, as it adds up; pay is that as an analyst reads it.
func (a *asking) most() dp.Cost { return a.charge().Add(a.diverted.Most()) }
func (a *asking) pay() dp.Cost  { return a.Currency.Plus(a.tags(), a.diverted.Most()) }

// whole is the price of everything, with what was paid for before.
func (a *asking) whole() dp.Cost {
	return a.Currency.Plus(a.Tag(a.diverted.Others(a.Purchases)), a.diverted.Most())
}

// settled says that nothing is left to be paid or to be asked.
func (a *asking) settled() bool { return len(a.bought) == 0 && a.diverted.Known() }

// finish makes the answer of what was released, and says what was paid and what is left.
func (a *asking) finish(ctx context.Context) (*api.Answer, error) {
	remaining, err := a.c.Remaining(ctx, a.question.Analyst)
	if err != nil {
		return nil, err
	}
	out := a.made
	if out == nil {
		if out, err = a.make(ctx); err != nil {
			return nil, err
		}
	}
	if a.question.Parts {
		out.Parts = answers.Parts(a.Priced, a.released)
	}
	out.Receipt, out.Remaining, out.Cost, out.Alerts, out.Through = a.paid, remaining, a.spent, a.alerts, a.uses
	if n, ok := remaining.More(a.claimed); ok {
		out.More = &n
	}
	version, changed, err := a.c.access().NameData(ctx, a.data, a.paid.Sequence)
	if err != nil {
		return nil, err
	}
	out.Version, out.Notes = version, append(out.Notes, changed...)
	if a.moved {
		out.Notes = append(out.Notes, interactive.MovedNote)
	}
	if out.Receipt.Now = asked(a.question).Now(); out.Receipt.Now != "" {
		out.Notes = append(out.Notes, sayNow(out.Receipt.Now))
	}
	return out, nil
}

// make makes the answer of what was released.
func (a *asking) make(ctx context.Context) (out *api.Answer, err error) {
	if a.outer == nil {
		return answers.Finish(ctx, a.Priced, nil, a.released)
	}
	err = pace.Aside(ctx, func(ctx context.Context) error {
		out, err = answers.Finish(ctx, a.Priced, a.outer, a.released)
		return err
	})
	return out, err
}

// asked is the text of a question with its constants.
func asked(q api.Question) *syntax.Text { return syntax.Open(q.SQL, q.Parsed) }

// sayNow says that the time is a constant of the question, and how to ask it again.
func sayNow(now string) string {
	name, constant := clock(now)
	return name + " is " + constant + " in this question; with that in its place it is the same question again, and free"
}

// clock is what a question asks for that asks for the time, and the constant that this is.
func clock(now string) (name, constant string) {
	if len(now) == len("2006-01-02") {
		return "CURRENT_DATE", "DATE '" + now + "'"
	}
	return "now()", "TIMESTAMP '" + now + "'"
}

// checkPublic refuses public tables that are too large to stand beside answers.
func (c *Curator) checkPublic(ctx context.Context, tables []*policy.Table) error {
	rows := make([]int64, len(tables))
	for i, t := range tables {
		var err error
		if rows[i], err = c.engine.Most(ctx, t.Name, nil); err != nil {
			return err
		}
	}
	return answers.CheckPublic(tables, rows)
}

// readPublic reads the public tables that the query around answers names.
func (a *asking) readPublic(ctx context.Context) error {
	if len(a.Statement.Tables) > 0 {
		if err := a.c.recordProtected(ctx); err != nil {
			return err
		}
	}
	for i, t := range a.Statement.Tables {
		rows, err := a.c.engine.Rows(ctx, t.Name, answers.MaxPublicCells)
		if err != nil {
			return err
		}
		a.outer.Load(i, t, rows)
	}
	return nil
}

// prices prices a statement in every currency that the budget has: where there are two, the first
// is in epsilon and the other one in rho. One in which it cannot be asked is left out.
func (c *Curator) prices(text string, st *plan.Statement, s api.Settings) (p, other *pricing.Priced, err error) {
	for _, in := range pricing.Currencies(c.dataset.Budget, s) {
		next, failed := c.price(text, st, s, in)
		switch {
		case failed != nil:
			err = failed
		case p == nil:
			p = next
		default:
			other = next
		}
	}
	if p == nil {
		return nil, nil, err
	}
	if len(p.Purchases) == 0 || pricing.Cost(p.Purchases) == (dp.Cost{}) { // nothing is paid for
		other = nil
	}
	return p, other, nil
}

// choose takes one of two prices: one in which everything was paid for before, so that nothing is
// bought twice because the budget stands elsewhere by now, and else the sharper one. Where some of
// it was paid for the rest is what is to be sharp, so parts are compared as if all of it were
// bought. Everything that decides it is public: the prices, what was answered, and what is left.
func (a *asking) choose(ctx context.Context) error {
	found, err := a.c.memory.Recall(ctx, a.other, a.data.ID, a.horizon)
	if err != nil {
		return err
	}
	here, there := missing(a.Priced, a.released), missing(a.other, found.Released)
	take := len(there) == 0 && len(here) > 0
	if len(there) > 0 && len(here) > 0 {
		part, err := a.part(ctx, a.Priced, here)
		if err != nil {
			return err
		}
		otherPart, err := a.part(ctx, a.other, there)
		if err != nil {
			return err
		}
		take = !pricing.Sharper(a.Priced, a.other, part, otherPart)
		if a.otherPart = otherPart; take {
			a.otherPart = part
		}
	}
	if take {
		a.Priced, a.other = a.other, a.Priced
		a.take(found)
	}
	return nil
}

// part is the part of what is left that a question takes by what is missing of it, or would take if
// all of it were: infinite where that is not to be had.
func (a *asking) part(ctx context.Context, p *pricing.Priced, missing []*pricing.Purchase) (float64, error) {
	part, err := a.c.Takes(ctx, a.question.Analyst, pricing.Cost(missing))
	return part * float64(len(p.Purchases)) / float64(len(missing)), err
}

// missing are the purchases that were not paid for.
func missing(p *pricing.Priced, released []*answers.Released) []*pricing.Purchase {
	var out []*pricing.Purchase
	for i, b := range p.Purchases {
		if released[i] == nil && !b.Query.ListsKeys() {
			out = append(out, b)
		}
	}
	return out
}

// turned reports whether a request that is sent again was paid for with the other noise, and turns
// to that: where the budget stands by now is not what it was charged by. Nothing was charged yet.
func (a *asking) turned(ctx context.Context, err error) bool {
	var other *ledger.RequestError
	if a.other == nil || !errors.As(err, &other) {
		return false
	}
	found, failed := a.c.memory.Recall(ctx, a.other, a.data.ID, a.horizon)
	if failed != nil {
		return false
	}
	a.Priced, a.other = a.other, nil
	a.take(found)
	a.bought = missing(a.Priced, a.released)
	return len(a.bought) > 0 && len(a.diverted) == 0 && a.findBases(ctx) == nil
}
