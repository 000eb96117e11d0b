package checkpoint

import (
	"errors"
	"time"

	"github.com/discreet-dp/discreet/internal/ledger/chain"
	"github.com/discreet-dp/discreet/ledger"
)

// Row is a record as it is stored.
type Row struct {
	Sequence   int64
	Body, Hash string
	Answer     string // the hash of what is stored beside it
}

const (
	scrubbed  = 64 // records at a time
	scrubRest = 9  // of ten parts of the time
)

// ErrFollows is what is wrong with a checkpoint that is not what the records say.
var ErrFollows = errors.New("the checkpoint by which the ledger was opened does not follow from its records")

// Scrub does in the background what was left out when a ledger was opened by a checkpoint: it
// follows the chain from its first record to that of the checkpoint, checks everything that is
// checked without one, and makes the checkpoint again, which has to be the same. So it notices
// damage that nobody comes across, and a checkpoint that does not follow from the records, whoever
// vouched for it.
//
// It returns whether it came to its end, and otherwise at which record what is wrong. Some records
// from one on are the store's; where there are none and no error, the ledger has ended. It works a
// tenth of the time, because charges go first.
func Scrub(last uint64, sum string, stop <-chan struct{}, some func(from, n uint64) ([]Row, error)) (done bool, at uint64, err error) {
	state, sorted := chain.New(), uint64(0)
	for next := uint64(0); next <= last; {
		start := time.Now()
		rows, err := some(next, min(scrubbed, last-next+1))
		if rows == nil && err == nil {
			return false, 0, nil
		}
		if next, err = follow(state, rows, next, err); err != nil {
			return false, next, err
		}
		if next > sorted+sorted/4+1<<17 {
			state.Sort() // which takes less memory
			sorted = next
		}
		select {
		case <-stop:
			return false, 0, nil
		case <-time.After(scrubRest * time.Since(start)):
		}
	}
	if again, err := Again(state); err != nil || again != sum {
		return false, last, ErrFollows
	}
	return true, last, nil
}

// follow follows the chain by some records, and returns which one is next. The error is that of
// reading them, after the last one.
func follow(state *chain.State, rows []Row, next uint64, failed error) (uint64, error) {
	for i, r := range rows {
		if failed != nil && i == len(rows)-1 {
			return next, failed
		}
		var record ledger.Record
		err := record.Read(r.Body, r.Hash, r.Answer)
		if err == nil && (r.Sequence != int64(next) || record.Sequence != next) {
			err = errors.New("it is missing")
		}
		if err == nil {
			err = state.Check(&record)
		}
		if err != nil {
			return next, err
		}
		state.Apply(&record, r.Hash)
		next++
	}
	if len(rows) == 0 && failed == nil {
		failed = errors.New("it is missing")
	}
	return next, failed
}
