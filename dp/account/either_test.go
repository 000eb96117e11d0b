package account

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/discreet-dp/discreet/dp"
)

// eitherGame is everything that an analyst can do to a budget with randomized responses, which are
// the worst mechanisms of their epsilon: the state is what was spent, and the loss so far. A charge
// claims epsilon and rho, or rho alone.
type eitherGame struct {
	step   float64   // the loss of the smallest response
	kinds  []dp.Cost // what each choice is charged
	losses []int     // and its loss, in steps
	admits func([2]dp.Cost, dp.Cost, int) (after [2]dp.Cost, ok bool)
	goal   float64 // epsilon
	known  map[eitherState]float64
}

type eitherState struct {
	spent [2]dp.Cost
	loss  int
}

// value is the most that P(S) - exp(goal) Q(S) can come to from here on, over the probability P of
// having come here.
func (g *eitherGame) value(s eitherState) float64 {
	if v, ok := g.known[s]; ok {
		return v
	}
	best := math.Max(0, 1-math.Exp(g.goal-float64(s.loss)*g.step))
	for i, cost := range g.kinds {
		spent, ok := g.admits(s.spent, cost, i)
		if !ok {
			continue
		}
		e := float64(g.losses[i]) * g.step
		yes := math.Exp(e) / (1 + math.Exp(e))
		more, less := eitherState{spent, s.loss + g.losses[i]}, eitherState{spent, s.loss - g.losses[i]}
		best = math.Max(best, yes*g.value(more)+(1-yes)*g.value(less))
	}
	g.known[s] = best
	return best
}

func newEitherGame(t *testing.T, admits func([2]dp.Cost, dp.Cost, int) ([2]dp.Cost, bool)) *eitherGame {
	t.Helper()
	g := &eitherGame{step: 0.125, goal: 1, admits: admits, known: map[eitherState]float64{}}
	for _, n := range []int{1, 2, 4} {
		e := float64(n) * g.step
		epsilon, _ := dp.CeilFloat(e)
		rho, _ := dp.CeilFloat(dp.RhoOfPure(e))
		g.kinds = append(g.kinds, dp.Cost{Epsilon: epsilon, Rho: rho}, dp.Cost{Epsilon: dp.Unbounded, Rho: rho})
		g.losses = append(g.losses, n, n)
	}
	return g
}

const eitherDelta = dp.One / 50

// The best analyst of all, who may go on with either side and change at any time, gains no more
// than delta. Rules that are not this filter are caught.
func TestEitherGame(t *testing.T) {
	rho := must(Rho(dp.One, eitherDelta))
	either := EitherFilter(dp.One, rho, 0)
	g := newEitherGame(t, func(spent [2]dp.Cost, cost dp.Cost, _ int) ([2]dp.Cost, bool) {
		ok := either.Admits(spent[0], cost)
		spent[0] = spent[0].Add(cost)
		return spent, ok
	})
	got := g.value(eitherState{})
	alone := newEitherGame(t, func(spent [2]dp.Cost, cost dp.Cost, _ int) ([2]dp.Cost, bool) {
		ok := ZCDPFilter(rho, 0).Admits(spent[0], cost)
		spent[0] = spent[0].Add(cost)
		return spent, ok
	}).value(eitherState{})
	t.Logf("the best analyst gains %.3g with either, %.3g with rho alone, of %.3g", got, alone, eitherDelta.Float())
	if got > eitherDelta.Float() || got < alone {
		t.Errorf("the best analyst gains %v, of %v", got, eitherDelta.Float())
	}

	for name, rule := range map[string]func(spent [2]dp.Cost, cost dp.Cost, i int) ([2]dp.Cost, bool){
		"each side counts its own charges": func(spent [2]dp.Cost, cost dp.Cost, i int) ([2]dp.Cost, bool) {
			limit := []Filter{PureFilter(dp.One), ZCDPFilter(rho, 0)}[i%2]
			ok := limit.Admits(spent[i%2], cost)
			spent[i%2] = spent[i%2].Add(cost)
			return spent, ok
		},
		"rho begins when epsilon is used up": func(spent [2]dp.Cost, cost dp.Cost, i int) ([2]dp.Cost, bool) {
			if PureFilter(dp.One).Admits(spent[0], cost) && spent[1] == (dp.Cost{}) {
				spent[0] = spent[0].Add(cost)
				return spent, true
			}
			ok := ZCDPFilter(rho, 0).Admits(spent[1], cost)
			spent[1] = spent[1].Add(cost)
			return spent, ok
		},
		"a charge may fit one side after the other was left": func(spent [2]dp.Cost, cost dp.Cost, i int) ([2]dp.Cost, bool) {
			// Epsilon counts only what claims one, so it never closes.
			counted := cost
			if cost.Epsilon == dp.Unbounded {
				counted.Epsilon = 0
			}
			ok := either.Admits(spent[0], counted)
			spent[0] = spent[0].Add(counted)
			return spent, ok && spent[0].Rho <= 3*rho // which ends the game, and is enough
		},
	} {
		if got := newEitherGame(t, rule).value(eitherState{}); got <= eitherDelta.Float() {
			t.Errorf("%s: not caught, the best analyst gains %v", name, got)
		}
	}
}

