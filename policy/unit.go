package policy

import "strings"

// Unit says whom the budget protects: every row is a person, or every value of
// one column is.
type Unit struct {
	// Table and Column name the column whose values are people. Both are empty
	// where every row is a person.
	Table, Column string
}

// Row reports whether every row is a person of its own.
func (u Unit) Row() bool { return u.Table == "" && u.Column == "" }

// String returns the spelling of the policy file.
func (u Unit) String() string {
	if u.Row() {
		return "row"
	}
	return u.Table + "." + u.Column
}

// UnitKind says how many rows of a table one person can have.
type UnitKind int

const (
	// Row: every row is a person of its own, and the table has no unit column.
	Row UnitKind = iota
	// Unique: a unit column names the person, and no two rows have the same.
	Unique
	// Many: a unit column names the person, who may have any number of rows. Only
	// MaxRows and MaxGroups bound what they can change.
	Many
	// NoUnit: the table is public, and its rows are about nobody.
	NoUnit
)

func (k UnitKind) String() string {
	switch k {
	case Unique:
		return "unique"
	case Many:
		return "many"
	case NoUnit:
		return "public"
	}
	return "row"
}

func (d *Dataset) readUnit(r *reader, f fields) (at place, text string, ok bool) {
	at, ok = f.need(r, "unit", "say whom the budget protects: row where every row is a person, or a column such as patients.pid")
	if !ok {
		return at, "", false
	}
	text, ok = r.text(at, "unit", "row, or a column such as patients.pid")
	return at, text, ok
}

// splitColumn returns every way to read a text as the column of a listed table.
func (d *Dataset) splitColumn(text string) []Unit {
	var found []Unit
	for i := range text {
		if text[i] == '.' {
			if _, ok := d.Tables[text[:i]]; ok && text[i+1:] != "" {
				found = append(found, Unit{text[:i], text[i+1:]})
			}
		}
	}
	return found
}

// resolveUnit finds the unit's table. A name may hold dots itself, so every dot is
// tried and exactly one must fit.
func (d *Dataset) resolveUnit(r *reader, at place, text string) bool {
	if text == "row" {
		return true
	}
	found := d.splitColumn(text)
	table, column, dotted := strings.Cut(text, ".")
	switch {
	case len(found) == 1 && d.Tables[found[0].Table].Public:
		r.at(at, "the unit is a column of the table %s, which is public; name a column of the table whose people the budget protects, or "+
			"remove public: true there", quote(found[0].Table))
	case len(found) == 1:
		d.Unit = found[0]
		if problem := checkName(d.Unit.Column); problem != "" {
			r.at(at, "the unit's column %s %s", quote(d.Unit.Column), problem)
			return false
		}
		return true
	case len(found) > 1:
		r.at(at, "the unit %s could mean the table %s or the table %s; rename one of them", quote(text), quote(found[0].Table),
			quote(found[1].Table))
	case dotted && table != "" && column != "":
		r.at(at, "the unit is a column of the table %s, which is not listed under tables%s", quote(table), didYouMean(table, d.order...))
	default:
		r.at(at, "the unit %s is neither row nor a column; write row where every row is a person, or table.column such as "+
			"patients.pid", quote(text))
	}
	return false
}
