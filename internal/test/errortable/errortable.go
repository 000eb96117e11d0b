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

// Secret is what no text for an analyst may have, and Path is that of the ledger, which is for
// owners alone.
const (
	Secret = "pid 37 has HIV"
	Path   = "/srv/secret"
)

var (
	secret = errors.New(Secret)
	price  = &api.PriceError{Explanation: &api.Explanation{}}
	budget = &ledger.BudgetError{Account: "hospital", Want: dp.Cost{Epsilon: 2}, Left: dp.Cost{Epsilon: 1}}
	broken = &ledger.WriteError{Path: Path, Broken: true, Err: secret}
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
	{"write", &ledger.WriteError{Path: Path, Err: secret}},
	{"write, charged", &ledger.WriteError{Path: Path, Charged: true, Err: secret}},
	{"write, broken", broken},
	{"write, unknown", &ledger.WriteError{Path: Path, Remote: true, Unknown: true, Err: secret}},
	{"corrupt", &ledger.CorruptError{Path: Path, Where: Secret}},
	{"missing ledger", &ledger.MissingError{Path: Path, Why: Secret}},
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
	{"data", &api.DataError{Err: secret}},
	{"labels", api.ErrLabels},
	{"moved", api.ErrMoved},
	{"changing", api.ErrChanging},
	{"holdout run", api.ErrHoldoutRun},
	{"no model", api.ErrNoModel},
	{"training", api.ErrTraining},
	{"time limit", api.ErrTimeLimit},
	{"unsupported", errors.ErrUnsupported},
	{"anything else", secret},

	// What knows more stands around what knows less.
	{"data around canceled", &api.DataError{Err: context.Canceled}},
	{"data around late", &api.DataError{Err: context.DeadlineExceeded}},
	{"data around a refusal", &api.DataError{Err: &api.Refusal{Reason: Secret, Position: -1}}},
	{"data around a write", &api.DataError{Err: broken}},
	{"data around unsupported", &api.DataError{Err: errors.ErrUnsupported}},
	{"write around canceled", &ledger.WriteError{Path: Path, Err: context.Canceled}},
	{"write, charged, around canceled", &ledger.WriteError{Path: Path, Charged: true, Err: context.Canceled}},
	{"write, unknown, around late", &ledger.WriteError{Path: Path, Remote: true, Unknown: true, Err: context.DeadlineExceeded}},
	{"write around corrupt", &ledger.WriteError{Path: Path, Broken: true, Err: &ledger.CorruptError{Path: Path}}},
	{"corrupt around late", &ledger.CorruptError{Path: Path, Err: context.DeadlineExceeded}},

	// What is closed after something failed can fail, too.
	{"refusal, then write", errors.Join(&api.Refusal{Reason: "no", Position: -1}, broken)},
	{"budget, then write", errors.Join(budget, broken)},
	{"write, charged, then write", errors.Join(&ledger.WriteError{Path: Path, Charged: true, Err: secret}, broken)},
	{"anything else, then write", errors.Join(secret, broken)},
	{"lockout after the charge, then closed", errors.Join(&ledger.LockoutError{Dataset: "hospital", Charged: true}, ledger.ErrClosed)},
	{"moved, then write", errors.Join(api.ErrMoved, broken)},
}

// Hold compares what is told of every error with a file of what was told, and writes it where
// -rewrite says so. Of an error that is wrapped in a secret there is a line where that makes a
// difference.
func Hold(t *testing.T, file string, tell func(error) string) {
	t.Helper()
	var lines strings.Builder
	for _, c := range Cases {
		told := tell(c.Err)
		fmt.Fprintf(&lines, "%s: %s\n", c.Name, told)
		if again := tell(fmt.Errorf("%s: %w", Secret, c.Err)); again != told {
			fmt.Fprintf(&lines, "%s, wrapped: %s\n", c.Name, again)
		}
	}
	golden.Text(t, file, lines.String())
}
