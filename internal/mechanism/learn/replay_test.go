package learn

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"math"
	"math/big"
	"testing"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/mech"
	"github.com/discreet-dp/discreet/internal/detrand"
	"github.com/discreet-dp/discreet/internal/entropy"
	"github.com/discreet-dp/discreet/internal/mechanism/learn/solve"
	"github.com/discreet-dp/discreet/internal/mechanism/learn/vector"
	"github.com/discreet-dp/discreet/internal/sealed"
)

var pairs = flag.Int("pairs", 1, "how many neighbouring tables each training is replayed on")

// hostileRow is a row at the ends of what rows can be, and beyond.
func hostileRow(d detrand.Choices, e *Encoding) []int64 {
	var out []int64
	for _, c := range append(append([]Column(nil), e.Features...), e.Target) {
		codes := []int64{c.Lo, c.Hi, (c.Lo + c.Hi) / 2, Null, math.MaxInt64, math.MinInt64 + 1}
		if c.Categorical() {
			codes = []int64{0, 1, int64(len(c.Values)) - 1, int64(d.Below(len(c.Values))), -1, Null, math.MaxInt64}
		}
		if d.One(2) {
			codes = codes[:3]
		}
		out = append(out, detrand.Pick(d, codes))
	}
	return out
}

// neighbouring makes two tables that differ in one person with so many rows.
func neighbouring(d detrand.Choices, e *Encoding, rows int, n dp.Neighbours) (a, b [][]int64) {
	for range d.Below(8) {
		row := hostileRow(d, e)
		for range detrand.Pick(d, []int{1, 1, 20}) {
			a, b = append(a, row), append(b, row)
		}
	}
	for i := range rows {
		row := hostileRow(d, e)
		if i > 0 && len(a) > 0 && d.One(2) {
			row = a[len(a)-1]
		}
		a = append(a, row)
		if n == dp.Substitute {
			other := hostileRow(d, e)
			if d.One(2) { // the same, of another class
				other = append(append([]int64(nil), row[:len(row)-1]...), other[len(other)-1])
			}
			b = append(b, other)
		}
	}
	return a, b
}

// tabled adds rows in an order of its own: nothing may depend on it.
func tabled(p *Plan, rows [][]int64, d detrand.Choices) *Table {
	t := p.NewTable()
	left := append([][]int64(nil), rows...)
	for len(left) > 0 {
		i := d.Below(len(left))
		t.Add(left[i])
		left[i] = left[len(left)-1]
		left = left[:len(left)-1]
	}
	return t
}

// replayed is what a training did.
type replayed struct {
	calls []mech.Call
	drawn int
	model *Model
	err   error
}

func replay(p *Plan, t *Table, seed uint64) replayed {
	var out replayed
	stream := detrand.NewStream("replay", seed)
	r := mech.NewReleaser(entropy.FromReader(stream))
	r.Record(func(c mech.Call) { out.calls = append(out.calls, c) })
	out.model, out.err = Fit(context.Background(), p, t, r, nil)
	out.drawn = stream.Drawn()
	return out
}

// compare says what one person changed and must not have, and how far values moved as a part of
// what their noise was calibrated to. After the first release that differs values may differ by
// more, because they are of other models: see given.
func compare(method string, a, b replayed) (ratio float64, err error) {
	if a.err != nil || b.err != nil {
		return 0, fmt.Errorf("one says %v, the other %v", a.err, b.err)
	}
	if len(a.calls) != len(b.calls) || a.drawn != b.drawn {
		return 0, fmt.Errorf("%d calls with %d bytes against %d with %d", len(a.calls), a.drawn, len(b.calls), b.drawn)
	}
	for i, c := range a.calls {
		d := b.calls[i]
		if c.Mechanism != d.Mechanism || c.Parameter.Cmp(d.Parameter) != 0 || c.Sensitivity.String() != d.Sensitivity.String() ||
			c.Scoring != d.Scoring {
			return 0, fmt.Errorf("call %d is %s(%s) against %s(%s)", i, c.Mechanism, c.Parameter.RatString(), d.Mechanism,
				d.Parameter.RatString())
		}
		if _, ok := sealed.Between(c.Values, d.Values); !ok {
			return 0, fmt.Errorf("call %d has %d values against %d", i, c.Values.Len(), d.Values.Len())
		}
		if method == Output && c.Sensitivity.Norm() == dp.L2 && c.Values.Len() > 2 {
			ratio += moved(c, d) // of all candidates together, whose noise is of one scale
		}
	}
	return ratio, within(ratio)
}

func within(ratio float64) error {
	if ratio > 1 {
		return fmt.Errorf("one person moves values %.4g times as far as their noise is calibrated to", ratio)
	}
	return nil
}

