package pgwire

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/discreet-dp/discreet/internal/pgcatalog/interpret"
	"github.com/discreet-dp/discreet/internal/problem"
	"github.com/discreet-dp/discreet/internal/server/users"
)

const (
	warningState         = "01000"
	protocolViolation    = "08P01"
	notSupported         = "0A000"
	outOfRange           = "22003"
	invalidParameter     = "22023"
	invalidEncoding      = "22021"
	invalidText          = "22P02"
	invalidBinary        = "22P03"
	activeTransaction    = "25001"
	readOnly             = "25006"
	noTransaction        = "25P01"
	failedTransaction    = "25P02"
	invalidStatement     = "26000"
	invalidAuthorization = "28000"
	invalidPassword      = "28P01"
	invalidCursor        = "34000"
	invalidSavepoint     = "3B001"

	invalidCursorDefinition = "42P11"
	noDatabase              = "3D000"
	notPermitted            = "42501"
	syntaxError             = "42601"
	undefinedColumn         = "42703"
	undefinedObject         = "42704"
	duplicateStatement      = "42P05"
	duplicateCursor         = "42P03"
	undeterminedType        = "42P18"
	tryAgain                = "40001" // and none of class 53, because clients that try again by themselves know this one
	tooManyConnections      = "53300"
	limitExceeded           = "53400" // a limit that somebody has set: unlike the others of class 53, it does not pass by itself
	outOfMemory             = "53200"
	tooComplex              = "54001"
	notInState              = "55000"
	lockoutClosed           = "55D00" // our own, of the class of 55000: to ask again in a while helps there, and not here
	cannotChange            = "55P02"
	queryCanceled           = "57014"
	adminShutdown           = "57P01"
	cannotConnectNow        = "57P03"
	ioError                 = "58030"
	internalError           = "XX000"
)

// wireError is an error as a client sees it. Its text is made of the statement, the policy and the
// limits, and of nothing in the data.
type wireError struct {
	severity string // ERROR where it is empty; a FATAL one ends the session
	code     string
	message  string
	detail   string
	hint     string
	position int // in bytes of the statement, from 1; 0 where there is none

	character int // the same in characters of the whole text, which the grammar counts
}

func (e *wireError) Error() string { return e.message }

func failure(code, format string, args ...any) *wireError {
	return &wireError{code: code, message: fmt.Sprintf(format, args...)}
}

func fatal(code, message string) *wireError {
	return &wireError{severity: "FATAL", code: code, message: message}
}

func (e *wireError) withHint(hint string) *wireError {
	e.hint = hint
	return e
}

// Why a statement was stopped before its time.
var (
	errCanceled   = errors.New("canceled by the user")
	errTimeout    = errors.New("statement_timeout")
	errClientGone = errors.New("the client went away")
	errServerEnds = errors.New("the server is shutting down")
)

const chargeStays = "What was charged stays charged; if the answer was kept, the same question gets it free, and with the same " +
	"dp.request it is never charged twice"

// internalFailure is what is said about everything that was not expected. Its own words could hold
// data.
func internalFailure() *wireError {
	return failure(internalError, "an internal error; nothing about it is shown, because it could hold data")
}

// rendered is how the wire tells a kind of problem: its code, and words about settings and
// statements where the problem has none or others.
type rendered struct{ code, message, hint string }

const (
	askOwner  = "tell the owner of the data"
	sameNames = "name questions with dp.request; if you ask again with the same name, you are not charged twice"
)

// renderings has the kinds that statements can end with; all others are internal errors here.
var renderings = map[problem.Kind]rendered{
	problem.Refused:  {code: notSupported},
	problem.Disputed: {code: notSupported},
	problem.Around:   {code: tooComplex},

	problem.Budget: {code: limitExceeded, hint: "SHOW dp.budget says what is left, and EXPLAIN what a question costs; both are free"},
	problem.StreamPart: {code: limitExceeded, hint: "SHOW dp.budget says what is left; SET dp.stream = off asks past the stream, for a " +
		"price of its own"},
	problem.Closed:  {code: lockoutClosed, hint: "EXPLAIN is free, and says whether it is open again"},
	problem.Request: {code: invalidParameter, hint: "nothing was spent; SET dp.request to another name"},
	problem.Invalid: {code: invalidParameter, message: "the ledger does not accept this request",
		hint: "dp.request must be a short text without control characters"},
	problem.Window:        {code: notInState},
	problem.Lapsed:        {code: notInState, hint: "SET dp.request to another name"},
	problem.LedgerFailed:  {code: ioError, message: "the ledger could not be written; nothing may be released", hint: askOwner},
	problem.LedgerStopped: {code: ioError, message: "the ledger has stopped; nothing may be released", hint: askOwner},

	problem.Limited:     {code: limitExceeded},
	problem.Ending:      {code: adminShutdown},
	problem.Opening:     {code: cannotConnectNow},
	problem.Revoked:     {code: adminShutdown},
	problem.Unchecked:   {code: cannotConnectNow},
	problem.Withdrawn:   {code: queryCanceled},
	problem.Timeout:     {code: queryCanceled},
	problem.Canceled:    {code: queryCanceled},
	problem.Interrupted: {code: queryCanceled},
	problem.Late:        {code: queryCanceled},
	problem.Internal:    {code: internalError},

	problem.Data:       {code: notInState},
	problem.Moved:      {code: notInState, hint: "SET dp.request to another name, where it has one"},
	problem.Changing:   {code: notInState},
	problem.HoldoutRun: {code: notInState},
}

