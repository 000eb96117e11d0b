package stream

import (
	"context"
	"crypto/sha256"
	"fmt"
	"math"
	"slices"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/mech"
	"github.com/discreet-dp/discreet/internal/mechanism/stream/linear"
	"github.com/discreet-dp/discreet/internal/mechanism/stream/predict"
)

// state is all that a stream knows besides the data. It is a function of its journal, and all of it
// but secret has been released.
type state struct {
	config       Config
	tariff       *Tariff
	predictor    predict.Predictor  // nil for the cache
	bonusPlan    bonusPlan          // marginals to be bought, the first bonuses of which are
	reachesRound bool               // see reachesRound
	learned      int                // releases that the predictor knows
	pending      []predict.Released // and those that it will be told; see teachLater

	answers map[key]int64
	secret  []byte // of the open round; nil where none is open
	period  uint64 // of the host's budget
	rounds  int    // that were opened
	plains  int    // plain answers
	bonuses int    // marginals that were bought
	spent   dp.Cost
	count   Report
}

func newState(c Config, t *Tariff) (*state, error) {
	s := &state{config: c, tariff: t, answers: map[key]int64{}}
	var err error
	if s.predictor, err = newPredictor(c, t); err != nil {
		return nil, err
	}
	if s.predictor == nil {
		return s, nil
	}
	s.reachesRound = reachesRound(c, t)
	s.bonusPlan.begin(c, t)
	return s, nil
}

// ensembleSize is the number of histograms of an ensemble.
const ensembleSize = 16

// predictor is the kind that Auto stands for. One histogram with the past replayed is as good as an
// ensemble of them on every stream that we measured, often a third cheaper, and many times faster.
// An ensemble knows where it knows nothing, and refuses there when the budget is gone.
func (c Config) predictor() Kind {
	if c.Predictor == Auto {
		return Weights
	}
	return c.Predictor
}

// checkPredictorFits refuses a predictor that the domain is too large for. Who prices a stream
// hears it, and not only who asks the first question.
func (c Config) checkPredictorFits() error {
	var err error
	switch c.predictor() {
	case Halving:
		err = predict.FitsHalving(c.Domain, c.Size)
	case Ensemble:
		err = predict.FitsEnsemble(c.Domain, ensembleSize)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrConfig, err)
	}
	return nil
}

func newPredictor(c Config, t *Tariff) (predict.Predictor, error) {
	switch t.Predictor {
	case Halving:
		// Alarms are beyond this, and what is paid then is within half of it; see wishes.
		return predict.NewHalving(c.Domain, c.Size, c.roundGoals().quiet*float64(t.Threshold)/(float64(c.Size)*float64(c.Steps)))
	case Ensemble:
		return predict.NewEnsemble(c.Domain, float64(c.Size), ensembleSize)
	case Weights:
		return predict.NewWeights(c.Domain, float64(c.Size))
	}
	return nil, nil
}

// teach tells the predictor, which fits all that it knows whenever it is told something.
func (s *state) teach(rs ...predict.Released) {
	if s.predictor != nil {
		s.pending = append(s.pending, rs...)
		s.settle()
	}
}

// teachLater is for plain answers, of which there can be thousands before the first round. The
// predictor is told of many at once: when there is an eighth more than it knows, when a round is
// opened, and, an ensemble whose spread is looked at all the time, at once. When that is depends on
// the journal alone.
func (s *state) teachLater(r predict.Released) {
	if s.tariff.Predictor == Ensemble || 8*(len(s.pending)+1) > s.learned {
		s.teach(r)
	} else if s.predictor != nil {
		s.pending = append(s.pending, r)
	}
}

// settle tells the predictor what it does not know yet.
func (s *state) settle() {
	if len(s.pending) > 0 {
		s.predictor.Learn(s.pending...)
		s.learned += len(s.pending)
		s.pending = nil
	}
}

// predict returns a whole number, and how far candidates are apart.
func (s *state) predict(q *linear.Query) (int64, float64) {
	v, spread := s.predictor.Predict(q)
	if !(spread >= 0) { // NaN as well
		spread = math.Inf(1)
	}
	return s.round(v), spread
}

