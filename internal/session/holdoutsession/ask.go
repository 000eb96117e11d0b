package holdoutsession

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/mech"
	"github.com/discreet-dp/discreet/internal/curator/answers"
	"github.com/discreet-dp/discreet/internal/curator/pricing"
	"github.com/discreet-dp/discreet/internal/mechanism/holdout"
	"github.com/discreet-dp/discreet/internal/planner"
	"github.com/discreet-dp/discreet/internal/planner/meter"
	"github.com/discreet-dp/discreet/internal/planner/syntax"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/internal/releaseclock"
	"github.com/discreet-dp/discreet/internal/session/sessionhost"
	"github.com/discreet-dp/discreet/ledger"
)

// Ask scores something on a holdout. It is charged for by rounds: all questions up to the next one
// that the holdout contradicts, and that one. The first question of a round pays for it, before any
// noise is drawn and before the score is computed; the others are free. A question that was
// answered before is answered again, by whoever asks.
//
// The order is that of the package: prepare (the text, or the predictions, against what is public),
// price (the policy says it), recall, charge, run, release, keep. The labels are in memory before,
// because they are loaded for their owner, whoever asks what: what is looked at after the charge is
// what they say about these predictions.
//
// What is promised is in package holdout. It needs of every question that its sum moves by at most
// Steps between neighbours. For labels that is package labels', where neighbours differ in one
// label; for a table it is checked here once more, by what [tree.Query.Sensitivity] says.
func (c *Sessions) Ask(ctx context.Context, q api.HoldoutQuestion) (*api.HoldoutAnswer, error) {
	return c.ask(ctx, q, &sessionhost.Payer{Analyst: q.Analyst, Alerts: []ledger.Alert{}})
}

func (c *Sessions) ask(ctx context.Context, q api.HoldoutQuestion, pays *sessionhost.Payer) (*api.HoldoutAnswer, error) {
	p, err := c.prepareHoldout(ctx, q)
	if err != nil {
		return nil, err
	}
	// One at a time, and who waits can stop waiting.
	leave, err := c.WaitTurn(ctx, p.open.id)
	if err != nil {
		return nil, err
	}
	defer leave()
	status, err := p.open.session.Status(ctx, p.key)
	if err != nil {
		return nil, err
	}
	if !status.Known && status.Told >= c.maxScores {
		return nil, api.Refuse("scores that were given before are given again, free; ask the owner for another holdout",
			"the holdout %s has given %d different scores, and can remember no more", strconv.Quote(p.of.Name), status.Told)
	}
	var over *ledger.BudgetError
	a, err := c.askSession(ctx, pays, p, status.Known)
	switch {
	case errors.Is(err, holdout.ErrUsedUp):
		return nil, p.usedUp()
	case errors.As(err, &over):
		// What other questions are advised, to ask with less, nobody can do here: the price is the
		// policy's.
		return nil,
			fmt.Errorf("%w. This is the price of a round of the holdout, which the policy sets; scores that were given before stay free, "+
				"and the owner of the data can raise the limit", over)
	case errors.Is(err, holdout.ErrQuestion):
		return nil, api.Refuse("", "%v", err)
	case err != nil:
		return nil, err
	}
	p.open.tell(p.key, a)
	out := p.answer(a)
	out.Alerts = pays.Alerts
	if err := c.onBoard(ctx, p, out, q); err != nil {
		return nil, err
	}
	if out.Remaining, err = c.Remaining(ctx, q.Analyst); err != nil {
		return nil, err
	}
	if p.of.Table != "" {
		out.Version, _, err = c.NameData(ctx, p.data, 0)
	}
	return out, err
}

// askSession asks the session. What it remembers is told also under a lockout.
func (c *Sessions) askSession(ctx context.Context, who *sessionhost.Payer, p *submission, known bool) (a *holdout.Answer, err error) {
	if !known {
		if err := c.Closed(ctx, who.Analyst, false); err != nil {
			return nil, err
		}
		if p.query != nil {
			if err := c.CheckTime(ctx, &p.query.Query); err != nil {
				return nil, err
			}
		}
		who.Unanswered = true
	}
	defer releaseclock.BeginPrivateWork(ctx)
	err = func() (err error) {
		defer sessionhost.Catch(&err)
		score := func(ctx context.Context) (mech.Exact, error) {
			if p.query == nil { // the labels are in memory
				defer releaseclock.BeginPrivateWork(ctx)
			}
			return p.score(ctx, who)
		}
		a, err = p.open.session.WithHost(p.open.host(who)).Ask(ctx, holdout.Question{Key: p.key, Training: p.training, Holdout: score})
		return err
	}()
	if errors.Is(err, sessionhost.ErrPanic) {
		err = c.failedHoldout(ctx, who, p, err)
	}
	return a, err
}

// failedHoldout ends a holdout that failed, for whoever asked, unless nobody is told of it.
func (c *Sessions) failedHoldout(ctx context.Context, who *sessionhost.Payer, p *submission, cause error) error {
	err := c.Failed(context.WithoutCancel(ctx), who.Analyst, who.Sequence, cause, api.ErrHoldoutRun)
	if err == api.ErrHoldoutRun {
		p.open.fail(who.Analyst)
	}
	return err
}

