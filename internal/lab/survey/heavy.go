package survey

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/noise"
	"github.com/discreet-dp/discreet/internal/numeric"
)

// HeavyHitters finds the values that many people hold in a domain too large to look at every
// value, such as words or addresses, written as numbers of up to 62 bits.
//
// Prefixes of values are found first: a value that is frequent has prefixes that are,
// and only those are followed (Wang, Li, Jha 2021, PEM; Bassily, Nissim, Stemmer,
// Thakurta 2017, TreeHist). Each person belongs to one level, drawn by themselves
// without looking at the value, and reports once, about the prefix of that level's
// length, by Hadamard response. So a report is epsilon-private: the level and the row
// tell nothing, and the bit has the ratio exp(epsilon) for all prefixes.
//
// The row of a value's prefix is a row of the longer prefix that it begins. The collector uses
// that: with one pass over a level's reports for each prefix that is followed, and a fast transform
// of what comes after it, it has the counts of all ways to go on. Domains of up to 2^20 values have
// one level, and nobody's report is spent on prefixes.
type HeavyHitters struct {
	size   uint64
	bits   int
	levels []int // the lengths of prefixes; the last is bits
	cost   dp.Cost
	rates
	lie *coin
}

type HeavyReport struct {
	Level  uint64 `json:"level"`
	Row    uint64 `json:"row"`
	Answer uint64 `json:"answer"`
}

const (
	maxHeavyBits        = 62
	maxFlatBits         = 20  // domains without prefixes
	maxStepBits         = 16  // how many bits a level adds, at most
	maxFollowedPrefixes = 256 // prefixes
)

// NewHeavyHitters returns the search in a domain of so many values, numbered from 0.
func NewHeavyHitters(size uint64, epsilon dp.Amount) (*HeavyHitters, error) {
	c, err := reportCost(epsilon)
	if err != nil {
		return nil, err
	}
	if size < 2 || size > 1<<maxHeavyBits {
		return nil, fmt.Errorf("%w: it has %d values; it can have from 2 to 2^%d", errDomain, size, maxHeavyBits)
	}
	long := bits.Len64(size - 1)
	levels := 1
	if long > maxFlatBits {
		levels = (long + maxStepBits - 1) / maxStepBits
	}
	return newHeavy(size, levels, c), nil
}

func newHeavy(size uint64, levels int, c dp.Cost) *HeavyHitters {
	h := &HeavyHitters{size: size, bits: bits.Len64(size - 1), cost: c, rates: hadamardRates(c.Epsilon), lie: newCoin(1, c.Epsilon)}
	for l := range levels {
		h.levels = append(h.levels, h.bits*(l+1)/levels)
	}
	return h
}

// Cost is what one report costs the person who sends it.
func (h *HeavyHitters) Cost() dp.Cost { return h.cost }

// Levels returns the number of levels, among which people divide.
func (h *HeavyHitters) Levels() int { return len(h.levels) }

// Bits is how long a report is, at most.
func (h *HeavyHitters) Bits() int { return bits.Len(uint(len(h.levels)-1)) + h.bits + 1 }

// Floor returns the proportion that a value has to have, about, to be found among n people with the
// given confidence: by the normal approximation, and for the last level, which is the hardest.
func (h *HeavyHitters) Floor(n int64, confidence float64) (float64, error) {
	beta, err := missProbability(confidence)
	if err != nil {
		return 0, err
	}
	candidates := math.Ldexp(1, h.bits)
	if len(h.levels) > 1 {
		candidates = maxFollowedPrefixes * math.Ldexp(1, h.bits-h.levels[len(h.levels)-2])
	}
	z := numeric.Quantile(beta/2/candidates) + numeric.Quantile(beta)
	return z * math.Sqrt(h.Variance(0, n, Fixed)*float64(len(h.levels))), nil
}

// Randomize makes the report of a person who holds a value.
func (h *HeavyHitters) Randomize(src *noise.Source, value uint64) (HeavyReport, error) {
	if value >= h.size {
		return HeavyReport{}, fmt.Errorf("%w: a value must be a number from 0 to %d", errValue, h.size-1)
	}
	return h.report(sourceRandomness{src}, value), nil
}

func (h *HeavyHitters) report(c randomness, value uint64) HeavyReport {
	level := c.below(uint64(len(h.levels)))
	length := h.levels[level]
	row := c.below(1 << length)
	prefix := value >> (h.bits - length)
	return HeavyReport{level, row, lieOrTell(c, h.lie, parity(row&prefix), 2)}
}

// HeavyCollector keeps reports, eight bytes for each. It is not safe for concurrent use.
type HeavyCollector struct {
	heavy *HeavyHitters
	// For each level, row<<1 | answer of each report.
	reports [][]uint64
}

func NewHeavyCollector(h *HeavyHitters) *HeavyCollector {
	return &HeavyCollector{h, make([][]uint64, len(h.levels))}
}

// Add keeps a report, or refuses what no client can have sent.
func (c *HeavyCollector) Add(r HeavyReport) error {
	if r.Level >= uint64(len(c.reports)) || r.Answer > 1 || r.Row>>c.heavy.levels[r.Level] != 0 {
		return fmt.Errorf("%w: its level, row or sign does not exist", errReport)
	}
	c.reports[r.Level] = append(c.reports[r.Level], r.Row<<1|r.Answer)
	return nil
}

