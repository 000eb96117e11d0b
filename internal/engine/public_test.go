package engine_test

import (
	"context"
	"errors"
	"testing"

	"github.com/discreet-dp/discreet/internal/engine"
	"github.com/discreet-dp/discreet/internal/planner"
	"github.com/discreet-dp/discreet/internal/planner/syntax"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/internal/sealed"
	"github.com/discreet-dp/discreet/policy"
)

// counting answers every query with 7s.
type counting struct{ engine.Engine }

func (counting) Run(_ context.Context, q *tree.Query) (*engine.Result, error) {
	r := &engine.Result{}
	for range q.Measures {
		r.Measures = append(r.Measures, sealed.Seal([]int64{7}))
	}
	return r, nil
}

// Only what is about public rows is opened.
func TestRunPublic(t *testing.T) {
	p, err := policy.Load("../planner/testdata/holdout/trial.yaml")
	if err != nil {
		t.Fatal(err)
	}
	h, err := planner.PrepareHoldout(p.Datasets["trial"], syntax.Open("SELECT holdout_mean(ill) FROM rows", nil), "", planner.Options{})
	if err != nil {
		t.Fatal(err)
	}
	sums, err := engine.RunPublic(context.Background(), counting{}, h.Train)
	if err != nil || len(sums) != 2 || sums[0] != 7 {
		t.Error(sums, err)
	}
	if sums, err := engine.RunPublic(context.Background(), counting{}, &h.Query); !errors.Is(err, engine.ErrPrivate) || sums != nil {
		t.Error(sums, err)
	}
	st, err := planner.Prepare(p.Datasets["trial"], "SELECT COUNT(*) FROM visits v JOIN train t ON t.age > 3", planner.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if sums, err := engine.RunPublic(context.Background(), counting{}, &st.Plans[0].Query); !errors.Is(err, engine.ErrPrivate) ||
		sums != nil {
		t.Error(sums, err)
	}
}
