package groupcommit

import (
	"context"
	"errors"
	"iter"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/ledger/chain"
	"github.com/discreet-dp/discreet/internal/test/ledgertest"
	"github.com/discreet-dp/discreet/ledger"
)

var ctx = context.Background()

// What the tests of all ledgers share.
var (
	ask, hospital                   = ledgertest.Ask, ledgertest.Hospital
	mustCharge, mustKeep, mustClose = ledgertest.MustCharge, ledgertest.MustKeep, ledgertest.MustClose
	mustNote, spent, noError        = ledgertest.MustNote, ledgertest.Spent, ledgertest.NoError
)

// memory is what a ledger of the tests has written. It outlasts the ledger.
type memory struct {
	lines   []chain.Stored
	commits int
	fail    error         // of the next writes
	wait    time.Duration // the longest that a write takes
	torn    bool          // where a write fails, nothing is known of its fate
}

// memLedger is a ledger whose records are in memory: a committer, and as little else as can be.
type memLedger struct {
	*Committer
	memory *memory
}

func newMemory() *memory {
	first := chain.First("identity", time.Unix(0, 0))
	return &memory{lines: []chain.Stored{{Line: chain.Line{Record: first.Record, Body: first.Body, Hash: first.Hash}}}}
}

// open opens the ledger, which is checked from its first record on.
func (m *memory) open(now func() time.Time) (*memLedger, error) {
	_, state, err := m.verify()
	if err != nil {
		return nil, err
	}
	l := &memLedger{&Committer{Path: "the memory", Now: now, State: state}, m}
	l.Open(memStore{l})
	return l, nil
}

func (m *memory) verify() (chain.Summary, *chain.State, error) {
	lines := func(yield func(chain.Line, error) bool) {
		for _, s := range m.lines {
			if !yield(s.Line, nil) {
				return
			}
		}
	}
	return chain.Verify("the memory", lines, func(*chain.State) error { return nil }, nil)
}

func (m *memory) records() iter.Seq2[*ledger.Record, error] {
	return func(yield func(*ledger.Record, error) bool) {
		for _, s := range m.lines {
			if !yield(s.Record.Clone(), nil) {
				return
			}
		}
	}
}

// memStore is the ledger as its committer sees it.
type memStore struct{ *memLedger }

var (
	_ Store         = memStore{}
	_ ledger.Ledger = (*memLedger)(nil)
)

func (memStore) Begin() *ledger.WriteError       { return nil }
func (memStore) Refresh(time.Time) error         { return nil }
func (memStore) CountCrash(string) (bool, error) { return true, nil }
func (memStore) Served()                         {}

func (s memStore) Write(g *Group) error {
	if len(g.Links) == 0 {
		return nil
	}
	if s.memory.wait > 0 {
		time.Sleep(rand.N(s.memory.wait))
	}
	if s.memory.fail != nil {
		return s.memory.fail
	}
	for i, k := range g.Links {
		s.memory.lines = append(s.memory.lines,
			chain.Stored{Line: chain.Line{Record: k.Record.Clone(), Body: k.Body, Hash: k.Hash}, Answer: g.Answers[i]})
	}
	s.memory.commits++
	return nil
}

func (s memStore) Failed(_ *Group, cause error) *ledger.WriteError {
	if s.memory.torn {
		s.Stop(cause)
		return s.Broken
	}
	_, state, err := s.memory.verify() // the state has records that were not written
	if err != nil {
		s.Stop(err)
		return s.Broken
	}
	s.State = state
	return &ledger.WriteError{Path: s.Path, Err: cause}
}

func (s memStore) Anchor(made []*chain.Link) error {
	records := make([]*ledger.Record, len(made))
	for i, k := range made {
		records[i] = k.Record
	}
	return s.Keeper.Committed(ctx, s.State, records)
}

func (s memStore) Read(sequence uint64) (*ledger.Record, string, []byte, error) {
	if sequence >= uint64(len(s.memory.lines)) {
		return nil, "", nil, errors.New("there is no such record")
	}
	line := s.memory.lines[sequence]
	return line.Record.Clone(), line.Hash, slices.Clone(line.Answer), nil
}

func (l *memLedger) Died() []string { return nil }

func (l *memLedger) Close() error {
	l.Lock()
	defer l.Unlock()
	l.Shut = true
	return nil
}

