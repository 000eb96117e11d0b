package sparsesession

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"sync/atomic"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/mech"
	"github.com/discreet-dp/discreet/internal/curator/pricing"
	"github.com/discreet-dp/discreet/internal/planner"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/internal/session/sessionhost"
	"github.com/discreet-dp/discreet/ledger"
)

// Session is an open session. It is safe for concurrent use; questions are answered one after the
// other.
type Session struct {
	Cost    dp.Cost
	Receipt api.Receipt
	// Alerts say which accounts the session took over 50, 80 or 95 % of their limits.
	Alerts []ledger.Alert

	c         *Sessions
	analyst   string
	mechanism *mech.Sparse
	session   *mech.SparseSession
	step      *big.Rat
	monotone  bool
	data      string // the ledger's name for the data
	window    uint64 // of the charge
	left      atomic.Int64

	turn  chan struct{} // holds one thing while a question is asked; what follows is its own
	asked int           // and answered
	most  int           // how many may be
	ended error
}

// sparseBeta is how likely the error of a session may be exceeded.
const sparseBeta = 0.05

// Ask asks whether the only number of a question is at or above a threshold.
//
// A question is checked against the policy and the session first, and then computed, and the value
// goes sealed into the session. The answer is noted in the ledger before it is given
// ([sparseNote]), and nothing of it is kept for others: neither is it remembered as an answer, nor
// are answers that were paid for used, because a comparison with a value that has noise of its own
// is no comparison with this value.
//
// Every question is free, so what it tells beside its answer would be free too, as often as one
// likes. So the first question that the engine does not finish ends the session, whatever the
// reason, and with one text: it tells at most once, for a charge of a whole session, what engines
// promise not to tell at all. A question whose time ran out or that was cancelled while the engine
// ran is such a one. A question that is refused, or cancelled before, was never computed and
// changes nothing. A session whose analyst is under a lockout answers nothing, and is there
// after the release.
//
// Each answer is a record of the ledger, for ever, so a session has [api.MostSparseAnswers] of
// them: what it can write is paid for when it is opened.
//
// A session ends with the window of the budget that paid for it: what is learnt in the next is for
// the accounts of the next to pay.
//
// A session is about one version of the data. That is for the analyst and not for the theorem: the
// proof goes from question to question, and holds where each value moves by at most the sensitivity
// between neighbours at that time, a person being in all versions or in none. So it does no harm
// that data may change between the look at its version and the run. That there is a new version is
// the owner's doing and no secret.
func (s *Session) Ask(ctx context.Context, sql, threshold string) (*api.SparseVerdict, error) {
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if err := s.c.Admit(s.analyst); err != nil {
		return nil, err
	}
	if err := s.c.Closed(ctx, s.analyst, false); err != nil {
		return nil, err
	}
	switch {
	case s.ended != nil:
		return nil, s.ended
	case s.session.Left() == 0:
		return nil, api.ErrSessionUsed
	case s.asked >= s.most:
		s.ended = api.ErrSessionAsked
		return nil, s.ended
	}
	statement, err := planner.Prepare(s.c.Dataset, sql, s.c.Options(ctx, api.Settings{}))
	if err != nil {
		return nil, err
	}
	if err := s.c.CheckTwice(statement); err != nil {
		return nil, err
	}
	q, err := s.admits(statement)
	if err != nil {
		return nil, err
	}
	at, err := s.threshold(threshold)
	if err != nil {
		return nil, err
	}
	if err := s.c.CheckTime(ctx, q); err != nil {
		return nil, err
	}
	data, err := s.c.Data(ctx)
	if err != nil {
		return nil, err
	}
	if data.ID != s.data {
		s.ended = api.ErrSessionData
		return nil, s.ended
	}
	if err := s.inWindow(ctx); err != nil {
		return nil, err
	}
	if err := s.c.NoteRun(ctx); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err // before anything was computed
	}
	answer, err := s.compute(ctx, q, at)
	if err != nil {
		return nil, err
	}
	v := &api.SparseVerdict{Above: answer.Above, Left: s.session.Left(),
		Error: pricing.Scaled(big.NewInt(s.mechanism.Accuracy(s.asked+1, sparseBeta)), s.step)}
	if _, _, values := s.mechanism.Split(); answer.Above && values > 0 {
		text := new(big.Rat).Mul(new(big.Rat).SetInt64(answer.Value), s.step).FloatString(pricing.Decimals(s.step))
		v.Value = &text
	}
	if err := s.note(ctx, sparseNote{Above: v.Above, Value: v.Value}); err != nil {
		if errors.As(err, new(*ledger.LockoutError)) { // or what is left would tell that it did not fail
			s.session.Withhold(answer)
		}
		return nil, err
	}
	s.asked++
	s.left.Store(int64(v.Left))
	return v, nil
}

// compute runs a question and compares. What goes wrong ends the session, and is an incident unless
// the analyst stopped it.
func (s *Session) compute(ctx context.Context, q *tree.Query, at int64) (answer mech.SparseAnswer, err error) {
	fail := func(cause error) error {
		err := s.c.Failed(ctx, s.analyst, s.Receipt.Sequence, cause, api.ErrSessionRun)
		if err == api.ErrSessionRun {
			s.ended = err // not where nobody is told of it
		}
		return err
	}
	exactly, err := s.c.Run(ctx, q)
	if err != nil {
		return answer, fail(err)
	}
	if len(exactly.Measures) != 1 {
		return answer, fail(sessionhost.ErrShape)
	}
	// The lockout is looked at once more before noise is drawn. It can close after that, too: then
	// the note is refused.
	if err := s.c.Closed(ctx, s.analyst, true); err != nil {
		return answer, err
	}
	err = func() (err error) {
		defer sessionhost.Catch(&err)
		answer, err = s.session.Ask(exactly.Measures[0], at)
		return err
	}()
	if err != nil {
		return answer, fail(err) // not one integer, which the shape of the question rules out
	}
	return answer, nil
}

