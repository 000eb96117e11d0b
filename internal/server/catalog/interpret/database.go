package interpret

import (
	"github.com/discreet-dp/discreet/internal/server/catalog/datum"
	"github.com/discreet-dp/discreet/internal/server/catalog/oid"
)

// Database is what queries are asked of.
type Database interface {
	// Name is what a name of three parts may begin with.
	Name() string
	// Relation finds a relation by its name, along the search path where no schema is given. It is
	// nil where there is none.
	Relation(schema, name string) Relation
	// Types are the types of the rows of its tables.
	Types() oid.Types
	// ParseName reads a name as regclass and its kin do, and FormatName writes one.
	ParseName(text string, t uint32) (uint32, error)
	FormatName(object, t uint32) string
}

// Relation is a table or a view that can be named in FROM.
type Relation interface {
	Heading() Heading
	// Rows are all rows, and Find those whose column has a value, by its datum.Key.
	Rows() []datum.Tuple
	Find(column int, key []byte) []datum.Tuple
}

// Heading is what is known about a relation before it is read.
type Heading struct {
	OID      uint32
	Schema   string
	Columns  []datum.Column
	Key      int  // the column that determines a row, or -1
	Readable bool // others can be named and have no rows here
}
