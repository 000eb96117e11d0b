package stream

import (
	"bufio"
	"compress/gzip"
	"context"
	"flag"
	"io"
	"math"
	"math/big"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/dp/mech"
	"github.com/discreet-dp/discreet/internal/detrand"
	"github.com/discreet-dp/discreet/internal/mechanism/stream/histogram"
	"github.com/discreet-dp/discreet/internal/mechanism/stream/linear"
	"github.com/discreet-dp/discreet/internal/sealed"
	"github.com/discreet-dp/discreet/internal/test/daily"
)

var (
	adultFiles = flag.String("adult", "", "files of the Adult data set, with commas between; runs TestAdult, which is long")
	adultSeed  = flag.Uint64("adult-seed", 1, "of TestAdult")
	adultAsked = flag.Int("adult-queries", 400_000, "of TestAdult")
	adultKind  = flag.String("adult-predictor", "", "of TestAdult")
)

// adultTable reads the Adult data set (Becker, Kohavi 1996): age in 10 ranges, education 16,
// marital status 7, race 5, sex 2, hours a week in 10 ranges, income 2: 224,000 cells.
func adultTable(t testing.TB, files string) (*linear.Domain, *histogram.Table, int64) {
	t.Helper()
	names := []string{"age", "education", "marital", "race", "sex", "hours", "income"}
	sizes := []int{10, 16, 7, 5, 2, 10, 2}
	ages, hours := []int{20, 25, 30, 35, 40, 45, 50, 55, 65}, []int{10, 20, 30, 35, 40, 41, 46, 51, 61}
	bin := func(edges []int, text string) string {
		x := must(strconv.Atoi(text))
		n, _ := slices.BinarySearch(edges, x+1)
		return strconv.Itoa(n)
	}
	var rows [][]string
	for _, name := range strings.Split(files, ",") {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		var r io.Reader = f
		if strings.HasSuffix(name, ".gz") {
			r = must(gzip.NewReader(f))
		}
		for lines := bufio.NewScanner(r); lines.Scan(); {
			x := strings.Split(lines.Text(), ", ")
			if len(x) != 15 {
				continue
			}
			rows = append(rows, []string{bin(ages, x[0]), x[3], x[5], x[8], x[9], bin(hours, x[12]), strings.TrimSuffix(x[14], ".")})
		}
		f.Close()
	}
	values := make([][]string, len(names))
	for _, row := range rows {
		for i, v := range row {
			if !slices.Contains(values[i], v) {
				values[i] = append(values[i], v)
			}
		}
	}
	var as []linear.Attribute
	for i, v := range values {
		slices.Sort(v)
		if len(v) != sizes[i] {
			t.Fatalf("%s has %d values, not %d: %v", names[i], len(v), sizes[i], v)
		}
		as = append(as, linear.Attribute{Name: names[i], Values: v})
	}
	d := must(linear.NewDomain(as...))
	var cells, counts []int64
	for _, row := range rows {
		codes := make([]int, len(row))
		for i, v := range row {
			codes[i] = slices.Index(values[i], v)
		}
		cells, counts = append(cells, int64(d.Cell(codes...))), append(counts, 1)
	}
	h := must(histogram.Sparse(d, sealed.Seal(cells), sealed.Seal(counts)))
	return d, h, int64(len(rows))
}

// conjunction draws 1 to most attributes, and for each a value, or any set of values.
func conjunction(t testing.TB, dice detrand.Choices, d *linear.Domain, most int, sets bool) *linear.Query {
	as := d.Attributes()
	var chosen []int
	for n := 1 + dice.Below(most); len(chosen) < n; {
		if a := dice.Below(len(as)); !slices.Contains(chosen, a) {
			chosen = append(chosen, a)
		}
	}
	var fs []linear.Factor
	for _, a := range chosen {
		n := len(as[a].Values)
		f := linear.Factor{Attributes: []int{a}, Weights: make([]int64, n)}
		set := uint64(1) << dice.Below(n)
		if sets {
			set = 1 + uint64(dice.Below(1<<n-1))
		}
		for v := range n {
			f.Weights[v] = int64(set >> v & 1)
		}
		fs = append(fs, f)
	}
	return must(d.Query(1, fs...))
}

