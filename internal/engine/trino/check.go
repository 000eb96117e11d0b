package trino

import (
	"context"
	"errors"
	"fmt"

	"github.com/discreet-dp/discreet/internal/engine"
	"github.com/discreet-dp/discreet/internal/engine/sqlengine"
	"github.com/discreet-dp/discreet/policy"
)

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
			more, err = d.CheckUnit(ctx, t)
			found = append(found, more...)
		}
		if err == nil {
			var more []engine.Finding
			more, err = d.CheckColumns(ctx, t, t.ColumnNames(), sqlengine.Plain(t, "approx_distinct"))
			found = append(found, more...)
		}
		if err != nil {
			return nil, 0, fmt.Errorf("table %s: its rows cannot be read", name)
		}
		out = append(out, found...)
	}
	found, err := d.CheckSizes(ctx, ds, counting)
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
	return e.Current().ProposeSizes(ctx, ds, counting)
}

func openForOwner(ctx context.Context, ds *policy.Dataset) (*Engine, error) {
	e, err := Open(ctx, ds)
	var more interface{ Explain() string }
	if errors.As(err, &more) {
		err = errors.New(more.Explain())
	}
	return e, err
}
