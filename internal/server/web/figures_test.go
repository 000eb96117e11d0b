package web_test

import (
	"encoding/json"
	"flag"
	"math"
	"os"
	"strconv"
	"testing"

	"github.com/discreet-dp/discreet/dp/account"
)

var rewrite = flag.Bool("rewrite", false, "write the figures of the playground instead of comparing them")

// figures are what package account says. Folder build runs the playground's own formulas and holds
// them against these.
type figures struct {
	Composition []composed  `json:"composition"`
	Gaussian    []deviation `json:"gaussian"`
	Guesses     []guess     `json:"guesses"`
}

// composed is what so many answers of one epsilon cost together, by each theorem.
type composed struct {
	Epsilon      float64 `json:"epsilon"`
	Times        int     `json:"times"`
	Delta        float64 `json:"delta"`
	Simple       float64 `json:"simple"`
	Advanced     float64 `json:"advanced"`
	Optimal      float64 `json:"optimal"`
	Renyi        float64 `json:"renyi"`
	Concentrated float64 `json:"concentrated"`
}

// deviation is what Gaussian noise costs where one person moves the answer by mu deviations, and
// how often the best guess is right whether the person is in the data.
type deviation struct {
	Mu      float64 `json:"mu"`
	Delta   float64 `json:"delta"`
	Epsilon float64 `json:"epsilon"`
	Right   float64 `json:"right"`
}

// guess is how often it is, for whatever has this epsilon and delta.
type guess struct {
	Epsilon float64 `json:"epsilon"`
	Delta   float64 `json:"delta"`
	Right   float64 `json:"right"`
}

// right makes of the delta that is needed at epsilon 0, which is the distance between the two laws,
// how often a guess between them is right.
func right(apart float64) float64 { return figure((1 + apart) / 2) }

const figuresFile = "src/playground/figures.json"

// The figures that the playground is held against are those of package account. After a change
// there, -rewrite writes them anew.
func TestFigures(t *testing.T) {
	var now figures
	for _, e := range []float64{0.001, 0.01, 0.1, 0.5, 1, 2, 5} {
		for _, k := range []int{1, 2, 7, 100, 1000, 10000} {
			for _, d := range []float64{1e-10, 1e-6, 1e-2} {
				now.Composition = append(now.Composition, compose(t, e, k, d))
			}
		}
	}
	for _, mu := range []float64{0.01, 0.1, 0.5, 1, 2, 5} {
		for _, d := range []float64{1e-10, 1e-6, 1e-3} {
			e := must(account.GDP{Mu: mu}.EpsilonAt(d))(t)
			now.Gaussian = append(now.Gaussian, deviation{mu, d, figure(e), right(must(account.GDP{Mu: mu}.DeltaAt(0))(t))})
		}
	}
	for _, e := range []float64{0, 0.01, 0.5, 1, 5} {
		for _, d := range []float64{0, 1e-6, 0.01} {
			now.Guesses = append(now.Guesses, guess{e, d, right(must(account.Approx{Epsilon: e, Delta: d}.DeltaAt(0))(t))})
		}
	}
	if *rewrite {
		text := must(json.MarshalIndent(now, "", " "))(t)
		if err := os.WriteFile(figuresFile, append(text, '\n'), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	text := must(os.ReadFile(figuresFile))(t)
	var kept figures
	if err := json.Unmarshal(text, &kept); err != nil {
		t.Fatal(err)
	}
	if len(kept.Composition) != len(now.Composition) || len(kept.Gaussian) != len(now.Gaussian) || len(kept.Guesses) != len(now.Guesses) {
		t.Fatal("the file has other figures: run go test ./internal/server/web -rewrite")
	}
	for i, got := range now.Composition {
		want := kept.Composition[i]
		near(t, got, want, got.Simple, want.Simple, got.Advanced, want.Advanced, got.Optimal, want.Optimal,
			got.Renyi, want.Renyi, got.Concentrated, want.Concentrated)
	}
	for i, got := range now.Gaussian {
		want := kept.Gaussian[i]
		near(t, got, want, got.Mu, want.Mu, got.Delta, want.Delta, got.Epsilon, want.Epsilon, got.Right, want.Right)
	}
	for i, got := range now.Guesses {
		near(t, got, kept.Guesses[i], got.Right, kept.Guesses[i].Right)
	}
}

func compose(t *testing.T, epsilon float64, k int, delta float64) composed {
	t.Helper()
	pure := account.Pure{Epsilon: epsilon}
	terms := []account.Repeated{{Approx: pure.Approx(), Times: k}}
	simple := must(account.Basic(terms))(t)
	advanced := must(account.AdvancedEpsilon(terms, delta))(t)
	optimal := must(account.OptimalEpsilon(terms, delta))(t)
	one := must(pure.RDP())(t)
	renyi := must(must(one.Times(k))(t).EpsilonAt(delta))(t)
	rho := must(pure.ZCDP())(t).Rho
	concentrated := must(account.ZCDP{Rho: float64(k) * rho}.EpsilonAt(delta))(t)
	return composed{
		epsilon, k, delta,
		figure(simple.Epsilon), figure(advanced.Upper), figure(optimal.Upper), figure(renyi), figure(concentrated),
	}
}

func must[T any](x T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
}

// figure has 12 digits, which are the same on every processor.
func figure(x float64) float64 {
	y, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 12, 64), 64)
	return y
}

func near(t *testing.T, got, want any, pairs ...float64) {
	t.Helper()
	for i := 0; i < len(pairs); i += 2 {
		if !(math.Abs(pairs[i]-pairs[i+1]) <= 1e-10*(math.Abs(pairs[i+1])+1e-6)) {
			t.Errorf("got %+v, and the file has %+v; after a change in package account, run go test ./internal/server/web -rewrite",
				got, want)
			return
		}
	}
}
