package survey

import (
	"math"
	"math/big"
	"testing"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/noise"
)

// Every bug here was made in some library or homework. A checker that does not catch them
// proves nothing about the clients that pass it.
func TestPlantedBugs(t *testing.T) {
	const n = 100_000
	e := big.NewRat(3, 1)
	direct := oracle(t, "direct", 3, "1").(*Direct)
	unary := oracle(t, "oue", 3, "1").(*Unary)
	olh := oracle(t, "olh", 3, "1").(*Hashing)
	rows := oracle(t, "hadamard", 3, "1").(*Hadamard)

	// A one is told as it is.
	neverFlipsOne := func(c randomness, v int) bool {
		lie := c.flip(newCoin(1, dp.One))
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
		if c.flip(newCoin(3, dp.One)) { // as if there were four values
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
		return Report{Hash: h, Answer: turn(c, olh.lie, h.bucket(uint64(v), olh.buckets), olh.buckets)}
	}
	seedIsValue := func(c randomness, v int) Report {
		h := Hash{uint64(2*v + 1), 7}
		if v == 1 {
			h.A = 2
		}
		return Report{Hash: h, Answer: turn(c, olh.lie, h.bucket(uint64(v), olh.buckets), olh.buckets)}
	}
	// The same hash for everybody: values that collide always do.
	oneHash := func(c randomness, v int) Report {
		h := Hash{1 << 55, 0}
		return Report{Hash: h, Answer: turn(c, olh.lie, h.bucket(uint64(v), olh.buckets), olh.buckets)}
	}
	// A row in which the value's sign is plus.
	chosenRow := func(c randomness, v int) Report {
		row := c.below(rows.rows)
		if parity(row&uint64(v)) == 1 {
			row = 0
		}
		return Report{Row: row, Answer: turn(c, rows.lie, 0, 2)}
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
			out = append(out, float64(count)/float64(c.n)/c.oracle.rated().p)
		}
		return out
	}
	run := func(f func(c randomness, v int) Report) client {
		return func(src *noise.Source, v int) Report { return f(dice{src}, v) }
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
		{"not debiased", func() error { return checkUnbiased(direct, honest(direct), raw, 8, 2, 1) }},
		{"divided by p only", func() error { return checkUnbiased(rows, honest(rows), wrongQ, 8, 2, 1) }},
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
