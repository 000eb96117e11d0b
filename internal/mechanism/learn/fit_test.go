package learn

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"reflect"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/detrand"
	"github.com/discreet-dp/discreet/internal/mechanism/learn/model"
	"github.com/discreet-dp/discreet/internal/mechanism/learn/solve"
	"github.com/discreet-dp/discreet/internal/mechanism/learn/vector"
	"github.com/discreet-dp/discreet/internal/test/daily"
)

// TestFit trains with every method, currency and loss, and looks whether anything was learned.
func TestFit(t *testing.T) {
	budgets := map[string]Budget{"pure": {Epsilon: eps("2")}, "approximate": {Epsilon: eps("2"), Delta: eps("1e-6")},
		"concentrated": {Rho: eps("0.5")}}
	for _, c := range []struct {
		loss    string
		classes int
		most    float64 // that may be wrong
	}{{"logistic", 2, 0.12}, {"huber", 2, 0.12}, {"logistic", 4, 0.55}, {"squares", 0, 11}} {
		for currency, b := range budgets {
			for _, method := range []string{Auto, Output, Objective, Minima} {
				if method == Minima && currency == "pure" {
					continue
				}
				t.Run(fmt.Sprint(c.loss, c.classes, currency, method), func(t *testing.T) {
					p := prepared(encoding(c.classes),
						Spec{Loss: c.loss, Method: method, Budget: b, Rows: 2000, Evaluate: eps("0.1")}, one)
					m := fitted(p, randomTable(p, 2000, 1), 3)
					w := wrong(m, 1000, 2)
					t.Logf("wrong %.3f, lambda %.3g, noise %v, estimate %+v", w, m.Regulariser, m.Noise, m.Evaluation)
					if w > c.most {
						t.Errorf("%.3f are wrong", w)
					}
					if e := m.Evaluation; w < e.Low-0.2*w-0.03 || w > e.High+0.2*w+0.03 {
						t.Errorf("%.3f are wrong, and the estimate is from %.3f to %.3f", w, e.Low, e.High)
					}
				})
			}
		}
	}
}

// TestTune chooses among regularisers of which one is far too large.
func TestTune(t *testing.T) {
	for _, classes := range []int{0, 2} {
		for _, s := range []Spec{
			{Method: Objective, Budget: Budget{Epsilon: eps("4")}}, {Method: Output, Budget: Budget{Rho: eps("2")}},
			{Method: Minima, Budget: Budget{Epsilon: eps("4"), Delta: eps("1e-6")}},
		} {
			s.Tune = []float64{1e6, 100, 1e5}
			p := prepared(encoding(classes), s, one)
			if p.recipe.lambda != 100 || p.task.problem(p.candidates()).Weights != 18 {
				t.Errorf("noise is calibrated to %v and not to the least regulariser", p.recipe.lambda)
			}
			if m := fitted(p, randomTable(p, 4000, 1), 1); m.Regulariser != 100 {
				t.Errorf("%d classes, %s: %v was chosen", classes, s.Method, m.Regulariser)
			}
		}
	}
}

// TestOrder: the exact minimiser does not depend on the order of rows.
func TestOrder(t *testing.T) {
	for _, tune := range [][]float64{nil, {50, 60}} {
		p := prepared(encoding(3), Spec{Budget: Budget{Epsilon: dp.One}, Tune: tune, Evaluate: dp.One}, one)
		dice := detrand.New("rows", 1)
		var codes [][]int64
		for range 500 {
			codes = append(codes, randomRow(dice, p.Encoding))
		}
		a := fitted(p, tableOf(p, codes), 7)
		slices.Reverse(codes)
		if b := fitted(p, tableOf(p, codes), 7); !reflect.DeepEqual(a, b) {
			t.Errorf("%v: %v against %v", tune, a.Weights, b.Weights)
		}
	}
}

// TestWeights: a class that weighs little is predicted less.
func TestWeights(t *testing.T) {
	share := func(w map[string]float64) (n int) {
		p := prepared(encoding(2), Spec{Budget: Budget{Epsilon: eps("4")}, Weights: w}, one)
		m := fitted(p, randomTable(p, 2000, 1), 1)
		for age := range 101 {
			if a, err := m.Predict(map[string]string{"age": fmt.Sprint(age), "colour": "red", "score": "10"}); err == nil &&
				a.Class == "class 1" {
				n++
			}
		}
		return n
	}
	less, same, more := share(map[string]float64{"class 1": 0.05}), share(nil), share(map[string]float64{"class 1": 20})
	if !(less < same && same < more) {
		t.Errorf("%d, %d and %d of 101 ages", less, same, more)
	}
	if share(map[string]float64{"class 1": 3, "class 0": 3}) != same {
		t.Error("weights that are all alike matter")
	}
}

