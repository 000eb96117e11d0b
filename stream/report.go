package stream

import (
	"github.com/discreet-dp/discreet/dp"
)

// Report is the books of a stream. Questions that leave no trace in the journal, which are
// repeated, unchecked and refused ones, are counted since the Session was opened.
type Report struct {
	Asked     int `json:"asked"`
	Different int `json:"different" doc:"How many different questions"`
	Cached    int `json:"cached" doc:"Free: asked before"`
	Predicted int `json:"predicted" doc:"Predicted, and the test agreed: free, but for the first of a round"`
	Paid      int `json:"paid" doc:"The test did not agree with what was predicted"`
	Plain     int `json:"plain" doc:"Paid for without a test"`
	Unchecked int `json:"unchecked" doc:"Free, and without the guarantee: predicted when the budget was gone"`
	Refused   int `json:"refused" doc:"The budget was gone"`
	// Marginals were bought to learn from.
	Marginals int     `json:"-"`
	Spent     dp.Cost `json:"spent"`
	// Cache is what the exact-match cache would have cost for the Different questions, and Naive
	// what an answer to each of Asked would, whether the stream could answer it or not.
	Cache dp.Cost `json:"cache" doc:"What remembering answers alone would have cost"`
	Naive dp.Cost `json:"naive" doc:"What paying for every question would have cost"`
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
