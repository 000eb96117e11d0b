package survey

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/noise"
	"github.com/discreet-dp/discreet/internal/entropy"
	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/internal/test/daily"
)

// client is a way of reporting that is looked at from outside.
type client func(src *noise.Source, value int) Report

// events are looked at in reports on v and w: whether the report supports v, w, one and not
// the other, and, for all that is public, the parity of the hash and the row.
func events(o Oracle, v, w int) []func(Report) bool {
	supports := func(r Report, x int) bool {
		sums := make([]int64, o.sumsLen())
		o.add(sums, r)
		return o.counts(sums, 1)[x] != 0
	}
	return []func(Report) bool{
		func(r Report) bool { return supports(r, v) },
		func(r Report) bool { return !supports(r, v) },
		func(r Report) bool { return supports(r, v) && !supports(r, w) },
		func(r Report) bool { return r.Hash.A%2 == 0 },
		func(r Report) bool { return r.Hash.A%2 == 0 && supports(r, v) },
		func(r Report) bool { return r.Row%2 == 0 },
		func(r Report) bool { return r.Row%2 == 0 && r.Answer == 0 },
	}
}

// lossError is the probability that checkLoss cries wolf.
const lossError = 1e-6

// lowerBound draws n reports on each of two values, and bounds the privacy loss from below by
// Clopper and Pearson's intervals.
func lowerBound(o Oracle, f client, v, w, n int) float64 {
	count := func(value int, src *noise.Source) []int64 {
		all := events(o, v, w)
		hits := make([]int64, len(all))
		for range n {
			r := f(src, value)
			for i, in := range all {
				if in(r) {
					hits[i]++
				}
			}
		}
		return hits
	}
	a, b := count(v, seeded(1)), count(w, seeded(2))
	plain := rates{p: 1, q: 0, gap: 1}
	worst := 0.0
	for i := range a {
		for _, pair := range [][2]int64{{a[i], b[i]}, {b[i], a[i]}} {
			beta := lossError / float64(2*len(a))
			low := plain.interval(pair[0], int64(n), beta, Sample)[0]
			high := plain.interval(pair[1], int64(n), beta, Sample)[1]
			worst = math.Max(worst, math.Log(low/high))
		}
	}
	return worst
}

func checkLoss(o Oracle, f client, v, w, n int) error {
	if got, claim := lowerBound(o, f, v, w, n), o.Cost().Epsilon.Float(); got > claim {
		return fmt.Errorf("the privacy loss is at least %.4f, above %v", got, claim)
	}
	return nil
}

// checkUnbiased runs a survey and compares the estimates with the truth, in standard errors.
func checkUnbiased(o Oracle, f client, estimate func(*Collector) []float64, weights ...int) error {
	const n = 200_000
	people := holders(n, weights...)
	truth := make([]float64, o.Size())
	c, src := NewCollector(o), seeded(3)
	for _, v := range people {
		truth[v] += 1.0 / n
		if err := c.Add(f(src, v)); err != nil {
			return err
		}
	}
	for x, e := range estimate(c) {
		sd := math.Sqrt(o.Variance(truth[x], n, Fixed))
		// Seven standard errors, once in 10^11.
		if z := (e - truth[x]) / sd; math.Abs(z) > numeric.Quantile(1e-11) {
			return fmt.Errorf("value %d: estimate %.4f of %.4f, off by %.1f standard errors", x, e, truth[x], z)
		}
	}
	return nil
}

func proportions(c *Collector) []float64 {
	var out []float64
	for _, count := range c.Counts() {
		out = append(out, c.oracle.ownRates().estimate(count, c.n))
	}
	return out
}

func honestClient(o Oracle) client {
	return func(src *noise.Source, v int) Report { return o.report(sourceRandomness{src}, v) }
}

func amount(text string) dp.Amount { return must(dp.Parse(text)) }

