package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/policy"
)

// Scan is the rows of one table of the policy: its listed columns as declared, and then, as they
// are stored, the columns that say whose a row is and what else it is a part of.
type Scan struct {
	Table *policy.Table

	fields []Field
	unit   int
}

func (s *Scan) Fields() []Field { return s.fields }
func (s *Scan) Unit() int       { return s.unit }
func (s *Scan) Single() bool {
	return s.Table.UnitKind == policy.Row || s.Table.UnitKind == policy.Unique
}
func (s *Scan) rows() int64   { return s.Table.MaxRows }
func (s *Scan) groups() int64 { return s.Table.MaxGroups }

func (s *Scan) tables(add func(*policy.Table)) { add(s.Table) }

// Stored returns the stored column of a field: the name of a listed one or of an identity. The unit
// of a table that leads to it by several steps is in no column of its own; the engine follows
// Table.Path. Nor is it where every row is a person. For both it is empty.
func (s *Scan) Stored(field int) string { return s.fields[field].Name }

func newScan(ds *policy.Dataset, t *policy.Table) *Scan {
	s := &Scan{Table: t, unit: -1}
	for _, name := range t.ColumnNames() {
		f := columnField(t.Columns[name])
		if t.Public {
			f.Public = t.Name
			f.Key = f.Name == t.UniqueColumn
		}
		s.fields = append(s.fields, f)
	}
	if t.Public {
		return s
	}
	unit := Field{Name: t.UnitColumn, Identity: IdentityName(ds.Unit.Table, ds.Unit.Column), Key: t.UnitKind == policy.Unique}
	if ds.Unit.Row() {
		unit = Field{Identity: "row of " + t.Name, Key: true}
	}
	s.unit = s.identity(unit)
	for i := range s.fields {
		s.fields[i].Once = s.Single() || i == s.unit
	}
	if len(t.Path) > 1 {
		s.identity(Field{Name: t.Path[0].Column, Identity: IdentityName(t.Path[0].Table, t.Path[0].Key)})
	}
	for _, name := range ds.TableNames() {
		child := ds.Tables[name]
		if len(child.Path) > 1 && child.Path[0].Table == t.Name {
			s.identity(Field{Name: child.Path[0].Key, Identity: IdentityName(t.Name, child.Path[0].Key), Key: true})
		}
	}
	return s
}

// IdentityName names what a column's values name. Names may have dots in them, so that a.b.c could be a column of a or of a.b: rows
// of different people would be joined as one person's. Where there is such a dot the parts are quoted; no name has a quote.
func IdentityName(table, column string) string {
	if strings.ContainsRune(table+column, '.') {
		return fmt.Sprintf("%q.%q", table, column)
	}
	return table + "." + column
}

// identity adds a stored identity, once, and marks the listed column that it is.
func (s *Scan) identity(f Field) int {
	f.Type = Type{Kind: Identity}
	if i := slices.IndexFunc(s.fields, func(g Field) bool { return g.raw() && g.Identity == f.Identity && g.Name == f.Name }); i >= 0 {
		return i
	}
	f.Nullable = true
	at := len(s.fields)
	for i := range s.fields {
		if g := &s.fields[i]; !g.raw() && f.Name != "" && strings.EqualFold(g.Name, f.Name) && g.Identity == "" {
			g.Identity, g.Twin = f.Identity, at-i // no key: a declared column may be clamped, and two rows be one in it
		}
	}
	s.fields = append(s.fields, f)
	return at
}

func (s *Scan) format(b *strings.Builder) {
	fmt.Fprintf(b, "%q", s.Table.Name)
	if !s.Table.Public {
		fmt.Fprintf(b, " unit %v %q", s.Table.UnitKind, s.Table.UnitColumn)
		for _, step := range s.Table.Path {
			fmt.Fprintf(b, " %q->%q.%q", step.Column, step.Table, step.Key)
		}
	}
}

// columnField gives a policy column its type.
func columnField(c *policy.Column) Field {
	return Field{Name: c.Name, Type: columnType(c), Nullable: c.Nullable, Source: c}
}
