package duckdb

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/plan"
	"github.com/discreet-dp/discreet/policy"
)

// Identities are compared as they are stored, because a cast to what the policy declares could make two people one.
// But columns of one identity may be stored in different types, and DuckDB compares a text with a number by reading the text as a
// number: a text that is none would be an error about one row. So all columns of an identity are brought to one
// type, which is decided when the data is opened.

// identityOf names what a step leads to, as package plan does.
func identityOf(s policy.Step) string { return plan.IdentityName(s.Table, s.Key) }

// identities decides the type of each identity: the stored one where all columns have the same, 64 bits where all are integers that
// fit, and otherwise text, in which every value of every type has a spelling of its own.
func (s *snapshot) identities(ds *policy.Dataset) map[string]string {
	stored := map[string][]string{}
	add := func(identity, table, column string) {
		if t := s.tables[table]; t != nil && column != "" {
			if c, ok := t.stored[column]; ok {
				stored[identity] = append(stored[identity], c.typ)
			}
		}
	}
	add(plan.IdentityName(ds.Unit.Table, ds.Unit.Column), ds.Unit.Table, ds.Unit.Column)
	for _, name := range ds.TableNames() {
		t := ds.Tables[name]
		add(plan.IdentityName(ds.Unit.Table, ds.Unit.Column), name, t.UnitColumn)
		if len(t.Path) > 1 {
			step := t.Path[0]
			add(identityOf(step), name, step.Column)
			add(identityOf(step), step.Table, step.Key)
		}
	}
	out := map[string]string{}
	for identity, types := range stored {
		out[identity] = common(types)
	}
	return out
}

func common(types []string) string {
	small := []string{"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER"}
	same, fit := true, true
	for _, t := range types {
		same = same && t == types[0]
		fit = fit && slices.Contains(small, t)
	}
	switch {
	case same:
		return types[0]
	case fit:
		return "BIGINT"
	}
	return "VARCHAR"
}

// identity prints a stored column in the type of an identity. No value makes it fail.
func (s *snapshot) identity(t *table, column, identity string) string {
	raw, typ := t.raw(column), s.kinds[identity]
	if typ == "" || typ == t.stored[column].typ {
		return raw
	}
	if typ == "VARCHAR" && fractional(t.stored[column].typ) {
		// 7, 7.0 and 7.00 are one person: a whole number is spelled as one, whatever it is stored as.
		return "coalesce(CASE WHEN " + raw + " = trunc(" + raw + ") THEN TRY_CAST(TRY_CAST(" + raw + " AS HUGEINT) AS VARCHAR) END, TRY_CAST(" + raw + " AS VARCHAR))"
	}
	return "TRY_CAST(" + raw + " AS " + typ + ")"
}

// fractional reports whether numbers of a type are spelled with a point, whole ones too.
func fractional(typ string) bool {
	return typ == "FLOAT" || typ == "DOUBLE" || strings.HasPrefix(typ, "DECIMAL(") && !strings.HasSuffix(typ, "]")
}

// nameRows finds what tells the rows of a table apart where every row is a person. It is needed only where a join with a
// public table can make several rows of one. A view of the database has nothing of the kind, and neither has a table with a
// column of that name: it is copied.
func (t *table) nameRows(ctx context.Context, db *sql.DB, ds *policy.Dataset) error {
	fansOut := slices.ContainsFunc(ds.TableNames(), func(name string) bool { return ds.Tables[name].Public })
	switch {
	case t.Public || t.UnitKind != policy.Row || !fansOut:
		return nil
	case t.file != "" && !t.csv && !t.shadowed:
		t.rowid = "file_row_number"
		return nil
	case !t.view && !t.shadowed:
		t.rowid = "rowid"
		return nil
	}
	columns := []string{`row_number() OVER () AS "row number"`}
	for _, name := range t.needed() {
		columns = append(columns, quoteName(t.stored[name].name))
	}
	copied := quoteName("rows " + t.Name)
	if _, err := db.ExecContext(ctx, "CREATE TABLE "+copied+" AS SELECT "+strings.Join(columns, ", ")+" FROM "+t.from); err != nil {
		return fmt.Errorf("table %s: %s cannot be copied into memory, which is needed to tell its rows apart; store it as a table, without columns that are called rowid or file_row_number", t.Name, t.where())
	}
	t.from, t.rowid = copied, quoteName("row number")
	return nil
}

// hides reports whether a column has a name that DuckDB gives to row numbers.
func hides(all []column, name string) bool {
	return slices.ContainsFunc(all, func(c column) bool { return strings.EqualFold(c.name, name) })
}

// rowIdentity prints who a row is where each is a person: which row, and what is in it. What a person is cut to is chosen
// by the second. The first depends on how many rows come before, which are other people.
func (t *table) rowIdentity() string {
	columns := []string{"0"}
	for _, name := range t.needed() {
		columns = append(columns, t.raw(name))
	}
	// Rows of two tables are two people, at the same place and with the same values too.
	return "struct_pack(t := " + quoteText(t.Name) + ", r := " + t.rowid + ", h := hash(" + strings.Join(columns, ", ") + "))"
}

// checkUnique refuses a public table in which a value of the unique column is in several rows. Joins rely on it, and it is public, so it
// is found out before there are questions.
func (s *snapshot) checkUnique(ctx context.Context, ds *policy.Dataset) error {
	for _, name := range ds.TableNames() {
		t := s.tables[name]
		if !t.Public || t.UniqueColumn == "" {
			continue
		}
		again, err := s.repeats(ctx, t, t.declared(t.UniqueColumn))
		if err != nil {
			return fmt.Errorf("table %s: its rows cannot be read", name)
		}
		if again {
			return fmt.Errorf("table %s: the policy says that column %s is unique, but some values are in several rows, or become one on its lattice or at its bounds; remove 'unique' and say max_rows, or remove the rows that are too many", name, t.UniqueColumn)
		}
	}
	return nil
}
