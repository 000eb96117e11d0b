package session

import (
	"context"
	"errors"
)

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
var ErrBehind = errors.New("somebody else has gone on with this session meanwhile")

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

// Tries is how often a mechanism begins anew where others are always first, before it gives up.
const Tries = 20
