package pgdraft

import (
	"context"
	"net/url"
	"strings"

	"github.com/discreet-dp/discreet/internal/pgtables"
	"github.com/discreet-dp/discreet/policy"
)

// Store is what differs between databases whose catalogues are drafted from.
type Store struct {
	Address string
	// Where is the address for messages, and Dataset what to call the dataset, if it can be called
	// that.
	Where, Dataset string
	// Home is the schema of which tables go by their names alone.
	Home string
	// Unreferenced says that there are no foreign keys and no unique columns, so that all there is
	// to go by is names, and nothing tells rows apart.
	Unreferenced bool
	// Unmarked says of a table that its store does not tell whether it has changed. It may be nil.
	Unmarked func(relation string) bool
	// Question is what the owner has to answer for before a table is read, or nothing. It may be
	// nil.
	Question func(relation string) string
	// Spelt says why a policy cannot name a table, or nothing.
	Spelt func(schema, table string) string
	// Extremes reads the smallest and the largest values of columns.
	Extremes func(ctx context.Context, l *pgtables.Listed, columns []pgtables.ListedColumn) ([][2]string, error)
	// Rights writes what an administrator has to do for a dataset.
	Rights func(line func(format string, args ...any), ds *policy.Dataset)
}

// postgres is a PostgreSQL database.
func postgres(address string, found *pgtables.Catalogue) *Store {
	name := ""
	if u, err := url.Parse(address); err == nil {
		name = strings.Trim(u.Path, "/")
	}
	return &Store{Address: address, Where: policy.Postgres(address), Dataset: name, Home: "public", Spelt: policy.CheckRelation,
		Extremes: func(ctx context.Context, l *pgtables.Listed, columns []pgtables.ListedColumn) ([][2]string, error) {
			return pgtables.Extremes(ctx, address, l, columns)
		},
		Rights: func(line func(string, ...any), ds *policy.Dataset) {
			line("TO RUN ON THE DATABASE, as its administrator: the role may read the columns of this policy,")
			line("and nothing else. A role that may do more is refused; 'discreet check' says what.")
			line("")
			role := found.Role
			if found.Superuser {
				role = "discreet"
				line("  CREATE ROLE discreet LOGIN NOINHERIT;  -- %s is a superuser: name this one in 'source'", found.Role)
			}
			for _, grant := range pgtables.Grants(ds, role) {
				line("  %s", grant)
			}
		}}
}
