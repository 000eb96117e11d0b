package engine

import "errors"

// Failure is an error of a run that says, in one word, how it ended. Its text is that of the error
// inside, which is the same for all of them: the word is for the owner.
type Failure struct {
	How How
	Err error
}

// ErrRun is returned when a question could not be computed. The cause is not told, because it could
// depend on the data.
var ErrRun = errors.New("the engine could not run this question, and the charge stays; ask the owner to run 'discreet check'")

// How a run ended.
type How string

// The ways to end that differ from others. Whatever is none of them has simply failed.
const (
	// Stopped says that the run ended because its context did, and not that it ended afterwards: an
	// engine that failed by itself says so, also where the context has ended by then. Whoever could
	// turn a failure into a cancel, by canceling just after it, would be told of failures that
	// nobody counts.
	Stopped How = "stopped"
	Memory  How = "memory" // there was not enough
)

func (f *Failure) Error() string { return f.Err.Error() }
func (f *Failure) Unwrap() error { return f.Err }

// HowOf returns how a run ended, or nothing where its error does not say.
func HowOf(err error) How {
	if f := (*Failure)(nil); errors.As(err, &f) {
		return f.How
	}
	return ""
}
