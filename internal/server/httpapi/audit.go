package httpapi

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/ledger/chain"
	"github.com/discreet-dp/discreet/internal/ledger/replay"
	"github.com/discreet-dp/discreet/internal/server/admission"
	"github.com/discreet-dp/discreet/internal/server/users"
	"github.com/discreet-dp/discreet/ledger"
)

// Audit is what a second look at the ledger says.
type Audit struct {
	// Good says that there is nothing to look after.
	Good        bool              `json:"good" doc:"The chain is intact, and every decision follows from those before it"`
	Head        Head              `json:"head" doc:"The last record that was checked"`
	Records     uint64            `json:"records" doc:"How many records there are"`
	Decisions   uint64            `json:"decisions" doc:"How many charges were decided again"`
	Differ      uint64            `json:"differ" doc:"How many records do not follow from those before"`
	Differences []replay.Decision `json:"differences" doc:"The first hundred of these"`
	Doubts      []replay.Decision `json:"doubts" doc:"The first hundred records with something that this check cannot tell, which an owner may want to follow up"`
	Spent       []ledger.Balance  `json:"spent" doc:"What was spent in every account ever charged, as computed here"`
	Datasets    []DatasetAudit    `json:"datasets" doc:"The datasets of the policy that the server uses"`
}

// DatasetAudit is one dataset in an audit.
type DatasetAudit struct {
	Name     string        `json:"name"`
	Accounts []api.Account `json:"accounts"`
	Promise  []string      `json:"promise" doc:"What the budget promises to every person in the data"`
}

// maxListedDecisions is how many differences are told one by one.
const maxListedDecisions = 100

type auditHandler struct {
	dispatcher *admission.Dispatcher
	head       *head
	running    chan struct{} // holds one, so that one audit runs at a time
	verifying  ledgerScan[Verified]
	replaying  ledgerScan[Audit]
}

func (h *auditHandler) register(r *router) {
	register(r,
		operation(ownerOnly, http.MethodGet, "/v1/audit", "audit", "Check the ledger a second way",
			"For the owner. Verifies the chain of records from the first to the last, decides every charge again with code that shares "+
				"nothing with the code that decided it first, and reports what is spent and promised."),
		func(ctx context.Context, _ users.User, _ *empty) (*body[Audit], error) {
			select { // it reads everything, so one at a time
			case h.running <- struct{}{}:
				defer func() { <-h.running }()
			case <-ctx.Done():
				return nil, ctx.Err()
			}
			a, err := h.replay(ctx, func(uint64) {})
			if err != nil {
				return nil, err
			}
			return bodyOf(*a), nil
		})
	h.registerScans(r)
}

// replay decides every charge once more, and tells now and then how far it is.
func (h *auditHandler) replay(ctx context.Context, tell func(done uint64)) (*Audit, error) {
	db, again := h.dispatcher.DB(), replay.New()
	a := &Audit{Differences: []replay.Decision{}, Doubts: []replay.Decision{}, Spent: []ledger.Balance{}, Datasets: []DatasetAudit{}}
	for r, err := range db.Records(ctx, 0) {
		if err != nil {
			return nil, err
		}
		hash := ledger.Hash(r.Encode())
		one := again.Next(r, hash)
		if len(one.Differs) > 0 && len(a.Differences) < maxListedDecisions {
			a.Differences = append(a.Differences, one)
		}
		if len(one.Doubts) > 0 && len(a.Doubts) < maxListedDecisions {
			a.Doubts = append(a.Doubts, one)
		}
		a.Head, a.Records = Head{r.Sequence, hash}, a.Records+1
		if r.Sequence%4096 == 0 {
			tell(r.Sequence)
		}
	}
	a.Decisions, a.Differ = again.Decisions()
	a.Good = a.Differ == 0 && a.Records > 0
	a.Spent = append(a.Spent, again.Spent()...)
	for _, name := range db.Policy().Names() {
		accounts, err := db.Budget(ctx, name)
		if err != nil {
			return nil, err
		}
		promise, err := db.Promise(ctx, name)
		if err != nil {
			return nil, err
		}
		a.Datasets = append(a.Datasets, DatasetAudit{name, accounts, promise})
	}
	return a, nil
}

// Progress is how far a look at the whole ledger has come. It may take minutes, so it goes on
// beside the server, and whoever began it asks again.
type Progress struct {
	State    string     `json:"state" enum:"none,running,done,failed" doc:"none: nobody has asked for it since the server started"`
	Done     uint64     `json:"done" doc:"How many records were checked"`
	Of       uint64     `json:"of" doc:"How many there were when it started"`
	By       string     `json:"by,omitempty" doc:"Who started it"`
	Started  *time.Time `json:"started,omitempty"`
	Finished *time.Time `json:"finished,omitempty"`
	Problem  string     `json:"problem,omitempty" doc:"For failed: what did not pass the check"`
}

// Verified is what follows from a ledger that checks.
type Verified struct {
	Records     uint64            `json:"records" doc:"The sequence of the last record"`
	Charges     uint64            `json:"charges"`
	Answers     uint64            `json:"answers" doc:"Kept answers"`
	Head        Head              `json:"head"`
	Kinds       map[string]uint64 `json:"kinds" doc:"How many records there are of each kind"`
	Windows     map[string]uint64 `json:"windows" doc:"The current window of every dataset whose budget was renewed"`
	Fingerprint string            `json:"fingerprint,omitempty" doc:"Of the key whose signature counts; left out if there is no key"`
	First       time.Time         `json:"first" doc:"The time of the first record"`
	Last        time.Time         `json:"last" doc:"The time of the last record"`
	Balances    []ledger.Balance  `json:"balances" doc:"What was spent in every account ever charged, computed from the chain only"`
}

