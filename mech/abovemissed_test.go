package mech

import (
	"math"
	"testing"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/audit/stat"
)

// missed is P(Z - N > m) by adding up over all Z: what Missed has in closed form.
func (m aboveModel) missed(margin int64) (sum float64) {
	reach := int64(60*m.z+60*m.q) + margin + 20
	p, _ := m.thresholds(reach)
	for i, z := range p {
		sum += z * m.answer(margin, int64(i)-reach, false)
	}
	return sum
}

// What a round misses, and what alarms it, is the sum over the law of its noise, one-sided and
// two-sided, with scales that are far apart either way, equal, nearly equal, and so small that
// there is hardly any noise.
func TestMissedIsTheLaw(t *testing.T) {
	for _, c := range []struct {
		d      int64
		e1, e2 string
	}{
		{1, "0.5", "1"}, {1, "0.5", "0.5"}, {1, "0.5", "1.000000001"}, {3, "0.02", "2"}, {1, "2", "0.05"}, {7, "0.3", "0.9"},
		{1, "30", "20"}, {16, "14", "21"},
	} {
		for _, one := range []bool{false, true} {
			a := above(c.d, amount(t, c.e1), amount(t, c.e2), one)
			m := aboveModelOf(a)
			for _, margin := range []int64{0, 1, 2, 5, 13, 40, 400} {
				got, want := a.Missed(margin), m.missed(margin)
				if got < want*(1-1e-12) || got > want*(1+1e-8)+1e-299 {
					t.Errorf("%+v, %s, %d above: %v, want %v", c, sides[one], margin, got, want)
				}
			}
			for _, short := range []int64{1, 2, 5, 13, 40} {
				got, want := a.Alarmed(short), 0.0
				p, _ := m.thresholds(int64(60*m.z) + 20)
				for i, z := range p {
					want += z * m.answer(-short, int64(i)-int64(60*m.z)-20, true)
				}
				if got < want*(1-1e-12) || got > want*(1+1e-8)+1e-299 {
					t.Errorf("%+v, %s, %d below: %v, want %v", c, sides[one], short, got, want)
				}
			}
			if a.Alarmed(0) != 1 || a.Missed(-1) != 1 || !(a.Missed(math.MaxInt64) > 0) {
				t.Errorf("%+v, %s: at the ends %v and %v", c, sides[one], a.Missed(-1), a.Missed(math.MaxInt64))
			}
		}
	}
}

// analyst asks a round: how far above its threshold the next value is, by how many were answered
// "below". It ends when it is over.
type analyst func(asked int) int64

// missedBy is the exact probability that an analyst has a value answered "below" that is at least
// margin above the threshold, within so many questions: the law of Z among rounds that go on and
// have missed nothing is carried from question to question.
func (m aboveModel) missedBy(ask analyst, margin int64, questions int) (wrong float64) {
	reach := int64(60*m.z+60*m.q) + margin + 20
	p, _ := m.thresholds(reach)
	for i := range questions {
		d := ask(i)
		for k := range p {
			below := p[k] * m.answer(d, int64(k)-reach, false)
			if p[k] = below; d >= margin {
				wrong, p[k] = wrong+below, 0
			}
		}
	}
	return wrong
}

// No analyst makes a round miss more than the bound says: neither who asks about nothing but what
// is too far above, and reaches it, nor who first lets a round show by what is just not that its
// threshold is high. The bound that takes the noise of the question for 0 is larger. One that
// forgets the noise of the threshold is too small, and the first analyst shows it.
func TestMissedByAnalysts(t *testing.T) {
	for _, one := range []bool{false, true} {
		a := above(1, dp.One/5, dp.One/3, one)
		m := aboveModelOf(a)
		const margin = 12
		bound := a.Missed(margin)
		for name, ask := range map[string]analyst{
			"at once":       func(int) int64 { return margin },
			"much too far":  func(int) int64 { return 3 * margin },
			"after one":     func(i int) int64 { return margin - 1 + min(1, int64(i)) },
			"after hundred": func(i int) int64 { return margin - 1 + int64(i)/100 },
			"from below":    func(i int) int64 { return int64(i) - 50 },
			"now and then":  func(i int) int64 { return margin * int64(i%3) / 2 },
		} {
			got := m.missedBy(ask, margin, 200)
			if got > bound {
				t.Errorf("%s, %s: %v is missed, the bound is %v", sides[one], name, got, bound)
			}
			if name == "at once" && got < bound*(1-1e-8) {
				t.Errorf("%s: the bound is not reached: %v of %v", sides[one], got, bound)
			}
		}
		// Planted: the noise of the question alone, as if the threshold had none. One-sided that
		// misses nothing at all.
		forgotten := 0.0
		if !one {
			forgotten = lapFrom(m.q, margin+1)
		}
		if got := m.missedBy(func(int) int64 { return margin }, margin, 1); !(got > forgotten) {
			t.Errorf("%s: %v does not show that %v is too small", sides[one], got, forgotten)
		}
		if one && !(bound < math.Exp(-(margin+1)/m.z)*0.6) {
			t.Errorf("%v is not less than what a high threshold alone has", bound)
		}
	}
}

// A round that has lasted raises no more false alarms than a new one does: at every question, of
// the rounds that come to it, no larger part than the bound says.
func TestAlarmedLater(t *testing.T) {
	for _, one := range []bool{false, true} {
		a := above(1, dp.One/5, dp.One/3, one)
		m := aboveModelOf(a)
		const short = 9
		reach := int64(60*m.z+60*m.q) + 20
		for name, ask := range map[string]analyst{
			"the same":  func(int) int64 { return -short },
			"near ones": func(i int) int64 { return -short * int64((i+1)%2) },
			"far ones":  func(i int) int64 { return -short + 40*int64(i%2) },
		} {
			p, _ := m.thresholds(reach)
			for i := range 100 {
				come, alarm := 0.0, 0.0
				for k := range p {
					above := p[k] * m.answer(ask(i), int64(k)-reach, true)
					come, alarm = come+p[k], alarm+above
					p[k] -= above
				}
				if ask(i) == -short && alarm > a.Alarmed(short)*come {
					t.Errorf("%s, %s: question %d alarms %v of %v, the bound is %v", sides[one], name, i, alarm, come, a.Alarmed(short))
				}
			}
		}
	}
}

// The rounds that are drawn are as the bound says: the analyst who reaches it misses as often as
// that, and a bound of nine tenths of it is refuted by the same draws.
func TestMissedDrawn(t *testing.T) {
	for _, one := range []bool{false, true} {
		a := above(1, dp.One/2, dp.One, one)
		const margin, rounds = 1, 40_000
		r := seeded(11)
		missed := 0
		for range rounds {
			over, err := r.OpenAbove(a).Ask(Exactly(100+margin), 100)
			if err != nil {
				t.Fatal(err)
			}
			if !over {
				missed++
			}
		}
		low := stat.LowerBound(missed, rounds, 1e-4)
		high := stat.UpperBound(missed, rounds, 1e-4)
		if bound := a.Missed(margin); low > bound || high < bound || low < bound*0.9 {
			t.Errorf("%s: between %v and %v are missed, the bound is %v", sides[one], low, high, bound)
		}
	}
}
