// Package session says what an interactive mechanism needs from whoever runs it: somebody who
// charges, and a journal in which it writes what it has to know after a restart. The mechanisms are
// in packages stream and holdout. The curator runs them on its ledger: a charge is a record there,
// and a journal is kept beside it (internal/session/sessionhost). Tests and demonstrations run them
// on a [Memory].
//
// # Rules for a mechanism
//
//  1. What costs is charged before private data is looked at. A charge has a name within the
//     session, and the same name is charged once however often it is sent.
//  2. What must not be forgotten is in the journal before anybody sees an answer that depends on
//     it: the noise of a threshold before it is compared with anything, a paid answer before it is
//     released.
//  3. The state is a function of the journal's entries, so a session that is opened again goes on
//     where it was.
//  4. Where the journal cannot be written, what was drawn is not released, and the session is as
//     good as killed: it answers nothing more until it is opened again. What it does then must not
//     depend on what was drawn, or it tells.
//
// So a process may be killed at any moment. What was charged and is not in the journal was seen by
// nobody, and is drawn again for the same charge.
package session

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/account"
)

// Host runs one session. It is safe for concurrent use.
type Host interface {
	// Charge returns nil only when the charge is on stable storage. Where it does not fit it
	// returns an error that is [ErrBudget], and where the name was charged before with something
	// else one that is [ErrName]; then nothing is spent.
	Charge(ctx context.Context, c Charge) (Receipt, error)
	// Append adds an entry to the journal of the session and returns when it is on stable storage.
	Append(ctx context.Context, entry []byte) error
	// Entries returns all entries, in their order.
	Entries(ctx context.Context) ([][]byte, error)
}

// Periodic is a Host whose budget is given anew from time to time. What was charged in one period
// must not answer in the next: there nobody has paid for it. So a mechanism ends what is open when
// the period is another one.
type Periodic interface {
	// Period is the current one, from 1 on, or 0 where there is only one for ever.
	Period(ctx context.Context) (uint64, error)
}

// PeriodOf is the current period of a host; 0 where it has none.
func PeriodOf(ctx context.Context, h Host) (uint64, error) {
	if p, ok := h.(Periodic); ok {
		return p.Period(ctx)
	}
	return 0, nil
}

// Charge is what part of a session costs.
type Charge struct {
	// Name is the charge's own within its session.
	Name string
	// Mechanisms spells the noise with its exact parameters, for the ledger.
	Mechanisms string
	Cost       dp.Cost
}

// Receipt says where a charge is recorded.
type Receipt struct {
	Sequence uint64
	Hash     string
	// Again says that the charge had been made before, and was not made a second time.
	Again bool
}

// Shared is a Host whose session others may go on with at the same time, such as another server
// with the same ledger. A mechanism follows the journal before it looks at data, and writes an
// entry only where it has read all before it. So of two that were at it at once one has written,
// and the other reads that and begins anew; what it had drawn is told to nobody, whatever it was.
type Shared interface {
	// AppendAfter is Append where the journal has so many entries, and returns [ErrBehind] where it
	// has more.
	AppendAfter(ctx context.Context, entries int, entry []byte) error
	// EntriesAfter returns the entries after so many.
	EntriesAfter(ctx context.Context, entries int) ([][]byte, error)
}

// ErrBehind is returned when a journal has entries that a mechanism has not read. Nothing was
// written.
var ErrBehind = errors.New("somebody else has continued this session in the meantime")

// AppendAfter appends an entry to the journal of a host after so many. Of one that is not shared
// nobody else writes it.
func AppendAfter(ctx context.Context, h Host, entries int, entry []byte) error {
	if s, ok := h.(Shared); ok {
		return s.AppendAfter(ctx, entries, entry)
	}
	return h.Append(ctx, entry)
}

// EntriesAfter returns what others have written after so many entries.
func EntriesAfter(ctx context.Context, h Host, entries int) ([][]byte, error) {
	if s, ok := h.(Shared); ok {
		return s.EntriesAfter(ctx, entries)
	}
	return nil, nil
}

// MaxTries is how often a mechanism begins anew where others are always first, before it gives up.
const MaxTries = 20

var (
	// ErrBudget is returned when a charge does not fit into what is left. Nothing was spent.
	ErrBudget = errors.New("the budget does not cover this charge")
	// ErrName is returned when a name comes again with another charge. Nothing was spent, and what
	// the name stands for must not be drawn: it was not paid for.
	ErrName = errors.New("this name was charged before, with another cost or another mechanism")
)

// Memory is a host that forgets with the process. It is safe for concurrent use.
type Memory struct {
	mu      sync.Mutex
	filter  account.Filter
	spent   dp.Cost
	names   map[string]namedCharge
	entries [][]byte
}

type namedCharge struct {
	Charge
	sequence uint64
}

// NewMemory returns a host with a budget.
func NewMemory(f account.Filter) *Memory { return &Memory{filter: f, names: map[string]namedCharge{}} }

func (m *Memory) Charge(_ context.Context, c Charge) (Receipt, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if old, ok := m.names[c.Name]; ok {
		if old.Charge != c {
			return Receipt{}, ErrName
		}
		return Receipt{Sequence: old.sequence, Again: true}, nil
	}
	if !m.filter.Admits(m.spent, c.Cost) {
		return Receipt{}, ErrBudget
	}
	m.spent = m.spent.Add(c.Cost)
	n := uint64(len(m.names) + 1)
	m.names[c.Name] = namedCharge{c, n}
	return Receipt{Sequence: n}, nil
}

func (m *Memory) Append(_ context.Context, entry []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.entries = append(m.entries, slices.Clone(entry))
	return nil
}

func (m *Memory) Entries(context.Context) ([][]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := make([][]byte, len(m.entries))
	for i, e := range m.entries {
		out[i] = slices.Clone(e)
	}
	return out, nil
}

// Spent returns what was charged.
func (m *Memory) Spent() dp.Cost {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.spent
}
