package mech

import (
	"encoding/binary"
	"fmt"
	"math"
	"sync"
)

// AboveRound is an open round. It is safe for concurrent use; questions that arrive at the same
// time are answered in some order.
type AboveRound struct {
	a *Above
	r *Releaser

	mu        sync.Mutex
	over      bool
	threshold Exact // the noise Z on the threshold, sealed: whoever knows it knows too much
}

// OpenAbove opens a round, which costs a.Cost() whatever it is asked. The noise on the threshold is
// drawn now, so that it can be laid aside before anything is compared to it.
func (r *Releaser) OpenAbove(a *Above) *AboveRound {
	r.mu.Lock()
	defer r.mu.Unlock()
	return &AboveRound{a: a, r: r, threshold: Exactly(a.threshold.Draw(r.src))}
}

// ResumeAbove takes up a round that was laid aside, with its own noise. A round has one threshold:
// to open a new one for the same charge, once anybody has an answer, would be two comparisons with
// one value for the price of one.
//
// That the round has not ended since, and that nobody else goes on with it, is the caller's part:
// what was laid aside before the first question does not know. A second "above" is one that nobody
// paid for.
func (r *Releaser) ResumeAbove(a *Above, secret []byte) (*AboveRound, error) {
	if len(secret) != 8 {
		return nil, fmt.Errorf("%w: what was laid aside is no round", ErrAbove)
	}
	z := int64(binary.BigEndian.Uint64(secret))
	if a.config.OneSided && z < 0 {
		return nil, fmt.Errorf("%w: what was laid aside is no open round", ErrAbove)
	}
	return &AboveRound{a: a, r: r, threshold: Exactly(z)}, nil
}

// Secret is the round, to be laid aside where only the curator reads. Who knows it can take away
// the noise of the threshold. Of a round that is over it is empty, because there is nothing to go
// on with.
func (s *AboveRound) Secret() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		return nil
	}
	// Always of one length, so that the size of a journal does not tell how large it is.
	return binary.BigEndian.AppendUint64(nil, uint64(s.threshold.Open()[0]))
}

// Over reports whether the round has ended with an "above".
func (s *AboveRound) Over() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.over
}

// Ask compares one value to a threshold, which is public: it may depend on earlier answers, and not
// on the data in any other way. That the value moves by at most the sensitivity between neighbours
// is the caller's part. "Above" ends the round.
//
// The noise of a question is drawn before its value is looked at. A question that is refused draws
// nothing.
func (s *AboveRound) Ask(value Exact, threshold int64) (bool, error) {
	return s.ask(value, threshold, func(v int64) int64 { return v })
}

// AskDistance is Ask about how far a value is from a prediction, which is public as a threshold is.
// The distance moves between neighbours by no more than the value.
func (s *AboveRound) AskDistance(value Exact, prediction, threshold int64) (bool, error) {
	return s.ask(value, threshold, func(v int64) int64 { return apart(v, prediction) })
}

// apart is |v - prediction|, or the largest int64 where that is larger. Clamping and taking the
// absolute value bring no two values further apart, so neither does the whole, for all int64 that
// there are. Of -(2^63), which has no opposite, a prediction is moved by one: it is public, and
// still one number.
func apart(v, prediction int64) int64 {
	d := addClamped(v, -max(prediction, -math.MaxInt64))
	return max(d, -max(d, -math.MaxInt64))
}

func (s *AboveRound) ask(value Exact, threshold int64, of func(int64) int64) (bool, error) {
	if n := value.Len(); n != 1 {
		return false, fmt.Errorf("%w: a question has one value, not %d; ask about one after the other", ErrAbove, n)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		return false, ErrOver
	}
	n := s.draw(value)
	s.over = atLeast(of(value.Open()[0]), n, threshold, s.threshold.Open()[0])
	if s.over {
		s.threshold = Exact{} // of no use any more, but to somebody who reads our memory
	}
	return s.over, nil
}

func (s *AboveRound) draw(x Exact) int64 {
	s.r.mu.Lock()
	defer s.r.mu.Unlock()
	n := s.a.question.Draw(s.r.src)
	if s.r.record != nil {
		s.r.record(Call{Mechanism: "above", Parameter: s.a.question.Scale(), Sensitivity: s.a.config.Sensitivity, Values: x})
	}
	return n
}