// inWindow ends a session whose window is over, before the engine is asked. A window can end while
// the engine runs, too: then the note is refused.
func (s *Session) inWindow(ctx context.Context) error {
	window, err := s.c.Window(ctx, s.c.Dataset.Name)
	if err == nil && window != s.window {
		s.ended = api.ErrSessionWindow
		err = s.ended
	}
	return err
}

// sparseNote is what a session writes into the ledger before anybody sees it: that it was opened,
// and each answer. It spends nothing and is never read again by a session. It is there so that who
// decides the ledger once more (package ledger/replay) sees in which window each answer was given,
// and whether the charge was of that window.
type sparseNote struct {
	Opened bool    `json:"opened,omitempty"`
	Above  bool    `json:"above"`
	Value  *string `json:"value,omitempty"`
}

// note writes a note. Where it cannot be written the answer is not given, and the session has
// ended: the threshold has met a value that nobody heard of.
func (s *Session) note(ctx context.Context, n sparseNote) error {
	text, err := json.Marshal(n)
	if err == nil {
		err = s.c.Note(context.WithoutCancel(ctx), ledger.ChargeNotes(s.Receipt.Sequence), text)
	}
	switch {
	case err == nil:
		return nil
	case errors.As(err, new(*ledger.LapsedError)):
		s.ended = api.ErrSessionWindow
		return s.ended
	case errors.As(err, new(*ledger.LockoutError)):
		// The lockout began after it was looked at. The answer is told to nobody, which is always
		// private, and the session is there after the release.
		return err
	}
	s.ended = api.ErrSessionRun
	return err
}

// Left returns how many questions can still be answered "above", as the last answer said. At 0 the
// session has ended.
func (s *Session) Left() int { return int(s.left.Load()) }

// admits returns the private query of a statement that is one count or one sum of one cell, within
// what the session was calibrated to.
func (s *Session) admits(st *planner.Statement) (*tree.Query, error) {
	const one = "ask for one COUNT or one SUM without GROUP BY, as in SELECT COUNT(*) FROM table WHERE ..."
	if st.Outer != nil || len(st.Plans) != 1 {
		return nil, api.Refuse(one, "a question of a session cannot have a query around it")
	}
	p := st.Plans[0]
	q := &p.Query
	if q.ListsKeys() && len(q.Keys) == 0 {
		return nil, api.Refuse("ask it outside of the session, where it is free", "the answer to this question is known without the data")
	}
	if len(q.Keys) != 0 || q.Groups() != 1 || q.Choice != nil || len(q.Measures) != 1 || q.Measures[0].Kind == tree.Quantile ||
		len(p.Columns) != 1 {
		return nil, api.Refuse(one, "a question of a session must be about one count or one sum")
	}
	r, ok := p.Columns[0].Expr.(*tree.Released)
	if !ok || r.Part != tree.PartValue || p.Stats[r.Stat].Kind != tree.MeasureStat {
		return nil,
			api.Refuse(one+", and put any further computation into the threshold", "a question of a session must be a count or a sum "+
				"itself")
	}
	if p.Having != nil || p.Limit != nil || p.Offset != 0 {
		return nil, api.Refuse("leave them out", "a question of a session has one row, and no HAVING, LIMIT or OFFSET")
	}
	m := q.Measures[0]
	if m.Step().Cmp(s.step) != 0 {
		return nil, api.Refuse("open a session with that step", "the answer has steps of %s, and the session has steps of %s",
			m.Step().RatString(), s.step.RatString())
	}
	moves, most := q.Sensitivity(m, dp.L1).L1(), s.mechanism.Sensitivity().L1()
	if moves.Cmp(most) > 0 {
		return nil,
			api.Refuse("open a session with that sensitivity, or ask for something that one person changes less, such as "+
				"COUNT(DISTINCT person)",
				"one person can move this by %s, but the session is for questions that one person moves by at most %s", s.units(moves),
				s.units(most))
	}
	if lo, _ := q.Interval(m); s.monotone && lo.Sign() < 0 {
		return nil, api.Refuse("sum something that is never negative, such as greatest(x, 0), or open a session that is signed",
			"values of this sum can be negative, but the session has the smaller noise for questions that only grow with people")
	}
	return q, nil
}

func (s *Session) units(steps *big.Int) string {
	return new(big.Rat).Mul(new(big.Rat).SetInt(steps), s.step).FloatString(pricing.Decimals(s.step))
}

// threshold reads a threshold in units of the answer.
func (s *Session) threshold(text string) (int64, error) {
	x, err := dp.ParseDecimal(text)
	if err != nil {
		return 0, api.Refuse("write a decimal number", "the threshold is not a number")
	}
	x.Quo(x, s.step)
	if !x.IsInt() || !x.Num().IsInt64() {
		return 0, api.Refuse(fmt.Sprintf("write a multiple of %s", s.step.RatString()),
			"the threshold is not on the lattice of the session, or too large")
	}
	return x.Num().Int64(), nil
}
