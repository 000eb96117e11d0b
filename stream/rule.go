package stream

import (
	"errors"

	"github.com/discreet-dp/discreet/dp"
)

// ErrSpent is returned when a stream cannot answer a question with what is left of its budget.
// Nothing was charged.
var ErrSpent = errors.New("the stream cannot answer this with what is left of its budget")

// step is what a stream does next for a question.
type step int

const (
	testIt    step = iota // compare the prediction in the open round
	openRound             // buy a round, and then test
	payPlain              // buy an answer
	buyBonus              // buy a marginal, learn it, and think again
	giveUp                // nothing can be bought
)

// rule chooses from public state alone: from what was released, what was spent and how far
// candidates are apart.
//
// It never spends more than 1.2 times what the cache would have: it buys only what leaves spent <=
// 1.2 cache u, where u is the number of different questions answered, this one included. The cache
// pays exactly cache u. A plain answer is always within: it costs at most 1.2 cache, and before it
// spent was at most 1.2 cache (u-1).
func (s *state) rule(spread float64) step {
	if len(s.answers) >= s.config.Queries {
		// Every answer stays in the journal for ever, and this is the only bound on how many there
		// are.
		return giveUp
	}
	if s.predictor == nil {
		if s.affords(s.tariff.Plain) {
			return payPlain
		}
		return giveUp
	}
	disagree := spread > float64(s.tariff.Error)
	switch {
	case disagree && s.affords(s.tariff.Plain):
		// A test that will fail costs a round, and says no more than a plain answer.
		return payPlain
	case s.secret != nil:
		return testIt
	case s.wantsBonus():
		return buyBonus
	case s.worthwhile() && s.proven() && s.affords(s.tariff.Round):
		return openRound
	case s.affords(s.tariff.Plain):
		return payPlain
	}
	return giveUp
}

// affords reports whether a price for the next question is within the stream's allowance.
func (s *state) affords(price dp.Cost) bool {
	return s.config.amount(s.spent.Add(price)) <= s.tariff.Allowance(len(s.answers)+1)
}

// worthwhile reports whether the questions that were declared and not yet asked would cost more
// than a round.
func (s *state) worthwhile() bool {
	left := max(0, s.config.Queries-len(s.answers))
	plain, round := s.config.amount(s.tariff.Plain), s.config.amount(s.tariff.Round)
	return uint64(left) >= uint64(round)/uint64(plain)
}

// proven reports whether rounds have paid for themselves so far: two are on trust, or as many as a
// fiftieth of all declared questions would cost, and the others from what was answered free. Where
// that is not enough the stream lives on plain answers, and a part of these goes into further
// trials, because it learns from them. Halving has a theorem instead.
func (s *state) proven() bool {
	plain, round := s.config.amount(s.tariff.Plain).Float(), s.config.amount(s.tariff.Round).Float()
	trust := float64(s.config.Queries) / 50
	return s.tariff.Predictor == Halving || float64(s.rounds-1)*round <= (trust+float64(s.count.Predicted)+float64(s.plains)/32)*plain
}

// wantsBonus reports whether a marginal should be bought. After it there must be enough for a plain
// answer to the question.
func (s *state) wantsBonus() bool {
	return s.bonuses < len(s.wanted.sets) && s.hopeful && s.worthwhile() && s.affords(s.nextBonus().Cost().Add(s.tariff.Plain))
}

// hope reports whether a stream will ever come to a round, if all its questions until then are
// plain: each of them leaves 1.2 cache - plain. Where it does not, there is nothing to learn for.
func hope(c Config, t *Tariff) bool {
	cache, plain, round := c.amount(t.Cache).Float(), c.amount(t.Plain).Float(), c.amount(t.Round).Float()
	saved := 1.2*cache - plain
	if saved <= 0 || t.Predictor == Halving {
		return false
	}
	bonuses := float64(len(c.Domain.Attributes())) * plain
	wait := (round + bonuses) / saved
	return wait+round/plain <= float64(c.Queries) && wait*plain+bonuses+round <= t.Limit.Float()
}
