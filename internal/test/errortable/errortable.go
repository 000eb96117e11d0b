// Package errortable has the errors that questions, sessions and owners can end with, plain,
// wrapped and joined, so that everything that tells them to somebody is held against what it told
// before.
package errortable

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/server/admission"
	"github.com/discreet-dp/discreet/internal/test/golden"
	"github.com/discreet-dp/discreet/ledger"
)

const (
	secret = "pid 37 has HIV" // of the data, which nobody is told
	path   = "/srv/secret"    // of the ledger, which is for owners alone
)

var (
	errCause = errors.New(secret)
	price    = &api.PriceError{Explanation: &api.Explanation{}}
	budget   = &ledger.BudgetError{Account: "hospital", Want: dp.Cost{Epsilon: 2 * dp.One}, Left: dp.Cost{Epsilon: dp.One}}
	broken   = &ledger.WriteError{Path: path, Broken: true, Err: errCause}
)

// Case is an error with a name.
type Case struct {
	Name string
	Err  error
}

// Cases are all of them.
var Cases = []Case{
	{"refusal", &api.Refusal{Reason: "no", Instead: "do", Position: 3, Code: "42P01"}},
	{"refusal without place", &api.Refusal{Reason: "no", Position: -1}},
	{"disagreement", &api.Disagreement{Detail: "where"}},
	{"question of a workload", &api.WorkloadError{Index: 1, Err: &api.Refusal{Reason: "no", Position: -1}}},
	{"price", price},
	{"around", &api.AroundError{Text: "too many rows"}},
	{"around what was bought", &api.AroundError{Text: "too many rows", Bought: true}},
	{"budget", budget},
	{"budget with advice", fmt.Errorf("%w. Ask for less", budget)},
	{"stream part", api.ErrStreamPart},
	{"lockout", &ledger.LockoutError{Dataset: "hospital"}},
	{"lockout after the charge", &ledger.LockoutError{Dataset: "hospital", Charged: true}},
	{"limit", &admission.LimitError{Reason: "slowly", Wait: 1500 * time.Millisecond}},
	{"limit without wait", &admission.LimitError{Reason: "slowly"}},
	{"ending", admission.ErrEnding},
	{"opening", admission.ErrOpening},
	{"timeout", admission.ErrTimeout},
	{"canceled", admission.ErrCanceled},
	{"canceled, free", &admission.Stopped{Free: true}},
	{"withdrawn", admission.ErrWithdrawn},
	{"revoked", admission.ErrRevoked},
	{"unchecked", admission.ErrUnchecked},
	{"internal", admission.ErrInternal},
	{"no session", admission.ErrNoSession},
	{"context canceled", context.Canceled},
	{"context late", context.DeadlineExceeded},
	{"request", &ledger.RequestError{Request: "ana:x", Differs: "question"}},
	{"window", &ledger.WindowError{Dataset: "hospital", Window: 1, Want: 2}},
	{"version", &ledger.VersionError{Dataset: "hospital"}},
	{"lapsed", &ledger.LapsedError{Request: "ana:x", Dataset: "hospital", Window: 1, Now: 2}},
	{"lapsed after the charge", &ledger.LapsedError{Request: "ana:x", Dataset: "hospital", Window: 1, Now: 2, Charged: true}},
	{"lapsed session", &ledger.LapsedError{Dataset: "hospital", Window: 1, Now: 2, Charged: true}},
	{"invalid", &ledger.InvalidError{Field: "request", Problem: "is missing"}},
	{"write", &ledger.WriteError{Path: path, Err: errCause}},
	{"write, charged", &ledger.WriteError{Path: path, Charged: true, Err: errCause}},
	{"write, broken", broken},
	{"write, unknown", &ledger.WriteError{Path: path, Remote: true, Unknown: true, Err: errCause}},
	{"corrupt", &ledger.CorruptError{Path: path, Where: secret}},
	{"missing ledger", &ledger.MissingError{Path: path, Why: secret}},
	{"no record", &ledger.NoRecordError{Sequence: 9}},
	{"ledger closed", ledger.ErrClosed},
	{"recovered", ledger.ErrRecovered},
	{"stale", &ledger.StaleError{After: 3, Last: 5}},
	{"signature", &ledger.SignatureError{Problem: "there is none"}},
	{"draft", &ledger.DraftError{Text: "text"}},
	{"session used", api.ErrSessionUsed},
	{"session asked", api.ErrSessionAsked},
	{"session run", api.ErrSessionRun},
	{"session data", api.ErrSessionData},
	{"session window", api.ErrSessionWindow},
	{"session policy", api.ErrSessionPolicy},
	{"data", &api.DataError{Err: errCause}},
	{"labels", api.ErrLabels},
	{"moved", api.ErrMoved},
	{"changing", api.ErrChanging},
	{"holdout run", api.ErrHoldoutRun},
	{"no model", api.ErrNoModel},
	{"training", api.ErrTraining},
	{"time limit", api.ErrTimeLimit},
	{"unsupported", errors.ErrUnsupported},
	{"anything else", errCause},

	// What knows more stands around what knows less.
	{"data around canceled", &api.DataError{Err: context.Canceled}},
	{"data around late", &api.DataError{Err: context.DeadlineExceeded}},
	{"data around a refusal", &api.DataError{Err: &api.Refusal{Reason: secret, Position: -1}}},
	{"data around a write", &api.DataError{Err: broken}},
	{"data around unsupported", &api.DataError{Err: errors.ErrUnsupported}},
	{"write around canceled", &ledger.WriteError{Path: path, Err: context.Canceled}},
	{"write, charged, around canceled", &ledger.WriteError{Path: path, Charged: true, Err: context.Canceled}},
	{"write, unknown, around late", &ledger.WriteError{Path: path, Remote: true, Unknown: true, Err: context.DeadlineExceeded}},
	{"write around corrupt", &ledger.WriteError{Path: path, Broken: true, Err: &ledger.CorruptError{Path: path}}},
	{"corrupt around late", &ledger.CorruptError{Path: path, Err: context.DeadlineExceeded}},

	// What is closed after something failed can fail, too.
	{"refusal, then write", errors.Join(&api.Refusal{Reason: "no", Position: -1}, broken)},
	{"budget, then write", errors.Join(budget, broken)},
	{"write, charged, then write", errors.Join(&ledger.WriteError{Path: path, Charged: true, Err: errCause}, broken)},
	{"anything else, then write", errors.Join(errCause, broken)},
	{"lockout after the charge, then closed", errors.Join(&ledger.LockoutError{Dataset: "hospital", Charged: true}, ledger.ErrClosed)},
	{"moved, then write", errors.Join(api.ErrMoved, broken)},
}

// Hold compares what is told of every error with a file of what was told, and writes it where
// -rewrite says so. Of an error that is wrapped in a secret there is a line where that makes a
// difference. No secret is told.
func Hold(t *testing.T, file string, tell func(error) string) {
	t.Helper()
	var lines strings.Builder
	for _, c := range Cases {
		told, again := tell(c.Err), tell(fmt.Errorf("%s: %w", secret, c.Err))
		fmt.Fprintf(&lines, "%s: %s\n", c.Name, told)
		if again != told {
			fmt.Fprintf(&lines, "%s, wrapped: %s\n", c.Name, again)
		}
		// What is put around a budget error is advice, and made of the policy.
		all, advised := told+again, errors.As(c.Err, new(*ledger.BudgetError))
		if strings.Contains(all, path) || strings.Contains(all, secret) && !advised {
			t.Errorf("%s: %s", c.Name, all)
		}
	}
	golden.Text(t, file, lines.String())
}
