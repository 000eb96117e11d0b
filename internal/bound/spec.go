package bound

import (
	"encoding/binary"
	"errors"
	"math/big"
	"slices"
)

// Spec says what to compute.
type Spec struct {
	Groups    int // groups are numbered from 0
	MaxGroups int // how many of them a person can be in
	Salt      [32]byte
	Measures  []Measure
	// Memory is about how many bytes rows may take, or 0 for DefaultMemory.
	Memory int64
	// Rows is about how many rows there are at most, in a number that everybody may know, or 0. How
	// often they are read follows from it.
	Rows int64
	// Width is about how many bytes a person's text has, or 0 where people are integers.
	Width int
	// Names, where it is not nil, says who the people are for whom Ints are numbers. A number says
	// that two rows are one person's, in this table and as it is now; all else, which groups are
	// kept among it, follows from the bytes, as if Texts had them. Numbers ascend as rows do in a
	// table that is stored by person. It is called from several goroutines, with numbers of batches
	// alone.
	Names func(number int64) []byte
	// Unordered says not to try whether the rows are stored by person.
	Unordered bool
	// Order, where it is not nil, says how the rows are stored by person; see FindOrder. Rows that
	// come in another one make it all start again, without an order.
	Order *Order
	// Spelled says that people come as texts, so that no room is made for integers.
	Spelled bool
	// Private, where it is not nil, says that which groups there are is in the data, and what each
	// of them is.
	Private *Private
	// Pick, where it is not nil, says that rows are chosen and handed on, and not added up.
	Pick *Pick
}

// DefaultMemory is the limit on memory where none is given. The whole process takes about half as
// much again, for what is worked on and what the collector has not seen yet.
const DefaultMemory = 3 << 30

// Measure is one integer for each group.
type Measure struct {
	Kind Kind
	// Lo and Hi are what one person's partial in one group is clamped to. They are not used for
	// People.
	Lo, Hi *big.Int
	// Reach is the largest magnitude of a row's value, for Sum and Carried. A value beyond it is
	// the caller's mistake, and makes the sum wrong; what a person contributes is clamped all the
	// same.
	Reach int64
}

// Kind says what a measure adds up.
type Kind int

const (
	// Rows counts rows.
	Rows Kind = iota
	// Values counts rows whose value is 1 and not 0.
	Values
	// Sum adds up values.
	Sum
	// People counts people: 1 for every group that a person keeps.
	People
	// Carried is a value that stays with its row, for Pick, and has no sum.
	Carried
)

// valued reports whether rows have a value of a measure.
func (k Kind) valued() bool { return k == Values || k == Sum || k == Carried }

// Batch is some rows. A row whose group is negative is nobody's or is in no public group, and is
// left out. The slices are read until Add returns.
type Batch struct {
	// Who a row is about: Ints, or Texts where Ints is nil.
	Ints   []int64
	Texts  [][]byte
	Groups []int32
	// Values has a column for every measure of kind Values (0 or 1), Sum (0 where it is NULL) or
	// Carried, and nil for the others.
	Values [][]int64
	// Stored has, for Singles alone and where it is not nil, columns as they are stored, in the
	// place of those of Values.
	Stored []Stored
}

// Stored is a measure's column as it is stored: Half or Full, whose rows are first clamped to Lo
// and Hi, or Ones where every row's value is 1. None of its rows is NULL.
type Stored struct {
	Half   []int32
	Full   []int64
	Lo, Hi int64
	Ones   bool
}

var (
	errSpec  = errors.New("bound: a specification that cannot be: no groups, or bounds without 0 between them")
	errBatch = errors.New("bound: a batch whose columns do not fit together")
)

// field is how a measure's values and partials are held.
type field struct {
	kind   Kind
	half   int // place among the values of 32 bits, or -1
	full   int // place among the values of 64 bits, or -1
	wide   bool
	lo, hi wide // the clamp
	// The clamp for 64 bits, which is all there is where the partial is not wide.
	low, high int64
}