// The second stream of the issue: 400,000 conjunctions over the Adult data set.
func TestAdult(t *testing.T) {
	if *adultFiles == "" {
		t.Skip("needs -adult FILE,FILE")
	}
	d, data, n := adultTable(t, *adultFiles)
	if d.Cells() != 224_000 || n != 48_842 {
		t.Fatalf("%d cells, %d people", d.Cells(), n)
	}
	for _, sets := range []bool{false, true} {
		dice := detrand.New("adult", *adultSeed)
		c := Config{Domain: d, Size: n, Alpha: 0.05, Beta: 0.001, Queries: 400_000, Steps: 1, Currency: mech.Pure,
			Budget: amountOf("6.5"), Predictor: Kind(*adultKind)}
		s, _ := open(t, c, data, *adultSeed)
		start, far, most := time.Now(), 0, int64(0)
		var took time.Duration
		for range *adultAsked {
			q := conjunction(t, dice, d, 5, sets)
			before := time.Now()
			a := must(s.Ask(context.Background(), q))
			took += time.Since(before)
			truth := data.Answer(q).Open()[0]
			off := max(a.Value-truth, truth-a.Value)
			most = max(most, off)
			if off > a.Error {
				far++
			}
		}
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		r := s.Report()
		t.Logf("sets %v: spent %v, the cache %v; different %d, plain %d, paid %d, marginals %d; largest error %d of %d; %v asking, %v "+
			"in all; %d MB", sets, r.Spent.Epsilon, r.Cache.Epsilon, r.Different,
			r.Plain, r.Paid, r.Marginals, most, s.Tariff().Error, took.Round(time.Second), time.Since(start).Round(time.Second), m.Sys>>20)
		if far > 0 {
			t.Errorf("%d answers are further off than promised", far)
		}
	}
}

var (
	covidSeeds = flag.Int("covid-seeds", 2, "how many streams of each kind TestCovid has, of which a short run has one")
	covidRho   = flag.Bool("covid-rho", false, "TestCovid counts rho and not epsilon")
	covidKind  = flag.String("covid-predictor", "", "of TestCovid")
)

// patients are 1.0 million people in 128 cells of 2x2x4x8: sex, vaccinated, outcome and age group.
// The old are vaccinated and have the worse outcomes, and every cell is off from what that alone
// would give.
func patients(t testing.TB) (*linear.Domain, []int64) {
	d := domain(t, 2, 2, 4, 8)
	dice := detrand.New("patients", 1)
	age := []float64{0.9, 1.2, 1.6, 1.5, 1.3, 0.9, 0.5, 0.25}
	weights := make([]float64, d.Cells())
	for i := range weights {
		c := d.Codes(i)
		sex, shot, outcome, old := c[0], c[1], float64(c[2]), float64(c[3])
		p := 1 / (1 + math.Exp(2-0.6*old))
		if shot == 0 {
			p = 1 - p
		}
		risk := -2.6 + 0.32*old - 0.9*float64(shot) + 0.3*float64(sex)
		weights[i] = age[c[3]] * p * math.Exp(outcome*risk) * (0.9 + 0.2*float64(sex)*old/8) * math.Exp(0.4*drawNormal(dice))
	}
	return d, divideByWeights(1_003_117, weights)
}

// The stream of the issue: 70,000 questions, drawn from all 34,425 products of nonempty sets of
// values.
func TestCovid(t *testing.T) {
	d, counts := patients(t)
	data := dense(d, counts)
	var all []*linear.Query
	for a := uint64(1); a < 4; a++ {
		for b := uint64(1); b < 4; b++ {
			for c := uint64(1); c < 16; c++ {
				for e := uint64(1); e < 256; e++ {
					all = append(all, subsets(t, d, 1, a, b, c, e))
				}
			}
		}
	}
	truth := make([]int64, len(all))
	for i, q := range all {
		q.Runs(func(from, to int, w int64) {
			for k := from; k < to; k++ {
				truth[i] += w * counts[k]
			}
		})
	}
	if len(all) != 34425 {
		t.Fatal(len(all))
	}
	seeds := make([]uint64, *covidSeeds)
	for i := range seeds {
		seeds[i] = uint64(i)
	}
	for name, want := range map[string]float64{"uniform": 15, "zipf": 8} {
		for _, seed := range daily.Sample(t, seeds, 1) {
			dice := detrand.New(name, seed)
			draw := func() int { return dice.Below(len(all)) }
			if name == "zipf" {
				draw = zipf(dice, len(all))
			}
			c := Config{Domain: d, Size: 1_003_117, Alpha: 0.05, Beta: 0.001, Queries: 70000, Steps: 1, Currency: mech.Pure,
				Budget: amountOf("1"), Predictor: Kind(*covidKind)}
			if *covidRho {
				c.Currency = mech.Concentrated
			}
			s, _ := open(t, c, data, seed)
			far, most := 0, int64(0)
			for range 70000 {
				i := draw()
				a := must(s.Ask(context.Background(), all[i]))
				off := max(a.Value-truth[i], truth[i]-a.Value)
				most = max(most, off)
				if off > a.Error {
					far++
				}
			}
			r := s.Report()
			ratio := float64(c.amount(r.Cache)) / float64(c.amount(r.Spent))
			t.Logf("%s %d: spent %v, the cache %v, ratio %.0f; different %d, plain %d, paid %d, marginals %d; largest error %d of %d", name,
				seed, c.amount(r.Spent), c.amount(r.Cache), ratio, r.Different, r.Plain, r.Paid, r.Marginals, most, s.Tariff().Error)
			if ratio < want || far > 0 {
				t.Errorf("%s: %.1f times cheaper than the cache, want %v; %d answers further off than promised", name, ratio, want, far)
			}
		}
	}
}

