package pricing

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/mech"
	"github.com/discreet-dp/discreet/internal/planner"
	"github.com/discreet-dp/discreet/internal/planner/syntax"
	"github.com/discreet-dp/discreet/policy"
)

// Priced is a statement with the noise of everything that it releases, and what that costs.
type Priced struct {
	Statement  *planner.Statement
	Settings   api.Settings
	Currency   Currency
	Epsilon    dp.Amount // what was asked for, or what an error came to
	Purchases  []*Purchase
	AnsweredBy []int // for each plan, which purchase its answer is made of
	raised     bool  // an error came to less than a question costs at least
}

// MaxBytes is what the noisy values of a statement may take, however they turn out, so that they
// can be kept. It is checked before anything is paid.
const (
	MaxBytes  = 62 << 20
	CellBytes = 21 // 20 digits and a comma
	maxCells  = MaxBytes / CellBytes
)

// Price calibrates the noise of everything that a statement releases, so that all together cost
// what was asked for.
//
//   - A pure budget adds up epsilon, and buys Laplace noise.
//   - An (epsilon, delta) budget adds up rho. A question at epsilon buys what an arbitrary
//     epsilon-differentially private mechanism would cost, rho = epsilon tanh(epsilon/2), and gets
//     Gaussian noise for it: less noise for the same rho than Laplace.
//
// Shares are equal: over the different questions of a statement, and inside of each over its
// measures and, where keys are private, their release. Let the error of a measure be counted in
// people: its noise over the most that one person adds to it. This is c/a for a share a of epsilon,
// or c/sqrt(a) for one of rho, with the same c for all counts and sums that have the same limits on
// groups, because the noise is in proportion to the sensitivity. So the largest of these errors
// falls with the smallest share, and among shares of a given sum the smallest is largest when all
// are equal.
//
// Shares are rounded down, noise is calibrated to the rounded share, and the charge is
// the sum of what the mechanisms claim, so it is exact and never above what was asked for.
//
// Where the budget is kept by either of the two sums a question has a price in each; see
// [Currencies] and [Sharper].
func Price(ds *policy.Dataset, st *planner.Statement, s api.Settings, c Currency) (*Priced, error) {
	p, err := newPriced(ds, st, s, c)
	if err != nil {
		return nil, err
	}
	for _, b := range p.Purchases {
		b.name = b.Hash()
	}
	return p, nil
}

func newPriced(ds *policy.Dataset, st *planner.Statement, s api.Settings, c Currency) (*Priced, error) {
	p := &Priced{Statement: st, Settings: s, Currency: c}
	p.addPurchases(ds.Budget)
	if len(p.Purchases) == 0 { // of public tables alone
		return p, nil
	}
	if err := p.refuseTooMany(); err != nil {
		return nil, err
	}
	if p.paidCount() == 0 {
		return p, nil
	}
	if p.Currency.Pure && s.Mechanism == "gaussian" {
		if !ds.Budget.Pure() {
			return nil, syntax.Refuse(syntax.BadValue, -1, "use laplace", "the owner has chosen Laplace noise for this dataset")
		}
		return nil, syntax.Refuse(syntax.BadValue, -1, "use laplace, or ask the owner for a budget with a delta",
			"Gaussian noise has no pure epsilon, and the budget of this dataset is a pure one")
	}
	if s.Error != nil {
		return p, p.priceByError(ds)
	}
	if p.Epsilon = s.Epsilon; p.Epsilon == 0 {
		p.Epsilon = ds.Budget.DefaultEpsilon
	}
	if p.Epsilon > ds.Budget.MaxEpsilon {
		return nil,
			syntax.Refuse(syntax.BadValue, -1, "ask with at most "+ds.Budget.MaxEpsilon.String(),
				"epsilon %v is more than one question may cost here", p.Epsilon)
	}
	if least := p.leastPrice(ds.Budget); p.Epsilon+least>>30+1 < least { // as it is shown, it may be rounded by that much
		return nil, syntax.Refuse(syntax.BadValue, -1, "ask with at least "+least.String(), "epsilon %v is less than %s costs here",
			p.Epsilon, p.sayLeastOf())
	}
	if p.sharesNoise(ds) {
		p.joinSets()
		p.markRunning()
	}
	return p, p.divide(ds, p.Currency.Amount(p.Epsilon))
}

