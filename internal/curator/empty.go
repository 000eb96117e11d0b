package curator

import (
	"context"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/answers"
)

// showEmpty answers a question that has no rows, whatever the data is: with its columns, which
// follow from the text and the policy. Nothing is charged, run, recalled or kept, and the state of
// the data is not looked at.
func (a *asking) showEmpty(ctx context.Context) (*api.Answer, error) {
	columns, err := answers.Describe(ctx, a.empty)
	if err != nil {
		return nil, err
	}
	out := &api.Answer{Columns: columns, Rows: [][]any{}, Confidence: a.Settings.Level(), Receipt: api.Receipt{Free: true},
		Notes: []string{"it has no rows, whatever the data is: its columns are free"}}
	out.Remaining, err = a.c.Remaining(ctx, a.question.Analyst)
	return out, err
}

// explainEmpty prices it.
func (a *asking) explainEmpty(ctx context.Context) (*api.Explanation, error) {
	if _, err := answers.Describe(ctx, a.empty); err != nil {
		return nil, err
	}
	e := &api.Explanation{Neighbours: a.c.dataset.Neighbours.String(), Confidence: a.Settings.Level(), Known: true, Affordable: true,
		Questions: []api.Inquiry{}, Split: "nothing is released", Free: []string{"all of it: it has no rows, whatever the data is"}}
	var err error
	e.Remaining, err = a.c.Remaining(ctx, a.question.Analyst)
	if e.After = e.Remaining; err == nil && a.question.Parts {
		e.Makeup, err = a.makeup(ctx)
	}
	return e, err
}
