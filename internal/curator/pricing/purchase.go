package pricing

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/mech"
	"github.com/discreet-dp/discreet/internal/planner/syntax"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/policy"
)

// Purchase is a private query with its noise: what is paid for, kept and recalled as one.
type Purchase struct {
	Query *tree.Query
	pure  bool
	// leastRho is what it takes at least of a budget that adds up both sums, where it is paid for
	// in epsilon: see Cost.
	leastRho dp.Amount
	Noise    []Noise    // one for each measure; none where there is a choice
	Twins    [][2]int   // measures that are released as one vector, with the noise of the first
	Keys     *KeyRule   // nil where all keys are public
	Choice   *selection // nil where measures are released
	Cube     *Cube      // what it is released with; nil where it is by itself

	running []int // the measures of which running totals are made

	name string // the hash, once the noise is calibrated
}

// shares is into how many parts the price of the purchase goes: one for each measure, and one for
// private keys, unless a measure is released with them.
func (b *Purchase) shares() int {
	n := len(b.Query.Measures)
	if len(b.Query.PrivateKeys()) > 0 && b.Query.Decider() < 0 {
		n++
	}
	return n
}

// Cells is how many noisy numbers there are: for each combination of private keys, where there are
// such.
func (b *Purchase) Cells() int {
	if b.Query.Choice != nil {
		return b.Query.Choice.K
	}
	n := 0
	for _, m := range b.Query.Measures {
		n++
		n += len(m.At) // with the brackets around them counted as one more
	}
	return b.Query.Groups() * n
}

// Steps is how often numbers of any size are multiplied and added to release the purchase, with all
// that it is released with; 0 where each number has noise of its own. It is public, like the noise.
func (b *Purchase) Steps() (sum float64) {
	if b.Cube != nil {
		return b.Cube.steps()
	}
	for _, n := range b.Noise {
		if n.Running != nil { // two products of a triangle with the numbers
			sum += float64(b.Query.Groups()) * float64(b.Query.Groups()+1)
		}
	}
	return sum
}

// Cost is the sum of what the mechanisms themselves claim. Laplace noise on a vector may claim far
// less rho than its epsilon stands for, so that of a budget that adds up both, the least that one
// may ask at would bound no number of answers, which are kept for good. It takes as much rho as
// anything at its epsilon may, up to that of the least.
func (b *Purchase) Cost() dp.Cost {
	sum := b.claimed()
	if b.leastRho > 0 {
		sum.Rho = max(sum.Rho, min(b.leastRho, rhoFor(sum.Epsilon)))
	}
	return sum
}

func (b *Purchase) claimed() dp.Cost {
	if b.Choice != nil {
		return b.Choice.Top.Cost()
	}
	if b.Cube != nil {
		return b.Cube.part(b)
	}
	var sum dp.Cost
	for _, n := range b.Noise {
		sum = sum.Add(n.cost())
	}
	if b.Keys != nil {
		sum = sum.Add(b.Keys.cost())
	}
	return sum
}

// CostAfter is what the purchase costs where it is made of an answer with more noise: for each
// measure the difference, and nothing where the noise stays as it is.
func (b *Purchase) CostAfter(by []mech.Sharper) dp.Cost {
	var sum dp.Cost
	for _, s := range by {
		if s != nil {
			sum = sum.Add(s.Cost())
		}
	}
	return sum
}

// spelling names every mechanism with its exact parameters.
func (b *Purchase) spelling() string {
	var parts []string
	for _, n := range b.Noise {
		parts = append(parts, n.spelling())
	}
	if b.Keys != nil {
		parts = append(parts, b.Keys.spelling())
	}
	if b.Choice != nil {
		parts = append(parts, b.Choice.spelling())
	}
	if b.Cube != nil {
		parts = append(parts, "of "+b.Cube.hash())
	}
	return strings.Join(parts, " ")
}

// Hash names the private query together with its noise. It is asked for several times on the way of
// a question, and made once, when all that it names is there.
func (b *Purchase) Hash() string {
	if b.name != "" {
		return b.name
	}
	return b.hash()
}

