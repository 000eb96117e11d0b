package answers

import (
	"math"
	"math/big"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/plan/tree"
	"github.com/discreet-dp/discreet/internal/pricing"
	"github.com/discreet-dp/discreet/mech"
)

// Parts are the noisy numbers that the values of an answer were made of, row by row as Finish shows
// them. They are what was released, so they are as public as the answer. It is nil where [Makeup]
// says that an answer cannot be put together with others.
func Parts(p *pricing.Priced, all []*Released) [][]api.Part {
	if Makeup(p).Apart != "" {
		return nil
	}
	by := p.AnsweredBy[0]
	f := &finisher{plan: p.Statement.Plans[0], buy: p.Purchases[by], released: all[by], beta: p.Beta(), halves: map[half]int64{}}
	var out [][]api.Part
	for _, r := range shown([]*finisher{f}) {
		parts := make([]api.Part, len(f.plan.Columns))
		for i := range parts {
			s, _ := f.stat(i)
			part, ok := r.taken(s)
			if !ok {
				return nil
			}
			parts[i] = part
		}
		out = append(out, parts)
	}
	return out
}

// taken is a value of a row, taken apart; nothing for a key. It fails where nobody can say what the
// noise is, as of what came through a stream.
func (r *row) taken(s tree.Stat) (api.Part, bool) {
	switch s.Kind {
	case tree.KeyStat:
		return api.Part{}, true
	case tree.PeopleStat:
		n := withoutNoise(*s.People)
		return api.Part{Sum: &n}, true
	case tree.MeasureStat:
		n, ok := r.number(s.Measure)
		return api.Part{Sum: &n}, ok
	}
	m := r.f.plan.Query.Measures[s.Measure]
	sum, ok := r.number(s.Measure)
	step, own := m.Step(), s.Of.Type().Step
	if s.Twin {
		own = step
	}
	center := new(big.Rat).Mul(new(big.Rat).SetInt(s.Center), own)
	// from is an end of the range that the distances from the center have.
	from := func(steps *big.Int) string {
		end := new(big.Rat).Mul(new(big.Rat).SetInt(steps), step)
		return end.Add(end, center).RatString()
	}
	out := api.Part{Sum: &sum, Center: center.RatString(), Low: from(m.Arg.Type().Lo), High: from(m.Arg.Type().Hi)}
	switch {
	case !ok:
		return api.Part{}, false
	case s.People != nil:
		n := withoutNoise(*s.People)
		out.Count = &n
	default:
		n, ok := r.number(s.Count)
		if !ok {
			return api.Part{}, false
		}
		if s.Twin {
			out.Below, out.Low = &n, out.Center
		} else {
			out.Count = &n
		}
	}
	return out, true
}

// number is a measure in a group, with the noise that is in it, which may be another purchase's.
func (r *row) number(measure int) (api.NoisyNumber, bool) {
	f := r.f
	if f.released.Halves != nil {
		return api.NoisyNumber{}, false
	}
	noise, cells := f.buy.Noise[measure], 1
	if f.released.Derived != 0 {
		noise, cells = f.released.Noise[measure], f.released.Cells[r.group]
	}
	out, ok := described(noise.Mechanism, cells)
	out.Value, out.Step = f.released.Measures[measure][r.group], f.plan.Query.Measures[measure].Step().RatString()
	if more := f.released.OffBy(measure); more > 0 {
		out.Off += more + 1 // of a normal, as what was averaged
	}
	return out, ok && out.Off >= 0
}

// described says what the sum of so many independent noises of one mechanism is. What was averaged
// or is one of many numbers that agree is within some steps of a normal, and a normal within one of
// discrete Gaussian noise ([mech.Marginal]).
func described(m mech.Mechanism, cells int) (out api.NoisyNumber, ok bool) {
	name, off := "gaussian", int64(0)
	switch m := m.(type) {
	case *mech.Laplace:
		name = "laplace"
	case *mech.Gaussian:
	case *mech.Average:
		off = m.Off() + 1
	case *mech.Marginal:
		reach, _ := m.Reach().Float64()
		if cells > 1 || reach > 1<<52 { // they are not independent
			return out, false
		}
		off = int64(math.Ceil(reach)) + 3
	default:
		return out, false
	}
	out.Noise = []api.Noises{{Mechanism: name, Parameter: m.Parameter().RatString(), Count: cells}}
	out.Off = off * int64(cells)
	return out, true
}

// withoutNoise is a number without noise.
func withoutNoise(n int64) api.NoisyNumber { return api.NoisyNumber{Value: n, Step: "1"} }
