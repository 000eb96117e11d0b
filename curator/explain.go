package curator

import (
	"context"
	"math"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/plan"
)

// Explanation says what a question would cost and how exact its answer would
// be. It is made from the text, the policy and the ledger, it is free, and of the data it
// uses only which version there is, to know whether the answer was paid for.
type Explanation struct {
	Table      string        `json:"table"`
	Groups     int           `json:"groups"`
	Neighbours string        `json:"neighbours"`
	MaxRows    int64         `json:"max_rows"`   // of one person in one group
	MaxGroups  int64         `json:"max_groups"` // of one person
	Measures   []Measurement `json:"measures"`
	Cost       dp.Cost       `json:"cost"`
	// Known says that the answer has been paid for and would be free.
	Known     bool      `json:"known"`
	Remaining Remaining `json:"remaining"` // before paying
	// Affordable says whether the budget admits the question now.
	Affordable bool `json:"affordable"`
}

// Measurement is one noisy number per group.
type Measurement struct {
	Measure     string  `json:"measure"`
	Mechanism   string  `json:"mechanism"`
	Sensitivity float64 `json:"sensitivity"` // how far one person moves it, in units of the answer
	Norm        string  `json:"norm"`        // l1 or l2, over all groups together
	Step        string  `json:"step"`
	Deviation   float64 `json:"scale"` // the scale b, or sigma, in units of the answer
	Error       float64 `json:"error"` // the half width of the 95 % interval
	Cost        dp.Cost `json:"cost"`
}

// Explain prices a question without asking it.
func (c *Curator) Explain(ctx context.Context, q Question) (*Explanation, error) {
	p, err := c.prepare(q)
	if err != nil {
		return nil, err
	}
	query := &p.plan.Query
	e := &Explanation{
		Table: query.Table.Name, Groups: query.Groups(), Neighbours: query.Neighbours.String(),
		MaxRows: query.MaxRows(), MaxGroups: query.MaxGroups(), Cost: p.tag(), Affordable: true,
	}
	for i, m := range query.Measures {
		e.Measures = append(e.Measures, p.measurement(m, i))
	}
	if e.Remaining, err = c.Remaining(ctx, q.Analyst); err != nil {
		return nil, err
	}
	version, err := c.engine.Version(ctx)
	if err != nil {
		return nil, err
	}
	if _, _, e.Known, err = c.ledger.Recall(ctx, p.key(version)); err != nil {
		return nil, err
	}
	accounts := c.accounts(q.Analyst)
	balances, err := c.ledger.Balances(ctx, accounts)
	if err != nil {
		return nil, err
	}
	for i, b := range balances {
		e.Affordable = e.Affordable && accounts[i].Filter.Admits(b.Spent, p.cost)
	}
	return e, nil
}

func (p *priced) measurement(m plan.Measure, i int) Measurement {
	noise := p.noise[i]
	scale := noise.Parameter()
	deviation, _ := scale.Float64()
	if noise.Norm() == dp.L2 {
		deviation = math.Sqrt(deviation)
	}
	step, _ := m.Step().Float64()
	return Measurement{
		Measure: m.Describe(), Mechanism: noise.Name(), Sensitivity: noise.Sensitivity().Float() * step, Norm: noise.Norm().String(), Step: m.Step().RatString(),
		Deviation: deviation * step, Error: float64(noise.HalfWidth(1-Confidence)) * step, Cost: noise.Cost(),
	}
}
