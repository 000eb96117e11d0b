package catalog

import (
	"fmt"
	"strings"

	"github.com/discreet-dp/discreet/internal/server/catalog/oid"
	"github.com/discreet-dp/discreet/policy"
)

// An identity is a column on which tables can be joined: it says whose a row is, or leads to a row
// that does. It need not be listed in the policy, and has no values to show then, but whoever looks
// around has to find it.
type identity struct {
	table, column string
	comment       string
	person        bool
}

// identities are those of a private table, in the order in which the planner has them.
func identities(d *policy.Dataset, t *policy.Table) []identity {
	if t.Public || d.Unit.Row() {
		return nil
	}
	var out []identity
	add := func(column, comment string, person bool) {
		for _, i := range out {
			if strings.EqualFold(i.column, column) {
				return
			}
		}
		out = append(out, identity{t.Name, column, comment, person})
	}
	switch {
	case len(t.Path) > 1:
		add(t.Path[0].Column, fmt.Sprintf("leads to %s.%s, and so to the person; join on it", t.Path[0].Table, t.Path[0].Key), false)
	case len(t.Path) == 1:
		add(t.UnitColumn, fmt.Sprintf("says whose a row is, as %s does; join on it, and count people with COUNT(DISTINCT %s)", d.Unit,
			t.UnitColumn), true)
	case t.UnitColumn != "":
		add(t.UnitColumn, fmt.Sprintf("says whose a row is; join on it, and count people with COUNT(DISTINCT %s)", t.UnitColumn), true)
	}
	for _, name := range d.TableNames() {
		if p := d.Tables[name].Path; len(p) > 1 && p[0].Table == t.Name {
			add(p[0].Key, fmt.Sprintf("tells rows apart; %s.%s leads here, join on it", name, p[0].Column), false)
		}
	}
	return out
}

// identityType is the type that is declared for a column at some place of the way to the person; a
// text where there is none.
func identityType(d *policy.Dataset, table, column string) uint32 {
	declared := func(table, column string) (uint32, bool) {
		if t := d.Tables[table]; t != nil && t.Columns[column] != nil {
			return columnType(t.Columns[column].Type), true
		}
		return 0, false
	}
	if t := d.Tables[table]; t != nil && len(t.Path) > 0 && t.Path[0].Column == column {
		if typ, ok := declared(table, column); ok {
			return typ
		}
		table, column = t.Path[0].Table, t.Path[0].Key
	}
	if typ, ok := declared(table, column); ok {
		return typ
	}
	for _, name := range d.TableNames() {
		if p := d.Tables[name].Path; len(p) > 0 && p[0].Table == table && p[0].Key == column {
			if typ, ok := declared(name, p[0].Column); ok {
				return typ
			}
		}
	}
	return oid.Text
}

// identify adds the identities of a table to its columns, and says of listed ones what they are.
func identify(d *policy.Dataset, t *policy.Table, r *relation) {
	for _, id := range identities(d, t) {
		at := -1
		for i := range r.cols {
			if strings.EqualFold(r.cols[i].name, id.column) {
				at = i
			}
		}
		if at >= 0 {
			r.cols[at].comment = strings.Join([]string{id.comment, r.cols[at].comment}, "; ")
		} else {
			r.cols = append(r.cols, attribute{name: id.column, typ: identityType(d, t.Name, id.column),
				comment: id.comment + "; its values are never shown"})
		}
		if id.person {
			r.comment += "; " + id.column + " says whose a row is"
		}
	}
}