// layout is a Spec made ready.
type layout struct {
	Spec
	fields  []field
	halves  int
	payload int // words of a row after a person who is a text: group and values
	partial int // words of a partial after its person: group and sums
	// Of a row whose person is an integer: how many lanes, whether the first of them is the group,
	// and the first measure that has one.
	lanes     int
	groupLane bool
	valued    int
	slim      bool
	s0, s1    uint64
	maxGroup  int32
}

// narrow is the reach up to which 2^39 rows fit into 64 bits.
const narrow = 1 << 24

func newLayout(s Spec) (*layout, error) {
	if s.Groups < 1 || s.Groups > 1<<30 || s.MaxGroups < 1 || !s.fits() {
		return nil, errSpec
	}
	if s.Memory <= 0 {
		s.Memory = DefaultMemory
	}
	l := &layout{Spec: s, maxGroup: int32(s.Groups - 1), partial: 1}
	l.s0, l.s1 = binary.LittleEndian.Uint64(s.Salt[:]), binary.LittleEndian.Uint64(s.Salt[8:])
	l.s0 ^= mix(binary.LittleEndian.Uint64(s.Salt[16:]))
	l.s1 ^= mix(binary.LittleEndian.Uint64(s.Salt[24:]))
	fulls := 0
	for _, m := range s.Measures {
		f := field{kind: m.Kind, half: -1, full: -1}
		if m.Kind != People && m.Kind != Carried {
			if m.Lo == nil || m.Hi == nil || m.Lo.Sign() > 0 || m.Hi.Sign() < 0 {
				return nil, errSpec
			}
			f.lo, f.hi = clip(m.Lo), clip(m.Hi)
			f.low, f.high = f.lo.int64(), f.hi.int64()
		}
		switch m.Kind {
		case Values:
			f.half = l.halves
			l.halves++
		case Sum, Carried:
			if m.Reach < 0 {
				return nil, errSpec
			}
			f.wide = m.Kind == Sum && m.Reach > narrow
			if m.Reach < 1<<31 {
				f.half = l.halves
				l.halves++
			} else {
				f.full = fulls
				fulls++
			}
		}
		if m.Kind != People {
			l.partial++
		}
		if f.wide {
			l.partial++
		}
		l.fields = append(l.fields, f)
	}
	// The group is the first of the 32 bits.
	l.payload = (1+l.halves+1)/2 + fulls
	l.groupLane = s.Groups > 1<<partBits
	if l.lanes = l.halves + 2*fulls; l.groupLane {
		l.lanes++
	}
	l.valued = slices.IndexFunc(l.fields, func(f field) bool { return f.half >= 0 || f.full >= 0 })
	l.slim = l.Pick == nil && l.Private == nil && l.isSlim()
	if l.Spelled {
		l.lanes = 0
	}
	return l, nil
}

// check reports whether a batch fits, so that what follows can index without a thought, and whether
// every row of it has a group.
func (l *layout) check(b *Batch) (whole bool, err error) {
	n := len(b.Groups)
	if b.Ints != nil && (len(b.Ints) != n || l.Spelled && l.Names == nil) || b.Ints == nil && (len(b.Texts) != n || l.Names != nil) {
		return false, errBatch
	}
	if err := l.checkColumns(b); err != nil {
		return false, err
	}
	over, all := int64(0), int32(0)
	for _, g := range b.Groups {
		over, all = over|int64(l.maxGroup)-int64(g), all|g // negative where a group is beyond the last
	}
	if over < 0 {
		return false, errBatch
	}
	return all >= 0, nil
}

// checkColumns reports whether there is a value for every row of every measure that has values.
func (l *layout) checkColumns(b *Batch) error {
	n := len(b.Groups)
	if len(b.Values) != len(l.fields) {
		return errBatch
	}
	for m, f := range l.fields {
		if filled := f.kind.valued(); filled && len(b.Values[m]) != n || !filled && b.Values[m] != nil {
			return errBatch
		}
	}
	return nil
}
