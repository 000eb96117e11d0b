package policy

import (
	"math"
	"math/big"
	"slices"
	"strconv"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/account"
	"github.com/discreet-dp/discreet/internal/numeric"
)

// Budget is what all analysts together may learn about one person: for good, or, where it is
// renewed, in one window.
type Budget struct {
	// Epsilon and Delta are the guarantee that holds at the end, however many
	// questions were asked and whoever colludes.
	Epsilon, Delta dp.Amount
	// KeysDelta is the part of Delta that is set aside for releasing private keys. The
	// rest is what rho is converted to Epsilon at.
	KeysDelta dp.Amount
	// DefaultDelta is how much of KeysDelta a question takes that releases private
	// keys, unless it says otherwise. It may take all of it.
	DefaultDelta dp.Amount
	// DefaultEpsilon is what a question is asked at when the analyst names no
	// epsilon, and MaxEpsilon is the most that one question may name.
	DefaultEpsilon, MaxEpsilon dp.Amount
	// MinEpsilon is the least that one question may name. Every answer that is paid for is
	// kept for good, so without it the disk could be filled for almost nothing.
	MinEpsilon dp.Amount
	// Noise says which noise questions get, and so which sums the budget limits: "gaussian" that of
	// rho, "laplace" and "auto" that of epsilon or that of rho, of which one is enough. It is
	// "auto" unless the file says something else or gives somebody a part; see Either.
	Noise string
	// Renewal says for how many windows the budget is given anew.
	Renewal Renewal
}

// Pure reports whether the budget is a sum of pure epsilons. A budget with a
// delta is a sum of rhos.
func (b Budget) Pure() bool { return b.Delta == 0 }

// Either reports whether the budget is kept by either of two sums, of epsilon and of rho. One that
// is renewed is kept by rho alone: over many windows rho adds up to far less, and a window that was
// spent in epsilon would take that from the others.
func (b Budget) Either() bool {
	return !b.Pure() && !b.Renews() && (b.Noise == "auto" || b.Noise == "laplace")
}

// RhoDelta returns the delta at which rho is converted to epsilon: what is left of
// Delta beside KeysDelta. Outside of an event of probability KeysDelta, all answers
// together are (Epsilon, RhoDelta)-private, so altogether they are (Epsilon,
// Delta)-private (Bun, Steinke 2016, Lemma 8.8).
func (b Budget) RhoDelta() dp.Amount { return b.Delta.Sub(b.KeysDelta) }

const (
	// maxEpsilon is far above every budget that means something. At epsilon 100 an attacker's odds
	// may grow by the factor e^100, about 10^43: to write more is a slip of the pen.
	maxEpsilon = 100 * dp.One
	// A question that names no epsilon takes a twentieth of the budget.
	defaultPart = 20
	// A question takes at least this part of the budget, so that about as many answers are kept at
	// most.
	leastPart = 100_000
	// A question that releases private keys takes a hundredth of what is set aside for them.
	defaultKeysPart = 100
)

// maxDelta is the largest delta. A mechanism may publish each person's row
// with probability delta and keep the promise, so at 1 in 100 it would be no promise.
var maxDelta = big.NewRat(1, 100)

// filterFor returns the filter that keeps the budget. What is not set aside for
// private keys goes into the conversion from rho; what is set aside is the filter's own
// delta, which the deltas of mechanisms add up to at most.
func (b Budget) filterFor() (account.Filter, error) {
	if b.Pure() {
		return account.PureFilter(b.Epsilon), nil
	}
	rho, err := account.Rho(b.Epsilon, b.RhoDelta())
	if err != nil {
		return account.Filter{}, err
	}
	if b.Either() {
		return account.EitherFilter(b.Epsilon, rho, b.KeysDelta), nil
	}
	return account.ZCDPFilter(rho, b.KeysDelta), nil
}

// Filter returns the dataset's privacy filter, which holds against all analysts together; that of
// one window, where the budget is renewed (see TotalFilter). A budget that has no filter, which the
// file cannot give, admits nothing.
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

