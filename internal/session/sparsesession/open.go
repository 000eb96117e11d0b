package sparsesession

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/mech"
	"github.com/discreet-dp/discreet/internal/curator/pricing"
	"github.com/discreet-dp/discreet/internal/session/sessionhost"
	"github.com/discreet-dp/discreet/ledger"
)

// Sessions opens sessions of the sparse vector.
type Sessions struct{ sessionhost.Access }

// New returns the sessions of a dataset.
func New(a sessionhost.Access) *Sessions { return &Sessions{a} }

// Open charges for a session in full, on stable storage, and then opens it.
//
// # What it promises
//
// Everything that a session ever answers is epsilon-differentially private at the epsilon of its
// charge, and rho-zCDP at its rho, however many questions there are and however they are chosen
// (Lyu, Su, Li 2017, Algorithm 7; the proof on integers is at [mech.Sparse]). The theorem asks two
// things of every question, which [SparseSession.Ask] checks before the engine is asked:
//
//  1. Between neighbours its value moves by at most the session's sensitivity D, in l1. A question
//     here is one integer, a count or a sum in one cell, and tree.Query.Sensitivity bounds how far
//     it moves, in steps of its lattice. All questions of a session are on one lattice, that of the
//     session, so D is one integer for all of them, and the shift of the threshold's noise in the
//     proof is one too.
//  2. Where the session is monotone, the values of all questions move the same way. Neighbours x
//     and y differ by one person, and every value is a sum over people of something that depends on
//     one person's rows alone (package planner). Under add-remove y is x and one more person, or the
//     other way round. What a person adds to a question is in tree.Query.Interval, and where that
//     has no negative number it is not negative. So y's values are all at or above x's, or all at
//     or below. Clamping a total keeps that. Under substitution one person's contribution is
//     exchanged for another's, which may be more in one question and less in the next, so a session
//     is never monotone there; and neither is one that takes sums of both signs.
//
// Questions may be asked between those of other sessions, and of Ask. For a pure budget a session
// counts as one randomized response (Vadhan, Wang 2021), and its epsilon is added; for an (epsilon,
// delta) budget its rho is (Lyu 2022; Vadhan, Zhang 2023; with prices that are chosen as one goes,
// Haney et al. 2023): see account.Interleavable. A session has no delta. It is charged in full and
// nothing is given back, because how early it ends is something that private data had a say in.
//
// # What becomes of a session
//
// The noise of its threshold is in this process and nowhere else. So a session ends with the
// process, and with the window of the budget that it was charged in; and the same request again is
// refused and not answered with a new session: that would be a second noise for one charge, and two
// comparisons with one value under different noise are worth more than was paid for.
func (c *Sessions) Open(ctx context.Context, q api.SparseQuestion) (*Session, error) {
	if err := c.Admit(q.Analyst); err != nil {
		return nil, err
	}
	if err := sessionhost.CheckRequest(q.Request); err != nil {
		return nil, err
	}
	step, err := sparseStep(q)
	if err != nil {
		return nil, err
	}
	m, epsilon, err := c.calibrate(q, step)
	if err != nil {
		return nil, err
	}
	data, err := c.Data(ctx)
	if err != nil {
		return nil, err
	}
	spelled := spellSparse(m, q, step)
	charged, err := c.Charge(ctx, q.Analyst, ledger.Charge{
		Request:     q.Request,
		Analyst:     q.Analyst,
		Dataset:     c.Dataset.Name,
		DataVersion: data.Version.String(),
		Query:       sessionHash(c.Dataset.Name, q.Request, spelled),
		Mechanisms:  spelled,
		Cost:        m.Cost(),
	})
	if err != nil {
		return nil, err
	}
	if charged.Again {
		return nil,
			api.Refuse("open another with a new request, which costs as much again",
				"the request %s has opened a session before, and the state of that one is gone: a session cannot be opened twice "+
					"for one charge", strconv.Quote(q.Request))
	}
	cost := m.Cost()
	if !c.Dataset.Budget.Pure() {
		cost.Epsilon = epsilon // the price tag, as in other answers
	}
	s := &Session{
		c: c, analyst: q.Analyst, mechanism: m, session: c.Releaser.OpenSparse(m), step: step, monotone: sameWay(q, c.Dataset.Neighbours),
		data: data.ID, window: charged.Window, turn: make(chan struct{}, 1), most: api.MostSparseAnswers,
		Cost: cost, Receipt: api.Receipt{Sequence: charged.Sequence, Hash: charged.Hash}, Alerts: charged.Alerts(),
	}
	s.left.Store(int64(s.session.Left()))
	if err := s.note(ctx, sparseNote{Opened: true}); err != nil {
		return nil, err
	}
	return s, nil
}

// sameWay reports whether the session takes only questions that all move the same way; see
// [Sessions.Open].
func sameWay(q api.SparseQuestion, n dp.Neighbours) bool { return n == dp.AddRemove && !q.Signed }

