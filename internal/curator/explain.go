package curator

import (
	"context"
	"math/big"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/curator/answercache"
	"github.com/discreet-dp/discreet/internal/curator/answers"
	"github.com/discreet-dp/discreet/internal/curator/pricing"
	"github.com/discreet-dp/discreet/internal/planner"
	"github.com/discreet-dp/discreet/internal/planner/syntax"
	"github.com/discreet-dp/discreet/ledger"
)

// Explain prices a question without asking it.
func (c *Curator) Explain(ctx context.Context, q api.Question) (*api.Explanation, error) {
	q, text, holdout := parse(q)
	if holdout {
		return c.Holdouts.ExplainSQL(ctx, q)
	}
	limits, err := c.chooseLimits(ctx, q)
	if err != nil {
		return nil, err
	}
	e, err := c.explain(ctx, limits.question, text)
	if err == nil && limits.chooses {
		limits.explain(e)
	}
	return e, err
}

// explain prices a question whose limits are known.
func (c *Curator) explain(ctx context.Context, q api.Question, text *syntax.Text) (*api.Explanation, error) {
	a, err := c.newRequest(ctx, q, answercache.Horizon{AsOf: q.AsOf, Spoken: true})
	if err != nil {
		return nil, err
	}
	defer a.close()
	if a.empty != nil {
		return a.empty.explain(ctx)
	}
	if err := a.claim(ctx); err != nil {
		return nil, err
	}
	e := &api.Explanation{
		Neighbours: c.dataset.Neighbours.String(), Confidence: a.Settings.Level(), Split: a.Split(), Free: a.Free(),
		NoError: pricing.NoError(a.Priced), Notes: a.Statement.Unlisted(),
		Cost: a.bill.whole(a.Priced), Pay: a.bill.pay(a.Priced), Known: a.bill.settled(), Now: text.Now(), Limits: q.Chosen.String(),
	}
	if e.Now != "" {
		name, constant := clockConstant(e.Now)
		e.Free[len(e.Free)-1] = "asking it again with " + constant + " in place of " + name
	}
	if a.other != nil {
		e.Noise = a.SayNoise(a.otherPart)
	}
	for i, b := range a.Purchases {
		inquiry := a.Inquiry(b)
		if r := a.released[i]; r != nil {
			inquiry.Known, inquiry.Record, inquiry.Derived = true, r.Sequence, r.Derived != 0
		}
		if base := a.bill.bases.of[b]; base != nil {
			explainBase(&inquiry, b, base)
		}
		if d := a.bill.diverted[b]; d != nil {
			d.Explain(&inquiry, a.Priced)
		}
		e.Questions = append(e.Questions, inquiry)
	}
	if q.Parts {
		if e.Makeup, err = c.makeup(ctx, a.Priced, q, len(a.bill.diverted) > 0); err != nil {
			return nil, err
		}
	}
	if e.Deadline, err = a.deadline(ctx); err != nil {
		return nil, err
	}
	if !e.Known {
		if e.Closed, err = c.incidents.ClosedAt(ctx, q.Analyst, q.AsOf); err != nil {
			return nil, err
		}
	}
	if e.Remaining, err = c.Remaining(ctx, q.Analyst); err != nil {
		return nil, err
	}
	if n, ok := e.Remaining.More(a.bill.most()); ok && !e.Known {
		e.More = &n
	}
	if e.After, err = c.RemainingAfter(ctx, q.Analyst, a.bill.most()); err != nil {
		return nil, err
	}
	e.Affordable, err = c.Affords(ctx, q.Analyst, a.bill.most())
	return e, err
}

// explainBase says what a purchase costs that is made of an earlier answer, and how exact it is.
func explainBase(inquiry *api.Inquiry, b *pricing.Purchase, base *answercache.Base) {
	inquiry.Sharpens, inquiry.Cost = base.Sequence, b.CostAfter(base.By)
	for i, by := range base.By {
		if half := inquiry.Measures[i].Error; by != nil && half != nil {
			*half += pricing.Scaled(big.NewInt(by.ExtraSteps()), b.Query.Measures[i].Step())
		}
	}
}

// makeup says what the answer would be made of, for who puts answers of several servers together.
func (c *Curator) makeup(ctx context.Context, p *pricing.Priced, q api.Question, streams bool) (*api.Makeup, error) {
	out := answers.Makeup(p)
	switch {
	case out.Apart != "":
	case textOf(q).Now() != "":
		out = &api.Makeup{Apart: "now() and CURRENT_DATE differ from server to server", Instead: "write the date out"}
	case streams:
		out = &api.Makeup{Apart: "it goes through a stream, whose answers have no noise of their own", Instead: "SET dp.stream = off"}
	}
	var err error
	out.Source, err = c.sourceName(ctx)
	return out, err
}

// sourceName names the ledger and the dataset. A ledger's identity is random and a secret of the
// owner's, so its hash tells nothing but that it is the same one.
func (c *Curator) sourceName(ctx context.Context) (string, error) {
	for r, err := range c.ledger.Records(ctx, 0) {
		if err != nil {
			return "", err
		}
		return ledger.Hash("source\x00" + ledger.Hash(r.Identity) + "\x00" + c.dataset.Name), nil
	}
	return "", ledger.ErrClosed // no ledger is without its first record
}

// emptyRequest is a question that has no rows, whatever the data is.
type emptyRequest struct {
	c         *Curator
	question  api.Question
	statement *planner.Statement
	settings  api.Settings
}

// show answers a question that has no rows, whatever the data is: with its columns, which
// follow from the text and the policy. Nothing is charged, run, recalled or kept, and the state of
// the data is not looked at.
func (e *emptyRequest) show(ctx context.Context) (*api.Answer, error) {
	columns, err := e.c.planner.cache.around.Describe(ctx, e.statement)
	if err != nil {
		return nil, err
	}
	out := &api.Answer{Columns: columns, Rows: [][]any{}, Confidence: e.settings.Level(), Receipt: api.Receipt{Free: true},
		Notes: []string{"it has no rows, whatever the data is: its columns are free"}}
	out.Remaining, err = e.c.Remaining(ctx, e.question.Analyst)
	return out, err
}

func (r *emptyRequest) explain(ctx context.Context) (*api.Explanation, error) {
	if _, err := r.c.planner.cache.around.Describe(ctx, r.statement); err != nil {
		return nil, err
	}
	e := &api.Explanation{Neighbours: r.c.dataset.Neighbours.String(), Confidence: r.settings.Level(), Known: true, Affordable: true,
		Questions: []api.Inquiry{}, Split: "nothing is released", Free: []string{"all of it: it has no rows, whatever the data is"}}
	var err error
	e.Remaining, err = r.c.Remaining(ctx, r.question.Analyst)
	if e.After = e.Remaining; err == nil && r.question.Parts {
		e.Makeup, err = r.c.makeup(ctx, &pricing.Priced{Statement: r.statement, Settings: r.settings}, r.question, false)
	}
	return e, err
}
