package sqlite

import (
	"errors"

	"github.com/discreet-dp/discreet/internal/ledger/chain"
)

// Report is what follows from a ledger that checks.
type Report = chain.Report

// Verify checks the ledger at the path from its first record to its last and
// adds up what was spent. It changes nothing.
//
// It needs the ledger to be closed: where it is open it waits for two seconds and
// returns [ledger.ErrBusy], because a reader would hold up the charges of the one that
// has it open. It returns a [*ledger.CorruptError] when the ledger does not check.
//
// After a crash the file alone is not the ledger: the log beside it has the last charges. Verify
// reads both, and leaves the log for the next Open.
func Verify(path string) (Report, error) {
	r, err := Read(path)
	if err != nil {
		return Report{}, err
	}
	summary, err := r.Verify(nil)
	return summary.Report, errors.Join(err, r.Close())
}
