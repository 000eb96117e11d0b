package account

import (
	"fmt"
	"strings"
	"sync"

	"github.com/discreet-dp/discreet/dp"
)

// Spending is a filter in use: what was spent so far, and whether the next
// charge is admitted. Charge first and answer afterwards: an answer whose charge
// was refused must not be computed, let alone shown. It keeps its state in
// memory only; what has to survive a crash is charged to a ledger.
//
// A Spending may be used by many goroutines at once. A charge is admitted and
// added in one step, so no two can spend the same remainder.
type Spending struct {
	mu     sync.Mutex
	filter Filter
	spent  dp.Cost
}

// NewSpending returns a filter from which nothing was spent yet.
func NewSpending(f Filter) *Spending { return &Spending{filter: f} }

// Spend charges for one answer of a mechanism that answers once. A charge that
// the filter does not admit is a [*RefusedError], is free, and leaves the filter
// open for smaller ones.
//
// A mechanism that keeps private state between answers is a session, and is
// charged by [Spending.Open].
func (s *Spending) Spend(claim Claim) error {
	if claim == nil {
		return fmt.Errorf("%w: there is none", ErrCharge)
	}
	c, err := claim.Charge()
	if err != nil {
		return err
	}
	return s.take(c)
}

func (s *Spending) take(c Charge) error {
	if !c.made {
		return fmt.Errorf("%w: it was not made from a guarantee", ErrCharge)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	cost := c.Cost()
	if !s.filter.Admits(s.spent, cost) {
		return &RefusedError{Want: cost, Left: s.filter.Left(s.spent)}
	}
	s.spent = s.spent.Add(cost)
	return nil
}

// Spent returns the sums of all claims of what was admitted.
func (s *Spending) Spent() dp.Cost {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.spent
}

// Left returns what may still be spent. Another goroutine may spend it first.
func (s *Spending) Left() dp.Cost {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.filter.Left(s.spent)
}

// RefusedError is returned when a filter does not admit a charge. Nothing was
// spent. Left is unbounded where the filter has no limit.
type RefusedError struct{ Want, Left dp.Cost }

func (e *RefusedError) Error() string {
	limitsEpsilon := e.Left.Epsilon != dp.Unbounded
	limitsRho := e.Left.Rho != dp.Unbounded
	if limitsEpsilon && limitsRho { // one of the two is enough, and neither was
		limitsEpsilon, limitsRho = false, false
	}
	switch {
	case limitsEpsilon && e.Want.Epsilon == dp.Unbounded:
		return "this budget adds up epsilon, and concentrated or Gaussian privacy has no epsilon of its own, so it is refused and " +
			"nothing was spent: " +
			"use Laplace noise, or keep the budget in rho (ZCDPFilter), or, if the budget has a delta, charge the answer as the Approx " +
			"that it converts to at a delta"
	case limitsRho && e.Want.Rho == dp.Unbounded:
		return "this budget adds up rho, and the request has no rho, so it is refused and nothing was spent: charge the guarantee of " +
			"its mechanism"
	case e.Want.Delta > 0 && e.Left.Delta == 0 && limitsEpsilon:
		return fmt.Sprintf("this budget is pure, or its delta is used up, and the request wants delta %v, so it is refused and "+
			"nothing was spent: "+
			"use a mechanism without a delta, or keep the budget with one (BasicFilter, ZCDPFilter)", e.Want.Delta)
	}
	var want, left, most []string
	for _, c := range []struct {
		name       string
		want, left dp.Amount
	}{
		{"epsilon", e.Want.Epsilon, e.Left.Epsilon},
		{"rho", e.Want.Rho, e.Left.Rho},
		{"delta", e.Want.Delta, e.Left.Delta},
	} {
		if c.left == dp.Unbounded || c.want == 0 && c.left == 0 {
			continue
		}
		want = append(want, c.name+" "+c.want.String())
		left = append(left, c.name+" "+c.left.String())
		if c.want > c.left {
			most = append(most, c.name)
		}
	}
	return fmt.Sprintf("wanted %s, and left is %s, so it is refused and nothing was spent: ask for at most the %s that is left, "+
		"or stop here",
		strings.Join(want, ", "), strings.Join(left, ", "), strings.Join(most, " and "))
}