// Analysts who ask real questions, watch their loss and change sides in the middle, as black boxes.
func TestEitherAnalysts(t *testing.T) {
	rho := must(Rho(dp.One, eitherDelta))
	random := rand.New(rand.NewPCG(1, 2))
	laplace := func(e float64) (loss float64) { // of Laplace noise on a number that moves by one
		x := random.ExpFloat64() / e
		if random.Uint64()&1 == 0 {
			x = -x
		}
		return e * (math.Abs(x-1) - math.Abs(x))
	}
	gaussian := func(rho float64) float64 { return rho + math.Sqrt(2*rho)*random.NormFloat64() }
	for name, choose := range map[string]func(loss float64, asked int) (pure bool, part float64){
		"ten with Laplace noise":             func(float64, int) (bool, float64) { return true, 0.1 },
		"one with Laplace noise":             func(float64, int) (bool, float64) { return true, 1 },
		"one with Gaussian noise":            func(float64, int) (bool, float64) { return false, 1 },
		"a hundred with Gaussian noise":      func(float64, int) (bool, float64) { return false, 0.01 },
		"Gaussian noise when it pays":        func(loss float64, _ int) (bool, float64) { return loss > 0.2, 0.05 },
		"Laplace noise first, then Gaussian": func(_ float64, asked int) (bool, float64) { return asked < 4, 0.03 },
	} {
		const runs = 20_000
		costs := map[[2]float64]dp.Cost{}
		filter := EitherFilter(dp.One, rho, 0)
		sum, squares := 0.0, 0.0
		for range runs {
			var spent dp.Cost
			loss, asked, refused := 0.0, 0, 0
			for ; refused < 2 && asked < 100; asked++ {
				pure, part := choose(loss, asked)
				if refused == 1 { // the other side may still admit something
					pure = !pure
				}
				e, r := part, part*rho.Float()
				if pure {
					r = dp.RhoOfPure(e)
				} else {
					e = math.Inf(1)
				}
				cost, ok := costs[[2]float64{e, r}]
				if !ok {
					cost.Rho, _ = dp.CeilFloat(r)
					if cost.Epsilon = dp.Unbounded; pure {
						cost.Epsilon, _ = dp.CeilFloat(e)
					}
					costs[[2]float64{e, r}] = cost
				}
				if !filter.Admits(spent, cost) {
					refused++
					continue
				}
				spent = spent.Add(cost)
				if pure {
					loss += laplace(e)
				} else {
					loss += gaussian(r)
				}
			}
			gain := math.Max(0, 1-math.Exp(1-loss))
			sum, squares = sum+gain, squares+gain*gain
		}
		mean := sum / runs
		deviation := math.Sqrt((squares/runs - mean*mean) / runs)
		if mean-5*deviation > eitherDelta.Float() {
			t.Errorf("%s: gains at least %v, of %v", name, mean-5*deviation, eitherDelta.Float())
		}
		t.Logf("%s: %.4f +- %.4f of %.4f", name, mean, deviation, eitherDelta.Float())
	}
}

// One side is enough, delta counts in any case, and what has left both is refused.
func TestEitherFilter(t *testing.T) {
	f := EitherFilter(100, 10, 5)
	for _, c := range []struct {
		spent, cost dp.Cost
		want        bool
	}{
		{dp.Cost{}, dp.Cost{Epsilon: 100, Rho: 50}, true},
		{dp.Cost{}, dp.Cost{Epsilon: 101, Rho: 50}, false},
		{dp.Cost{}, dp.Cost{Epsilon: dp.Unbounded, Rho: 10}, true},
		{dp.Cost{}, dp.Cost{Epsilon: dp.Unbounded, Rho: 11}, false},
		{dp.Cost{Epsilon: dp.Unbounded, Rho: 5}, dp.Cost{Epsilon: 1, Rho: 6}, false},
		{dp.Cost{Epsilon: dp.Unbounded, Rho: 5}, dp.Cost{Epsilon: 1, Rho: 5}, true},
		{dp.Cost{Epsilon: 50, Rho: 20}, dp.Cost{Epsilon: dp.Unbounded, Rho: 1}, false},
		{dp.Cost{Epsilon: 50, Rho: 20}, dp.Cost{Epsilon: 50, Rho: 20}, true},
		{dp.Cost{}, dp.Cost{Epsilon: 1, Rho: 1, Delta: 6}, false},
		{dp.Cost{Delta: 5}, dp.Cost{Epsilon: 1, Rho: 1, Delta: 1}, false},
		{dp.Cost{}, dp.Cost{Epsilon: 1, Rho: dp.Unbounded, Delta: 1}, true},
		{dp.Cost{}, dp.Cost{Epsilon: 1, Rho: 1, Delta: dp.Unbounded}, false},
	} {
		if got := f.Admits(c.spent, c.cost); got != c.want {
			t.Errorf("%v after %v: %v", c.cost, c.spent, got)
		}
	}
	if EitherFilter(1, 1, dp.One).Limit() != (dp.Cost{}) {
		t.Error("a delta of 1 is a promise")
	}
}
