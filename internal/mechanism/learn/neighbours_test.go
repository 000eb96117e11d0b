package learn

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"testing"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/mech"
	"github.com/discreet-dp/discreet/internal/detrand"
	"github.com/discreet-dp/discreet/internal/mechanism/learn/solve"
	"github.com/discreet-dp/discreet/internal/mechanism/learn/vector"
	"github.com/discreet-dp/discreet/internal/sealed"
)

// apart are two databases that differ in m rows of one person, or in one having them and the other
// not: rows as long as they can be, with the targets at both ends.
func apart(e *Encoding, n dp.Neighbours, m int, seed uint64) (a, b [][]int64) {
	dice := detrand.New("apart", seed)
	for range dice.Below(6) {
		row := randomRow(dice, e)
		a, b = append(a, row), append(b, row)
	}
	last := int64(e.Classes() - 1)
	if e.Classes() == 0 {
		last = e.Target.Hi
	}
	for range m {
		if dice.One(4) { // something else
			a = append(a, randomRow(dice, e))
			if n == dp.Substitute {
				b = append(b, randomRow(dice, e))
			}
			continue
		}
		a = append(a, []int64{100, 1, 3000, last})
		if n == dp.Substitute {
			b = append(b, []int64{100, 1, 3000, 0})
		}
	}
	return a, b
}

func tableOf(p *Plan, codes [][]int64) *Table {
	t := p.NewTable()
	for _, c := range codes {
		t.Add(c)
	}
	return t
}

// calls trains, and returns what the releaser was asked for.
func calls(t testing.TB, p *Plan, table *Table, seed uint64) (out []mech.Call) {
	t.Helper()
	r := releaser(seed)
	r.Record(func(c mech.Call) { out = append(out, c) })
	if _, err := Fit(context.Background(), p, table, r, nil); err != nil {
		t.Fatal(err)
	}
	return out
}

// farther returns how far the sealed values of two runs are apart in all calls together, as a part
// of what noise was calibrated to. The calls themselves must be the same.
func farther(a, b []mech.Call) (float64, error) {
	if len(a) != len(b) {
		return 0, fmt.Errorf("%d calls and %d", len(a), len(b))
	}
	total := 0.0
	for i := range a {
		if a[i].Mechanism != b[i].Mechanism || a[i].Parameter.Cmp(b[i].Parameter) != 0 || a[i].Values.Len() != b[i].Values.Len() {
			return 0, fmt.Errorf("call %d is %s %v against %s %v", i, a[i].Mechanism, a[i].Parameter, b[i].Mechanism, b[i].Parameter)
		}
		if a[i].Sensitivity.Norm() != dp.L2 {
			continue
		}
		move, ok := sealed.Between(a[i].Values, b[i].Values)
		if !ok {
			return 0, fmt.Errorf("call %d has vectors of different lengths", i)
		}
		square, _ := new(big.Float).SetInt(move.L2Squared).Float64()
		total += math.Sqrt(square) / a[i].Sensitivity.Float()
	}
	return total, nil
}

// gradients is the sum over models and candidates, in squares and in lengths, of how far the
// gradients of two tables are apart at w, as a part of S.
func gradients(p *Plan, a, b *collected, w []float64) float64 {
	at := func(t *collected, c, k int) []float64 {
		s, g := p.sum(t, c, k), make([]float64, p.Encoding.Dim())
		for i := range t.rows.Len() {
			if s.Keep != nil && !s.Keep(i) {
				continue
			}
			y, weight := float64(t.rows.Target(i)), 1.0
			if s.Target != nil {
				y = s.Target(i)
			}
			if s.Weight != nil {
				weight = s.Weight(i)
			}
			x := t.rows.Row(i)
			slope := weight * p.task.loss.Derivative(vector.Dot(w, x), y)
			for j, v := range x {
				g[j] += slope * float64(v)
			}
		}
		return g
	}
	most := 0.0
	for k := range p.Encoding.Models() {
		total := 0.0
		for c := range p.candidates() {
			ga, gb, square := at(a, c, k), at(b, c, k), 0.0
			for j := range ga {
				square += (ga[j] - gb[j]) * (ga[j] - gb[j])
			}
			total += math.Sqrt(square)
		}
		most = math.Max(most, total)
	}
	return most / p.task.problem(p.candidates()).Gradient()
}

