package exact

import (
	"errors"
	"fmt"
	"slices"
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

// Parted compares the groups of the units of two databases, whose groups have names: how many units
// have to be taken from each so that the others are in the same groups and stand in the same order,
// and in how many groups a unit is at most. It reports false where more than one has to be taken
// from each. It is for the audit kit, as Between is.
func Parted(a, b Members, namesA, namesB []string) (went, came, most int, ok bool) {
	spelled := func(m Members, names []string) (out []string) {
		m.Each(func(groups []int32) {
			own := make([]string, len(groups))
			for i, g := range groups {
				own[i] = names[g]
			}
			slices.Sort(own)
			most = max(most, len(own))
			out = append(out, fmt.Sprintf("%q", own))
		})
		return out
	}
	x, y := spelled(a, namesA), spelled(b, namesB)
	for len(x) > 0 && len(y) > 0 && x[0] == y[0] {
		x, y = x[1:], y[1:]
	}
	for len(x) > 0 && len(y) > 0 && x[len(x)-1] == y[len(y)-1] {
		x, y = x[:len(x)-1], y[:len(y)-1]
	}
	switch {
	case len(x)+len(y) <= 1:
		return len(x), len(y), most, true
	case len(x) == 0 || len(x) != len(y):
		return 0, 0, most, false
	}
	last := len(x) - 1
	return 1, 1, most, slices.Equal(x[1:], y[:last]) || slices.Equal(x[:last], y[1:])
}
