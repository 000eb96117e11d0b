package curator

import (
	"context"
	"errors"
	"time"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/answers"
	"github.com/discreet-dp/discreet/internal/books"
	"github.com/discreet-dp/discreet/internal/engine"
	"github.com/discreet-dp/discreet/internal/holdoutsession"
	"github.com/discreet-dp/discreet/internal/interactive"
	"github.com/discreet-dp/discreet/internal/memory"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/plan/syntax"
	"github.com/discreet-dp/discreet/internal/sparsesession"
	"github.com/discreet-dp/discreet/internal/streamsession"
	"github.com/discreet-dp/discreet/internal/training"
	"github.com/discreet-dp/discreet/learn"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/mech"
	"github.com/discreet-dp/discreet/policy"
)

// Curator answers questions about one dataset. It is safe for concurrent use.
type Curator struct {
	*books.Books
	// The rooms of sessions. Each has of the curator what package interactive says.
	Sparse    *sparsesession.Sessions
	Streams   *streamsession.Sessions
	Holdouts  *holdoutsession.Sessions
	Trainings *training.Trainings

	dataset  *policy.Dataset
	engine   engine.Engine
	ledger   ledger.Ledger
	releaser *mech.Releaser
	memory   *memory.Memory
	inflight inflight
	planned  planned
	people   people
	ran      ran
	second   opinion
	// tell is who is told of incidents, or nil.
	tell func(api.Incident)
	// now decides one thing only: whether an analyst's access has expired. See [Curator.expired]. A
	// board shows it.
	now func() time.Time
}

// New returns the curator of a dataset.
func New(ds *policy.Dataset, e engine.Engine, l ledger.Ledger, r *mech.Releaser) *Curator {
	c := &Curator{dataset: ds, engine: e, ledger: paced{l}, releaser: r, second: secondOpinion, now: time.Now, planned: newPlanned()}
	c.openRooms()
	return c
}

// maxScores is how many different scores a holdout tells. Each is a note of the ledger for ever,
// and those that are confirmed cost nothing that would bound them.
const maxScores = 100_000

// openRooms opens the rooms around the curator.
func (c *Curator) openRooms() {
	c.Books, c.memory = books.New(c.dataset, c.ledger), memory.New(c.ledger)
	c.Sparse, c.Streams = sparsesession.New(c.access()), streamsession.New(c.access())
	c.Holdouts = holdoutsession.New(c.access(), maxScores, func() time.Time { return c.now() })
	c.Trainings = training.New(c.access(), c.memory, learn.Fit)
}

// access is what a room of sessions has of the curator.
func (c *Curator) access() interactive.Access {
	return interactive.Access{Curator: c, Journal: c.ledger, Books: c.Books, Dataset: c.dataset, Releaser: c.releaser}
}

// Ask answers a question. Errors: [*api.Refusal] when it cannot be asked, [*ledger.BudgetError]
// when it cannot be paid for; with both nothing was spent. A [*ledger.DoorError] says whether
// something was.
func (c *Curator) Ask(ctx context.Context, q api.Question) (*api.Answer, error) {
	if err := interactive.CheckRequest(q.Request); err != nil {
		return nil, err
	}
	text := syntax.Open(q.SQL, q.Parsed)
	q.Parsed = text
	if plan.AsksHoldout(text) {
		return c.Holdouts.AskSQL(ctx, q)
	}
	var paid charged
	for try := 1; ; try++ {
		a, err := c.askOnce(ctx, q, &paid, try == maxTurns)
		// Another server was first: it kept an answer for the same request, which is the one to
		// tell, or one that this question can be answered with, or it has seen other data, or made
		// something of an answer that this was to be made of. Nothing was charged that is not
		// charged once.
		first := errors.Is(err, ledger.ErrKept) || errors.As(err, new(*ledger.VersionError)) || errors.Is(err, ledger.ErrBehind)
		if try == maxTurns || !first {
			return a, err
		}
	}
}

// askOnce tries it. On the last try an answer that others have kept since it was looked for does no
// more harm than that there are two.
func (c *Curator) askOnce(ctx context.Context, q api.Question, paid *charged, last bool) (*api.Answer, error) {
	// Prepare, and price.
	a, err := c.newAsking(ctx, q, memory.Horizon{AsOf: q.AsOf})
	if err != nil {
		return nil, err
	}
	defer a.close()
	if a.charged = paid; a.empty != nil {
		return a.showEmpty(ctx)
	}
	// Public tables come first: what goes wrong with them is not paid for.
	if err := a.readPublic(ctx); err != nil {
		return nil, err
	}
	if err := a.get(ctx, last); err != nil {
		return nil, err
	}
	return a.finish(ctx)
}

// get gets all that the answer is made of, one question at a time for each purchase, so that two
// who ask the same at once pay once. Who waits for it does not wait for what this question makes of
// it, which can be a long query.
func (a *asking) get(ctx context.Context, last bool) error {
	leave, err := a.c.WaitTurn(ctx, a.keys()...)
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
	if last {
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
		a, err := c.Ask(context.WithValue(ctx, unpaidKey{}, true), q)
		if try == maxTurns || !errors.Is(err, errUnpaid) {
			return a, err
		}
	}
}

type unpaidKey struct{}

// errUnpaid is what a charge gets that nobody pays for.
var errUnpaid = errors.New("this was to be free, and is not any more; nothing was charged; ask again")

// paid refuses every charge of a question that was to be free.
func paid(ctx context.Context) error {
	if ctx.Value(unpaidKey{}) != nil {
		return errUnpaid
	}
	return nil
}

// Describe says which columns the answer to a question would have. It is made from the text and the
// policy alone, by the functions that make the columns of an answer, before anything was released.
// So it is free and tells nothing: the ledger is not read, and the data only where Ask would read
// it before it knows whether the question can be asked, which is public tables for their keys. It
// says nothing about the price: a question that is described may yet be refused for it.
func (c *Curator) Describe(ctx context.Context, q api.Question) ([]api.Column, error) {
	text := syntax.Open(q.SQL, q.Parsed)
	q.Parsed = text
	if plan.AsksHoldout(text) {
		return c.Holdouts.DescribeSQL(ctx, q)
	}
	statement, _, _, err := c.check(ctx, q)
	if err != nil {
		return nil, err
	}
	return answers.Describe(ctx, statement)
}

// Remembered answers a question that needs nothing but what was kept by the moment that it names,
// or what is public: nothing is paid, run or waited for. Any other is not answered, and has to be
// asked; whether it is one is what [Curator.Explain] tells too.
func (c *Curator) Remembered(ctx context.Context, q api.Question) (*api.Answer, bool) {
	text := syntax.Open(q.SQL, q.Parsed)
	q.Parsed = text
	if plan.AsksHoldout(text) || text.Now() != "" {
		return nil, false
	}
	a, err := c.newAsking(ctx, q, memory.Horizon{AsOf: q.AsOf, Spoken: true})
	if err != nil {
		return nil, false // why is said to whoever asks it
	}
	defer a.close()
	if a.empty != nil {
		out, err := a.showEmpty(ctx)
		return out, err == nil
	}
	if a.outer != nil || a.claim(ctx) != nil || len(a.bought)+len(a.diverted) > 0 || a.own.waits() {
		return nil, false
	}
	out, err := a.finish(ctx)
	return out, err == nil
}
