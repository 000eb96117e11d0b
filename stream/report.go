package stream

import (
	"github.com/discreet-dp/discreet/dp"
)

// Report is the books of a stream. Questions that leave no trace in the journal, which are repeated, unchecked and refused ones, are counted since the
// Session was opened.
type Report struct {
	Asked, Different                                   int
	Cached, Predicted, Paid, Plain, Unchecked, Refused int
	// Marginals were bought to learn from.
	Marginals int
	Spent     dp.Cost
	// Cache is what the exact-match cache would have cost for the Different questions, and Naive what an answer to each of Asked would, whether the stream
	// could answer it or not.
	Cache, Naive dp.Cost
}

// Report returns the books.
func (s *Session) Report() Report {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.state
	r := st.count
	r.Cached, r.Unchecked, r.Refused = s.cached, s.unchecked, s.refused
	r.Different = len(st.answers)
	for k := range s.unanswered {
		if _, ok := st.answers[k]; !ok {
			r.Different++
		}
	}
	r.Asked = len(st.answers) + r.Cached + r.Unchecked + r.Refused
	r.Marginals = st.bonuses
	r.Spent = st.spent
	r.Cache = st.tariff.Cache.Mul(uint64(r.Different))
	r.Naive = st.tariff.Cache.Mul(uint64(r.Asked))
	return r
}
