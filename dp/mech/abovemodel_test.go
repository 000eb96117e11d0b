package mech

import (
	"fmt"
	"math"
	"testing"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/lab/stat"
)

// aboveModel is a round of AboveThreshold as the theorem has it: its scales and its sides, and what
// may be wrong with it. Probabilities of transcripts are sums over the noise of the threshold. All
// terms are positive and each is accurate relative to itself, so a sum is right to about 1e-12.
type aboveModel struct {
	z, q  float64 // scales of the threshold's and the questions' noise
	one   bool    // one-sided
	under bool    // the noise of the threshold is at or below 0: a bug
	above int     // how many "above" there are before it ends; 0 is the honest 1
	redo  int     // the threshold is drawn again before every redo-th question; 0 is the honest never
}

func aboveModelOf(a *AboveThreshold) aboveModel {
	z, q := a.Parameters()
	return aboveModel{z: ratFloat(z), q: ratFloat(q), one: a.OneSided()}
}

func geoAt(b float64, k int64) float64 {
	if k < 0 {
		return 0
	}
	return -math.Expm1(-1/b) * math.Exp(-float64(k)/b)
}

// from is P(N >= m) and before is P(N < m), of a question's noise.
func (m aboveModel) from(k int64) float64 {
	switch {
	case !m.one:
		return lapFrom(m.q, k)
	case k <= 0:
		return 1
	}
	return math.Exp(-float64(k) / m.q)
}

func (m aboveModel) before(k int64) float64 {
	switch {
	case !m.one:
		return lapFrom(m.q, 1-k)
	case k <= 0:
		return 0
	}
	return -math.Expm1(-float64(k) / m.q)
}

// thresholds returns P(Z = i - reach), and the probability of all others.
func (m aboveModel) thresholds(reach int64) (p []float64, left float64) {
	p = make([]float64, 2*reach+1)
	for i := range p {
		switch k := int64(i) - reach; {
		case !m.one:
			p[i] = lapAt(m.z, k)
		case m.under:
			p[i] = geoAt(m.z, -k)
		default:
			p[i] = geoAt(m.z, k)
		}
	}
	left = math.Exp(-float64(reach+1) / m.z)
	if !m.one {
		left = 2 * lapFrom(m.z, reach+1)
	}
	return p, left
}

// answer is the probability of an answer about a value that is d above its threshold, given z.
func (m aboveModel) answer(d, z int64, above bool) float64 {
	if above {
		return m.from(z - d)
	}
	return m.before(z - d)
}

// loss is a lower bound on ln(P_x/P_y) of a transcript, which is the loss itself up to 1e-9 where
// the part of the sum that is left out does not matter.
func (m aboveModel) loss(x, y []ask) float64 {
	reach := int64(60*m.z+30*m.q) + 20
	p, left := m.thresholds(reach)
	sum := func(asks []ask) (sum float64) {
		for i, w := range p {
			for _, a := range asks {
				w *= math.Pow(m.answer(a.d, int64(i)-reach, a.above), float64(a.times))
			}
			sum += w
		}
		return sum
	}
	return math.Log(sum(x) / (sum(y) + left))
}

