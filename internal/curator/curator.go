package curator

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp/mech"
	"github.com/discreet-dp/discreet/internal/curator/answercache"
	"github.com/discreet-dp/discreet/internal/curator/budgets"
	"github.com/discreet-dp/discreet/internal/engine"
	"github.com/discreet-dp/discreet/internal/mechanism/learn"
	"github.com/discreet-dp/discreet/internal/planner"
	"github.com/discreet-dp/discreet/internal/planner/syntax"
	"github.com/discreet-dp/discreet/internal/session/holdoutsession"
	"github.com/discreet-dp/discreet/internal/session/sessionhost"
	"github.com/discreet-dp/discreet/internal/session/sparsesession"
	"github.com/discreet-dp/discreet/internal/session/streamsession"
	"github.com/discreet-dp/discreet/internal/session/training"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/policy"
)

// Curator answers questions about one dataset. It is safe for concurrent use.
type Curator struct {
	*budgets.DatasetAccounts
	// Each has of the curator what package sessionhost says.
	Sparse    *sparsesession.Sessions
	Streams   *streamsession.Sessions
	Holdouts  *holdoutsession.Sessions
	Trainings *training.Trainings

	dataset   *policy.Dataset
	ledger    ledger.Ledger
	memory    *answercache.Cache
	turns     *turns
	planner   *questionPlanner
	verifier  *verifier
	states    *dataStates
	runner    *runner
	cashier   *cashier
	releaser  *releaser
	incidents *incidents

	profileTexts sync.Map // so that each is parsed once: *policy.Table or *policy.Column to *syntax.Text
}

// maxScores is how many different scores a holdout tells. Each is a note of the ledger for ever,
// and those that are confirmed cost nothing that would bound them.
const maxScores = 100_000

// New returns the curator of a dataset.
func New(ds *policy.Dataset, e engine.Engine, l ledger.Ledger, r *mech.Releaser) *Curator {
	l = pacedLedger{l}
	return build(ds, e, l, r, answercache.New(l), &turns{})
}

// Successor returns the curator of the same dataset under another policy, for questions that come
// from now on; see [policy.CheckReload] for what may differ. Those under way are finished by this
// one, so it is as with two servers that have one ledger.
//
// What follows from the policy is made anew: plans, prices, what is parsed, open sessions. What
// does not is common to both: when answers were kept, so that none is seen before its tick, and the
// turns by which two who ask the same at once pay once. An answer is found by the query that it is
// of, whose name has all limits, bounds and keys, and so is a charge.
func (c *Curator) Successor(ds *policy.Dataset, e engine.Engine) *Curator {
	next := build(ds, e, c.ledger, c.releaser.noise, c.memory, c.turns)
	next.planner.now, next.incidents.tell = c.planner.now, c.incidents.tell
	return next
}

// build puts a curator together. The ledger is a paced one.
func build(
	ds *policy.Dataset, e engine.Engine, l ledger.Ledger, r *mech.Releaser, memory *answercache.Cache, waiting *turns,
) *Curator {
	accounts, run := budgets.New(ds, l), &runner{ds, e}
	c := &Curator{
		DatasetAccounts: accounts, dataset: ds, ledger: l, memory: memory, turns: waiting, runner: run, releaser: &releaser{r},
		verifier:  &verifier{run, independentChecks},
		states:    &dataStates{run, accounts, l},
		cashier:   &cashier{dataset: ds, ledger: l, accounts: accounts},
		incidents: &incidents{dataset: ds, ledger: l},
	}
	people := &peopleCounter{runner: run, verifier: c.verifier, states: c.states, cashier: c.cashier}
	c.planner = &questionPlanner{&roster{ds, time.Now}, run, c.verifier, people, newPlanCache()}
	c.openSessions()
	return c
}

func (c *Curator) openSessions() {
	c.Sparse, c.Streams = sparsesession.New(c.Access()), streamsession.New(c.Access())
	c.Holdouts = holdoutsession.New(c.Access(), maxScores, func() time.Time { return c.planner.now() })
	c.Trainings = training.New(c.Access(), c.memory, learn.Fit)
}

