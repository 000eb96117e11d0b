package stream

import (
	"context"
	"fmt"
	"slices"

	"github.com/discreet-dp/discreet/internal/stream/linear"
	"github.com/discreet-dp/discreet/internal/stream/predict"
	"github.com/discreet-dp/discreet/mech"
)

// largestBonus is how many counts a marginal may have. Larger ones say little for each, and take
// long to learn.
const largestBonus = 400

// wanted is the marginals to be bought, given by their attributes, in this order: of each attribute
// alone, and then of the attributes of every question at which an alarm went off, because where one
// prediction about them was wrong others will be.
type wanted struct {
	domain *linear.Domain
	sets   [][]int
}

// begin wants what is bought before anything is known. All pairs of attributes are among it where
// they cost less than one round, as they do under zCDP.
func (w *wanted) begin(c Config, t *Tariff) {
	w.domain = c.Domain
	n := len(c.Domain.Attributes())
	for i := range n {
		w.add([]int{i})
	}
	if uint64(c.amount(t.joint.Cost()))*uint64(n*(n-1)/2) > uint64(c.amount(t.Round)) {
		return
	}
	for i := range n {
		for k := range i {
			w.add([]int{k, i})
		}
	}
}

func (w *wanted) add(attributes []int) {
	if w.domain.Size(attributes) <= largestBonus {
		if !slices.ContainsFunc(w.sets, func(s []int) bool { return slices.Equal(s, attributes) }) {
			w.sets = append(w.sets, slices.Clone(attributes))
		}
		return
	}
	if len(attributes) < 3 {
		return
	}
	for i, a := range attributes {
		for _, b := range attributes[:i] {
			w.add([]int{b, a})
		}
	}
}

// predicates returns a query for each combination of values of some attributes, the last attribute
// fastest.
func (w *wanted) predicates(steps int64, attributes []int) ([]*linear.Query, error) {
	out := make([]*linear.Query, w.domain.Size(attributes))
	for i := range out {
		fs := make([]linear.Factor, len(attributes))
		rest := i
		for k := len(attributes) - 1; k >= 0; k-- {
			n := len(w.domain.Attributes()[attributes[k]].Values)
			fs[k] = linear.Factor{Attributes: attributes[k : k+1], Weights: make([]int64, n)}
			fs[k].Weights[rest%n] = 1
			rest /= n
		}
		var err error
		if out[i], err = w.domain.Query(steps, fs...); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// nextBonus is the noise of the next marginal.
func (s *state) nextBonus() mech.Mechanism { return s.tariff.marginal(s.wanted.sets[s.bonuses]) }

// marginal is the noise of the marginal of some attributes. That of one attribute costs as much as
// a plain answer, and that of several twice as much: questions add up many of its counts, and so
// their noise.
func (t *Tariff) marginal(attributes []int) mech.Mechanism {
	if len(attributes) == 1 {
		return t.single
	}
	return t.joint
}

// bonus buys the next marginal, which nobody asked for: how many people have each combination of
// values of some attributes. Every person has one combination, so the counts are of disjoint sets
// and cost together what one costs. It teaches the predictor and answers nothing, so that it has no
// share of beta.
func (s *Session) bonus(ctx context.Context, a *Answer) error {
	st := s.state
	m := st.nextBonus()
	qs, err := st.wanted.predicates(1, st.wanted.sets[st.bonuses])
	if err != nil {
		return err
	}
	if err := s.charge(ctx, fmt.Sprintf("marginal %d", st.bonuses+1), spell(m), m.Cost(), a); err != nil {
		return err
	}
	data, err := s.table(ctx)
	if err != nil {
		return err
	}
	e := newEntry(bonusEntry).number(int64(st.bonuses + 1)).number(int64(len(qs)))
	for _, v := range s.r.Release(data.Answers(qs), m) {
		e.number(v)
	}
	return s.append(ctx, e)
}

// replayBonus takes a marginal into the state, and reports whether it is one.
func (s *state) replayBonus(r *reader) bool {
	number := r.number()
	values := make([]int64, r.length())
	for i := range values {
		values[i] = r.number()
	}
	if r.bad || number != int64(s.bonuses+1) || s.bonuses >= len(s.wanted.sets) {
		return false
	}
	m := s.nextBonus()
	qs, err := s.wanted.predicates(s.config.Steps, s.wanted.sets[s.bonuses])
	if err != nil || len(qs) != len(values) {
		return false
	}
	s.bonuses++
	s.spent = s.spent.Add(m.Cost())
	rs := make([]predict.Released, len(qs))
	for i, q := range qs {
		rs[i] = predict.Released{Query: q, Answer: values[i] * s.config.Steps, Scale: deviation(m) * float64(s.config.Steps)}
	}
	s.teach(rs...)
	return true
}
