package sample

import (
	"fmt"
	"testing"

	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/plan/tree"
	"github.com/discreet-dp/discreet/policy"
)

// Plan is the plan of a text that is one question, with nothing around it; or why there is none.
func Plan(ds *policy.Dataset, text string) (*tree.Plan, error) {
	s, err := plan.Prepare(ds, text, plan.Options{})
	if err != nil {
		return nil, err
	}
	if len(s.Plans) != 1 || s.Outer != nil {
		return nil, fmt.Errorf("%d questions, or something around them", len(s.Plans))
	}
	return s.Plans[0], nil
}

// MustPlan is [Plan] of a text that is not refused.
func MustPlan(t testing.TB, ds *policy.Dataset, text string) *tree.Plan {
	t.Helper()
	p, err := Plan(ds, text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return p
}
