//go:build unix

package sqlite

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	sqlite3 "modernc.org/sqlite/lib"

	"github.com/discreet-dp/discreet/internal/test/daily"
)

// reopenedIsDurable is to be true: what Open found in the files and tells clients must be on stable
// storage. A process that died, or was stopped by a failed sync, between its last write and the
// sync of it leaves files that look complete and are not durable; a ledger that answers from them
// without writing or syncing anything forgets it with the power.
const reopenedIsDurable = true

// forgotten counts how often that was seen.
var forgotten atomic.Int64

// faults are all ways in which a call can fail.
var faults = []fault{
	{kind: "write", code: sqlite3.SQLITE_IOERR_WRITE},
	{kind: "write", code: sqlite3.SQLITE_FULL},
	{kind: "write", code: sqlite3.SQLITE_IOERR_WRITE, short: true},
	{kind: "write", code: sqlite3.SQLITE_FULL, short: true},
	{kind: "write", code: sqlite3.SQLITE_FULL, stays: true},
	{kind: "sync", code: sqlite3.SQLITE_IOERR_FSYNC},
	{kind: "sync", code: sqlite3.SQLITE_IOERR_FSYNC, stays: true},
	{kind: "truncate", code: sqlite3.SQLITE_IOERR_TRUNCATE},
	{kind: "delete", code: sqlite3.SQLITE_IOERR_DELETE},
	{kind: "open", code: sqlite3.SQLITE_CANTOPEN},
	{kind: "open", code: sqlite3.SQLITE_IOERR},
	{kind: "read", code: sqlite3.SQLITE_IOERR_READ},
	{kind: "size", code: sqlite3.SQLITE_IOERR_FSTAT},
}

// inFolder runs something in a folder of its own with a disk under it.
func inFolder(do func(d *disk) error) error {
	dir, err := os.MkdirTemp(memory(), "ledger-test-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	d := newDisk(dir)
	defer d.remove()
	return do(d)
}

// suffer runs the script on a disk with a fault, then has the same requests sent again to a new
// process, and checks what is there: as a running system sees it, and as it is after a power cut.
// It reports whether the fault was met.
func suffer(f *fault, written func() bool, work func(*disk, *told)) (met bool, err error) {
	w := newTold()
	err = inFolder(func(d *disk) error {
		d.set(f)
		work(d, w)
		d.set(nil)
		met = d.fired
		s, err := start(d, w)
		if err != nil {
			return fmt.Errorf("the ledger cannot be opened any more: %w", err)
		}
		defer func() {
			if s != nil {
				s.Close()
			}
		}()
		cutNow := func() error {
			m := newMedia(written)
			for _, o := range d.ops {
				m.apply(o)
			}
			return inFolder(func(d *disk) error {
				d.quiet = true
				return w.openState(d, m.after(extremes()[0]), false)
			})
		}
		if err := errors.Join(s.recall(), w.check(s.Ledger)); err != nil {
			return err
		}
		if err := cutNow(); err != nil && reopenedIsDurable {
			return fmt.Errorf("after a power cut: %w", err)
		} else if err != nil {
			forgotten.Add(1)
		}
		s.retry()
		if err := w.check(s.Ledger); err != nil {
			return fmt.Errorf("after a retry: %w", err)
		}
		if err := cutNow(); err != nil && (reopenedIsDurable || d.failedSyncs() == 0) {
			return fmt.Errorf("after a retry and a power cut: %w", err)
		}
		if err := s.Close(); err != nil {
			return err
		}
		if _, err := Verify(filepath.Join(d.dir, "ledger.db")); err != nil {
			return err
		}
		if s, err = start(d, w); err != nil {
			return err
		}
		return w.check(s.Ledger)
	})
	return met, err
}

// each runs the jobs on a few goroutines and returns the errors, some of them.
func each(n int, job func(i int) error) error {
	var wg sync.WaitGroup
	var mu sync.Mutex
	var all []error
	var next atomic.Int64
	for range 4 {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				err := job(i)
				mu.Lock()
				if err != nil {
					all = append(all, err)
				}
				enough := len(all) > 5
				mu.Unlock()
				if enough {
					return
				}
			}
		})
	}
	wg.Wait()
	return errors.Join(all...)
}

// Every call that the ledger makes, failed once, a write also cut short. With -soak
// it is every error of each, and each also for good.
func TestPromise9EveryCallFailsOnce(t *testing.T) {
	if testing.Short() {
		t.Skip("one process after the other, which the race detector has nothing to say about")
	}
	underTorture(t)
	var calls map[string]int
	if _, err := suffer(nil, never, func(d *disk, w *told) {
		script(d, w)
		calls = maps.Clone(d.calls)
		if len(w.charges) != tight || len(w.answers) != tight || w.windows != 2 {
			t.Errorf("without a fault there are %d charges and %d answers", len(w.charges), len(w.answers))
		}
	}); err != nil {
		t.Fatal(err)
	}
	var jobs []fault
	for _, f := range faults {
		if f.stays && !*soak {
			continue
		}
		// How clients at once meet is not the same each time, so there may be a few more calls.
		for n := 1; n <= calls[f.kind]+calls[f.kind]/10; n++ {
			// Of two names for the same failure every other write gets one, whole or cut short.
			if f.kind == "write" && !*soak && (f.code == sqlite3.SQLITE_FULL) == ((n%2 == 0) != f.short) {
				continue
			}
			f.nth = n
			jobs = append(jobs, f)
		}
	}
	if testing.Short() {
		r := rand.New(rand.NewPCG(1, 2))
		r.Shuffle(len(jobs), func(i, j int) { jobs[i], jobs[j] = jobs[j], jobs[i] })
		jobs = jobs[:len(jobs)/16]
	} else if !*soak {
		jobs = daily.Sample(t, jobs, len(jobs)/14)
	}
	var met atomic.Int64
	err := each(len(jobs), func(i int) error {
		r := rand.New(rand.NewPCG(uint64(i), 0))
		written := never
		if i%2 == 0 {
			written = func() bool { return r.IntN(2) == 0 }
		}
		did, err := suffer(&jobs[i], written, script)
		if did {
			met.Add(1)
		}
		if err != nil {
			return fmt.Errorf("%+v: %w", jobs[i], err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	t.Logf("calls %v; %d runs, in %d of them the call failed; %d forgot something with the power after they were opened again", calls,
		len(jobs), met.Load(), forgotten.Load())
	if int(met.Load()) < len(jobs)*8/10 {
		t.Error("few faults were met")
	}
}

// Failures that nobody is told about are what the test above must be able to see: a write that is
// not made, and a sync that failed, each of which says that all is well.
func TestPromise9TestSeesHiddenFailures(t *testing.T) {
	if testing.Short() {
		t.Skip("one process after the other, which the race detector has nothing to say about")
	}
	underTorture(t)
	for _, f := range []fault{{kind: "write", code: sqlite3.SQLITE_OK}, {kind: "write", code: sqlite3.SQLITE_OK, short: true},
		{kind: "sync", code: sqlite3.SQLITE_OK}} {
		var first error
		n := 0
		for f.nth = 4; ; f.nth += 3 {
			met, err := suffer(&f, never, script)
			if !met || n == 30 {
				break
			}
			n++
			if first = err; err != nil {
				break
			}
		}
		t.Logf("%+v: seen in the last of %d runs: %v", f, n, first)
		if first == nil {
			t.Errorf("%+v was never seen", f)
		}
	}
}
