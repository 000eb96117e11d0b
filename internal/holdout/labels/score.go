package labels

import "github.com/discreet-dp/discreet/internal/exact"

// Score is the exact sum of what the rows score, from 0 to Steps times Size, sealed. It is here
// that private labels are looked at for somebody, so whatever is to be charged is charged before.
// All rows are looked at in the same way, whatever they hold.
func (l *Labels) Score(c *Checked) (exact.Vector, error) {
	if c == nil || c.of != l {
		return exact.Vector{}, ErrOther
	}
	sum := int64(0)
	if c.steps != nil {
		for i, label := range l.codes() {
			d := c.steps[i] - label
			sum += l.spec.Steps - max(d, -d)
		}
		return exact.Seal([]int64{sum}), nil
	}
	// Names become numbers first, so that what is compared row by row takes the same time for all
	// of them.
	known, predicted := l.names(), make([]int64, l.size)
	for i, name := range c.names {
		n, ok := known[name]
		if !ok {
			n = -1
		}
		predicted[i] = n
	}
	for i, label := range l.codes() {
		if predicted[i] == label {
			sum++
		}
	}
	return exact.Seal([]int64{sum}), nil
}