// leastPrice is the smallest price of the statement: what its different questions would cost at
// least one by one. Some of them may be paid for already, and the others would be had for next to
// nothing if they could share the price of one. The default is always enough.
func (p *Priced) leastPrice(b policy.Budget) dp.Amount {
	if p.paidCount() < 2 {
		return b.MinEpsilon
	}
	all := p.Currency.epsilon(p.Currency.Amount(b.MinEpsilon) * dp.Amount(p.paidCount()))
	return max(b.MinEpsilon, min(all, b.DefaultEpsilon))
}

// sayLeastOf says what a least price is of.
func (p *Priced) sayLeastOf() string {
	if p.paidCount() < 2 {
		return "a question"
	}
	return fmt.Sprintf("a statement of %d questions", p.paidCount())
}

// paidCount is how many purchases have a price. Lists of public keys have none.
func (p *Priced) paidCount() int {
	n := 0
	for _, b := range p.Purchases {
		if !b.Query.ListsKeys() {
			n++
		}
	}
	return n
}

// addPurchases finds the different queries of a statement. Those that are the same are bought once.
func (p *Priced) addPurchases(budget policy.Budget) {
	least := dp.Amount(0)
	if p.Currency.Pure && !budget.Pure() {
		least = rhoFor(budget.MinEpsilon)
	}
	hashes := []string{}
	for _, one := range p.Statement.Plans {
		hash := one.Query.Hash()
		i := slices.Index(hashes, hash)
		if i < 0 {
			i = len(hashes)
			hashes = append(hashes, hash)
			p.Purchases = append(p.Purchases, &Purchase{Query: &one.Query, pure: p.Currency.Pure, leastRho: least})
		}
		p.AnsweredBy = append(p.AnsweredBy, i)
	}
}

// refuseTooMany refuses what the ledger could not keep.
func (p *Priced) refuseTooMany() error {
	cells := 0
	for _, b := range p.Purchases {
		cells += b.Cells() // each is at most 2^31
	}
	if cells > maxCells {
		return syntax.Refuse(syntax.TooComplex, -1, "group by fewer columns, or ask for fewer aggregates at a time",
			"the answer would have %d noisy numbers, and at most %d can be kept", cells, maxCells)
	}
	return nil
}

// Room is how many bytes each purchase with private keys has in the ledger.
func (p *Priced) Room() int {
	room, private := MaxBytes, 0
	for _, b := range p.Purchases {
		if len(b.Query.PrivateKeys()) > 0 {
			private++
		} else {
			room -= b.Cells() * CellBytes
		}
	}
	return room / max(1, private)
}

