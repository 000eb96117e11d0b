package curator

import (
	"context"
	"math"
	"sync"
	"time"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/curator/budgets"
	"github.com/discreet-dp/discreet/internal/curator/pricing"
	"github.com/discreet-dp/discreet/internal/engine"
	"github.com/discreet-dp/discreet/internal/planner"
	"github.com/discreet-dp/discreet/internal/planner/syntax"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/internal/releaseclock"
	"github.com/discreet-dp/discreet/internal/session/sessionhost"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/policy"
)

// timedEngine is an engine of which it is known how long it takes at most, by what everybody may
// know: the tree, the sizes of tables and the speed of the machine. Nothing of it is measured while
// somebody asks.
type timedEngine interface {
	QueryTime(ctx context.Context, q *tree.Query) (time.Duration, error)
	FetchTime(ctx context.Context, t *tree.Table) (time.Duration, error)
	FitTime(ctx context.Context, t *tree.Table, models, parts int) (time.Duration, error)
	StepsTime(ctx context.Context, n float64) (time.Duration, error)
}

// runner is the only way to the engine. Whatever it runs takes its public time, where answers leave
// on a schedule.
type runner struct {
	dataset *policy.Dataset
	engine  engine.Engine
}

// Run asks the engine. A panic of it, or of what prints the question, is an error, of which nothing
// is left that could hold data.
func (r *runner) Run(ctx context.Context, q *tree.Query) (found *engine.Result, err error) {
	takes, err := r.publicTime(ctx, q)
	if err != nil {
		return nil, err
	}
	err = r.pacedRun(ctx, takes, func(ctx context.Context) (err error) {
		defer sessionhost.Catch(&err)
		found, err = r.engine.Run(ctx, q)
		return err
	})
	return found, err
}

// RunPublic computes sums over a public table, which is about nobody. It runs beside what is, on
// the same threads, which do more or less of it: so it has a public time like all that they do.
func (r *runner) RunPublic(ctx context.Context, q *tree.Query) (sums []int64, err error) {
	if err := r.CheckTime(ctx, q); err != nil {
		return nil, err
	}
	takes, err := r.publicTime(ctx, q)
	if err != nil {
		return nil, err
	}
	err = r.pacedRun(ctx, takes, func(ctx context.Context) (err error) {
		sums, err = engine.RunPublic(ctx, r.engine, q)
		return err
	})
	return sums, err
}

// Fetch does the same for rows. They may be fetched twice, each time into what a function makes.
func (r *runner) Fetch(ctx context.Context, t *tree.Table, into func() engine.Collector) (read engine.ReadFrom, err error) {
	takes, err := r.publicTimeOfRows(ctx, t)
	if err != nil {
		return read, err
	}
	err = r.pacedRun(ctx, takes, func(ctx context.Context) (err error) {
		defer sessionhost.Catch(&err)
		read, err = r.engine.Fetch(ctx, t, into())
		return err
	})
	return read, err
}

// publicTime is how long a query takes at most; what the schedule allows where nobody knows. It is
// 0 for who waits for no schedule.
func (r *runner) publicTime(ctx context.Context, q *tree.Query) (time.Duration, error) {
	return r.timeOf(ctx, func(e timedEngine) (time.Duration, error) { return e.QueryTime(ctx, q) })
}

func (r *runner) publicTimeOfRows(ctx context.Context, t *tree.Table) (time.Duration, error) {
	return r.timeOf(ctx, func(e timedEngine) (time.Duration, error) { return e.FetchTime(ctx, t) })
}

// purchaseTime is how long it takes to compute a purchase, with all that it is released with, and
// releaseTime what of that the query does not know of.
func (r *runner) purchaseTime(ctx context.Context, b *pricing.Purchase) (time.Duration, error) {
	q := b.Query
	if b.Cube != nil {
		q = b.Cube.Query
	}
	takes, err := r.publicTime(ctx, q)
	if err != nil {
		return 0, err
	}
	more, err := r.releaseTime(ctx, b)
	return addTimes(takes, more), err
}

func (r *runner) releaseTime(ctx context.Context, b *pricing.Purchase) (time.Duration, error) {
	steps := b.Steps()
	if _, ok := r.engine.(timedEngine); !ok || steps == 0 {
		return 0, nil // where nobody knows, the query has all that the schedule allows
	}
	return r.timeOf(ctx, func(e timedEngine) (time.Duration, error) { return e.StepsTime(ctx, steps) })
}

func (r *runner) FitTime(ctx context.Context, t *tree.Table, models, parts int) (time.Duration, error) {
	return r.timeOf(ctx, func(e timedEngine) (time.Duration, error) { return e.FitTime(ctx, t, models, parts) })
}

// pacedRun looks at data by a function that takes at most so long.
func (r *runner) pacedRun(ctx context.Context, takes time.Duration, do func(context.Context) error) error {
	if r.dataset.SourceKind() == policy.TrinoDatabase {
		return releaseclock.RunElsewhere(ctx, takes, do)
	}
	return releaseclock.Run(ctx, takes, do)
}

func (r *runner) timeOf(ctx context.Context, of func(timedEngine) (time.Duration, error)) (time.Duration, error) {
	limit, scheduled := releaseclock.Limit(ctx)
	if !scheduled {
		return 0, nil
	}
	e, ok := r.engine.(timedEngine)
	if !ok {
		return limit, nil
	}
	return of(e)
}

// timeOfAll is how long purchases take at most, one after the other.
func (r *runner) timeOfAll(ctx context.Context, buys []*pricing.Purchase) (time.Duration, error) {
	sum, seen := time.Duration(0), map[*tree.Query]bool{}
	for _, b := range buys {
		q := b.Query
		if b.Cube != nil {
			q = b.Cube.Query
		}
		if seen[q] {
			continue
		}
		seen[q] = true
		takes, err := r.purchaseTime(ctx, b)
		if err != nil {
			return 0, err
		}
		sum = addTimes(sum, takes)
	}
	return sum, nil
}