func (l *memLedger) Records(ctx context.Context, from uint64) iter.Seq2[*ledger.Record, error] {
	return func(yield func(*ledger.Record, error) bool) {
		for ; ; from++ {
			if err := l.LockForRead(ctx); err != nil {
				yield(nil, err)
				return
			}
			record, _, _, err := memStore{l}.Read(from)
			l.Unlock()
			if err != nil || !yield(record, nil) {
				return
			}
		}
	}
}

func (l *memLedger) Notes(ctx context.Context, session string) ([][]byte, error) {
	return l.NotesAfter(ctx, session, 0)
}

func (l *memLedger) NotesAfter(ctx context.Context, session string, after int) ([][]byte, error) {
	sequences, err := l.NotesOf(ctx, session, after)
	if err != nil {
		return nil, err
	}
	all := make([][]byte, len(sequences))
	for i, n := range sequences {
		if err := l.LockForRead(ctx); err != nil {
			return nil, err
		}
		_, _, note, err := memStore{l}.Read(n)
		l.Unlock()
		if err != nil {
			return nil, err
		}
		all[i] = note[ledger.NoteSalt:]
	}
	return all, nil
}

func fresh(t testing.TB) *memLedger {
	t.Helper()
	return mustOpen(t, newMemory())
}

func mustOpen(t testing.TB, m *memory) *memLedger {
	t.Helper()
	l, err := m.open(time.Now)
	noError(t, err)
	return l
}

// slow opens a new ledger whose writes take their time, so that groups form.
func slow(t testing.TB) *memLedger {
	l := fresh(t)
	l.memory.wait = 200 * time.Microsecond
	return l
}

func (m *memory) mustVerify(t testing.TB) chain.Summary {
	t.Helper()
	s, _, err := m.verify()
	noError(t, err)
	return s
}

// world is a new ledger for the tests that all ledgers share.
func world() ledgertest.World { return worldOf(newMemory()) }

// slowWorld is one whose writes take their time, so that groups form.
func slowWorld() ledgertest.World {
	m := newMemory()
	m.wait = 200 * time.Microsecond
	return worldOf(m)
}

func worldOf(m *memory) ledgertest.World {
	return ledgertest.World{
		OpenAt: func(t testing.TB, now func() time.Time) ledger.Ledger {
			t.Helper()
			l, err := m.open(now)
			noError(t, err)
			return l
		},
		Verify: func(t testing.TB) ledgertest.Report {
			t.Helper()
			s := m.mustVerify(t)
			ledgertest.DecideAgain(t, m.records())
			return ledgertest.Report{Records: s.Records, Charges: s.Charges, Answers: s.Answers, Balances: s.Balances}
		},
	}
}

// some is fewer in short mode.
func some(n int) int {
	if testing.Short() {
		return n / 10
	}
	return n
}

// A committer keeps the promises that need nothing but a ledger, also over the simplest store.
func TestPromises(t *testing.T) {
	for name, promise := range map[string]func(*testing.T, ledgertest.World){
		"2NeverOverBudgetAllOrNothing": ledgertest.Promise2NeverOverBudget,
		"2ManyAtOnce":                  ledgertest.Promise2ManyAtOnce,
		"2TestSeesCheckThenAct":        ledgertest.Promise2TestSeesCheckThenAct,
		"3OncePerRequest":              ledgertest.Promise3OncePerRequest,
		"3ManyAtOnce":                  ledgertest.Promise3ManyAtOnce,
		"4SpentNeverDecreases":         ledgertest.Promise4SpentNeverDecreases,
		"10IndependentOfTheClock":      ledgertest.Promise10IndependentOfTheClock,
		"12SignedElsewhere":            ledgertest.Promise12SignedElsewhere,
		"14NotesInOrder":               ledgertest.Promise14NotesInOrder,
		"14Limits":                     ledgertest.Promise14Limits,
		"14OnCondition":                ledgertest.Promise14OnCondition,
		"14WithACharge":                ledgertest.Promise14WithACharge,
		"15AChargePaysInItsWindow":     ledgertest.Promise15AChargePaysInItsWindow,
		"16Lockouts":                   ledgertest.Promise16Lockouts,
		"16AtOnce":                     ledgertest.Promise16AtOnce,
		"16Notes":                      ledgertest.Promise16Notes,
		"16KeptFailure":                ledgertest.Promise16KeptFailure,
		"12BesideAnalysts": func(t *testing.T, w ledgertest.World) {
			ledgertest.Promise12BesideAnalysts(t, w, world())
		},
	} {
		t.Run("Promise"+name, func(t *testing.T) { promise(t, world()) })
	}
}
