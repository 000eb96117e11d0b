package chunks

import (
	"errors"
	"reflect"

	duck "github.com/duckdb/duckdb-go-bindings"
	driver "github.com/duckdb/duckdb-go/v2"
)

// Database is a database that queries are streamed from. It is the instance that the connector
// has open, with everything that is attached, loaded and locked in it.
type Database struct{ db duck.Database }

// ErrDatabase says that the driver is not built as it was when this was written.
var ErrDatabase = errors.New("stream: this version of the driver keeps its database elsewhere; see source.go")

// DatabaseOf finds the database of a connector, and teaches it our functions. The driver does not
// hand it out, so it is read from the driver's own field; a driver that has no such field of that
// type is told apart here, at the start, and a test fails long before.
func DatabaseOf(c *driver.Connector) (Database, error) {
	if c == nil {
		return Database{}, ErrDatabase
	}
	field := reflect.ValueOf(c).Elem().FieldByName("db")
	if !field.IsValid() || field.Type() != reflect.TypeFor[duck.Database]() {
		return Database{}, ErrDatabase
	}
	handle := field.FieldByName("Ptr")
	if !handle.IsValid() || handle.Kind() != reflect.UnsafePointer || handle.IsNil() {
		return Database{}, ErrDatabase
	}
	s := Database{duck.Database{Ptr: handle.UnsafePointer()}}
	return s, s.register()
}
