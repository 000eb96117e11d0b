package curator

import (
	"context"
	"errors"
	"time"

	"github.com/discreet-dp/discreet/api"
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