// Verification is a check of every hash and sum of the ledger.
type Verification struct {
	Progress
	Result *Verified `json:"result,omitempty"`
}

// Replaying decides every charge once more.
type Replaying struct {
	Progress
	Result *Audit `json:"result,omitempty"`
}

// ledgerScan is a look at the whole ledger, the last one of its kind.
type ledgerScan[T any] struct {
	mu     sync.Mutex
	at     Progress
	result *T
}

func (c *ledgerScan[T]) progress() (Progress, *T) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.at.State == "" {
		return Progress{State: "none"}, nil
	}
	return c.at, c.result
}

func (c *ledgerScan[T]) change(f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f()
}

// start begins a look, unless one of this kind is under way. There is one look at a time, of
// whatever kind, because each reads everything.
func (c *ledgerScan[T]) start(
	ctx context.Context, h *auditHandler, u users.User, read func(context.Context, func(uint64)) (*T, error),
) error {
	if at, _ := c.progress(); at.State == "running" {
		return nil
	}
	head, err := h.head.read(ctx, h.dispatcher.DB())
	if err != nil {
		return err
	}
	select {
	case h.running <- struct{}{}:
	default:
		return &Problem{Status: http.StatusConflict, Kind: "running", Detail: "another check of the whole ledger is running",
			Instead: "wait until it has finished"}
	}
	c.change(func() {
		c.at, c.result = Progress{State: "running", Of: head.Sequence, By: u.Name, Started: timeOrNil(time.Now())}, nil
	})
	ctx = context.WithoutCancel(ctx) // who asked need not wait; it ends with the ledger
	go func() {
		defer func() { <-h.running }()
		result, err := withoutPanic(func() (*T, error) { return read(ctx, func(done uint64) { c.change(func() { c.at.Done = done }) }) })
		c.change(func() {
			c.at.State, c.at.Finished, c.result = "done", timeOrNil(time.Now()), result
			if err != nil {
				c.at.State, c.at.Problem, c.result = "failed", clip(err.Error()), nil
				return
			}
			c.at.Done = max(c.at.Of, c.at.Done)
		})
	}()
	return nil
}

// withoutPanic makes an error of a panic: nobody else waits for this, and the server goes on.
func withoutPanic[T any](f func() (*T, error)) (out *T, err error) {
	defer func() {
		if recover() != nil {
			out, err = nil, errors.New("this check could not finish: stop the server and run 'discreet ledger verify'")
		}
	}()
	return f()
}

// scanOperations are the two operations of a look at the whole ledger: to begin it, and to see it.
func scanOperations(kind, summary, description string) (start, see huma.Operation) {
	at := "/v1/ledger/" + kind
	start = operation(ownerOnly, http.MethodPost, at, kind, summary, "For the owner. "+description+" It runs in the background, one at a "+
		"time; GET returns its progress and its result. If one is already running, you are told so.", http.StatusConflict)
	start.DefaultStatus = http.StatusAccepted
	see = operation(ownerOnly, http.MethodGet, at, kind+"-state", summary+": progress", "For the owner. The result of the last one.")
	return start, see
}

func (h *auditHandler) registerScans(r *router) {
	start, see := scanOperations("verify", "Check the ledger",
		"Recomputes the hash of every record, and adds up what was spent from the records only.")
	verification := func() *body[Verification] {
		at, result := h.verifying.progress()
		return bodyOf(Verification{at, result})
	}
	register(r, start, func(ctx context.Context, u users.User, _ *empty) (*body[Verification], error) {
		if err := h.verifying.start(ctx, h, u, h.verify); err != nil {
			return nil, err
		}
		return verification(), nil
	})
	register(r, see, func(context.Context, users.User, *empty) (*body[Verification], error) { return verification(), nil })
	start, see = scanOperations("replay", "Decide every charge again",
		"Uses code that shares nothing with the code that decided it first, and checks the owner's signatures.")
	replaying := func() *body[Replaying] {
		at, result := h.replaying.progress()
		return bodyOf(Replaying{at, result})
	}
	register(r, start, func(ctx context.Context, u users.User, _ *empty) (*body[Replaying], error) {
		if err := h.replaying.start(ctx, h, u, h.replay); err != nil {
			return nil, err
		}
		return replaying(), nil
	})
	register(r, see, func(context.Context, users.User, *empty) (*body[Replaying], error) { return replaying(), nil })
}

// verify checks the ledger from its first record to its last.
func (h *auditHandler) verify(ctx context.Context, tell func(uint64)) (*Verified, error) {
	lines := func(yield func(chain.Line, error) bool) {
		for r, err := range h.dispatcher.DB().Records(ctx, 0) {
			if err != nil {
				yield(chain.Line{}, err)
				return
			}
			body := r.Encode()
			if !yield(chain.Line{Record: r, Body: body, Hash: ledger.Hash(body)}, nil) {
				return
			}
		}
	}
	sum, _, err := chain.Verify("of this server", lines, func(*chain.State) error { return nil }, tell)
	if err != nil {
		return nil, err
	}
	out := &Verified{Records: sum.Records, Charges: sum.Charges, Answers: sum.Answers, Head: Head{sum.Records, sum.Head},
		Kinds: map[string]uint64{}, Windows: sum.Windows, First: sum.First, Last: sum.Last, Balances: sum.Balances}
	for kind, n := range sum.Kinds {
		out.Kinds[string(kind)] = n
	}
	if sum.Owner != "" {
		out.Fingerprint = ledger.Fingerprint(sum.Owner)
	}
	if out.Balances == nil {
		out.Balances = []ledger.Balance{}
	}
	return out, nil
}
