package mech

import (
	"math"
	"testing"

	"github.com/discreet-dp/discreet/dp"
)

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
			return within(m.loss([]ask{{0, 100000, false}, {-100, times, true}}, []ask{{1, 100000, false}, {-101, times, true}}), e)
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
		if err := within(first+second, e); err == nil || first+second < 1.45 || first+second > 1.5+1e-9 {
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
		if got := reused(100); within(got, e) == nil {
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
						return false, ErrOver
					}
					if r.record != nil {
						r.record(Call{Mechanism: "above", Parameter: a.question.Scale(), Sensitivity: a.Sensitivity(), Values: Exactly(v)})
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
