package curator

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/plan/syntax"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/mech"
	"github.com/discreet-dp/discreet/policy"
)

// priced is a statement with the noise of everything that it releases, and what that costs.
type priced struct {
	statement *plan.Statement
	settings  api.Settings
	currency  currency
	epsilon   dp.Amount // what was asked for, or what an error came to
	buys      []*purchase
	of        []int // for each plan, which purchase its answer is made of
	outer     *outside
	raised    bool // an error came to less than a question costs at least
}

// maxBytes is what the noisy values of a statement may take, however they turn out, so that the ledger can
// keep them. It is checked before anything is paid.
const (
	maxBytes  = ledger.MaxAnswer - 2<<20 // the rest is for what the values are of
	cellBytes = 21                       // 20 digits and a comma
	maxCells  = maxBytes / cellBytes
)

// price calibrates the noise of everything that a statement releases, so that all together cost what was
// asked for.
//
//   - A pure budget adds up epsilon, and buys Laplace noise.
//   - An (epsilon, delta) budget adds up rho. A question at epsilon buys what an arbitrary
//     epsilon-differentially private mechanism would cost, rho = epsilon tanh(epsilon/2), and gets Gaussian
//     noise for it: less noise for the same rho than Laplace.
//
// Shares are equal: over the different questions of a statement, and inside of each over its measures and, where
// keys are private, their release. Let the error of a measure be counted in people: its noise over the most
// that one person adds to it. This is c/a for a share a of epsilon, or c/sqrt(a) for one of rho, with the same
// c for all counts and sums that have the same limits on groups, because the noise is in proportion
// to the sensitivity. So the largest of these errors falls with the smallest share, and among shares of a given sum
// the smallest is largest when all are equal.
//
// Shares are rounded down, noise is calibrated to the rounded share, and the charge is
// the sum of what the mechanisms claim, so it is exact and never above what was asked for.
func price(ds *policy.Dataset, st *plan.Statement, s api.Settings) (*priced, error) {
	p := &priced{statement: st, settings: s, currency: currency{ds.Budget.Pure()}}
	p.distinct()
	if err := p.fits(); err != nil {
		return nil, err
	}
	if p.currency.pure && s.Mechanism == "gaussian" {
		return nil, refusal("use laplace, or ask the owner for a budget with a delta", "Gaussian noise has no pure epsilon, and the budget of this dataset is a pure one")
	}
	if s.Error != nil {
		return p, p.byError(ds)
	}
	if p.epsilon = s.Epsilon; p.epsilon == 0 {
		p.epsilon = ds.Budget.DefaultEpsilon
	}
	if p.epsilon > ds.Budget.MaxEpsilon {
		return nil, refusal("ask with at most "+ds.Budget.MaxEpsilon.String(), "epsilon %v is more than one question may cost here", p.epsilon)
	}
	if least := p.least(ds.Budget); p.epsilon+least>>30+1 < least { // as it is shown, it may be rounded by that much
		return nil, refusal("ask with at least "+least.String(), "epsilon %v is less than %s costs here", p.epsilon, p.several())
	}
	return p, p.buy(ds, p.currency.amount(p.epsilon))
}

// least is the smallest price of the statement: what its different questions would cost at least one by one. Some of them may be paid for
// already, and the others would be had for next to nothing if they could share the price of one. The
// default is always enough.
func (p *priced) least(b policy.Budget) dp.Amount {
	if len(p.buys) < 2 {
		return b.MinEpsilon
	}
	all := p.currency.epsilon(p.currency.amount(b.MinEpsilon) * dp.Amount(len(p.buys)))
	return max(b.MinEpsilon, min(all, b.DefaultEpsilon))
}

// several says what a least price is of.
func (p *priced) several() string {
	if len(p.buys) < 2 {
		return "a question"
	}
	return fmt.Sprintf("a statement of %d questions", len(p.buys))
}

// distinct finds the different queries of a statement. Those that are the same are bought once.
func (p *priced) distinct() {
	hashes := []string{}
	for _, one := range p.statement.Plans {
		hash := one.Query.Hash()
		i := slices.Index(hashes, hash)
		if i < 0 {
			i = len(hashes)
			hashes = append(hashes, hash)
			p.buys = append(p.buys, &purchase{query: &one.Query, pure: p.currency.pure})
		}
		p.of = append(p.of, i)
	}
}

// fits refuses what the ledger could not keep.
func (p *priced) fits() error {
	cells := 0
	for _, b := range p.buys {
		cells += b.cells() // each is at most 2^31
	}
	if cells > maxCells {
		return refusal("group by fewer columns, or ask for fewer aggregates at a time", "the answer would have %d noisy numbers, and %d can be kept", cells, maxCells)
	}
	return nil
}

// buy gives every purchase an equal share of an amount.
func (p *priced) buy(ds *policy.Dataset, amount dp.Amount) error {
	for _, b := range p.buys {
		share := amount / dp.Amount(len(p.buys)) / dp.Amount(b.shares())
		shares := make([]dp.Amount, b.shares())
		for i := range shares {
			shares[i] = share
		}
		if err := p.calibrate(ds, b, shares); err != nil {
			return err
		}
	}
	return nil
}

