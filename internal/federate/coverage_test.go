package federate

import (
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"math/big"
	"testing"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/mech"
	"github.com/discreet-dp/discreet/internal/detrand"
	"github.com/discreet-dp/discreet/internal/test/daily"
)

// site is a made-up server: people with one value each, between bounds of its own, noise of its
// own, and a lattice of its own.
type site struct {
	values    []int64 // in steps
	step      int64   // values are so many steps to a unit
	low, high int64   // in steps
	noise     string
	amount    string // of each of the two numbers that an average has
	twins     bool
	public    bool // how many people there are is public
}

// calibrated are mechanisms that were made before: drawing is what is tested.
var calibrated = map[string]mech.Mechanism{}

// mechanism is noise for what one person moves by so much.
func (s site) mechanism(t testing.TB, moves int64) mech.Mechanism {
	t.Helper()
	name := fmt.Sprint(s.noise, s.amount, " ", moves)
	if m := calibrated[name]; m != nil {
		return m
	}
	a, err := dp.Parse(s.amount)
	must(t, err)
	var m mech.Mechanism
	if s.noise == "laplace" {
		m, err = mech.NewLaplace(dp.NewL1(big.NewInt(moves)), a)
	} else {
		m, err = mech.NewGaussian(dp.NewL2Squared(new(big.Int).Mul(big.NewInt(moves), big.NewInt(moves))), a)
	}
	must(t, err)
	calibrated[name] = m
	return m
}

// release adds noise to an exact integer, as servers do.
func release(r *mech.Releaser, m mech.Mechanism, exact, step int64) api.NoisyNumber {
	return api.NoisyNumber{Value: r.Release(mech.Seal(exact), m)[0], Step: fmt.Sprintf("1/%d", step),
		Noise: []api.Noises{{Mechanism: m.Name(), Parameter: m.Parameter().RatString(), Count: 1}}}
}

// answer is what the server says: the count, the sum and the average.
func (s site) answer(t testing.TB, r *mech.Releaser) []api.Part {
	t.Helper()
	center := (s.low + s.high) / 2
	if s.twins {
		center = s.low
	}
	var sum, distances, below int64
	for _, v := range s.values {
		sum, distances, below = sum+v, distances+v-center, below+s.high-v
	}
	reach := max(s.high-center, center-s.low)
	one, all := s.mechanism(t, 1), s.mechanism(t, max(s.high, -s.low))
	fraction := func(n int64) string { return big.NewRat(n, s.step).RatString() }
	sums := release(r, s.mechanism(t, reach), distances, s.step)
	mean := api.Part{Sum: &sums, Center: fraction(center), Low: fraction(s.low),
		High: fraction(s.high)}
	count := release(r, one, int64(len(s.values)), 1)
	switch {
	case s.twins:
		n := release(r, s.mechanism(t, reach), below, s.step)
		mean.Below = &n
	case s.public:
		mean.Count = &api.NoisyNumber{Value: int64(len(s.values)), Step: "1"}
	default:
		mean.Count = &count
	}
	whole := release(r, all, sum, s.step)
	return []api.Part{{Sum: &count}, {Sum: &whole}, mean}
}

func people(n int, low, high int64, name string) []int64 {
	random := detrand.New("together, "+name, 1)
	out := make([]int64, n)
	for i := range out {
		out[i] = low + int64(random.Below(int(high-low)+1))
	}
	return out
}

var runs = flag.Int("runs", 1000, "how often noise is drawn at each of the made-up servers")

