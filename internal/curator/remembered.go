package curator

import (
	"context"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/memory"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/plan/syntax"
)

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
