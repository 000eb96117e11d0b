// Package sandbox answers questions about people who do not exist, for who tries SQL out. The
// tables are made of the policy (internal/fakedata), and so are the people, the noise and the
// ledger that is charged: no file of the owner's is opened, the same question has the same answer
// whatever the data is, and nothing is spent. A question goes the way of every other, so what is
// refused here is refused there, in the same words and with the same price.
//
// Streams and holdouts are left out: what they know comes of answers that were paid for.
package sandbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp/mech"
	"github.com/discreet-dp/discreet/internal/curator"
	"github.com/discreet-dp/discreet/internal/detrand"
	"github.com/discreet-dp/discreet/internal/engine"
	"github.com/discreet-dp/discreet/internal/engine/duckdb"
	"github.com/discreet-dp/discreet/internal/engine/postquery"
	"github.com/discreet-dp/discreet/internal/fakedata"
	"github.com/discreet-dp/discreet/internal/ledger/memledger"
	"github.com/discreet-dp/discreet/internal/planner/syntax"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/policy"
	"github.com/discreet-dp/discreet/store"
)

// Sandbox has the made-up data of a policy's datasets, each made when it is first asked about. It
// is safe for concurrent use.
type Sandbox struct {
	policy     *policy.Policy
	maxNumbers int          // of the noisy numbers of an answer
	inUse      sync.RWMutex // held by who asks, so that nothing is closed under their feet

	mu    sync.Mutex
	towns map[string]*sandboxData
	ended bool
}

// sandboxData is the made-up data of a dataset.
type sandboxData struct {
	dataset *policy.Dataset
	engine  fixedEngine
}

// fixedEngine is data that is in memory and stays as it is. An engine looks after its files at
// every question, and opens them anew where they are others: these are gone, and what somebody puts
// into their place is none of ours.
type fixedEngine struct {
	*duckdb.Engine
	version store.Version
}

func (s fixedEngine) Version(context.Context) (store.Version, error) { return s.version, nil }

// engineLimits are what the data of one dataset may take, which is small.
var engineLimits = duckdb.Limits{Memory: 256_000_000, Threads: 1}

// New returns the sandbox of a policy. Nothing is made yet.
func New(p *policy.Policy) *Sandbox {
	return &Sandbox{policy: p, maxNumbers: MaxNumbers, towns: map[string]*sandboxData{}}
}

var errClosed = errors.New("the sandbox is closed")

// Ask answers a question about nobody. Errors are those of [curator.Curator.Ask]. Of the answer
// only what is about the text means something, such as its columns, its price and its notes; what
// would be about a ledger and about data is left out.
func (s *Sandbox) Ask(ctx context.Context, q api.Question) (*api.Answer, error) {
	// What is asked here leaves on no tick, so it waits for nothing that questions about people
	// have.
	ctx = postquery.WithOwnTurns(ctx)
	s.inUse.RLock()
	defer s.inUse.RUnlock()
	t, err := s.open(ctx, q.Dataset)
	if err != nil {
		return nil, err
	}
	q.Request = cmp.Or(q.Request, "sandbox")
	asked, err := syntax.Bound(q)
	if err != nil {
		return nil, err
	}
	// Everything that a question leaves behind is thrown away with it: it is always the first.
	noise := detrand.Noise(fmt.Sprintf("sandbox %q %v", q.SQL, q.Parameters), 1)
	data := &boundedEngine{fixedEngine: t.engine, maxNumbers: s.maxNumbers}
	c := curator.New(fakedata.EndlessBudget(t.dataset, q.Analyst), data, memledger.New(), mech.NewReleaser(noise))
	a, err := askBoth(ctx, c, asked)
	if err := data.refuseLarge(); err != nil {
		return nil, err // in the place of what the curator says of a query that has failed
	}
	if err != nil {
		return nil, err
	}
	// There is no ledger, no budget and no data to tell of.
	a.MadeUp, a.Receipt, a.Version = true, api.Receipt{Free: true}, api.DataVersion{}
	a.Remaining, a.More, a.Alerts = api.Remaining{}, nil, nil
	a.ShowErrors(q.Settings.Errors)
	return a, nil
}