// addTimes adds times. Those of questions that nobody could wait for are enormous.
func addTimes(a, b time.Duration) time.Duration {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// checkTime refuses what would take longer than a question may, before anything is charged.
func (r *runner) checkTime(ctx context.Context, buys []*pricing.Purchase) error {
	return refuseBeyondLimit(ctx, func() (time.Duration, error) { return r.timeOfAll(ctx, buys) })
}

func (r *runner) CheckTime(ctx context.Context, q *tree.Query) error {
	return refuseBeyondLimit(ctx, func() (time.Duration, error) { return r.publicTime(ctx, q) })
}

func (r *runner) CheckTrainingTime(ctx context.Context, t *tree.Table, models, parts int) error {
	return refuseBeyondLimit(ctx, func() (time.Duration, error) {
		if _, ok := r.engine.(timedEngine); !ok {
			return 0, nil // nobody knows, and what the schedule allows it has twice
		}
		fetch, err := r.publicTimeOfRows(ctx, t)
		if err != nil {
			return 0, err
		}
		fit, err := r.FitTime(ctx, t, models, parts)
		return addTimes(fetch, fit), err
	})
}

func refuseBeyondLimit(ctx context.Context, of func() (time.Duration, error)) error {
	limit, scheduled := releaseclock.Limit(ctx)
	if !scheduled {
		return nil
	}
	takes, err := of()
	if err != nil {
		return err
	}
	if takes > limit {
		return syntax.Refuse(syntax.TooComplex, -1,
			"ask for less at once: fewer joins, patterns, windows or medians; or ask the owner for a longer --timeout",
			"this question may take %s on data of this size, and the server's limit is %v", sayTime(takes), limit)
	}
	return nil
}

// sayTime rounds a time up, so that it is longer than a limit that it is beyond. Those of questions
// that nobody could wait for are enormous.
func sayTime(d time.Duration) string {
	if d > 240*time.Hour {
		return "more than ten days"
	}
	return (d + time.Second - 1).Truncate(time.Second).String()
}

// dataStates says in which state the data is, and whether it still is.
type dataStates struct {
	runner   *runner
	accounts *budgets.DatasetAccounts
	ledger   ledger.Ledger
}

// Data asks the engine for the state of its data, and the ledger for what it is called there. Every
// question comes by here, so that nothing is told under a policy that protects others than charges
// before did. One that has looked at data waits: whether it was done when the data changed must not
// decide what becomes of it.
func (s *dataStates) Data(ctx context.Context) (sessionhost.Data, error) {
	releaseclock.Settle(ctx)
	if _, err := s.accounts.Protected(ctx); err != nil {
		return sessionhost.Data{}, err
	}
	state, err := s.runner.engine.Version(ctx)
	if err != nil {
		return sessionhost.Data{}, err
	}
	v, err := s.ledger.DataVersion(ctx, s.runner.dataset.Name, state.Name, state.Key())
	return sessionhost.Data{Version: v, State: state.Key(), Whole: state.Whole}, err
}

// Moved reports whether something was read from other data than it was asked of, or may have been.
func (s *dataStates) Moved(ctx context.Context, d sessionhost.Data, read engine.ReadFrom) bool {
	r := computation{states: s, data: d}
	r.note(read)
	return r.moved(ctx)
}

// unmoved reports whether the data is known to be in the state that a question found it in. What
// ran in between ran on that. It waits as Data does.
func (s *dataStates) unmoved(ctx context.Context, d sessionhost.Data) bool {
	if !d.Whole {
		return false
	}
	releaseclock.Settle(ctx)
	state, err := s.runner.engine.Version(context.WithoutCancel(ctx))
	return err == nil && state.Whole && state.Key() == d.State
}

// peopleCounter knows how many people there are in the latest state of the data that was asked
// about, where that is public.
type peopleCounter struct {
	runner   *runner
	verifier *verifier
	states   *dataStates
	cashier  *cashier

	mu    sync.Mutex
	state string
	known bool
	n     int64
}

// count returns how many people there are. It is counted once for each state of the data, by
// a query of its own that no question has a part in, and that is checked twice like all that reach
// the engine.
func (p *peopleCounter) count(ctx context.Context) (int64, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for range maxReads {
		n, moved, err := p.countOnce(ctx)
		if err != nil || !moved {
			return n, err
		}
	}
	return 0, api.ErrChanging
}

// maxReads is how often something is read anew because the data changed meanwhile.
const maxReads = 3

// countOnce also reports whether what was counted may be of other data than there was, which
// is kept for nobody.
func (p *peopleCounter) countOnce(ctx context.Context) (n int64, moved bool, err error) {
	version, err := p.runner.engine.Version(ctx)
	if err != nil {
		return 0, false, err
	}
	if p.known && p.state == version.Key() {
		return p.n, false, nil
	}
	if err := p.cashier.recordProtected(ctx); err != nil {
		return 0, false, err
	}
	q := planner.CountPeople(p.runner.dataset)
	if q == nil {
		return 0, false, engine.ErrPrivate
	}
	if err := p.verifier.checkPeople(q); err != nil {
		return 0, false, err
	}
	n, read, err := engine.RunPeople(ctx, p.runner.engine, p.runner.dataset, q)
	if err != nil || p.states.Moved(ctx, sessionhost.Data{State: version.Key(), Whole: version.Whole}, read) {
		return 0, err == nil, err
	}
	p.state, p.known, p.n = version.Key(), true, n
	return n, false, nil
}