// Access is what a package of sessions has of the curator.
func (c *Curator) Access() sessionhost.Access {
	return sessionhost.Access{
		Planner: c.planner, Verifier: c.verifier, Turns: c.turns, DataStates: c.states, Cashier: c.cashier, Runner: c.runner,
		Incidents: c.incidents, Journal: c.ledger, DatasetAccounts: c.DatasetAccounts, Dataset: c.dataset, Releaser: c.releaser.noise,
	}
}

// SetClock says by which clock access expires and boards are dated, where that is not the
// machine's. It is set while nobody asks.
func (c *Curator) SetClock(now func() time.Time) { c.planner.now = now }

func (c *Curator) Admit(analyst string) error { return c.planner.Admit(analyst) }

// Ask answers a question. Errors: [*api.Refusal] when it cannot be asked, [*ledger.BudgetError]
// when it cannot be paid for; with both nothing was spent. A [*ledger.LockoutError] says whether
// something was.
func (c *Curator) Ask(ctx context.Context, q api.Question) (*api.Answer, error) {
	return c.ask(ctx, q, terms{})
}

// AskNew is Ask under a request that was just made up, so that nobody can have been charged for it.
func (c *Curator) AskNew(ctx context.Context, q api.Question) (*api.Answer, error) {
	return c.ask(ctx, q, terms{unused: true})
}

// terms are on what a question is asked.
type terms struct {
	free   bool // nothing is to be charged
	unused bool // nothing was charged under its request
	last   bool // it is not tried again
}

// parse opens the text of a question once for all that look at it, and reports whether a holdout
// is asked.
func parse(q api.Question) (parsed api.Question, text *syntax.Text, holdout bool) {
	text = syntax.Open(q.SQL, q.Parsed)
	q.Parsed = text
	return q, text, planner.AsksHoldout(text)
}

func (c *Curator) ask(ctx context.Context, q api.Question, on terms) (*api.Answer, error) {
	if err := sessionhost.CheckRequest(q.Request); err != nil {
		return nil, err
	}
	q, _, holdout := parse(q)
	if holdout {
		return c.Holdouts.AskSQL(ctx, q, on.free)
	}
	limits, err := c.chooseLimits(ctx, q)
	if err != nil {
		return nil, err
	}
	if limits.first != nil {
		return nil, api.ErrChanging // what they are chosen from was there a moment ago
	}
	q = limits.question
	var paid charged
	for try := 1; ; try++ {
		on.last = try == maxTries
		a, err := c.askOnce(ctx, q, &paid, on)
		on.unused = false
		// Another server was first: it kept an answer for the same request, which is the one to
		// tell, or one that this question can be answered with, or it has seen other data, or made
		// something of an answer that this was to be made of. Nothing was charged that is not
		// charged once.
		first := errors.Is(err, ledger.ErrKept) || errors.As(err, new(*ledger.VersionError)) || errors.Is(err, ledger.ErrBehind)
		if try == maxTries || !first {
			return a, err
		}
	}
}

// askOnce tries it. On the last try an answer that others have kept since it was looked for does no
// more harm than that there are two.
func (c *Curator) askOnce(ctx context.Context, q api.Question, paid *charged, on terms) (*api.Answer, error) {
	// Prepare, and price.
	a, err := c.newRequest(ctx, q, answercache.Horizon{AsOf: q.AsOf})
	if err != nil {
		return nil, err
	}
	defer a.close()
	if a.charged, a.terms = paid, on; a.empty != nil {
		return a.empty.show(ctx)
	}
	// Public tables come first: what goes wrong with them is not paid for.
	if err := a.readPublic(ctx); err != nil {
		return nil, err
	}
	if err := a.obtain(ctx); err != nil {
		return nil, err
	}
	return a.finish(ctx)
}