// checkAbove enumerates all transcripts of up to n questions, on values around their thresholds
// that move by -d to d each, and compares the largest loss, in both directions, to epsilon.
func checkAbove(m aboveModel, n int, d int64, epsilon float64) (worst float64, err error) {
	reach := int64(40*m.z) + 20
	prior, left := m.thresholds(reach)
	rows := map[int64][2][]float64{}
	row := func(dist int64) [2][]float64 {
		if r, ok := rows[dist]; ok {
			return r
		}
		var r [2][]float64
		for a := range r {
			r[a] = make([]float64, len(prior))
			for i := range prior {
				r[a][i] = m.answer(dist, int64(i)-reach, a == 1)
			}
		}
		rows[dist] = r
		return r
	}
	total := func(p []float64) (sum float64) {
		for _, v := range p {
			sum += v
		}
		return sum
	}
	worst = math.Inf(-1)
	compare := func(sx, sy float64) { worst = max(worst, math.Log(sx/(sy+left)), math.Log(sy/(sx+left))) }
	compare(total(prior), total(prior))
	vectors := make([][2][]float64, n) // of each depth, for all that is visited there one after another
	for i := range vectors[:n-1] {
		vectors[i] = [2][]float64{make([]float64, len(prior)), make([]float64, len(prior))}
	}
	// The probability of what was answered is that of the rounds that are over, fx, times what px
	// adds up to.
	var visit func(px, py []float64, fx, fy float64, depth, above int)
	visit = func(px, py []float64, fx, fy float64, depth, above int) {
		if m.redo > 0 && depth > 0 && depth%m.redo == 0 {
			fx, fy, px, py = fx*total(px), fy*total(py), prior, prior
		}
		for _, base := range []int64{-2 * d, 0, d} {
			for a := range 2 {
				nx, ny := vectors[depth][0], vectors[depth][1]
				last := depth+1 == n || above+a == max(1, m.above)
				if last {
					nx, ny = nil, nil // only their sums are looked at
				}
				sx := fx * products(nx, px, row(base)[a])
				for move := -d; move <= d; move++ {
					sy := fy * products(ny, py, row(base + move)[a])
					compare(sx, sy)
					if !last {
						visit(nx, ny, fx, fy, depth+1, above+a)
					}
				}
			}
		}
	}
	visit(prior, prior, 1, 1, 0, 0)
	return worst, checkLoss(worst, epsilon)
}

func checkLoss(loss, epsilon float64) error {
	if loss > epsilon*(1+1e-9) {
		return fmt.Errorf("the privacy loss is %.6f, above %v", loss, epsilon)
	}
	return nil
}

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
			a := above(c.d, amount(c.e1), amount(c.e2), one)
			m := aboveModelOf(a)
			for _, margin := range []int64{0, 1, 2, 5, 13, 40, 400} {
				got, want := a.MissProbability(margin), m.missed(margin)
				if got < want*(1-1e-12) || got > want*(1+1e-8)+1e-299 {
					t.Errorf("%+v, %s, %d above: %v, want %v", c, sides[one], margin, got, want)
				}
			}
			for _, short := range []int64{1, 2, 5, 13, 40} {
				got, want := a.AlarmProbability(short), 0.0
				p, _ := m.thresholds(int64(60*m.z) + 20)
				for i, z := range p {
					want += z * m.answer(-short, int64(i)-int64(60*m.z)-20, true)
				}
				if got < want*(1-1e-12) || got > want*(1+1e-8)+1e-299 {
					t.Errorf("%+v, %s, %d below: %v, want %v", c, sides[one], short, got, want)
				}
			}
			if a.AlarmProbability(0) != 1 || a.MissProbability(-1) != 1 || !(a.MissProbability(math.MaxInt64) > 0) {
				t.Errorf("%+v, %s: at the ends %v and %v", c, sides[one], a.MissProbability(-1), a.MissProbability(math.MaxInt64))
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
		bound := a.MissProbability(margin)
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
				if ask(i) == -short && alarm > a.AlarmProbability(short)*come {
					t.Errorf("%s, %s: question %d alarms %v of %v, the bound is %v",
						sides[one], name, i, alarm, come, a.AlarmProbability(short))
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
			over := must(r.OpenAbove(a).Ask(Seal(100+margin), 100))
			if !over {
				missed++
			}
		}
		low := stat.LowerBound(missed, rounds, 1e-4)
		high := stat.UpperBound(missed, rounds, 1e-4)
		if bound := a.MissProbability(margin); low > bound || high < bound || low < bound*0.9 {
			t.Errorf("%s: between %v and %v are missed, the bound is %v", sides[one], low, high, bound)
		}
	}
}