// moved is how far the values of a call are apart, as a part of its sensitivity.
func moved(c, d mech.Call) float64 {
	m, ok := sealed.Between(c.Values, d.Values)
	if !ok {
		return math.Inf(1)
	}
	part := func(x, bound *big.Int) float64 {
		if x.Cmp(bound) <= 0 { // exactly; a quotient of float64 could be above 1
			r, _ := new(big.Rat).SetFrac(x, bound).Float64()
			return min(1, r)
		}
		r, _ := new(big.Rat).SetFrac(x, bound).Float64()
		return max(r, 1+0x1p-40)
	}
	switch c.Sensitivity.Norm() {
	case dp.L2:
		return math.Sqrt(part(m.L2Squared, c.Sensitivity.L2Squared()))
	case dp.L1:
		return part(m.L1, c.Sensitivity.L1())
	}
	if c.Scoring.Monotone && m.Up && m.Down {
		return math.Inf(1)
	}
	return part(m.Largest, big.NewInt(c.Scoring.Sensitivity))
}

// given is how far the estimate and the choice move where both tables have the same models,
// whatever these are.
func given(p *Plan, a, b *Table, d detrand.Choices) (ratio float64) {
	candidates := make([][][]int64, p.candidates())
	for c := range candidates {
		for range p.Encoding.Models() {
			w := make([]int64, p.Encoding.Dim())
			for j := range w {
				w[j] = int64(float64(d.Below(2001)-1000) / 500 / p.recipe.step)
			}
			candidates[c] = append(candidates[c], w)
		}
	}
	calls := func(t *Table) (out []mech.Call) {
		r := releaser(1)
		r.Record(func(c mech.Call) { out = append(out, c) })
		if p.selector != nil {
			var floats [][][]float64
			for _, c := range candidates {
				floats = append(floats, vector.Weights(c, p.recipe.step))
			}
			if _, err := r.Select(p.scores(t.open(), floats), p.selector); err != nil {
				panic(err)
			}
		}
		if p.evaluation != nil {
			p.evaluate(t.open(), p.model(candidates[0], p.regularisers[0]), r)
		}
		return out
	}
	x, y := calls(a), calls(b)
	for i := range x {
		ratio = max(ratio, moved(x[i], y[i]))
	}
	return ratio
}

// rough is how far the whole numbers of approximate minima are apart where both tables have the
// same exact minimiser, w: as a part of what their noise is calibrated to, over all models and
// candidates.
func rough(t *testing.T, p *Plan, a, b *Table, w []float64) float64 {
	var first, second []int64
	for c := range p.candidates() {
		for k := range p.Encoding.Models() {
			for table, out := range map[*Table]*[]int64{a: &first, b: &second} {
				s := p.sum(table.open(), c, k)
				g := slopes(s, w)
				for j := range g {
					g[j] = -(g[j] + s.Lambda*w[j])
				}
				point := must(solve.Minimise(context.Background(), s, g, p.recipe.tolerance, nil))
				for _, x := range point.W {
					*out = append(*out, roundToSteps(x, p.recipe.step))
				}
			}
		}
	}
	call := mech.Call{Sensitivity: p.recipe.release.Sensitivity()}
	one, two := call, call
	one.Values, two.Values = mech.Seal(first...), mech.Seal(second...)
	return moved(one, two)
}

// slopes is the gradient of the rows of a sum.
func slopes(s *solve.Problem, w []float64) []float64 {
	out := make([]float64, len(w))
	for i := range s.Rows.Len() {
		if s.Keep != nil && !s.Keep(i) {
			continue
		}
		x, target, weight := s.Rows.Row(i), float64(s.Rows.Target(i)), 1.0
		if s.Target != nil {
			target = s.Target(i)
		}
		if s.Weight != nil {
			weight = s.Weight(i)
		}
		slope := weight * s.Loss.Derivative(vector.Dot(w, x), target)
		for j, v := range x {
			out[j] += slope * float64(v)
		}
	}
	return out
}

// trainings are one of each kind.
func trainings(t *testing.T) (out []struct {
	e *Encoding
	s Spec
}) {
	budgets := []Budget{{Epsilon: eps("2")}, {Epsilon: eps("2"), Delta: eps("1e-6")}, {Rho: eps("0.5")}}
	add := func(e *Encoding, s Spec) {
		out = append(out, struct {
			e *Encoding
			s Spec
		}{e, s})
	}
	for i, b := range budgets {
		for _, method := range []string{Output, Objective, Minima} {
			if method == Minima && i == 0 {
				continue
			}
			add(encoding(2), Spec{Loss: "huber", Method: method, Budget: b, Regulariser: 400})
			add(encoding(2), Spec{Loss: "logistic", Method: method, Budget: b, Radius: 0.7,
				Weights: map[string]float64{"class 0": 1, "class 1": 0.25}, Evaluate: eps("0.5")})
			add(encoding(3), Spec{Loss: "logistic", Method: method, Budget: b, Tune: []float64{900, 3000, 20000}})
			add(encoding(0), Spec{Loss: "squares", Residual: 0.5, Method: method, Budget: b, Evaluate: eps("0.5")})
			add(encoding(0), Spec{Loss: "squares", Method: method, Budget: b, Tune: []float64{1500, 90000}})
		}
	}
	return out
}

