package duckdb

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/internal/dialect"
	"github.com/discreet-dp/discreet/policy"
)

// nameRows finds what tells the rows of a table apart where every row is a person. It is needed
// only where a join with a public table can make several rows of one. A view of the database has
// nothing of the kind, and neither has a table with a column of that name: it is copied.
func (t *table) nameRows(ctx context.Context, db *sql.DB, ds *policy.Dataset, typed bool) error {
	fansOut := slices.ContainsFunc(ds.TableNames(), func(name string) bool { return ds.Tables[name].Public })
	switch {
	case t.Public || t.UnitKind != policy.Row || !fansOut:
		return nil
	case t.file != "" && !t.csv && !t.shadowed:
		t.RowID = "file_row_number"
		return nil
	case !t.view && !t.shadowed:
		t.RowID = "rowid"
		return nil
	}
	columns := []string{`row_number() OVER () AS "row number"`}
	for _, name := range t.Needed() {
		columns = append(columns, dialect.QuoteName(t.Stored[name].Name))
		if t.csv && !typed {
			columns = append(columns, asSpelt(name))
		}
	}
	copied := dialect.QuoteName("rows " + t.Name)
	if _, err := db.ExecContext(ctx, "CREATE TABLE "+copied+" AS SELECT "+strings.Join(columns, ", ")+" FROM "+t.From); err != nil {
		return fmt.Errorf("table %s: %s cannot be copied into memory, which is needed to tell its rows apart; store it as a table, "+
			"without columns that are called rowid or file_row_number", t.Name, t.where())
	}
	t.From, t.RowID = copied, dialect.QuoteName("row number")
	return nil
}

// hides reports whether a column has a name that DuckDB gives to row numbers.
func hides(all []dialect.Column, name string) bool {
	return slices.ContainsFunc(all, func(c dialect.Column) bool { return strings.EqualFold(c.Name, name) })
}
