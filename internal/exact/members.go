package exact

import (
	"errors"
	"fmt"
)

// Members are, sealed, the groups that each unit is in. Units stand in an order in which any two of
// them stand the same way whoever else is there.
type Members struct {
	open func() (groups []int32, ends []int)
}

// SealMembers takes ownership of the groups of all units, one unit after the other, and of where
// those of each end.
func SealMembers(groups []int32, ends []int) Members {
	return Members{func() ([]int32, []int) { return groups, ends }}
}

// Each calls do with the groups of each unit, in their order. Only a mechanism calls it, to add
// noise.
func (m Members) Each(do func(groups []int32)) {
	if m.open == nil {
		return
	}
	groups, ends := m.open()
	from := 0
	for _, to := range ends {
		do(groups[from:to])
		from = to
	}
}

// String hides the groups.
func (Members) String() string { return sealed }

// Format hides them from every verb.
func (Members) Format(f fmt.State, _ rune) { fmt.Fprint(f, sealed) }

// MarshalJSON refuses: exact values in a document are a bug, not a format.
func (Members) MarshalJSON() ([]byte, error) {
	return nil, errors.New("exact groups cannot be encoded")
}

// GobEncode refuses for the same reason.
func (Members) GobEncode() ([]byte, error) { return nil, errors.New("exact groups cannot be encoded") }
