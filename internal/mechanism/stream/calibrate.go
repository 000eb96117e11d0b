package stream

import (
	"fmt"
	"math"
	"sort"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/mech"
	"github.com/discreet-dp/discreet/internal/lru"
	"github.com/discreet-dp/discreet/internal/numeric"
)

// calibrate chooses all noise of a stream. Write w for its error, D for its steps and B for its
// Limit.
//
// # Accuracy
//
// A charge of c is allowed to go wrong with probability beta c/B. A stream that spends at most B
// goes wrong with probability beta at most, however adaptively its questions are chosen and
// whatever it buys in which order: the expected number of charges that go wrong is the expected sum
// of their probabilities, and that sum is never above beta. So the union is over what is paid for
// and not over what is asked.
//
//   - A plain answer goes wrong where its noise is beyond w.
//   - A round goes wrong where its answer's noise is beyond w, or where it answers a question free
//     whose prediction is beyond w. A question is answered free where it is "below": of all that
//     are at least w + 1 - T above the threshold T, a round calls none "below" but with the
//     probability of [mech.AboveThreshold.MissProbability], however many are asked. The prediction is rounded before
//     it is compared, so that the distance is that of the answer itself. With m = w + 2 - T, p =
//     exp(-e1/D) and q = exp(-e2/(2D)) that probability is p^m (1-q)/(1-pq): the first prediction
//     that is too far off ends the round, unless Z is at least m and more than its own noise N. The
//     factor after p^m, which is about (e2/2)/(e1 + e2/2), makes a round cheaper than one that is
//     calibrated to Z alone, by 1 to 5 % of epsilon and by 3 to 10 % of rho.
//
// False alarms cost budget and no accuracy. A question at distance d is one with the probability of
// [mech.AboveThreshold.AlarmProbability], q^(T-d) (1-p)/(1-pq); at d = quiet T we wish to have so
// many of them in all Queries. T, e1, e2 and the answer's noise are those that are cheapest under
// these conditions.
//
// B is the budget, or 1.2 times what the cache pays for all Queries where that is less: the rule of
// the package never spends more on so many questions, and a price that does not grow with a budget
// that is not used is at most 1.2 of the cache's.
func calibrate(c Config) (prices, error) {
	// A pure function that takes a hundredth of a second, of which a server with many streams asks
	// the same again. What the domain decides is the predictor.
	key := c
	key.Domain, key.Predictor = nil, c.predictor()
	if p, ok := calibrated.Get(key); ok {
		return p, nil
	}
	p, err := calibrateAnew(c)
	if err == nil {
		calibrated.Put(key, p, 1)
	}
	return p, err
}

var calibrated = lru.New[Config, prices](64)

func calibrateAnew(c Config) (prices, error) {
	w := c.errorSteps()
	// The exact-match cache: every one of Queries answers may go wrong with probability
	// beta/Queries.
	cache, err := c.cheapest(func(m mech.Mechanism, _ dp.Amount) bool { return m.Tail(w) <= c.Beta/float64(c.Queries) })
	if err != nil {
		return prices{}, err
	}
	p := prices{Cache: cache, Limit: c.Budget, Predictor: c.predictor()}
	// The most that a plain answer may cost: 1.2 of the cache in whole units, and as much as the
	// cache where the stream is one.
	most := cache + cache/5
	if c.Predictor == None {
		most = cache
	}
	capped := false
	if all := most.Mul(uint64(c.Queries)); all < c.Budget {
		p.Limit, capped = all, true
	}
	share := func(price float64) float64 { return c.Beta * min(1, price/p.Limit.Float()) * (1 - 1e-9) }
	p.Plain, err = c.cheapest(func(m mech.Mechanism, price dp.Amount) bool { return m.Tail(w) <= share(price.Float()) })
	if err != nil {
		return prices{}, err
	}
	if capped {
		// At this price it is good enough too: Tail <= beta/Queries = beta most/Limit. Rounding may
		// have missed it.
		p.Plain = min(p.Plain, most)
	}
	if p.Plain > c.Budget {
		return prices{}, fmt.Errorf("%w: one answer within %d costs %v and the budget is %v; give a larger budget or a larger alpha",
			ErrConfig, w, p.Plain, c.Budget)
	}
	if c.Predictor == None {
		return p, nil
	}
	// The dearer a round, the more often it may go wrong, and the cheaper it can be: there is one
	// price at which both are the same.
	_, high := numeric.Bisect(0, p.Limit.Float(), 60, func(price float64) bool {
		return !(c.calibrateRound(c.roundGoals().part*share(price)).price <= price)
	})
	r := c.calibrateRound(c.roundGoals().part * share(high))
	p.Threshold = r.threshold
	p.Pay, err = c.cheapest(func(m mech.Mechanism, _ dp.Amount) bool { return m.Tail(c.answerReach(r.threshold)) <= r.wrong })
	if err != nil {
		return prices{}, err
	}
	// What was searched for was about right. What is sold is checked, with its exact price.
	for first, each := r.first, r.each; ; {
		if p.First, err = dp.CeilFloat(first); err != nil {
			return prices{}, err
		}
		if p.Each, err = dp.CeilFloat(each); err != nil {
			return prices{}, err
		}
		t, err := p.tariff(c)
		if err != nil {
			return prices{}, err
		}
		switch {
		case c.wrong(t) > c.roundGoals().part*share(c.amount(t.Round).Float()):
			first *= 1 + 1e-4
		case c.falseAlarms(t) > c.roundGoals().alarms:
			each *= 1 + 1e-4
		default:
			return p, nil
		}
	}
}