// guess is predict without the spread, which some predictors have to work for.
func (s *state) guess(q *linear.Query) int64 {
	if p, ok := s.predictor.(interface{ Value(*linear.Query) float64 }); ok {
		return s.round(p.Value(q))
	}
	v, _ := s.predict(q)
	return v
}

// candidateSpread is how far apart candidates are, where the rule looks at it.
func (s *state) candidateSpread(q *linear.Query) float64 {
	if s.tariff.Predictor != Ensemble {
		return 0
	}
	_, spread := s.predict(q)
	return spread
}

func (s *state) round(v float64) int64 {
	if !(v > 0) {
		return 0
	}
	return int64(math.Round(min(v, 4*float64(s.config.Size)*float64(s.config.Steps))))
}

// deviation is the standard deviation of a mechanism's noise.
func deviation(m mech.Mechanism) float64 {
	p, _ := m.Parameter().Float64()
	if m.Norm() == dp.L2 {
		return math.Sqrt(p)
	}
	return math.Sqrt2 * p
}

func digest(b []byte) []byte {
	sum := sha256.Sum256(b)
	return sum[:]
}

// maxBonusCells is how many counts a marginal may have. Larger ones say little for each, and take
// long to learn.
const maxBonusCells = 400

// bonusPlan is the marginals to be bought, given by their attributes, in this order: of each
// attribute alone, and then of the attributes of every question at which an alarm went off, because
// where one prediction about them was wrong others will be.
type bonusPlan struct {
	domain *linear.Domain
	sets   [][]int
}

// begin wants what is bought before anything is known. All pairs of attributes are among it where
// they cost less than one round, as they do under zCDP.
func (w *bonusPlan) begin(c Config, t *Tariff) {
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

func (w *bonusPlan) add(attributes []int) {
	if w.domain.Size(attributes) <= maxBonusCells {
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
func (w *bonusPlan) predicates(steps int64, attributes []int) ([]*linear.Query, error) {
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
func (s *state) nextBonus() mech.Mechanism { return s.tariff.marginal(s.bonusPlan.sets[s.bonuses]) }

// marginal is the noise of the marginal of some attributes. That of one attribute costs as much as
// a plain answer, and that of several twice as much: questions add up many of its counts, and so
// their noise.
func (t *Tariff) marginal(attributes []int) mech.Mechanism {
	if len(attributes) == 1 {
		return t.single
	}
	return t.joint
}

// buyBonus buys the next marginal, which nobody asked for: how many people have each combination of
// values of some attributes. Every person has one combination, so the counts are of disjoint sets
// and cost together what one costs. It teaches the predictor and answers nothing, so that it has no
// share of beta.
func (s *Session) buyBonus(ctx context.Context, a *Answer) error {
	st := s.state
	m := st.nextBonus()
	qs, err := st.bonusPlan.predicates(1, st.bonusPlan.sets[st.bonuses])
	if err != nil {
		return err
	}
	if err := s.charge(ctx, fmt.Sprintf("marginal %d", st.bonuses+1), spellMechanism(m), m.Cost(), a); err != nil {
		return err
	}
	data, err := s.table(ctx)
	if err != nil {
		return err
	}
	e := newEntry(bonusEntry).number(int64(st.bonuses + 1)).number(int64(len(qs)))
	for _, v := range s.releaser.Release(data.Answers(qs), m) {
		e.number(v)
	}
	return s.appendEntry(ctx, e)
}

// replayBonus takes a marginal into the state, and reports whether it is one.
func (s *state) replayBonus(r *reader) bool {
	number := r.number()
	values := make([]int64, r.length())
	for i := range values {
		values[i] = r.number()
	}
	if r.bad || number != int64(s.bonuses+1) || s.bonuses >= len(s.bonusPlan.sets) {
		return false
	}
	m := s.nextBonus()
	qs, err := s.bonusPlan.predicates(s.config.Steps, s.bonusPlan.sets[s.bonuses])
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
