package chunks

/*
#cgo linux LDFLAGS: -L${SRCDIR}/../link
void discreetTake(void *, void *, void *);
void discreetKey(void *, void *, void *);
*/
import "C"

import (
	"bytes"
	"unsafe"

	duck "github.com/duckdb/duckdb-go-bindings"
)

// register teaches a database our functions:
//
//	discreet_take(run BIGINT, ...) -> TINYINT, which is 1, hands a chunk to a run
//	discreet_key(keys BIGINT, VARCHAR) -> INTEGER, the place of a text among public keys, or -1
//
// The second is a function of its text alone. Where a column is stored with a dictionary, DuckDB
// calls it for the dictionary and not for the rows.
func (s Database) register() error {
	var conn duck.Connection
	if duck.Connect(s.db, &conn) == duck.StateError {
		return ErrDatabase
	}
	defer duck.Disconnect(&conn)
	types := map[duck.Type]duck.LogicalType{}
	for _, t := range []duck.Type{duck.TypeAny, duck.TypeBigInt, duck.TypeVarchar, duck.TypeInteger, duck.TypeTinyInt} {
		lt := duck.CreateLogicalType(t)
		defer duck.DestroyLogicalType(&lt)
		types[t] = lt
	}
	take := duck.CreateScalarFunction()
	defer duck.DestroyScalarFunction(&take)
	duck.ScalarFunctionSetName(take, "discreet_take")
	duck.ScalarFunctionSetVolatile(take)
	duck.ScalarFunctionSetSpecialHandling(take) // it is called for NULL, too
	duck.ScalarFunctionAddParameter(take, types[duck.TypeBigInt])
	duck.ScalarFunctionSetVarargs(take, types[duck.TypeAny])
	duck.ScalarFunctionSetReturnType(take, types[duck.TypeTinyInt])
	duck.ScalarFunctionSetFunction(take, unsafe.Pointer(C.discreetTake))
	key := duck.CreateScalarFunction()
	defer duck.DestroyScalarFunction(&key)
	duck.ScalarFunctionSetName(key, "discreet_key")
	duck.ScalarFunctionSetSpecialHandling(key)
	duck.ScalarFunctionAddParameter(key, types[duck.TypeBigInt])
	duck.ScalarFunctionAddParameter(key, types[duck.TypeVarchar])
	duck.ScalarFunctionSetReturnType(key, types[duck.TypeInteger])
	duck.ScalarFunctionSetFunction(key, unsafe.Pointer(C.discreetKey))
	if duck.RegisterScalarFunction(conn, take) == duck.StateError || duck.RegisterScalarFunction(conn, key) == duck.StateError {
		return ErrDatabase
	}
	return nil
}

// ones is what rows that were taken are answered with.
var ones = bytes.Repeat([]byte{1}, 2048)

//export discreetTake
func discreetTake(info, input, output unsafe.Pointer) {
	defer recoverPanic(info)
	c := chunkOf(input)
	if c.n == 0 {
		return
	}
	id := view[int64](c, 0)[0]
	r, ok := runs.Load(id)
	if !ok || !r.(*run).take(c) {
		stopQuery(info)
		return
	}
	out := unsafe.Slice((*byte)(duck.VectorGetData(duck.Vector{Ptr: output})), c.n)
	for len(out) > 0 {
		out = out[copy(out, ones):]
	}
}

//export discreetKey
func discreetKey(info, input, output unsafe.Pointer) {
	defer recoverPanic(info)
	c := chunkOf(input)
	if c.n == 0 {
		return
	}
	k, ok := dictionaries.Load(view[int64](c, 0)[0])
	if !ok {
		stopQuery(info)
		return
	}
	k.(*Keys).find(c, unsafe.Slice((*int32)(duck.VectorGetData(duck.Vector{Ptr: output})), c.n))
}

// recoverPanic keeps a panic from ending the process, which it would do on a thread of DuckDB's.
func recoverPanic(info unsafe.Pointer) {
	if recover() != nil {
		stopQuery(info)
	}
}

// stopQuery ends the query. Why is known to the run.
func stopQuery(info unsafe.Pointer) {
	duck.ScalarFunctionSetError(duck.FunctionInfo{Ptr: info}, "stopped")
}