// Rounds with one fault each, by computation. The honest round passes the same checks:
// TestAboveIsPrivateExactly and TestAboveIsTight.
func TestAbovePlantedBugs(t *testing.T) {
	const e = 1.0
	for _, one := range []bool{false, true} {
		honest := aboveModelOf(above(1, dp.One/2, dp.One/2, one))
		if honest.z != 2 || honest.q != 4 {
			t.Fatalf("scales %v and %v", honest.z, honest.q)
		}
		enumerated := func(change func(*aboveModel), d int64) error {
			m := honest
			change(&m)
			_, err := checkAbove(m, 4, d, e)
			return err
		}
		// Below n times at the threshold and above far below it, as where the honest round is
		// tight.
		tight := func(change func(*aboveModel), times int) error {
			m := honest
			change(&m)
			return checkLoss(m.loss([]ask{{0, 100000, false}, {-100, times, true}}, []ask{{1, 100000, false}, {-101, times, true}}), e)
		}
		if err := tight(func(*aboveModel) {}, 1); err != nil {
			t.Errorf("%s: the honest round: %v", sides[one], err)
		}
		cases := map[string]error{
			"questions have D/e2 and not 2D/e2": tight(func(m *aboveModel) { m.q = 2 }, 1),
			"a round goes on after its above":   tight(func(m *aboveModel) { m.above = 2 }, 2),
			"the sensitivity is forgotten":      enumerated(func(*aboveModel) {}, 3),
			"the threshold is 5 % short":        tight(func(m *aboveModel) { m.z = 1.9 }, 1),
		}
		if one {
			// One question, "below": on y it cannot be.
			cases["the noise of the threshold is at or below 0"] = enumerated(func(m *aboveModel) { m.under = true }, 1)
			cases["one-sided questions go on, enumerated"] = enumerated(func(m *aboveModel) { m.above = 2 }, 1)
			cases["a restart draws a new threshold, enumerated"] = enumerated(func(m *aboveModel) { m.redo = 2 }, 1)
			cases["questions have D/e2, enumerated"] = enumerated(func(m *aboveModel) { m.q = 2 }, 1)
		}
		for name, err := range cases {
			if err == nil {
				t.Errorf("%s, %s: not caught", sides[one], name)
			} else {
				t.Logf("%s, %s: %v", sides[one], name, err)
			}
		}

		// A restart that draws a new threshold: each pays e1 again. Many "below" before the restart
		// and many after it, and then the "above".
		first := honest.loss([]ask{{0, 100000, false}}, []ask{{1, 100000, false}})
		second := honest.loss([]ask{{0, 100000, false}, {-100, 1, true}}, []ask{{1, 100000, false}, {-101, 1, true}})
		if err := checkLoss(first+second, e); err == nil || first+second < 1.45 || first+second > 1.5+1e-9 {
			t.Errorf("%s: a threshold drawn again loses %v", sides[one], first+second)
		} else {
			t.Logf("%s, a restart draws a new threshold: %v", sides[one], err)
		}

		// The value that is released has the noise of the comparison: v says that Z <= v -
		// threshold, and one-sided that the value is at most v.
		reused := func(n int) float64 {
			prior, _ := honest.thresholds(300)
			p := func(move, seen int64) (sum float64) {
				for i, w := range prior {
					if z := int64(i) - 300; z <= seen {
						sum += w * math.Pow(honest.answer(move, z, false), float64(n))
					}
				}
				noise := lapAt(honest.q, seen)
				if one {
					noise = geoAt(honest.q, seen)
				}
				return sum * noise
			}
			return math.Log(p(0, 1) / p(1, 1))
		}
		if got := reused(100); checkLoss(got, e) == nil {
			t.Errorf("%s, the comparison's noise is released: loses %v", sides[one], got)
		} else {
			t.Logf("%s, the comparison's noise is released: loses %v", sides[one], got)
		}
	}
}

