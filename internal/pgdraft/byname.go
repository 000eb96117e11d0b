package pgdraft

import (
	"fmt"
	"strings"
)

// guessByName is the table that is called like people, and its column by whose name most other
// tables have one. Where no table has such a name, any may be it.
func (all catalogue) guessByName() (unit, note string) {
	best, where, column := 0, (*entry)(nil), ""
	for _, word := range []bool{true, false} {
		for _, e := range all {
			if !e.usable() || word != people.MatchString(e.Name) {
				continue
			}
			for _, c := range e.Columns {
				if n := all.alsoIn(e, c.Name); n > best {
					best, where, column = n, e, c.Name
				}
			}
		}
		if where != nil {
			return where.name + "." + column, fmt.Sprintf("GUESSED: columns of %d other tables are called like its column %s. Is "+
				"each of its "+
				"values one person, in all of them? Otherwise draft again with --unit TABLE.COLUMN: what is protected is what this names.",
				best, column)
		}
	}
	for _, e := range all {
		for _, c := range e.Columns {
			if e.usable() && people.MatchString(e.Name) && exactKind(c.Kind) && namesSomebody(c.Name) {
				return e.name + "." + c.Name, fmt.Sprintf("GUESSED by the names of the table %s and of its column %s. Is each of its "+
					"values one person? Otherwise draft again with --unit TABLE.COLUMN: what is protected is what this names.",
					e.name, c.Name)
			}
		}
	}
	return "", ""
}

// namesSomebody reports whether a column is called like one that says who somebody is.
func namesSomebody(column string) bool {
	low := strings.ToLower(column)
	return strings.HasSuffix(low, "id") || strings.HasSuffix(low, "key") || strings.HasSuffix(low, "nr")
}

// alsoIn counts the other tables with a column of a name that can be the same person's.
func (all catalogue) alsoIn(e *entry, column string) int {
	own, _ := e.Column(column)
	if strings.EqualFold(column, "id") || !exactKind(own.Kind) || !namesSomebody(column) {
		return 0
	}
	n := 0
	for _, o := range all {
		if c, ok := o.Column(column); ok && o != e && o.usable() && alike(c, own) {
			n++
		}
	}
	return n
}