// budgetText is a budget as it stands in the file.
type budgetText struct {
	at element
	f  fields
	ok bool // epsilon and delta were read
	// delta is per_query's, which is compared with the budget when all of that is known.
	delta    element
	hasDelta bool
	renewal  element
}

// readBudget reads epsilon, delta and the limits of one question.
func (in budgetReader) readBudget(f fields) (text budgetText) {
	var ok bool
	if text.at, ok = f.need(in.r, "budget", "for example budget: {epsilon: 1, delta: 1e-6}"); !ok {
		return text
	}
	if f, ok = in.r.fields(text.at, text.at.node, "a budget", budgetKeys); !ok {
		return text
	}
	text.f = f
	b := &in.d.Budget
	at, given := f.need(in.r, "epsilon", "the most that all answers together may reveal about one person, for example 1")
	if !given {
		ok = false
	} else if b.Epsilon, ok = in.r.amount(at, "epsilon"); ok && b.Epsilon > maxEpsilon {
		in.r.at(at, "epsilon %s is above 100; at 100 the odds of what an attacker believes may grow by e^100, about 10^43, which protects "+
			"nobody; common budgets lie between 0.1 and 10. To try things out you need none: 'discreet rehearse' shows the owner exact "+
			"answers, and the sandbox answers free on made-up rows; for tests of programs, 'discreet demo' makes data about nobody, whose "+
			"ledger you may delete", at.node.Value)
		ok = false
	}
	if at, given := f.get("delta"); given {
		ok = b.readDelta(in.r, at) && ok
	}
	if at, given := f.get("per_query"); given {
		text.delta, text.hasDelta = b.readPerQuery(in.r, at, ok)
	}
	if at, given := f.get("renewal"); given {
		ok = b.readRenewal(in.r, at) && ok
		text.renewal = at
	}
	if at, given := f.get("noise"); given {
		ok = b.readNoise(in.r, at) && ok
	}
	text.ok = ok
	return text
}

// noises are the rules for which noise questions get.
var noises = []string{"auto", "laplace", "gaussian"}

func (b *Budget) readNoise(r *reader, at element) bool {
	text, ok := r.text(at, "noise", "auto, laplace or gaussian")
	switch {
	case !ok:
		return false
	case !slices.Contains(noises, text):
		r.at(at, "there is no rule %s for noise; write auto, laplace or gaussian%s", quote(text), didYouMean(text, noises...))
		return false
	case b.Pure() && text == "gaussian":
		r.at(at, "Gaussian noise has no pure epsilon, and this budget has no delta; give it one, or remove noise")
		return false
	case b.Renews() && text == "laplace":
		r.at(at, "a budget that is renewed adds up rho, over all windows, and Laplace noise costs much of it; remove noise, or renewal")
		return false
	}
	b.Noise = text
	return true
}

// finishBudget reads what depends on the tables, and makes the filter.
func (in budgetReader) finishBudget(text budgetText) {
	b := &in.d.Budget
	if !text.ok || !b.readKeysDelta(in.r, text.f, in.d.hasPrivateKeys()) {
		return
	}
	if text.hasDelta {
		b.readDefaultDelta(in.r, text.delta)
	}
	b.fillPerQuery()
	filter, err := b.filterFor()
	if limit := filter.Limit(); err != nil {
		in.r.at(text.at, "this budget has no filter: %v", err)
		return
	} else if !b.Pure() && limit.Rho == 0 {
		in.r.at(text.at, "epsilon %v at delta %v is too little to spend any of it; raise epsilon, or write delta: 0 for a pure budget",
			b.Epsilon, b.RhoDelta())
		return
	}
	b.fillLeast(filter.Limit())
	in.d.filter, in.d.filterOf = filter, *b
	if b.Renews() {
		in.checkTotal(text.renewal)
	}
}