func (b *Purchase) hash() string {
	h := sha256.New()
	fmt.Fprintln(h, b.Query.Hash())
	fmt.Fprintln(h, b.spelling())
	return hex.EncodeToString(h.Sum(nil))
}

// Unchanged reports whether the query and its noise are those that the purchase is named by.
func (b *Purchase) Unchanged() bool { return b.hash() == b.Hash() }

// Key names the answer: the same private query and noise on the same data.
func (b *Purchase) Key(version string) string {
	return b.Query.Dataset + " " + version + " " + b.Hash()
}

// HashAll names several purchases together, in any order; one by itself has its own name.
func HashAll(buys []*Purchase) string {
	var all []string
	for _, b := range buys {
		all = append(all, b.Hash())
	}
	if len(all) == 1 {
		return all[0]
	}
	slices.Sort(all)
	h := sha256.Sum256([]byte(strings.Join(all, " ")))
	return hex.EncodeToString(h[:])
}

// Mechanisms names the noise of several purchases for the ledger.
func Mechanisms(buys []*Purchase) string {
	var parts []string
	for _, b := range buys {
		parts = append(parts, b.spelling())
	}
	return Shorten(strings.Join(parts, " "), 4000)
}

// Shorten cuts a text that the ledger has no room for.
func Shorten(s string, n int) string {
	if len(s) > n {
		return s[:n] + "..."
	}
	return s
}

func (b *Purchase) Names() []string {
	names := make([]string, len(b.Query.Measures))
	for i, m := range b.Query.Measures {
		names[i] = m.Name()
	}
	return names
}

// Reusable reports whether other questions may be answered with the values: those have noise alone,
// in public groups.
func (b *Purchase) Reusable() bool {
	if b.Choice != nil || b.Keys != nil || len(b.Noise) == 0 {
		return false
	}
	for _, n := range b.Noise {
		if n.Quantiles != nil {
			return false
		}
	}
	return true
}

// priceByError finds the smallest price at which every count and sum of the statement has the error
// bar that was asked for. The error of a mechanism falls as its share grows, so each share is found
// by halving, and the price is their sum. Private keys get as much as the dearest measure of their
// question. Where the sum is below the least that a question costs, that is paid, and everything is
// more exact in proportion.
//
// What has no error that is known beforehand cannot be asked for in this way: variances, quantiles
// and choices depend on what the answer is, and averages on how many values there are.
func (p *Priced) priceByError(ds *policy.Dataset) error {
	if err := p.refuseUnknownErrors(); err != nil {
		return err
	}
	if hasAverages(p.Statement) {
		return priceOfAverages(p, ds)
	}
	most := p.Currency.Amount(ds.Budget.MaxEpsilon)
	found := map[string]dp.Amount{} // the same noise for the same error is looked for once
	total := dp.Amount(0)
	all := make([][]dp.Amount, len(p.Purchases))
	for i, b := range p.Purchases {
		dearest := dp.Amount(0)
		for j, m := range b.Query.Measures {
			k := Steps(p.Settings.Error, m)
			decides := j == b.Query.Decider()
			name := fmt.Sprint(b.Query.Sensitivity(m, dp.L1), b.Query.Sensitivity(m, dp.L2), k, decides)
			share, known := found[name]
			if !known {
				var err error
				if share, err = p.smallestShare(ds, b.Query, j, k, most); err != nil {
					return err
				}
				found[name] = share
			}
			if share == 0 {
				return p.refuseTooExact(ds)
			}
			dearest = max(dearest, share)
			all[i] = append(all[i], share)
			total = total.Add(share)
		}
		if len(b.Query.PrivateKeys()) > 0 && b.Query.Decider() < 0 {
			all[i] = append(all[i], dearest)
			total = total.Add(dearest)
		}
	}
	if total > most {
		return p.refuseTooExact(ds)
	}
	p.Epsilon = p.Currency.epsilon(total)
	if epsilon := p.leastPrice(ds.Budget); total < p.Currency.Amount(epsilon) {
		p.Epsilon, p.raised = epsilon, true
		raise(all, total, p.Currency.Amount(epsilon))
	}
	for i, b := range p.Purchases {
		if err := p.calibrate(ds, b, all[i]); err != nil {
			return err
		}
	}
	return nil
}