// wrong bounds the probability that a round goes wrong.
func (c Config) wrong(t *Tariff) float64 {
	return t.above.MissProbability(t.Error+1-t.Threshold) + t.paid.Tail(c.answerReach(t.Threshold))
}

// falseAlarms bounds the expected number of alarms in all Queries that are set off by predictions
// within quiet T.
func (c Config) falseAlarms(t *Tariff) float64 {
	return float64(c.Queries) * t.above.AlarmProbability(t.Threshold-int64(c.roundGoals().quiet*float64(t.Threshold)))
}

// roundGoals are what the noise of a round is chosen for besides accuracy.
type roundGoals struct {
	quiet  float64 // the share of the threshold up to which questions should not set off an alarm
	alarms float64 // how many of them may all the same, in all Queries
	near   float64 // the share of the threshold that the paid answer's noise should be within; 0 for the error of the stream
	part   float64 // the part of the share of beta that accuracy gets
}

// roundGoals: false alarms cost a round each, and a few of them are cheaper than the noise that
// prevents them. Halving has a theorem that counts alarms, for which all alarms have to be true,
// beyond quiet T, and all paid answers within half of that. So half of beta false alarms are
// expected, there is none but with that probability, and accuracy has the other half.
func (c Config) roundGoals() roundGoals {
	if c.Predictor == Halving {
		return roundGoals{quiet: 0.5, alarms: c.Beta / 2, near: 0.25, part: 0.5}
	}
	return roundGoals{quiet: 0.25, alarms: 2, part: 1}
}

// answerReach is what the noise of the paid answer should be within.
func (c Config) answerReach(threshold int64) int64 {
	if n := c.roundGoals().near; n > 0 {
		return int64(n * float64(threshold))
	}
	return c.errorSteps()
}

// roundCalibration is a calibration of a round.
type roundCalibration struct {
	threshold   int64
	first, each float64 // epsilon of the threshold's and of the questions' noise
	wrong       float64 // the probability with which the paid answer may be wrong
	price       float64
}

// calibrateRound returns the cheapest round that goes wrong with probability share.
func (c Config) calibrateRound(share float64) roundCalibration {
	best := roundCalibration{price: math.Inf(1)}
	w := float64(c.errorSteps())
	for _, part := range []float64{0.02, 0.05, 0.1, 0.2, 0.35, 0.5} {
		wrong := share * part
		try := func(t float64) roundCalibration {
			r := roundCalibration{threshold: int64(t), wrong: wrong}
			r.first, r.each = c.noises(t, w+2-t, share*(1-part))
			r.price = c.roundFloat(r.first+r.each) + c.payFloat(int64(t), wrong)
			return r
		}
		// The price falls and then rises with the threshold. Ternary search on whole numbers.
		low, high := int64(1), int64(w)
		for high-low > 2 {
			a, b := low+(high-low)/3, high-(high-low)/3
			if try(float64(a)).price <= try(float64(b)).price {
				high = b
			} else {
				low = a
			}
		}
		for t := low; t <= high; t++ {
			if r := try(float64(t)); r.price < best.price {
				best = r
			}
		}
	}
	return best
}

// noises are about the epsilons of the threshold's and of the questions' noise at which a round
// misses what is beyond its error with probability miss, for which Z has to stay below m, and has
// no more false alarms than is wished. Each follows from the other, and four steps are near enough
// to what both agree on.
func (c Config) noises(t, m, miss float64) (first, each float64) {
	d, reach := float64(c.Steps), t*(1-c.roundGoals().quiet)
	few := math.Max(math.E, float64(c.Queries)/c.roundGoals().alarms)
	first, each = d*-math.Log(miss)/m, 2*d*math.Log(few)/reach
	for range 4 {
		both := -math.Expm1(-(first + each/2) / d)
		first, each = d*math.Max(1, math.Log(-math.Expm1(-each/(2*d))/both/miss))/m,
			2*d*math.Log(math.Max(math.E, few*-math.Expm1(-first/d)/both))/reach
	}
	return first, each
}

// roundFloat is what a pure epsilon costs in the stream's currency.
func (c Config) roundFloat(epsilon float64) float64 {
	if c.Currency == mech.Pure {
		return epsilon
	}
	return dp.RhoOfPure(epsilon)
}

// payFloat is about what the answer of a round costs.
func (c Config) payFloat(threshold int64, wrong float64) float64 {
	x := float64(c.Steps) / (float64(c.answerReach(threshold)) + 0.5)
	l := -math.Log(wrong)
	if c.Currency == mech.Pure {
		return x * l
	}
	return x * x * l
}

// cheapest returns the smallest price whose noise is good enough. What is good enough stays so for
// a higher price.
func (c Config) cheapest(enough func(m mech.Mechanism, price dp.Amount) bool) (dp.Amount, error) {
	var failed error
	good := func(price dp.Amount) bool {
		m, err := c.answer(price)
		if err != nil {
			failed = err
			return false
		}
		failed = nil
		return enough(m, price)
	}
	// About log2 of the price in doublings, then bisection to a unit.
	high := dp.Amount(1)
	for !good(high) {
		if high >= dp.One<<20 {
			if failed == nil {
				failed = fmt.Errorf("%w: no noise is exact enough", ErrConfig)
			}
			return 0, fmt.Errorf("%w: an answer within %d cannot be bought: %w", ErrConfig, c.errorSteps(), failed)
		}
		high *= 2
	}
	low := high / 2
	n := sort.Search(int(high-low), func(i int) bool { return good(low + dp.Amount(i)) })
	return low + dp.Amount(n), nil
}
