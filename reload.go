package discreet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"weak"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/curator/budgets"
	"github.com/discreet-dp/discreet/internal/curator/policycheck"
	"github.com/discreet-dp/discreet/internal/policywords"
	"github.com/discreet-dp/discreet/policy"
)

// reloads are how the policy is read again.
type reloads struct {
	read func() (*policy.Policy, error)
	told func(*api.Reloaded, error)
	turn chan struct{} // holds one thing while the policy can be read again, from when all is open
}

// WithReload says how [DB.Reload] reads the policy, where it is not just the file that it came
// from, and who is told what came of it, also where the owner wanted it over their socket. Told may
// be nil.
func WithReload(read func() (*policy.Policy, error), told func(*api.Reloaded, error)) Option {
	return func(db *DB) error {
		db.reloads.read, db.reloads.told = read, told
		return nil
	}
}

// Reload reads the policy again, and asks questions that come from now on under it. Those under way
// are finished under the one before, also what they still charge. On trial nothing changes, and no
// data is opened.
//
// It changes nothing where the policy has a mistake, where the data cannot be opened by it, or
// where something differs that may not ([policy.CheckReload]). What was charged stays, in accounts
// that keep their names. A session of the sparse vector ends where tables or views are others, or
// its analyst may not ask any more.
func (db *DB) Reload(ctx context.Context, trial bool) (*api.Reloaded, error) {
	select {
	case <-db.reloads.turn:
		defer func() { db.reloads.turn <- struct{}{} }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	out, err := db.reload(ctx, trial)
	if db.reloads.told != nil && !trial {
		db.reloads.told(out, err)
	}
	return out, err
}

func (db *DB) reload(ctx context.Context, trial bool) (*api.Reloaded, error) {
	was := db.Policy()
	is, err := db.reloads.read()
	if err != nil {
		return nil, err
	}
	if err := policy.CheckReload(was, is); err != nil {
		return nil, err
	}
	if err := errors.Join(policycheck.Views(is), policycheck.Streams(is)); err != nil {
		return nil, err
	}
	if err := db.follow(ctx, was, is, trial); err != nil {
		return nil, err
	}
	return &api.Reloaded{Changes: policywords.Changes(was, is), Applied: !trial}, nil
}

// errOpened is returned where a dataset was opened after it was seen that it is not open.
var errOpened = errors.New("a dataset was opened while the policy was read; read it again")

// follow puts a policy in the place of another, once all that it needs is there. What is the same
// stays the same thing, with all that hangs on it.
func (db *DB) follow(ctx context.Context, was, is *policy.Policy, trial bool) error {
	merged := *is
	merged.Datasets = maps.Clone(is.Datasets)
	var others []*policy.Dataset
	for _, name := range is.Names() {
		ds := is.Datasets[name]
		if policy.Same(was.Datasets[name], ds) {
			merged.Datasets[name] = was.Datasets[name]
			continue
		}
		if _, err := budgets.New(ds, db.datasets.ledger).Protected(ctx); err != nil {
			return err
		}
		others = append(others, ds)
	}
	if trial {
		return nil
	}
	for {
		next := map[string]*dataset{}
		var err error
		for _, ds := range others {
			if next[ds.Name], err = db.datasets.successor(ctx, ds); err != nil {
				break
			}
		}
		if err == nil {
			err = db.datasets.replace(&merged, next)
		}
		if err == nil {
			return nil
		}
		dropped := db.datasets.dropUnused(next)
		if !errors.Is(err, errOpened) || dropped != nil { // none is opened twice, so that this ends
			return errors.Join(err, dropped)
		}
	}
}

// successor makes what follows a dataset, with its data open; nil where nobody has asked it yet.
// Data that both policies read in the same way is shared.
func (d *datasets) successor(ctx context.Context, ds *policy.Dataset) (*dataset, error) {
	d.mu.Lock()
	old := d.open[ds.Name]
	d.mu.Unlock()
	if old == nil {
		return nil, nil
	}
	from := old.data
	if !policy.SameData(old.policy, ds) {
		if old.data.store != nil {
			return nil, fmt.Errorf("dataset %s: its data is a database that the program brought along, and which is not opened twice; "+
				"restart the program", ds.Name)
		}
		from = d.dataOf(ds)
	}
	next := &dataset{policy: ds, data: from, Curator: old.Successor(ds, from)}
	err := errors.Join(next.Streams.Check(), next.Holdouts.Check())
	if err == nil && from != old.data {
		_, err = from.open(ctx)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("dataset %s: %w", ds.Name, err), d.dropUnused(map[string]*dataset{ds.Name: next}))
	}
	return next, nil
}

// dropUnused closes what was opened for a policy that is not used.
func (d *datasets) dropUnused(next map[string]*dataset) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	var errs []error
	for name, ds := range next {
		if old := d.open[name]; ds != nil && (old == nil || old.data != ds.data) {
			errs = append(errs, ds.data.close())
		}
	}
	return errors.Join(errs...)
}

// replace puts a policy in the place of the one there is, all at once, or returns errOpened: a
// dataset that was opened while its successor was made has none yet.
func (d *datasets) replace(p *policy.Policy, next map[string]*dataset) error {
	replaced, err := d.swap(p, next)
	for _, old := range replaced {
		old.retire() // it waits for data that is being opened, and others need not
	}
	return err
}

func (d *datasets) swap(p *policy.Policy, next map[string]*dataset) (replaced []*data, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.ended {
		return nil, errClosed
	}
	for name, ds := range next {
		if ds == nil && d.open[name] != nil {
			return nil, errOpened
		}
	}
	d.retired = slices.DeleteFunc(d.retired, func(old weak.Pointer[data]) bool { return old.Value() == nil })
	for name, ds := range next {
		if ds == nil {
			continue
		}
		if old := d.open[name].data; old != ds.data {
			d.retired = append(d.retired, weak.Make(old))
			replaced = append(replaced, old)
		}
		d.open[name] = ds
	}
	d.policy.Store(p)
	return replaced, nil
}

// reloadForOwner is [DB.Reload] for whoever has the rights of the ledger. The file is the policy by
// which they found it.
func (db *DB) reloadForOwner(ctx context.Context, file string, trial bool) ([]byte, error) {
	own, err := filepath.Abs(db.Policy().Path)
	if err != nil {
		return nil, err
	}
	theirs, err := os.Stat(file)
	if ours, missing := os.Stat(own); file != own && (err != nil || missing != nil || !os.SameFile(theirs, ours)) {
		return nil, fmt.Errorf("the server runs with the policy %s, and reads no other, so nothing was read; put %s in its place first",
			own, file)
	}
	out, err := db.Reload(ctx, trial)
	if err != nil {
		return nil, err
	}
	return json.Marshal(out)
}
