package trino

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/discreet-dp/discreet/internal/dialect"
	"github.com/discreet-dp/discreet/internal/engine"
	"github.com/discreet-dp/discreet/internal/engine/sqlengine"
	"github.com/discreet-dp/discreet/internal/plan/tree"
	"github.com/discreet-dp/discreet/internal/trinoplace"
	"github.com/discreet-dp/discreet/policy"
	"github.com/discreet-dp/discreet/store"
)

// Engine runs questions on a cluster. It is safe for concurrent use.
type Engine struct {
	*sqlengine.Engine
	dataset *policy.Dataset
	place   *trinoplace.Place
}

var _ engine.Engine = (*Engine)(nil)

// Open looks at the tables of a dataset. Its errors are for the owner: they name tables and
// columns, and no value of the data.
func Open(ctx context.Context, ds *policy.Dataset) (*Engine, error) {
	place, err := trinoplace.Parse(ds.Source)
	if err != nil {
		return nil, fmt.Errorf("dataset %s: 'source' %w", ds.Name, err)
	}
	db, err := place.Open()
	if err != nil {
		return nil, fmt.Errorf("dataset %s: %w", ds.Name, err)
	}
	e := &Engine{dataset: ds, place: place}
	s := store.Store{DB: db, Version: e.version}
	e.Engine, err = sqlengine.Open(ctx, ds, s, sqlDialect, sqlengine.Manner{Name: name, Failure: failure, Check: e.check})
	if err != nil {
		db.Close()
		return nil, err
	}
	return e, nil
}

func (e *Engine) version(ctx context.Context) (store.Version, error) { return store.Version{}, nil }

// name is what a table is called: its catalog, its schema and its own name.
func name(t *policy.Table) string {
	parts := strings.SplitN(t.Relation, ".", 3)
	for i, p := range parts {
		parts[i] = dialect.QuoteName(p)
	}
	return strings.Join(parts, ".")
}

// check refuses people whom Trino cannot tell apart in one way.
func (e *Engine) check(d *sqlengine.Database) error {
	if d.ByRow {
		return fmt.Errorf("dataset %s: every row is a person, and Trino has nothing by which rows of a table can be told apart; name a "+
			"column that says whose a row is under 'unit'", e.dataset.Name)
	}
	for identity, typ := range d.Kinds {
		if !names(typ) {
			return fmt.Errorf("dataset %s: %s is stored as %s, in which equal values can have two spellings, so it cannot say whose a row "+
				"is; store it as bigint or varchar, or use a view that casts it", e.dataset.Name, identity, typ)
		}
	}
	return nil
}

// again is how often a question is run where the data has changed meanwhile.
const again = 3

// errChanged is why a run ended where the data does not stand still.
var errChanged = errors.New("trino: the data has changed while it was read")

// Run computes a query exactly; see [engine.Result]. What goes wrong is [engine.ErrRun]. All that
// it reads is of one state: where the data has changed meanwhile it is read again.
func (e *Engine) Run(ctx context.Context, q *tree.Query) (*engine.Result, error) {
	var out *engine.Result
	err := e.still(ctx, func(v store.Version) (err error) {
		if out, err = e.Engine.Run(ctx, q); err == nil {
			out.State = v.Key()
		}
		return err
	})
	return out, err
}

// still does something to data that does not change meanwhile.
func (e *Engine) still(ctx context.Context, do func(store.Version) error) error {
	before, err := e.Version(ctx)
	for range again {
		if err != nil {
			return failure(ctx, err)
		}
		if err := do(before); err != nil {
			return err
		}
		var after store.Version
		if after, err = e.Version(ctx); err == nil && after == before {
			return nil
		}
		before = after
	}
	return failure(ctx, errChanged)
}

// failure is engine.ErrRun, whatever an error says, with how the run ended. Trino's own word comes
// first: a question that failed is not stopped because its context ended meanwhile.
func failure(ctx context.Context, err error) error {
	said := trinoplace.Name(err)
	switch {
	case trinoplace.OutOfMemory(err):
		return &engine.Failure{How: engine.Memory, Err: engine.ErrRun}
	case said != "" && said != "USER_CANCELED":
		return engine.ErrRun
	case ctx.Err() != nil && (said != "" || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)):
		return &engine.Failure{How: engine.Stopped, Err: engine.ErrRun}
	}
	return engine.ErrRun
}
