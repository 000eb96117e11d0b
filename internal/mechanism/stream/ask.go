package stream

import (
	"context"
	"errors"
	"fmt"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/mechanism/session"
	"github.com/discreet-dp/discreet/internal/mechanism/stream/linear"
)

// check refuses a question that is not one of this stream.
func (s *Session) check(q *linear.Query) error {
	c := s.config
	switch {
	case q == nil:
		return fmt.Errorf("%w: there is no query", linear.ErrQuery)
	case q.Domain() != c.Domain:
		return fmt.Errorf("%w: it is over another domain; make it with the domain of the stream", linear.ErrQuery)
	case q.Steps() != c.Steps:
		return fmt.Errorf("%w: its weights are in steps of 1/%d and those of the stream in 1/%d", linear.ErrQuery, q.Steps(), c.Steps)
	}
	return nil
}

// Quote says, free and without looking at data, what Ask would do: the way and the most it can cost
// now.
func (s *Session) Quote(q *linear.Query) (Way, dp.Cost, error) {
	if err := s.check(q); err != nil {
		return "", dp.Cost{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.state
	if _, ok := st.answers[keyOf(q)]; ok {
		return Cached, dp.Cost{}, nil
	}
	switch st.nextStep(st.candidateSpread(q)) {
	case stepCompare:
		return Predicted, dp.Cost{}, nil
	case stepOpenRound:
		return Predicted, st.tariff.Round, nil
	case stepBuyPlain:
		return Plain, st.tariff.Plain, nil
	case stepBuyBonus:
		// What comes after a marginal cannot be known before it is bought. At most all of them and
		// a round.
		cost := st.tariff.Round
		for _, set := range st.bonusPlan.sets[st.bonuses:] {
			cost = cost.Add(st.tariff.marginal(set).Cost())
		}
		return Predicted, cost, nil
	}
	if _, ok := st.unchecked(q); ok {
		return Unchecked, dp.Cost{}, nil
	}
	return "", dp.Cost{}, st.spentError()
}

// Ask answers. What has to be paid is charged before the data is looked at, and all that an answer
// depends on is in the journal before it is returned.
func (s *Session) Ask(ctx context.Context, q *linear.Query) (*Answer, error) {
	if err := s.check(q); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	a := new(Answer) // what was charged for it stays in it, also where somebody else was first
	if err := s.retryIfBehind(ctx, func() error { return s.ask(ctx, q, a) }); err != nil {
		return nil, err
	}
	return a, nil
}

func (s *Session) ask(ctx context.Context, q *linear.Query, a *Answer) error {
	if err := s.renew(ctx); err != nil {
		return err
	}
	a.Error = s.state.tariff.Error
	if v, ok := s.state.answers[keyOf(q)]; ok {
		s.cached++
		a.Value, a.Way = v, Cached
		return nil
	}
	return s.answer(ctx, q, a)
}

func (s *Session) answer(ctx context.Context, q *linear.Query, a *Answer) error {
	for {
		st := s.state
		switch st.nextStep(st.candidateSpread(q)) {
		case stepCompare:
			return s.comparePrediction(ctx, q, a)
		case stepOpenRound:
			err := s.openRound(ctx, a)
			if err == nil {
				return s.comparePrediction(ctx, q, a)
			}
			if !errors.Is(err, session.ErrBudget) || !st.affords(st.tariff.Plain) {
				return s.answerUnpaid(q, a, err)
			}
			// The host has less than the stream was promised. A plain answer may still fit.
			fallthrough
		case stepBuyPlain:
			if err := s.buyPlain(ctx, q, a); err != nil {
				return s.answerUnpaid(q, a, err)
			}
			return nil
		case stepBuyBonus:
			if err := s.buyBonus(ctx, a); err != nil {
				return s.answerUnpaid(q, a, err)
			}
		case stepGiveUp:
			return s.answerUnpaid(q, a, st.spentError())
		}
	}
}

// maxUnanswered bounds the memory of those who ask for what is refused.
const maxUnanswered = 1 << 20

// answerUnpaid answers where nothing could be bought: unchecked where candidates agree, and else
// not at all.
func (s *Session) answerUnpaid(q *linear.Query, a *Answer, err error) error {
	if !errors.Is(err, ErrSpent) && !errors.Is(err, session.ErrBudget) {
		return err
	}
	if len(s.unanswered) < maxUnanswered {
		s.unanswered[keyOf(q)] = true
	}
	if v, ok := s.state.unchecked(q); ok {
		s.unchecked++
		a.Value, a.Error, a.Way = v, 0, Unchecked
		return nil
	}
	s.refused++
	return err
}

// unchecked returns a prediction that candidates agree on.
func (s *state) unchecked(q *linear.Query) (int64, bool) {
	if s.predictor == nil {
		return 0, false
	}
	v, spread := s.predict(q)
	return v, spread <= float64(s.tariff.Error)
}

func (s *state) spentError() error {
	if len(s.answers) >= s.config.Queries {
		return fmt.Errorf("%w: it was declared for %d different questions, and has answered that many; ask again what was asked "+
			"before, or have the owner open a stream for more", ErrSpent, s.config.Queries)
	}
	return fmt.Errorf("%w: %v of %v is spent; ask again what was asked before, or ask for something that the earlier answers agree "+
		"on, or have the owner open a stream with a larger budget", ErrSpent,
		s.config.amount(s.spent), s.tariff.Limit)
}

func (s *Session) charge(ctx context.Context, name, mechanisms string, cost dp.Cost, a *Answer) error {
	r, err := s.host.Charge(ctx, session.Charge{Name: name, Mechanisms: mechanisms, Cost: cost})
	if err != nil {
		return err
	}
	if a.Receipt = r; !r.Again {
		a.Cost = a.Cost.Add(cost)
	}
	return nil
}

// appendEntry writes an entry and takes it into the state. Where it fails it is not known whether
// the entry is there, so the state is read anew before anything else.
func (s *Session) appendEntry(ctx context.Context, e *entry) error {
	if err := session.AppendAfter(ctx, s.host, s.read, e.b); err != nil {
		s.stale = true
		return err
	}
	s.read++
	return s.state.replay(e.b)
}

// openRound buys a round. Its threshold's noise is in the journal before anything is compared to
// it.
func (s *Session) openRound(ctx context.Context, a *Answer) error {
	t := s.state.tariff
	if err := s.charge(ctx, fmt.Sprintf("round %d", s.state.rounds+1), t.RoundMechanisms, t.Round, a); err != nil {
		return err
	}
	round := s.releaser.OpenAbove(t.above)
	if err := s.appendEntry(ctx, newEntry(openedEntry).number(int64(s.state.rounds+1)).bytes(round.Secret())); err != nil {
		return err
	}
	s.round = round
	return nil
}

// comparePrediction compares a prediction with the truth in the open round.
func (s *Session) comparePrediction(ctx context.Context, q *linear.Query, a *Answer) error {
	t, guess := s.state.tariff, s.state.guess(q)
	data, err := s.table(ctx)
	if err != nil {
		return err
	}
	exact := data.Answer(q)
	far, err := s.round.AskDistance(exact, guess, t.Threshold)
	if err != nil {
		return err
	}
	// Both entries are of the same length: whoever sees that one did not fit on a disk must not
	// know which it was.
	if !far {
		a.Value, a.Way = guess, Predicted
		return s.appendEntry(ctx, newEntry(freeEntry).answer(q, guess))
	}
	v := s.releaser.Release(exact, t.paid)[0]
	a.Value, a.Way = max(0, v), Paid
	// Whatever becomes of the entry, this round is over.
	s.round = nil
	return s.appendEntry(ctx, newEntry(firedEntry).answer(q, v))
}

func (s *Session) buyPlain(ctx context.Context, q *linear.Query, a *Answer) error {
	t := s.state.tariff
	if err := s.charge(ctx, fmt.Sprintf("plain %d", s.state.plains+1), t.PlainMechanisms, t.Plain, a); err != nil {
		return err
	}
	data, err := s.table(ctx)
	if err != nil {
		return err
	}
	v := s.releaser.Release(data.Answer(q), t.plain)[0]
	a.Value, a.Way = max(0, v), Plain
	return s.appendEntry(ctx, newEntry(plainEntry).answer(q, v).number(int64(s.state.plains+1)))
}

// ErrSpent is returned when a stream cannot answer a question with what is left of its budget.
// Nothing was charged.
var ErrSpent = errors.New("the stream cannot answer this with what is left of its budget")

// step is what a stream does next for a question.
type step int

const (
	stepCompare   step = iota // compare the prediction in the open round
	stepOpenRound             // buy a round, and then test
	stepBuyPlain              // buy an answer
	stepBuyBonus              // buy a marginal, learn it, and think again
	stepGiveUp                // nothing can be bought
)

// nextStep chooses from public state alone: from what was released, what was spent and how far
// candidates are apart.
//
// It never spends more than 1.2 times what the cache would have: it buys only what leaves spent <=
// 1.2 cache u, where u is the number of different questions answered, this one included. The cache
// pays exactly cache u. A plain answer is always within: it costs at most 1.2 cache, and before it
// spent was at most 1.2 cache (u-1).
func (s *state) nextStep(spread float64) step {
	if len(s.answers) >= s.config.Queries {
		// Every answer stays in the journal for ever, and this is the only bound on how many there
		// are.
		return stepGiveUp
	}
	if s.predictor == nil {
		if s.affords(s.tariff.Plain) {
			return stepBuyPlain
		}
		return stepGiveUp
	}
	disagree := spread > float64(s.tariff.Error)
	switch {
	case disagree && s.affords(s.tariff.Plain):
		// A test that will fail costs a round, and says no more than a plain answer.
		return stepBuyPlain
	case s.secret != nil:
		return stepCompare
	case s.wantsBonus():
		return stepBuyBonus
	case s.roundWorthwhile() && s.roundsPaidOff() && s.affords(s.tariff.Round):
		return stepOpenRound
	case s.affords(s.tariff.Plain):
		return stepBuyPlain
	}
	return stepGiveUp
}

// affords reports whether a price for the next question is within the stream's allowance.
func (s *state) affords(price dp.Cost) bool {
	return s.config.amount(s.spent.Add(price)) <= s.tariff.Allowance(len(s.answers)+1)
}

// roundWorthwhile reports whether the questions that were declared and not yet asked would cost
// more than a round.
func (s *state) roundWorthwhile() bool {
	left := max(0, s.config.Queries-len(s.answers))
	plain, round := s.config.amount(s.tariff.Plain), s.config.amount(s.tariff.Round)
	return uint64(left) >= uint64(round)/uint64(plain)
}

// roundsPaidOff reports whether rounds have paid for themselves so far: two are on trust, or as
// many as a fiftieth of all declared questions would cost, and the others from what was answered
// free. Where that is not enough the stream lives on plain answers, and a part of these goes into
// further trials, because it learns from them. Halving has a theorem instead.
func (s *state) roundsPaidOff() bool {
	plain, round := s.config.amount(s.tariff.Plain).Float(), s.config.amount(s.tariff.Round).Float()
	trust := float64(s.config.Queries) / 50
	return s.tariff.Predictor == Halving || float64(s.rounds-1)*round <= (trust+float64(s.count.Predicted)+float64(s.plains)/32)*plain
}

// wantsBonus reports whether a marginal should be bought. After it there must be enough for a plain
// answer to the question.
func (s *state) wantsBonus() bool {
	return s.bonuses < len(s.bonusPlan.sets) && s.reachesRound && s.roundWorthwhile() && s.affords(s.nextBonus().Cost().Add(s.tariff.Plain))
}

// reachesRound reports whether a stream will ever come to a round, if all its questions until then
// are plain: each of them leaves 1.2 cache - plain. Where it does not, there is nothing to learn
// for.
func reachesRound(c Config, t *Tariff) bool {
	cache, plain, round := c.amount(t.Cache).Float(), c.amount(t.Plain).Float(), c.amount(t.Round).Float()
	saved := 1.2*cache - plain
	if saved <= 0 || t.Predictor == Halving {
		return false
	}
	bonuses := float64(len(c.Domain.Attributes())) * plain
	wait := (round + bonuses) / saved
	return wait+round/plain <= float64(c.Queries) && wait*plain+bonuses+round <= t.Limit.Float()
}