// calibrate makes the mechanisms of a purchase, one for each share: the measures, and then private keys.
func (p *priced) calibrate(ds *policy.Dataset, b *purchase, shares []dp.Amount) error {
	b.noise, b.keys, b.choice = nil, nil, nil
	err := func() error {
		if b.query.Choice != nil {
			var err error
			b.choice, err = newChoice(b.query, p.currency, shares[0])
			return err
		}
		for i, m := range b.query.Measures {
			n, err := newNoise(b.query, m, p.currency, shares[i], p.settings.Mechanism)
			if err != nil {
				return err
			}
			b.noise = append(b.noise, n)
		}
		if len(b.query.PrivateKeys()) == 0 {
			return nil
		}
		delta, err := p.delta(ds)
		if err != nil {
			return err
		}
		b.keys, err = newKeys(b.query, shares[len(shares)-1], delta)
		return err
	}()
	var refused *syntax.Refusal
	switch {
	case errors.As(err, &refused):
		return err
	case errors.Is(err, mech.ErrNoPrivacy):
		return refusal("ask with a larger epsilon, or for fewer aggregates", "epsilon %v is too small to be shared among what the question asks for", p.epsilon)
	case err != nil:
		return refusal("", "%v", err)
	}
	return nil
}

// delta returns what each purchase with private keys may take of the delta.
func (p *priced) delta(ds *policy.Dataset) (dp.Amount, error) {
	budget := ds.Budget
	delta := p.settings.Delta
	switch {
	case budget.KeysDelta == 0:
		return 0, refusal("list the keys you want with IN (...) in WHERE, or ask the owner to set a delta aside for private keys", "the budget has nothing set aside for private keys")
	case delta > budget.KeysDelta:
		return 0, refusal("set dp.delta to at most "+budget.KeysDelta.String(), "delta %v is more than the budget has for private keys", delta)
	case delta == 0:
		delta = budget.DefaultDelta
	}
	n := 0
	for _, b := range p.buys {
		if len(b.query.PrivateKeys()) > 0 {
			n++
		}
	}
	if delta /= dp.Amount(n); delta == 0 {
		return 0, refusal("set dp.delta to a larger one", "the delta is too small to release private keys with")
	}
	return delta, nil
}

// tag is the price of some purchases as an analyst reads it: epsilon is the price tag that was asked
// for, rho and delta are what the mechanisms claim.
func (p *priced) tag(buys []*purchase) dp.Cost {
	t := cost(buys)
	if !p.currency.pure && len(buys) > 0 {
		t.Epsilon = p.epsilon
		if len(buys) < len(p.buys) {
			t.Epsilon = p.currency.epsilon(t.Rho)
		}
	}
	return t
}

// cost is the sum of what the mechanisms of some purchases claim.
func cost(buys []*purchase) dp.Cost {
	var sum dp.Cost
	for _, b := range buys {
		sum = sum.Add(b.cost())
	}
	return sum
}

// currency is what a budget adds up.
type currency struct{ pure bool }

func (c currency) budget() mech.Budget {
	if c.pure {
		return mech.Pure
	}
	return mech.Concentrated
}

// amount is what a question at epsilon buys: the tariff.
func (c currency) amount(epsilon dp.Amount) dp.Amount {
	if c.pure {
		return epsilon
	}
	return rhoFor(epsilon)
}

// epsilon is the smallest price that buys an amount: the tariff read backwards.
func (c currency) epsilon(amount dp.Amount) dp.Amount {
	if c.pure {
		return amount
	}
	low, high := dp.Amount(0), mostTariff
	for high-low > 1 {
		if middle := low + (high-low)/2; rhoFor(middle) >= amount {
			high = middle
		} else {
			low = middle
		}
	}
	return high
}

// mostTariff is far above every epsilon that a policy allows.
const mostTariff = dp.One << 10

// rhoFor returns what a question at epsilon buys from a zCDP budget. Any pure
// epsilon-differentially private mechanism is rho-zCDP at this rho, and at no smaller one
// (randomized response attains it). It is a tariff, not a claim: the noise is calibrated to
// the rho that is charged, so rounding cannot undercharge.
func rhoFor(epsilon dp.Amount) dp.Amount {
	e := epsilon.Float()
	rho, err := dp.FloorFloat(e * math.Tanh(e/2))
	if err != nil {
		return 0
	}
	return rho
}

// plus adds two prices as an analyst reads them: epsilon is a price tag where rho is what adds up.
func (c currency) plus(a, b dp.Cost) dp.Cost {
	sum := a.Add(b)
	if !c.pure && sum.Rho > 0 {
		sum.Epsilon = c.epsilon(sum.Rho)
		if b == (dp.Cost{}) {
			sum.Epsilon = a.Epsilon
		}
	}
	return sum
}

// affordable returns the largest epsilon, rounded down, that a question can still be
// asked at when this much is left: the inverse of the tariff.
func affordable(left dp.Cost) dp.Amount {
	if left.Epsilon != dp.Unbounded {
		return left.Epsilon
	}
	low, high := dp.Amount(0), mostTariff
	for high-low > 1 {
		if middle := low + (high-low)/2; rhoFor(middle) <= left.Rho {
			low = middle
		} else {
			high = middle
		}
	}
	return low
}