// obtain gets all that the answer is made of, one question at a time for each purchase, so that two
// who ask the same at once pay once. Who waits for it does not wait for what this question makes of
// it, which can be a long query.
func (a *request) obtain(ctx context.Context) error {
	leave, err := a.c.turns.WaitTurn(ctx, a.keys()...)
	if err != nil {
		return err
	}
	defer leave()
	// Recall, and find where the rest comes from.
	if err := a.claim(ctx); err != nil {
		return err
	}
	if err := a.bind(ctx); err != nil {
		return err
	}
	if a.terms.last {
		a.missed = nil
	}
	// Charge, run, release and keep.
	return a.supply(ctx)
}

// AskFree answers a question where that is free, and else says what it would cost: an
// [*api.PriceError].
//
// Whether it is free is what [Curator.Explain] says, in the same steps, without waiting for anybody
// else's question: who asks this way learns nothing that the price does not tell. What is free is
// then asked like any other question, with nobody to pay for it: a charge is refused whoever wants
// to make it, also where data or window have changed in between.
func (c *Curator) AskFree(ctx context.Context, q api.Question) (*api.Answer, error) {
	for try := 1; ; try++ {
		e, err := c.Explain(ctx, q)
		if err != nil {
			return nil, err
		}
		if !e.Known {
			return nil, &api.PriceError{Explanation: e}
		}
		a, err := c.ask(ctx, q, terms{free: true})
		if try == maxTries || !errors.Is(err, sessionhost.ErrNotFree) {
			return a, err
		}
	}
}

// Describe says which columns the answer to a question would have. It is made from the text and the
// policy alone, by the functions that make the columns of an answer, before anything was released.
// So it is free and tells nothing: the ledger is not read, and the data only where Ask would read
// it before it knows whether the question can be asked, which is public tables for their keys. It
// says nothing about the price: a question that is described may yet be refused for it. So is one
// for rows: tools prepare such statements, and run only some.
func (c *Curator) Describe(ctx context.Context, q api.Question) ([]api.Column, error) {
	q, _, holdout := parse(q)
	if holdout {
		return c.Holdouts.DescribeSQL(ctx, q)
	}
	if err := c.planner.Admit(q.Analyst); err != nil {
		return nil, err
	}
	statement, s, _, err := c.planner.prepare(ctx, q)
	if syntax.KindOf(err) == syntax.Private {
		if rows := planner.DescribeRows(c.dataset, syntax.Open(q.SQL, q.Parsed), c.planner.Options(ctx, s)); rows != nil {
			statement, err = rows, nil
		}
	}
	if err != nil {
		return nil, err
	}
	return c.planner.cache.around.Describe(ctx, statement)
}

// Remembered answers a question that needs nothing but what was kept by the moment that it names,
// or what is public: nothing is paid, run or waited for. Any other is not answered, and has to be
// asked; whether it is one is what [Curator.Explain] tells too.
func (c *Curator) Remembered(ctx context.Context, q api.Question) (*api.Answer, bool) {
	q, text, holdout := parse(q)
	if holdout || text.Now() != "" {
		return nil, false
	}
	limits, err := c.chooseLimits(ctx, q)
	if err != nil || limits.first != nil {
		return nil, false
	}
	return c.remembered(ctx, limits.question)
}

// remembered is Remembered for a question whose limits are known.
func (c *Curator) remembered(ctx context.Context, q api.Question) (*api.Answer, bool) {
	a, err := c.newRequest(ctx, q, answercache.Horizon{AsOf: q.AsOf, Spoken: true})
	if err != nil {
		return nil, false // why is said to whoever asks it
	}
	defer a.close()
	if a.empty != nil {
		out, err := a.empty.show(ctx)
		return out, err == nil
	}
	if a.outer != nil || a.claim(ctx) != nil || len(a.bill.bought)+len(a.bill.diverted) > 0 || a.own.waits() {
		return nil, false
	}
	out, err := a.finish(ctx)
	return out, err == nil
}
