package curator

import (
	"context"
	"fmt"

	"github.com/discreet-dp/discreet/account"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/learn"
)

// TrainingQuote says what a model would cost, how it would be trained, and why. It is made from the text, the policy and the ledger, and is free. Of the
// data it uses only which version there is, to know whether the model was paid for.
type TrainingQuote struct {
	Dataset    string
	Neighbours string
	// Unit is whom the guarantee protects, and MaxRows how many rows of one such count at most.
	Unit    string
	MaxRows int64
	// Method is how it would be trained, Why says for what reasons, and Lines have the rest.
	Method string
	Why    []string
	Lines  []learn.Line
	// Epsilon is the price that was asked for, Cost what that is in the dataset's own currency, and Pay what would be charged now: nothing, where it is Known.
	Epsilon   dp.Amount
	Cost, Pay dp.Cost
	// Worth is what the model alone is, as an (epsilon, delta) promise, and Currency says how the price comes about.
	Worth    Guarantee
	Currency string
	// Known says that the model has been paid for and would be free, and Record is the charge that paid for it.
	Known  bool
	Record uint64
	// Remaining is before paying, and After after it; Affordable says whether the budget admits it now.
	Remaining, After Remaining
	Affordable       bool
}

// QuoteTraining prices a training without asking for it.
func (c *Curator) QuoteTraining(ctx context.Context, q TrainingQuestion) (*TrainingQuote, error) {
	t, err := c.prepareTraining(ctx, q)
	if err != nil {
		return nil, err
	}
	data, err := c.data(ctx)
	if err != nil {
		return nil, err
	}
	known, err := c.recallTraining(ctx, t, data.ID, sight{q.AsOf, true})
	if err != nil {
		return nil, err
	}
	out := &TrainingQuote{
		Dataset: c.dataset.Name, Neighbours: c.dataset.Neighbours.String(), Unit: c.dataset.Unit.String(), MaxRows: t.table.MaxRows(),
		Method: t.plan.Method, Why: t.plan.Why, Lines: t.plan.Describe(), Epsilon: t.epsilon, Cost: t.tag(), Pay: t.tag(), Affordable: true,
	}
	if out.Worth, out.Currency, err = t.worth(c); err != nil {
		return nil, err
	}
	pay := t.plan.Cost
	if known != nil {
		pay, out.Pay, out.Known, out.Record = dp.Cost{}, dp.Cost{}, true, known.Receipt.Sequence
	}
	if out.Remaining, err = c.remaining(ctx, q.Analyst, dp.Cost{}); err != nil {
		return nil, err
	}
	if out.After, err = c.remaining(ctx, q.Analyst, pay); err != nil {
		return nil, err
	}
	if out.Known {
		return out, nil
	}
	_, balances, err := c.balances(ctx, q.Analyst)
	if err != nil {
		return nil, err
	}
	for _, b := range balances {
		out.Affordable = out.Affordable && b.Spent.Add(pay).Within(b.Limit)
	}
	return out, nil
}

// worth says what a training alone is worth, and how its price comes about.
func (t *training) worth(c *Curator) (Guarantee, string, error) {
	cost := t.plan.Cost
	if t.currency.pure {
		return Guarantee{Epsilon: cost.Epsilon}, fmt.Sprintf("the budget adds up epsilon, and the model takes epsilon %v of it", cost.Epsilon), nil
	}
	delta := c.dataset.Budget.RhoDelta()
	epsilon, err := account.Epsilon(cost.Rho, delta)
	if err != nil {
		return Guarantee{}, "", err
	}
	worth := Guarantee{min(epsilon, cost.Epsilon), delta}
	return worth, fmt.Sprintf("the budget adds up rho: epsilon %v buys rho %v, which is what any mechanism of that epsilon costs, and the noise is made for that rho; alone it is worth epsilon %v at delta %v", t.epsilon, cost.Rho, worth.Epsilon, delta), nil
}
