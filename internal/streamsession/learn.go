package streamsession

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/discreet-dp/discreet/internal/answers"
	"github.com/discreet-dp/discreet/internal/plan/cells"
	"github.com/discreet-dp/discreet/internal/pricing"
	"github.com/discreet-dp/discreet/internal/stream/predict"
	"github.com/discreet-dp/discreet/mech"
)

// lesson is an answer that was bought by itself, and from which a stream can learn: it is public,
// so whatever is made of it is free.
type lesson struct {
	kept     time.Time
	released predict.Released
}

// maxLessons bounds what a stream has yet to learn. Those that come first are the ones that stay.
const maxLessons = 1 << 12

// Teach notes what was bought, for the streams that it is linear over. It is learned with the next
// question that a stream is asked, and, where answers leave on a tick, not before this one has
// left.
func (c *Sessions) Teach(routes []*Route, buys, bought []*pricing.Purchase, all []*answers.Released) {
	now := time.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, r := range routes {
		if r == nil || !slices.Contains(bought, buys[i]) || !buys[i].Reusable() {
			continue
		}
		for m, groups := range r.terms {
			scale := math.Sqrt(mech.Variance(buys[i].Noise[m].Mechanism))
			if scale > float64(r.tariff.Error) {
				continue // it says less than the stream promises
			}
			for g, terms := range groups {
				if len(c.lessons[r.Key]) < maxLessons {
					c.learnFrom(r.Key, lesson{now, predict.Released{Answer: all[i].Measures[m][g], Scale: scale}}, terms)
				}
			}
		}
	}
}

// learnFrom notes a lesson, where the number that was released is a count.
func (s *Sessions) learnFrom(key string, l lesson, terms []cells.Term) {
	if len(terms) != 1 || terms[0].Weight != 1 && terms[0].Weight != -1 {
		return
	}
	l.released.Query = terms[0].Query
	l.released.Answer *= terms[0].Weight
	if s.lessons == nil {
		s.lessons = map[string][]lesson{}
	}
	s.lessons[key] = append(s.lessons[key], l)
}

// learn tells the stream what was released by itself until a moment; until now, where that is zero.
func (o *openStream) learn(ctx context.Context, asOf time.Time) error {
	for _, l := range o.c.takeLessons(o.Key, asOf) {
		if err := o.session.Learn(ctx, l.released); err != nil {
			return err
		}
	}
	return nil
}

func (s *Sessions) takeLessons(key string, asOf time.Time) []lesson {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := s.lessons[key]
	n := len(all)
	if !asOf.IsZero() {
		n = 0
		for n < len(all) && !all[n].kept.After(asOf) {
			n++
		}
	}
	switch {
	case n == len(all):
		delete(s.lessons, key)
	case n > 0:
		s.lessons[key] = all[n:]
	}
	return all[:n]
}