// Rounds that run, with bugs that only running shows.
func TestAbovePlantedRounds(t *testing.T) {
	type parts struct {
		short, negative, endless, lazy, skip, late, strict bool
	}
	for _, one := range []bool{false, true} {
		a := above(1, dp.One/2, dp.One/2, one)
		broken := func(p parts) func(*Releaser) round {
			return func(r *Releaser) round {
				z, drawn, over := int64(0), false, false
				if !p.late {
					z, drawn = a.threshold.Draw(r.src), true
				}
				if p.negative {
					z = -abs(z)
				}
				return func(v, threshold int64) (bool, error) {
					if over && !p.endless {
						return false, errOver
					}
					if r.record != nil {
						s := a.config.Sensitivity
						r.record(Call{Mechanism: "above", Parameter: a.question.Scale(), Sensitivity: s, Values: Seal(v)})
					}
					if p.skip && v-threshold < -1000 {
						return false, nil
					}
					n := a.question.Draw(r.src)
					if !drawn {
						z, drawn = a.threshold.Draw(r.src), true
					}
					if p.short {
						n /= 8
					}
					over = atLeast(v, n, threshold, z)
					if p.strict {
						over = !atLeast(threshold, z, v, n)
					}
					if p.lazy && over {
						a.question.Draw(r.src)
					}
					return over, nil
				}
			}
		}
		x, y := []int64{0, 0, 0, 0, 0, 0}, []int64{1, 1, 1, -1, -1, -1}
		for _, check := range []error{
			checkAboveStatistics(broken(parts{}), x, y, 100000, 1),
			checkAboveFollows(broken(parts{}), a),
			checkAboveReplay(broken(parts{}), x, y),
		} {
			if check != nil {
				t.Errorf("%s: the honest parts are caught: %v", sides[one], check)
			}
		}
		cases := map[string]error{
			"noise of the questions too small, statistical":  checkAboveStatistics(broken(parts{short: true}), x, y, 100000, 1),
			"noise of the questions too small, by the noise": checkAboveFollows(broken(parts{short: true}), a),
			"threshold at or below 0, by the noise":          checkAboveFollows(broken(parts{negative: true}), a),
			"goes on after its above, by the noise":          checkAboveFollows(broken(parts{endless: true}), a),
			"threshold drawn after the noise of a question":  checkAboveFollows(broken(parts{late: true}), a),
			"above is > and not >=, by the noise":            checkAboveFollows(broken(parts{strict: true}), a),
			"no draw for hopeless values, replay":            checkAboveReplay(broken(parts{skip: true}), []int64{-1000}, []int64{-1001}),
			"draws after the comparison, replay":             checkAboveReplay(broken(parts{lazy: true}), x, y),
			"neighbours that are too far apart, replay":      checkAboveReplay(broken(parts{}), []int64{0}, []int64{2}),
			"a restart that draws a new threshold, by answer": checkAboveResumes(a, func(r *Releaser, _ []byte) (*AboveRound, error) {
				return r.OpenAbove(a), nil
			}),
			"a restart without noise, by answer": checkAboveResumes(a, func(r *Releaser, _ []byte) (*AboveRound, error) {
				return r.ResumeAbove(a, []byte{0})
			}),
		}
		if one {
			cases["threshold at or below 0, statistical"] = checkAboveStatistics(broken(parts{negative: true}), []int64{-1},
				[]int64{0}, 100000, 1)
			cases["goes on after its above, statistical"] = checkAboveStatistics(broken(parts{endless: true}),
				[]int64{0, 0, 0, 0, 0, 0, 0, 0}, []int64{1, 1, -1, -1, -1, -1, -1, -1}, 100000, 1)
		}
		for name, err := range cases {
			if err == nil {
				t.Errorf("%s, %s: not caught", sides[one], name)
			} else {
				t.Logf("%s, %s: %v", sides[one], name, err)
			}
		}
	}
}
