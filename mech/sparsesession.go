package mech

import (
	"errors"
	"fmt"
	"math/bits"
	"sync"
)

// ErrHalted is returned when a session of the sparse vector is asked after its
// last "above".
var ErrHalted = errors.New("the session has ended: it has given all its \"above\" answers; open another, which costs as much again")

// SparseSession is an open session. It is safe for concurrent use; questions
// that arrive at the same time are answered in some order.
type SparseSession struct {
	m *Sparse
	r *Releaser

	mu        sync.Mutex
	left      int   // "above" answers to come
	fresh     bool  // threshold holds noise that may be used
	threshold Exact // the noise Z on the threshold, sealed: whoever knows it knows too much
}

// OpenSparse opens a session, which costs m.Cost() whatever it is asked. The
// noise on the threshold is drawn with the first question.
func (r *Releaser) OpenSparse(m *Sparse) *SparseSession {
	return &SparseSession{m: m, r: r, left: m.config.Above}
}

// SparseAnswer is the answer to one question.
type SparseAnswer struct {
	// Above says that the noisy value was at or above the noisy threshold.
	Above bool
	// Value is the value with noise of its own, where the session sells values
	// and Above is true, and else 0.
	Value int64
}

// Left returns how many "above" answers the session can still give. At 0 it has
// ended.
func (s *SparseSession) Left() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.left
}

// Ask compares one value to a threshold. The threshold is the analyst's: it may
// depend on earlier answers, and not on the data in any other way. That the
// value moves by at most the sensitivity between neighbours is the caller's
// part.
//
// The noise of a question is drawn before its value is looked at, that of a
// released value included, whether or not it will be released. So what is drawn
// depends on the configuration and on earlier answers, never on this value. A
// question that is refused draws nothing.
func (s *SparseSession) Ask(value Exact, threshold int64) (SparseAnswer, error) {
	if n := value.Len(); n != 1 {
		return SparseAnswer{}, fmt.Errorf("%w: a question has one value, not %d; ask about one after the other", ErrSparse, n)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.left == 0 {
		return SparseAnswer{}, ErrHalted
	}
	query, own := s.draw(value)
	v := value.Open()[0]
	if !atLeast(v, query, threshold, s.threshold.Open()[0]) {
		return SparseAnswer{}, nil
	}
	// The session ends when the count reaches c. One more answer would be one
	// that nobody paid for.
	s.left--
	s.fresh = !s.m.config.Refresh
	answer := SparseAnswer{Above: true}
	if s.m.value != nil {
		// Never the noise of the comparison: that it was large is known
		// already, and through it what the threshold's noise was (Lyu, Su, Li
		// 2017, Algorithm 3).
		answer.Value = addClamped(v, own)
	}
	return answer, nil
}

// Withhold takes back the last answer, which nobody was told, as if it had not been asked. Nothing
// is left of it: the noise of a question is its own, and that of the threshold was not told.
func (s *SparseSession) Withhold(last SparseAnswer) {
	if !last.Above {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.left++
	s.fresh = true
}

// draw draws all noise of a question.
func (s *SparseSession) draw(x Exact) (query, own int64) {
	s.r.mu.Lock()
	defer s.r.mu.Unlock()
	if !s.fresh {
		s.threshold, s.fresh = Exactly(s.m.threshold.Draw(s.r.src)), true
	}
	query = s.m.query.Draw(s.r.src)
	if s.m.value != nil {
		own = s.m.value.Draw(s.r.src)
	}
	if s.r.record != nil {
		s.r.record(Call{Mechanism: "sparse", Parameter: s.m.query.Scale(), Sensitivity: s.m.config.Sensitivity, Values: x})
	}
	return query, own
}

// atLeast reports whether a + b >= c + d, in 128 bits. Saturated sums would
// compare equal at the ends, where the proof needs the integers.
func atLeast(a, b, c, d int64) bool {
	ahi, alo := add128(a, b)
	chi, clo := add128(c, d)
	return ahi > chi || ahi == chi && alo >= clo
}

// add128 returns a + b as the high and low words of a two's complement number.
func add128(a, b int64) (hi int64, lo uint64) {
	lo, carry := bits.Add64(uint64(a), uint64(b), 0)
	return a>>63 + b>>63 + int64(carry), lo
}
