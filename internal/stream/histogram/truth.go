package histogram

import "github.com/discreet-dp/discreet/internal/stream/linear"

// Off is how far a value is from the true answer. That is private: it is for an owner who rehearses
// a stream on their own data, with answers that nobody else sees.
func (t *Table) Off(q *linear.Query, value int64) int64 {
	d := value - t.Answer(q).Open()[0]
	return max(d, -d)
}
