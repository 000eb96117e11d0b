package admission

import (
	"errors"
	"time"

	"github.com/discreet-dp/discreet/api"
)

// How a question can end without an answer, besides what [discreet.DB.Ask] says.
var (
	// ErrEnding: the server takes no more questions. Nothing was charged.
	ErrEnding = errors.New("the server is shutting down, and nothing was charged; ask again when it is back")
	// ErrWithdrawn: it was canceled, or its client went away, before it had its turn. Nothing was
	// charged.
	ErrWithdrawn = errors.New("canceled on the user's request before its turn came, and nothing was charged")
	// ErrTimeout and ErrCanceled: it was stopped. What was charged before stays charged.
	ErrTimeout error = &Stopped{late: true, text: "the question reached the server's limit of time. Where it was charged by then, the " +
		"charge stays, and that is a failure: where the door is closed by it, this dataset gives you no new answers until its owner has " +
		"released it. Then the same request is answered without a second charge"}
	ErrCanceled error = &Stopped{text: "canceled on the user's request. What was charged stays charged; where the answer is kept the " +
		"same question gets it free, and named by the same request it is never charged twice"}
	// These are told of what is asked of a session, and of what charges nothing. They are
	// ErrTimeout and ErrCanceled, too.
	errTimeoutSession = &Stopped{late: true, text: "the question reached the server's limit of time. What was charged for the session " +
		"stays charged, and that is a failure: where the door is closed by it, this dataset gives you no new answers until its owner has " +
		"released it"}
	errTimeoutFree = &Stopped{late: true, Free: true, text: "this reached the server's limit of time, and nothing was charged. Ask for " +
		"less, or ask again later: the server may be busy"}
	errCanceledFree = &Stopped{Free: true, text: "canceled on the user's request, and nothing was charged"}
	// ErrInternal: something is broken. What it was is not shown, because it could hold data.
	ErrInternal = errors.New("an internal error; nothing about it is shown, because it could hold data. What was charged stays charged. " +
		"Please report the question to the owner")
)

// Stopped is how a question ends that was stopped, by the owner's limit of time or by who asked. If
// the limit stops it after the charge it has failed, and that is an incident.
type Stopped struct {
	Free bool // it charges nothing, whatever comes of it
	late bool // by the limit
	text string
}

func (e *Stopped) Error() string { return e.text }

// Is says that all that the limit stops is ErrTimeout, and all else ErrCanceled.
func (e *Stopped) Is(target error) bool {
	other, ok := target.(*Stopped)
	return ok && e.late == other.late || e.late && target == api.ErrTimeLimit
}

// LimitError: too many questions, now or in this minute. Nothing was charged.
type LimitError struct {
	Reason string
	Wait   time.Duration // after which it is worth to try again
}

func (e *LimitError) Error() string { return e.Reason }
