//go:build unix

package sqlite

import (
	"errors"
	"fmt"
	"hash/maphash"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/discreet-dp/discreet/internal/test/daily"
	"github.com/discreet-dp/discreet/ledger"
)

// state is what a power cut left, and what clients had been told before it.
type state struct {
	at    int // how many operations there were
	how   string
	files map[string][]byte
	told  *told
}

func (w *told) clone() *told {
	return &told{charges: maps.Clone(w.charges), answers: maps.Clone(w.answers), windows: w.windows, asked: w.asked,
		notes: maps.Clone(w.notes), tried: maps.Clone(w.tried)}
}

// states yields the states after every operation of a record: the extremes, and so many others.
// States that were seen before are left out, and those within the first operations, which only put
// files there.
func states(ops []op, skip int, before *told, seed uint64, others int, yield func(state) bool) {
	m, w := newMedia(never), before.clone()
	r := rand.New(rand.NewPCG(seed, 0))
	seen, key := map[uint64]bool{}, maphash.MakeSeed()
	marks := 0
	for i, o := range ops {
		if o.do == "mark" {
			o.mark(w)
			marks++
		} else {
			m.apply(o)
		}
		if i < skip {
			continue
		}
		cuts := extremes()
		for range others {
			cuts = append(cuts, random(r))
		}
		snapshot := w.clone()
		for j, c := range cuts {
			files := m.after(c)
			var h maphash.Hash
			h.SetSeed(key)
			fmt.Fprintln(&h, marks)
			for _, name := range slices.Sorted(maps.Keys(files)) {
				fmt.Fprintln(&h, name, len(files[name]))
				h.Write(files[name])
			}
			sum := h.Sum64()
			if seen[sum] {
				continue
			}
			seen[sum] = true
			if !yield(state{i + 1, fmt.Sprintf("operation %d, %s %s, cut %d, seed %d", i, o.do, o.file, j, seed), files, snapshot}) {
				return
			}
		}
	}
}

// try opens all states of a record, on a few goroutines, until some are wrong. It returns how many
// there were.
func try(ops []op, skip int, before *told, seed uint64, others int) (int, error) {
	jobs := make(chan state, 8)
	var mu sync.Mutex
	var all []error
	var stop atomic.Bool
	var wg sync.WaitGroup
	for i := range 3 {
		wg.Go(func() {
			n := i
			for s := range jobs {
				if stop.Load() {
					continue
				}
				n++
				err := inFolder(func(d *disk) error {
					d.quiet = true
					return s.told.openState(d, s.files, n%10 == 0)
				})
				if err != nil {
					mu.Lock()
					all = append(all, fmt.Errorf("%s: %w", s.how, err))
					stop.Store(len(all) > 3)
					mu.Unlock()
				}
			}
		})
	}
	n := 0
	states(ops, skip, before, seed, others, func(s state) bool {
		jobs <- s
		n++
		return !stop.Load()
	})
	close(jobs)
	wg.Wait()
	return n, errors.Join(all...)
}

// recording runs something on a disk and returns the record of it.
func recording(lies func(file string) bool, before map[string][]byte, work func(*disk, *told)) (ops []op, err error) {
	err = inFolder(func(d *disk) error {
		d.lies = lies
		if err := store(d.dir, before); err != nil {
			return err
		}
		for name, content := range before {
			d.record(op{do: "adopt", file: name, data: content})
		}
		w := newTold()
		work(d, w)
		ops = d.ops
		return errors.Join(w.wrong...)
	})
	return ops, err
}

func TestPromise1PowerCutAtAnyMoment(t *testing.T) {
	if testing.Short() {
		t.Skip("one process after the other, which the race detector has nothing to say about")
	}
	underTorture(t)
	seeds, others := daily.Rounds(1, 2), daily.Rounds(3, 10)
	if *soak {
		seeds, others = 50, 200
	}
	total, first := 0, uint64(daily.Choices(t).Below(1_000_000))
	for seed := first; seed < first+uint64(seeds); seed++ {
		ops, err := recording(nil, nil, script)
		noError(t, err)
		n, err := try(ops, 0, newTold(), seed, others)
		total += n
		noError(t, err)
		t.Logf("%d operations, %d states", len(ops), n)
	}
}

