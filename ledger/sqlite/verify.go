package sqlite

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/ledger/internal/chain"
)

// Report is what follows from a ledger that checks.
type Report struct {
	Records  uint64           `json:"records"` // all after the first: the sequence of the last record
	Charges  uint64           `json:"charges"`
	Answers  uint64           `json:"answers"`  // answers that were kept
	Head     string           `json:"head"`     // the hash of the last record
	Balances []ledger.Balance `json:"balances"` // of every account ever charged, from the chain alone
}

// Verify checks the ledger at the path from its first record to its last and
// adds up what was spent. It changes nothing.
//
// It needs the ledger to be closed: where it is open it waits for two seconds and
// returns [ledger.ErrBusy], because a reader would hold up the charges of the one that
// has it open. It returns a [*ledger.CorruptError] when the ledger does not check.
//
// After a crash the file alone is not the ledger: the journal beside it takes back a
// write that was not finished. Verify then checks a copy of both in a
// temporary folder, and leaves the journal for the next Open.
func Verify(path string) (Report, error) {
	path, exists, err := resolve(path)
	if err != nil {
		return Report{}, err
	}
	if !exists {
		return Report{}, fmt.Errorf("there is no ledger at %s: %w", path, os.ErrNotExist)
	}
	lock, err := acquire(path, false)
	if err != nil {
		return Report{}, err
	}
	state, err := inspect(path)
	if err = errors.Join(err, lock.release()); err != nil {
		return Report{}, err
	}
	records, head := state.Head()
	return Report{Records: records, Charges: state.Charges(), Answers: state.Answers(), Head: head, Balances: state.Balances()}, nil
}

func inspect(path string) (*chain.State, error) {
	if err := checkHeader(path); err != nil {
		return nil, err
	}
	hot, err := interrupted(path)
	if err != nil {
		return nil, err
	}
	if !hot {
		return look(path, path, "ro")
	}
	dir, err := os.MkdirTemp("", "ledger-*")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	copied := filepath.Join(dir, "copy")
	for _, suffix := range []string{"", "-journal"} {
		if err := copyFile(copied+suffix, path+suffix); err != nil {
			return nil, err
		}
	}
	return look(path, copied, "rw")
}

// look checks a file that stands for the ledger at the path.
func look(path, file, mode string) (*chain.State, error) {
	c, err := dial(file, mode)
	if err != nil {
		return nil, corrupt(path, "it cannot be opened", err)
	}
	defer c.Close()
	if err := c.set(reading...); err != nil {
		return nil, corrupt(path, "it cannot be opened", err)
	}
	// One transaction, so that everything is read from one state of the file.
	if _, err := c.ExecContext(background, "BEGIN"); err != nil {
		return nil, corrupt(path, "it cannot be read", err)
	}
	return replay(c, file, path)
}

func copyFile(to, from string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}