// finishNoise chooses the noise where the file says nothing. Parts that the owner gives to analysts
// and groups add up on each side of a budget by itself, and not across the two: who pays in epsilon
// takes rho that others count on. So where there are parts, all is paid in rho, unless the owner
// wants it otherwise.
func (in budgetReader) finishNoise() {
	b := &in.d.Budget
	if b.Noise != "" || b.Pure() || b.Renews() {
		return
	}
	b.Noise = "auto"
	for _, a := range in.d.Analysts {
		if a.Share == nil || a.Share.Cmp(big.NewRat(1, 1)) < 0 {
			b.Noise = "gaussian"
		}
	}
	for _, g := range in.d.Groups {
		if g.Share == nil || g.Share.Cmp(big.NewRat(1, 1)) < 0 {
			b.Noise = "gaussian"
		}
	}
	if !in.d.hasFilter() {
		return
	}
	if filter, err := b.filterFor(); err == nil {
		in.d.filter, in.d.filterOf = filter, *b
	}
}

// hasPrivateKeys reports whether there are keys that only a delta can release.
func (d *Dataset) hasPrivateKeys() bool {
	for _, t := range d.Tables {
		for _, c := range t.Columns {
			if c.Keys == PrivateKeys && !t.Public {
				return true
			}
		}
	}
	return false
}

func (b *Budget) readDelta(r *reader, at element) bool {
	n, ok := r.number(at, "delta")
	switch {
	case !ok:
		return false
	case n.Sign() < 0:
		r.at(at, "delta is negative; write 0 for a pure budget, or a small probability such as 1e-6")
	case n.Cmp(maxDelta) > 0:
		r.at(at, "delta %s is above 0.01; delta is the probability that the promise fails altogether, so it should lie well below 1 in "+
			"the number of people; write for example 1e-6", at.node.Value)
	default:
		var err error
		if b.Delta, err = dp.Floor(n); err == nil && (n.Sign() == 0 || b.Delta > 0) {
			return true
		}
		// Rounding down to zero would silently turn the budget into another kind.
		r.at(at, "delta %s is below 2^-40, about 1e-12, the smallest amount that is counted; write 0 for a pure budget, or "+
			"at least 1e-12", at.node.Value)
	}
	return false
}

// readKeysDelta reads what is set aside for private keys: half of delta unless
// given, where there are any.
func (b *Budget) readKeysDelta(r *reader, f fields, private bool) bool {
	at, given := f.get("keys_delta")
	if !given {
		if private {
			b.KeysDelta = b.Delta / 2
		}
		return true
	}
	n, ok := r.number(at, "keys_delta")
	if !ok {
		return false
	}
	var err error
	b.KeysDelta, err = dp.Floor(n)
	switch {
	case n.Sign() == 0:
		b.KeysDelta = 0
		return true
	case n.Sign() < 0:
		r.at(at,
			"keys_delta is negative; it is the part of delta that is set aside for releasing private keys, so write 0 or a part of delta")
	case b.Pure():
		r.at(at,
			"a pure budget has no delta, so none of it can be set aside for private keys; remove keys_delta, or give the budget a delta")
	case err != nil || b.KeysDelta >= b.Delta:
		r.at(at, "keys_delta %s is not below delta %v; it is the part of delta that is set aside for releasing private keys, and the "+
			"rest is needed for everything else; write for example half of delta", at.node.Value, b.Delta)
	case b.KeysDelta == 0:
		r.at(at, "keys_delta %s is below 2^-40, about 1e-12, the smallest amount that is counted; write 0, or "+
			"at least 1e-12", at.node.Value)
	default:
		return true
	}
	return false
}