// sparseStep reads the lattice, and checks the rest of the question.
func sparseStep(q api.SparseQuestion) (*big.Rat, error) {
	switch {
	case q.Above < 1 || q.Above > api.MostSparseAnswers:
		return nil, api.Refuse(fmt.Sprintf("write a number from 1 to %d", api.MostSparseAnswers),
			"a session cannot say \"above\" %d times", q.Above)
	case q.Sensitivity < 1:
		return nil, api.Refuse("write 1 for counts of people, and more where a person can have more rows or larger values",
			"a session has a sensitivity of 1 or more, not %d", q.Sensitivity)
	}
	step := big.NewRat(1, 1)
	if q.Step != "" {
		var err error
		if step, err = dp.ParseDecimal(q.Step); err != nil || step.Sign() <= 0 {
			return nil, api.Refuse("write for example 1 or 0.01", "the step of a session must be a number above 0")
		}
	}
	if !new(big.Rat).Quo(new(big.Rat).SetInt64(q.Sensitivity), step).IsInt() {
		return nil, api.Refuse("write a multiple of the step", "a sensitivity of %d is not a whole number of steps of %s",
			q.Sensitivity, step.RatString())
	}
	return step, nil
}

// calibrate calibrates a session to its price, as price does for other questions: a pure budget
// pays its epsilon, and an (epsilon, delta) budget the rho of any pure mechanism of that epsilon,
// for which the session gets the largest epsilon of its own that is within it. Where a new
// threshold after every "above" is more exact at that price, there is one.
func (c *Sessions) calibrate(q api.SparseQuestion, step *big.Rat) (*mech.Sparse, dp.Amount, error) {
	epsilon, budget := q.Epsilon, c.Dataset.Budget
	if epsilon == 0 {
		epsilon = budget.DefaultEpsilon
	}
	if epsilon > budget.MaxEpsilon {
		return nil, 0,
			api.Refuse("open it with at most "+budget.MaxEpsilon.String(), "epsilon %v is more than one question may cost here", epsilon)
	}
	if epsilon < budget.MinEpsilon {
		return nil, 0,
			api.Refuse("open it with at least "+budget.MinEpsilon.String(), "epsilon %v is less than a question costs here", epsilon)
	}
	moves := new(big.Rat).Quo(new(big.Rat).SetInt64(q.Sensitivity), step)
	config := mech.SparseConfig{Sensitivity: dp.NewL1(moves.Num()), Above: q.Above, Monotone: sameWay(q, c.Dataset.Neighbours)}
	with := func(e dp.Amount, refresh bool) (*mech.Sparse, error) {
		now := config
		now.Epsilon, now.Refresh = e, refresh
		if q.Values {
			now.Values = e / 2
			now.Epsilon -= now.Values
		}
		return mech.NewSparse(now)
	}
	m, err := with(epsilon, false)
	if err == nil && !budget.Pure() {
		m, err = sparseWithin(epsilon, with)
	}
	switch {
	case errors.Is(err, mech.ErrNoPrivacy):
		return nil, 0,
			api.Refuse("open it with a larger epsilon", "epsilon %v is too small to be shared among what a session does", epsilon)
	case err != nil:
		return nil, 0, api.Refuse("", "%v", err)
	}
	return m, epsilon, nil
}

// sparseWithin returns the most exact session whose rho is within that of any pure mechanism of an
// epsilon.
func sparseWithin(epsilon dp.Amount, with func(dp.Amount, bool) (*mech.Sparse, error)) (*mech.Sparse, error) {
	rho := pricing.Currency{}.Amount(epsilon)
	var best *mech.Sparse
	for _, refresh := range []bool{false, true} {
		// What there is no noise for is too little below epsilon, and too much above it.
		e := pricing.Largest(0, pricing.MostTariff, func(e dp.Amount) bool {
			m, err := with(e, refresh)
			if err != nil {
				return e < epsilon
			}
			return m.Cost().Rho <= rho
		})
		m, err := with(e, refresh)
		if err != nil || m.Cost().Rho > rho {
			continue
		}
		const questions = 100
		if best == nil || m.Accuracy(questions, sparseBeta) < best.Accuracy(questions, sparseBeta) {
			best = m
		}
	}
	if best == nil {
		return nil, mech.ErrNoPrivacy
	}
	return best, nil
}

// spellSparse names a session's noise with its exact parameters.
func spellSparse(m *mech.Sparse, q api.SparseQuestion, step *big.Rat) string {
	threshold, question, value := m.Parameters()
	parts := []string{threshold.RatString(), question.RatString()}
	if value != nil {
		parts = append(parts, value.RatString())
	}
	return fmt.Sprintf("sparse(%s; above %d; sensitivity %v; step %s)", strings.Join(parts, ", "), q.Above,
		m.Sensitivity(), step.RatString())
}

// sessionHash names a session. It is no hash of a question, so a request that was used for one
// cannot open the other.
func sessionHash(dataset, request, spelled string) string {
	h := sha256.New()
	for _, s := range []string{"sparse vector session", dataset, request, spelled} {
		fmt.Fprintf(h, "%d:%s,", len(s), s)
	}
	return hex.EncodeToString(h.Sum(nil))
}
