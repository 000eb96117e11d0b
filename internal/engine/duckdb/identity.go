package duckdb

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/internal/plan/tree"
	"github.com/discreet-dp/discreet/policy"
)

// Identities are compared as they are stored, because a cast to what the policy declares could make two people one.
// The other way round, somebody who is stored as DOUBLE 7.5 in one table and as DECIMAL 7.50 in another must not be two people, of whom each counts. So the
// columns of an identity have to be alike, which is decided when the data is opened, from their types and from no row: whole numbers of
// any width, texts, or one type. Alike means that a person has one spelling in all of them.

// identityOf names what a step leads to, as package plan does.
func identityOf(s policy.Step) string { return tree.IdentityName(s.Table, s.Key) }

// bearer is a column that bears an identity.
type bearer struct {
	table  *table
	column string
}

func (b bearer) typ() string    { return b.table.stored[b.column].typ }
func (b bearer) String() string { return b.table.Name + "." + b.column }

// identities decides the type of each identity: the stored one where all columns have the same, 64 bits where all are integers that
// fit, and otherwise text. It refuses columns that are not alike.
func (s *snapshot) identities(ds *policy.Dataset) (map[string]string, error) {
	bearers := map[string][]bearer{}
	var order []string // so that the same data has the same error
	add := func(identity, table, column string) {
		t := s.tables[table]
		if t == nil || column == "" {
			return
		}
		if _, ok := t.stored[column]; !ok {
			return
		}
		if bearers[identity] == nil {
			order = append(order, identity)
		}
		bearers[identity] = append(bearers[identity], bearer{t, column})
	}
	add(tree.IdentityName(ds.Unit.Table, ds.Unit.Column), ds.Unit.Table, ds.Unit.Column)
	for _, name := range ds.TableNames() {
		t := ds.Tables[name]
		add(tree.IdentityName(ds.Unit.Table, ds.Unit.Column), name, t.UnitColumn)
		if len(t.Path) > 1 {
			step := t.Path[0]
			add(identityOf(step), step.Table, step.Key)
			add(identityOf(step), name, step.Column)
		}
	}
	out := map[string]string{}
	for _, identity := range order {
		var types []string
		for _, b := range bearers[identity] {
			if first := bearers[identity][0]; likeness(b.typ()) != likeness(first.typ()) {
				return nil, unlike(first, b)
			}
			types = append(types, b.typ())
		}
		out[identity] = common(types)
	}
	return out, nil
}

// unlike says what is wrong with two columns, and what to do.
func unlike(a, b bearer) error {
	hint := "store both in the same type, such as BIGINT or VARCHAR"
	if a.table.csv || b.table.csv {
		hint += "; a CSV file holds text, so convert it to Parquet with that type, or store the other column as text"
	}
	return fmt.Errorf("%v is %s and %v is %s, and both say whose a row is: a person who is written in two ways would be two people, and count twice; %s", a, a.typ(), b, b.typ(), hint)
}

// integers are the types of whole numbers, first those that 64 bits hold.
var integers = []string{"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "HUGEINT", "UHUGEINT"}

const fitting = 7

// likeness is the same for types in which one value is spelled in one way. Fractions that are binary are not those that are decimal, a day is not its midnight, and a text can spell a
// number, a UUID or a day in many ways.
func likeness(typ string) string {
	if strings.HasSuffix(typ, "]") {
		return typ // a list
	}
	base, rest, _ := strings.Cut(typ, "(")
	_, scale, _ := strings.Cut(rest, ",")
	switch {
	case slices.Contains(integers, typ) || base == "DECIMAL" && scale == "0)":
		return "whole numbers"
	case base == "DECIMAL":
		return "decimals of scale " + scale
	case base == "VARCHAR" || base == "ENUM":
		return "texts"
	}
	return typ
}

// common is a type that holds all values of types that are alike, each in its own spelling.
func common(types []string) string {
	same, fit := true, true
	for _, t := range types {
		same = same && t == types[0]
		fit = fit && slices.Contains(integers[:fitting], t)
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
	return "TRY_CAST(" + raw + " AS " + typ + ")"
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
