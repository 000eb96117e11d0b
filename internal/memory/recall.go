package memory

import (
	"context"
	"time"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/answers"
	"github.com/discreet-dp/discreet/internal/plan/meter"
	"github.com/discreet-dp/discreet/internal/pricing"
	"github.com/discreet-dp/discreet/ledger"
)

// Horizon says which answers a question may see: those that were kept by a moment, or all where
// that is zero.
type Horizon struct {
	AsOf time.Time
	// Spoken says that the question will only be told whether it was answered.
	Spoken bool
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
func (m *Memory) Recall(ctx context.Context, p *pricing.Priced, version string, see Horizon) (*Recalled, error) {
	out := &Recalled{Released: make([]*answers.Released, len(p.Purchases)), Paid: api.Receipt{Free: true}}
	work := meter.Part(ctx, lookPart)
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
func (m *Memory) CompleteReceipt(ctx context.Context, paid *api.Receipt) error {
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
func (m *Memory) recallOne(
	ctx context.Context, work *meter.Meter, b *pricing.Purchase, version string, beta float64, see Horizon,
) (r *answers.Released, missed []string, err error) {
	key := b.Key(version)
	kept, err := m.recallKept(ctx, b, key)
	if err != nil {
		return nil, nil, err
	}
	if kept != nil {
		if m.arrivals.hidesSame(kept.sequence, see) {
			return nil, nil, nil
		}
		r := *kept.released
		r.Sequence = kept.sequence
		return &r, nil, nil
	}
	err = meter.Run(func() (err error) {
		r, missed, err = m.derive(ctx, work, b, version, beta, see)
		return err
	})
	return r, append([]string{key}, missed...), err
}

// recallKept returns what was kept for a purchase under its key, or nil. What was found once is
// read no more: the ledger gives what came first under a key, and what it keeps does not change.
func (m *Memory) recallKept(ctx context.Context, b *pricing.Purchase, key string) (*answered, error) {
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