// TestCoverage draws noise at made-up servers of every kind, and counts how often the exact total
// is within the error bar. It must be as often as is said, up to what chance explains; and of a
// sum, whose law is known, hardly more.
func TestCoverage(t *testing.T) {
	near := site{people(900, 0, 110, "near"), 1, 0, 110, "laplace", "0.2", false, false}
	alike := site{people(400, 0, 110, "alike"), 1, 0, 110, "laplace", "0.2", false, false}
	gauss := site{people(700, 0, 110, "gauss"), 1, 0, 110, "gaussian", "0.02", false, false}
	cents := site{people(500, 100, 9000, "cents"), 100, 0, 9000, "laplace", "0.3", false, false}
	twin := site{people(600, 20, 100, "twin"), 1, 0, 110, "laplace", "0.2", true, false}
	twins := site{people(300, 0, 110, "twins"), 1, 0, 110, "laplace", "0.1", true, false}
	known := site{people(800, 0, 110, "known"), 1, 0, 110, "laplace", "0.2", false, true}
	for name, sites := range map[string][]site{
		"laplace": {near, alike}, "three": {near, alike, gauss}, "gaussian": {gauss, gauss}, "steps": {near, cents, gauss},
		"twins": {twin, twins}, "mixed": {twin, near, cents, known}, "public": {known, known},
	} {
		t.Run(name, func(t *testing.T) {
			r := mech.NewReleaser(detrand.Noise("together, "+name, 7))
			// What an answer says unless it is asked otherwise, always.
			for _, confidence := range append(daily.Sample(t, []float64{0.5, 0.9, 0.99}, 1), 0.95) {
				within := coverage(t, sites, r, confidence, *runs)
				slack := 4 * math.Sqrt(confidence*(1-confidence)/float64(*runs))
				for column, share := range within {
					if share < confidence-slack {
						t.Errorf("at %v %s is within its error bar in %v of the runs", confidence, column, share)
					}
					if column == "sum" && share > confidence+slack+0.02 { // a count is an integer, with few values
						t.Errorf("at %v the error bar of %s is too wide: it holds in %v of the runs", confidence, column, share)
					}
				}
				t.Logf("%v: %v", confidence, within)
			}
		})
	}
}

// coverage is how often the exact totals of the columns are within their error bars.
func coverage(t *testing.T, sites []site, r *mech.Releaser, confidence float64, runs int) map[string]float64 {
	columns := []api.MakeupOfColumn{{Name: "count", Of: api.OfCount, Kind: "integer"},
		{Name: "sum", Of: api.OfSum, Kind: "decimal", Decimals: 2},
		{Name: "avg", Of: api.OfAverage, Kind: "real", Decimals: -1}}
	var people, sum float64
	for _, s := range sites {
		people += float64(len(s.values))
		for _, v := range s.values {
			sum += float64(v) / float64(s.step)
		}
	}
	exact, within := []float64{people, sum, sum / people}, map[string]float64{}
	h := halfWidths{}
	shown := []api.Column{{Decimals: 0}, {Decimals: 2}, {Decimals: -1}}
	for range runs {
		g := &group{}
		for i, s := range sites {
			g.parts, g.of = append(g.parts, s.answer(t, r)), append(g.of, fmt.Sprint(i))
		}
		values, errs, err := g.row(shown, columns, Settings{Confidence: confidence}, h)
		must(t, err)
		for j, v := range values {
			got, err := v.(json.Number).Float64()
			if err != nil || errs[j] == nil {
				t.Fatalf("%v has no error bar: %v", v, err)
			}
			if math.Abs(got-exact[j]) <= *errs[j]+1e-6 {
				within[columns[j].Name] += 1 / float64(runs)
			}
		}
	}
	return within
}

// TestSquares: where adding half widths in squares would be too little, the half width is larger,
// and where it would be too much, smaller.
func TestSquares(t *testing.T) {
	n := api.NoisyNumber{Step: "1", Noise: []api.Noises{{Mechanism: "laplace", Parameter: "1000", Count: 1}}}
	for _, c := range []struct{ confidence, ratio float64 }{{0.5, 1.235}, {0.9, 1.005}, {0.95, 0.958}, {0.999, 0.825}} {
		one, several := newTotal(), newTotal()
		for i := range 3 {
			must(t, several.add(n, big.NewRat(1, 1)))
			if i == 0 {
				one.add(n, big.NewRat(1, 1))
			}
		}
		alone, err := halfWidths{}.of(one, 1-c.confidence)
		must(t, err)
		all, err := halfWidths{}.of(several, 1-c.confidence)
		must(t, err)
		if ratio := roundUp(all) / (math.Sqrt(3) * roundUp(alone)); math.Abs(ratio-c.ratio) > 0.01 || (ratio > 1) != (c.ratio > 1) {
			t.Errorf("at %v the half width is %v times the sum in squares; want about %v", c.confidence, ratio, c.ratio)
		}
	}
}
