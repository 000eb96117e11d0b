package exact

import (
	"errors"
	"fmt"
)

// Collector takes exact rows of private data from an engine, one by one, and hands them to the one
// who made it: a trainer. Whoever stands between them has nothing to look into.
type Collector struct{ add func([]int64) }

// NewCollector returns a collector that hands rows to add. It is called by one at a time. The codes
// are good until it returns.
func NewCollector(add func(codes []int64)) Collector { return Collector{add} }

// Add hands a row over. Only an engine calls it.
func (c Collector) Add(codes []int64) {
	if c.add != nil {
		c.add(codes)
	}
}

// String hides what is behind.
func (Collector) String() string { return sealed }

// Format hides it from every verb.
func (Collector) Format(f fmt.State, _ rune) { fmt.Fprint(f, sealed) }

// MarshalJSON refuses: exact rows in a document are a bug, not a format.
func (Collector) MarshalJSON() ([]byte, error) {
	return nil, errors.New("exact rows cannot be encoded")
}

// GobEncode refuses for the same reason.
func (Collector) GobEncode() ([]byte, error) { return nil, errors.New("exact rows cannot be encoded") }
