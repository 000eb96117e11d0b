package discreet

import (
	"context"
	"crypto"
	"crypto/ed25519"
	"encoding/hex"
	"fmt"
	"iter"
	"sync"
	"time"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/curator/budgets"
	"github.com/discreet-dp/discreet/internal/underway"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/policy"
)

// Accounts are the budgets of a policy, and the ledger that keeps them. None of it opens the data.
type Accounts struct {
	datasets *datasets
	owner    sync.Mutex // held by whoever changes limits
}

// Promise says in sentences what the budget of a dataset promises to every person in the data.
func (a *Accounts) Promise(ctx context.Context, dataset string) ([]string, error) {
	c, err := a.datasets.accounts(dataset)
	if err != nil {
		return nil, err
	}
	return c.Promise(ctx)
}

// Remaining returns what an analyst can still spend. It does not open the data.
func (a *Accounts) Remaining(ctx context.Context, dataset, analyst string) (api.Remaining, error) {
	c, err := a.datasets.accounts(dataset)
	if err != nil {
		return api.Remaining{}, err
	}
	return c.Remaining(ctx, analyst)
}

// Renew begins the next window of a dataset. It is refused where the policy has no renewal, or no
// more windows.
func (a *Accounts) Renew(ctx context.Context, dataset, reason string) (api.Renewed, error) {
	c, err := a.datasets.accounts(dataset)
	if err != nil {
		return api.Renewed{}, err
	}
	a.owner.Lock()
	defer a.owner.Unlock()
	return c.Renew(ctx, reason)
}

// RenewSigned does the same where the owner of the ledger signs for it, for entries that others can
// reach: a renewal needs no signature by itself. See [ledger.Deferred] for signing elsewhere.
func (a *Accounts) RenewSigned(ctx context.Context, dataset, reason string, signer crypto.Signer) (api.Renewed, error) {
	c, err := a.datasets.accounts(dataset)
	if err != nil {
		return api.Renewed{}, err
	}
	a.owner.Lock()
	defer a.owner.Unlock()
	return c.RenewSigned(ctx, reason, signer)
}

// Due returns the day on which the next window of a dataset is meant to begin, and false where
// nothing was spent yet. It is a reminder: windows begin with Renew and not by themselves.
func (a *Accounts) Due(ctx context.Context, dataset string) (time.Time, bool, error) {
	c, err := a.datasets.accounts(dataset)
	if err != nil {
		return time.Time{}, false, err
	}
	return c.Due(ctx, time.Now())
}

// TopUp raises the limits of a dataset, a group or an analyst. It takes the key of the ledger's
// owner; see SetOwner. Where that is elsewhere, the signer is a [ledger.Deferred]; one that has
// nothing yet brings what would be, together with the [*ledger.DraftError] that says what to sign.
func (a *Accounts) TopUp(ctx context.Context, dataset string, t api.TopUp) (*api.Raised, error) {
	c, err := a.datasets.accounts(dataset)
	if err != nil {
		return nil, err
	}
	// One at a time, so that nothing lies between what was read and what is raised.
	a.owner.Lock()
	defer a.owner.Unlock()
	return c.TopUp(ctx, t)
}

// SetOwner says whose signatures count from here on. The first owner needs no signer; a later one
// takes that of the owner before.
func (a *Accounts) SetOwner(ctx context.Context, public ed25519.PublicKey, signer crypto.Signer, reason string) error {
	_, err := a.datasets.ledger.Enter(ctx, ledger.Owner{Public: public, Signer: signer, Reason: reason})
	return err
}

// Owner returns the key whose signatures count, or nil where there is none yet.
func (a *Accounts) Owner(ctx context.Context) (ed25519.PublicKey, error) {
	var owner ed25519.PublicKey
	for r, err := range a.datasets.ledger.Records(ctx, 1) {
		if err != nil {
			return nil, err
		}
		if r.Kind == ledger.KindOwner {
			if owner, err = hex.DecodeString(r.PublicKey); err != nil {
				return nil, err
			}
		}
	}
	return owner, nil
}

// accounts returns those of a dataset; they know its ledger and not its data.
func (d *datasets) accounts(name string) (*budgets.DatasetAccounts, error) {
	ds, err := d.find(name)
	if err != nil {
		return nil, err
	}
	return budgets.New(ds, d.ledger), nil
}

