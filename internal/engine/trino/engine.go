// Package trino runs questions on a Trino cluster: the dialect of its SQL, and the engine over its
// handle. What is the same for every database is in packages sqlgen and sqlengine.
package trino

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/discreet-dp/discreet/internal/engine"
	"github.com/discreet-dp/discreet/internal/engine/publictime"
	"github.com/discreet-dp/discreet/internal/engine/sqlengine"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/internal/releaseclock"
	"github.com/discreet-dp/discreet/internal/source/catalogue"
	"github.com/discreet-dp/discreet/internal/source/trinotables"
	"github.com/discreet-dp/discreet/internal/sqlgen"
	"github.com/discreet-dp/discreet/policy"
	"github.com/discreet-dp/discreet/store"
)

// Engine runs questions on a cluster. It is safe for concurrent use.
type Engine struct {
	*sqlengine.Engine
	dataset *policy.Dataset
	tables  Tables

	mu   sync.Mutex
	seen map[string]TableState // the last states, by the key of their version
}

var _ engine.Engine = (*Engine)(nil)

// Tables are the tables of a dataset on a cluster.
type Tables struct {
	DB *sql.DB
	// Look finds out in which state they are, before a question.
	ReadState func(context.Context) (TableState, error)
}

// TableState is a state of the tables.
type TableState struct {
	Version store.Version
	// Pinned says that From reads them in this state, whatever becomes of them meanwhile.
	Pinned bool
	// From spells a table of the policy for a statement.
	From func(table string) string
	// Still reports, after a question, whether what was pinned is still what it was. Where it is
	// nil it is for certain.
	Still func(context.Context) (bool, error)
}

// Open looks at the tables of a dataset. Its errors are for the owner: they name tables and
// columns, and no value of the data.
func Open(ctx context.Context, ds *policy.Dataset) (*Engine, error) {
	d, err := trinotables.Of(ds)
	if err != nil {
		return nil, err
	}
	return OpenTables(ctx, ds, Tables{d.DB(), func(ctx context.Context) (TableState, error) {
		s, err := d.CurrentState(ctx)
		if err != nil {
			return TableState{}, err
		}
		return TableState{s.Version, s.Pinned, s.From, func(ctx context.Context) (bool, error) { return d.IsStillReadable(ctx, s) }}, nil
	}})
}

// OpenTables opens tables whose rights and versions somebody else looks after. They are closed with
// the engine, and where it cannot be opened.
func OpenTables(ctx context.Context, ds *policy.Dataset, tables Tables) (*Engine, error) {
	e := &Engine{dataset: ds, tables: tables, seen: map[string]TableState{}}
	// What went wrong is the owner's to hear.
	_, err := e.look(ctx)
	if err == nil {
		e.Engine, err = sqlengine.Open(ctx, ds, store.Store{DB: tables.DB, Version: e.look}, sqlDialect,
			sqlengine.Options{Name: name, At: e.at, Failure: failure, Check: e.check, Counting: countFunctions, Machine: measure})
	}
	if err != nil {
		tables.DB.Close()
		return nil, err
	}
	return e, nil
}

// look finds out in which state the tables are.
func (e *Engine) look(ctx context.Context) (store.Version, error) {
	s, err := e.tables.ReadState(ctx)
	if err != nil {
		return store.Version{}, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.seen) > maxStates {
		clear(e.seen)
	}
	e.seen[s.Version.Key()] = s
	return s.Version, nil
}

// maxStates is how many are remembered. One is looked up right after it was seen.
const maxStates = 1000

// at spells a table in a state. Where that is not known any more it is spelled as nothing, which no
// statement can be made of.
func (e *Engine) at(v store.Version, t *policy.Table, _ string) string {
	s, _ := e.known(v)
	if s.From == nil {
		return ""
	}
	return s.From(t.Name)
}

func (e *Engine) known(v store.Version) (TableState, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	s, ok := e.seen[v.Key()]
	return s, ok
}

// name is what a table is called: its catalog, its schema and its own name.
func name(t *policy.Table) string {
	parts := strings.SplitN(t.Relation, ".", 3)
	for i, p := range parts {
		parts[i] = sqlgen.QuoteName(p)
	}
	return strings.Join(parts, ".")
}

// check refuses people whom Trino cannot tell apart in one way.
func (e *Engine) check(d *sqlengine.Database) error {
	if d.ByRow {
		return fmt.Errorf("dataset %s: every row is a person, but Trino cannot tell the rows of a table apart; under 'unit', name a "+
			"column that identifies the person", e.dataset.Name)
	}
	for identity, typ := range d.Kinds {
		if !identifiesPeople(typ) {
			return fmt.Errorf("dataset %s: %s is stored as %s, in which equal values can have two spellings, so it cannot identify "+
				"a person; store it as bigint or varchar, or use a view that casts it", e.dataset.Name, identity, typ)
		}
	}
	return nil
}

// maxRuns is how often a question is run where the data has changed meanwhile.
const maxRuns = 3

// errChanged is why a run ended where the data does not stand still.
var errChanged = errors.New("trino: the data changed while it was being read")

// Run computes a query exactly; see [engine.Result]. What goes wrong is [engine.ErrRun]. All that
// it reads is of one state: where nothing pins that, and the data has changed meanwhile, it is read
// again. A statement may read a table twice, so that holds for one statement too.
func (e *Engine) Run(ctx context.Context, q *tree.Query) (*engine.Result, error) {
	for range maxRuns {
		d := e.Current()
		out, err := d.Run(ctx, q, d.Statements(q))
		if err != nil {
			return nil, err
		}
		same, err := e.isOneState(ctx, d)
		if err != nil {
			return nil, failure(ctx, err)
		}
		if same {
			out.State = d.Version.Key()
			return out, nil
		}
		releaseclock.WorkOf(ctx).Reset()
	}
	return nil, failure(ctx, errChanged)
}

