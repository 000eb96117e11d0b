package sessionhost

import (
	"errors"

	"github.com/discreet-dp/discreet/internal/engine"
)

// ErrRun is returned when an engine failed after the charge. The engine's own
// words are not passed on, whatever an engine promises about them: they could depend on the data.
// The text is the one that engines of ours have.
var ErrRun = engine.ErrRun

// ErrNotFree is returned for a charge of a question that was to be free.
var ErrNotFree = errors.New("this was to be free, but no longer is; nothing was charged; ask again")

// ErrPanic is what is left of a panic.
var ErrPanic = errors.New("a panic")

// ErrShape is what an engine has done that is broken.
var ErrShape = errors.New("the result does not have the shape of the question")

// Catch makes an error of a panic, of which nothing is left that could hold data. It is deferred.
func Catch(err *error) {
	if recover() != nil {
		*err = ErrPanic
	}
}
