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
		var list []string
		for _, c := range Needed(ds, t) {
			list = append(list, pgx.Identifier{c}.Sanitize())
		}
		what := "SELECT (" + strings.Join(list, ", ") + ")"
		if len(list) == 0 { // its rows can be counted
			what = "SELECT"
		}
		out = append(out, fmt.Sprintf("GRANT %s ON %s TO %s;", what, name(t.Relation), role))
	}
	return out
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
