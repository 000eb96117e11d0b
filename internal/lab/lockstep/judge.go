package lockstep

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/mech"
	"github.com/discreet-dp/discreet/internal/planner"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/internal/sealed"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/policy"
)

// judge compares the outcomes of one question on two neighbouring databases with the
// same randomness. It returns how far the exact values are apart, as a part of
// what the noise was calibrated to, and the first thing that a single person must
// not be able to change and did. p is nil for a question that is refused.
func judge(p *tree.Plan, a, b outcome) (ratio float64, err error) {
	switch {
	case a.panicked || b.panicked:
		return 0, fmt.Errorf("one says %q, the other %q, and neither is allowed to panic", a.err, b.err)
	case a.err != b.err:
		return 0, fmt.Errorf("one says %q, the other %q", a.err, b.err)
	}
	// Calls come before the rest: where their number differs, that is the reason for all else.
	if len(a.calls) != len(b.calls) {
		return 0, fmt.Errorf("noise is added %d times in one and %d times in the other", len(a.calls), len(b.calls))
	}
	moved := false
	var worth selectionLosses
	for i, c := range a.calls {
		r, err := judgeCall(c, b.calls[i])
		ratio = max(ratio, r)
		moved = moved || r > 0
		worth.add(c, r)
		if err != nil {
			return ratio, fmt.Errorf("release %d: %w", i+1, err)
		}
	}
	if a.drawn != b.drawn {
		return ratio, fmt.Errorf("one draws %d bytes of randomness, the other %d", a.drawn, b.drawn)
	}
	if !slices.Equal(a.events, b.events) {
		return ratio, fmt.Errorf("the steps are %v in one and %v in the other", a.events, b.events)
	}
	if err := judgeCharges(a, b); err != nil {
		return ratio, err
	}
	if err := worth.checkCharged(a.charges); err != nil {
		return ratio, err
	}
	if (a.answer == nil) != (b.answer == nil) {
		return ratio, errors.New("one has an answer, the other has none")
	}
	if a.answer == nil {
		return ratio, nil
	}
	if len(a.calls) == 0 || a.drawn == 0 {
		return ratio, errors.New("there is an answer, but no noise was drawn for it")
	}
	if err := judgeAnswers(p, a.answer, b.answer, moved); err != nil {
		return ratio, err
	}
	return ratio, checkSameNoise(p, a, b)
}

// judgeCall compares what two runs asked of the releaser.
func judgeCall(c, d mech.Call) (ratio float64, err error) {
	switch {
	case c.Mechanism != d.Mechanism || c.Parameter.Cmp(d.Parameter) != 0:
		return 0,
			fmt.Errorf("the noise is %s(%s) in one and %s(%s) in the other", c.Mechanism, c.Parameter.RatString(),
				d.Mechanism, d.Parameter.RatString())
	case (c.Before == nil) != (d.Before == nil) || c.Before != nil && c.Before.Cmp(d.Before) != 0:
		return 0, fmt.Errorf("the previous answer has the noise %v in one and %v in the other", c.Before, d.Before)
	case c.Sensitivity.String() != d.Sensitivity.String() || c.Scoring != d.Scoring:
		return 0, fmt.Errorf("the sensitivity is %v in one and %v in the other", declaredSensitivity(c), declaredSensitivity(d))
	}
	if strings.HasPrefix(c.Mechanism, quantilePrefix) {
		return judgeQuantile(c, d)
	}
	m, ok := sealed.Between(c.Values, d.Values)
	if !ok {
		return 0, fmt.Errorf("one has %d values, the other %d", c.Values.Len(), d.Values.Len())
	}
	distance, bound := m.L1, new(big.Int)
	switch c.Sensitivity.Norm() {
	case dp.L1:
		bound = c.Sensitivity.L1()
		if each := c.Sensitivity.Each(); m.Largest.Cmp(each) > 0 {
			return 1, fmt.Errorf("one person moves one exact value by %v, and %v is claimed", m.Largest, each)
		}
	case dp.L2:
		distance, bound = m.L2Squared, c.Sensitivity.L2Squared()
	default:
		distance, bound = m.Largest, big.NewInt(c.Scoring.Sensitivity)
		if c.Scoring.Monotone && m.Up && m.Down {
			return 1, errors.New("scores that were declared monotone move both ways")
		}
	}
	if bound.Sign() <= 0 {
		return 0, errors.New("no sensitivity is declared")
	}
	ratio, _ = new(big.Rat).SetFrac(distance, bound).Float64()
	if c.Sensitivity.Norm() == dp.L2 {
		ratio = math.Sqrt(ratio)
	}
	if distance.Cmp(bound) > 0 {
		return ratio, fmt.Errorf("one person moves the exact values %.4g times as far as the noise is calibrated to, which is %v",
			ratio, declaredSensitivity(c))
	}
	return ratio, nil
}

