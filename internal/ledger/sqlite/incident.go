package sqlite

import (
	"context"
	"errors"
	"github.com/discreet-dp/discreet/ledger"
)

// Fail implements [ledger.Ledger].
func (l *Ledger) Fail(ctx context.Context, i ledger.Incident) (tell bool, err error) {
	if err := i.Validate(); err != nil {
		return false, err
	}
	_, err = l.submit(ctx, &request{decide: func(g *group) (ledger.Receipt, error) {
		tell = !g.state.Closed(i.Dataset, i.Analyst)
		if answer, _ := g.state.AnswerOf(i.Charge); answer != 0 && g.state.Failed(i.Charge) {
			return ledger.Receipt{}, nil
		}
		return ledger.Receipt{}, g.add(nil, g.state.Incident(i, g.now()))
	}})
	var failed *ledger.WriteError
	if errors.As(err, &failed) {
		failed.Charged = true // what it is about was charged before
	}
	return tell && err == nil, err
}

// Died implements [ledger.Ledger]. A dataset with a charge whose question was canceled stays one of
// them: what a process was doing when it died is written nowhere else, and to write it would cost
// every question a commit. A charge that paid for a session never has an answer; what counts there
// is that questions of sessions have reached the engine since the last crash that was counted,
// which a process notes once.
func (l *Ledger) Died() []string {
	if !l.died || l.enter(background) != nil {
		return nil
	}
	defer l.leave()
	return l.state.Unanswered()
}

// Door implements [ledger.Ledger].
func (l *Ledger) Door(ctx context.Context, dataset, analyst string) (ledger.Door, error) {
	if err := l.enter(ctx); err != nil {
		return ledger.Door{}, err
	}
	defer l.leave()
	return l.state.Door(dataset, analyst), nil
}
