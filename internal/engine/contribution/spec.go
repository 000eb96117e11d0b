// Package contribution limits what one person contributes to a grouped sum, exactly, and fast
// enough to stand beside a plain GROUP BY. It knows no database: rows come in batches, from any
// number of goroutines.
//
// # What it computes
//
// The rows of one person in one group are added up to a partial for every measure. A person keeps
// the Spec.MaxGroups groups with the smallest hash of (salt, person, group). Each kept partial is
// clamped to the measure's interval and added to the total of its group.
//
//  1. Which groups a person keeps depends on the salt and on that person's rows, and on nobody
//     else's. For one person the hash is a bijection of the group, so there are no ties.
//  2. Partials and totals are exact: 128 bits, or 64 where 2^39 rows cannot overflow them. A total
//     is clamped to 62 bits at the end, which moves no two totals apart.
//  3. The result depends on the rows as a set with repetitions: not on their order, not on batches,
//     goroutines, partitions, passes, or the limit on memory.
//  4. A person is the same person where the keys are equal, 64-bit integers or bytes. A hash
//     decides where a person is looked for, and never who it is: two people with one hash stay two.
//
// Where rows are picked and not added up ([Pick]), each kept group of a person hands on at most
// MaxRows rows, those with the smallest hash of (salt, person, values). Groups that were found in
// the data ([Private]) are kept by a hash of what they are, and not by their numbers, which are
// about other people.
//
// # How
//
// Rows are partitioned by a hash of the person, each partition is sorted by person in the cache,
// and one kernel takes each person's rows at once. The hash of an integer is a bijection, so it
// stands for the person: a partition needs no table of people, and a row is a word, which has the
// group in the bits that the partition knows, and its values. Texts are compared as such. Where
// partitions do not fit into memory they are compacted to partials of the groups kept so far: a
// group that is dropped then can never return, because as many groups with smaller hashes stay.
// Where that is not enough, only a part of the partitions is kept, and the source is read again for
// the others: a person is in one partition, and is counted in one pass. How many partitions a pass
// has follows from Spec.Rows, where that is given, before the first row is read.
//
// In a table that is stored by person most of a batch's people are in it as a whole, and go to the
// kernel at once; only the first and the last one of each ascending stretch may go on elsewhere,
// and are partitioned, and so are strays, who are known before (see [FindOrder]). That the
// stretches do not overlap is checked when all have been seen. Where they do, everything is
// computed again without this assumption.
package contribution

import (
	"encoding/binary"
	"errors"
	"math"
	"math/big"
	"math/bits"
	"runtime"
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
	// Scale, where it is above 0, is how many rows of a person in a group a Sum is scaled down to,
	// where there are more, before it is clamped: to the nearest integer, and from the middle away
	// from 0. How many rows there are says By, a measure of Rows or Values.
	Scale int64
	By    int
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
	errSpec  = errors.New("contribution: an impossible specification: no groups, or bounds that do not include 0")
	errBatch = errors.New("contribution: the columns of a batch do not fit together")
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
	scale     int64 // how many rows it is scaled down to, or 0
	by        int   // the measure that counts them
}

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