// Fetch hands the rows of a table to a collector. What goes wrong is [engine.ErrRun]. What was
// handed over cannot be taken back, so it fails where the data has changed meanwhile.
func (e *Engine) Fetch(ctx context.Context, t *tree.Table, into engine.Collector) (engine.ReadFrom, error) {
	d := e.Current()
	if err := d.Fetch(ctx, t, into); err != nil {
		return engine.ReadFrom{}, err
	}
	same, err := e.isOneState(ctx, d)
	if err == nil && !same {
		err = errChanged
	}
	if err != nil {
		return engine.ReadFrom{}, failure(ctx, err)
	}
	return engine.ReadFrom{State: d.Version.Key()}, nil
}

// isOneState reports whether all that was read is of one state.
func (e *Engine) isOneState(ctx context.Context, d *sqlengine.Database) (bool, error) {
	pinned := true
	if s, ok := e.known(d.Version); ok && s.Pinned {
		if s.Still == nil {
			return true, nil
		}
		var err error
		if pinned, err = s.Still(ctx); pinned || err != nil {
			return pinned, err
		}
	}
	after, err := e.Version(ctx)
	return pinned && after == d.Version, err
}

// failure is engine.ErrRun, whatever an error says, with how the run ended. Trino's own word comes
// first: a question that failed is not stopped because its context ended meanwhile.
func failure(ctx context.Context, err error) error {
	said := trinotables.Name(err)
	switch {
	case trinotables.OutOfMemory(err):
		return &engine.Failure{Ending: engine.Memory, Err: engine.ErrRun}
	case said != "" && said != "USER_CANCELED":
		return engine.ErrRun
	case ctx.Err() != nil && (said != "" || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)):
		return &engine.Failure{Ending: engine.Stopped, Err: engine.ErrRun}
	}
	return engine.ErrRun
}

// Inspect reads all rows and compares them with what the policy says about them: Trino knows of no
// key, reference or check that would say it. It also says how large the data is, as
// [Engine.Magnitude] does.
func Inspect(ctx context.Context, ds *policy.Dataset) (out []engine.Finding, magnitude int, err error) {
	e, err := openForOwner(ctx, ds)
	if err != nil {
		return nil, 0, err
	}
	defer e.Close()
	d := e.Current()
	for _, name := range ds.TableNames() {
		t := d.Tables[name]
		found, err := d.CheckPaths(ctx, t, ds.PathKeys(ds.Tables[name]))
		if err == nil && !t.Public && t.UnitColumn != "" {
			var more []engine.Finding
			more, err = d.CheckUnit(ctx, t, false)
			found = append(found, more...)
		}
		if err == nil {
			var more []engine.Finding
			more, err = d.CheckColumns(ctx, t, t.ColumnNames(), sqlengine.PlainReading(t, "approx_distinct"))
			found = append(found, more...)
		}
		if err != nil {
			return nil, 0, fmt.Errorf("table %s: its rows cannot be read", name)
		}
		out = append(out, found...)
	}
	found, err := d.CheckSizes(ctx, ds, countFunctions)
	if err != nil {
		return nil, 0, err
	}
	magnitude, err = e.Magnitude(ctx)
	return append(out, found...), magnitude, err
}

// ProposeSizes counts how large the tables of a dataset are, and proposes what to declare of it.
func ProposeSizes(ctx context.Context, ds *policy.Dataset) (*policy.Sizes, error) {
	e, err := openForOwner(ctx, ds)
	if err != nil {
		return nil, err
	}
	defer e.Close()
	return e.Current().ProposeSizes(ctx, ds, countFunctions)
}

func openForOwner(ctx context.Context, ds *policy.Dataset) (*Engine, error) {
	e, err := Open(ctx, ds)
	return e, catalogue.ForOwner(err)
}

// countFunctions is how Trino counts what is public about the data. Characters are counted, which
// are bytes in most texts.
var countFunctions = sqlengine.CountFunctions{Bytes: "length", Different: "approx_distinct"}

// trialSQL is work on rows that nobody has, and usualTrialTime how long processors work for it on
// the cluster that the constants of package publictime were measured on.
const (
	trialSQL = "SELECT count(*), sum(length(upper(CAST(a * 1000 + b AS varchar)))) FROM UNNEST(sequence(1, 1000)) AS t(a) " +
		"CROSS JOIN UNNEST(sequence(1, 300)) AS u(b)"
	usualTrialTime = 70 * time.Millisecond
	trialRuns      = 3
)

// measure says how fast a cluster is: the best of some runs, by what its processors worked. Others
// may work at the same time.
func measure(ctx context.Context, db *sql.DB) publictime.Machine {
	best := usualTrialTime
	for i := range trialRuns {
		var n, l sql.NullFloat64
		ctx, work := releaseclock.CountWork(ctx)
		if err := db.QueryRowContext(ctx, trialSQL).Scan(&n, &l); err != nil {
			break
		}
		if worked := work.Done(); worked > 0 && (i == 0 || worked < best) {
			best = worked
		}
	}
	return publictime.Machine{Threads: 1, Factor: max(0.5, float64(best)/float64(usualTrialTime)), Cluster: true, SQL: true}
}
