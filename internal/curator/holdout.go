package curator

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/holdout"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/mech"
)

// AskHoldout scores something on a holdout. It is charged for by rounds: all questions up to the next one that the holdout contradicts, and that one. The first question of a round pays for
// it, before any noise is drawn and before the score is computed; the others are free. A question that was answered before is answered again, by whoever asks.
//
// The order is that of the package: prepare (the text, or the predictions, against what is public), price (the policy says it), recall, charge, run, release, keep. The labels are
// in memory before, because they are loaded for their owner, whoever asks what: what is looked at after the charge is what they say about these predictions.
//
// What is promised is in package holdout. It needs of every question that its sum moves by at most Steps between neighbours. For labels that is package labels', where
// neighbours differ in one label; for a table it is checked here once more, by what [tree.Query.Sensitivity] says.
func (c *Curator) AskHoldout(ctx context.Context, q api.HoldoutQuestion) (*api.HoldoutAnswer, error) {
	p, err := c.prepareHoldout(ctx, q)
	if err != nil {
		return nil, err
	}
	// One at a time, and who waits can stop waiting.
	leave, err := c.flights.enter(ctx, p.open.id)
	if err != nil {
		return nil, err
	}
	defer leave()
	status, err := p.open.session.Status(ctx, p.key)
	if err != nil {
		return nil, err
	}
	if !status.Known && status.Told >= maxScores {
		return nil, api.Refuse("scores that were told before are told again, free; ask the owner for another holdout", "the holdout %s has told %d different scores, and remembers no more", strconv.Quote(p.of.Name), status.Told)
	}
	pays := &payer{analyst: q.Analyst, alerts: []ledger.Alert{}}
	var over *ledger.BudgetError
	a, err := c.askHoldout(paidBy(ctx, pays), pays, p, status.Known)
	switch {
	case errors.Is(err, holdout.ErrUsedUp):
		return nil, p.usedUp()
	case errors.As(err, &over):
		// What other questions are advised, to ask with less, nobody can do here: the price is the policy's.
		return nil, fmt.Errorf("%w. This is the price of a round of the holdout, which the policy sets; scores that were told before stay free, and the owner of the data can raise the limit", over)
	case errors.Is(err, holdout.ErrQuestion):
		return nil, api.Refuse("", "%v", err)
	case err != nil:
		return nil, err
	}
	p.open.tell(p.key, a)
	out := p.answer(a)
	out.Alerts = pays.alerts
	if err := c.onBoard(ctx, p, out, q); err != nil {
		return nil, err
	}
	if out.Remaining, err = c.Remaining(ctx, q.Analyst); err != nil {
		return nil, err
	}
	if p.of.Table != "" {
		now, err := c.ledger.DataVersion(ctx, c.dataset.Name, p.data.Label, p.data.state)
		if err != nil {
			return nil, err
		}
		out.Version = api.DataVersion{Number: now.Number, Name: now.Label}
	}
	return out, nil
}

// askHoldout asks the session. What it remembers is told also behind a closed door.
func (c *Curator) askHoldout(ctx context.Context, who *payer, p *submission, known bool) (a *holdout.Answer, err error) {
	if !known {
		if err := c.closed(ctx, who.analyst, false); err != nil {
			return nil, err
		}
	}
	err = func() (err error) {
		defer caught(&err)
		a, err = p.open.session.Ask(ctx, holdout.Question{Key: p.key, Training: p.training, Holdout: p.score})
		return err
	}()
	if errors.Is(err, errPanic) {
		err = c.failedHoldout(ctx, who, p, err)
	}
	return a, err
}

// failedHoldout ends a holdout that failed, for whoever asked, unless nobody is told of it.
func (c *Curator) failedHoldout(ctx context.Context, who *payer, p *submission, cause error) error {
	err := c.failed(context.WithoutCancel(ctx), who.analyst, who.sequence, cause, api.ErrHoldoutRun)
	if err == api.ErrHoldoutRun {
		p.open.fail(who.analyst)
	}
	return err
}

// runHoldout computes the sum over the holdout. Who stops waiting does not stop it: an engine that was stopped has failed, and ends the holdout for them.
func (c *Curator) runHoldout(ctx context.Context, p *submission) (mech.Exact, error) {
	ctx = context.WithoutCancel(ctx)
	who, ok := ctx.Value(payerKey{}).(*payer)
	if !ok {
		return mech.Exact{}, errNoPayer
	}
	door, err := c.ledger.Door(ctx, c.dataset.Name, who.analyst)
	if err != nil {
		return mech.Exact{}, err
	}
	if p.open.hasFailed(who.analyst, door) {
		return mech.Exact{}, api.ErrHoldoutRun
	}
	if err := c.begin(ctx); err != nil {
		return mech.Exact{}, err
	}
	r, err := c.run(ctx, &p.query.Query)
	if err == nil && (len(r.Measures) != 1 || r.Measures[0].Len() != 1) {
		err = errShape
	}
	if err != nil {
		return mech.Exact{}, c.failedHoldout(ctx, who, p, err)
	}
	if err := c.closed(ctx, who.analyst, true); err != nil {
		return mech.Exact{}, err
	}
	return r.Measures[0].Weighted([]int64{p.query.Factor}), nil
}
