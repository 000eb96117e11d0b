package api

import (
	"errors"
	"fmt"
)

// What a question fails with, beside a [Refusal] and the errors of package ledger.
var (
	// ErrStreamPart is returned when a stream could pay for a part of a question and not for all of
	// it.
	ErrStreamPart = errors.New("the budget does not admit the rest of this question; the part that the stream has answered is paid for, " +
		"and stays free")
	// ErrMoved is returned where the data changed after a charge for a sharper answer, so that
	// there is nothing to make it of. That the data changed everybody may know.
	ErrMoved = errors.New("the data changed while this was computed, which was to sharpen an earlier answer; the charge stays. " +
		"Ask again under another request identifier: about the new data it is paid for in full")
	// ErrChanging is returned where the data changed while it was read, so that nobody knows which
	// data it was. What was charged for it stays charged.
	ErrChanging = errors.New("the data changed while it was read; ask again")
	// ErrHoldoutRun is returned when the engine failed while it computed a score. Questions of an
	// open round are free, so what such a failure tells would be free too, as often as one likes:
	// the holdout gives whoever asked nothing new until the owner has released them.
	ErrHoldoutRun = errors.New("the engine could not compute this score, and the holdout gives you nothing new until the owner has " +
		"released it; ask the owner to look at 'discreet incidents'")
	// ErrLabels is returned when the file of labels cannot be read. What is wrong with it is for
	// the owner.
	ErrLabels = errors.New("the labels of this holdout cannot be read; ask the owner to run 'discreet check'. Nothing was charged")
	// ErrData is what analysts are told of a [DataError].
	ErrData = errors.New("the data cannot be read at the moment; ask again later, or ask the owner to run 'discreet check'")
	// ErrTraining is returned when a training failed after its charge, which stays. Why is not
	// said: how a minimiser does depends on the data.
	ErrTraining = errors.New("the training could not be finished, and the charge stays; ask with a larger regulariser or a smaller " +
		"radius, or ask the owner to run 'discreet check'")
	// ErrNoModel is returned for a model that does not exist, and for one that somebody may not
	// see.
	ErrNoModel = errors.New("there is no such model, or it is not yours")
)

// AroundError is why a SELECT over answers and public tables was stopped: at one of its limits, or
// by a value that it cannot compute. It sees nothing else, so its text may be told.
type AroundError struct {
	Text   string
	Bought bool // whether there are answers inside, which may have been paid for
}

func (e *AroundError) Error() string {
	if e.Bought {
		return e.Text + "; the answers inside are paid for, and stay free"
	}
	return e.Text
}

// PriceError is returned for a question that was asked only where it is free, and is not.
type PriceError struct {
	Explanation *Explanation // what it would cost, as for who asks for the price
}

func (e *PriceError) Error() string {
	return "this is not free: it was not paid for yet, or the data has changed since; nothing was charged"
}

// DataError is why the data of a dataset cannot be opened, or opened anew after it changed. Its
// words are for the owner: they name files, tables and columns, and no value of the data. Servers
// tell others [ErrData].
type DataError struct{ Err error }

func (e *DataError) Error() string { return e.Err.Error() }

func (e *DataError) Unwrap() error { return e.Err }

// MostSparseAnswers is how many questions a session of the sparse vector technique answers. By its
// theorem it could go on for ever; but each answer is a record of the ledger, which stays, and is
// to be paid for by the charge of the session.
const MostSparseAnswers = 10_000

// How a session of the sparse vector technique ends.
var (
	// ErrSessionUsed is returned when it has given all its "above" answers.
	ErrSessionUsed = errors.New("the session has ended: it has given all its \"above\" answers; open another, which costs as much again")
	// ErrSessionAsked is returned when it has answered [MostSparseAnswers] questions.
	ErrSessionAsked = fmt.Errorf("the session has ended: it has answered %d questions, which is the most; open another, which costs as "+
		"much again", MostSparseAnswers)
	// ErrSessionRun is returned when the engine failed or was stopped while it computed one of its
	// questions.
	ErrSessionRun = errors.New("the engine could not run this question; the session has ended, and its charge stays")
	// ErrSessionData is returned when the data is not that of the session any more.
	ErrSessionData = errors.New("the data has changed since the session was opened; the session has ended, and its charge stays")
	// ErrSessionWindow is returned when the budget was renewed since the session was opened.
	ErrSessionWindow = errors.New("the budget was renewed since the session was opened; the session has ended with the window that paid " +
		"for it, and its charge stays")
)

// ErrTimeLimit is the cause of a context that ends because the owner's limit of time is reached,
// which servers set. A question that it stops after the charge has failed: how long an engine takes
// can depend on the data, and the owner chose that moment. A context that ends for any other cause
// was ended by whoever asked, or by the owner who ends the process.
var ErrTimeLimit = errors.New("the owner's limit of time is reached")
