package planner_test

import (
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/planner"
	"github.com/discreet-dp/discreet/internal/planner/syntax"
	"github.com/discreet-dp/discreet/internal/test/golden"
	"github.com/discreet-dp/discreet/policy"
)

// TestHoldout runs testdata/holdout/questions.txt, in the form of TestData.
func TestHoldout(t *testing.T) {
	p, err := policy.Load("testdata/holdout/trial.yaml")
	if err != nil {
		t.Fatal(err)
	}
	golden.Run(t, "testdata/holdout/questions.txt", func(question string) string {
		return holdoutOutcome(p.Datasets["trial"], question)
	})
}

func holdoutOutcome(ds *policy.Dataset, text string) string {
	if !planner.AsksHoldout(syntax.Open(text, nil)) {
		return "asks no holdout\n"
	}
	// Beside it no question has the function.
	if _, err := planner.Prepare(ds, text, planner.Options{Public: tables{}}); err == nil {
		return "IS A QUESTION TOO\n"
	}
	h, err := planner.PrepareHoldout(ds, syntax.Open(text, nil), "", planner.Options{})
	if err != nil {
		return refusal(text, err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s as %s: %s\n", h.Of.Name, h.Name, h.Describe())
	q := &h.Query
	lo, hi := q.Interval(q.Measures[0])
	fmt.Fprintf(&b, "%s within [%v, %v] times %d, moves by %v\n", q.Measures[0].Format(), lo, hi, h.Factor,
		q.Sensitivity(q.Measures[0], dp.L1))
	if q.Public() || q.Bounded() {
		b.WriteString("NOT PRIVATE, OR MORE THAN A ROW A PERSON\n")
	}
	if h.Training != nil {
		fmt.Fprintf(&b, "training %s\n", h.Training.RatString())
	}
	if h.Train != nil {
		fmt.Fprintf(&b, "training by %s from %s, public %v\n", h.Train.Measures[0].Format(), h.Of.Train, h.Train.Public())
	}
	return b.String()
}

// FuzzHoldout looks for texts that make the planner fail, or that give a holdout something else
// than one row a person with values from 0 to 1.
func FuzzHoldout(f *testing.F) {
	p, err := policy.Load("testdata/holdout/trial.yaml")
	if err != nil {
		f.Fatal(err)
	}
	ds := p.Datasets["trial"]
	for _, c := range readCases(f, "testdata/holdout/questions.txt")[1:] {
		text, _, _ := strings.Cut(c, "\n----\n")
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !planner.AsksHoldout(syntax.Open(text, nil)) {
			return
		}
		h, err := planner.PrepareHoldout(ds, syntax.Open(text, nil), "", planner.Options{})
		if err != nil {
			return
		}
		m := h.Query.Measures[0]
		moves := h.Query.Sensitivity(m, dp.L1).L1()
		if lo, _ := h.Query.Interval(m); lo.Sign() < 0 || moves.Mul(moves, big.NewInt(h.Factor)).Cmp(big.NewInt(h.Of.Steps)) > 0 ||
			len(h.Query.Measures) != 1 || len(h.Query.Keys) != 0 || h.Query.Where != nil || h.Query.Public() {
			t.Errorf("%q: %s", text, h.Query.Format())
		}
		if h.Train != nil && !h.Train.Public() {
			t.Errorf("%q: the training value is of private rows", text)
		}
	})
}
