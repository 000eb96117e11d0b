package admission

import (
	"context"

	"github.com/discreet-dp/discreet/api"
)

// askFree asks only where it is free. What is in memory, and a price, need no turn, as always; what
// is free and has to be put together, by a query around answers or by a stream, waits for one. It
// begins and leaves on a tick like everything else, and sees what was kept by then.
func (d *Dispatcher) askFree(ctx context.Context, q api.Question) (*api.Answer, error) {
	var a *api.Answer
	var price *api.PriceError
	q.Request = Request(q.Analyst, q.Request)
	e := d.entry("free", q)
	e.recall = func(ctx context.Context) (found bool) {
		q := q
		q.AsOf = d.clock.last(d.tick(e.dataset))
		if a, found = d.library.Remembered(ctx, q); found {
			e.paid(a.Cost, a.Receipt.Sequence)
			return true
		}
		if x, err := d.library.Explain(ctx, q); err == nil && !x.Known {
			d.roundDeadline(x, e.dataset)
			e.outcome, price = priced, &api.PriceError{Explanation: x}
		}
		return price != nil
	}
	err := d.serve(ctx, e, func(ctx context.Context, e *entry) (err error) {
		q.AsOf = d.clock.last(d.tick(e.dataset))
		if a, err = d.library.Ask(ctx, q); err == nil {
			e.paid(a.Cost, a.Receipt.Sequence)
		}
		return err
	})
	if err == nil && price != nil {
		err = price
	}
	return only(&a, err)
}
