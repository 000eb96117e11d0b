// Package problem says what an error means to whoever asked: of what kind it is, whether something
// was charged, and in which words it may be told. All that tell errors to somebody, over HTTP, over
// the wire, to agents, by the exit code of a command and in the log, ask it, and have only their
// own numbers and words for each kind.
//
// The texts are made of the question, the policy and the ledger. An error that is not known is told
// in fixed words, because nobody knows what it holds.
package problem

import (
	"context"
	"errors"
	"time"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/ledger"
)

// Kind is what went wrong.
type Kind string

// What the text, the policy and what exists decide.
const (
	Refused     Kind = "refused"
	Disputed    Kind = "disputed" // refused, because two checks of ours do not agree about it
	Around      Kind = "around"   // a query over answers was stopped
	Priced      Kind = "priced"   // it was asked only where it is free, and is not
	NoSession   Kind = "no session"
	NoModel     Kind = "no model"
	Unsupported Kind = "unsupported"
)

// What the ledger decides, and its trouble.
const (
	Budget        Kind = "budget"
	StreamPart    Kind = "stream part" // the stream has paid for a part
	Closed        Kind = "closed"      // the dataset is, until its owner has released it
	Request       Kind = "request"     // its name was charged with something else
	Window        Kind = "window"      // the budget was renewed meanwhile
	Lapsed        Kind = "lapsed"      // the window that paid for it has ended
	Invalid       Kind = "invalid"
	LedgerFailed  Kind = "ledger failed" // it could not be written
	LedgerStopped Kind = "ledger stopped"
	LedgerDamaged Kind = "ledger damaged"
	Stale         Kind = "stale" // what an owner has signed does not fit any more
	Signature     Kind = "signature"
)

// What a server decides.
const (
	Limited     Kind = "limited"
	Ending      Kind = "ending"
	Opening     Kind = "opening"
	Revoked     Kind = "revoked"
	Unchecked   Kind = "unchecked" // nobody knows whether they may ask
	Withdrawn   Kind = "withdrawn" // before its turn
	Timeout     Kind = "timeout"
	Canceled    Kind = "canceled"
	Interrupted Kind = "interrupted" // a context was canceled, and nobody says whose
	Late        Kind = "late"        // the same at a deadline
	Internal    Kind = "internal"
)

// What becomes of sessions, and of the data.
const (
	Ended      Kind = "ended" // a session has, for good
	Data       Kind = "data"
	Labels     Kind = "labels"
	Moved      Kind = "moved"
	Changing   Kind = "changing"
	HoldoutRun Kind = "holdout run"
	Training   Kind = "training"
)

// Unexpected is everything else.
const Unexpected Kind = "unexpected"

// Spent says whether something was charged.
type Spent int8

// It is not known unless somebody says so, and not said of what charges nothing in any case.
const (
	Unknown Spent = iota
	Nothing
	Something
)

// Problem is what an error means.
type Problem struct {
	Kind   Kind
	Spent  Spent
	Detail string // what is wrong
	// Instead is what the error itself says that can be done. Listeners have words of their own for
	// most kinds.
	Instead  string
	Retry    time.Duration // after which it is worth to try again; 0 where nobody knows
	Position *int          // where in the text of the question, in bytes from 0; nil where that is not known
	Code     string        // the SQLSTATE of a refusal that has one
	Differs  string        // what is another one than that which was charged under the same name
	Price    *api.Explanation
	Before   string // what was charged before it; begins what is told
}

// Describer is an error that says itself what it means.
type Describer interface {
	error
	Problem() Problem
}

// New makes an error of a problem. It reads as its detail.
func New(p Problem) error { return &described{p} }

type described struct{ problem Problem }

func (d *described) Error() string    { return d.problem.Detail }
func (d *described) Problem() Problem { return d.problem }

// Of says what an error means. What stands around another error knows more than that, and counts;
// of errors that were joined the first one counts, because the others came of ending what it broke;
// but that nothing was spent is said only where none of them knows otherwise.
func Of(err error) Problem {
	if p := find(err, err); p.Kind != "" {
		return p
	}
	return Problem{Kind: Unexpected}
}

// find looks through an error from the outside in. Whole is the error around it that was not joined
// with others, with whatever was added to it in words.
func find(err, whole error) Problem {
	if d, ok := err.(Describer); ok {
		return d.Problem()
	}
	for _, of := range []func(err, whole error) Problem{ofQuestion, ofLedger, ofWrite, ofData, ofContext} {
		if p := of(err, whole); p.Kind != "" {
			return p
		}
	}
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		return find(e.Unwrap(), whole)
	case interface{ Unwrap() []error }:
		var first Problem
		for _, one := range e.Unwrap() {
			switch p := find(one, one); {
			case first.Kind == "":
				first = p
			case p.Kind != "" && first.Spent == Nothing:
				first.Spent = p.Spent
			}
		}
		return first
	}
	return Problem{}
}

