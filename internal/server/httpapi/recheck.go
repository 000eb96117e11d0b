package httpapi

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/discreet-dp/discreet/internal/ledger/chain"
	"github.com/discreet-dp/discreet/internal/server/users"
	"github.com/discreet-dp/discreet/ledger"
)

// Progress is how far a look at the whole ledger has come. It may take minutes, so it goes on
// beside the server, and whoever began it asks again.
type Progress struct {
	State    string     `json:"state" enum:"none,running,done,failed" doc:"none: nobody asked for it since the server began"`
	Done     uint64     `json:"done" doc:"How many records were looked at"`
	Of       uint64     `json:"of" doc:"Of how many, when it began"`
	By       string     `json:"by,omitempty" doc:"Who began it"`
	Started  *time.Time `json:"started,omitempty"`
	Finished *time.Time `json:"finished,omitempty"`
	Problem  string     `json:"problem,omitempty" doc:"Of failed: what does not check"`
}

// Verified is what follows from a ledger that checks.
type Verified struct {
	Records     uint64            `json:"records" doc:"The sequence of the last record"`
	Charges     uint64            `json:"charges"`
	Answers     uint64            `json:"answers" doc:"Answers that were kept"`
	Head        Head              `json:"head"`
	Kinds       map[string]uint64 `json:"kinds" doc:"How many records there are of each kind"`
	Windows     map[string]uint64 `json:"windows" doc:"The current window of every dataset that was renewed"`
	Fingerprint string            `json:"fingerprint,omitempty" doc:"Of the key whose signature counts; left out where there is none"`
	First       time.Time         `json:"first" doc:"The time of the first record"`
	Last        time.Time         `json:"last" doc:"The time of the last record"`
	Balances    []ledger.Balance  `json:"balances" doc:"What was spent in every account ever charged, from the chain alone"`
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

// recheck is a look at the whole ledger, the last one of its kind.
type recheck[T any] struct {
	mu     sync.Mutex
	at     Progress
	result *T
}

func (c *recheck[T]) now() (Progress, *T) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.at.State == "" {
		return Progress{State: "none"}, nil
	}
	return c.at, c.result
}

func (c *recheck[T]) change(f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f()
}

// begin begins a look, unless one of this kind is under way. There is one look at a time, of
// whatever kind, because each reads everything.
func (c *recheck[T]) begin(ctx context.Context, d *door, u users.User, look func(context.Context, func(uint64)) (*T, error)) error {
	if at, _ := c.now(); at.State == "running" {
		return nil
	}
	head, err := d.head.read(ctx, d.Dispatcher.DB())
	if err != nil {
		return err
	}
	select {
	case d.audits <- struct{}{}:
	default:
		return &Problem{Status: http.StatusConflict, Kind: "running", Detail: "another look at the whole ledger is under way",
			Instead: "wait until it has ended"}
	}
	c.change(func() {
		c.at, c.result = Progress{State: "running", Of: head.Sequence, By: u.Name, Started: when(time.Now())}, nil
	})
	ctx = context.WithoutCancel(ctx) // who asked need not wait; it ends with the ledger
	go func() {
		defer func() { <-d.audits }()
		result, err := caught(func() (*T, error) { return look(ctx, func(done uint64) { c.change(func() { c.at.Done = done }) }) })
		c.change(func() {
			c.at.State, c.at.Finished, c.result = "done", when(time.Now()), result
			if err != nil {
				c.at.State, c.at.Problem, c.result = "failed", clip(err.Error()), nil
				return
			}
			c.at.Done = max(c.at.Of, c.at.Done)
		})
	}()
	return nil
}

// caught makes an error of a panic: nobody else waits for this, and the server goes on.
func caught[T any](f func() (*T, error)) (out *T, err error) {
	defer func() {
		if recover() != nil {
			out, err = nil, errors.New("this did not work: look at the ledger with 'discreet ledger verify', with the server stopped")
		}
	}()
	return f()
}

// rechecking are the two operations of a look at the whole ledger: to begin it, and to see it.
func rechecking(kind, summary, description string) (start, see huma.Operation) {
	at := "/v1/ledger/" + kind
	start = operation(ownerOnly, http.MethodPost, at, kind, summary, "For the owner. "+description+" It runs beside the server, one at a "+
		"time; GET says how far it is, and what came of it. Where one is under way, that is told.", http.StatusConflict)
	start.DefaultStatus = http.StatusAccepted
	see = operation(ownerOnly, http.MethodGet, at, kind+"-state", summary+": how far it is", "For the owner. What came of the last one.")
	return start, see
}

func (d *door) rechecks() {
	start, see := rechecking("verify", "Check the ledger",
		"Recomputes the hash of every record, and adds up what was spent from the records alone.")
	verification := func() *body[Verification] {
		at, result := d.verifying.now()
		return of(Verification{at, result})
	}
	register(d, start, func(ctx context.Context, u users.User, _ *nothing) (*body[Verification], error) {
		if err := d.verifying.begin(ctx, d, u, d.verify); err != nil {
			return nil, err
		}
		return verification(), nil
	})
	register(d, see, func(context.Context, users.User, *nothing) (*body[Verification], error) { return verification(), nil })
	start, see = rechecking("replay", "Decide every charge once more",
		"By code that shares nothing with what decided it first, with the owner's signatures.")
	replaying := func() *body[Replaying] {
		at, result := d.replaying.now()
		return of(Replaying{at, result})
	}
	register(d, start, func(ctx context.Context, u users.User, _ *nothing) (*body[Replaying], error) {
		if err := d.replaying.begin(ctx, d, u, d.look); err != nil {
			return nil, err
		}
		return replaying(), nil
	})
	register(d, see, func(context.Context, users.User, *nothing) (*body[Replaying], error) { return replaying(), nil })
}

// verify checks the ledger from its first record to its last.
func (d *door) verify(ctx context.Context, tell func(uint64)) (*Verified, error) {
	lines := func(yield func(chain.Line, error) bool) {
		for r, err := range d.Dispatcher.DB().Records(ctx, 0) {
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
