//go:build unix

package sqlite

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/ledger"
)

// told is what clients were told by a ledger, and so what it must know for ever.
type told struct {
	mu      sync.Mutex
	charges map[string]ledger.Receipt
	answers map[string]string
	notes   map[string][]string // confirmed, by session
	tried   map[string][]string // and all that were tried, in their order
	windows uint64              // the window of "school" that was confirmed
	asked   map[string]bool     // everything that was asked for, whatever came of it
	wrong   []error
}

func newTold() *told {
	return &told{charges: map[string]ledger.Receipt{}, answers: map[string]string{}, asked: map[string]bool{}, windows: 1,
		notes: map[string][]string{}, tried: map[string][]string{}}
}

func (w *told) blame(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.wrong = append(w.wrong, fmt.Errorf(format, args...))
}

// tight is the budget of the ledgers here, in charges. It is less than what is asked for.
const tight = 7

func tightAsk(request string) ledger.Charge {
	return ask(request, hospital(tight), ledger.Account{Name: "hospital/ana", Filter: admits(tight + 1)})
}

// answerOf is the noisy answer of a request: some are longer than a page of the file.
func answerOf(request string) string {
	n := 1
	if request[len(request)-1]%3 == 0 {
		n = 700
	}
	return string(slices.Repeat([]byte("answer of "+request+" "), n))
}

// process is a ledger that is open on a disk, and the clients that ask it.
type process struct {
	*Ledger
	disk   *disk
	told   *told
	broken int // syncs that had failed when it was opened
}

// start opens the ledger on a disk. An Open during which a sync failed must not succeed.
func start(d *disk, w *told) (*process, error) {
	broken := d.failedSyncs()
	l, err := Open(filepath.Join(d.dir, "ledger.db"))
	if err != nil {
		return nil, err
	}
	if d.failedSyncs() != broken {
		w.blame("Open succeeded although a sync failed during it")
	}
	return &process{l, d, w, broken}, nil
}

// confirmed notes what a client was told, at this place of the record.
func (s *process) confirmed(mark func(*told)) {
	s.told.mu.Lock()
	mark(s.told)
	s.told.mu.Unlock()
	s.disk.record(op{do: "mark", mark: mark})
}

// trusted reports whether a call that begins now may succeed.
func (s *process) trusted() bool { return s.disk.failedSyncs() == s.broken }

func (s *process) charge(request string) (ledger.Receipt, bool) {
	s.told.mu.Lock()
	s.told.asked[request] = true
	s.told.mu.Unlock()
	trusted := s.trusted()
	r, err := s.Charge(ctx, tightAsk(request))
	if err != nil {
		var budget *ledger.BudgetError
		var write *ledger.WriteError
		if !errors.As(err, &budget) && !errors.As(err, &write) && s.disk.fault == nil {
			s.told.blame("Charge of %s: %v", request, err)
		}
		return r, false
	}
	if !trusted {
		s.told.blame("%s was charged after a sync had failed", request)
	}
	again := r
	again.Again = false
	s.confirmed(func(w *told) { w.charges[request] = again })
	return r, true
}

func (s *process) keep(request string, r ledger.Receipt) {
	trusted, answer := s.trusted(), answerOf(request)
	if err := s.Keep(ctx, r.Sequence, "key "+request, []byte(answer)); err != nil {
		if errors.Is(err, ledger.ErrKept) || errors.Is(err, ledger.ErrUnpaid) {
			s.told.blame("Keep of %s: %v", request, err)
		}
		return
	}
	if !trusted {
		s.told.blame("an answer of %s was kept after a sync had failed", request)
	}
	s.confirmed(func(w *told) { w.answers[request] = answer })
}

func (s *process) both(request string) {
	if r, ok := s.charge(request); ok {
		s.keep(request, r)
	}
}

