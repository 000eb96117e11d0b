package neighbours

import (
	"fmt"
	"math"
	"math/big"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/engine"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/internal/sealed"
)

// Judge compares the results of a query on two neighbouring databases. It returns how far they are
// apart, as a part of what the query allows, and what one person has changed and must not.
func Judge(q *tree.Query, a, b *engine.Result) (ratio float64, err error) {
	j := judge{q: q, a: keyCombinations(q, a), b: keyCombinations(q, b)}
	if len(a.Measures) != len(q.Measures) || len(b.Measures) != len(q.Measures) || len(a.Values) != len(q.Measures) ||
		len(b.Values) != len(q.Measures) {
		return 0, fmt.Errorf("there are %d and %d measures, and %d were asked for", len(a.Measures), len(b.Measures), len(q.Measures))
	}
	if len(q.PrivateKeys()) > 0 {
		if err := j.persons(a.Persons, b.Persons); err != nil {
			return 0, err
		}
		if err := j.members(a.Members, b.Members); err != nil {
			return j.ratio, err
		}
	}
	for m, measure := range q.Measures {
		switch {
		case measure.Kind == tree.Quantile:
			err = j.values(a.Values[m], b.Values[m])
		case q.Choice != nil:
			err = j.scores(measure, a.Measures[m], b.Measures[m])
		default:
			err = j.vector(measure, a.Measures[m], b.Measures[m])
		}
		if err == nil && m == q.Decider() {
			err = j.persons(a.Measures[m], b.Measures[m])
		}
		if err != nil {
			return j.ratio, fmt.Errorf("%s: %w", measure.Describe(), err)
		}
	}
	for _, pair := range q.Twins() {
		if err := j.twins(pair, a, b); err != nil {
			return j.ratio, err
		}
	}
	return j.ratio, nil
}

// twins judges two sums that share what one person moves.
func (j *judge) twins(pair [2]int, a, b *engine.Result) error {
	both := new(big.Int)
	for _, m := range pair {
		move, err := j.between(a.Measures[m], b.Measures[m])
		if err != nil {
			return err
		}
		both.Add(both, move.L1)
	}
	return j.noteDistance(both, j.q.TwinSensitivity(pair).L1(), "two sums together (l1)")
}

type judge struct {
	q     *tree.Query
	a, b  []string // the combinations of private keys, spelled; one where there are none
	ratio float64
}

func keyCombinations(q *tree.Query, r *engine.Result) []string {
	if len(q.PrivateKeys()) == 0 {
		return []string{""}
	}
	places := make([]int, r.Persons.Len())
	for i := range places {
		places[i] = i
	}
	out := make([]string, len(places))
	for i, c := range r.Combos.Pick(places) {
		for _, v := range c {
			out[i] += fmt.Sprintf("%v %q %d ", v.Null, v.Text, v.Int)
		}
	}
	return out
}

// people is how many people differ: one who is there or not, or two.
func (j *judge) people() int64 {
	if j.q.Neighbours == dp.Substitute {
		return 2
	}
	return 1
}

// noteDistance takes note of a distance and its bound.
func (j *judge) noteDistance(distance, bound *big.Int, what string) error {
	if bound.Sign() > 0 {
		r, _ := new(big.Rat).SetFrac(distance, bound).Float64()
		j.ratio = max(j.ratio, r)
	}
	if distance.Cmp(bound) > 0 {
		return fmt.Errorf("one person moves %s by %v, and at most %v is allowed", what, distance, bound)
	}
	return nil
}

func (j *judge) between(a, b sealed.Vector) (sealed.Difference, error) {
	m, ok := sealed.BetweenNamed(a, b, j.a, j.b, j.q.Groups())
	if !ok {
		return m, fmt.Errorf("there are %d and %d values, for %d and %d combinations of %d groups", a.Len(), b.Len(), len(j.a),
			len(j.b), j.q.Groups())
	}
	return m, nil
}

func (j *judge) vector(m tree.Measure, a, b sealed.Vector) error {
	move, err := j.between(a, b)
	if err != nil {
		return err
	}
	if err := j.noteDistance(move.L1, j.q.Sensitivity(m, dp.L1).L1(), "the vector (l1)"); err != nil {
		return err
	}
	if err := j.noteDistance(move.Largest, j.q.Sensitivity(m, dp.L1).Each(), "one group"); err != nil {
		return err
	}
	return j.noteDistance(move.L2Squared, j.q.Sensitivity(m, dp.L2).L2Squared(), "the vector (l2 squared)")
}

// scores judges what a selection is made by: each group on its own, before its weight, which is
// public.
func (j *judge) scores(m tree.Measure, a, b sealed.Vector) error {
	move, err := j.between(a, b)
	if err != nil {
		return err
	}
	lo, hi := j.q.Interval(m)
	bound := new(big.Int).Sub(hi, lo)
	if j.q.Neighbours == dp.AddRemove {
		if bound.Neg(lo); bound.Cmp(hi) < 0 {
			bound = hi
		}
	}
	return j.noteDistance(move.Largest, bound, "a score")
}

func (j *judge) persons(a, b sealed.Vector) error {
	move, ok := sealed.BetweenNamed(a, b, j.a, j.b, 1)
	if !ok {
		return fmt.Errorf("combinations without people")
	}
	if err := j.noteDistance(move.Largest, big.NewInt(1), "the people in a combination of keys"); err != nil {
		return err
	}
	return j.noteDistance(move.L1, big.NewInt(j.people()*j.q.MaxGroups()), "the people in all combinations of keys")
}

// members judges what people are weighed by: one of them is there or not, or is in other
// combinations, and all others stand as they did.
func (j *judge) members(a, b sealed.Members) error {
	went, came, most, ok := sealed.CompareMembers(a, b, j.a, j.b)
	if !ok {
		return fmt.Errorf("one person moves others among those who are weighed, or is several of them")
	}
	if int64(most) > j.q.MaxGroups() {
		return fmt.Errorf("somebody is weighed in %d combinations, of %d", most, j.q.MaxGroups())
	}
	return j.noteDistance(big.NewInt(int64(went+came)), big.NewInt(j.people()), "the people who are weighed")
}

func (j *judge) values(a, b []sealed.Vector) error {
	size := j.q.Groups()
	if len(a) != len(j.a)*size || len(b) != len(j.b)*size {
		return fmt.Errorf("values of %d and %d groups, for %d and %d combinations of %d groups", len(a), len(b), len(j.a), len(j.b), size)
	}
	type pair struct{ a, b sealed.Vector }
	all := map[string]pair{}
	for i, v := range a {
		all[fmt.Sprint(j.a[i/size], i%size)] = pair{a: v}
	}
	for i, v := range b {
		name := fmt.Sprint(j.b[i/size], i%size)
		all[name] = pair{all[name].a, v}
	}
	moved := int64(0)
	for _, p := range all {
		n := sealed.Apart(p.a, p.b)
		if n > 0 {
			moved++
		}
		if err := j.noteDistance(big.NewInt(int64(n)),
			new(big.Int).Mul(big.NewInt(j.people()), big.NewInt(min(j.q.MaxRows(), math.MaxInt32))),
			"the values of a group"); err != nil {
			return err
		}
	}
	return j.noteDistance(big.NewInt(moved), big.NewInt(j.people()*j.q.MaxGroups()), "groups of values")
}