func (c *HeavyCollector) Merge(other *HeavyCollector) error {
	a, b := c.heavy, other.heavy
	if a.size != b.size || a.cost != b.cost || len(a.levels) != len(b.levels) {
		return fmt.Errorf("%w: %d values and %v, and %d values and %v", errMerge, a.size, a.cost, b.size, b.cost)
	}
	for l, r := range other.reports {
		c.reports[l] = append(c.reports[l], r...)
	}
	return nil
}

// People returns how many reports are kept.
func (c *HeavyCollector) People() int64 {
	n := int64(0)
	for _, r := range c.reports {
		n += int64(len(r))
	}
	return n
}

// FrequentValue is a value that is frequent, and how frequent.
type FrequentValue struct {
	Value uint64 `json:"value"`
	Estimate
}

// Find returns the values whose proportion is above 0 with confidence, the most frequent first. The
// intervals hold for all values that the last level looks at, together, with a probability of at
// least the confidence. So it does no harm that those which are shown are those which look the
// largest, and with that probability no value is returned that nobody holds.
//
// Why they hold, for people who are drawn from a population, whose proportions are
// estimated: the levels are answered by different people, who are then independent, so the
// last one is independent of which prefixes the others chose.
//
// For people who are all that there are it is proven where there is one level, and so no choice.
// With several the levels share the people between them: who holds a value and went to another
// level is missing in the last, so that it depends, a little, on what was chosen. A value that is
// fixed beforehand has its interval there too: the n' people of the last level are a random sample
// of all n, drawn without replacement; so the number of them who hold x is hypergeometric, which is
// a sum of independent bits (Vatutin, Mikhailov 1982), and so is then the number who support x:
// where G is the generating function of the first, that of the second is (1-q+qz)^n'
// G((1-p+pz)/(1-q+qz)), whose factors are again those of bits. Its mean is n' (q + f(p-q)); see
// wider.
func (c *HeavyCollector) Find(confidence float64) ([]FrequentValue, error) {
	beta, err := missProbability(confidence)
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(c.reports, func(r []uint64) bool { return len(r) == 0 }) {
		return nil, fmt.Errorf("%w: a level has no reports; ask more people", errNobody)
	}
	follow, before := []uint64{0}, 0
	for l, length := range c.heavy.levels {
		reports := c.reports[l]
		n, step := int64(len(reports)), length-before
		candidates := math.Ldexp(float64(len(follow)), step)
		last := length == c.heavy.bits
		// Of the prefixes that nobody has, one is followed on average.
		rare := 1 / candidates
		if last {
			rare = beta / 2 / candidates
		}
		least := smallestRareCount(n, rare)
		var some []prefixSupport
		for _, prefix := range follow {
			for x, count := range countSupport(reports, prefix, step) {
				value := prefix<<step | uint64(x)
				if count >= least && value<<(c.heavy.bits-length) < c.heavy.size {
					some = append(some, prefixSupport{value, count})
				}
			}
		}
		slices.SortFunc(some, func(a, b prefixSupport) int {
			return cmp.Or(-cmp.Compare(a.count, b.count), cmp.Compare(a.value, b.value))
		})
		if last {
			return c.confirm(some, n, beta/candidates), nil
		}
		follow = follow[:0:0]
		for _, s := range some[:min(len(some), maxFollowedPrefixes)] {
			follow = append(follow, s.value)
		}
		before = length
	}
	panic("survey: a search without levels")
}

type prefixSupport struct {
	value uint64
	count int64
}

// confirm makes intervals, and leaves out those that reach 0.
func (c *HeavyCollector) confirm(some []prefixSupport, n int64, beta float64) []FrequentValue {
	out := []FrequentValue{}
	known := map[int64][2]float64{}
	for _, s := range some {
		i, ok := known[s.count]
		if !ok {
			i = c.heavy.wider(s.count, n, beta)
			known[s.count] = i
		}
		if i[0] > 0 {
			out = append(out, FrequentValue{s.value, Estimate{c.heavy.estimate(s.count, n), i[0], i[1]}})
		}
	}
	return out
}

// countSupport returns, for each of the 2^step ways to go on from a prefix, how many reports
// support it.
func countSupport(reports []uint64, prefix uint64, step int) []int64 {
	sums := make([]int64, 1<<step)
	rest := uint64(len(sums) - 1)
	// The answer is in the lowest bit: it is turned where the parity of the prefix is odd.
	mask := prefix<<1<<step | 1
	for _, r := range reports {
		sums[r>>1&rest] += 1 - 2*int64(parity(r&mask))
	}
	transform(sums)
	n := int64(len(reports))
	for x, s := range sums {
		sums[x] = (n + s) / 2
	}
	return sums
}

// smallestRareCount returns the smallest count that coins of one half reach with at most this
// probability.
func smallestRareCount(n int64, rare float64) int64 {
	l := newBinomialLaw(n, 0.5)
	_, high := numeric.BisectWhole(l.first-1, n+1, func(k int64) bool { return !(l.from(k) <= rare) })
	return high
}
