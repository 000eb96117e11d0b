package chain

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/ledger"
)

// AnchorKeeper ties a ledger to its anchor. A nil *AnchorKeeper is where no place is named for one:
// it ties nothing, and refuses a ledger that has an anchor by its own records.
//
// What it is for: take the last head for which Committed returned nil. For each account and each
// claim, what was spent there, which is at least what was released,
//
//	spent <= the account's ceiling in the last anchor that was stored.   (1)
//
// Proof. An answer is released only after Committed returned nil for its charge, and then for the
// answer. It then either had stored an anchor at the head, whose ceilings are at least what is
// spent there, or it had found that each account charged since the last anchor has spent no more
// than its ceiling in that; the others have spent what they had. A Store that failed may have
// stored its anchor nevertheless. That one is of a later head than the last for which Committed
// returned nil, and spent never decreases, so (1) holds for it too. Open and Close store what is
// spent at the head. What an owner enters releases nothing and needs no anchor.
//
// How much a rollback can hide: an anchor is stored before the every-th record after the last
// anchor is confirmed, whatever its kind, and by Close. So an older copy that passes lacks at most
// every-1 records that were confirmed, and none where the ledger had been closed. That answers
// count is essential: a copy that has a charge and lacks its answer would draw another one, free.
//
// An AnchorKeeper is not safe for concurrent use, and the state must not change while a method
// runs.
type AnchorKeeper struct {
	place ledger.Anchorage
	every uint64
	now   func() time.Time

	last     ledger.Anchor      // what was stored last
	ceilings map[string]dp.Cost // its ceilings
	largest  map[string]dp.Cost // of one charge since then, by account
	records  uint64             // since then
	trail    trail
	vouched  string // the checkpoint that the next anchor names
	made     bool   // it is one that no anchor names yet
	due      bool   // the next anchor must be stored before anything is released

	noteAt   func(sequence uint64) (ledger.ProtectsNote, error)
	protects []ledger.ProtectsNote // the first ones of the state's, as they were read
}

// SetNoteReader says how a note is read that says whom charges protect. It is called before the
// ledger is anchored. The caller of other methods holds the lock.
func (k *AnchorKeeper) SetNoteReader(noteAt func(sequence uint64) (ledger.ProtectsNote, error)) {
	if k != nil {
		k.noteAt, k.protects = noteAt, nil
	}
}

// protectsOf reads what the notes of a state say about whom charges protect. They are only ever
// appended to.
func (k *AnchorKeeper) protectsOf(s *State) ([]ledger.ProtectsNote, error) {
	for _, sequence := range s.Notes.protects[min(len(k.protects), len(s.Notes.protects)):] {
		if k.noteAt == nil {
			return nil, errors.New("nobody said how notes are read") // a mistake of ours
		}
		note, err := k.noteAt(sequence)
		if err != nil {
			return nil, err
		}
		k.protects = append(k.protects, note)
	}
	return k.protects[:len(s.Notes.protects):len(s.Notes.protects)], nil
}

// Covers reports whether a record may be told of: the anchor knows it, or needs not to yet.
func (k *AnchorKeeper) Covers(sequence uint64) bool {
	return k == nil || !k.due || sequence <= k.last.Sequence
}

// NewAnchorKeeper returns a keeper that stores an anchor after so many records, at least 1.
func NewAnchorKeeper(place ledger.Anchorage, every uint64) *AnchorKeeper {
	return &AnchorKeeper{place: place, every: max(every, 1), now: time.Now}
}

// Open checks the ledger against its anchor and returns a [*ledger.AnchorError] where it is not the
// one that the anchor knows, and a [*ledger.UnanchoredError] where it had one and there is none.
// Then it anchors the head: a process that died may have left charges behind the anchor, and
// somebody who asks again gets their receipts.
//
// The state is nil where there is no ledger yet. It is then only checked that there is no anchor
// either. hashAt returns the hash of a record that the ledger holds.
func (k *AnchorKeeper) Open(ctx context.Context, path string, s *State, hashAt func(uint64) (string, error)) error {
	a, found, err := k.Check(ctx, path, s, hashAt)
	if err != nil || s == nil || k == nil {
		return err
	}
	if found && k.isExact(s, a) {
		k.setLast(a)
		k.trail, err = newTrail(s, hashAt)
		return err
	}
	return k.Adopt(ctx, s, hashAt)
}

