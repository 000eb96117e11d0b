package chunks

import (
	"encoding/binary"
	"math"
	"unsafe"

	duck "github.com/duckdb/duckdb-go-bindings"
)

// Kind is how a column is held in memory.
type Kind int

// Kinds of columns. Dates and times are integers of their own units.
const (
	Other Kind = iota // one that cannot be read
	Bool
	Int8
	Int16
	Int32
	Int64
	Uint8
	Uint16
	Uint32
	Uint64
	Int128 // HUGEINT and UUID
	Uint128
	Text // VARCHAR and BLOB
)

var kinds = map[duck.Type]Kind{
	duck.TypeBoolean: Bool, duck.TypeTinyInt: Int8, duck.TypeSmallInt: Int16, duck.TypeInteger: Int32, duck.TypeBigInt: Int64,
	duck.TypeUTinyInt: Uint8, duck.TypeUSmallInt: Uint16, duck.TypeUInteger: Uint32, duck.TypeUBigInt: Uint64,
	duck.TypeDate: Int32, duck.TypeTimestamp: Int64, duck.TypeTimestampS: Int64, duck.TypeTimestampMS: Int64, duck.TypeTimestampNS: Int64,
	duck.TypeTimestampTZ: Int64,
	duck.TypeHugeInt:     Int128, duck.TypeUUID: Int128, duck.TypeUHugeInt: Uint128, duck.TypeVarchar: Text, duck.TypeBlob: Text,
}

// Chunk is some rows, at most a few thousand.
type Chunk struct {
	data  duck.DataChunk
	kinds []Kind
	n     int
}

func chunkOf(data unsafe.Pointer) *Chunk {
	c := &Chunk{data: duck.DataChunk{Ptr: data}}
	c.n = int(duck.DataChunkGetSize(c.data))
	return c
}

// types reads the kinds of all columns but the first, which is the number of the run.
func (c *Chunk) types() []Kind {
	var out []Kind
	for i := duck.IdxT(1); i < duck.DataChunkGetColumnCount(c.data); i++ {
		t := duck.VectorGetColumnType(duck.DataChunkGetVector(c.data, i))
		out = append(out, kinds[duck.GetTypeId(t)])
		duck.DestroyLogicalType(&t)
	}
	return out
}

// Len returns the number of rows.
func (c *Chunk) Len() int { return c.n }

// Kind returns what a column holds.
func (c *Chunk) Kind(col int) Kind { return c.kinds[col] }

func (c *Chunk) vector(col int) duck.Vector { return duck.DataChunkGetVector(c.data, duck.IdxT(col)) }

// view is a vector's memory as a slice of its type.
func view[T any](c *Chunk, vector int) []T {
	return unsafe.Slice((*T)(duck.VectorGetData(c.vector(vector))), c.n)
}

func (c *Chunk) valid(vector int) []uint64 {
	p := duck.VectorGetValidity(c.vector(vector))
	if p == nil {
		return nil
	}
	return unsafe.Slice((*uint64)(p), (c.n+63)/64)
}

// Valid returns the mask of rows that are not NULL, bit i%64 of word i/64, or nil where no row is.
func (c *Chunk) Valid(col int) []uint64 { return c.valid(col + 1) }

// Int64s returns an Int64 column, or nil for another. Where a row is NULL it holds anything.
func (c *Chunk) Int64s(col int) []int64 {
	if c.kinds[col] != Int64 {
		return nil
	}
	return view[int64](c, col+1)
}

// Int32s returns an Int32 column, or nil for another.
func (c *Chunk) Int32s(col int) []int32 {
	if c.kinds[col] != Int32 {
		return nil
	}
	return view[int32](c, col+1)
}

// Integers copies a column of up to 64 bits into out, which has a place for every row, so that
// their order is the column's: unsigned 64 bits are moved down by 2^63. It reports whether the
// column is one.
func (c *Chunk) Integers(col int, out []int64) bool {
	if c.kinds[col] == Uint64 {
		for i, x := range view[uint64](c, col+1) {
			out[i] = int64(x ^ 1<<63)
		}
		return true
	}
	return c.Clamped(col, out, math.MinInt64, math.MaxInt64)
}

// Clamped copies a column of up to 64 bits into out, clamped. It reports whether the column is one;
// unsigned 64 bits are not.
func (c *Chunk) Clamped(col int, out []int64, lo, hi int64) bool {
	v := col + 1
	switch c.kinds[col] {
	case Bool, Uint8:
		widen(view[uint8](c, v), out, lo, hi)
	case Int8:
		widen(view[int8](c, v), out, lo, hi)
	case Int16:
		widen(view[int16](c, v), out, lo, hi)
	case Int32:
		widen(view[int32](c, v), out, lo, hi)
	case Int64:
		widen(view[int64](c, v), out, lo, hi)
	case Uint16:
		widen(view[uint16](c, v), out, lo, hi)
	case Uint32:
		widen(view[uint32](c, v), out, lo, hi)
	default:
		return false
	}
	return true
}

func widen[T int8 | int16 | int32 | int64 | uint8 | uint16 | uint32](from []T, out []int64, lo, hi int64) {
	out = out[:len(from)]
	for i, x := range from {
		out[i] = min(max(int64(x), lo), hi)
	}
}

// Texts appends the bytes of a Text column, row by row, without a copy. NULL is an empty text here;
// see Valid. Integers of 128 bits become 16 bytes that sort as they do.
func (c *Chunk) Texts(col int, out [][]byte) ([][]byte, bool) {
	valid := c.Valid(col)
	switch c.kinds[col] {
	case Text:
		texts := view[stringT](c, col+1)
		for i := range texts {
			if valid != nil && valid[i/64]>>(i%64)&1 == 0 {
				out = append(out, nil)
				continue
			}
			out = append(out, texts[i].bytes())
		}
	case Int128, Uint128:
		flip := uint64(0)
		if c.kinds[col] == Int128 {
			flip = 1 << 63
		}
		room := make([]byte, 16*c.n)
		for i, x := range view[[2]uint64](c, col+1) {
			b := room[16*i : 16*i+16 : 16*i+16]
			binary.BigEndian.PutUint64(b, x[1]^flip)
			binary.BigEndian.PutUint64(b[8:], x[0])
			out = append(out, b)
		}
	default:
		return out, false
	}
	return out, true
}

// maxInlinedBytes is the longest text that DuckDB keeps inside of the vector.
const maxInlinedBytes = 12

// stringT is DuckDB's text: its length, then up to 12 bytes, or 4 bytes and a pointer.
type stringT struct {
	length uint32
	prefix uint32
	rest   uint64
}

// bytes returns the text, which lives as long as its vector.
func (s *stringT) bytes() []byte {
	if s.length <= maxInlinedBytes {
		return unsafe.Slice((*byte)(unsafe.Pointer(&s.prefix)), int(s.length))
	}
	return unsafe.Slice(*(**byte)(unsafe.Pointer(&s.rest)), int(s.length))
}

// words returns a short text with its length, and 0 behind its end.
func (s *stringT) words() [2]uint64 {
	head, rest := uint64(s.length)|uint64(s.prefix)<<32, s.rest
	if n := s.length; n <= 4 {
		head &= 1<<(32+8*n) - 1
		rest = 0
	} else {
		rest &= 1<<(8*(n-4)) - 1
	}
	return [2]uint64{head, rest}
}

// littleEndianWord reads eight bytes as they are in memory, where they are little-endian on every
// machine that DuckDB's libraries are built for.
func littleEndianWord(b []byte) uint64 { return binary.LittleEndian.Uint64(b) }
