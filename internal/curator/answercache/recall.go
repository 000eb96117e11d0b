package answercache

import (
	"context"
	"sync"
	"time"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/curator/answers"
	"github.com/discreet-dp/discreet/internal/curator/pricing"
	"github.com/discreet-dp/discreet/internal/planner/meter"
	"github.com/discreet-dp/discreet/ledger"
)

// Horizon says which answers a question may see: those that were kept by a moment, or all where
// that is zero.
type Horizon struct {
	AsOf time.Time
	// Spoken says that the question will only be told whether it was answered.
	Spoken bool
	// Sharpest says that of several answers the least noisy is wanted, and not the one that was
	// paid for at this price.
	Sharpest bool
}

// Recalled is what was found for the purchases of a question.
type Recalled struct {
	Released []*answers.Released // for each; nil where it was not paid for yet
	Paid     api.Receipt
	// Missed are the keys under which something was looked for that is not there. Whoever pays for
	// it says so, and is not charged where it is there by then.
	Missed []string
}

// Recall returns, for each purchase, what was released for it. What one charge paid for is kept
// together, and each part is found by its own name, whatever it was bought with. What was not
// bought itself may be made of something that was.
func (m *Cache) Recall(ctx context.Context, p *pricing.Priced, version string, see Horizon) (*Recalled, error) {
	out := &Recalled{Released: make([]*answers.Released, len(p.Purchases)), Paid: api.Receipt{Free: true}}
	work := meter.Part(ctx, recallWorkPart)
	for i, b := range p.Purchases {
		if b.Query.ListsKeys() {
			continue // which was never paid for
		}
		r, missed, err := m.recallOne(ctx, work, b, version, p.Beta(), see)
		if err != nil {
			return nil, err
		}
		if out.Released[i] = r; r == nil {
			out.Missed = append(out.Missed, missed...)
		}
	}
	onlyWhole(p.Purchases, out.Released)
	for _, r := range out.Released {
		if r != nil && out.Paid.Sequence == 0 {
			out.Paid.Sequence = r.Sequence
		}
	}
	return out, m.CompleteReceipt(ctx, &out.Paid)
}

// Own returns what was kept for a request, of the purchases that it paid for, and whether the data
// changed while that was computed.
func Own(p *pricing.Priced, text []byte, charge uint64) (all []*answers.Released, moved bool) {
	all = make([]*answers.Released, len(p.Purchases))
	for i, b := range p.Purchases {
		if r, m, err := decode(b, text); err == nil {
			r.Sequence, all[i], moved = charge, r, m.Moved
		}
	}
	return all, moved
}

// onlyWhole forgets what is known of a cube of which something is not: it is bought as a whole, and
// what is shown of it agrees.
func onlyWhole(buys []*pricing.Purchase, all []*answers.Released) {
	lacks := map[*pricing.Cube]bool{}
	for i, b := range buys {
		lacks[b.Cube] = lacks[b.Cube] || b.Cube != nil && all[i] == nil
	}
	for i, b := range buys {
		if b.Cube != nil && lacks[b.Cube] {
			all[i] = nil
		}
	}
}

// CompleteReceipt puts the hash of the charge that paid for an answer into its receipt.
func (m *Cache) CompleteReceipt(ctx context.Context, paid *api.Receipt) error {
	if paid.Sequence == 0 {
		return nil
	}
	if hash, ok := m.hashes.Get(paid.Sequence); ok {
		paid.Hash = hash
		return nil
	}
	for r, err := range m.ledger.Records(ctx, paid.Sequence) {
		if err != nil {
			return err
		}
		paid.Hash = ledger.Hash(r.Encode())
		m.hashes.Put(paid.Sequence, paid.Hash, 1)
		break
	}
	return nil
}

// recallOne finds a purchase, or returns where it would be found.
func (m *Cache) recallOne(
	ctx context.Context, work *meter.Meter, b *pricing.Purchase, version string, beta float64, see Horizon,
) (r *answers.Released, missed []string, err error) {
	key := b.Key(version)
	kept, err := m.recallKept(ctx, b, key)
	if err != nil {
		return nil, nil, err
	}
	if kept != nil && m.arrivals.hidesSame(kept.sequence, see) {
		return nil, nil, nil
	}
	if kept == nil || see.Sharpest {
		err = meter.Run(func() (err error) {
			r, missed, err = m.derive(ctx, work, b, version, beta, see)
			return err
		})
		if kept == nil || r != nil || err != nil {
			return r, append([]string{key}, missed...), err
		}
	}
	same := *kept.released
	same.Sequence = kept.sequence
	return &same, nil, nil
}

