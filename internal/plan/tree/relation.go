package tree

import (
	"fmt"
	"strings"

	"github.com/discreet-dp/discreet/policy"
)

// Relation is where rows come from. The tree is closed: [Scan], [Join], [Union], [Select],
// [Persons], [Window] and [Cut], and an engine prints each of them and nothing else.
//
// Every row of a private relation belongs to one person, and the relation knows whose it
// is: Unit is the field that says so. It is found by what a column is, not by what it is
// called, and no expression can make one.
type Relation interface {
	// Fields are the columns of a row. Expressions name them by their place.
	Fields() []Field
	// Unit is the field that says whose a row is; -1 in a public relation.
	Unit() int
	// Single says that nobody has more than one row.
	Single() bool

	// rows is how many rows of one person count at most in one group, and groups in how many
	// groups. Any numbers would be private: noise is calibrated to them and rows are cut to
	// them. These are the ones at which an honest policy cuts nothing.
	PersonRows() int64
	PersonGroups() int64
	// tables adds the policy's tables below.
	EachTable(add func(*policy.Table))
	format(*strings.Builder)
}

// Field is a column of a relation.
type Field struct {
	Name     string // what analysts call it; empty where they cannot
	Type     Type
	Nullable bool
	// Source is the policy's column that this is, as declared; nil where it was computed.
	Source *policy.Column
	// Public names the public table that Source is a column of; empty for a private one.
	Public string
	// Identity says what the values of the field name: the unit, as in "customers.cid", a row of
	// another table, as in "orders.oid", or a row of its own. Fields with the same Identity are
	// equal exactly where they mean the same person, or the same row. It is empty for all others.
	Identity string
	// Key says that no two rows of the field's table have the same Identity.
	Key bool
	// Serial says that the field numbers the rows of each person, from 1 on: no two rows of a
	// person have the same number, but the largest that there can be, which stands for all above.
	Serial bool
	// Derived says that the field was computed from one that has an Identity.
	Derived bool
	// Twin is how far the field of kind [Identity], as it is stored, stands from a listed column
	// that has one; a declared column may be clamped, and two people be one in it.
	Twin int
}

// Raw reports whether the field is an identity as it is stored, which can be joined on and
// counted, and nothing else.
func (f Field) Raw() bool { return f.Type.Kind == Identity }

// format spells a field by what it is and not by what an analyst calls it: the policy's column, the
// identity, or nothing where it was computed, which the relation's own spelling says.
func (f Field) format() string {
	switch {
	case f.Source != nil && f.Public != "":
		return fmt.Sprintf("%q.%q", f.Public, f.Source.Name)
	case f.Source != nil:
		return fmt.Sprintf("%q", f.Source.Name)
	}
	return fmt.Sprintf("%q", f.Identity)
}

// Derived returns a column that says who or what a row is about, where an expression is computed
// from one. That two rows of a subquery are one person's is not what the expression computes.
func Derived(e Expr) *Column {
	var found *Column
	Walk(e, func(x Expr) {
		if c, ok := x.(*Column); ok && (c.Field.Derived || c.Field.Identity != "" && (!c.Field.Raw() || x == e)) {
			found = c
		}
	})
	return found
}

// Private reports whether a relation has rows of people.
func Private(r Relation) bool { return r.Unit() >= 0 }

// MostRows keeps products of limits in the range that a policy allows for one of them.
const MostRows = 1_000_000

func AtMost(n int64) int64 { return max(1, min(n, MostRows)) }

// FormatRelation writes a relation in one canonical spelling.
func FormatRelation(r Relation) string {
	var b strings.Builder
	r.format(&b)
	return b.String()
}