// The power is cut again while the ledger mends what the first cut left.
func TestPromise1PowerCutWhileMending(t *testing.T) {
	if testing.Short() {
		t.Skip("one process after the other, which the race detector has nothing to say about")
	}
	underTorture(t)
	ops, err := recording(nil, nil, script)
	noError(t, err)
	r := rand.New(rand.NewPCG(7, 7))
	var torn []state
	states(ops, 0, newTold(), 7, 2, func(s state) bool {
		torn = append(torn, s)
		return true
	})
	n, mended := 0, 0
	for range rounds(50) {
		s := torn[r.IntN(len(torn))]
		if s.files["ledger.db"] == nil {
			continue
		}
		mending, err := recording(nil, s.files, func(d *disk, w *told) {
			if s, err := start(d, w); err != nil {
				w.blame("%v", err)
			} else {
				s.Close()
			}
		})
		noError(t, err)
		if len(mending) == len(s.files) {
			continue
		}
		mended++
		m, err := try(mending, len(s.files), s.told, 1, 2)
		n += m
		if err != nil {
			t.Fatalf("%s, then %v", s.how, err)
		}
	}
	t.Logf("%d ledgers were mended, in %d states", mended, n)
}

// A disk that says that it has synced and has not, everything or only what stands beside the
// ledger, is what the test above must be able to see.
func TestPromise1TestSeesMissingSync(t *testing.T) {
	if testing.Short() {
		t.Skip("one process after the other, which the race detector has nothing to say about")
	}
	underTorture(t)
	for name, lies := range map[string]func(string) bool{
		"nothing":              func(string) bool { return true },
		"nothing but the file": func(file string) bool { return file != "ledger.db" },
	} {
		ops, err := recording(lies, nil, script)
		noError(t, err)
		n, err := try(ops, 0, newTold(), 1, 1)
		if err == nil {
			t.Fatalf("%s was synced, and nobody noticed", name)
		}
		if !strings.Contains(err.Error(), "was confirmed and is lost") && !errors.As(err, new(*ledger.CorruptError)) {
			t.Errorf("got %v", err)
		}
		first, _, _ := strings.Cut(err.Error(), "\n")
		t.Logf("%s was synced: seen after %d states: %s", name, n, first)
	}
}

// A process is killed at any moment, which loses nothing that it wrote; the next one tells clients
// what it finds; and then the power is cut.
func TestPromise1PowerCutAfterReopening(t *testing.T) {
	underTorture(t)
	ops, err := recording(nil, nil, script)
	noError(t, err)
	begin, step := oneIn(t, 2, 1)
	if testing.Short() {
		step = 20
	}
	lost := 0
	var first error
	var mu sync.Mutex
	err = each((len(ops)-begin)/step, func(i int) error {
		at := begin + i*step
		m, w := newMedia(never), newTold()
		for _, o := range ops[:at+1] {
			if o.do == "mark" {
				o.mark(w)
			} else {
				m.apply(o)
			}
		}
		seen := m.after(extremes()[1])
		if seen["ledger.db"] == nil {
			return nil
		}
		return inFolder(func(d *disk) error {
			if err := store(d.dir, seen); err != nil {
				return err
			}
			maps.Copy(d.seen, seen)
			s, err := start(d, w)
			if err != nil {
				return err
			}
			defer s.Close()
			if err := errors.Join(s.recall(), w.check(s.Ledger)); err != nil {
				return err
			}
			for _, o := range d.ops {
				if o.do != "mark" {
					m.apply(o)
				}
			}
			err = inFolder(func(d *disk) error {
				d.quiet = true
				return w.openState(d, m.after(extremes()[0]), false)
			})
			if err != nil {
				mu.Lock()
				defer mu.Unlock()
				lost++
				first = fmt.Errorf("killed after operation %d (%s %s), opened, power cut: %w", at, ops[at].do, ops[at].file, err)
			}
			return nil
		})
	})
	noError(t, err)
	t.Logf("%d of %d moments lose what the second process told: %v", lost, len(ops)/step, first)
	if reopenedIsDurable && lost > 0 {
		t.Error(first)
	}
}
