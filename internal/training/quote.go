package training

import (
	"context"
	"fmt"

	"github.com/discreet-dp/discreet/account"
	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/memory"
)

// Quote prices a training without asking for it.
func (c *Trainings) Quote(ctx context.Context, q api.TrainingQuestion) (*api.TrainingQuote, error) {
	t, err := c.prepareTraining(ctx, q)
	if err != nil {
		return nil, err
	}
	data, err := c.Data(ctx)
	if err != nil {
		return nil, err
	}
	known, err := c.recallTraining(ctx, t, data.ID, memory.Horizon{AsOf: q.AsOf, Spoken: true})
	if err != nil {
		return nil, err
	}
	out := &api.TrainingQuote{
		Dataset: c.Dataset.Name, Neighbours: c.Dataset.Neighbours.String(), Unit: c.Dataset.Unit.String(), MaxRows: t.table.MaxRows(),
		Method: t.plan.Method, Why: t.plan.Why, Lines: t.plan.Describe(), Epsilon: t.epsilon, Cost: t.tag(), Pay: t.tag(),
	}
	if out.Worth, out.Currency, err = t.worth(c); err != nil {
		return nil, err
	}
	pay := t.plan.Cost
	if known != nil {
		pay, out.Pay, out.Known, out.Record = dp.Cost{}, dp.Cost{}, true, known.Receipt.Sequence
	}
	if out.Remaining, err = c.Remaining(ctx, q.Analyst); err != nil {
		return nil, err
	}
	if out.After, err = c.RemainingAfter(ctx, q.Analyst, pay); err != nil {
		return nil, err
	}
	out.Affordable, err = c.Affords(ctx, q.Analyst, pay)
	return out, err
}

// worth says what a training alone is worth, and how its price comes about.
func (t *training) worth(c *Trainings) (api.Guarantee, string, error) {
	cost := t.plan.Cost
	if t.currency.Pure {
		return api.Guarantee{Epsilon: cost.Epsilon},
			fmt.Sprintf("the budget adds up epsilon, and the model takes epsilon %v of it", cost.Epsilon), nil
	}
	delta := c.Dataset.Budget.RhoDelta()
	epsilon, err := account.Epsilon(cost.Rho, delta)
	if err != nil {
		return api.Guarantee{}, "", err
	}
	worth := api.Guarantee{Epsilon: min(epsilon, cost.Epsilon), Delta: delta}
	return worth,
		fmt.Sprintf("the budget adds up rho: epsilon %v buys rho %v, which is what any mechanism of that epsilon costs, and the noise is "+
			"made for that rho; alone it is worth epsilon %v at delta %v", t.epsilon, cost.Rho, worth.Epsilon, delta), nil
}