// askBoth asks a question, and before it what its limits are chosen from, where they are. The cost
// is the price of both.
func askBoth(ctx context.Context, c *curator.Curator, q api.Question) (*api.Answer, error) {
	first, then, err := c.First(ctx, q)
	if err != nil {
		return nil, err
	}
	if first == nil {
		return c.Ask(ctx, then)
	}
	both, err := c.Explain(ctx, q)
	if err != nil {
		return nil, err
	}
	if then.Count, err = c.Ask(ctx, *first); err != nil {
		return nil, err
	}
	a, err := c.Ask(ctx, then)
	if err == nil {
		a.Cost = both.Cost
	}
	return a, err
}

// open returns the data of a dataset, and makes it where nobody asked before.
func (s *Sandbox) open(ctx context.Context, name string) (*sandboxData, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return nil, errClosed
	}
	if t := s.towns[name]; t != nil {
		return t, nil
	}
	ds := s.policy.Datasets[name]
	if ds == nil {
		return nil, api.Refuse("", "there is no dataset %q", name)
	}
	t, err := buildData(ctx, ds)
	if err != nil {
		return nil, err
	}
	s.towns[name] = t
	return t, nil
}

// buildData makes the data of a dataset. Its files are there for as long as they are read.
func buildData(ctx context.Context, ds *policy.Dataset) (_ *sandboxData, err error) {
	folder, err := os.MkdirTemp("", "discreet-sandbox-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	made, err := fakedata.MakeTown(ds, folder)
	if err != nil {
		return nil, err
	}
	made.Streams, made.Holdouts = nil, nil
	if err := refuseOutside(made, folder); err != nil {
		return nil, err
	}
	// Who asked first may hang up, and others want it too.
	ctx = context.WithoutCancel(ctx)
	e, err := duckdb.OpenWith(ctx, made, engineLimits)
	if err != nil {
		return nil, err
	}
	version, err := e.Version(ctx)
	if err != nil {
		return nil, errors.Join(err, e.Close())
	}
	return &sandboxData{made, fixedEngine{e, version}}, nil
}

// refuseOutside says no where something is to be read that was not made here. Whatever a policy can
// name as the place of its data, none of it is opened.
func refuseOutside(ds *policy.Dataset, folder string) error {
	wrong := ds.Source != "" || ds.VersionQuery != ""
	for _, t := range ds.Tables {
		wrong = wrong || filepath.Dir(t.Source) != folder || t.Relation != "" || t.Prepared != ""
	}
	if wrong {
		return errors.New("the sandbox would read data that it has not made; that is a bug")
	}
	return nil
}

// Follow takes another policy, and forgets what was made by datasets that are not the same.
func (s *Sandbox) Follow(p *policy.Policy) error {
	s.inUse.Lock()
	defer s.inUse.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []error
	for name, t := range s.towns {
		if p.Datasets[name] != s.policy.Datasets[name] {
			all = append(all, t.engine.Close())
			delete(s.towns, name)
		}
	}
	s.policy = p
	return errors.Join(all...)
}

// Close waits for who asks, and forgets what was made.
func (s *Sandbox) Close() error {
	s.inUse.Lock()
	defer s.inUse.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	var all []error
	for _, t := range s.towns {
		all = append(all, t.engine.Close())
	}
	s.towns = nil
	return errors.Join(all...)
}

// MaxNumbers is how many noisy numbers an answer has at most. Trying is free, so nobody would stop
// at larger ones, which on the data are paid for: their noise is drawn number by number, and once
// that has begun nobody can stop it.
const MaxNumbers = 200_000

// boundedEngine is the data as one question has it, whose answer has to be small.
type boundedEngine struct {
	fixedEngine
	numbers, maxNumbers int
}

// Run runs a query, unless there would be too many numbers.
func (s *boundedEngine) Run(ctx context.Context, q *tree.Query) (*engine.Result, error) {
	for _, m := range q.Measures {
		s.numbers += q.Groups() * len(m.At)
	}
	if err := s.refuseLarge(); err != nil {
		return nil, err
	}
	out, err := s.fixedEngine.Run(ctx, q)
	if err != nil {
		return nil, err
	}
	for _, m := range out.Measures {
		s.numbers += m.Len() // for all private keys that were found
	}
	return out, s.refuseLarge()
}

// refuseLarge refuses an answer that has come to be too large.
func (s *boundedEngine) refuseLarge() error {
	if s.numbers <= s.maxNumbers {
		return nil
	}
	return api.Refuse("ask for fewer groups or aggregates at a time here; quote says what it costs on the data",
		"the sandbox makes at most %d noisy numbers, and this answer has more", s.maxNumbers)
}
