package chunks

import (
	"errors"
	"reflect"

	duck "github.com/duckdb/duckdb-go-bindings"
	driver "github.com/duckdb/duckdb-go/v2"
)

// Source is a database that queries are streamed from. It is the instance that the connector
// has open, with everything that is attached, loaded and locked in it.
type Source struct{ db duck.Database }

// ErrSource says that the driver is not built as it was when this was written.
var ErrSource = errors.New("stream: this version of the driver keeps its database elsewhere; see source.go")

// Of finds the database of a connector, and teaches it our functions. The driver does not hand it
// out, so it is read from the driver's own field; a driver that has no such field of that type is
// told apart here, at the start, and a test fails long before.
func Of(c *driver.Connector) (Source, error) {
	if c == nil {
		return Source{}, ErrSource
	}
	field := reflect.ValueOf(c).Elem().FieldByName("db")
	if !field.IsValid() || field.Type() != reflect.TypeFor[duck.Database]() {
		return Source{}, ErrSource
	}
	handle := field.FieldByName("Ptr")
	if !handle.IsValid() || handle.Kind() != reflect.UnsafePointer || handle.IsNil() {
		return Source{}, ErrSource
	}
	s := Source{duck.Database{Ptr: handle.UnsafePointer()}}
	return s, s.register()
}