func declaredSensitivity(c mech.Call) fmt.Stringer {
	if c.Sensitivity.Norm() == 0 {
		return c.Scoring
	}
	return c.Sensitivity
}

// judgeAnswers compares the shapes of two answers, and the answers where no exact value differs.
func judgeAnswers(p *tree.Plan, a, b *api.Answer, moved bool) error {
	if !slices.Equal(a.Columns, b.Columns) {
		return fmt.Errorf("the columns are %v in one and %v in the other", a.Columns, b.Columns)
	}
	if a.Cost != b.Cost || a.Remaining != b.Remaining || a.Receipt != b.Receipt || a.MaxRows != b.MaxRows || a.MaxGroups != b.MaxGroups ||
		a.Cut != b.Cut || a.Version != b.Version {
		return fmt.Errorf("in one the cost is %v and %v remains, in the other %v and %v", a.Cost, a.Remaining, b.Cost, b.Remaining)
	}
	for _, x := range []*api.Answer{a, b} {
		if err := checkWellFormed(x); err != nil {
			return err
		}
	}
	if !moved {
		if shownAnswer(a) != shownAnswer(b) {
			return errors.New("the exact values to which noise is added are equal, but the answers differ")
		}
		return nil
	}
	if p == nil || p.Having != nil || len(p.Order) > 0 || p.Query.Choice != nil {
		return nil // which rows there are, and in which order, is made of noisy values
	}
	if len(a.Rows) != len(b.Rows) {
		return fmt.Errorf("one has %d rows, the other %d", len(a.Rows), len(b.Rows))
	}
	for i := range a.Rows {
		for j, c := range a.Columns {
			if !c.Noisy && a.Rows[i][j] != b.Rows[i][j] {
				return fmt.Errorf("row %d has the key %v in one and %v in the other", i+1, a.Rows[i][j], b.Rows[i][j])
			}
			// What is computed of several noisy values has an error bar that is too; those of
			// counts and sums are public.
			if c.Noisy && !c.Approximate && *a.Errors[i][j] != *b.Errors[i][j] {
				return fmt.Errorf("row %d of %s has the error %v in one and %v in the other", i+1, c.Name, *a.Errors[i][j], *b.Errors[i][j])
			}
		}
	}
	return nil
}

// checkWellFormed checks that every count and sum is a finite number with an error: whether one is
// missing, or infinite, no noise would hide. What is computed of them may be missing where they are
// zero.
func checkWellFormed(a *api.Answer) error {
	for i, row := range a.Rows {
		for j, c := range a.Columns {
			if !c.Noisy {
				continue
			}
			n, ok := row[j].(json.Number)
			if !ok && c.Approximate {
				continue
			}
			f, err := strconv.ParseFloat(string(n), 64)
			if !ok || err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
				return fmt.Errorf("row %d of %s holds something that is not a number", i+1, c.Name)
			}
			if !c.Approximate && a.Errors[i][j] == nil {
				return fmt.Errorf("row %d of %s has no error", i+1, c.Name)
			}
		}
	}
	return nil
}

func shownAnswer(a *api.Answer) string {
	text := fmt.Sprint(a.Rows)
	for _, row := range a.Errors {
		for _, e := range row {
			if e != nil {
				text += fmt.Sprint(" ", *e)
			}
		}
	}
	return text
}