// Check is the part of Open that changes nothing. It returns the anchor, and false where there is
// none.
func (k *AnchorKeeper) Check(ctx context.Context, path string, s *State, hashAt func(uint64) (string, error)) (ledger.Anchor, bool, error) {
	if k == nil && s != nil && s.Notes.Anchored() {
		return ledger.Anchor{}, false, &ledger.UnanchoredError{Path: path}
	}
	if k == nil {
		return ledger.Anchor{}, false, nil
	}
	a, found, err := k.load(ctx, path)
	if err != nil {
		return ledger.Anchor{}, false, err
	}
	if !found && s != nil && s.Notes.Anchored() {
		return ledger.Anchor{}, false, &ledger.UnanchoredError{Path: path, Anchorage: k.place.String()}
	}
	if !found {
		return ledger.Anchor{}, false, nil
	}
	problem, err := differs(a, s, hashAt)
	if err == nil && problem != "" {
		err = &ledger.AnchorError{Path: path, Anchorage: k.place.String(), Problem: problem}
	}
	return a, true, err
}

// differs says why a ledger is not the one that an anchor knows, or nothing.
func differs(a ledger.Anchor, s *State, hashAt func(uint64) (string, error)) (string, error) {
	if s == nil {
		return fmt.Sprintf("the ledger is missing, and had %d records", a.Sequence), nil
	}
	if s.Fingerprint() != a.Identity {
		return "it is another ledger", nil
	}
	head, _ := s.Head()
	if head >= a.Sequence {
		hash, err := hashAt(a.Sequence)
		if err != nil || hash == a.Hash {
			return "", err
		}
		return fmt.Sprintf("it has another history: its record %d is a different one", a.Sequence), nil
	}
	problem := fmt.Sprintf("it is older: it ends at record %d of %d", head, a.Sequence)
	for _, p := range slices.Backward(a.Trail) {
		if p.Sequence <= head {
			hash, err := hashAt(p.Sequence)
			if err == nil && hash != p.Hash {
				problem += fmt.Sprintf(", and has another history: its record %d is a different one", p.Sequence)
			}
			return problem, err
		}
	}
	return problem, nil
}

// NamedCheckpoint returns the checkpoint that the anchor names, nothing where there is no anchor
// yet.
func (k *AnchorKeeper) NamedCheckpoint(ctx context.Context, path string) (string, error) {
	a, _, err := k.load(ctx, path)
	return a.Checkpoint, err
}

func (k *AnchorKeeper) load(ctx context.Context, path string) (ledger.Anchor, bool, error) {
	a, found, err := k.place.Load(ctx)
	if err != nil {
		err = fmt.Errorf("the ledger %s was not opened, because its anchor could not be read: %w", path, err)
	}
	return a, found, err
}

// Vouch makes the next anchor name a checkpoint: the one by which the ledger was opened, or one
// that was made of this state since. Nothing names none.
func (k *AnchorKeeper) Vouch(checkpoint string) {
	if k != nil {
		k.vouched, k.made = checkpoint, true
	}
}

// Vouched returns the checkpoint that the next anchor names.
func (k *AnchorKeeper) Vouched() string { return k.vouched }

// isExact reports whether an anchor is the one that Close would store.
func (k *AnchorKeeper) isExact(s *State, a ledger.Anchor) bool {
	sequence, hash := s.Head()
	if a.Sequence != sequence || a.Hash != hash || a.Owner != s.Owner.Key() || a.Checkpoint != k.vouched ||
		len(a.Most) != len(s.Accounts.spent) ||
		len(a.Protects) != len(s.Notes.protects) {
		return false
	}
	for _, c := range a.Most {
		if s.Accounts.Spent(c.Account) != c.Spent {
			return false
		}
	}
	return true
}

// Adopt anchors the head of a ledger whatever the anchor says. It is for a ledger that was checked,
// and for one in which what it had lost was counted as spent.
func (k *AnchorKeeper) Adopt(ctx context.Context, s *State, hashAt func(uint64) (string, error)) error {
	if k == nil {
		return nil
	}
	trail, err := newTrail(s, hashAt)
	if err != nil {
		return err
	}
	k.trail, k.largest = trail, nil
	return k.store(ctx, s)
}

