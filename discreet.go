// Package discreet is the face of the library: open a policy, ask a
// question, read the budget.
//
//	db, err := discreet.Open(ctx, "hospital.yaml")
//	answer, err := db.Ask(ctx, api.Question{Analyst: "ana", SQL: "SELECT COUNT(*) FROM patients"})
//
// Every answer is differentially private, carries its error bars, and is paid for
// before the data is touched. What is asked and answered is in package api, with the errors
// that a program may want to tell apart. The packages below can be used on their own: dp for
// amounts, noise for exact samplers, mech for mechanisms, account for filters.
package discreet

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"weak"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp/mech"
	"github.com/discreet-dp/discreet/dp/noise"
	"github.com/discreet-dp/discreet/internal/curator"
	"github.com/discreet-dp/discreet/internal/curator/budgets"
	"github.com/discreet-dp/discreet/internal/curator/policycheck"
	"github.com/discreet-dp/discreet/internal/engine/duckdb"
	"github.com/discreet-dp/discreet/internal/lru"
	"github.com/discreet-dp/discreet/internal/planner/syntax"
	"github.com/discreet-dp/discreet/internal/underway"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/policy"
	"github.com/discreet-dp/discreet/store"
)

// DB is an open policy: its ledger, and its data as questions need it. It is safe
// for concurrent use.
type DB struct {
	Accounts
	StreamQuestions
	HoldoutQuestions
	Trainings
	datasets *datasets

	anchor      func() error // lets go of the place of the anchor; nil where the ledger was brought along
	full        bool         // the ledger is checked from its first record on
	ownerSocket bool         // the owner may work beside us
	asOwner     bool         // we work beside whoever has the ledger open
	progress    func(what string, done, of int64)
	reloads     reloads

	underwayPath string
	underway     *underway.File // whose questions are under way; nil where nobody notes it

	moments moments
	texts   *lru.Map[string, *syntax.Text] // of questions, read
}

// datasets are those of a policy, each opened when a question first needs it, and the ledger that
// all of them are charged in.
type datasets struct {
	policy   atomic.Pointer[policy.Policy] // changed with mu held
	limits   duckdb.Limits
	stores   map[string]*store.Store // those that were brought along, by dataset
	ledger   ledger.Ledger
	releaser *mech.Releaser
	incident func(api.Incident)

	mu      sync.Mutex
	open    map[string]*dataset
	retired []weak.Pointer[data] // of earlier policies; questions under way may read it
	ids     *noise.Source
	ended   bool
}

type dataset struct {
	policy *policy.Dataset
	data   *data
	*curator.Curator
}

var errClosed = errors.New("the database is closed")

// Policy returns the policy, which is another one after [DB.Reload].
func (db *DB) Policy() *policy.Policy { return db.datasets.policy.Load() }

// Ask answers a question, or says why not: a [*api.Refusal], a [*ledger.BudgetError] or a
// [*api.PriceError] spent nothing, unless it is inside of an [*api.LimitsError].
func (db *DB) Ask(ctx context.Context, q api.Question) (*api.Answer, error) {
	ds, err := db.datasets.dataset(q.Dataset)
	if err != nil {
		return nil, err
	}
	if q.Free {
		return db.askFree(ctx, ds, q)
	}
	given, ask := q.Request != "", ds.Ask
	if !given {
		q.Request, ask = db.datasets.request(), ds.AskNew
	}
	db.read(&q)
	asked, err := db.bindNamed(q)
	if err != nil {
		return nil, err
	}
	var first *api.Answer
	if !q.Alone {
		if first, asked, err = db.askFirst(ctx, ds, asked); err != nil {
			return nil, err
		}
	}
	a, err := ask(ctx, asked)
	err = first.After(err)
	if err == nil {
		a.NoteFirst(first)
		a.ShowErrors(q.Settings.Errors)
	}
	db.unpaid(q, err)
	if given {
		return a, err
	}
	var unsecured *ledger.WriteError
	var withheld *ledger.LockoutError
	if errors.As(err, &unsecured) && unsecured.MayCount() || errors.As(err, &withheld) && withheld.Charged {
		err = fmt.Errorf("%w. The request identifier is %s", err, q.Request) // or nobody could ask again with it
	}
	return a, err
}

// askFirst asks what a question's limits are chosen from, where they have to be, and returns the
// question at what is left of its price.
func (db *DB) askFirst(ctx context.Context, ds *dataset, q api.Question) (a *api.Answer, then api.Question, err error) {
	first, then, err := ds.First(ctx, q)
	if err == nil && first != nil {
		a, err = db.Ask(ctx, *first)
		then.Count = a
	}
	return a, then, err
}

// MayChoose reports whether limits of a question may have to be chosen: [DB.First] knows.
func (db *DB) MayChoose(q api.Question) bool {
	ds, err := db.datasets.dataset(q.Dataset)
	return err == nil && ds.MayChoose(q.Settings)
}