func (s *process) renew() {
	trusted := s.trusted()
	from, err := s.Window(ctx, "school")
	if err != nil {
		return
	}
	if _, err := s.Enter(ctx, ledger.Renewal{Dataset: "school", From: from, Reason: "the next year"}); err == nil {
		if !trusted {
			s.told.blame("an entry was written after a sync had failed")
		}
		s.confirmed(func(w *told) { w.windows = from + 1 })
	}
}

// note writes the next note of a session, which belongs to one client. The second one is longer
// than a page of the file.
func (s *process) note(name string) {
	s.told.mu.Lock()
	n := len(s.told.tried[name])
	s.told.mu.Unlock()
	entry := fmt.Sprint("note ", n, " of ", name)
	if n == 1 {
		entry = strings.Repeat(entry, 300)
	}
	s.confirmed(func(w *told) { w.tried[name] = append(w.tried[name], entry) })
	trusted := s.trusted()
	if err := s.Note(ctx, name, []byte(entry)); err != nil {
		var write *ledger.WriteError
		if !errors.As(err, &write) && s.disk.fault == nil {
			s.told.blame("Note of %s: %v", name, err)
		}
		return
	}
	if !trusted {
		s.told.blame("a note of %s was written after a sync had failed", name)
	}
	s.confirmed(func(w *told) { w.notes[name] = append(w.notes[name], entry) })
}

// crowd has several clients ask at once.
func (s *process) crowd(name string, n int, do func(request string)) {
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { do(fmt.Sprint(name, i)) })
	}
	wg.Wait()
}

// readBack asks for an answer, which may then be released.
func (s *process) readBack(request string) {
	if answer, found, err := s.Answer(ctx, request); err == nil && found {
		if string(answer) != answerOf(request) {
			s.told.blame("%s has the answer %.40q", request, answer)
		}
		s.confirmed(func(w *told) { w.answers[request] = string(answer) })
	}
}

// script is the workload: alone and at once, an entry, a request again, closed and opened.
func script(d *disk, w *told) {
	s, err := start(d, w)
	if err != nil {
		return
	}
	defer func() { s.Close() }()
	s.both("alone 0")
	s.both("alone 1")
	s.crowd("crowd ", 2, s.both)
	s.renew()
	s.charge("unanswered")
	s.both("alone 0")
	s.crowd("session ", 2, s.note)
	s.Close()
	if s2, err := start(d, w); err != nil {
		return
	} else {
		s = s2
	}
	s.both("unanswered")
	s.readBack("crowd 1")
	s.note("session 1")
	s.crowd("late ", 2, s.both)
	s.both("too late")
}

