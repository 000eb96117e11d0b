package curator

import (
	"context"
	"errors"
	"math"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/curator/answercache"
	"github.com/discreet-dp/discreet/internal/curator/answers"
	"github.com/discreet-dp/discreet/internal/curator/pricing"
	"github.com/discreet-dp/discreet/internal/planner/syntax"
	"github.com/discreet-dp/discreet/internal/releaseclock"
	"github.com/discreet-dp/discreet/internal/session/sessionhost"
	"github.com/discreet-dp/discreet/internal/session/streamsession"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/policy"
)

// request is a question on its way: checked and priced, then claimed by sources, and then released.
// Explain shows what Ask pays, so what is shown and what is charged are one number and not two that
// agree.
type request struct {
	*pricing.Priced
	other     *pricing.Priced // the same question with other noise, where there is a choice
	c         *Curator
	shared    bool    // others may have the same plan
	otherPart float64 // of what is left, that the other noise would take; 0 where one was paid for
	question  api.Question
	horizon   answercache.Horizon
	outer     *answers.OuterQuery
	data      sessionhost.Data
	routes    []*streamsession.Route // for each purchase, how a stream can answer it, or nil

	released []*answers.Released // for each purchase; nil until it is there
	missed   []string            // keys under which nothing was found
	own      ownCharge           // the charge of the request, where it was made before
	charged  *charged            // what this call was charged
	moved    bool                // the data changed while it was computed
	terms    terms
	bill     bill        // what is missing
	made     *api.Answer // of all that was released, or nil: it is made by finish

	empty *emptyRequest // it has no rows whatever the data is: nothing else of the above is there

	paid    api.Receipt
	spent   dp.Cost // as an analyst reads it
	claimed dp.Cost // as it adds up
	alerts  []ledger.Alert
	uses    []api.Through
}

// newRequest does what costs nothing: it checks and prices a question, and opens the streams that
// could answer it.
func (c *Curator) newRequest(ctx context.Context, q api.Question, see answercache.Horizon) (*request, error) {
	if _, err := c.Protected(ctx); err != nil {
		return nil, err
	}
	statement, s, shared, err := c.planner.prepare(ctx, q)
	if err != nil {
		return nil, err
	}
	if statement.Empty {
		return &request{empty: &emptyRequest{c, q, statement, s}}, nil
	}
	p, other, err := c.planner.prices(textOf(q).Key(), statement, s)
	if err != nil {
		return nil, err
	}
	a := &request{Priced: p, other: other, c: c, shared: shared, question: q, horizon: see,
		bill: bill{diverted: streamsession.Diversions{}}}
	if a.outer, err = c.planner.cache.around.CheckOuter(ctx, p.Statement); err != nil {
		return nil, err
	}
	if err := c.runner.checkPublic(ctx, p.Statement.Tables); err != nil {
		return nil, err
	}
	if a.data, err = c.states.Data(ctx); err != nil {
		return nil, err
	}
	a.routes, err = c.Streams.Routes(ctx, p, a.data)
	return a, err
}

func (a *request) close() { streamsession.CloseAll(a.routes) }