// TestNeighbours replays trainings on neighbours with the same randomness.
func TestNeighbours(t *testing.T) {
	most := map[string]float64{}
	for _, n := range []dp.Neighbours{dp.AddRemove, dp.Substitute} {
		for _, m := range []int{1, 3} {
			for _, classes := range []int{0, 2, 3} {
				for _, tune := range [][]float64{nil, {4000, 3000}} {
					for name, s := range map[string]Spec{
						"output pure": {Method: Output, Budget: Budget{Epsilon: dp.One}},
						"output rho":  {Method: Output, Budget: Budget{Rho: dp.One}},
						"minima":      {Method: Minima, Budget: Budget{Rho: dp.One}},
						"objective":   {Method: Objective, Budget: Budget{Epsilon: dp.One}},
					} {
						if s.Tune = tune; tune == nil {
							s.Regulariser = 3000
						}
						if classes == 3 {
							s.Loss = "huber" // as steep as can be at 0, in all models at once
						}
						if classes == 2 {
							s.Weights = map[string]float64{"class 0": 0.25}
						}
						e := encoding(classes)
						p := prepared(e, s, Group{n, m})
						for seed := range uint64(6) {
							x, y := apart(p.Encoding, n, m, seed)
							a, b := tableOf(p, x), tableOf(p, y)
							share, err := farther(calls(t, p, a, seed), calls(t, p, b, seed))
							if s.Method == Minima {
								share = 0 // the same noise is not the same minimiser; see TestMinima
							}
							if err != nil || share > 1 {
								t.Errorf("%s, %v, %d rows, %d classes, %v: %.3f of the sensitivity, %v", name, n, m,
									classes, tune, share, err)
							}
							if s.Method == Output {
								most[n.String()] = math.Max(most[n.String()], share)
							}
							w := make([]float64, e.Dim())
							for j := range w {
								w[j] = float64(int(seed)-2) * float64(j%3-1)
							}
							if share := gradients(p, a.open(), b.open(), w); share > 1 {
								t.Errorf("%s, %v, %d rows, %d classes, %v: gradients move by %.3f of S", name, n, m, classes, tune, share)
							} else {
								most["gradient"] = math.Max(most["gradient"], share)
							}
						}
					}
				}
			}
		}
	}
	for name, share := range most {
		if share < 0.9 {
			t.Errorf("%s: the farthest is %.3f of the sensitivity, which shows little", name, share)
		}
	}
}

// known is a linear term that is known.
type known []float64

func (k known) Len() int { return len(k) }

func (k known) Approximate(uint) []*big.Float {
	out := make([]*big.Float, len(k))
	for i, x := range k {
		out[i] = big.NewFloat(x)
	}
	return out
}

// TestMinima: where neighbours have the same minimiser, each with the linear term that makes it so,
// what is computed is no farther apart than the second noise is calibrated to.
func TestMinima(t *testing.T) {
	for _, classes := range []int{0, 2} {
		e := encoding(classes)
		for seed := range uint64(8) {
			p := prepared(e, Spec{Method: Minima, Budget: Budget{Rho: dp.One}, Regulariser: 20, Rows: 50}, Group{dp.Substitute, 2})
			x, y := apart(e, dp.Substitute, 2, seed)
			w := make([]float64, e.Dim())
			for j := range w {
				w[j] = math.Sin(float64(seed) + 2*float64(j))
			}
			var found [2][]int64
			for i, codes := range [][][]int64{x, y} {
				s := p.sum(tableOf(p, codes).open(), 0, 0)
				b := make(known, e.Dim())
				for j := range b {
					b[j] = -s.Lambda * w[j]
				}
				for i := range s.Rows.Len() {
					target := float64(s.Rows.Target(i))
					if s.Target != nil {
						target = s.Target(i)
					}
					slope := p.task.loss.Derivative(vector.Dot(w, s.Rows.Row(i)), target)
					for j, v := range s.Rows.Row(i) {
						b[j] -= slope * float64(v)
					}
				}
				got := must(p.recipe.minimise(context.Background(), s, b, nil))
				for j := range got {
					found[i] = append(found[i], roundToSteps(got[j], p.Step()))
					if math.Abs(got[j]-w[j]) > p.recipe.tolerance/p.recipe.lambda*1.01+1e-12 {
						t.Errorf("a weight is %v, and %v was meant", got[j], w[j])
					}
				}
			}
			move, _ := sealed.Between(mech.Seal(found[0]...), mech.Seal(found[1]...))
			if s := p.recipe.release.Sensitivity(); move.L2Squared.Cmp(s.L2Squared()) > 0 {
				t.Errorf("%v steps apart (squared), and the noise is for %v", move.L2Squared, s)
			}
			// Our minimiser comes nearer than it must. One that stops as soon as it may, on either
			// side:
			found = [2][]int64{}
			for i, side := range []float64{1, -1} {
				for j := range w {
					away := side * p.recipe.tolerance / p.recipe.lambda / math.Sqrt(float64(len(w)))
					found[i] = append(found[i], roundToSteps(w[j]+away, p.Step()))
				}
			}
			move, _ = sealed.Between(mech.Seal(found[0]...), mech.Seal(found[1]...))
			if s := p.recipe.release.Sensitivity(); move.L2Squared.Cmp(s.L2Squared()) > 0 {
				t.Errorf("%v steps apart (squared) where minimising stops early, and the noise is for %v", move.L2Squared, s)
			}
		}
	}
}