// runHoldout computes the sum over the holdout. Who stops waiting does not stop it: an engine that
// was stopped has failed, and ends the holdout for them.
func (c *Sessions) runHoldout(ctx context.Context, p *submission, who *sessionhost.Payer) (mech.Exact, error) {
	ctx = context.WithoutCancel(ctx)
	lockout, err := c.Lockout(ctx, c.Dataset.Name, who.Analyst)
	if err != nil {
		return mech.Exact{}, err
	}
	if p.open.hasFailed(who.Analyst, lockout) {
		return mech.Exact{}, api.ErrHoldoutRun
	}
	if err := c.NoteRun(ctx); err != nil {
		return mech.Exact{}, err
	}
	r, err := c.Run(ctx, &p.query.Query)
	if err == nil && (len(r.Measures) != 1 || r.Measures[0].Len() != 1) {
		err = sessionhost.ErrShape
	}
	if err != nil {
		return mech.Exact{}, c.failedHoldout(ctx, who, p, err)
	}
	if err := c.Closed(ctx, who.Analyst, true); err != nil {
		return mech.Exact{}, err
	}
	// The score is kept with the holdout of that data, so it must not be of other data, which may
	// be gone again.
	if c.Moved(ctx, p.data, r.ReadFrom) {
		return mech.Exact{}, api.ErrChanging
	}
	return r.Measures[0].Scale([]int64{p.query.Factor}), nil
}

// Holdouts in SQL: SELECT holdout_mean(expression [, training]) FROM table goes to the holdout of
// the table, and not to the mechanisms of other questions.

// sqlQuestion is a question in SQL, checked as far as the text and the policy go.
type sqlQuestion struct {
	api.HoldoutQuestion
	query *tree.Holdout
	notes []string // about settings that are not used: the price is in the policy
}

// prepareSQL checks who asks, the settings and the text.
func (c *Sessions) prepareSQL(ctx context.Context, q api.Question) (*sqlQuestion, error) {
	if err := c.Admit(q.Analyst); err != nil {
		return nil, err
	}
	s, err := pricing.Settings(q)
	if err != nil {
		return nil, err
	}
	h, err := planner.PrepareHoldout(c.Dataset, syntax.Open(q.SQL, q.Parsed), "", planner.Options{Meter: meter.Of(ctx)})
	if err != nil {
		return nil, err
	}
	out := &sqlQuestion{query: h, HoldoutQuestion: api.HoldoutQuestion{
		Analyst: q.Analyst, Holdout: h.Of.Name, SQL: q.SQL, Parsed: q.Parsed, Confidence: s.Level(),
	}}
	if s.Epsilon > 0 || s.Error != nil || s.Mechanism != "" {
		out.notes = []string{
			"the price and the noise of a holdout are in the policy: dp.epsilon, dp.error and dp.mechanism are not used here"}
	}
	return out, nil
}

// AskSQL answers a question in SQL. Where it was to be free nothing is charged for it.
func (c *Sessions) AskSQL(ctx context.Context, q api.Question, free bool) (*api.Answer, error) {
	ctx = meter.With(ctx)
	asked, err := c.prepareSQL(ctx, q)
	if err != nil {
		return nil, err
	}
	a, err := c.ask(ctx, asked.HoldoutQuestion, &sessionhost.Payer{Analyst: q.Analyst, Free: free, Alerts: []ledger.Alert{}})
	if err != nil {
		return nil, err
	}
	a.Notes = append(a.Notes, asked.notes...)
	return (&submission{query: asked.query}).table(a), nil
}

// DescribeSQL says which column the answer has.
func (c *Sessions) DescribeSQL(ctx context.Context, q api.Question) ([]api.Column, error) {
	asked, err := c.prepareSQL(meter.With(ctx), q)
	if err != nil {
		return nil, err
	}
	return (&submission{query: asked.query}).columns(), nil
}

// ExplainSQL prices a question in SQL. Of the holdout nothing is looked at.
func (c *Sessions) ExplainSQL(ctx context.Context, q api.Question) (*api.Explanation, error) {
	ctx = meter.With(ctx)
	asked, err := c.prepareSQL(ctx, q)
	if err != nil {
		return nil, err
	}
	p, err := c.prepareHoldout(ctx, asked.HoldoutQuestion)
	if err != nil {
		return nil, err
	}
	status := p.open.asOf(p.key, q.AsOf)
	if q.AsOf.IsZero() {
		if status, err = p.open.session.Status(ctx, p.key); err != nil {
			return nil, err
		}
	}
	if !status.Known && status.Left == 0 {
		return nil, p.usedUp()
	}
	round := p.open.tariff.Round
	e := &api.Explanation{
		Neighbours: c.Dataset.Neighbours.String(),
		Confidence: answers.SixDecimals(1 - p.beta), Questions: []api.Inquiry{p.explanation(status)},
		Split: "a round of tests and its one answer from the holdout share the price equally",
		Free:  []string{"every score of a round that is paid for", "asking it again"},
		Cost:  round, Pay: round, Known: status.Known,
	}
	if status.Known || status.Open {
		e.Pay = dp.Cost{}
	}
	if !e.Known {
		if e.Closed, err = c.ClosedAt(ctx, q.Analyst, q.AsOf); err != nil {
			return nil, err
		}
	}
	if e.Remaining, err = c.Remaining(ctx, q.Analyst); err != nil {
		return nil, err
	}
	if e.After, err = c.RemainingAfter(ctx, q.Analyst, e.Pay); err != nil {
		return nil, err
	}
	e.Affordable, err = c.Affords(ctx, q.Analyst, e.Pay)
	return e, err
}
