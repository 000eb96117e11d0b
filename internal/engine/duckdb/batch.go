package duckdb

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/discreet-dp/discreet/internal/engine/contribution"
	"github.com/discreet-dp/discreet/internal/engine/duckdb/chunks"
	"github.com/discreet-dp/discreet/policy"
)

// batch is a chunk as package contribution takes it, with room to copy what cannot be taken as it
// is.
type batch struct {
	contribution.Batch
	groups []int32
	ints   []int64
	texts  [][]byte
	values [][]int64
	stored []contribution.Stored
	key    []int64
	found  foundRow
	rooms  [][][]int64 // of each job; see sharing

	columns [][]int64 // of counts and sums
}

// read fills the batch. It reports whether the columns are what was asked for.
func (w *batch) read(b *boundedQuery, c *chunks.Chunk) bool {
	if !w.readRows(b, c) {
		return false
	}
	if b.carried == nil {
		return w.readValues(b, c)
	}
	w.values = w.carry(c, b.carried, w.values)
	return w.Values != nil
}

// readRows reads whose rows are and their groups.
func (w *batch) readRows(b *boundedQuery, c *chunks.Chunk) bool {
	w.Ints, w.Texts = nil, nil
	first := 0 // of the keys
	var someone []uint64
	if b.people {
		if first = 1; !w.whose(c) || b.names != nil && !b.names.has(w.Ints) {
			return false
		}
		someone = c.Valid(0)
	}
	if len(b.keys) == 1 && b.keys[0].places == nil && b.keys[0].codes == nil && someone == nil && b.private == nil {
		w.Groups = c.Int32s(first) // as they are
		if w.Groups == nil {
			return false
		}
	} else if !w.number(b, c, first, someone) {
		return false
	}
	if b.private != nil && !w.findGroups(b, c, first+len(b.keys)) {
		return false
	}
	if b.spec.Spelled && b.names == nil {
		w.spellPeople()
	}
	return true
}

// readValues reads the values of counts and sums.
func (w *batch) readValues(b *boundedQuery, c *chunks.Chunk) bool {
	w.values = slices.Grow(w.values[:0], len(b.values))[:len(b.values)]
	// Apart from the room of those that carry values: some of these are DuckDB's own.
	w.columns = slices.Grow(w.columns[:0], len(b.values))[:len(b.values)]
	clear(w.columns)
	w.Values, w.Stored = w.columns, nil
	if !b.people {
		w.stored = slices.Grow(w.stored[:0], len(b.values))[:len(b.values)]
		clear(w.stored)
		w.Stored = w.stored
	}
	for m, col := range b.values {
		if col >= 0 && !w.value(m, col, b.present[m], b.clamps[col], c) {
			return false
		}
	}
	return true
}

// number fills in the groups; first is the column of the first key, and someone the mask of rows
// that are about somebody, or nil where all are.
func (w *batch) number(b *boundedQuery, c *chunks.Chunk, first int, someone []uint64) bool {
	n := c.Len()
	w.groups = slices.Grow(w.groups[:0], n)[:n]
	clear(w.groups)
	w.Groups = w.groups
	for i := range b.keys {
		if !w.addKey(&b.keys[i], c, first+i, i == 0) {
			return false
		}
	}
	eachNull(someone, n, func(i int) { w.groups[i] = -1 })
	return true
}

func (w *batch) whose(c *chunks.Chunk) bool {
	if w.Ints = c.Int64s(0); w.Ints != nil {
		return true
	}
	w.ints = slices.Grow(w.ints[:0], c.Len())[:c.Len()]
	if c.Integers(0, w.ints) {
		w.Ints = w.ints
		return true
	}
	var ok bool
	w.texts, ok = c.Texts(0, w.texts[:0])
	w.Texts = w.texts
	return ok
}

// spellPeople makes texts of people who are integers.
func (w *batch) spellPeople() {
	if w.Ints == nil {
		return
	}
	room := make([]byte, 0, 8*len(w.Ints))
	w.texts = w.texts[:0]
	for i, x := range w.Ints {
		room = binary.BigEndian.AppendUint64(room, uint64(x))
		w.texts = append(w.texts, room[8*i:])
	}
	w.Ints, w.Texts = nil, w.texts
}

// addKey works a key's places into the numbers of the groups: the last key changes fastest.
func (w *batch) addKey(k *keyColumn, c *chunks.Chunk, col int, first bool) bool {
	n := c.Len()
	size := int32(k.size)
	if k.codes != nil {
		return w.addCodes(k, c, col)
	}
	if k.places == nil {
		places := c.Int32s(col)
		if places == nil {
			return false
		}
		if first {
			copy(w.groups, places)
			return true
		}
		for i, p := range places {
			if g := w.groups[i]; p < 0 || g < 0 {
				w.groups[i] = -1
			} else {
				w.groups[i] = g*size + p
			}
		}
		return true
	}
	w.key = slices.Grow(w.key[:0], n)[:n]
	if !c.Integers(col, w.key) {
		return false
	}
	valid := c.Valid(col)
	for i, x := range w.key {
		p := k.null
		if valid == nil || valid[i/64]>>(i%64)&1 == 1 {
			p = k.places.find(x)
		}
		if g := w.groups[i]; p < 0 || g < 0 {
			w.groups[i] = -1
		} else {
			w.groups[i] = g*size + p
		}
	}
	return true
}

