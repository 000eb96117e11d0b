package policy

import (
	"math/big"

	"github.com/discreet-dp/discreet/account"
	"github.com/discreet-dp/discreet/dp"
)

// Budget is what all analysts together may learn about one person, for good.
type Budget struct {
	// Epsilon and Delta are the guarantee that holds at the end, however many
	// questions were asked and whoever colludes.
	Epsilon, Delta dp.Amount
	// DefaultEpsilon is what a question is asked at when the analyst names no
	// epsilon, and MaxEpsilon is the most that one question may name.
	DefaultEpsilon, MaxEpsilon dp.Amount
}

// Pure reports whether the budget is a sum of pure epsilons. A budget with a
// delta is a sum of rhos.
func (b Budget) Pure() bool { return b.Delta == 0 }

const (
	// maxEpsilon is far above every budget that means something. At epsilon 100 an
	// attacker's odds may grow by the factor e^100, about 10^43: to write more is a
	// slip of the pen.
	maxEpsilon = 100 * dp.One
	// A question that names no epsilon takes a twentieth of the budget.
	defaultPart = 20
)

// maxDelta is the largest delta. A mechanism may publish each person's row
// with probability delta and keep the promise, so at 1 in 100 it would be no promise.
var maxDelta = big.NewRat(1, 100)

// filterFor returns the filter that keeps the budget. All of delta goes into the
// conversion from rho, so the filter's own delta is zero, which is what
// mechanisms without a delta of their own need.
func (b Budget) filterFor() (account.Filter, error) {
	if b.Pure() {
		return account.PureFilter(b.Epsilon), nil
	}
	rho, err := account.Rho(b.Epsilon, b.Delta)
	if err != nil {
		return account.Filter{}, err
	}
	return account.ZCDPFilter(rho, 0), nil
}

// Filter returns the dataset's privacy filter, which holds against all analysts
// together. A budget that has no filter, which the file cannot give, admits nothing.
func (d *Dataset) Filter() account.Filter {
	if d.filterOf == d.Budget && d.Budget != (Budget{}) {
		return d.filter
	}
	f, err := d.Budget.filterFor()
	if err != nil {
		return account.Filter{}
	}
	return f
}

// Quota returns the part of the dataset's filter that the analyst may use, rounded
// down, and whether there is such an analyst. It is a quota and no
// guarantee of its own: what it admits the dataset's filter must admit as well.
func (d *Dataset) Quota(analyst string) (account.Filter, bool) {
	a, ok := d.Analysts[analyst]
	if !ok {
		return account.Filter{}, false
	}
	return d.quota(a.share()), true
}

func (d *Dataset) quota(share *big.Rat) account.Filter {
	limit := d.Filter().Limit()
	if d.Budget.Pure() {
		return account.PureFilter(part(limit.Epsilon, share))
	}
	return account.ZCDPFilter(part(limit.Rho, share), part(limit.Delta, share))
}

// part returns the share of an amount, rounded down; nothing where that is not
// an amount.
func part(a dp.Amount, share *big.Rat) dp.Amount {
	if a == dp.Unbounded {
		return a
	}
	got, err := dp.Floor(new(big.Rat).Mul(a.Rat(), share))
	if err != nil {
		return 0
	}
	return got
}

// readBudget reads epsilon, delta and the limits of one question.
func (d *Dataset) readBudget(r *reader, f fields) {
	v, ok := f.need(r, "budget", "for example budget: {epsilon: 1, delta: 1e-6}")
	if !ok {
		return
	}
	f, ok = r.fields(v, v.node, "a budget", budgetKeys)
	if !ok {
		return
	}
	b, ok := &d.Budget, true
	at, given := f.need(r, "epsilon", "the most that all answers together may reveal about one person, for example 1")
	if !given {
		ok = false
	} else if b.Epsilon, ok = r.amount(at, "epsilon"); ok && b.Epsilon > maxEpsilon {
		r.at(at, "epsilon %s is above 100; at 100 the odds of what an attacker believes may grow by e^100, about 10^43, which protects nobody; common budgets lie between 0.1 and 10", at.node.Value)
		ok = false
	}
	if at, given := f.get("delta"); given {
		ok = b.readDelta(r, at) && ok
	}
	if at, given := f.get("per_query"); given {
		b.readPerQuery(r, at, ok)
	}
	if !ok {
		return
	}
	b.fillPerQuery()
	filter, err := b.filterFor()
	if limit := filter.Limit(); err != nil {
		r.at(v, "this budget has no filter: %v", err)
		return
	} else if !b.Pure() && limit.Rho == 0 {
		r.at(v, "epsilon %v at delta %v is too little to spend any of it; raise epsilon, or write delta: 0 for a pure budget", b.Epsilon, b.Delta)
		return
	}
	d.filter, d.filterOf = filter, *b
}

func (b *Budget) readDelta(r *reader, at place) bool {
	n, ok := r.number(at, "delta")
	switch {
	case !ok:
		return false
	case n.Sign() < 0:
		r.at(at, "delta is negative; write 0 for a pure budget, or a small probability such as 1e-6")
	case n.Cmp(maxDelta) > 0:
		r.at(at, "delta %s is above 0.01; delta is the probability that the promise fails altogether, so it should lie well below 1 in the number of people; write for example 1e-6", at.node.Value)
	default:
		var err error
		if b.Delta, err = dp.Floor(n); err == nil && (n.Sign() == 0 || b.Delta > 0) {
			return true
		}
		// Rounding down to zero would silently turn the budget into another kind.
		r.at(at, "delta %s is below 2^-40, about 1e-12, the smallest amount that is counted; write 0 for a pure budget, or at least 1e-12", at.node.Value)
	}
	return false
}

// readPerQuery reads the limits of one question, and compares them with epsilon
// where that is known.
func (b *Budget) readPerQuery(r *reader, at place, epsilonOK bool) {
	f, ok := r.fields(at, at.node, "per_query", perQueryKeys)
	if !ok {
		return
	}
	def, defGiven := f.get("default")
	top, topGiven := f.get("max")
	if defGiven {
		b.DefaultEpsilon, defGiven = r.amount(def, "default")
	}
	if topGiven {
		b.MaxEpsilon, topGiven = r.amount(top, "max")
	}
	if topGiven && epsilonOK && b.MaxEpsilon > b.Epsilon {
		r.at(top, "max %s is above the whole budget, epsilon %v; write at most that", top.node.Value, b.Epsilon)
	}
	switch {
	case defGiven && topGiven && b.DefaultEpsilon > b.MaxEpsilon:
		r.at(def, "default %s is above max %s; the default must itself be allowed", def.node.Value, top.node.Value)
	case defGiven && !topGiven && epsilonOK && b.DefaultEpsilon > b.Epsilon:
		r.at(def, "default %s is above the whole budget, epsilon %v; write at most that", def.node.Value, b.Epsilon)
	}
}

// fillPerQuery gives the limits that were not written their defaults.
func (b *Budget) fillPerQuery() {
	if b.MaxEpsilon == 0 {
		b.MaxEpsilon = b.Epsilon
	}
	if b.DefaultEpsilon == 0 {
		b.DefaultEpsilon = max(1, min(b.Epsilon/defaultPart, b.MaxEpsilon))
	}
}
