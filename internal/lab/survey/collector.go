package survey

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/discreet-dp/discreet/dp/noise"
)

// Collector counts reports. What it keeps does not grow with their number, and two of
// them can be merged. It is not safe for concurrent use: every goroutine has its own.
type Collector struct {
	oracle Oracle
	n      int64
	sums   []int64
}

// NewCollector returns a collector of reports for an oracle.
func NewCollector(o Oracle) *Collector {
	return &Collector{oracle: o, sums: make([]int64, o.sumsLen())}
}

// Add counts a report. What no client can have sent is refused, and not counted.
// Nothing can keep people from lying about what they hold.
func (c *Collector) Add(r Report) error {
	if err := c.oracle.check(r); err != nil {
		return err
	}
	c.oracle.add(c.sums, r)
	c.n++
	return nil
}

func (c *Collector) Merge(other *Collector) error {
	a, b := c.oracle, other.oracle
	if a.Name() != b.Name() || a.Size() != b.Size() || a.Cost() != b.Cost() {
		return fmt.Errorf("%w: %s with %d values and %v, and %s with %d values and %v", errMerge, a.Name(), a.Size(), a.Cost(), b.Name(),
			b.Size(), b.Cost())
	}
	c.n += other.n
	for i, s := range other.sums {
		c.sums[i] += s
	}
	return nil
}

// People returns how many reports were counted.
func (c *Collector) People() int64 { return c.n }

// Counts returns, for each value, how many reports support it.
func (c *Collector) Counts() []int64 { return c.oracle.counts(append([]int64(nil), c.sums...), c.n) }

// Estimate is what the reports tell about one value.
type Estimate struct {
	Proportion float64 `json:"proportion"` // unbiased, and so sometimes below 0 or above 1
	Low        float64 `json:"low"`        // the interval, within [0, 1]
	High       float64 `json:"high"`
}

// Estimates returns, for each value, the unbiased estimate of the proportion of people
// who hold it, and an interval that covers the truth with a probability of at least the
// confidence, such as 0.95. That is for each value by itself; for all of them together
// ask for more confidence, 1 - 0.05/k.
func (c *Collector) Estimates(confidence float64, of Population) ([]Estimate, error) {
	beta, err := missProbability(confidence)
	if err != nil {
		return nil, err
	}
	if c.n == 0 {
		return nil, errNobody
	}
	r, out := c.oracle.ownRates(), make([]Estimate, c.oracle.Size())
	known := map[int64][2]float64{} // many values of a large domain have the same count
	for x, count := range c.Counts() {
		i, ok := known[count]
		if !ok {
			i = r.interval(count, c.n, beta, of)
			known[count] = i
		}
		out[x] = Estimate{r.estimate(count, c.n), i[0], i[1]}
	}
	return out, nil
}

// Simulate asks people whose values are known, and returns what their reports tell. It
// is for planning a survey and for showing one: whoever runs it has the data already,
// and protects nobody from themselves. The reports are made of real randomness, in
// several goroutines, and thrown away once they are counted.
//
// tell, unless it is nil, is called now and then with the number of people asked so
// far, by one goroutine at a time.
func Simulate(ctx context.Context, o Oracle, values []int, tell func(asked int)) (*Collector, error) {
	for i, v := range values {
		if err := checkValue(v, o.Size()); err != nil {
			return nil, fmt.Errorf("person %d: %w", i, err)
		}
	}
	const batch = 1024
	// A collector takes memory for the whole domain.
	workers := min(runtime.GOMAXPROCS(0), 1+len(values)/max(batch, o.sumsLen()))
	collectors, failures := make([]*Collector, workers), make([]error, workers)
	var next, asked atomic.Int64
	var telling sync.Mutex
	var all sync.WaitGroup
	for w := range workers {
		all.Go(func() {
			src := noise.NewSource()
			c := NewCollector(o)
			collectors[w] = c
			for {
				from := int(next.Add(batch)) - batch
				if from >= len(values) {
					return
				}
				if failures[w] = ctx.Err(); failures[w] != nil {
					return
				}
				some := values[from:min(from+batch, len(values))]
				for _, v := range some {
					if failures[w] = c.Add(o.report(sourceRandomness{src}, v)); failures[w] != nil {
						return
					}
				}
				if so := asked.Add(int64(len(some))); tell != nil {
					telling.Lock()
					tell(int(so))
					telling.Unlock()
				}
			}
		})
	}
	all.Wait()
	failures = append(failures, ctx.Err())
	for _, c := range collectors[1:] {
		failures = append(failures, collectors[0].Merge(c))
	}
	if err := errors.Join(failures...); err != nil {
		return nil, err
	}
	return collectors[0], nil
}

// NormSub makes estimates of a whole domain consistent: none below 0, and 1 in sum. It moves all by
// the same amount and cuts at 0, which gives the nearest proportions in the Euclidean distance
// (Wang, Lopuhaa-Zwakenberg, Li, Skoric, Li 2020, Norm-Sub). The result is closer to the truth, and
// no longer unbiased: what nobody holds is overestimated on average, and what many hold is
// underestimated. It reads estimates only, so it is free.
func NormSub(estimates []float64) []float64 {
	if len(estimates) == 0 {
		return nil
	}
	sorted := slices.Clone(estimates)
	slices.SortFunc(sorted, func(a, b float64) int { return cmp.Compare(b, a) })
	// The i largest stay above 0 where moving them by (1 - sum)/i leaves them there.
	sum, move := 0.0, 0.0
	for i, e := range sorted {
		sum += e
		if m := (1 - sum) / float64(i+1); i == 0 || e+m > 0 {
			move = m
		} else {
			break
		}
	}
	out := make([]float64, len(estimates))
	for i, e := range estimates {
		out[i] = math.Max(0, e+move)
	}
	return out
}
