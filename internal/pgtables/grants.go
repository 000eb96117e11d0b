package pgtables

import (
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/discreet-dp/discreet/policy"
)

// Grants are the statements with which a role may read the columns of a dataset, and nothing else.
func Grants(ds *policy.Dataset, role string) []string {
	role = pgx.Identifier{role}.Sanitize()
	var schemas, out []string
	for _, table := range ds.TableNames() {
		t := ds.Tables[table]
		schema, _, _ := strings.Cut(t.Relation, ".")
		if schema = (pgx.Identifier{schema}).Sanitize(); !slices.Contains(schemas, schema) {
			schemas = append(schemas, schema)
			out = append(out, fmt.Sprintf("GRANT USAGE ON SCHEMA %s TO %s;", schema, role))
		}
		out = append(out, grant(t, Needed(ds, t), role))
	}
	return out
}

// grant is the statement with which a role, quoted, may read columns of a table.
func grant(t *policy.Table, columns []string, role string) string {
	what := "SELECT (" + quoted(columns) + ")"
	if len(columns) == 0 { // its rows can be counted
		what = "SELECT"
	}
	return fmt.Sprintf("GRANT %s ON %s TO %s;", what, name(t.Relation), role)
}

// quoted is a list of names.
func quoted(names []string) string {
	var list []string
	for _, name := range names {
		list = append(list, pgx.Identifier{name}.Sanitize())
	}
	return strings.Join(list, ", ")
}

// Needed are the columns of a table that a question can use, and those of its path.
func Needed(ds *policy.Dataset, t *policy.Table) []string {
	names := t.ColumnNames()
	for _, c := range ds.PathColumns(t) {
		if !slices.Contains(names, c) {
			names = append(names, c)
		}
	}
	return names
}