// checkSameNoise checks that the counts and sums of two answers are exactly as far apart as the
// exact values below them. The noise was the same, so a distance that is another means that
// something else reached the answer on its way: the data, or what was left out of the record.
func checkSameNoise(p *tree.Plan, a, b outcome) error {
	if p == nil || p.Having != nil || len(p.Order) > 0 || p.Limit != nil || p.Offset > 0 || len(a.calls) != len(p.Query.Measures) ||
		p.Query.Choice != nil {
		return nil // not every group is in the answer, or the releases are not the measures
	}
	for _, c := range a.calls {
		if c.Mechanism == "residual" || c.Mechanism == "running" {
			return nil // what is shown is made of it, and is not as far apart
		}
	}
	for i, o := range p.Columns {
		r, ok := o.Expr.(*tree.Released)
		if !ok || r.Part != tree.PartValue || p.Stats[r.Stat].Kind != tree.MeasureStat {
			continue
		}
		measure := p.Stats[r.Stat].Measure
		x, inSteps := latticeSteps(a.answer, i, o.Expr.Type().Step)
		y, too := latticeSteps(b.answer, i, o.Expr.Type().Step)
		if !inSteps || !too {
			continue // a step such as a third has no decimals
		}
		want, _ := sealed.Between(a.calls[measure].Values, b.calls[measure].Values)
		got, ok := sealed.Between(mech.Seal(x...), mech.Seal(y...))
		if !ok || got.L1.Cmp(want.L1) != 0 || got.L2Squared.Cmp(want.L2Squared) != 0 || got.Up != want.Up || got.Down != want.Down {
			return fmt.Errorf("the noise of %s is the same, but the answers are not as far apart as the exact values", o.Name)
		}
	}
	return nil
}

// latticeSteps reads a column of an answer in steps of its lattice.
func latticeSteps(a *api.Answer, column int, step *big.Rat) ([]int64, bool) {
	var out []int64
	for _, row := range a.Rows {
		n, _ := row[column].(json.Number)
		r, ok := new(big.Rat).SetString(string(n))
		if !ok {
			return nil, false
		}
		if r.Quo(r, step); !r.IsInt() || !r.Num().IsInt64() {
			return nil, false
		}
		out = append(out, r.Num().Int64())
	}
	return out, true
}

// judgeCharges compares what was charged, and checks that it came first and covers the calls.
func judgeCharges(a, b outcome) error {
	if len(a.charges) != len(b.charges) {
		return fmt.Errorf("%d charges against %d", len(a.charges), len(b.charges))
	}
	for i, c := range a.charges {
		d := b.charges[i]
		// The name of the data's state is the owner's to see.
		c.DataVersion, d.DataVersion = "", ""
		c.Missed, d.Missed = nil, nil // they have the version in them
		// Amounts are compared by themselves, because as text they are rounded.
		if c.Cost != d.Cost || fmt.Sprint(c) != fmt.Sprint(d) {
			return fmt.Errorf("one charged %v for %s, the other %v for %s", c.Cost, c.Mechanisms, d.Cost, d.Mechanisms)
		}
	}
	if len(a.events) > 0 && a.events[0] != "charge" {
		return fmt.Errorf("nothing was charged before the data was read: the steps are %v", a.events)
	}
	return checkCovered(a.calls, b.calls, a.charges)
}

// checkCovered checks that the charges are at least what the calls cost: D/b epsilon for
// Laplace noise, D^2/(2 sigma^2) rho for Gaussian noise. A charge makes two claims,
// and neither may be below the truth. Laplace noise costs some rho, and a selection some
// epsilon, which their own packages prove; here they must be charged for at all.
//
// Nobody moves all residuals of a table as far as somebody moves each, so of these it is asked how
// far the two runs are apart, which the price covers too.
func checkCovered(calls, others []mech.Call, charges []ledger.Charge) error {
	if len(calls) == 0 {
		return nil
	}
	if len(charges) == 0 {
		return errors.New("noise was added, but nothing was charged")
	}
	var charged dp.Cost
	for _, c := range charges {
		charged = charged.Add(c.Cost)
	}
	epsilon, rho, pure := new(big.Rat), new(big.Rat), true
	for i, c := range calls {
		switch c.Sensitivity.Norm() {
		case dp.L1:
			moved := new(big.Rat).SetInt(c.Sensitivity.L1())
			epsilon.Add(epsilon, new(big.Rat).Quo(moved, c.Parameter))
			if c.Before != nil { // what was paid for the answer that this one sharpens
				epsilon.Sub(epsilon, new(big.Rat).Quo(moved, c.Before))
			}
		case dp.L2:
			pure = false
			square := c.Sensitivity.L2Squared()
			if c.Mechanism == "residual" {
				m, _ := sealed.Between(c.Values, others[i].Values)
				square = m.L2Squared
			}
			rho.Add(rho, new(big.Rat).Quo(new(big.Rat).SetFrac(square, big.NewInt(2)), c.Parameter))
		}
	}
	if charged.Epsilon != dp.Unbounded && (!pure || epsilon.Cmp(charged.Epsilon.Rat()) > 0) {
		return fmt.Errorf("epsilon %v was charged for noise that costs more", charged.Epsilon)
	}
	if charged.Rho != dp.Unbounded && rho.Cmp(charged.Rho.Rat()) > 0 {
		return fmt.Errorf("rho %v was charged for noise that costs more", charged.Rho)
	}
	return nil
}

