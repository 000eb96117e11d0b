package tree

import (
	"fmt"
	"strings"

	"github.com/discreet-dp/discreet/policy"
)

// Scan is the rows of one table of the policy: its listed columns as declared, and then, as they
// are stored, the columns that say whose a row is and what else it is a part of.
type Scan struct {
	Table *policy.Table

	Row       []Field
	UnitField int
}

func (s *Scan) Fields() []Field { return s.Row }
func (s *Scan) Unit() int       { return s.UnitField }

func (s *Scan) Single() bool {
	return s.Table.UnitKind == policy.Row || s.Table.UnitKind == policy.Unique
}

func (s *Scan) PersonRows() int64                 { return s.Table.MaxRows }
func (s *Scan) PersonGroups() int64               { return s.Table.MaxGroups }
func (s *Scan) EachTable(add func(*policy.Table)) { add(s.Table) }

// Stored returns the stored column of a field: the name of a listed one or of an identity. The unit
// of a table that leads to it by several steps is in no column of its own; the engine follows
// Table.Path. Nor is it where every row is a person. For both it is empty.
func (s *Scan) Stored(field int) string { return s.Row[field].Name }

// IdentityName names what a column's values name. Names may have dots in them, so that a.b.c could be a column of a or of a.b: rows
// of different people would be joined as one person's. Where there is such a dot the parts are quoted; no name has a quote.
func IdentityName(table, column string) string {
	if strings.ContainsRune(table+column, '.') {
		return fmt.Sprintf("%q.%q", table, column)
	}
	return table + "." + column
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
