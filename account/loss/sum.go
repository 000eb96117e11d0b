package loss

import (
	"fmt"
	"math"

	"github.com/discreet-dp/discreet/dp"
)

// Sum is a sum of independent losses: what several mechanisms lose together. The
// zero value is no mechanism, which loses nothing. Sums are values; adding makes a
// new one.
//
// If each mechanism is dominated by its pair, also when it is chosen after seeing
// earlier answers, then all together are dominated by the product of the pairs
// (Zhu, Dong, Wang 2022, Theorem 10). The pairs themselves, so the parameters, must
// be fixed in advance.
type Sum struct{ terms []term }

type term struct {
	law   Law
	times int
}

// MaxTimes is how many mechanisms can be added up.
const MaxTimes = 1 << 40

// Plus returns the sum with a law added a number of times.
func (s Sum) Plus(law Law, times int) (Sum, error) {
	if times < 1 || times > MaxTimes {
		return Sum{}, fmt.Errorf("%w: %d times: write a number of times between 1 and %d", ErrParameter, times, MaxTimes)
	}
	terms := make([]term, 0, len(s.terms)+1)
	added := false
	for _, t := range s.terms {
		if !added {
			t, added = t.merge(law, times)
		}
		terms = append(terms, t)
	}
	if !added {
		terms = append(terms, term{law, times})
	}
	if total := count(terms); total > MaxTimes {
		return Sum{}, fmt.Errorf("%w: more than %d mechanisms in all", ErrParameter, MaxTimes)
	}
	return Sum{terms}, nil
}

// merge adds to a term what is of the same law.
func (t term) merge(law Law, times int) (term, bool) {
	if t.law != law {
		return t, false
	}
	return term{law, t.times + times}, true
}

func count(terms []term) (total int) {
	for _, t := range terms {
		total += t.times
	}
	return total
}

// infinite is the probability that some loss is infinite, rounded up.
func (s Sum) infinite() dp.Bracket {
	log := 0.0
	for _, t := range s.terms {
		log += float64(t.times) * math.Log1p(-t.law.infinite())
	}
	mass := -math.Expm1(log)
	return bracket(mass, mass*unit*(16+2*float64(len(s.terms))))
}

// top is the largest finite loss.
func (s Sum) top() float64 {
	top := 0.0
	for _, t := range s.terms {
		top += float64(t.times) * t.law.top()
	}
	return top * (1 + unit*float64(8+len(s.terms)))
}

// single returns the law of a sum whose curve has a closed form.
func (s Sum) single() (closed, bool) {
	terms := gathered(s.terms)
	law, ok := terms[0].law.(closed)
	return law, ok && len(terms) == 1 && terms[0].times == 1
}

// Delta encloses the smallest delta at which the pair of products is (epsilon,
// delta)-indistinguishable, in this direction.
func (s Sum) Delta(epsilon float64) (dp.Bracket, error) {
	if !(epsilon >= 0) || math.IsInf(epsilon, 0) {
		return dp.Bracket{}, fmt.Errorf("%w: epsilon is %v, and must be a number of at least 0", ErrParameter, epsilon)
	}
	if len(s.terms) == 0 {
		return dp.Bracket{}, nil
	}
	if law, ok := s.single(); ok {
		return law.curve(epsilon), nil
	}
	if epsilon >= s.top() {
		return s.infinite(), nil
	}
	return s.delta(epsilon), nil
}

// Epsilon encloses the smallest epsilon at which the pair of products is (epsilon,
// delta)-indistinguishable, in this direction. The upper end is +Inf where there
// is none.
func (s Sum) Epsilon(delta float64) (dp.Bracket, error) {
	if !(delta >= 0 && delta < 1) {
		return dp.Bracket{}, fmt.Errorf("%w: delta is %v, and must be at least 0 and below 1", ErrParameter, delta)
	}
	if len(s.terms) == 0 {
		return dp.Bracket{}, nil
	}
	if never := s.infinite(); delta < never.Lower || delta == 0 {
		if delta < never.Lower {
			return dp.Bracket{Lower: math.Inf(1), Upper: math.Inf(1)}, nil
		}
		// At delta 0 all of the loss counts.
		top := s.top()
		return dp.Bracket{Lower: top * (1 - unit*float64(64+2*len(s.terms))), Upper: top}, nil
	}
	if law, ok := s.single(); ok {
		below := func(e float64) float64 { return law.curve(e).Lower }
		above := func(e float64) float64 { return law.curve(e).Upper }
		return crossing(below, above, delta, s.top()), nil
	}
	out := s.epsilon(delta)
	if delta < s.infinite().Upper {
		out.Upper = math.Inf(1) // rounding decides whether there is one
	}
	return out, nil
}