// stoppedError is for statements that were stopped, and why; nil where that is not what is told.
func stoppedError(ctx context.Context, p problem.Problem) *wireError {
	cause := context.Cause(ctx)
	unspent := p.Spent == problem.Nothing && (p.Kind == problem.Timeout || p.Kind == problem.Canceled)
	switch {
	case ctx.Err() == nil, p.Kind == problem.Revoked, p.Kind == problem.Unchecked:
		return nil
	case p.Kind == problem.Withdrawn && errors.Is(cause, errTimeout):
		return failure(queryCanceled, "canceled by statement_timeout before its turn came, and nothing was charged")
	case p.Kind == problem.Withdrawn:
		return nil
	case errors.Is(cause, errTimeout) && unspent:
		return failure(queryCanceled, "canceled by statement_timeout, and nothing was charged")
	case errors.Is(cause, errTimeout):
		return failure(queryCanceled, "canceled by statement_timeout. %s", chargeStays)
	case errors.Is(cause, errServerEnds):
		return fatal(adminShutdown, "the server is shutting down. "+chargeStays)
	case unspent:
		return nil
	}
	return failure(queryCanceled, "canceled on the user's request. %s", chargeStays) // whatever was in the way then
}

// toWireError turns any error into one for the wire. The context is that of the statement.
func toWireError(ctx context.Context, err error) *wireError {
	var wire *wireError
	if errors.As(err, &wire) {
		return wire
	}
	p := problem.Of(err)
	if stopped := stoppedError(ctx, p); stopped != nil {
		return stopped
	}
	r, ok := renderings[p.Kind]
	if !ok {
		return localError(err)
	}
	e := failure(cmp.Or(p.Code, r.code), "%s", cmp.Or(r.message, p.Detail)).withHint(cmp.Or(r.hint, p.Instead))
	if p.Position != nil {
		e.position = *p.Position + 1
	}
	switch {
	case p.Kind == problem.Revoked:
		e.severity = "FATAL"
	case p.Kind == problem.Limited && p.Retry > 0:
		e.code, e.hint = tryAgain, "ask again in "+formatWait(p.Retry)
	case p.Kind == problem.LedgerFailed && p.Spent == problem.Something:
		e.message, e.hint = "the ledger could not be written. The charge was made and stays, but the answer could not be secured and so "+
			"was not released", sameNames
	case p.Kind == problem.LedgerFailed && p.Spent == problem.Unknown:
		e.message, e.hint = "it is not known whether this was written to the ledger, so nothing may be released; it may have been charged",
			sameNames
	}
	e.message = p.Before + e.message
	return e
}

// localError is for errors that there are on the wire alone: of the catalogue, and of the login.
func localError(err error) *wireError {
	var about *interpret.Error
	var locked *users.LockedError
	switch {
	case errors.As(err, &about):
		e := failure(about.Code, "%s", about.Message).withHint(about.Hint)
		e.position = about.Position + 1
		return e
	case errors.As(err, &locked):
		return lockoutError(locked)
	case errors.Is(err, users.ErrDenied):
		return fatal(invalidPassword, users.ErrDenied.Error())
	}
	return internalFailure()
}

// response writes an error down. Its position becomes one in characters of the whole text that was
// sent.
func (e *wireError) response(text string, offset int) *pgproto3.ErrorResponse {
	severity := e.severity
	if severity == "" {
		severity = "ERROR"
	}
	out := &pgproto3.ErrorResponse{Severity: severity, SeverityUnlocalized: severity, Code: e.code, Message: printable(e.message),
		Detail: printable(e.detail), Hint: printable(e.hint)}
	if at := e.position - 1 + offset; e.position > 0 && at <= len(text) {
		out.Position = int32(utf8.RuneCountInString(text[:at]) + 1)
	}
	if e.character > 0 {
		out.Position = int32(e.character)
	}
	return out
}

func joinNames(names []string) string { return strings.Join(names, ", ") }

// printable is a text that ends where it should, and is in the client's encoding.
func printable(text string) string {
	return strings.ToValidUTF8(strings.ReplaceAll(text, "\x00", ""), "\uFFFD")
}
