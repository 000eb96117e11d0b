package chunks

import (
	"errors"
	"unsafe"

	duck "github.com/duckdb/duckdb-go-bindings"
)

// Values are those of a column on their way into a table. Which of the lists they are in follows
// from its type: Reals for FLOAT and DOUBLE, Texts for VARCHAR, Wides for UUID, HUGEINT and
// decimals of more than 18 digits, low bits first, and Ints for all others. Where a bit of Valid
// is 0 the value is NULL.
type Values struct {
	Valid []uint64
	Ints  []int64
	Reals []float64
	Wides [][2]uint64
	Texts [][]byte
}

// Appender writes rows into a table. It has to be closed.
type Appender struct {
	conn     duck.Connection
	appender duck.Appender
	types    []duck.LogicalType
	kinds    []duck.Type
	chunk    duck.DataChunk
}

// ErrAppend is returned when rows cannot be written, for whatever reason.
var ErrAppend = errors.New("stream: the rows cannot be written")

// Append begins to write into a table of the main schema, which has been made.
func (s Database) Append(table string) (*Appender, error) {
	a := &Appender{}
	if duck.Connect(s.db, &a.conn) == duck.StateError {
		return nil, ErrAppend
	}
	if duck.AppenderCreate(a.conn, "main", table, &a.appender) == duck.StateError {
		duck.AppenderDestroy(&a.appender)
		duck.Disconnect(&a.conn)
		return nil, ErrAppend
	}
	for i := range duck.AppenderColumnCount(a.appender) {
		typ := duck.AppenderColumnType(a.appender, i)
		kind := duck.GetTypeId(typ)
		if kind == duck.TypeDecimal {
			kind = duck.DecimalInternalType(typ)
		}
		a.types, a.kinds = append(a.types, typ), append(a.kinds, kind)
	}
	a.chunk = duck.CreateDataChunk(a.types)
	return a, nil
}

// Add writes n rows, of which a chunk must hold all.
func (a *Appender) Add(n int, columns []Values) error {
	if len(columns) != len(a.kinds) || n > int(duck.VectorSize()) {
		return ErrAppend
	}
	duck.DataChunkReset(a.chunk)
	for i := range columns {
		if !fill(duck.DataChunkGetVector(a.chunk, duck.IdxT(i)), a.kinds[i], n, &columns[i]) {
			return ErrAppend
		}
	}
	duck.DataChunkSetSize(a.chunk, duck.IdxT(n))
	if duck.AppendDataChunk(a.appender, a.chunk) == duck.StateError {
		return ErrAppend
	}
	return nil
}

// Close writes what is left.
func (a *Appender) Close() error {
	state := duck.AppenderClose(a.appender)
	duck.AppenderDestroy(&a.appender)
	duck.DestroyDataChunk(&a.chunk)
	for i := range a.types {
		duck.DestroyLogicalType(&a.types[i])
	}
	duck.Disconnect(&a.conn)
	if state == duck.StateError {
		return ErrAppend
	}
	return nil
}

// fill writes values into a vector. It reports whether it is of a type that values have.
func fill(v duck.Vector, kind duck.Type, n int, from *Values) bool {
	for word := range (n + 63) / 64 {
		if from.Valid[word] != ^uint64(0) {
			duck.VectorEnsureValidityWritable(v)
			mask := unsafe.Slice((*uint64)(duck.VectorGetValidity(v)), (n+63)/64)
			copy(mask, from.Valid)
			break
		}
	}
	data := duck.VectorGetData(v)
	switch kind {
	case duck.TypeBoolean, duck.TypeTinyInt:
		narrowed(data, from.Ints[:n], func(x int64) int8 { return int8(x) })
	case duck.TypeSmallInt:
		narrowed(data, from.Ints[:n], func(x int64) int16 { return int16(x) })
	case duck.TypeInteger, duck.TypeDate:
		narrowed(data, from.Ints[:n], func(x int64) int32 { return int32(x) })
	case duck.TypeBigInt, duck.TypeTimestamp, duck.TypeTimestampTZ:
		copy(unsafe.Slice((*int64)(data), n), from.Ints[:n])
	case duck.TypeFloat:
		narrowed(data, from.Reals[:n], func(x float64) float32 { return float32(x) })
	case duck.TypeDouble:
		copy(unsafe.Slice((*float64)(data), n), from.Reals[:n])
	case duck.TypeHugeInt:
		copy(unsafe.Slice((*[2]uint64)(data), n), from.Wides[:n])
	case duck.TypeUUID:
		// The first bit is turned, so that they sort as they are spelled.
		narrowed(data, from.Wides[:n], func(x [2]uint64) [2]uint64 { return [2]uint64{x[0], x[1] ^ 1<<63} })
	case duck.TypeVarchar:
		for i, text := range from.Texts[:n] {
			if from.Valid[i/64]>>(i%64)&1 == 1 {
				duck.VectorAssignStringElementLen(v, duck.IdxT(i), text)
			}
		}
	default:
		return false
	}
	return true
}

func narrowed[From, To any](data unsafe.Pointer, from []From, narrow func(From) To) {
	for i, x := range from {
		unsafe.Slice((*To)(data), len(from))[i] = narrow(x)
	}
}
