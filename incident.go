package discreet

import (
	"context"
	"crypto"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/underway"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/policy"
)

// Door returns whether a dataset is closed to an analyst; where none is named, to everybody. It
// does not open the data.
func (db *DB) Door(ctx context.Context, dataset, analyst string) (ledger.Door, error) {
	ds, err := db.find(dataset)
	if err != nil {
		return ledger.Door{}, err
	}
	return db.ledger.Door(ctx, ds.Name, analyst)
}

// Release takes back the incidents of an analyst, or of all of a dataset where none is named, so
// that there are new answers again. The signer is the ledger's owner, and nil where it has none. It
// returns the sequence of the record.
func (db *DB) Release(ctx context.Context, dataset, analyst, reason string, signer crypto.Signer) (uint64, error) {
	ds, err := db.find(dataset)
	if err != nil {
		return 0, err
	}
	r, err := db.ledger.Enter(ctx, ledger.Release{Dataset: ds.Name, Analyst: analyst, Reason: reason, Signer: signer})
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
	for _, name := range db.ledger.Died() {
		ds := db.policy.Datasets[name]
		if ds == nil {
			ds = &policy.Dataset{} // that of another policy: what it bears is not known, so it is what nothing says
		}
		borne, analyst := ds.Borne(), db.underway.Suspect(name)
		if _, err := db.ledger.Fail(ctx, ledger.Incident{Analyst: analyst, Dataset: name, Failure: ledger.FailedCrash,
			ByAnalyst: borne.Analyst, ByDataset: borne.Dataset}); err != nil {
			return err
		}
		if db.incident != nil {
			door, err := db.ledger.Door(ctx, name, analyst)
			db.incident(api.Incident{Analyst: analyst, Dataset: name, Failure: ledger.FailedCrash, Closed: door.Closed || err != nil})
		}
	}
	return nil
}
