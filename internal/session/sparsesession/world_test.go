package sparsesession

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp/mech"
	"github.com/discreet-dp/discreet/internal/engine"
	"github.com/discreet-dp/discreet/internal/engine/duckdb"
	"github.com/discreet-dp/discreet/internal/entropy"
	"github.com/discreet-dp/discreet/internal/lab/hospital"
	"github.com/discreet-dp/discreet/internal/planner"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/internal/session/sessionhost"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/policy"
)

const (
	plenty = "{epsilon: 100, per_query: {default: 0.1, max: 1}}"
	rich   = "{epsilon: 100, delta: 1e-6, per_query: {default: 0.1, max: 1}}"
)

var ctx = context.Background()

// world is a hospital with a real engine, and a curator who writes down what is charged. What a
// curator does with it is tested there.
type world struct {
	*Sessions
	sessionhost.Verifier
	sessionhost.DataStates
	sessionhost.Cashier
	sessionhost.Runner
	sessionhost.Incidents
	sessionhost.Journal
	t       testing.TB
	engine  *duckdb.Engine
	charges []ledger.Charge
	notes   int
}

func (w *world) CheckTime(context.Context, *tree.Query) error { return nil }

func (w *world) check(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) Admit(string) error                                                 { return nil }
func (w *world) Options(context.Context, api.Settings) planner.Options              { return planner.Options{} }
func (w *world) CheckTwice(*planner.Statement) error                                { return nil }
func (w *world) Data(context.Context) (sessionhost.Data, error)                     { return sessionhost.Data{}, nil }
func (w *world) NoteRun(context.Context) error                                      { return nil }
func (w *world) Closed(context.Context, string, bool) error                         { return nil }
func (w *world) Window(context.Context, string) (uint64, error)                     { return 1, nil }
func (w *world) Note(context.Context, string, []byte) error                         { w.notes++; return nil }
func (w *world) Failed(_ context.Context, _ string, _ uint64, cause, _ error) error { return cause }

func (w *world) Run(ctx context.Context, q *tree.Query) (*engine.Result, error) {
	return w.engine.Run(ctx, q)
}

func (w *world) Charge(_ context.Context, _ string, c ledger.Charge) (ledger.Receipt, error) {
	w.charges = append(w.charges, c)
	return ledger.Receipt{Sequence: 1, Window: 1}, nil
}

// build writes a hospital and a policy, and opens both. Its noise is that of the seed.
func build(t testing.TB, h *hospital.Hospital, dataset string, seed byte) *world {
	t.Helper()
	w := &world{t: t}
	dir := t.TempDir()
	w.check(h.Write(filepath.Join(dir, "data")))
	path := filepath.Join(dir, "policy.yaml")
	w.check(os.WriteFile(path, []byte("datasets:\n"+dataset), 0o600))
	p, err := policy.Load(path)
	w.check(err)
	ds := p.Datasets["hospital"]
	w.engine, err = duckdb.Open(ctx, ds)
	w.check(err)
	t.Cleanup(func() { w.engine.Close() })
	noisy := mech.NewReleaser(seededSource(seed))
	w.Sessions = New(sessionhost.Access{Planner: w, Verifier: w, DataStates: w, Cashier: w, Runner: w, Incidents: w, Journal: w,
		Dataset: ds, Releaser: noisy})
	return w
}

// seededSource is randomness that is the same for the same seed.
func seededSource(seed ...byte) *entropy.Source {
	var key [32]byte
	copy(key[:], seed)
	return entropy.FromReader(rand.NewChaCha8(key))
}

// pair is two neighbouring worlds with the same randomness.
type pair struct{ a, b *world }

func newPair(t testing.TB, dataset string, x, y *hospital.Hospital) pair {
	return pair{build(t, x, dataset, 7), build(t, y, dataset, 7)}
}

// restless has somebody who is in every ward every day, at any price, and is
// of an age and a sex that the policy does not know.
func restless(n int, seed uint64) *hospital.Hospital {
	h := hospital.New(n, seed)
	for i := range h.Patients {
		if p := &h.Patients[i]; p.ID == hospital.Target {
			p.Age, p.Sex, p.Cents = -300, "", 9e15
		}
	}
	for i := range 300 {
		day := fmt.Sprintf("2025-%02d-%02d", 1+i%12, 1+i%28)
		h.Visits = append(h.Visits, hospital.Visit{Patient: hospital.Target, Day: day,
			Ward: []string{"emergency", "internal", "surgery", "cellar"}[i%4], Cents: i * i * 1000})
	}
	return h
}

func substitute(dataset string) string {
	return strings.Replace(dataset, "    budget:", "    neighbours: substitute\n    budget:", 1)
}
