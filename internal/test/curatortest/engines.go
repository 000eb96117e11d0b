package curatortest

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/engine"
	"github.com/discreet-dp/discreet/internal/lab/hospital"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/ledger"
)

var ctx = context.Background()

func Bars(a *api.Answer) (out string) {
	for _, row := range a.Errors {
		for _, e := range row {
			if e != nil {
				out += fmt.Sprint(*e, " ")
			}
		}
	}
	return out
}

// LoadingEngine is an engine whose data changes right before a question runs, after it was priced
// and charged.
type LoadingEngine struct {
	engine.Engine
	Load func()
	Back func() // after it ran, or nil
}

func (l *LoadingEngine) Run(ctx context.Context, q *tree.Query) (*engine.Result, error) {
	l.before()
	r, err := l.Engine.Run(ctx, q)
	l.after()
	return r, err
}

func (l *LoadingEngine) Fetch(ctx context.Context, t *tree.Table, into engine.Collector) (engine.ReadFrom, error) {
	l.before()
	read, err := l.Engine.Fetch(ctx, t, into)
	l.after()
	return read, err
}

func (l *LoadingEngine) before() {
	if l.Load != nil {
		load := l.Load
		l.Load = nil
		load()
	}
}

func (l *LoadingEngine) after() {
	if l.Back != nil {
		back := l.Back
		l.Back = nil
		back()
	}
}

// WriteData puts other data there, and lets the engine find it, as the next question of anybody
// does.
func (w *World) WriteData(h *hospital.Hospital) {
	w.Check(h.Write(filepath.Join(w.Dir, "data")))
	_, err := w.Data.Version(ctx)
	w.Check(err)
}

// LastingEngine is an engine on which everything takes so long, by public numbers.
type LastingEngine struct {
	engine.Engine
	Takes time.Duration
}

func (l LastingEngine) QueryTime(context.Context, *tree.Query) (time.Duration, error) {
	return l.Takes, nil
}

func (l LastingEngine) FetchTime(context.Context, *tree.Table) (time.Duration, error) {
	return l.Takes, nil
}

func (l LastingEngine) FitTime(context.Context, *tree.Table, int, int) (time.Duration, error) {
	return l.Takes, nil
}

func (l LastingEngine) StepsTime(context.Context, float64) (time.Duration, error) {
	return l.Takes, nil
}

// EitherNoise is a budget that is kept by the sum of epsilon or by that of rho.
const EitherNoise = "{epsilon: 1, delta: 1e-6, keys_delta: 0, noise: auto, per_query: {default: 0.1, max: 1}}"

const CountAges = "SELECT COUNT(*) FROM patients WHERE age > %d"

// Charges returns what was charged, in order.
func (w *World) Charges() (all []*ledger.Record) {
	w.T.Helper()
	for r, err := range w.Ledger.Records(ctx, 1) {
		w.Check(err)
		if r.Kind == ledger.KindCharge {
			all = append(all, r.Clone())
		}
	}
	return all
}

// HangingUpEngine is an engine whose first question nobody waits for.
type HangingUpEngine struct {
	engine.Engine
	Cancel func()
}

func (h *HangingUpEngine) Run(ctx context.Context, q *tree.Query) (*engine.Result, error) {
	if h.Cancel != nil {
		h.Cancel()
		h.Cancel = nil
		return nil, ctx.Err()
	}
	return h.Engine.Run(ctx, q)
}