// keys name what nobody else may ask for at the same time.
func (a *request) keys() []string {
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
		if family, ok := answercache.Family(b, a.data.ID); ok {
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

// bill is what is to be paid for.
type bill struct {
	bought   []*pricing.Purchase      // computed, with one charge
	bases    bases                    // what some of them are made of
	diverted streamsession.Diversions // answered through streams, which charge for themselves
}

// cost is what the purchases that are computed are charged with, and tag is that as an analyst
// reads it.
func (b *bill) cost() dp.Cost { return b.bases.cost(b.bought) }
func (b *bill) tag(p *pricing.Priced) dp.Cost {
	if len(b.bases.of) > 0 {
		return p.Currency.Read(b.cost())
	}
	return p.Tag(b.bought)
}

// most is what all of it comes to at most, as it adds up; pay is that as an analyst reads it.
func (b *bill) most() dp.Cost                 { return b.cost().Add(b.diverted.Most()) }
func (b *bill) pay(p *pricing.Priced) dp.Cost { return p.Currency.Plus(b.tag(p), b.diverted.Most()) }

// whole is the price of everything, with what was paid for before.
func (b *bill) whole(p *pricing.Priced) dp.Cost {
	return p.Currency.Plus(p.Tag(b.diverted.Others(p.Purchases)), b.diverted.Most())
}

// settled says that nothing is left to be paid or to be asked.
func (b *bill) settled() bool { return len(b.bought) == 0 && b.diverted.Known() }

// finish makes the answer of what was released, and says what was paid and what is left.
func (a *request) finish(ctx context.Context) (*api.Answer, error) {
	window := a.data.Window
	if a.charged != nil && a.charged.receipt.Window > 0 {
		window = a.charged.receipt.Window
	}
	remaining, err := a.c.RemainingIn(ctx, a.question.Analyst, window, dp.Cost{})
	if err != nil {
		return nil, err
	}
	var changed []string
	out := a.made
	if out == nil {
		if out, err = a.make(ctx); err != nil {
			return nil, err
		}
	}
	if a.question.Parts {
		if out.Parts, err = answers.Parts(ctx, a.Priced, a.released); err != nil {
			return nil, err
		}
	}
	out.Receipt, out.Remaining, out.Cost, out.Alerts, out.Through = a.paid, remaining, a.spent, a.alerts, a.uses
	if n, ok := remaining.More(a.claimed); ok {
		out.More = &n
	}
	a.addCount(out)
	if out.Version, changed, err = a.nameData(ctx); err != nil {
		return nil, err
	}
	out.Notes = append(append(out.Notes, a.Statement.Unlisted()...), changed...)
	if a.moved {
		out.Notes = append(out.Notes, sessionhost.MovedNote)
	}
	if out.Receipt.Now = textOf(a.question).Now(); out.Receipt.Now != "" {
		out.Notes = append(out.Notes, sayNow(out.Receipt.Now))
	}
	a.sayCounted(ctx, out)
	a.sayBounds(ctx, out)
	if chosen := a.question.Chosen; chosen != nil {
		says := chosen.String()
		if out.Counted != nil && !out.Counted.AtLeast { // which says it better
			says = chosen.Limits
		}
		out.Notes = append(out.Notes, says)
	}
	return out, nil
}

// addCount adds to an answer's cost what was paid just before for the count that its limits were
// chosen from: the two were one offer. The next question like it pays as much, all for itself.
func (a *request) addCount(out *api.Answer) {
	count := a.question.Count
	if count == nil || count.Receipt.Free || a.paid.Free {
		return
	}
	// In the currency in which the offer was halved, which need not be the one that paid.
	out.Cost = pricing.Currencies(a.c.dataset.Budget, a.Settings)[0].Plus(a.spent, count.Cost)
	if n, ok := out.Remaining.Questions(out.Cost.Epsilon); ok && out.More != nil {
		*out.More = min(*out.More, n)
	}
}

// nameData says which data the answer is about. Of data that the last charge was about there is
// nothing new to know: the ledger refuses a charge where that has changed meanwhile.
func (a *request) nameData(ctx context.Context) (api.DataVersion, []string, error) {
	if a.data.Current && len(a.bill.diverted) == 0 {
		return api.DataVersion{Number: a.data.Number, Name: a.data.Label}, nil, nil
	}
	return a.c.Access().NameData(ctx, a.data, a.paid.Sequence)
}

// make makes the answer of what was released.
func (a *request) make(ctx context.Context) (out *api.Answer, err error) {
	if a.outer == nil {
		return answers.Finish(ctx, a.Priced, nil, a.released)
	}
	err = releaseclock.RunOnReleased(ctx, func(ctx context.Context) error {
		out, err = answers.Finish(ctx, a.Priced, a.outer, a.released)
		return err
	})
	return out, err
}

// textOf is the text of a question with its constants.
func textOf(q api.Question) *syntax.Text { return syntax.Open(q.SQL, q.Parsed) }

// sayNow says that the time is a constant of the question, and how to ask it again.
func sayNow(now string) string {
	name, constant := clockConstant(now)
	return name + " is " + constant + " in this question; with that in its place it is the same question again, and free"
}

// clockConstant is what a question asks for that asks for the time, and the constant that this is.
func clockConstant(now string) (name, constant string) {
	if len(now) == len("2006-01-02") {
		return "CURRENT_DATE", "DATE '" + now + "'"
	}
	return "now()", "TIMESTAMP '" + now + "'"
}

// checkPublic refuses public tables that are too large to stand beside answers.
func (r *runner) checkPublic(ctx context.Context, tables []*policy.Table) error {
	rows := make([]int64, len(tables))
	for i, t := range tables {
		var err error
		if rows[i], err = r.engine.Most(ctx, t.Name, nil); err != nil {
			return err
		}
	}
	return answers.CheckPublic(tables, rows)
}

// readPublic reads the public tables that the query around answers names.
func (a *request) readPublic(ctx context.Context) error {
	if len(a.Statement.Tables) > 0 {
		if err := a.c.cashier.recordProtected(ctx); err != nil {
			return err
		}
	}
	for i, t := range a.Statement.Tables {
		rows, err := a.c.runner.engine.Rows(ctx, t.Name, answers.MaxPublicCells)
		if err != nil {
			return err
		}
		a.outer.Load(i, t, rows)
	}
	return nil
}

// choose takes one of two prices: one in which everything was paid for before, so that nothing is
// bought twice because the budget stands elsewhere by now, and else the sharper one. Where some of
// it was paid for the rest is what is to be sharp, so parts are compared as if all of it were
// bought. Everything that decides it is public: the prices, what was answered, and what is left.
func (a *request) choose(ctx context.Context) error {
	found, err := a.c.memory.Recall(ctx, a.other, a.data.ID, a.horizon)
	if err != nil {
		return err
	}
	here, there := missing(a.Priced, a.released), missing(a.other, found.Released)
	free := len(here) == 0
	// What was bought with one noise for less can be as good as the other is at this price, where
	// nobody would choose that. Who pays more is not to get it once more.
	switch {
	case free && len(there) > 0 && a.boughtForLess(ctx, a.released, a.other):
		here = a.Purchases
	case len(there) == 0 && !free && a.boughtForLess(ctx, found.Released, a.Priced):
		there = a.other.Purchases
	}
	take := len(there) == 0 && !free
	if len(there) > 0 && len(here) > 0 {
		parts, err := a.c.Takes(ctx, a.question.Analyst, a.data.Window, pricing.Cost(here), pricing.Cost(there))
		if err != nil {
			return err
		}
		part, otherPart := asIfAll(parts[0], a.Priced, here), asIfAll(parts[1], a.other, there)
		if take = !pricing.Sharper(a.Priced, a.other, part, otherPart); math.IsInf(part, 1) && math.IsInf(otherPart, 1) {
			take = !free
		}
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

// boughtForLess reports whether an answer was made of others, all of which cost less than a price.
func (a *request) boughtForLess(ctx context.Context, released []*answers.Released, p *pricing.Priced) bool {
	price := pricing.Cost(p.Purchases).Rho
	for _, r := range released {
		if r == nil || r.Derived == 0 {
			return false
		}
		for record, err := range a.c.ledger.Records(ctx, r.Derived) {
			if err != nil || record.Cost.Rho >= price-price/1000 {
				return false
			}
			break
		}
	}
	return true
}

// asIfAll is what a question would take if all of it were missing, and not a part.
func asIfAll(part float64, p *pricing.Priced, missing []*pricing.Purchase) float64 {
	return part * float64(len(p.Purchases)) / float64(len(missing))
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

// switchNoise reports whether a request that is sent again was paid for with the other noise, and
// turns to that: where the budget stands by now is not what it was charged by. Nothing was charged
// yet.
func (a *request) switchNoise(ctx context.Context, err error) bool {
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
	a.bill.bought = missing(a.Priced, a.released)
	return len(a.bill.bought) > 0 && len(a.bill.diverted) == 0 && a.findBases(ctx) == nil
}

// deadline is how long the answer takes to leave a server, without its ticks; nil where it is
// there, and for who is not at a server.
func (a *request) deadline(ctx context.Context) (*float64, error) {
	if _, scheduled := releaseclock.Limit(ctx); !scheduled || len(a.bill.bought) == 0 {
		return nil, nil
	}
	takes, err := a.c.runner.timeOfAll(ctx, a.bill.bought)
	if err != nil {
		return nil, err
	}
	seconds := takes.Seconds()
	return &seconds, nil
}
