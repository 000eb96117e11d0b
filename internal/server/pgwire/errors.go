package pgwire

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/pgcatalog/interpret"
	"github.com/discreet-dp/discreet/internal/server/admission"
	"github.com/discreet-dp/discreet/internal/server/users"
	"github.com/discreet-dp/discreet/ledger"
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
	tryAgain             = "40001" // what clients that try again by themselves know

	invalidCursorDefinition = "42P11"
	noDatabase              = "3D000"
	notPermitted            = "42501"
	syntaxError             = "42601"
	undefinedColumn         = "42703"
	undefinedObject         = "42704"
	duplicateStatement      = "42P05"
	duplicateCursor         = "42P03"
	undeterminedType        = "42P18"
	tooManyConnections      = "53300"
	limitExceeded           = "53400"
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
	errServerEnds = errors.New("the server ends")
)

const chargeStays = "What was charged stays charged; where the answer is kept the same question gets it free, and with the " +
	"same dp.request it is never charged twice"

// internalFailure is what is said about everything that was not expected. Its own words could hold
// data.
func internalFailure() *wireError {
	return failure(internalError, "an internal error; nothing about it is shown, because it could hold data")
}

// unaskedError is for questions whose turn did not come, or nil.
func unaskedError(ctx context.Context, err error) *wireError {
	switch {
	case errors.Is(err, admission.ErrRevoked):
		return fatal(adminShutdown, admission.ErrRevoked.Error())
	case errors.Is(err, admission.ErrUnchecked):
		return failure(cannotConnectNow, "%s", admission.ErrUnchecked)
	case errors.Is(err, admission.ErrWithdrawn) && errors.Is(context.Cause(ctx), errTimeout):
		return failure(queryCanceled, "canceled by statement_timeout before its turn came, and nothing was charged")
	case errors.Is(err, admission.ErrWithdrawn):
		return failure(queryCanceled, "%s", admission.ErrWithdrawn)
	}
	return nil
}

// stoppedError is for statements that were stopped, and why.
func stoppedError(cause, err error) *wireError {
	var stopped *admission.Stopped
	free := errors.As(err, &stopped) && stopped.Free
	switch {
	case errors.Is(cause, errTimeout) && free:
		return failure(queryCanceled, "canceled by statement_timeout, and nothing was charged")
	case errors.Is(cause, errTimeout):
		return failure(queryCanceled, "canceled by statement_timeout. %s", chargeStays)
	case errors.Is(cause, errServerEnds):
		return fatal(adminShutdown, "the server is shutting down. "+chargeStays)
	case free:
		return failure(queryCanceled, "%s", stopped)
	}
	return failure(queryCanceled, "canceled on the user's request. %s", chargeStays)
}

// toWireError turns any error into one for the wire. The context is that of the statement.
func toWireError(ctx context.Context, err error) *wireError {
	var (
		wire    *wireError
		refusal *api.Refusal
		budget  *ledger.BudgetError
		limit   *admission.LimitError
		lockout *ledger.LockoutError
		about   *interpret.Error
		request *ledger.RequestError
		invalid *ledger.InvalidError
		window  *ledger.WindowError
		lapsed  *ledger.LapsedError
		write   *ledger.WriteError
		locked  *users.LockedError
		around  *api.AroundError
		stopped *admission.Stopped
	)
	if errors.As(err, &wire) {
		return wire
	}
	if unasked := unaskedError(ctx, err); unasked != nil {
		return unasked
	}
	if ctx.Err() != nil { // whatever was in the way then
		return stoppedError(context.Cause(ctx), err)
	}
	switch {
	case errors.As(err, &lockout):
		return failure(lockoutClosed, "%s", lockout.Error()).withHint("EXPLAIN is free, and says whether it is open again")
	case errors.As(err, &budget):
		return failure(limitExceeded, "%s",
			err.Error()).withHint("SHOW dp.budget says what is left, and EXPLAIN what a question costs; both are free")
	case errors.Is(err, api.ErrStreamPart):
		return failure(limitExceeded, "%s", api.ErrStreamPart).withHint("SHOW dp.budget says what is left; SET dp.stream = off asks past " +
			"the stream, for a price of its own")
	case errors.As(err, new(*api.DataError)):
		return failure(notInState, "%s", api.ErrData)
	case errors.Is(err, api.ErrMoved):
		return failure(notInState, "%s", api.ErrMoved).withHint("SET dp.request to another name, where it has one")
	case errors.Is(err, api.ErrChanging):
		return failure(notInState, "%s", api.ErrChanging)
	case errors.Is(err, api.ErrHoldoutRun):
		return failure(notInState, "%s", api.ErrHoldoutRun)
	case errors.As(err, &refusal):
		e := failure(cmp.Or(refusal.Code, notSupported), "%s", refusal.Reason).withHint(refusal.Instead)
		e.position = refusal.Position + 1
		return e
	case errors.As(err, &around):
		return failure(tooComplex, "%s", around.Error())
	case errors.As(err, &limit) && limit.Wait > 0:
		return failure(tryAgain, "%s", limit.Reason).withHint("ask again in " + formatWait(limit.Wait))
	case errors.As(err, &limit):
		return failure(notInState, "%s", limit.Reason)
	case errors.As(err, &about):
		e := failure(about.Code, "%s", about.Message).withHint(about.Hint)
		e.position = about.Position + 1
		return e
	case errors.Is(err, admission.ErrEnding):
		return failure(adminShutdown, "%s", admission.ErrEnding)
	case errors.Is(err, admission.ErrOpening):
		return failure(cannotConnectNow, "%s", admission.ErrOpening)
	case errors.As(err, &stopped):
		return failure(queryCanceled, "%s", stopped)
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return failure(queryCanceled, "%s", admission.ErrCanceled)
	case errors.As(err, &request):
		return failure(invalidParameter, "%s", request.Error()).withHint("nothing was spent; SET dp.request to another name")
	case errors.As(err, &invalid):
		return failure(invalidParameter, "the ledger does not take this request").withHint("a dp.request is a short text without " +
			"control characters")
	case errors.Is(err, admission.ErrInternal):
		return failure(internalError, "%s", admission.ErrInternal)
	case errors.As(err, &window):
		return failure(notInState, "%s", window.Error())
	case errors.As(err, &lapsed):
		return failure(notInState, "%s", lapsed.Error()).withHint("SET dp.request to another name")
	case errors.As(err, &write) && write.Charged:
		// Not its own words: they have the ledger's path.
		return failure(ioError, "the ledger could not be written. The charge was made and stays, but the answer could not be secured and "+
			"so was not released").withHint("name questions with dp.request, and ask again with the same name: it is not charged twice")
	case errors.As(err, &write) && write.Unknown:
		return failure(ioError, "it is not known whether this was written to the ledger, so nothing may be released; it may have been "+
			"charged").withHint("name questions with dp.request, and ask again with the same name: it is not charged twice")
	case errors.As(err, &write) && write.Broken:
		return failure(ioError, "the ledger has stopped; nothing may be released").withHint("tell the owner of the data")
	case errors.As(err, &write):
		return failure(ioError, "the ledger could not be written; nothing may be released").withHint("tell the owner of the data")
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