// divide gives every purchase an equal share of an amount; those that are released together have
// theirs together.
func (p *Priced) divide(ds *policy.Dataset, amount dp.Amount) error {
	for _, c := range p.cubes() {
		if !c.calibrate(amount / dp.Amount(p.paidCount()) * dp.Amount(len(c.Members))) {
			for _, b := range c.Members {
				b.Cube = nil
			}
		}
	}
	for _, b := range p.Purchases {
		if b.Query.ListsKeys() || b.Cube != nil {
			continue
		}
		share := amount / dp.Amount(p.paidCount()) / dp.Amount(b.shares())
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

// calibrate makes the mechanisms of a purchase, one for each share: the measures, and then private
// keys, which take the share of the measure that decides them where there is one.
func (p *Priced) calibrate(ds *policy.Dataset, b *Purchase, shares []dp.Amount) error {
	b.Noise, b.Twins, b.Keys, b.Choice = nil, nil, nil, nil
	err := func() error {
		if b.Query.Choice != nil {
			var err error
			b.Choice, err = newChoice(b.Query, p.Currency, shares[0])
			return err
		}
		decider := b.Query.Decider()
		for i, m := range b.Query.Measures {
			if i == decider {
				b.Noise = append(b.Noise, Noise{})
				continue
			}
			n, err := newNoise(b.Query, m, p.Currency, shares[i], p.Settings.Mechanism)
			if err != nil {
				return err
			}
			if b.isRunning(i) {
				n = runningNoise(b.Query, m, shares[i], n)
			}
			b.Noise = append(b.Noise, n)
		}
		if err := p.newTwins(b, shares); err != nil {
			return err
		}
		if len(b.Query.PrivateKeys()) == 0 {
			return nil
		}
		delta, err := p.delta(ds)
		if err != nil {
			return err
		}
		share := shares[len(shares)-1]
		if decider >= 0 {
			share = shares[decider]
		}
		if b.Keys, err = newKeys(b.Query, p.Currency, share, delta, p.Settings.Mechanism); err == nil && decider >= 0 {
			b.Noise[decider] = Noise{Mechanism: b.Keys.Threshold.Noise(), Decides: true}
		}
		return err
	}()
	var refused *api.Refusal
	switch {
	case errors.As(err, &refused):
		return err
	case errors.Is(err, mech.ErrNoPrivacy):
		return syntax.Refuse(syntax.BadValue, -1, "ask with a larger epsilon, or for fewer aggregates",
			"epsilon %v is too small to be shared among what the question asks for", p.Epsilon)
	case err != nil:
		return syntax.Refuse(syntax.BadValue, -1, "", "%v", err)
	}
	return nil
}

// delta returns what each purchase with private keys may take of the delta.
func (p *Priced) delta(ds *policy.Dataset) (dp.Amount, error) {
	budget := ds.Budget
	delta := p.Settings.Delta
	switch {
	case budget.KeysDelta == 0:
		return 0, syntax.Refuse(syntax.Private, -1,
			"list the keys you want with IN (...) in WHERE, or ask the owner to set a delta aside for private keys",
			"the budget has nothing set aside for private keys")
	case delta > budget.KeysDelta:
		return 0, syntax.Refuse(syntax.BadValue, -1, "set dp.delta to at most "+budget.KeysDelta.String(),
			"delta %v is more than the budget has for private keys", delta)
	case delta == 0:
		delta = budget.DefaultDelta
	}
	n := 0
	for _, b := range p.Purchases {
		if len(b.Query.PrivateKeys()) > 0 {
			n++
		}
	}
	if delta /= dp.Amount(n); delta == 0 {
		return 0, syntax.Refuse(syntax.BadValue, -1, "set dp.delta to a larger value",
			"the delta is too small to release private keys with")
	}
	return delta, nil
}

// Tag is the price of some purchases as an analyst reads it: epsilon is the price tag that was
// asked for, rho and delta are what the mechanisms claim.
func (p *Priced) Tag(buys []*Purchase) dp.Cost {
	t := Cost(buys)
	if !p.Currency.Pure && len(buys) > 0 {
		t.Epsilon = p.Epsilon
		if len(buys) < p.paidCount() {
			t.Epsilon = p.Currency.epsilon(t.Rho)
		}
	}
	return t
}

// Cost is the sum of what the mechanisms of some purchases claim.
func Cost(buys []*Purchase) dp.Cost {
	var sum dp.Cost
	for _, b := range buys {
		sum = sum.Add(b.Cost())
	}
	return sum
}

// Currency is what a budget adds up.
type Currency struct{ Pure bool }

func (c Currency) budget() mech.Currency {
	if c.Pure {
		return mech.Pure
	}
	return mech.Concentrated
}

// Amount is what a question at epsilon buys: the tariff.
func (c Currency) Amount(epsilon dp.Amount) dp.Amount {
	if c.Pure {
		return epsilon
	}
	return rhoFor(epsilon)
}

// epsilon is the smallest price that buys an amount: the tariff read backwards.
func (c Currency) epsilon(amount dp.Amount) dp.Amount {
	if c.Pure {
		return amount
	}
	return Largest(0, MostTariff, func(e dp.Amount) bool { return rhoFor(e) < amount }) + 1
}

// Half is the price of each of two questions that together cost what one does at another price.
func (c Currency) Half(epsilon dp.Amount) dp.Amount {
	half := c.epsilon(c.Amount(epsilon) / 2)
	if !c.Pure && half > 0 && 2*rhoFor(half) > rhoFor(epsilon) {
		half--
	}
	return half
}

// Read is a cost as an analyst reads it: in rho, with the smallest price that buys as much.
func (c Currency) Read(cost dp.Cost) dp.Cost {
	if !c.Pure && cost.Rho > 0 {
		cost.Epsilon = c.epsilon(cost.Rho)
	}
	return cost
}

// MostTariff is far above every epsilon that a policy allows.
const MostTariff = dp.One << 10

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

// Plus adds two prices as an analyst reads them: epsilon is a price tag where rho is what adds up.
func (c Currency) Plus(a, b dp.Cost) dp.Cost {
	sum := a.Add(b)
	if (!c.Pure || sum.Epsilon == dp.Unbounded) && sum.Rho > 0 {
		sum.Epsilon = Currency{}.epsilon(sum.Rho)
		if b == (dp.Cost{}) {
			sum.Epsilon = a.Epsilon
		}
	}
	return sum
}

// Affordable returns the largest epsilon, rounded down, that a question can still be
// asked at when this much is left: the inverse of the tariff.
func Affordable(left dp.Cost) dp.Amount {
	most := dp.Amount(0)
	if left.Epsilon != dp.Unbounded {
		most = left.Epsilon
	}
	if left.Rho == dp.Unbounded {
		return most
	}
	return max(most, Largest(0, MostTariff, func(e dp.Amount) bool { return rhoFor(e) <= left.Rho }))
}

// Settings returns the settings with the price in them.
func Settings(q api.Question) (api.Settings, error) {
	s := q.Settings
	if q.Epsilon > 0 {
		if s.Epsilon > 0 && s.Epsilon != q.Epsilon {
			return s, syntax.Refuse(syntax.BadValue, -1, "name one of them", "the question names two prices, epsilon %v and epsilon %v",
				q.Epsilon, s.Epsilon)
		}
		s.Epsilon = q.Epsilon
	}
	if err := s.Check(); err != nil {
		return s, syntax.Refuse(syntax.BadValue, -1, "", "%v", err)
	}
	return s, nil
}

// Currencies are those that a question may be priced in. A budget that is kept by either of two
// sums has two: Laplace noise, which is paid for in epsilon, and Gaussian noise, paid for in rho.
func Currencies(b policy.Budget, s api.Settings) []Currency {
	pure, concentrated := Currency{Pure: true}, Currency{}
	switch {
	case b.Pure():
		return []Currency{pure}
	case !b.Either():
		return []Currency{concentrated}
	case b.Noise == "laplace":
		return []Currency{pure}
	case s.Mechanism == "gaussian":
		return []Currency{concentrated}
	}
	return []Currency{pure, concentrated}
}

// Sharper is the rule by which a question with two prices gets its noise, from what is public: the
// prices, and for each of them the part of what is left that it takes (budgets.Takes). It reports
// whether the first price, in epsilon, is to be taken.
//
// What both would be for the same part of what is left is compared. The variance of Gaussian noise
// goes with the inverse of its rho, so at the part of the first price the second one would have its
// variance times its part over that. Of a price that what is left does not admit the part is
// infinite, and it is not taken where the other one is admitted. Several releases are compared by
// their geometric mean.
//
// For n equal counts of a budget this is 2 n^2/epsilon^2 against n/(2 rho), so that up to epsilon^2
// over 4 rho questions are better off with Laplace noise: 10 of (1, 1e-6).
func Sharper(pure, concentrated *Priced, purePart, otherPart float64) bool {
	switch {
	case math.IsInf(otherPart, 1):
		return !math.IsInf(purePart, 1)
	case math.IsInf(purePart, 1):
		return false
	}
	return pure.meanLogVariance()+math.Log(purePart) <= concentrated.meanLogVariance()+math.Log(otherPart)
}

// meanLogVariance is the mean logarithm of the variances of everything that is released: of noise
// its own, of quantiles and choices that of what their ranks and scores are told apart by, and of
// private keys the square of how many people a key needs.
func (p *Priced) meanLogVariance() float64 {
	sum, n := 0.0, 0
	add := func(logarithm float64) { sum, n = sum+logarithm, n+1 }
	for _, b := range p.Purchases {
		if b.Choice != nil {
			add(2 * logOf(b.Choice.Top.Selector().Parameter()))
		}
		for _, m := range b.Noise {
			switch {
			case m.Quantiles != nil:
				for _, scale := range m.Quantiles.Parameters() {
					add(2 * logOf(scale))
				}
			case m.Running != nil: // as plain noise that has running totals of this variance
				add(math.Log(m.Running.MeanVariance() * 2 / float64(b.Query.Groups()+1)))
			default:
				add(math.Log(mech.Variance(m.Mechanism)))
			}
		}
		if b.Keys != nil {
			add(2 * math.Log(float64(b.Keys.KeptFrom())))
		}
	}
	return sum / float64(max(n, 1))
}

func logOf(r *big.Rat) float64 {
	f, _ := r.Float64()
	return math.Log(f)
}

// SayNoise says which noise was taken, and why not the other, of which a part of what is left is
// given: infinite where it is not to be had, and 0 where it was not looked at.
func (p *Priced) SayNoise(otherPart float64) string {
	taken, other := "Gaussian noise, paid for in rho", "Laplace noise, paid for in epsilon"
	if p.Currency.Pure {
		taken, other = other, taken
	}
	switch {
	case otherPart == 0:
		return taken + ": this was paid for before"
	case math.IsInf(otherPart, 1):
		return taken + ": not enough is left for " + other
	}
	return taken + ": for the same share of what is left it is sharper than " + other
}
