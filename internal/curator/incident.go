package curator

import (
	"context"
	"errors"
	"time"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/engine"
	"github.com/discreet-dp/discreet/internal/releaseclock"
	"github.com/discreet-dp/discreet/internal/session/sessionhost"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/policy"
)

// incidents records what went wrong after a charge, and says to whom the dataset is closed by that.
type incidents struct {
	dataset *policy.Dataset
	ledger  ledger.Ledger
	tell    func(api.Incident) // who is told of incidents, or nil
}

// OnIncident says who is told of incidents, when they are on stable storage; also of those under a
// lockout, which are in no ledger. It is set before the curator is used.
func (c *Curator) OnIncident(tell func(api.Incident)) { c.incidents.tell = tell }

// Failed takes in what went wrong after a charge, and returns what is told: the error that it is
// given, where nothing but a failure may be told.
//
// Whether an engine fails can depend on the data, and no noise is on it. So a failure is an
// incident: it is in the ledger before anybody is told of it, and can lock out. Where the ledger
// cannot take it, its error is told, which is the one that an answer would have got.
//
// A question that was stopped because whoever asked did not wait, by a cancel, by hanging up or by
// a timeout of their own, is no failure. It tells whether it was done by a moment that they chose,
// and they could have waited and seen when it is done, which tells that for all moments at once: no
// more than time does. It has to be the engine that says it was stopped, and not the context: an
// engine that fails by itself has failed, whoever cancels afterwards.
func (n *incidents) Failed(ctx context.Context, analyst string, charge uint64, cause, told error) error {
	failure, ok := failureOf(ctx, cause)
	if !ok {
		return told
	}
	borne := n.dataset.FailureLimits()
	ctx = context.WithoutCancel(ctx)
	tell, err := n.ledger.Fail(ctx, ledger.Incident{
		Analyst: analyst, Dataset: n.dataset.Name, Charge: charge, Failure: failure, ByAnalyst: borne.Analyst, ByDataset: borne.Dataset,
	})
	if err != nil {
		return err
	}
	if n.tell != nil {
		lockout, err := n.ledger.Lockout(ctx, n.dataset.Name, analyst)
		n.tell(api.Incident{Analyst: analyst, Dataset: n.dataset.Name, Charge: charge, Failure: failure, Closed: lockout.Closed ||
			err != nil})
	}
	if !tell {
		// Under a lockout what fails and what does not are told the same.
		return &ledger.LockoutError{Dataset: n.dataset.Name, Charged: true}
	}
	return told
}

// failureOf says how a question failed, and false where whoever asked stopped it.
func failureOf(ctx context.Context, cause error) (ledger.Failure, bool) {
	stopped := engine.EndingOf(cause) == engine.Stopped || cause == context.Canceled || cause == context.DeadlineExceeded
	switch {
	case errors.Is(cause, sessionhost.ErrPanic):
		return ledger.FailedPanic, true
	case errors.Is(cause, releaseclock.ErrLate):
		return ledger.FailedTime, true
	case engine.EndingOf(cause) == engine.Memory:
		return ledger.FailedMemory, true
	case stopped && errors.Is(context.Cause(ctx), api.ErrTimeLimit):
		return ledger.FailedTime, true
	case stopped && ctx.Err() != nil:
		return "", false
	}
	return ledger.FailedError, true
}

// Closed returns a [*ledger.LockoutError] where an analyst is locked out. Charges and answers
// are refused by the ledger; this is for what is neither. Charged says that something was, for this
// question. One that has looked at data waits: whether it was done when the lockout began must not
// decide what becomes of it.
func (n *incidents) Closed(ctx context.Context, analyst string, charged bool) error {
	releaseclock.Settle(ctx)
	lockout, err := n.ledger.Lockout(ctx, n.dataset.Name, analyst)
	if err != nil {
		return err
	}
	if lockout.Closed {
		return &ledger.LockoutError{Dataset: n.dataset.Name, Charged: charged}
	}
	return nil
}

// ClosedAt reports whether a lockout held at a moment; now, where that is zero. What closed
// after the last tick has not been told yet, and a price that told it would tell when, to the
// microsecond.
func (n *incidents) ClosedAt(ctx context.Context, analyst string, at time.Time) (bool, error) {
	lockout, err := n.ledger.Lockout(ctx, n.dataset.Name, analyst)
	return lockout.Closed && (at.IsZero() || !lockout.Since.After(at)), err
}