// ofQuestion is for what is decided before anything is charged, or around answers.
func ofQuestion(err, _ error) Problem {
	switch e := err.(type) {
	case *api.Disagreement:
		p := ofQuestion(e.Unwrap(), nil)
		p.Kind = Disputed
		return p
	case *api.Refusal:
		p := Problem{Kind: Refused, Spent: Nothing, Detail: e.Reason, Instead: e.Instead, Code: e.Code}
		if e.Position >= 0 {
			p.Position = new(e.Position)
		}
		return p
	case *api.LimitsError:
		p := Of(e.Err)
		p.Spent, p.Before = Something, e.Paid()
		return p
	case *api.PriceError:
		return Problem{Kind: Priced, Spent: Nothing, Detail: e.Error(), Price: e.Explanation}
	case *api.AroundError:
		p := Problem{Kind: Around, Spent: Nothing, Detail: e.Error()}
		if e.Bought {
			p.Spent = Unknown // the answers inside may have been paid for before
		}
		return p
	}
	return Problem{}
}

// ofLedger is for what the ledger decides.
func ofLedger(err, whole error) Problem {
	switch e := err.(type) {
	case *ledger.BudgetError:
		return Problem{Kind: Budget, Spent: Nothing, Detail: whole.Error()} // with the advice of who knows the question
	case *ledger.LockoutError:
		p := Problem{Kind: Closed, Spent: Nothing, Detail: e.Error()}
		if e.Charged {
			p.Spent = Unknown // it may have been answered from what was paid for before
		}
		return p
	case *ledger.RequestError:
		return Problem{Kind: Request, Spent: Nothing, Detail: e.Error(), Differs: e.Differs}
	case *ledger.WindowError:
		return Problem{Kind: Window, Spent: Nothing, Detail: e.Error()}
	case *ledger.LapsedError:
		p := Problem{Kind: Lapsed, Spent: Nothing, Detail: e.Error()}
		if e.Charged {
			p.Spent = Something
		}
		return p
	case *ledger.InvalidError:
		return Problem{Kind: Invalid, Spent: Nothing, Detail: e.Error()}
	case *ledger.StaleError:
		return Problem{Kind: Stale, Detail: e.Error()}
	case *ledger.SignatureError:
		return Problem{Kind: Signature, Detail: e.Error()}
	}
	return Problem{}
}

// ofWrite is for a ledger that cannot be written or read, whose own words name files of the
// machine.
func ofWrite(err, _ error) Problem {
	switch e := err.(type) {
	case *ledger.WriteError:
		p := Problem{Kind: LedgerFailed, Detail: "the ledger could not be written, so nothing may be released", Retry: time.Minute}
		switch {
		case e.Charged:
			p.Spent = Something
		case e.Unknown:
		case e.Broken:
			p.Kind = LedgerStopped
		default:
			p.Spent = Nothing
		}
		return p
	case *ledger.CorruptError, *ledger.MissingError:
		return Problem{Kind: LedgerDamaged}
	}
	return Problem{}
}

// told are errors that are told as they are, without what stands around them.
var told = map[error]Problem{
	api.ErrStreamPart:    {Kind: StreamPart},
	api.ErrLabels:        {Kind: Labels, Spent: Nothing, Retry: time.Minute},
	api.ErrMoved:         {Kind: Moved, Spent: Something},
	api.ErrChanging:      {Kind: Changing, Retry: 5 * time.Second},
	api.ErrHoldoutRun:    {Kind: HoldoutRun, Retry: time.Minute},
	api.ErrNoModel:       {Kind: NoModel, Spent: Nothing},
	api.ErrTraining:      {Kind: Training, Spent: Something},
	api.ErrSessionUsed:   {Kind: Ended},
	api.ErrSessionAsked:  {Kind: Ended},
	api.ErrSessionRun:    {Kind: Ended},
	api.ErrSessionData:   {Kind: Ended},
	api.ErrSessionWindow: {Kind: Ended},
	api.ErrSessionPolicy: {Kind: Ended},
}

// ofData is for what becomes of sessions, and of the data.
func ofData(err, _ error) Problem {
	if _, ok := err.(*api.DataError); ok { // whose words are for the owner
		return Problem{Kind: Data, Detail: api.ErrData.Error(), Retry: time.Minute}
	}
	for known, p := range told {
		if err == known {
			p.Detail = known.Error()
			return p
		}
	}
	return Problem{}
}

// CanceledDetail is told of what was stopped by whoever asked.
const CanceledDetail = "canceled on the user's request. What was charged stays charged; if the answer was kept, the same question " +
	"gets it free, and asked again by the same request it is never charged twice"

// ofContext is for what the standard library says.
func ofContext(err, _ error) Problem {
	switch {
	case matches(err, context.Canceled):
		return Problem{Kind: Interrupted, Detail: CanceledDetail}
	case matches(err, context.DeadlineExceeded):
		return Problem{Kind: Late, Detail: CanceledDetail}
	case matches(err, errors.ErrUnsupported):
		return Problem{Kind: Unsupported, Spent: Nothing}
	}
	return Problem{}
}

// matches is [errors.Is] for the error alone, without what it wraps.
func matches(err, target error) bool {
	is, ok := err.(interface{ Is(error) bool })
	return err == target || ok && is.Is(target)
}