// Records returns the records of the ledger from a sequence on, in their order, for forecasts and
// for auditors. They hold who asked what at which cost, and nothing of the data.
func (a *Accounts) Records(ctx context.Context, from uint64) iter.Seq2[*ledger.Record, error] {
	return a.datasets.ledger.Records(ctx, from)
}

// Record returns one record of the ledger. Whose it is is for the caller to look at.
func (a *Accounts) Record(ctx context.Context, sequence uint64) (*ledger.Record, error) {
	return a.datasets.record(ctx, sequence)
}

func (d *datasets) record(ctx context.Context, sequence uint64) (*ledger.Record, error) {
	for r, err := range d.ledger.Records(ctx, sequence) {
		if err != nil {
			return nil, err
		}
		if r.Sequence != sequence {
			break
		}
		return r, nil
	}
	return nil, &ledger.NoRecordError{Sequence: sequence}
}

// BudgetOf returns the analyst's own account, and that of no group, no window and no dataset: what
// others spend is not theirs to see, but for what [DB.Remaining] has to tell. It does not open the
// data.
func (a *Accounts) BudgetOf(ctx context.Context, name, analyst string) ([]api.Account, error) {
	ds, err := a.datasets.find(name)
	if err != nil {
		return nil, err
	}
	if _, ok := ds.Analysts[analyst]; !ok {
		return nil, &api.Refusal{Reason: fmt.Sprintf("there is no analyst %q in the dataset %s", analyst, ds.Name),
			Instead: "ask as an analyst that the policy lists", Position: -1}
	}
	return budgets.New(ds, a.datasets.ledger).Own(ctx, analyst)
}

// Lockout returns whether a dataset is closed to an analyst; where none is named, to everybody. It
// does not open the data.
func (a *Accounts) Lockout(ctx context.Context, dataset, analyst string) (ledger.Lockout, error) {
	ds, err := a.datasets.find(dataset)
	if err != nil {
		return ledger.Lockout{}, err
	}
	return a.datasets.ledger.Lockout(ctx, ds.Name, analyst)
}

// Release takes back the incidents of an analyst, or of all of a dataset where none is named, so
// that there are new answers again. The signer is the ledger's owner, and nil where it has none. It
// returns the sequence of the record.
func (a *Accounts) Release(ctx context.Context, dataset, analyst, reason string, signer crypto.Signer) (uint64, error) {
	ds, err := a.datasets.find(dataset)
	if err != nil {
		return 0, err
	}
	r, err := a.datasets.ledger.Enter(ctx, ledger.Release{Dataset: ds.Name, Analyst: analyst, Reason: reason, Signer: signer})
	return r.Sequence, err
}

// Underway is where a server notes whose questions are under way; nil without [WithUnderway].
func (db *DB) Underway() *underway.File { return db.underway }

// crashed counts a process that died. Its last question may have killed it, on this data and not on
// another, and whoever asked saw the connection break: that is a failure as others are. Which
// question it was nobody knows, so it is one incident of each dataset with a charge that has no
// answer. It is the analyst's whose questions alone were under way, and else nobody's own.
func (db *DB) crashed(ctx context.Context) error {
	defer db.underway.Forget()
	for _, name := range db.datasets.ledger.Died() {
		ds := db.Policy().Datasets[name]
		if ds == nil {
			ds = &policy.Dataset{} // that of another policy: what it bears is not known, so it is what nothing says
		}
		borne, analyst := ds.FailureLimits(), db.underway.Suspect(name)
		if _, err := db.datasets.ledger.Fail(ctx, ledger.Incident{Analyst: analyst, Dataset: name, Failure: ledger.FailedCrash,
			ByAnalyst: borne.Analyst, ByDataset: borne.Dataset}); err != nil {
			return err
		}
		if db.datasets.incident != nil {
			lockout, err := db.datasets.ledger.Lockout(ctx, name, analyst)
			db.datasets.incident(api.Incident{Analyst: analyst, Dataset: name, Failure: ledger.FailedCrash,
				Closed: lockout.Closed || err != nil})
		}
	}
	return nil
}