// zipf draws places whose probability falls with 1/rank, in an order that has nothing to do with
// what is there.
func zipf(dice detrand.Choices, n int) func() int {
	order := make([]int, n)
	for i := range order {
		j := dice.Below(i + 1)
		order[i], order[j] = order[j], i
	}
	sums := make([]float64, n)
	total := 0.0
	for i := range sums {
		total += 1 / float64(i+1)
		sums[i] = total
	}
	return func() int {
		u := float64(dice.Below(1<<40)) / (1 << 40) * total
		return order[min(n-1, sort.SearchFloat64s(sums, u))]
	}
}

var largeAsked = flag.Int("large", 0, "how many questions TestLarge asks over 10 million cells")

// Ten million cells: at least 50 questions a second on one core, in under 200 MB.
func TestLarge(t *testing.T) {
	if *largeAsked == 0 {
		t.Skip("needs -large 2000")
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	d := domain(t, 10, 10, 10, 10, 10, 10, 10)
	dice := detrand.New("large", 1)
	const people = 200_000
	cells := make([]int64, people)
	counts := make([]int64, people)
	for i := range cells {
		codes := make([]int, 7)
		mood := dice.Below(10)
		for k := range codes {
			codes[k] = min(dice.Below(10), dice.Below(10))
			if dice.One(3) {
				codes[k] = mood
			}
		}
		cells[i], counts[i] = int64(d.Cell(codes...)), 1
	}
	data := must(histogram.Sparse(d, sealed.Seal(cells), sealed.Seal(counts)))
	c := Config{Domain: d, Size: people, Alpha: 0.05, Beta: 0.001, Queries: 100_000, Steps: 1, Currency: mech.Pure,
		Budget: amountOf("10")}
	for _, sets := range []bool{false, true} {
		s, _ := open(t, c, data, 1)
		var took, slowest time.Duration
		far := 0
		for range *largeAsked {
			q := conjunction(t, dice, d, 5, sets)
			before := time.Now()
			a := must(s.Ask(context.Background(), q))
			spent := time.Since(before)
			took, slowest = took+spent, max(slowest, spent)
			if truth := data.Answer(q).Open()[0]; max(a.Value-truth, truth-a.Value) > a.Error {
				far++
			}
		}
		r := s.Report()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		t.Logf("sets %v: %.0f questions a second, the slowest took %v; %d MB of the system; plain %d, paid %d, spent %v", sets,
			float64(*largeAsked)/took.Seconds(), slowest.Round(time.Millisecond), m.Sys>>20, r.Plain, r.Paid, r.Spent.Epsilon)
		if status, err := os.ReadFile("/proc/self/status"); err == nil {
			for _, line := range strings.Split(string(status), "\n") {
				if strings.HasPrefix(line, "VmHWM") {
					t.Log(line)
				}
			}
		}
		if far > 0 || r.Refused > 0 {
			t.Errorf("%d too far off, %d refused", far, r.Refused)
		}
		s = nil
		debug.FreeOSMemory()
	}
}

// Exact halving: over 1,000 random streams, alarms are never more than log2 of the candidates.
func TestHalving(t *testing.T) {
	streams := make([]uint64, 1000)
	for i := range streams {
		streams[i] = uint64(i)
	}
	alarms, most := 0, 0.0
	for _, seed := range daily.Sample(t, streams, 40) {
		dice := detrand.New("halving", seed)
		d := domain(t, 2+dice.Below(2), 2)
		n := int64(4 + dice.Below(9))
		steps := int64(16)
		c := Config{Domain: d, Size: n, Alpha: 0.3, Beta: 0.001, Queries: 2000, Steps: steps, Currency: mech.Currency(1 + dice.Below(2)),
			Budget: amountOf("100000"), Predictor: Halving}
		weights := make([]float64, d.Cells())
		for range 3 {
			weights[dice.Below(len(weights))] += float64(1 + dice.Below(3))
		}
		s := openDear(t, c, dense(d, divideByWeights(n, weights)), seed)
		for range 60 {
			f := linear.Factor{Attributes: []int{0, 1}, Weights: make([]int64, d.Cells())}
			for i := range f.Weights {
				f.Weights[i] = int64(dice.Below(2)) * int64(dice.Below(int(steps)+1))
			}
			q := must(d.Query(steps, f))
			if _, err := s.Ask(context.Background(), q); err != nil {
				t.Fatal(err)
			}
		}
		candidates, _ := new(big.Float).SetInt(new(big.Int).Binomial(n+int64(d.Cells())-1, int64(d.Cells())-1)).Float64()
		r := s.Report()
		alarms += r.Paid
		most = max(most, float64(r.Paid)/math.Log2(candidates))
		if float64(r.Paid) > math.Log2(candidates) {
			t.Errorf("seed %d: %d alarms with %v candidates", seed, r.Paid, candidates)
		}
		if r.Plain > 0 {
			t.Errorf("seed %d: %d plain answers", seed, r.Plain)
		}
	}
	t.Logf("%d alarms, at most %.2f of the bound", alarms, most)
}