// addCodes is addKey for texts that are stored as codes.
func (w *batch) addCodes(k *keyColumn, c *chunks.Chunk, col int) bool {
	codes, size := c.Int32s(col), int32(k.size)
	if codes == nil || len(codes) != len(w.groups) {
		return false
	}
	for i, code := range codes {
		at := uint32(code - codeOfNull)
		if at >= uint32(len(k.codes)) {
			return false
		}
		g := w.groups[i]*size + k.codes[at]
		if (w.groups[i] | k.codes[at]) < 0 {
			g = -1
		}
		w.groups[i] = g
	}
	return true
}

// value reads a measure's column: its values, 0 for NULL, or 1 where it is not NULL.
func (w *batch) value(m, col int, present bool, clamp *policy.Bounds, c *chunks.Chunk) bool {
	n := c.Len()
	valid := c.Valid(col)
	if w.Stored != nil && valid == nil && w.asStored(m, col, present, clamp, c) {
		return true
	}
	if !present && valid == nil && clamp == nil {
		if direct := c.Int64s(col); direct != nil {
			w.Values[m] = direct
			return true
		}
	}
	w.values[m] = slices.Grow(w.values[m][:0], n)[:n]
	out := w.values[m]
	switch {
	case present:
		for i := range out {
			out[i] = 1
		}
	case clamp != nil:
		if !c.Clamped(col, out, clamp.LoSteps, clamp.HiSteps) {
			return false
		}
	case !c.Integers(col, out):
		return false
	}
	eachNull(valid, n, func(i int) { out[i] = 0 })
	w.Values[m] = out
	return true
}

// asStored takes a measure's column without a copy, where no row is NULL and nobody has several. It
// reports whether it is one that can be taken so.
func (w *batch) asStored(m, col int, present bool, clamp *policy.Bounds, c *chunks.Chunk) bool {
	s := contribution.Stored{Ones: present, Lo: math.MinInt64, Hi: math.MaxInt64}
	if clamp != nil {
		s.Lo, s.Hi = clamp.LoSteps, clamp.HiSteps
	}
	if !present {
		s.Half, s.Full = c.Int32s(col), c.Int64s(col)
	}
	if !s.Ones && s.Half == nil && s.Full == nil {
		return false
	}
	w.Stored[m] = s
	return true
}

// eachNull calls do for every row that is NULL.
func eachNull(valid []uint64, n int, do func(i int)) {
	for word, bits := range valid {
		if ^bits == 0 {
			continue
		}
		for i := word * 64; i < min(n, word*64+64); i++ {
			if bits>>(i%64)&1 == 0 {
				do(i)
			}
		}
	}
}

type keyColumn struct {
	size   int
	null   int32 // the place of NULL, or -1
	places *keyIndex
	codes  []int32 // the place of each code; see codePlaces
}

// keyIndex finds the place of an integer, a date or a boolean among public keys.
type keyIndex struct {
	first int64
	dense []int32 // by value, from first on; -1 is no key
	other map[int64]int32
}

// denseKeys is how far apart the smallest and the largest key may be to be looked up by position.
const denseKeys = 1 << 20

func newKeyIndex(values []policy.Value) *keyIndex {
	p := &keyIndex{other: map[int64]int32{}}
	var lo, hi int64
	for i, v := range values {
		if v.Null {
			continue
		}
		x := v.Int
		if v.Type == policy.Boolean {
			x = 0
			if v.Bool() {
				x = 1
			}
		}
		if len(p.other) == 0 {
			lo, hi = x, x
		}
		lo, hi = min(lo, x), max(hi, x)
		p.other[x] = int32(i)
	}
	if uint64(hi)-uint64(lo) >= denseKeys || len(p.other) == 0 {
		return p
	}
	p.first, p.dense = lo, make([]int32, hi-lo+1)
	for i := range p.dense {
		p.dense[i] = -1
	}
	for x, i := range p.other {
		p.dense[x-lo] = i
	}
	p.other = nil
	return p
}

func (p *keyIndex) find(x int64) int32 {
	if p.dense != nil {
		if at := uint64(x) - uint64(p.first); at < uint64(len(p.dense)) {
			return p.dense[at]
		}
		return -1
	}
	if i, ok := p.other[x]; ok {
		return i
	}
	return -1
}