func oracle(name string, size int, epsilon string) Oracle {
	return must(New(name, size, amount(epsilon)))
}

var names = []string{"direct", "oue", "olh", "hadamard"}

// countingReader is a stream that counts what was read.
type countingReader struct {
	r    io.Reader
	read int
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.read += n
	return n, err
}

func stream(seed byte) *countingReader {
	var key [32]byte
	key[0] = seed
	return &countingReader{r: rand.NewChaCha8(key)}
}

// seeded returns a Source that is the same in every run.
func seeded(seed byte) *noise.Source { return entropy.FromReader(stream(seed)) }

// sourceOfWords returns a Source of the given words, and then of zeros.
func sourceOfWords(words ...uint64) *noise.Source {
	var head []byte
	for _, w := range words {
		head = binary.BigEndian.AppendUint64(head, w)
	}
	return entropy.FromReader(&headReader{head})
}

type headReader struct{ head []byte }

func (f *headReader) Read(p []byte) (int, error) {
	clear(p)
	f.head = f.head[copy(p, f.head):]
	return len(p), nil
}

// holders returns the values of n people, of which every value holds a known share: value
// x is held by weights[x] of them, as nearly as it goes.
func holders(n int, weights ...int) []int {
	total := 0
	for _, w := range weights {
		total += w
	}
	var out []int
	for x, w := range weights {
		for range n * w / total {
			out = append(out, x)
		}
	}
	for len(out) < n {
		out = append(out, 0)
	}
	return out
}