// TestFitEnds: without rows there is a model, of noise; a context that is over ends a training; a
// table of another plan is refused.
func TestFitEnds(t *testing.T) {
	for _, classes := range []int{0, 2, 3} {
		for _, method := range []string{Output, Objective, Minima} {
			p := prepared(encoding(classes), Spec{Method: method, Budget: Budget{Rho: dp.One}, Evaluate: dp.One}, one)
			m := fitted(p, p.NewTable(), 1)
			if err := m.Validate(); err != nil {
				t.Error(err)
			}
			ctx, stop := context.WithCancel(context.Background())
			stop()
			_, err := Fit(ctx, p, randomTable(p, 100, 1), releaser(1), nil)
			if !errors.Is(err, ErrFit) || !errors.Is(err, context.Canceled) {
				t.Errorf("%s: %v", method, err)
			}
			other := prepared(encoding(classes), Spec{Method: method, Radius: 7, Budget: Budget{Rho: dp.One}}, one)
			if _, err := Fit(context.Background(), p, other.NewTable(), releaser(1), nil); !errors.Is(err, ErrFit) {
				t.Error(err)
			}
		}
	}
}

// TestExtremes prepares and trains at the ends of what is allowed: there is a model or an error of
// Prepare.
func TestExtremes(t *testing.T) {
	for _, e := range []*Encoding{encoding(0), encoding(2), encoding(model.MaxClasses)} {
		for _, b := range daily.Sample(t, []Budget{{Epsilon: 1}, {Epsilon: dp.One << 20}, {Rho: 1}, {Rho: dp.One << 20},
			{Epsilon: 1, Delta: 1}, {Epsilon: dp.One << 20, Delta: dp.One - 1}, {Epsilon: dp.One, Delta: 1}}, 3) {
			for _, method := range []string{Auto, Output, Objective, Minima} {
				for _, g := range []Group{one, {dp.Substitute, 1024}} {
					p, err := Prepare(e, Spec{Budget: b, Method: method, Evaluate: b.Rho + b.Epsilon}, g)
					if err != nil {
						if !errors.Is(err, ErrSpec) {
							t.Errorf("%v %s: %v", b, method, err)
						}
						continue
					}
					if e.Classes() > 2 && g.MaxRows > 1 {
						continue // as the smaller ones, and slow
					}
					m, err := Fit(context.Background(), p, randomTable(p, 3, 1), releaser(1), nil)
					if err != nil {
						t.Errorf("%v %s %v: %v", b, method, g, err)
						continue
					}
					if err := m.Write(io.Discard); err != nil {
						t.Errorf("%v %s %v: %v", b, method, g, err)
					}
				}
			}
		}
	}
}

// TestNotReached: where float64 cannot show what the sensitivity needs, nobody sees it.
func TestNotReached(t *testing.T) {
	for _, method := range []string{Output, Minima} {
		p := prepared(encoding(2), Spec{Method: method, Budget: Budget{Rho: dp.One}}, one)
		table := randomTable(p, 200, 1)
		want := fitted(p, table, 5)
		stricter := *p.recipe
		stricter.tolerance = 1e-40
		p.recipe = &stricter
		got := fitted(p, table, 5)
		for j := range want.Weights[0] {
			if d := math.Abs(float64(got.Weights[0][j] - want.Weights[0][j])); d > 1+2*p.recipe.release.Sensitivity().Float() {
				t.Errorf("%s: %v steps from what float64 finds", method, d)
			}
		}
	}
}