// raise makes shares that add up to a total add up to more, in proportion and rounded down. None
// gets smaller.
func raise(all [][]dp.Amount, total, to dp.Amount) {
	for _, shares := range all {
		for i, s := range shares {
			high, low := bits.Mul64(uint64(s), uint64(to))
			more, _ := bits.Div64(high, low, uint64(total)) // s <= total, so it is at most to
			shares[i] = dp.Amount(more)
		}
	}
}

func (p *Priced) refuseUnknownErrors() error {
	const instead = "name a price with dp.epsilon, or select COUNT and SUM, whose errors are known beforehand"
	const expect = "set dp.values to about how many values the smallest average is of, or name a price with dp.epsilon"
	for _, one := range p.Statement.Plans {
		if one.Query.ListsKeys() {
			continue
		}
		if one.Query.Choice != nil {
			return syntax.Refuse(syntax.BadValue, -1, instead, "dp.error cannot be used with a choice of the best groups")
		}
		if len(one.Query.Measures) == 0 {
			return syntax.Refuse(syntax.BadValue, -1, instead, "dp.error needs a count or a sum")
		}
		for _, s := range one.Stats {
			switch {
			case s.Kind == tree.AverageStat && p.Settings.Values == 0:
				return syntax.Refuse(syntax.BadValue, -1, expect,
					"dp.error needs dp.values for averages: how exact they are depends on how many values there are")
			case !s.Kind.Exact() && s.Kind != tree.MeasureStat && s.Kind != tree.AverageStat:
				return syntax.Refuse(syntax.BadValue, -1, instead,
					"dp.error cannot be used with variances and quantiles: their errors depend on the answer")
			}
		}
		for _, o := range one.Columns {
			if _, alone := o.Expr.(*tree.Released); !alone && one.IsNoisy(o.Expr) {
				return syntax.Refuse(syntax.BadValue, -1, instead+"; compute with them in a query around this one",
					"dp.error cannot be used with %s, which is computed from noisy numbers", strconv.Quote(o.Name))
			}
		}
	}
	return nil
}

// smallestShare is the smallest share at which a measure is within k steps; 0 where not even the
// most is enough.
func (p *Priced) smallestShare(ds *policy.Dataset, q *tree.Query, measure int, k int64, most dp.Amount) (dp.Amount, error) {
	made := func(share dp.Amount) (mech.Mechanism, error) {
		n, err := newNoise(q, q.Measures[measure], p.Currency, share, p.Settings.Mechanism)
		return n.Mechanism, err
	}
	if measure == q.Decider() {
		delta, err := p.delta(ds)
		if err != nil {
			return 0, err
		}
		made = func(share dp.Amount) (mech.Mechanism, error) {
			rule, err := newKeys(q, p.Currency, share, delta, p.Settings.Mechanism)
			if err != nil {
				return nil, err
			}
			return rule.Threshold.Noise(), nil
		}
	}
	misses := func(share dp.Amount) bool {
		n, err := made(share)
		return err != nil || n.HalfWidth(p.Beta()) > k
	}
	if misses(most) {
		return 0, nil
	}
	return Largest(0, most, misses) + 1, nil
}

// Beta is the probability that an exact value is outside of its error bar.
func (p *Priced) Beta() float64 { return 1 - p.Settings.Level() }

// refuseTooExact refuses an error that no allowed price has, and says which one can be had: that of
// equal shares of the most.
func (p *Priced) refuseTooExact(ds *policy.Dataset) error {
	most := ds.Budget.MaxEpsilon
	p.Epsilon = most
	if err := p.divide(ds, p.Currency.Amount(most)); err != nil {
		return err
	}
	worst := worstError(p, true)
	asked, _ := p.Settings.Show("dp.error")
	return syntax.Refuse(syntax.BadValue, -1, "set dp.error to "+strconv.FormatFloat(worst, 'g', -1,
		64)+" or more, or ask for fewer groups or aggregates",
		"an error of %s would cost more than one question may; epsilon %v buys an error of %s", asked, most,
		strconv.FormatFloat(worst, 'g', -1, 64))
}
