package survey

import "fmt"

// Collector counts reports. What it keeps does not grow with their number, and two of
// them can be merged. It is not safe for concurrent use: every goroutine has its own.
type Collector struct {
	oracle Oracle
	n      int64
	sums   []int64
}

// NewCollector returns a collector of reports for an oracle.
func NewCollector(o Oracle) *Collector {
	return &Collector{oracle: o, sums: make([]int64, o.room())}
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

// Merge adds the reports of another collector.
func (c *Collector) Merge(other *Collector) error {
	a, b := c.oracle, other.oracle
	if a.Name() != b.Name() || a.Size() != b.Size() || a.Cost() != b.Cost() {
		return fmt.Errorf("%w: %s with %d values and %v, and %s with %d values and %v", ErrMerge, a.Name(), a.Size(), a.Cost(), b.Name(),
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
func (c *Collector) Counts() []int64 {
	return c.oracle.counts(append([]int64(nil), c.sums...), c.n)
}

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
	beta, err := miss(confidence)
	if err != nil {
		return nil, err
	}
	if c.n == 0 {
		return nil, ErrNobody
	}
	r, out := c.oracle.rated(), make([]Estimate, c.oracle.Size())
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