// TestNoise: without rows a model is nothing but its noise, and that is as long as the plan says.
func TestNoise(t *testing.T) {
	for _, classes := range []int{0, 2, 3} {
		for _, s := range []Spec{
			{Method: Output, Budget: Budget{Epsilon: dp.One}}, {Method: Output, Budget: Budget{Rho: dp.One}},
			{Method: Objective, Budget: Budget{Epsilon: dp.One}},
			{Method: Objective, Budget: Budget{Rho: dp.One}}, {Method: Minima, Budget: Budget{Rho: dp.One}},
		} {
			p := prepared(encoding(classes), s, Group{dp.Substitute, 2})
			const n = 150
			sum := 0.0
			for seed := range uint64(n) {
				m := fitted(p, p.NewTable(), seed)
				for _, w := range vector.Weights(m.Weights, m.Step) {
					for _, x := range w {
						sum += x * x
					}
				}
			}
			noise, models := p.Noise()[0], float64(p.Encoding.Models())
			want := noise.Deviation() * math.Sqrt(float64(p.Encoding.Dim())*models)
			if noise.On == "gradient" {
				want /= p.Regularisers()[0]
			}
			if got := math.Sqrt(sum / n); math.Abs(got/want-1) > 0.1 {
				t.Errorf("%s: the noise is %.4g long, and %.4g was said", fmt.Sprint(classes, " classes ", s.Method, " ", noise), got, want)
			}
		}
	}
}

// TestExcess compares what the theorems promise with what happens.
func TestExcess(t *testing.T) {
	for _, classes := range []int{0, 2} {
		for _, s := range []Spec{
			{Method: Output, Budget: Budget{Epsilon: dp.One}}, {Method: Output, Budget: Budget{Rho: dp.One}},
			{Method: Objective, Budget: Budget{Epsilon: dp.One}},
			{Method: Objective, Budget: Budget{Rho: dp.One}}, {Method: Minima, Budget: Budget{Rho: dp.One}},
		} {
			const n = 500
			p := prepared(encoding(classes), s, one)
			table := randomTable(p, n, 1)
			sum := p.sum(table.open(), 0, 0)
			value := func(w []float64) float64 {
				total := 0.0
				for _, x := range w {
					total += sum.Lambda / 2 * x * x
				}
				for i := range n {
					y := float64(sum.Rows.Target(i))
					if sum.Target != nil {
						y = sum.Target(i)
					}
					total += p.task.loss.Value(vector.Dot(w, sum.Rows.Row(i)), y)
				}
				return total / n
			}
			best := must(solve.Minimise(context.Background(), sum, nil, 1e-6, nil))
			promised := p.Excess(n, 0.05)
			for seed := range uint64(10) {
				m := fitted(p, table, seed)
				got := value(vector.Weights(m.Weights, m.Step)[0]) - value(best.W)
				if got < -1e-9 || got > promised {
					t.Errorf("%d classes, %s: %.4f more than the least, and %.4f is promised", classes, s.Method, got, promised)
				}
			}
		}
	}
}

// BenchmarkTrain adds and trains rows of 100 weights, of which 49 are numbers.
func BenchmarkTrain(b *testing.B) {
	e := &Encoding{Target: Column{Name: "y", Values: []string{"no", "yes"}}}
	for i := range 49 {
		e.Features = append(e.Features, Column{Name: fmt.Sprint("x", i), Lo: -1000, Hi: 1000, Step: big.NewRat(1, 10)})
	}
	for i := range 5 {
		e.Features = append(e.Features,
			Column{Name: fmt.Sprint("c", i), Values: []string{"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"}})
	}
	for _, n := range []int{10_000, 200_000} {
		for _, method := range []string{Output, Objective} {
			p := prepared(e, Spec{Budget: Budget{Epsilon: dp.One}, Method: method, Rows: int64(n)}, one)
			b.Run(fmt.Sprintf("%d/%s", n, method), func(b *testing.B) {
				dice := detrand.New("bench", 1)
				codes := make([]int64, 55)
				for range b.N {
					b.StopTimer()
					t := p.NewTable()
					word := uint64(dice.Below(1<<62)) | 1
					next := func(n uint64) int64 { // fast, and good enough for a benchmark
						word ^= word << 13
						word ^= word >> 7
						word ^= word << 17
						return int64(word % n)
					}
					b.StartTimer()
					for range n {
						sum := int64(0)
						for j := range 49 {
							codes[j] = next(2001) - 1000
							sum += codes[j] * int64(j%3-1)
						}
						for j := 49; j < 54; j++ {
							codes[j] = next(10)
						}
						codes[54] = 0
						if sum+next(4000) > 2000 {
							codes[54] = 1
						}
						t.Add(codes)
					}
					read := b.Elapsed()
					if _, err := Fit(context.Background(), p, t, releaser(1), nil); err != nil {
						b.Fatal(err)
					}
					b.ReportMetric((b.Elapsed() - read).Seconds(), "fit-s")
				}
			})
		}
	}
}