// Committed is called when records are on stable storage and in the state, and before anybody is
// told. Where it returns an error, nothing may be released for these records until a later call
// returns none. To call it without records does nothing unless such an error is still open: call it
// before a charge is written, so that nothing is spent while the anchor cannot be stored, and
// before the receipt of an earlier charge is given again.
func (k *AnchorKeeper) Committed(ctx context.Context, s *State, records []*ledger.Record) error {
	if k == nil {
		return nil
	}
	for _, r := range records {
		k.records++
		if _, protects := ledger.NotesProtected(r.Session); protects {
			k.due = true // what a recovery has to know at once
		}
		if r.Kind != ledger.KindCharge {
			continue
		}
		k.trail.add(ledger.Position{Sequence: r.Sequence - 1, Hash: r.Previous})
		for _, b := range r.Balances {
			if k.largest == nil {
				k.largest = map[string]dp.Cost{}
			}
			k.largest[b.Account] = larger(k.largest[b.Account], r.Cost)
			ceiling, known := k.ceilings[b.Account]
			k.due = k.due || !known || !s.Accounts.Spent(b.Account).Within(ceiling)
		}
	}
	if k.due = k.due || k.records >= k.every; !k.due {
		return nil
	}
	return k.store(ctx, s)
}

// Close anchors exactly the head, with exactly what was spent.
func (k *AnchorKeeper) Close(ctx context.Context, s *State) error {
	if k == nil {
		return nil
	}
	if !k.due && k.isExact(s, k.last) {
		return nil
	}
	k.largest = nil
	return k.store(ctx, s)
}

// store stores an anchor at the head. Each account gets room for every-1 more charges as large as
// its largest since the last anchor, so that the next anchor is usually due to their number.
func (k *AnchorKeeper) store(ctx context.Context, s *State) error {
	k.due = true
	a := ledger.Anchor{Identity: s.Fingerprint(), Owner: s.Owner.Key(), Time: k.now().UTC(), Checkpoint: k.vouched}
	a.Sequence, a.Hash = s.Head()
	for _, b := range s.Accounts.All() {
		room := k.largest[b.Account].Mul(k.every - 1)
		a.Most = append(a.Most, ledger.Ceiling{Account: b.Account, Spent: b.Spent.Add(room)})
	}
	a.Trail = k.trail.before(a.Sequence)
	var err error
	if a.Protects, err = k.protectsOf(s); err != nil {
		return fmt.Errorf("the anchor of the ledger could not be made: %w", err)
	}
	if err := k.place.Store(ctx, a); err != nil {
		return fmt.Errorf("the anchor of the ledger could not be stored: %w", err)
	}
	k.trail.add(ledger.Position{Sequence: a.Sequence, Hash: a.Hash})
	k.setLast(a)
	return nil
}

// setLast begins the next interval.
func (k *AnchorKeeper) setLast(a ledger.Anchor) {
	k.last = a
	if k.ceilings == nil {
		k.ceilings = make(map[string]dp.Cost, len(a.Most))
	}
	clear(k.ceilings)
	for _, c := range a.Most {
		k.ceilings[c.Account] = c.Spent
	}
	k.records, k.due = 0, false
	clear(k.largest)
}

func larger(a, b dp.Cost) dp.Cost {
	return dp.Cost{Epsilon: max(a.Epsilon, b.Epsilon), Rho: max(a.Rho, b.Rho), Delta: max(a.Delta, b.Delta)}
}

// BeginTrail begins the trail of a ledger that several servers share.
func (k *AnchorKeeper) BeginTrail(s *State, hashAt func(uint64) (string, error)) (err error) {
	k.trail, err = newTrail(s, hashAt)
	k.due = true
	return err
}

// Follow takes in a record of a ledger that several servers share, whoever wrote it. The anchor is
// due from here on: a server does not know the ceilings of an anchor that another one may have
// stored meanwhile, so it tells of nothing that is not in an anchor itself.
func (k *AnchorKeeper) Follow(r *ledger.Record) {
	if k == nil {
		return
	}
	k.due = true
	if r.Kind == ledger.KindCharge {
		k.trail.add(ledger.Position{Sequence: r.Sequence - 1, Hash: r.Previous})
	}
}