// First returns the question that has to be asked before another one, because the limits of that
// one are to be chosen from its answer, and the other at what is left of its price. Where nothing
// has to be asked before, first is nil. [DB.Ask] does this by itself, unless a question is to be
// asked alone.
func (db *DB) First(ctx context.Context, q api.Question) (first *api.Question, then api.Question, err error) {
	ds, err := db.datasets.dataset(q.Dataset)
	if err != nil || !ds.MayChoose(q.Settings) {
		return nil, q, err
	}
	db.read(&q)
	asked, err := syntax.Bound(q)
	if err != nil {
		return nil, q, err
	}
	if first, then, err = ds.First(ctx, asked); err == nil && first != nil {
		q.Epsilon, q.Settings.Epsilon, q.Now, q.CountOf = then.Epsilon, 0, then.Now, then.CountOf
	}
	return first, q, err
}

// askFree answers a question that is free. It has no name, because nothing is charged under it.
func (db *DB) askFree(ctx context.Context, ds *dataset, q api.Question) (*api.Answer, error) {
	q.Request = db.datasets.request()
	db.read(&q)
	asked, err := syntax.Bound(q)
	if err != nil {
		return nil, err
	}
	a, err := ds.AskFree(ctx, asked)
	if err == nil {
		a.ShowErrors(q.Settings.Errors)
	}
	return a, err
}

// Explain prices a question without asking it. It is free.
func (db *DB) Explain(ctx context.Context, q api.Question) (*api.Explanation, error) {
	ds, err := db.datasets.dataset(q.Dataset)
	if err != nil {
		return nil, err
	}
	db.read(&q)
	asked, err := syntax.Bound(q)
	if err != nil {
		return nil, err
	}
	return ds.Explain(ctx, asked)
}

// Budget returns the accounts of a dataset: its own, that of the current window where it is
// renewed, and those of its groups and of its analysts, each in the order of their names. It does
// not open the data.
func (a *Accounts) Budget(ctx context.Context, name string) ([]api.Account, error) {
	ds, err := a.datasets.find(name)
	if err != nil {
		return nil, err
	}
	return budgets.New(ds, a.datasets.ledger).Accounts(ctx, ds.AnalystNames()...)
}

// find returns the policy of a dataset; of the only one, where no name is given.
func (d *datasets) find(name string) (*policy.Dataset, error) {
	p := d.policy.Load()
	names := p.Names()
	if name == "" && len(names) == 1 {
		name = names[0]
	}
	if ds, ok := p.Datasets[name]; ok {
		return ds, nil
	}
	reason := fmt.Sprintf("there is no dataset %q", name)
	if name == "" {
		reason = "the policy has several datasets"
	}
	return nil, &api.Refusal{Reason: reason, Instead: "name one of " + strings.Join(names, ", "), Position: -1}
}

// dataset returns the curator of a dataset.
func (d *datasets) dataset(name string) (*dataset, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	ds, err := d.find(name)
	if err != nil {
		return nil, err
	}
	if d.ended {
		return nil, errClosed
	}
	if open := d.open[ds.Name]; open != nil {
		return open, nil
	}
	from := d.dataOf(ds)
	open := &dataset{ds, from, curator.New(ds, from, d.ledger, d.releaser)}
	open.OnIncident(d.incident)
	d.open[ds.Name] = open
	return open, nil
}

// dataOf returns the data of a dataset, which is not open yet.
func (d *datasets) dataOf(ds *policy.Dataset) *data {
	return &data{policy: ds, files: func() error { return policycheck.Files(d.policy.Load()) }, limits: d.limits, store: d.stores[ds.Name]}
}

// request makes a name that no other question has.
func (d *datasets) request() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.ids.Name()
}

// Abandon closes the ledger in order and leaves the data open, for a process that ends while an
// engine does not react. What is computed afterwards is neither kept nor told.
func (db *DB) Abandon() error {
	db.datasets.mu.Lock()
	db.datasets.ended = true
	db.datasets.mu.Unlock()
	return db.closeLedger()
}

// Close closes the data and the ledger. Answers are already durable.
func (db *DB) Close() error {
	errs := db.datasets.close()
	return errors.Join(append(errs, db.closeLedger())...) // which waits for a reload that finds the data closed
}

func (d *datasets) close() (errs []error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ended = true
	for name, ds := range d.open {
		errs = append(errs, ds.data.close())
		delete(d.stores, name)
	}
	for _, before := range d.retired {
		if old := before.Value(); old != nil {
			errs = append(errs, old.close())
		}
	}
	for _, s := range d.stores { // that no question needed
		errs = append(errs, s.DB.Close())
	}
	d.open, d.stores = nil, nil
	return errs
}

// Remembered answers a question where that is free, from what was paid for before or from what is
// public, and takes no longer than to look for it. Where it is not so, there is no answer, and the
// question is to be asked: [DB.Ask] says the same, or why not.
func (db *DB) Remembered(ctx context.Context, q api.Question) (*api.Answer, bool) {
	ds, err := db.datasets.dataset(q.Dataset)
	if err != nil {
		return nil, false
	}
	db.read(&q)
	asked, err := syntax.Bound(q)
	if err != nil {
		return nil, false
	}
	a, ok := ds.Remembered(ctx, asked)
	if !ok {
		return nil, false
	}
	a.ShowErrors(q.Settings.Errors)
	return a, true
}

// Problems says what is wrong with the policy that its text alone does not tell, and no look at the
// data either: views that no question can use, and streams that nobody could ask.
func (db *DB) Problems() []string {
	out, p := []string{}, db.Policy()
	for _, err := range []error{policycheck.Views(p), policycheck.Streams(p)} {
		if err != nil {
			out = append(out, err.Error())
		}
	}
	return out
}
