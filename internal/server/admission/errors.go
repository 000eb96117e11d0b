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
	ErrTimeout = error(timeLimit("the question reached the server's limit of time. What was charged stays charged. That is a failure: " +
		"where the door is closed by it, this dataset gives you no new answers until its owner has released it, and then the same " +
		"request is answered without a second charge"))
	ErrCanceled = errors.New("canceled on the user's request. What was charged stays charged; where the answer is kept the same question " +
		"gets it free, and named by the same request it is never charged twice")
	// ErrInternal: something is broken. What it was is not shown, because it could hold data.
	ErrInternal = errors.New("an internal error; nothing about it is shown, because it could hold data. What was charged stays charged. " +
		"Please report the question to the owner")
)

// timeLimit is the owner's limit of time. A question that it stops after the charge has failed, and
// that is an incident.
type timeLimit string

func (t timeLimit) Error() string        { return string(t) }
func (t timeLimit) Is(target error) bool { return target == api.ErrTimeLimit }

// LimitError: too many questions, now or in this minute. Nothing was charged.
type LimitError struct {
	Reason string
	Wait   time.Duration // after which it is worth to try again
}

func (e *LimitError) Error() string { return e.Reason }
