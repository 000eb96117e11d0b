package rehearse

import (
	"context"
	"errors"
	"slices"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/curator/budgets"
	"github.com/discreet-dp/discreet/internal/curator/pricing"
	"github.com/discreet-dp/discreet/internal/engine"
	"github.com/discreet-dp/discreet/internal/ledger/memledger"
	"github.com/discreet-dp/discreet/internal/planner"
	"github.com/discreet-dp/discreet/internal/planner/syntax"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/policy"
)

// world is a policy, and an engine that has the data. An engine moves values into the bounds of the
// policy that it was opened by, so bounds that are wider have an engine of their own.
type world struct {
	*policy.Dataset
	engine pinned
}

// price plans a question and calibrates its noise, as a curator does that nobody has asked before.
func (w world) price(ctx context.Context, q api.Question) (*pricing.Priced, error) {
	s, err := pricing.Settings(q)
	if err != nil {
		return nil, err
	}
	o := planner.Options{MaxRows: s.MaxRows, MaxGroups: s.MaxGroups, MaxSum: s.MaxSum, Public: engine.PublicTables(ctx, w.engine)}
	if count := planner.CountPeople(w.Dataset); count != nil {
		o.People = func() (int64, error) {
			n, _, err := engine.RunPeople(ctx, w.engine, w.Dataset, count)
			return n, err
		}
	}
	text := syntax.Open(q.SQL, q.Parsed)
	if planner.AsksHoldout(text) {
		return nil, &inexact{"it asks a holdout"}
	}
	st, err := planner.PrepareText(w.Dataset, text, o)
	if err != nil {
		return nil, err
	}
	if reason := whyInexact(st); reason != "" {
		return nil, &inexact{reason}
	}
	var both []*pricing.Priced
	for _, in := range pricing.Currencies(w.Budget, s) {
		p, failed := pricing.Price(w.Dataset, st, s, in)
		if failed != nil {
			err = failed
			continue
		}
		both = append(both, p)
	}
	switch len(both) {
	case 0:
		return nil, err
	case 1:
		return both[0], nil
	}
	pure, other := pricing.Cost(both[0].Purchases), pricing.Cost(both[1].Purchases)
	parts, err := budgets.New(w.Dataset, memledger.New()).Takes(ctx, analyst, 0, pure, other)
	if err != nil {
		return nil, err
	}
	if pricing.Sharper(both[0], both[1], parts[0], parts[1]) {
		return both[0], nil
	}
	return both[1], nil
}

// whyInexact says why no exact figures can be had for a statement, or nothing.
func whyInexact(st *planner.Statement) string {
	switch {
	case st.Empty || st.Free():
		return "its answer has no noise: it follows from the policy and public tables; if you expect rows, " +
			"look whether bounds are too narrow"
	case st.Outer != nil:
		return "it computes with noisy answers; rehearse the SELECT inside of it by itself"
	}
	for _, p := range st.Plans {
		switch {
		case p.Query.Choice != nil || len(p.Within) > 0:
			return "it chooses groups by noisy numbers"
		case slices.ContainsFunc(p.Query.Measures, func(m tree.Measure) bool { return m.Kind == tree.Quantile }):
			return "quantiles have an error in ranks, and none in values"
		}
	}
	return ""
}

// inexact says in words why a question has no exact figures here.
type inexact struct{ reason string }

func (e *inexact) Error() string { return e.reason }

// whyNot is the reason of an error that says that there are no exact figures.
func whyNot(err error) (reason string, ok bool) {
	var none *inexact
	if errors.As(err, &none) {
		return none.reason, true
	}
	return "", false
}