// Every bug here was made in some library or homework. A checker that does not catch them
// proves nothing about the clients that pass it.
func TestPlantedBugs(t *testing.T) {
	n := daily.Rounds(30_000, 100_000)
	e := big.NewRat(3, 1)
	direct := oracle("direct", 3, "1").(*Direct)
	unary := oracle("oue", 3, "1").(*Unary)
	olh := oracle("olh", 3, "1").(*Hashing)
	rows := oracle("hadamard", 3, "1").(*Hadamard)

	// A one is told as it is.
	one, four := newCoin(1, dp.One), newCoin(3, dp.One)
	neverFlipsOne := func(c randomness, v int) bool {
		lie := c.flip(one)
		return v == 1 || lie
	}
	// The lie is drawn from all values and can be the truth: p is too large. Or the lie is
	// told as if there were more values: p is too small.
	lieIsTruth := func(c randomness, v int) Report {
		if c.flip(direct.lie) {
			return Report{Answer: c.below(3)}
		}
		return Report{Answer: uint64(v)}
	}
	short := func(c randomness, v int) Report {
		if c.flip(four) { // as if there were four values
			return Report{Answer: (uint64(v) + 1 + c.below(2)) % 3}
		}
		return Report{Answer: uint64(v)}
	}
	// The bit that is held is 1 with q, and the others with p.
	swapped := func(c randomness, v int) Report {
		r := Report{Bits: []uint64{0}}
		for i := range 3 {
			if i == v && c.flip(unary.other) || i != v && c.below(2) == 1 {
				r.Bits[0] |= 1 << i
			}
		}
		return r
	}
	// Symmetric unary encoding with epsilon for each bit, and two bits differ.
	eachBit := func(c randomness, v int) Report {
		r := Report{Bits: []uint64{0}}
		for i := range 3 {
			if (i == v) != c.flip(unary.other) {
				r.Bits[0] |= 1 << i
			}
		}
		return r
	}
	// A hash function whose seed is made of the value.
	seedOfValue := func(c randomness, v int) Report {
		h := Hash{c.below(prime) ^ uint64(v), c.below(prime)}
		return Report{Hash: h, Answer: lieOrTell(c, olh.lie, h.bucket(uint64(v), olh.buckets), olh.buckets)}
	}
	seedIsValue := func(c randomness, v int) Report {
		h := Hash{uint64(2*v + 1), 7}
		if v == 1 {
			h.A = 2
		}
		return Report{Hash: h, Answer: lieOrTell(c, olh.lie, h.bucket(uint64(v), olh.buckets), olh.buckets)}
	}
	// The same hash for everybody: values that collide always do.
	oneHash := func(c randomness, v int) Report {
		h := Hash{1 << 55, 0}
		return Report{Hash: h, Answer: lieOrTell(c, olh.lie, h.bucket(uint64(v), olh.buckets), olh.buckets)}
	}
	// A row in which the value's sign is plus.
	chosenRow := func(c randomness, v int) Report {
		row := c.below(rows.rows)
		if parity(row&uint64(v)) == 1 {
			row = 0
		}
		return Report{Row: row, Answer: lieOrTell(c, rows.lie, 0, 2)}
	}
	raw := func(c *Collector) []float64 {
		var out []float64
		for _, count := range c.Counts() {
			out = append(out, float64(count)/float64(c.n))
		}
		return out
	}
	wrongQ := func(c *Collector) []float64 {
		var out []float64
		for _, count := range c.Counts() {
			out = append(out, float64(count)/float64(c.n)/c.oracle.ownRates().p)
		}
		return out
	}
	run := func(f func(c randomness, v int) Report) client {
		return func(src *noise.Source, v int) Report { return f(sourceRandomness{src}, v) }
	}
	exact := func(f func(c randomness, v int) Report) func() error {
		return func() error { return checkPure(e, 3, f) }
	}

	for _, c := range []struct {
		name  string
		check func() error
	}{
		{"never flips a one, exact", func() error { return checkPure(e, 2, neverFlipsOne) }},
		{"a lie can be the truth, exact", exact(lieIsTruth)},
		{"a lie can be the truth, statistical", func() error { return checkLoss(direct, run(lieIsTruth), 0, 1, n) }},
		{"p is short, exact", exact(short)},
		{"p is short, biased", func() error { return checkUnbiased(direct, run(short), proportions, 8, 2, 1) }},
		{"p and q swapped, rates", func() error { return checkRates(e, unary, big.NewRat(1, 2), big.NewRat(1, 4), swapped) }},
		{"p and q swapped, biased", func() error { return checkUnbiased(unary, run(swapped), proportions, 8, 2, 1) }},
		{"epsilon for each bit, exact", exact(eachBit)},
		{"epsilon for each bit, statistical", func() error { return checkLoss(unary, run(eachBit), 0, 1, n) }},
		{"seed of the value, exact", exact(seedOfValue)},
		{"seed of the value, statistical", func() error { return checkLoss(olh, run(seedIsValue), 0, 1, n) }},
		{"one hash for all, biased", func() error { return checkUnbiased(olh, run(oneHash), proportions, 8, 2, 1) }},
		{"a chosen row, exact", exact(chosenRow)},
		{"a chosen row, statistical", func() error { return checkLoss(rows, run(chosenRow), 0, 1, n) }},
		{"not debiased", func() error { return checkUnbiased(direct, honestClient(direct), raw, 8, 2, 1) }},
		{"divided by p only", func() error { return checkUnbiased(rows, honestClient(rows), wrongQ, 8, 2, 1) }},
		{"an interval of the raw counts", func() error {
			return checkCoverage(func(count, n int64) [2]float64 {
				return rates{p: 1, q: 0, gap: 1}.interval(count, n, 0.05, Sample)
			}, unary.rates, 200, 60, 0.95)
		}},
		{"an interval without the noise", func() error {
			return checkCoverage(func(count, n int64) [2]float64 {
				f := unary.estimate(count, n)
				w := 1.96 * math.Sqrt(math.Max(f*(1-f), 0)/float64(n))
				return [2]float64{f - w, f + w}
			}, unary.rates, 200, 60, 0.95)
		}},
	} {
		if err := c.check(); err == nil {
			t.Errorf("%s: not caught", c.name)
		} else {
			t.Logf("%s: %v", c.name, err)
		}
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
