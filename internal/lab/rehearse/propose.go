package rehearse

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/planner"
	"github.com/discreet-dp/discreet/internal/planner/tree"
)

// Proposal is the limits with the least error of those that were tried, at the price of the
// question. They were chosen by looking at the data.
type Proposal struct {
	Limits string `json:"limits"` // in words; empty where those of the policy are the best
	// MaxRows, MaxGroups and MaxSum are those of the proposal; 0 and empty where the question does
	// not depend on them.
	MaxRows   int64           `json:"max_rows,omitempty"`
	MaxGroups int64           `json:"max_groups,omitempty"`
	MaxSum    string          `json:"max_sum,omitempty"`
	Errors    []ProposedError `json:"errors"`
}

// ProposedError is how far off a column is over all groups: the root of the mean square of its bias
// and its noise, under the limits of the policy and under those of the proposal. A group that is
// hardly shown counts as 0.
type ProposedError struct {
	Column string  `json:"column"`
	Today  float64 `json:"today"`
	Then   float64 `json:"then"`
}

// limits are those of a question, in its settings.
type limits struct {
	rows, groups int64
	sum          *big.Rat
}

// search looks for the limits with the least error.
type search struct {
	world
	ctx   context.Context
	q     api.Question
	exact *view
	today []float64 // the errors of the columns under the policy

	best   limits
	least  float64 // the geometric mean of the errors, in parts of today's
	errors []float64
}

// propose tries limits, one after the other.
func (r *Rehearsal) propose(ctx context.Context, q api.Question, exact *view) (*Proposal, error) {
	today, err := r.asked.look(ctx, q, true)
	if err != nil {
		return nil, err
	}
	s := &search{world: r.unlimited, ctx: ctx, q: q, exact: exact, today: exact.errorsOf(today), least: 1}
	if !slices.ContainsFunc(s.today, func(e float64) bool { return e > 0 }) {
		return nil, nil // there are no numbers
	}
	s.errors = s.today
	now, most := limitsOf(today.plan), limitsOf(exact.plan)
	if most.rows == 1 && most.groups == 1 && len(sumsTried(exact.plan, 1)) == 0 {
		return nil, nil // nothing limits it
	}
	s.best = now
	for range 2 { // what is best of one depends on the other
		for _, n := range tried(now.groups, most.groups) {
			r.tell(fmt.Sprintf("trying max_groups %d", n))
			if err := s.try(limits{s.best.rows, n, nil}); err != nil {
				return nil, err
			}
		}
		for _, n := range tried(now.rows, most.rows) {
			r.tell(fmt.Sprintf("trying max_rows %d", n))
			if err := s.try(limits{n, s.best.groups, nil}); err != nil {
				return nil, err
			}
		}
	}
	groups := s.best.groups
	for _, rows := range []int64{now.rows, most.rows} { // a limit on sums may do without one on rows
		for _, sum := range sumsTried(exact.plan, rows) {
			r.tell("trying max_sum " + decimal(sum))
			if err := s.try(limits{rows, groups, sum}); err != nil {
				return nil, err
			}
		}
	}
	return s.proposal(now, most), nil
}

// try keeps limits that are better by more than nothing.
func (s *search) try(l limits) error {
	q := s.q
	q.Settings.MaxRows, q.Settings.MaxGroups, q.Settings.MaxSum = l.rows, l.groups, l.sum
	v, err := s.look(s.ctx, q, true)
	var refused *api.Refusal
	if errors.As(err, &refused) {
		return nil // nobody could ask it in this way
	}
	if err != nil {
		return err
	}
	const better = 0.99
	all, sum, n := s.exact.errorsOf(v), 0.0, 0.0
	for i, e := range all {
		if s.today[i] > 0 {
			sum, n = sum+math.Log(e/s.today[i]), n+1
		}
	}
	if mean := math.Exp(sum / n); mean < better*s.least {
		s.best, s.least, s.errors = l, mean, all
	}
	return nil
}

// proposal is what was found.
func (s *search) proposal(now, most limits) *Proposal {
	out := &Proposal{}
	for i, name := range s.exact.columns {
		if s.today[i] > 0 {
			out.Errors = append(out.Errors, ProposedError{name, s.today[i], s.errors[i]})
		}
	}
	var words []string
	if most.rows > 1 {
		out.MaxRows = s.best.rows
		words = append(words, fmt.Sprintf("max_rows %d", out.MaxRows))
	}
	if most.groups > 1 {
		out.MaxGroups = s.best.groups
		words = append(words, fmt.Sprintf("max_groups %d", out.MaxGroups))
	}
	if s.best.sum != nil {
		out.MaxSum = decimal(s.best.sum)
		words = append(words, "max_sum "+out.MaxSum)
	}
	if s.best.rows != now.rows || s.best.groups != now.groups || s.best.sum != nil {
		out.Limits = strings.Join(words, ", ")
	}
	return out
}

// errorsOf is how far off each column is over all groups, under a policy.
func (exact *view) errorsOf(v *view) []float64 {
	out := make([]float64, len(exact.columns))
	for at := range out {
		sum, n := 0.0, 0.0
		for key, one := range exact.rows {
			is := one.values[at]
			if is == nil {
				continue
			}
			n++
			if bias := difference(v.value(key, at), is); bias != nil {
				sum += *bias**bias + v.rows[key].variances[at]
			} else {
				sum += *is * *is
			}
		}
		if n > 0 {
			out[at] = math.Sqrt(sum / n)
		}
	}
	return out
}

// limitsOf are the largest of a statement's questions.
func limitsOf(st *planner.Statement) limits {
	l := limits{rows: 1, groups: 1}
	for _, p := range st.Plans {
		if p.Query.Bounded() {
			l.rows, l.groups = max(l.rows, p.Query.MaxRows()), max(l.groups, p.Query.MaxGroups())
		}
	}
	return l
}

// tried are limits up to the largest: three for each ten times as much, and today's.
func tried(now, most int64) []int64 {
	out := []int64{min(now, most), most}
	for ten := int64(1); ten <= most; ten *= 10 {
		out = append(out, ten, 2*ten, 3*ten, 5*ten)
	}
	slices.Sort(out)
	return slices.DeleteFunc(slices.Compact(out), func(n int64) bool { return n > most })
}

// sumsTried are limits on what one person adds to the SUMs of a statement: halves of the most that
// so many rows come to, with two digits.
func sumsTried(st *planner.Statement, rows int64) (out []*big.Rat) {
	most := 0.0
	for _, p := range st.Plans {
		for _, s := range p.Stats {
			m := p.Query.Measures
			if s.Kind != tree.MeasureStat || m[s.Measure].Kind != tree.Sum {
				continue
			}
			t := m[s.Measure].Arg.Type()
			far := new(big.Rat).SetInt(new(big.Int).Abs(t.Lo))
			if high := new(big.Rat).SetInt(new(big.Int).Abs(t.Hi)); high.Cmp(far) > 0 {
				far = high
			}
			reach, _ := far.Mul(far, t.Step).Float64()
			most = max(most, reach*float64(rows))
		}
	}
	const halvings = 10
	for range halvings {
		most /= 2
		if sum, ok := new(big.Rat).SetString(strconv.FormatFloat(most, 'e', 1, 64)); ok && sum.Sign() > 0 {
			out = append(out, sum)
		}
	}
	return out
}