// narrowReach is the reach up to which 2^39 rows fit into 64 bits.
const narrowReach = 1 << 24

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
		if f.scale, f.by = m.Scale, m.By; m.Scale != 0 && !s.countsFor(m) {
			return nil, errSpec
		}
		switch m.Kind {
		case Values:
			f.half = l.halves
			l.halves++
		case Sum, Carried:
			if m.Reach < 0 {
				return nil, errSpec
			}
			f.wide = m.Kind == Sum && m.Reach > narrowReach
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

// countsFor reports whether a measure is a sum that another one counts the rows of.
func (s *Spec) countsFor(m Measure) bool {
	if m.Kind != Sum || m.Scale < 1 || m.Scale > 1<<40 || m.By < 0 || m.By >= len(s.Measures) {
		return false
	}
	by := s.Measures[m.By].Kind
	return by == Rows || by == Values
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

// mix is a bijection of 64 bits in which every bit of the input moves every bit of the output
// (Stafford's thirteenth variant of the finalizer of MurmurHash3).
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

func (l *layout) seedInt(person int64) uint64 { return mix(uint64(person) ^ l.s0) }

// seedText is the hash of a person whose key is text. Two texts with one hash share a seed, and
// nothing else.
func (l *layout) seedText(b []byte) uint64 {
	h := l.s0 ^ uint64(len(b))
	for ; len(b) >= 8; b = b[8:] {
		h = fold(h^binary.LittleEndian.Uint64(b), 0x9e3779b97f4a7c15^l.s1|1)
	}
	if len(b) > 0 {
		h = fold(h^lastWord(b), 0xd6e8feb86659fd93^l.s1|1)
	}
	return mix(h)
}

func fold(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi ^ lo + a
}

func lastWord(b []byte) uint64 {
	var w uint64
	for i, c := range b {
		w |= uint64(c) << (8 * i)
	}
	return w
}

// order is the place of a group in a person's own order of all groups: for one seed no two groups
// have the same.
func (l *layout) order(seed uint64, group int32) uint64 {
	return groupOrder(l.s1, seed, group)
}

func groupOrder(s1, seed uint64, group int32) uint64 { return mix(seed + s1 + uint64(group)*phi) }

const phi = 0x9e3779b97f4a7c15

// first and next make the hash of a person and of values of theirs.
func (l *layout) first(seed uint64) uint64       { return seed ^ l.s1 }
func (l *layout) next(hash, value uint64) uint64 { return mix(hash ^ value) }

// Hash makes 128 bits of a text, so that it can be carried as two numbers, and 64 to name a group.
type Hash struct{ one, other layout }

// NewHash makes the hash of a salt.
func NewHash(salt [32]byte) *Hash {
	word := func(i int) uint64 { return mix(binary.LittleEndian.Uint64(salt[8*i:]) + uint64(i)) }
	return &Hash{layout{s0: word(0), s1: word(1)}, layout{s0: word(2), s1: word(3)}}
}

// Of returns the hash of a text. Different values that share one count as one: a function of the
// hashes moves no further than one of the values, so the sensitivity is the same.
func (h *Hash) Of(text []byte) (int64, int64) {
	return int64(h.one.seedText(text)), int64(h.other.seedText(text))
}

// Name returns half of the hash, which names a group.
func (h *Hash) Name(text []byte) uint64 { return h.one.seedText(text) }

// wide is a signed integer of 128 bits.
type wide struct {
	hi int64
	lo uint64
}

func (w *wide) add(hi int64, lo uint64) {
	var carry uint64
	w.lo, carry = bits.Add64(w.lo, lo, 0)
	w.hi += hi + int64(carry)
}

// scaled is a sum of so many rows, scaled down to fewer.
func (w wide) scaled(rows, most int64) wide {
	if rows <= most {
		return w
	}
	negative := w.hi < 0
	if negative {
		w = wide{}.minus(w)
	}
	// The sum times 2 most, and rows, over 2 rows, word by word. The uppermost word of it is not
	// above most, and so below the divisor.
	twice, divisor := uint64(2*most), uint64(2*rows)
	middle, lower := bits.Mul64(w.lo, twice)
	upper, carried := bits.Mul64(uint64(w.hi), twice)
	carried, carry := bits.Add64(carried, middle, 0)
	upper += carry
	lower, carry = bits.Add64(lower, uint64(rows), 0)
	carried, carry = bits.Add64(carried, 0, carry)
	upper += carry
	high, rest := bits.Div64(upper, carried, divisor)
	low, _ := bits.Div64(rest, lower, divisor)
	out := wide{int64(high), low}
	if negative {
		out = wide{}.minus(out)
	}
	return out
}

func (w wide) minus(v wide) wide {
	lo, borrow := bits.Sub64(w.lo, v.lo, 0)
	return wide{w.hi - v.hi - int64(borrow), lo}
}

// scaled64 is wide.scaled of 64 bits.
func scaled64(sum, rows, most int64) int64 {
	if rows <= most {
		return sum
	}
	return wide{sum >> 63, uint64(sum)}.scaled(rows, most).int64()
}

func (w wide) less(v wide) bool { return w.hi < v.hi || w.hi == v.hi && w.lo < v.lo }

// int64 returns the nearest integer of 64 bits.
func (w wide) int64() int64 {
	switch {
	case w.hi == int64(w.lo)>>63:
		return int64(w.lo)
	case w.hi < 0:
		return math.MinInt64
	}
	return math.MaxInt64
}

// clip reads an integer, or the nearest of 80 bits: beyond what a policy can say (2^73), and so far
// below 128 bits that totals of clamped partials cannot overflow.
func clip(x *big.Int) wide {
	limit := new(big.Int).Lsh(big.NewInt(1), 80)
	switch {
	case x.Cmp(limit) > 0:
		x = limit
	case x.CmpAbs(limit) > 0:
		x = limit.Neg(limit)
	}
	lo := new(big.Int).And(x, new(big.Int).SetUint64(math.MaxUint64)) // of the two's complement
	hi := new(big.Int).Rsh(x, 64)
	return wide{hi.Int64(), lo.Uint64()}
}

// Limit is where a total is clamped, so that it is an int64.
const Limit = 1 << 62

func (w wide) final() int64 { return min(max(w.int64(), -Limit), Limit) }

// How often rows are read follows from Rows, the measures and the memory. It would follow from
// whether the last row still fits otherwise, and whoever asks can read off a clock how often that
// is. What is left to chance is a person whose rows are a large part of all, and texts that are
// longer than Width: then partitions are compacted, or halved.

// bytes is how much memory a row takes.
func (l *layout) bytes() int64 {
	if l.Spelled || l.Width > 0 {
		return 8 * int64(2+(max(l.Width, 8)+7)/8+l.payload)
	}
	return int64(8 + 4*l.lanes)
}

// share is how many partitions are taken in a pass.
func (l *layout) share() int {
	if l.Rows <= 0 {
		return partCount
	}
	// Half of a block is empty, for each partition and goroutine.
	open := int64(runtime.GOMAXPROCS(0)) * partCount * blockWords / 2
	if l.Spelled || l.Width > 0 {
		open = open * 8 / l.bytes()
	}
	need := float64(min(l.Rows, 1<<50)+open) * float64(l.bytes()) * 9 / 8 // partitions are not quite alike
	passes := int(min(need/(float64(l.Memory)*7/8), partCount-1)) + 1
	return (partCount + passes - 1) / passes
}

// triesOrder reports whether the order of rows is tried: where what is not in the middle of a
// stretch surely fits, when it is compacted.
func (l *layout) triesOrder() bool {
	if l.Unordered || l.Rows <= 0 {
		return !l.Unordered
	}
	each := int64(min(l.MaxGroups, l.Groups))
	if l.Pick != nil {
		each = min(each, 1<<20) * min(l.Pick.MaxRows, 1<<20)
	}
	people := 2 * (l.Rows/batchRows + 1) // the first and the last of each batch
	records := float64(people)*float64(min(each, batchRows)) + float64(l.Order.rowsOfStrays())
	return records*float64(8*l.partial+l.Width+16) < float64(l.Memory)/2
}

// batchRows is how many rows a batch has, about.
const batchRows = 1 << 11
