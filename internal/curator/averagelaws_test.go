package curator_test

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/curator/pricing"
	"github.com/discreet-dp/discreet/internal/test/curatortest"
)

const lawsBudget = "{epsilon: 100, delta: 1e-6, noise: gaussian, per_query: {default: 1, max: 100}}"

// squares are so many averages whose noises and bounds are those of the first, times an odd factor,
// so that each has a law of its own, and all have bars that are in proportion.
func squares(n int) []string {
	var out []string
	for k := range n {
		out = append(out, fmt.Sprintf("AVG(cost*cost*%d)", 101+2*k))
	}
	return out
}

// Only the first averages of an answer, and of a price, have bars that take long to compute, and
// which do follows from their order alone.
func TestAverageLawsAreFew(t *testing.T) {
	w := curatortest.New(t, lawsBudget)
	all := squares(pricing.MostLaws + 6)
	ask := func(columns []string) (*api.Explanation, *api.Answer) {
		q := api.Question{Analyst: "ana", SQL: "SELECT " + strings.Join(columns, ", ") + " FROM visits", Request: curatortest.FreshID()}
		q.Settings.Confidence = 0.9999
		e, err := w.Explain(ctx, q)
		w.Check(err)
		a, err := w.Ask(ctx, q)
		w.Check(err)
		return e, a
	}
	e, a := ask(all)
	one := func(i int) float64 { // in parts of the width
		of := e.Questions[0].Averages[i]
		return of.ErrorOfOne / of.ErrorMost
	}
	for i := range all {
		if of := one(i) / one(0); (i < pricing.MostLaws) != (of < 1.001) || (i >= pricing.MostLaws) != (of > 1.02) {
			t.Errorf("average %d of one value is off by %v times as much as the first", i, of)
		}
	}
	var pairs []string // each has two laws
	for i := 0; i < len(all); i += 2 {
		pairs = append(pairs, all[i]+" + "+all[i+1])
	}
	for _, columns := range [][]string{all, pairs} {
		last := len(columns) - 1
		_, a := ask(columns)
		_, b := ask(append([]string{columns[last]}, columns[:last]...))
		if wide, narrow := *a.Errors[0][last], *b.Errors[0][0]; wide < 1.02*narrow {
			t.Errorf("%s is within %v as the last column and within %v as the first", columns[last], wide, narrow)
		}
	}
	_, again := ask(all)
	for i := range all {
		if !again.Receipt.Free || *again.Errors[0][i] != *a.Errors[0][i] {
			t.Errorf("average %d has another bar when its law is known: %v and %v", i, *again.Errors[0][i], *a.Errors[0][i])
		}
	}
}

// An answer with many averages hears that nobody waits, and a price of many has the error that was
// asked for, and none that is much smaller.
func TestAverageLawsOfMany(t *testing.T) {
	w := curatortest.New(t, lawsBudget)
	var columns []string
	averages := squares(12)
	for i := range averages {
		columns = append(columns, strings.Join(averages[:i+1], " + "))
	}
	q := api.Question{Analyst: "ana", Request: curatortest.FreshID(),
		SQL: "SELECT " + strings.Join(columns, ", ") + " FROM visits GROUP BY CUBE(cost > 100, cost > 101, cost > 102)"}
	q.Settings.Confidence = 0.9998
	_, err := w.Ask(ctx, q)
	w.Check(err)
	canceled, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := w.Ask(canceled, q); !errors.Is(err, context.Canceled) {
		t.Errorf("who went away got %v", err)
	}
	priced := api.Question{Analyst: "ana", SQL: "SELECT " + strings.Join(squares(40), ", ") +
		" FROM visits GROUP BY CUBE(cost > 100, cost > 101, cost > 102)"}
	priced.Settings.Error, priced.Settings.Values = big.NewRat(1_000_000_000, 1), 100
	worst := 0.0
	e, err := w.Explain(ctx, priced)
	w.Check(err)
	for _, of := range e.Questions {
		for _, a := range of.Averages {
			worst = max(worst, a.ErrorOfOne/100)
		}
	}
	if worst > 1e9 || worst < 0.998e9 {
		t.Errorf("averages are off by %v", worst)
	}
}
