package anchor

import "fmt"

// DamagedError is returned when there is something where the anchor should be that does not check.
type DamagedError struct {
	Place string
	Err   error
}

func (e *DamagedError) Error() string {
	return fmt.Sprintf("the anchor in %s is damaged: %v. Restore it from a backup that is as new as the ledger. Where that is lost, "+
		"compare the ledger "+
		"with the receipts that were given out, and only where it holds the last of them remove the damaged anchor and run 'discreet "+
		"ledger anchor --begin --reason ...'", e.Place, e.Err)
}

func (e *DamagedError) Unwrap() error { return e.Err }

// MovedError is returned when the anchor is not the one that was last loaded or stored here. It was
// left as it is.
type MovedError struct{ Place string }

func (e *MovedError) Error() string {
	return fmt.Sprintf("the anchor in %s was changed or removed by somebody else since it was last looked at: perhaps another copy of "+
		"the ledger is in use, "+
		"or a volume was unmounted. Stop the other, or mount the volume, then start again", e.Place)
}
