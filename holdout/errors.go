package holdout

import "errors"

var (
	// ErrConfig is returned when there is no such holdout.
	ErrConfig = errors.New("not a holdout")
	// ErrQuestion is returned for a question that cannot be asked. Nothing was charged.
	ErrQuestion = errors.New("not a question to a holdout")
	// ErrUsedUp is returned when all answers from the holdout have been given. Nothing was charged.
	// What was answered before is answered again.
	ErrUsedUp = errors.New("the holdout is used up: it has given as many answers as its owner declared. Take fresh data for a new one")
	// ErrJournal is returned when the journal is not that of this holdout. Its entries are secret,
	// so none is shown.
	ErrJournal = errors.New("the journal is not one of this holdout: open it with the configuration that it was begun with, or begin " +
		"a new session")
)
