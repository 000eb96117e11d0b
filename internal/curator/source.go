package curator

import (
	"context"
	"slices"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/answers"
	"github.com/discreet-dp/discreet/internal/interactive"
	"github.com/discreet-dp/discreet/internal/memory"
)

// source is where what a question needs comes from. There are four, tried in this order: answers
// that were kept, public keys, a stream, and the engine, which has everything.
type source interface {
	// claim takes of a question what no source before this one has, and this one can give: at once
	// where it is there, and else to be supplied. It charges nothing.
	claim(ctx context.Context, a *asking) error
	// supply pays for what was claimed, and releases it.
	supply(ctx context.Context, a *asking) error
}

var sources = []source{keptAnswers{}, publicKeys{}, streamAnswers{}, engineAnswers{}}

// claim asks the sources in their order.
func (a *asking) claim(ctx context.Context) error {
	for _, s := range sources {
		if err := s.claim(ctx, a); err != nil {
			return err
		}
	}
	return nil
}

// supply lets them pay, the engine first: what is refused after it is the stream's part alone.
func (a *asking) supply(ctx context.Context) error {
	for _, s := range slices.Backward(sources) {
		if err := s.supply(ctx, a); err != nil {
			return err
		}
	}
	return nil
}

// keptAnswers are those that were paid for before.
type keptAnswers struct{}

func (keptAnswers) claim(ctx context.Context, a *asking) (err error) {
	found, err := a.c.memory.Recall(ctx, a.Priced, a.data.ID, a.horizon)
	if err != nil {
		return err
	}
	a.take(found)
	if a.other != nil {
		err = a.choose(ctx)
	}
	if err == nil {
		err = a.findOwn(ctx)
	}
	return err
}

// take is what was found.
func (a *asking) take(found *memory.Recalled) {
	a.released, a.paid, a.missed = found.Released, found.Paid, found.Missed
}

func (keptAnswers) supply(context.Context, *asking) error { return nil }

// publicKeys are those of questions that ask for nothing else. They were found when the question
// was checked, so there is nothing to pay, to run or to keep.
type publicKeys struct{}

func (publicKeys) claim(_ context.Context, a *asking) error {
	for i, b := range a.Purchases {
		if b.Query.ListsKeys() {
			a.released[i] = &answers.Released{}
		}
	}
	return nil
}

func (publicKeys) supply(context.Context, *asking) error { return nil }

// streamAnswers come through a stream: where that is cheaper, or where the analyst wants it so, and
// where the accounts admit it. What they do not admit is bought like everything else, or refused.
type streamAnswers struct{}

func (streamAnswers) claim(ctx context.Context, a *asking) error {
	for i, b := range a.Purchases {
		if a.released[i] != nil {
			continue
		}
		d, err := a.c.Streams.Divert(ctx, a.Priced, b, a.routes[i], a.question.Analyst, a.horizon)
		if err != nil {
			return err
		}
		if d != nil {
			a.diverted[b] = d
		}
	}
	return nil
}

// supply asks the streams, each for its part, and lets the analyst pay them.
func (streamAnswers) supply(ctx context.Context, a *asking) error {
	who := &interactive.Payer{Analyst: a.question.Analyst, Charged: a.spent != (dp.Cost{})}
	for i, b := range a.Purchases {
		d := a.diverted[b]
		if d == nil {
			continue
		}
		r, err := d.Answer(ctx, who)
		if err != nil {
			return err
		}
		a.released[i], a.uses = r, append(a.uses, *r.Through)
		a.spent = a.Currency.Plus(a.spent, r.Through.Cost)
		a.claimed = a.claimed.Add(r.Through.Cost)
		if r.Receipt.Sequence != 0 {
			a.paid = r.Receipt
		}
	}
	a.alerts = append(a.alerts, who.Alerts...)
	return nil
}

// engineAnswers are computed, with one charge for all of them.
type engineAnswers struct{}

func (engineAnswers) claim(ctx context.Context, a *asking) error {
	for i, b := range a.Purchases {
		if a.released[i] == nil && a.diverted[b] == nil {
			a.bought = append(a.bought, b)
		}
	}
	return a.findBases(ctx)
}

func (engineAnswers) supply(ctx context.Context, a *asking) error {
	defer a.tell(a.charged)
	if len(a.bought) == 0 {
		return nil
	}
	err := a.c.buy(ctx, a)
	if err != nil && a.turned(ctx, err) {
		err = a.c.buy(ctx, a)
	}
	if err != nil {
		return err
	}
	if !a.moved {
		a.c.Streams.Teach(a.routes, a.Purchases, a.bought, a.released)
	}
	return nil
}
