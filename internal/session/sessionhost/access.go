package sessionhost

import (
	"context"
	"fmt"
	"time"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp/mech"
	"github.com/discreet-dp/discreet/internal/curator/budgets"
	"github.com/discreet-dp/discreet/internal/engine"
	"github.com/discreet-dp/discreet/internal/planner"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/policy"
)

// Access is what a package of sessions is made with: what the curator does for it, and nobody else.
type Access struct {
	Planner
	Verifier
	Turns
	DataStates
	Cashier
	Runner
	Incidents
	Journal
	*budgets.DatasetAccounts
	Dataset  *policy.Dataset
	Releaser *mech.Releaser
}

// Planner says who may ask, and what the planner knows.
type Planner interface {
	// Admit refuses who may not ask.
	Admit(analyst string) error
	// Options are those of the planner: it reads public tables.
	Options(ctx context.Context, s api.Settings) planner.Options
}

// Verifier checks once more what goes to the engine.
type Verifier interface {
	CheckTwice(st *planner.Statement) error
	CheckCells(q *tree.Query) error
	CheckHoldout(h *tree.Holdout) error
	CheckTable(t *tree.Table) error
}

// Turns lets one question with a key through at a time.
type Turns interface {
	// WaitTurn waits until nobody else is in with one of the keys, and returns what lets the next
	// one in.
	WaitTurn(ctx context.Context, keys ...string) (leave func(), err error)
}

// DataStates says in which state the data is.
type DataStates interface {
	// Data is the state of the data now.
	Data(ctx context.Context) (Data, error)
	// Moved reports whether something was read from other data than it was asked of, or may have
	// been. It waits as Data does.
	Moved(ctx context.Context, d Data, read engine.ReadFrom) bool
}

// Cashier makes charges.
type Cashier interface {
	// Charge pays in the current window, in the accounts of the analyst and those that the charge
	// names beside, and returns when that is on stable storage.
	Charge(ctx context.Context, analyst string, charge ledger.Charge) (ledger.Receipt, error)
	// Again admits one more computation for a charge that was made before and has no answer.
	Again(ctx context.Context, charge uint64) error
	// NoteRun notes, once in a process, that questions of sessions reach the engine.
	NoteRun(ctx context.Context) error
}

// Runner asks the engine, and says how long that takes at most, by public numbers.
type Runner interface {
	// Run and Fetch return what is sealed. Rows may be fetched twice, each time into what a
	// function makes.
	Run(ctx context.Context, q *tree.Query) (*engine.Result, error)
	Fetch(ctx context.Context, t *tree.Table, into func() Collector) (engine.ReadFrom, error)
	// RunPublic computes sums over a public table, which is about nobody.
	RunPublic(ctx context.Context, q *tree.Query) ([]int64, error)
	// FitTime is how long it takes at most to train so many models on the rows of a table, each on
	// so many parts of them.
	FitTime(ctx context.Context, t *tree.Table, models, parts int) (time.Duration, error)
	// CheckTime and CheckTrainingTime refuse what may take longer than a question may. Whoever runs
	// something asks them before anything is charged.
	CheckTime(ctx context.Context, q *tree.Query) error
	CheckTrainingTime(ctx context.Context, t *tree.Table, models, parts int) error
}

// Incidents takes in failures, and says to whom the dataset is closed by them.
type Incidents interface {
	// Failed takes in what went wrong after a charge, and returns what is told.
	Failed(ctx context.Context, analyst string, charge uint64, cause, told error) error
	// Closed returns an error where the dataset is closed to an analyst, and ClosedAt reports
	// whether it was at a moment.
	Closed(ctx context.Context, analyst string, charged bool) error
	ClosedAt(ctx context.Context, analyst string, at time.Time) (bool, error)
}

// Collector takes rows, and shows them to nobody but who made it.
type Collector = engine.Collector

// Journal is of the ledger what spends nothing.
type Journal interface {
	DataVersion(ctx context.Context, dataset, label, state string) (ledger.Version, error)
	Window(ctx context.Context, dataset string) (uint64, error)
	Lockout(ctx context.Context, dataset, analyst string) (ledger.Lockout, error)
	Balances(ctx context.Context, accounts []ledger.Account) ([]ledger.Balance, error)
	Note(ctx context.Context, session string, entry []byte) error
	NoteIf(ctx context.Context, session string, entry []byte, p ledger.Provided) error
	Notes(ctx context.Context, session string) ([][]byte, error)
	NotesAfter(ctx context.Context, session string, notes int) ([][]byte, error)
	Era(ctx context.Context) (string, error)
}

// Data is the state of the data that a question is asked of. State is the engine's name for it,
// which may be a hash of the contents: it goes to the ledger and no further.
type Data struct {
	ledger.Version
	State string
	Whole bool // see [store.Version]
}

// MovedNote is said of an answer of which nobody knows whether it is of the data that it was asked
// of.
const MovedNote = "the data changed while this was computed: the answer is about the data before or after the change, and is given " +
	"again for this request only"

// NameData says which data an answer is about, and in the first one after a change, the answer of
// that charge, that there was one. That the owner changed the data is no secret.
func (a Access) NameData(ctx context.Context, d Data, charge uint64) (v api.DataVersion, notes []string, err error) {
	now, err := a.DataVersion(ctx, a.Dataset.Name, d.Label, d.State)
	// The record of a new version stands right before the charge that it was written with.
	if now.Since > d.Since && d.Since > 0 && now.Since+1 == charge {
		notes = []string{fmt.Sprintf("the data, or how the policy reads it, has changed: answers with receipts before %d are about other "+
			"data", charge)}
	}
	return api.DataVersion{Number: now.Number, Name: now.Label}, notes, err
}