// quantilePrefix is how the calls of quantiles begin.
const quantilePrefix = "quantile "

// judgeQuantile compares the values of which a quantile is released. How many there are is private,
// so it is counted how many came and went: at the quantile a/b each moves a rank loss, which is in
// parts of b, by at most max(a, b-a), and one that is replaced by b.
func judgeQuantile(c, d mech.Call) (ratio float64, err error) {
	var at big.Rat
	if _, ok := at.SetString(c.Mechanism[len(quantilePrefix):]); !ok || c.Scoring.Sensitivity <= 0 {
		return 0, errors.New("no sensitivity is declared")
	}
	a, b := at.Num().Int64(), at.Denom().Int64()
	came, went := sealed.CountExchanged(c.Values, d.Values)
	each := max(a, b-a)
	if came > 0 && went > 0 {
		each = b
	}
	ratio = float64(max(came, went)) * float64(each) / float64(c.Scoring.Sensitivity)
	if ratio > 1 {
		return ratio, fmt.Errorf("one person has %.4g times as many values as the noise is calibrated to, which is %v", ratio,
			declaredSensitivity(c))
	}
	return ratio, nil
}

// selectionLosses adds up what the selections are worth on which two runs differ.
type selectionLosses struct{ epsilon, rho float64 }

// add takes in one call, whose scores are this part of their sensitivity apart. The loss of a
// selection is at most that part of its epsilon.
func (s *selectionLosses) add(c mech.Call, ratio float64) {
	if c.Sensitivity.Norm() != 0 {
		return
	}
	width, _ := c.Parameter.Float64()
	e := ratio * 2 * float64(c.Scoring.Sensitivity) / width
	if c.Scoring.Monotone {
		e /= 2
	}
	rounds := 1.0
	fmt.Sscanf(c.Mechanism, "top %f,", &rounds)
	s.epsilon += rounds * e
	s.rho += rounds * e * e / 8 // at least, whatever the mechanism
}

// checkCharged checks that charges cover the selections.
func (s *selectionLosses) checkCharged(charges []ledger.Charge) error {
	var charged dp.Cost
	for _, c := range charges {
		charged = charged.Add(c.Cost)
	}
	const rounding = 1 + 1e-9
	if charged.Epsilon != dp.Unbounded && s.epsilon > charged.Epsilon.Float()*rounding {
		return fmt.Errorf("epsilon %v was charged for selections on which one person is worth %.4g", charged.Epsilon, s.epsilon)
	}
	if charged.Rho != dp.Unbounded && s.rho > charged.Rho.Float()*rounding {
		return fmt.Errorf("rho %v was charged for selections on which one person is worth %.4g", charged.Rho, s.rho)
	}
	return nil
}

// peopleOptions are options to plan a question with as it is where how many people there are is
// public. Any number will do: what is bought does not depend on it.
func peopleOptions(ds *policy.Dataset) (o planner.Options) {
	if ds.CountsEverybody() != nil {
		o.People = func() (int64, error) { return 1, nil }
	}
	return o
}

// judgePublic compares what comes of a question whose answer is public: it is there on both sides,
// to the byte, and nothing was charged, computed or drawn for it.
func judgePublic(a, b outcome) error {
	for _, o := range []outcome{a, b} {
		if o.panicked || o.err != "" || o.answer == nil {
			return errors.New("a public answer is missing: " + o.err)
		}
		if len(o.charges) != 0 || len(o.calls) != 0 || o.drawn != 0 || len(o.events) != 0 {
			return errors.New("a public answer is charged, is computed, or has noise")
		}
	}
	return judgeAnswers(nil, a.answer, b.answer, false)
}
