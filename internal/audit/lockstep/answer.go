package lockstep

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/exact"
	"github.com/discreet-dp/discreet/internal/plan/tree"
	"github.com/discreet-dp/discreet/mech"
)

// judgeAnswers compares the shapes of two answers, and the answers where no exact value differs.
func judgeAnswers(p *tree.Plan, a, b *api.Answer, moved bool) error {
	if !slices.Equal(a.Columns, b.Columns) {
		return fmt.Errorf("the columns are %v against %v", a.Columns, b.Columns)
	}
	if a.Cost != b.Cost || a.Remaining != b.Remaining || a.Receipt != b.Receipt || a.MaxRows != b.MaxRows || a.MaxGroups != b.MaxGroups ||
		a.Cut != b.Cut || a.Version != b.Version {
		return fmt.Errorf("the cost is %v and %v remains, against %v and %v", a.Cost, a.Remaining, b.Cost, b.Remaining)
	}
	for _, x := range []*api.Answer{a, b} {
		if err := checkWellFormed(x); err != nil {
			return err
		}
	}
	if !moved {
		if shownAnswer(a) != shownAnswer(b) {
			return errors.New("no exact value that noise is added to differs, and the answers do")
		}
		return nil
	}
	if p == nil || p.Having != nil || len(p.Order) > 0 || p.Query.Choice != nil {
		return nil // which rows there are, and in which order, is made of noisy values
	}
	if len(a.Rows) != len(b.Rows) {
		return fmt.Errorf("there are %d rows against %d", len(a.Rows), len(b.Rows))
	}
	for i := range a.Rows {
		for j, c := range a.Columns {
			if !c.Noisy && a.Rows[i][j] != b.Rows[i][j] {
				return fmt.Errorf("row %d has the key %v against %v", i+1, a.Rows[i][j], b.Rows[i][j])
			}
			// What is computed of several noisy values has an error bar that is too; those of
			// counts and sums are public.
			if c.Noisy && !c.Approximate && *a.Errors[i][j] != *b.Errors[i][j] {
				return fmt.Errorf("row %d of %s has the error %v against %v", i+1, c.Name, *a.Errors[i][j], *b.Errors[i][j])
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
				return fmt.Errorf("row %d of %s holds something that is no number", i+1, c.Name)
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

// checkSameNoise checks that the counts and sums of two answers are exactly as far apart as the exact
// values below them. The noise was the same, so a distance that is another means that
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
		want, _ := exact.Between(a.calls[measure].Values, b.calls[measure].Values)
		got, ok := exact.Between(mech.Exactly(x...), mech.Exactly(y...))
		if !ok || got.L1.Cmp(want.L1) != 0 || got.L2Squared.Cmp(want.L2Squared) != 0 || got.Up != want.Up || got.Down != want.Down {
			return fmt.Errorf("the noise of %s is the same, and the answers are not as far apart as the exact values", o.Name)
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