// TestPlanted calibrates to less than what happens, in the ways that people forget.
func TestPlanted(t *testing.T) {
	e := encoding(0)
	spec := Spec{Method: Output, Regulariser: 3000, Budget: Budget{Epsilon: dp.One}}
	for name, c := range map[string]struct {
		forgetful, honest Group
	}{
		"the factor of substitution": {Group{dp.AddRemove, 1}, Group{dp.Substitute, 1}},
		"max_rows":                   {Group{dp.AddRemove, 1}, Group{dp.AddRemove, 3}},
	} {
		p := prepared(e, spec, c.forgetful)
		values, slopes := 0.0, 0.0
		for seed := range uint64(6) {
			x, y := apart(e, c.honest.Neighbours, c.honest.MaxRows, seed)
			a, b := tableOf(p, x), tableOf(p, y)
			share := must(farther(calls(t, p, a, seed), calls(t, p, b, seed)))
			values, slopes = math.Max(values, share), math.Max(slopes, gradients(p, a.open(), b.open(), make([]float64, e.Dim())))
		}
		if values <= 1 || slopes <= 1 {
			t.Errorf("without %s: %.3f and %.3f of the sensitivity, which is not seen", name, values, slopes)
		}
	}
	// An intercept that is appended after clipping.
	p := prepared(e, Spec{Method: Output, Regulariser: 3000, Radius: 1, Budget: Budget{Epsilon: dp.One}}, one)
	after := &collected{encoding: e}
	b := solve.NewBuilder(e.Dim(), 2)
	clipped := vector.Clip([]float64{1, 0, 1, 0, 1}, 1)
	row := make([]float64, 0, e.Dim())
	for _, v := range clipped {
		row = append(row, float64(v))
	}
	b.Add(append(row, 1), 1)
	after.rows = b.Rows()
	none := p.NewTable().open()
	if share := gradients(p, after, none, make([]float64, e.Dim())); share <= 1 {
		t.Errorf("an intercept after clipping moves gradients by %.3f of S, which is not seen", share)
	}
}

// TestCounts: how far what is counted on neighbours is apart, for the same weights.
func TestCounts(t *testing.T) {
	for _, n := range []dp.Neighbours{dp.AddRemove, dp.Substitute} {
		for _, classes := range []int{0, 2, 3} {
			for _, b := range []Budget{{Epsilon: dp.One}, {Rho: dp.One}} {
				e := encoding(classes)
				p := prepared(e, Spec{Budget: b, Evaluate: dp.One, Tune: []float64{4000, 3000}, Method: Objective}, Group{n, 2})
				most := 0.0
				for seed := range uint64(8) {
					x, y := apart(e, n, 2, seed)
					a, b := tableOf(p, x).open(), tableOf(p, y).open()
					w := make([][]int64, e.Models())
					for k := range w {
						w[k] = make([]int64, e.Dim())
						for j := range w[k] {
							w[k][j] = int64((k+1)*(j-2)) * int64(seed+1) << 20
						}
					}
					model := p.model(w, 1)
					var seen [2]mech.Call
					for i, c := range []*collected{a, b} {
						r := releaser(1)
						r.Record(func(c mech.Call) { seen[i] = c })
						p.evaluate(c, model, r)
					}
					move, _ := sealed.Between(seen[0].Values, seen[1].Values)
					if s := seen[0].Sensitivity; s.Norm() == dp.L1 && move.L1.Cmp(s.L1()) > 0 ||
						s.Norm() == dp.L2 && move.L2Squared.Cmp(s.L2Squared()) > 0 {
						t.Errorf("%v, %d classes: the counts move by %v, and the noise is for %v", n, classes, move, s)
					}
					f, _ := new(big.Float).SetInt(move.L1).Float64()
					most = math.Max(most, f)
					candidates := [][][]float64{vector.Weights(w, p.Step()), vector.Weights(w, -p.Step())}
					move, _ = sealed.Between(p.scores(a, candidates), p.scores(b, candidates))
					if s := p.selector.Scoring(); move.Largest.Cmp(big.NewInt(s.Sensitivity)) > 0 || s.Monotone && move.Up && move.Down {
						t.Errorf("%v, %d classes: the scores move by %v, and are said to by %v", n, classes, move, s)
					}
				}
				if most == 0 {
					t.Error("nothing moved")
				}
			}
		}
	}
}