// On neighbouring tables with the same randomness trainings make the same calls, with values that
// are no further apart than their noise is calibrated to; and gradients, to which noise was added
// before, are not either, wherever they are taken. A plan for fewer rows of a person, and one for
// people who are added where they are substituted, are seen.
func TestReplay(t *testing.T) {
	closest, seen := map[string]float64{}, map[string]int{}
	for number, training := range trainings(t) {
		for _, n := range []dp.Neighbours{dp.AddRemove, dp.Substitute} {
			for _, rows := range []int{1, 3} {
				p := prepared(training.e, training.s, Group{n, rows})
				d := detrand.New(fmt.Sprint("replay ", number, n, rows), 1)
				for i := range *pairs {
					a, b := neighbouring(d, p.Encoding, rows, n)
					one, two := tabled(p, a, d), tabled(p, b, d)
					ratio, err := compare(p.Method, replay(p, one, uint64(i)), replay(p, two, uint64(i)))
					if err != nil {
						t.Fatalf("%s: %v\n%v\n%v", p.Spelling(), err, a, b)
					}
					closest[p.Method] = max(closest[p.Method], ratio)
					r := given(p, one, two, d)
					closest["given the weights"] = max(closest["given the weights"], r)
					if err := within(r); err != nil {
						t.Fatalf("%s: %v\n%v\n%v", p.Spelling(), err, a, b)
					}
					for range 3 {
						w := make([]float64, p.Encoding.Dim())
						for j := range w {
							w[j] = float64(d.Below(201)-100) * detrand.Pick(d, []float64{0.0001, 0.01, 1})
						}
						g := gradients(p, one.open(), two.open(), w)
						closest["gradient"] = max(closest["gradient"], g)
						if p.Method == Minima {
							r := rough(t, p, one, two, w)
							closest[Minima] = max(closest[Minima], r)
							if err := within(r); err != nil {
								t.Fatalf("%s: given the minimiser: %v\n%v\n%v", p.Spelling(), err, a, b)
							}
						}
						if g > 1 {
							t.Fatalf("%s: the gradient moves %v times as far as its noise is calibrated to\n%v\n%v", p.Spelling(), g, a, b)
						}
					}
				}
			}
		}
		// Planted: people have three rows and it is calibrated to one; they are substituted and it
		// is calibrated to adding them.
		for name, g := range map[string]Group{"rows": {dp.Substitute, 1}, "neighbours": {dp.AddRemove, 3}} {
			p := prepared(training.e, training.s, g)
			d := detrand.New(fmt.Sprint("planted ", name, number), 1)
			for i := range 10 {
				a, b := neighbouring(d, p.Encoding, 3, dp.Substitute)
				one, two := tabled(p, a, d), tabled(p, b, d)
				w := make([]float64, p.Encoding.Dim())
				if given(p, one, two, d) > 1 {
					seen[name+" given the weights"]++
				}
				if p.recipe.objective == nil {
					if r, _ := compare(p.Method, replay(p, one, uint64(i)), replay(p, two, uint64(i))); r > 1 {
						seen[name+" "+p.Method]++
						break
					}
				} else if gradients(p, one.open(), two.open(), w) > 1 {
					seen[name+" "+p.Method]++
					break
				}
			}
		}
	}
	t.Logf("closest to what noise is calibrated to: %v", closest)
	t.Logf("planted, and seen in so many trainings: %v", seen)
	for _, name := range []string{"rows", "neighbours"} {
		for _, method := range []string{Output, Objective, Minima, "given the weights"} {
			if seen[name+" "+method] == 0 {
				t.Errorf("planted %s are not seen with %s", name, method)
			}
		}
	}
}

// With objective perturbation and the same randomness the model does not depend on the order of
// rows, to the last digit.
func TestOrderDoesNotMatter(t *testing.T) {
	for _, training := range trainings(t) {
		if training.s.Method != Objective {
			continue
		}
		p := prepared(training.e, training.s, one)
		d := detrand.New("order", 1)
		var rows [][]int64
		for range 40 {
			rows = append(rows, hostileRow(d, p.Encoding))
		}
		var first []byte
		for range 3 {
			var text bytes.Buffer
			m := replay(p, tabled(p, rows, d), 1)
			if m.err != nil {
				t.Fatal(m.err)
			}
			if err := m.model.Write(&text); err != nil {
				t.Fatal(err)
			}
			if first == nil {
				first = text.Bytes()
			} else if !bytes.Equal(first, text.Bytes()) {
				t.Errorf("%s: another order of rows, and another model", p.Spelling())
			}
		}
	}
}
