package ledgertest

import (
	"context"

	"github.com/discreet-dp/discreet/ledger"
)

// MemoryAnchor is an anchorage in memory that says what was done and can fail.
type MemoryAnchor struct {
	Anchor *ledger.Anchor
	Stores int
	Fail   error
	// LoadsAnyway and StoresAnyway are what it does in spite of failing.
	LoadsAnyway, StoresAnyway bool
	Before                    func(ledger.Anchor) // called by Store
}

func (m *MemoryAnchor) String() string { return "the memory" }

func (m *MemoryAnchor) Load(context.Context) (ledger.Anchor, bool, error) {
	if m.Fail != nil && !m.LoadsAnyway {
		return ledger.Anchor{}, false, m.Fail
	}
	if m.Anchor == nil {
		return ledger.Anchor{}, false, nil
	}
	return *m.Anchor, true, nil
}

func (m *MemoryAnchor) Store(_ context.Context, a ledger.Anchor) error {
	if m.Before != nil {
		m.Before(a)
	}
	if m.Fail == nil || m.StoresAnyway {
		m.Anchor, m.Stores = &a, m.Stores+1
	}
	return m.Fail
}
