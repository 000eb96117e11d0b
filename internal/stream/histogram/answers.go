package histogram

import (
	"github.com/discreet-dp/discreet/internal/exact"
	"github.com/discreet-dp/discreet/internal/stream/linear"
)

// Answers is Answer for several queries at once: a vector with one sum for each. How far one person
// moves it is for the caller to know: queries of disjoint cells move together by what one of them
// moves.
func (t *Table) Answers(qs []*linear.Query) exact.Vector {
	out := make([]int64, len(qs))
	for i, q := range qs {
		out[i] = t.open().answer(q)
	}
	return exact.Seal(out)
}
