package lockstep

import (
	"context"
	"fmt"
	"strings"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp/mech"
	"github.com/discreet-dp/discreet/internal/curator"
	"github.com/discreet-dp/discreet/internal/detrand"
	"github.com/discreet-dp/discreet/internal/engine"
	"github.com/discreet-dp/discreet/internal/entropy"
	"github.com/discreet-dp/discreet/internal/ledger/memledger"
	"github.com/discreet-dp/discreet/internal/planner"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/policy"
)

type Asker interface {
	Ask(ctx context.Context, q api.Question) (*api.Answer, error)
}

// System makes what is put to the test: something that answers questions about a dataset, with
// exact values from this engine, charges to this ledger and noise from this releaser, and
// with nothing else.
type System func(*policy.Dataset, engine.Engine, ledger.Ledger, *mech.Releaser) Asker

// OpenCurator is the system itself.
func OpenCurator(ds *policy.Dataset, e engine.Engine, l ledger.Ledger, r *mech.Releaser) Asker {
	return curator.New(ds, e, l, r)
}

// Database is one of two neighbours: what the policy says about it, and its engine.
type Database struct {
	Dataset *policy.Dataset
	Engine  engine.Engine
}

// outcome is all that came of a question: what the analyst saw, what was charged, and
// what the engine and the releaser were asked to do.
type outcome struct {
	panicked bool
	err      string
	answer   *api.Answer
	events   []string // in their order
	charges  []ledger.Charge
	calls    []mech.Call
	drawn    int // bytes of randomness
}

func (o *outcome) event(name string) { o.events = append(o.events, name) }

// recorder is an engine that writes down when it is used.
type recorder struct {
	engine.Engine
	seen   *outcome
	people string // the query of how many people there are, where that is public
}

func (w recorder) Run(ctx context.Context, q *tree.Query) (*engine.Result, error) {
	if q.Hash() != w.people {
		w.seen.event("run")
	}
	return w.Engine.Run(ctx, q)
}

// trialSystem is a system with a new ledger and the randomness of a seed.
type trialSystem struct {
	Asker
	seen   *outcome
	stream *detrand.Stream
	asked  int
}

func (s System) open(d Database, seed uint64) *trialSystem {
	if s == nil {
		s = OpenCurator
	}
	seen := &outcome{}
	bits := detrand.NewStream("noise", seed)
	r := mech.NewReleaser(entropy.FromReader(bits))
	r.Record(func(c mech.Call) {
		seen.event("release")
		seen.calls = append(seen.calls, c)
	})
	watched := recorder{Engine: d.Engine, seen: seen}
	if q := planner.CountPeople(d.Dataset); q != nil {
		watched.people = q.Hash()
	}
	return &trialSystem{s(d.Dataset, watched, newRecordingLedger(seen), r), seen, bits, 0}
}

// ask asks as any analyst of the dataset, at the default price, and returns what came of it. A
// panic is an outcome too.
func (s *trialSystem) ask(ctx context.Context, d Database, question string) (o outcome) {
	*s.seen = outcome{}
	before := s.stream.Drawn()
	s.asked++
	defer func() {
		if r := recover(); r != nil {
			s.seen.panicked, s.seen.err = true, fmt.Sprint("panic: ", r)
		}
		o = *s.seen
		o.drawn = s.stream.Drawn() - before
	}()
	a, err := s.Ask(ctx, api.Question{Analyst: richestAnalyst(d.Dataset), SQL: question, Request: fmt.Sprint("question ", s.asked)})
	if err != nil {
		s.seen.err = err.Error()
	}
	s.seen.answer = a
	return o
}

// richestAnalyst names the analyst with the largest quota.
func richestAnalyst(ds *policy.Dataset) string {
	var best string
	for name := range ds.Analysts {
		switch {
		case best == "":
			best = name
		case quotaShare(ds, name) != quotaShare(ds, best):
			if quotaShare(ds, name) > quotaShare(ds, best) {
				best = name
			}
		case name < best:
			best = name
		}
	}
	return best
}

// quotaShare returns how much a name can spend, as a part of the dataset's budget.
func quotaShare(ds *policy.Dataset, name string) float64 {
	quota, _ := ds.Quota(name)
	all, own := ds.Filter().Limit(), quota.Limit()
	if ds.Budget.Pure() {
		return own.Epsilon.Float() / all.Epsilon.Float()
	}
	return own.Rho.Float() / all.Rho.Float()
}

// recordingLedger is a ledger in memory that writes down what it is asked to do. That a charge
// survives a crash is tested where it is implemented, and a replay makes thousands of them. One
// question at a time is asked of it.
type recordingLedger struct {
	*memledger.Ledger
	seen *outcome
}

func newRecordingLedger(seen *outcome) *recordingLedger {
	return &recordingLedger{memledger.New(), seen}
}

func (b *recordingLedger) Charge(ctx context.Context, c ledger.Charge) (ledger.Receipt, error) {
	b.seen.event("charge")
	b.seen.charges = append(b.seen.charges, c)
	return b.Ledger.Charge(ctx, c)
}

func (b *recordingLedger) Keep(ctx context.Context, sequence uint64, key string, answer []byte) error {
	b.seen.event("keep")
	return b.Ledger.Keep(ctx, sequence, key, answer)
}

func (b *recordingLedger) Note(ctx context.Context, session string, entry []byte) error {
	b.seen.event("note")
	return b.Ledger.Note(ctx, session, entry)
}

func (b *recordingLedger) NoteIf(ctx context.Context, session string, entry []byte, p ledger.Provided) error {
	err := b.Ledger.NoteIf(ctx, session, entry, p)
	// Whom the policy protects is noted once, whatever is asked first, and is about the policy
	// alone.
	if err != ledger.ErrBehind && !strings.HasPrefix(session, "protects ") {
		b.seen.event("note")
	}
	return err
}

func (b *recordingLedger) Enter(ctx context.Context, e ledger.Entry) (ledger.Receipt, error) {
	b.seen.event("enter")
	return b.Ledger.Enter(ctx, e)
}