// check compares a ledger with what clients were told.
func (w *told) check(l *Ledger) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := errors.Join(w.wrong...); err != nil {
		return err
	}
	charges, answers := map[uint64]*ledger.Record{}, map[uint64]*ledger.Record{}
	requests := map[string]*ledger.Record{}
	hashes := map[uint64]string{}
	spent, previous := map[string]dp.Cost{}, ""
	for r, err := range l.Records(ctx, 0) {
		if err != nil {
			return err
		}
		if r.Previous != previous {
			return fmt.Errorf("record %d does not continue the one before", r.Sequence)
		}
		previous = ledger.Hash(r.Encode())
		hashes[r.Sequence] = previous
		switch r.Kind {
		case ledger.KindCharge:
			if requests[r.Request] != nil {
				return fmt.Errorf("%s is charged twice", r.Request)
			}
			requests[r.Request], charges[r.Sequence] = r, r
			for _, b := range r.Balances {
				spent[b.Account] = spent[b.Account].Add(r.Cost)
				if spent[b.Account] != b.Spent || !b.Spent.Within(b.Limit) {
					return fmt.Errorf("record %d: %s has spent %v of %v; the charges are %v", r.Sequence, b.Account, b.Spent,
						b.Limit, spent[b.Account])
				}
			}
		case ledger.KindAnswer:
			if charges[r.Charge] == nil || answers[r.Charge] != nil {
				return fmt.Errorf("the answer %d is not paid for", r.Sequence)
			}
			answers[r.Charge] = r
		}
	}
	if n := len(charges); n > tight {
		return fmt.Errorf("%d charges of %d", n, tight)
	}
	for request, receipt := range w.charges {
		r := requests[request]
		if r == nil {
			return fmt.Errorf("the charge of %s was confirmed and is lost", request)
		}
		if r.Sequence != receipt.Sequence || hashes[r.Sequence] != receipt.Hash || !slices.Equal(r.Balances, receipt.Balances) ||
			r.Cost != receipt.Cost {
			return fmt.Errorf("the charge of %s is another one than was confirmed: %+v, %+v", request, r, receipt)
		}
	}
	for request, answer := range w.answers {
		got, found, err := l.Answer(ctx, request)
		if err != nil || !found || string(got) != answer {
			return fmt.Errorf("the answer of %s was confirmed and is lost: %v, %v", request, found, err)
		}
	}
	if err := w.checkNotes(l); err != nil {
		return err
	}
	if n, err := l.Window(ctx, "school"); err != nil || n < w.windows {
		return fmt.Errorf("window %d was confirmed, and it is %d: %v", w.windows, n, err)
	}
	balances, err := l.Balances(ctx, []ledger.Account{hospital(tight)})
	if err != nil || balances[0].Spent.Rho != unit.Rho*dp.Amount(len(charges)) {
		return fmt.Errorf("%d charges, and %v is spent: %v", len(charges), balances, err)
	}
	return nil
}

// checkNotes: what was confirmed is there, everything is in the order in which it was written, and
// there is nothing else.
func (w *told) checkNotes(l *Ledger) error {
	for _, name := range []string{"session 0", "session 1"} {
		all, err := l.Notes(ctx, name)
		if err != nil {
			return err
		}
		confirmed, tried := w.notes[name], w.tried[name]
		for _, note := range all {
			at := slices.Index(tried, string(note))
			if at < 0 {
				return fmt.Errorf("%s has the note %q, which is twice, out of order, or was never written", name, note)
			}
			tried = tried[at+1:]
			if len(confirmed) > 0 && confirmed[0] == string(note) {
				confirmed = confirmed[1:]
			}
		}
		if len(confirmed) > 0 {
			return fmt.Errorf("the note %q of %s was confirmed and is lost", confirmed[0], name)
		}
	}
	return nil
}

// recall asks again for everything that the ledger knows, so that clients may release it now, and
// writes nothing.
func (s *process) recall() error {
	for r, err := range s.Records(ctx, 0) {
		if err != nil {
			return err
		}
		if r.Kind == ledger.KindCharge {
			s.charge(r.Request)
			s.readBack(r.Request)
		}
	}
	return nil
}

// retry sends again everything that was ever asked for. Afterwards all of it is known: charged,
// once, or refused.
func (s *process) retry() {
	s.told.mu.Lock()
	all := slices.Sorted(maps.Keys(s.told.asked))
	s.told.mu.Unlock()
	for _, request := range all {
		s.readBack(request)
		s.both(request)
	}
}

// openState opens what a power cut left and checks it.
func (w *told) openState(d *disk, files map[string][]byte, verify bool) error {
	if err := store(d.dir, files); err != nil {
		return err
	}
	path := filepath.Join(d.dir, "ledger.db")
	var report Report
	if verify && files["ledger.db"] != nil {
		var err error
		if report, err = Verify(path); err != nil {
			return fmt.Errorf("Verify: %w", err)
		}
	}
	l, err := Open(path)
	if err != nil {
		return err
	}
	defer l.Close()
	if n, hash, err := l.Head(ctx); report.Head != "" && (err != nil || n != report.Records || hash != report.Head) {
		return fmt.Errorf("Verify saw record %d, and Open %d: %v", report.Records, n, err)
	}
	return w.check(l)
}