// recallKept returns what was kept for a purchase under its key, or nil. What was found once is
// read no more: the ledger gives what came first under a key, and what it keeps does not change.
func (m *Cache) recallKept(ctx context.Context, b *pricing.Purchase, key string) (*answered, error) {
	if kept, ok := m.recalled.Get(key); ok {
		return kept, nil
	}
	text, sequence, found, err := m.ledger.Recall(ctx, key)
	if err != nil || !found {
		return nil, err
	}
	r, all, err := decode(b, text)
	if err != nil {
		return nil, err
	}
	m.arrivals.learn(sequence, time.UnixMicro(all.Kept))
	kept := &answered{r, sequence}
	m.recalled.Put(key, kept, weight(r))
	return kept, nil
}

// weight is how many numbers something that was released takes about.
func weight(r *answers.Released) int {
	n := 16 + numbers(r.Measures) + len(r.Chosen)
	for _, q := range r.Quantiles {
		n += numbers(q)
	}
	for _, k := range r.Keys {
		n += KeyBytes(k)
	}
	return n
}

// arrivals knows when the latest answers were kept, for questions that must not see them yet. When
// an answer is there depends on how long it took, and that can depend on the data. Where answers
// leave on a tick, whoever prices the same question, or one that is made of it, in between would
// see from the price whether it is there, to the microsecond. So such questions name a moment, the
// last tick, and what was kept after it does not exist for them.
//
// What a server keeps it keeps on a tick (package releaseclock), so this is a second wall.
type arrivals struct {
	mu   sync.Mutex
	kept map[uint64]arrival // by the charge
}

type arrival struct {
	at        time.Time // zero while it is being kept
	elsewhere bool      // by another server, or by the process before
}

// Memorable is how long it is known when an answer was kept. No tick is longer than half of it.
const Memorable = 2 * time.Minute

// otherServerLag is how much later than an answer says an answer of another server may be there: it
// says when it was to be kept, by that server's clock, and not when it could be read. Prices wait
// for so much longer.
const otherServerLag = 2 * time.Second

// put notes an arrival, and forgets those that no tick is about any more.
func (f *arrivals) put(sequence uint64, a arrival) {
	if f.kept == nil {
		f.kept = map[uint64]arrival{}
	}
	for s, a := range f.kept {
		if !a.at.IsZero() && time.Since(a.at) > Memorable {
			delete(f.kept, s)
		}
	}
	f.kept[sequence] = a
}

// note says that the answer of a charge will be there any moment; what it returns, that it is.
func (f *arrivals) note(sequence uint64) (done func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.put(sequence, arrival{})
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.put(sequence, arrival{at: time.Now()})
	}
}

// learn takes in when an answer was kept that is found in the ledger.
func (f *arrivals) learn(sequence uint64, kept time.Time) {
	if time.Since(kept).Abs() > Memorable {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, known := f.kept[sequence]; !known {
		f.put(sequence, arrival{kept, true})
	}
}

// hides reports whether the answer of a charge was not there at the moment of a question.
func (f *arrivals) hides(sequence uint64, see Horizon) bool {
	if see.AsOf.IsZero() {
		return false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	a, known := f.kept[sequence]
	if a.elsewhere && see.Spoken {
		a.at = a.at.Add(otherServerLag)
	}
	return known && (a.at.IsZero() || a.at.After(see.AsOf))
}

// hidesSame is hides for an answer to the same question. One that is asked gets an answer of its
// own that is there in any case: whoever asked it first here was waited for, and on another server
// it is there from a tick on.
func (f *arrivals) hidesSame(sequence uint64, see Horizon) bool {
	return see.Spoken && f.hides(sequence, see)
}

// KeepText stores an answer of another kind under its key. It says when, for [Cache.Shows].
func (m *Cache) KeepText(ctx context.Context, sequence uint64, key string, text []byte) error {
	defer m.arrivals.note(sequence)()
	return m.ledger.Keep(ctx, sequence, key, text)
}

// RecallText returns an answer of another kind, where it was kept.
func (m *Cache) RecallText(ctx context.Context, key string) (text []byte, sequence uint64, found bool, err error) {
	return m.ledger.Recall(ctx, key)
}

// Shows reports whether an answer of another kind may be seen, which says that it was kept at a
// moment.
func (m *Cache) Shows(sequence uint64, kept time.Time, see Horizon) bool {
	m.arrivals.learn(sequence, kept)
	return !m.arrivals.hidesSame(sequence, see)
}

// Answer returns what was kept for a request.
func (m *Cache) Answer(ctx context.Context, request string) (text []byte, found bool, err error) {
	return m.ledger.Answer(ctx, request)
}