// Settled reports whether no anchor is due.
func (k *AnchorKeeper) Settled() bool { return k == nil || !k.due }

// maxShares is how often another server's anchor may come between.
const maxShares = 100

// Share sees to it that the anchor has all records of the state: one that another server stored
// after them, or one that is stored now. It never replaces a later one, and returns a
// [*ledger.AnchorError] where what is there is no part of this ledger: the database has lost
// something. again brings the state up to what is in the database.
//
// So (1) holds with several servers too: what was released was in an anchor before, exactly, and
// anchors only ever move forward on the one chain.
func (k *AnchorKeeper) Share(ctx context.Context, path string, s *State, again func() error, hashAt func(uint64) (string, error)) error {
	k.due = true
	var before ledger.Anchor
	for try := 0; ; try++ {
		a, found, err := k.load(ctx, path)
		if err != nil {
			return err
		}
		if !found && s.Notes.Anchored() {
			return &ledger.UnanchoredError{Path: path, Anchorage: k.place.String()}
		}
		if found {
			// Whoever stored it had written before. So what it knows is in the database by now.
			if err := again(); err != nil {
				return err
			}
			problem, err := differs(a, s, hashAt)
			if err == nil && problem != "" {
				err = &ledger.AnchorError{Path: path, Anchorage: k.place.String(), Problem: problem}
			}
			if err != nil {
				return err
			}
			// What another server vouched for stays, unless we have made a checkpoint since.
			if !k.made {
				k.vouched = a.Checkpoint
			}
			if head, _ := s.Head(); a.Sequence == head && len(a.Most) == len(s.Accounts.spent) && a.Checkpoint == k.vouched &&
				len(a.Protects) == len(s.Notes.protects) {
				k.setLast(a)
				return nil
			}
		}
		if err = k.store(ctx, s); err == nil {
			k.made = false
			return nil
		}
		// Another server's may have come between; then there is another one there now.
		if try > 0 && a.Sequence == before.Sequence && a.Hash == before.Hash || try == maxShares {
			return err
		}
		before = a
	}
}

// Of the positions behind the head, the last densePositions are all kept; further back, they are
// about one part in sparsePart of their distance from the head apart. So the length grows with the
// logarithm of that of the ledger: 150 to 300 at a million records.
const (
	densePositions = 64
	sparsePart     = 8
)

// trail is positions of a chain in their order.
type trail []ledger.Position

func newTrail(s *State, hashAt func(uint64) (string, error)) (trail, error) {
	head, hash := s.Head()
	t := trail{{Sequence: head, Hash: hash}}
	for age := uint64(1); age <= head; age += step(age) {
		hash, err := hashAt(head - age)
		if err != nil {
			return nil, err
		}
		t = append(t, ledger.Position{Sequence: head - age, Hash: hash})
	}
	slices.Reverse(t)
	return t, nil
}

// step returns how far apart the positions of an age are.
func step(age uint64) uint64 {
	if age < densePositions {
		return 1
	}
	return max(age/sparsePart, 1)
}

// add puts a later position at the end, and thins out the others every now and then. One that is
// known already is not added.
func (t *trail) add(p ledger.Position) {
	if n := len(*t); n > 0 && (*t)[n-1].Sequence >= p.Sequence {
		return
	}
	*t = append(*t, p)
	if len(*t)%densePositions == 0 {
		t.thin()
	}
}

// thin leaves out positions without which their neighbours are still no more than a step apart. To
// look at the neighbour before is what bounds the gaps: to keep whatever is a step from the
// neighbour after lets them grow without end, since the ages go on growing.
func (t *trail) thin() {
	old := *t
	head := old[len(old)-1].Sequence
	kept := make(trail, 0, len(old))
	last := head
	for i, p := range slices.Backward(old) {
		if age := head - p.Sequence; age == 0 || i == 0 || last-old[i-1].Sequence > step(age) {
			kept = append(kept, p)
			last = p.Sequence
		}
	}
	slices.Reverse(kept)
	*t = kept
}

// before returns the positions before a sequence, in memory of their own.
func (t trail) before(sequence uint64) []ledger.Position {
	n := len(t)
	for n > 0 && t[n-1].Sequence >= sequence {
		n--
	}
	return append([]ledger.Position{}, t[:n]...)
}