// readDefaultDelta reads how much of keys_delta one question takes.
func (b *Budget) readDefaultDelta(r *reader, at element) {
	n, ok := r.number(at, "delta")
	if !ok {
		return
	}
	got, err := dp.Floor(n)
	switch {
	case n.Sign() <= 0:
		r.at(at, "the delta of a question must be above 0; it is what a question that releases private keys takes from keys_delta; write "+
			"for example a hundredth of that")
	case b.KeysDelta == 0:
		r.at(at, "per_query has a delta, but no delta is set aside for private keys; remove it, or write keys_delta into the budget")
	case err != nil || got > b.KeysDelta:
		r.at(at, "the delta %s of a question is above all that is set aside for private keys, keys_delta %v; write at most that",
			at.node.Value, b.KeysDelta)
	case got == 0:
		r.at(at, "delta %s is below 2^-40, about 1e-12, the smallest amount that is counted; write at least 1e-12", at.node.Value)
	default:
		b.DefaultDelta = got
	}
}

// readPerQuery reads the limits of one question, and compares them with epsilon
// where that is known. It returns where the question's delta stands.
func (b *Budget) readPerQuery(r *reader, at element, epsilonOK bool) (delta element, hasDelta bool) {
	f, ok := r.fields(at, at.node, "per_query", perQueryKeys)
	if !ok {
		return element{}, false
	}
	delta, hasDelta = f.get("delta")
	low, lowGiven := f.get("min")
	def, defGiven := f.get("default")
	top, topGiven := f.get("max")
	if lowGiven {
		b.MinEpsilon, lowGiven = r.amount(low, "min")
	}
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
	switch {
	case lowGiven && defGiven && b.MinEpsilon > b.DefaultEpsilon:
		r.at(low, "min %s is above default %s; the default must itself be allowed", low.node.Value, def.node.Value)
	case lowGiven && !defGiven && topGiven && b.MinEpsilon > b.MaxEpsilon:
		r.at(low, "min %s is above max %s; write at most that", low.node.Value, top.node.Value)
	case lowGiven && !defGiven && epsilonOK && b.MinEpsilon > b.Epsilon:
		r.at(low, "min %s is above the whole budget, epsilon %v; write at most that", low.node.Value, b.Epsilon)
	}
	return delta, hasDelta
}

// fillPerQuery gives the limits that were not written their defaults.
func (b *Budget) fillPerQuery() {
	if b.MaxEpsilon == 0 {
		b.MaxEpsilon = b.Epsilon
	}
	if b.DefaultEpsilon == 0 {
		b.DefaultEpsilon = max(1, b.MinEpsilon, min(b.Epsilon/defaultPart, b.MaxEpsilon))
	}
	if b.DefaultDelta == 0 && b.KeysDelta > 0 {
		b.DefaultDelta = max(1, b.KeysDelta/defaultKeysPart)
	}
}

// fillLeast gives min its default: the smallest epsilon of three digits that takes a leastPart of
// the limit in what that counts, or the default where that is less. Of three digits, because
// refusals name it.
func (b *Budget) fillLeast(limit dp.Cost) {
	if b.MinEpsilon > 0 {
		return
	}
	least := limit.Epsilon.Float() / leastPart
	if !b.Pure() {
		least = epsilonOf(limit.Rho.Float() / leastPart)
	}
	b.MinEpsilon = max(1, min(b.DefaultEpsilon, threeDigits(least)))
}

// epsilonOf returns the epsilon at which a question takes a rho: e tanh(e/2), read backwards.
// Nothing private depends on it.
func epsilonOf(rho float64) float64 {
	_, high := numeric.Bisect(0, maxEpsilon.Float(), 100, func(e float64) bool { return dp.RhoOfPure(e) < rho })
	return high
}

// threeDigits rounds up to three significant digits; 0 where that is below the smallest amount.
func threeDigits(f float64) dp.Amount {
	text := strconv.FormatFloat(f, 'e', 2, 64)
	if g, err := strconv.ParseFloat(text, 64); err == nil && g < f*(1-1e-12) {
		unit := math.Pow(10, math.Floor(math.Log10(g))-2)
		text = strconv.FormatFloat(g+unit, 'e', 2, 64)
	}
	a, err := dp.Parse(text)
	if err != nil {
		return 0
	}
	return a
}
