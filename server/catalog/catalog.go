package catalog

import (
	"context"
	"errors"

	"github.com/discreet-dp/discreet/policy"
)

// Session is what a client's session knows about itself.
type Session struct {
	User     string
	Database string // the dataset
	PID      int32
	Version  string // of discreet
	// Setting returns a setting by name, as SHOW does; Set sets one, as set_config does.
	Setting func(name string) (string, bool)
	Set     func(name, value string) error
}

// Catalog is one dataset as its clients see it, for one session.
type Catalog struct{}

// New makes the catalogue of a dataset. Of other datasets it knows the names of those that the user may ask.
func New(p *policy.Policy, dataset string, s Session) *Catalog { return &Catalog{} }

// Column is a column of a result.
type Column struct {
	Name string
	OID  uint32 // its PostgreSQL type
}

// Value is a parameter, decoded: nil, int64, float64, bool, string, or a []string for arrays.
type Value = any

// Result is the answer to a query about the catalogue. Values are nil, bool, int64, float64, string, or a slice of these, and fit their columns' types.
type Result struct {
	Columns []Column
	Rows    [][]any
}

// Error is a query that cannot be answered, with its SQLSTATE.
type Error struct {
	Code     string
	Message  string
	Hint     string
	Position int // in bytes, or -1
}

func (e *Error) Error() string { return e.Message }

// About says whether a SELECT is for the catalogue: all relations in it are the catalogue's, or there are none. One that mixes them
// with tables of the policy is not.
func (c *Catalog) About(sql string) bool { return false }

// Describe says which parameters a query has and what its result looks like, without running it.
func (c *Catalog) Describe(sql string, known []uint32) (parameters []uint32, columns []Column, err error) {
	return nil, nil, errors.ErrUnsupported
}

// Query runs a query.
func (c *Catalog) Query(ctx context.Context, sql string, parameters []Value) (*Result, error) {
	return nil, errors.ErrUnsupported
}
