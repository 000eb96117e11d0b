package policy

import (
	"slices"
	"strings"
)

// Unit says whom the budget protects: every row is a person, or every value of one column is.
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

func (in unitReader) readUnit(f fields) (at element, text string, ok bool) {
	at, ok = f.need(in.r, "unit", "say whom the budget protects: row if every row is a person, or a column such as patients.pid")
	if !ok {
		return at, "", false
	}
	text, ok = in.r.text(at, "unit", "row, or a column such as patients.pid")
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
func (in unitReader) resolveUnit(at element, text string) bool {
	if text == "row" {
		return true
	}
	found := in.d.splitColumn(text)
	table, column, dotted := strings.Cut(text, ".")
	switch {
	case len(found) == 1 && in.d.Tables[found[0].Table].Public:
		in.r.at(at,
			"the unit is a column of the table %s, which is public; name a column of the table whose people the budget protects, or "+
				"remove public: true there", quote(found[0].Table))
	case len(found) == 1:
		in.d.Unit = found[0]
		if problem := checkName(in.d.Unit.Column); problem != "" {
			in.r.at(at, "the unit's column %s %s", quote(in.d.Unit.Column), problem)
			return false
		}
		return true
	case len(found) > 1:
		in.r.at(at, "the unit %s could mean the table %s or the table %s; rename one of them", quote(text), quote(found[0].Table),
			quote(found[1].Table))
	case dotted && table != "" && column != "":
		in.r.at(at,
			"the unit is a column of the table %s, which is not listed under tables%s", quote(table), didYouMean(table, in.d.order...))
	default:
		in.r.at(at, "the unit %s is neither row nor a column; write row if every row is a person, or table.column such as "+
			"patients.pid", quote(text))
	}
	return false
}

// Step is one step of the way from a table's rows to the people they are about:
// a row's Column holds the Key of the one row of Table that it belongs to.
type Step struct {
	// Column is a column of the table that the step leaves.
	Column string
	// Table is the table that it leads to, and Key the column that tells that
	// table's rows apart. In the last step they are the unit.
	Table, Key string
}

func (s Step) String() string { return s.Column + " -> " + s.Table + "." + s.Key }

// maxPath is the most steps of a path. It bounds the work of reading a policy, and is
// far beyond every schema.
const maxPath = 32

// PathColumns returns the columns of a table that paths use, which need not be listed
// under columns: its own way out, and what paths of others come in by.
func (d *Dataset) PathColumns(t *Table) []string {
	var out []string
	add := func(name string) {
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	if t.UnitColumn != "" {
		add(t.UnitColumn)
	}
	if len(t.Path) > 0 {
		add(t.Path[0].Column)
	}
	for _, name := range d.TableNames() {
		if p := d.Tables[name].Path; len(p) > 0 && p[0].Table == t.Name {
			add(p[0].Key)
		}
	}
	return out
}

// paths is the first steps of all tables in the making, and the columns that they use.
type paths struct {
	step map[string]Step
	at   map[string]element
	// unique is the tables that say that a person has one row.
	unique map[string]bool
	// columns is the spelling of each column that a path uses, by table and folded name.
	columns map[string]map[string]string
}

// readPaths reads all paths together, because where one leads is for the others
// to say. A table whose path is wrong is left without one.
func (in unitReader) readPaths(tables []tableText) paths {
	p := paths{map[string]Step{}, map[string]element{}, map[string]bool{}, map[string]map[string]string{}}
	p.use(in.d.Unit.Table, in.d.Unit.Column)
	for _, t := range tables {
		_, p.unique[t.name] = t.f.get("unique")
		v, ok := t.f.get("path")
		if !ok || in.d.Tables[t.name].Public || t.name == in.d.Unit.Table {
			continue
		}
		text, ok := in.r.text(v, "path", "the way to the unit, such as pid -> patients.pid")
		if !ok {
			continue
		}
		if step, ok := in.readStep(v, t.name, text); ok {
			p.step[t.name], p.at[t.name] = step, v
		}
	}
	for _, t := range tables {
		if step, ok := p.step[t.name]; ok {
			if in.d.Tables[t.name].Path = in.chain(t.name, p); in.d.Tables[t.name].Path == nil {
				continue
			}
			for _, use := range [][2]string{{t.name, step.Column}, {step.Table, step.Key}} {
				if other := p.use(use[0], use[1]); other != use[1] {
					in.r.at(p.at[t.name], "the column %s of the table %s is spelt %s by another path, which SQL cannot tell apart; spell "+
						"both the same", quote(use[1]), quote(use[0]), quote(other))
				}
			}
		}
	}
	return p
}

// use remembers a column that a path uses, and returns its first spelling.
func (p paths) use(table, column string) string {
	if p.columns[table] == nil {
		p.columns[table] = map[string]string{}
	}
	first, ok := p.columns[table][fold(column)]
	if !ok {
		first = column
		p.columns[table][fold(column)] = column
	}
	return first
}

// readStep reads "pid -> patients.pid". A far end that is the unit is recognised
// first, whatever its name contains.
func (in unitReader) readStep(at element, from, text string) (Step, bool) {
	text = strings.TrimSpace(text)
	near, atUnit := strings.CutSuffix(text, in.d.Unit.String())
	if atUnit {
		near, atUnit = strings.CutSuffix(strings.TrimSpace(near), "->")
	}
	arrows := strings.Count(text, "->")
	switch {
	case atUnit && strings.Contains(near, "->"), !atUnit && arrows > 1:
		in.r.at(at,
			"the path %s has more than one step; write only the first, COLUMN -> TABLE.COLUMN, because the path of that table leads "+
				"on from there", quote(text))
		return Step{}, false
	case !atUnit && arrows == 0:
		in.r.at(at, "the path %s has no arrow; write COLUMN -> %s with the column of this table that names the person, or COLUMN -> "+
			"TABLE.COLUMN to a table that has a path itself", quote(text), in.d.Unit)
		return Step{}, false
	}
	step := Step{Column: near, Table: in.d.Unit.Table, Key: in.d.Unit.Column}
	if !atUnit {
		var far string
		step.Column, far, _ = strings.Cut(text, "->")
		var ok bool
		if step.Table, step.Key, ok = in.readFarEnd(at, from, text, strings.TrimSpace(far)); !ok {
			return Step{}, false
		}
	}
	step.Column = strings.TrimSpace(step.Column)
	if problem := checkName(step.Column); problem != "" {
		in.r.at(at, "the path's column %s %s", quote(step.Column), problem)
		return Step{}, false
	}
	return step, true
}

// readFarEnd reads the end of a step that is not the unit. A name may hold dots
// itself, so every dot is tried and exactly one must fit.
func (in unitReader) readFarEnd(at element, from, text, far string) (table, key string, ok bool) {
	found := in.d.splitColumn(far)
	name, _, dotted := strings.Cut(far, ".")
	switch {
	case len(found) > 1:
		in.r.at(at, "the path %s could lead to the table %s or to the table %s; rename one of them", quote(text), quote(found[0].Table),
			quote(found[1].Table))
		return "", "", false
	case len(found) == 0 && dotted && name != "" && in.d.Tables[name] == nil:
		in.r.at(at,
			"the path %s leads to the table %s, which is not listed under tables; write COLUMN -> %s with the column of this table "+
				"that names the person, or lead to a listed table%s", quote(text), quote(name), in.d.Unit, in.d.similarTable(name))
		return "", "", false
	case len(found) == 0:
		in.r.at(at, "the path %s does not lead to a column; write COLUMN -> %s with the column of this table that names the person, or "+
			"COLUMN -> TABLE.COLUMN to a table that has a path itself", quote(text), in.d.Unit)
		return "", "", false
	}
	table, key = found[0].Table, found[0].Column
	switch problem := checkName(key); {
	case problem != "":
		in.r.at(at, "the path's column %s %s", quote(key), problem)
	case in.d.Tables[table].Public:
		in.r.at(at, "the path %s leads to the table %s, which is public, so nobody is found through it; lead to the unit %s or to a "+
			"private table", quote(text), quote(table), in.d.Unit)
	case table == from:
		in.r.at(at, "the path %s leads back to its own table; write COLUMN -> %s with the column of this table that names the person, or "+
			"lead to another table", quote(text), in.d.Unit)
	case table == in.d.Unit.Table:
		// Only the unit itself says who it is without another look at its table.
		in.r.at(at,
			"the path %s ends at the table of the unit, but not at the unit; write COLUMN -> %s with the column of this table that "+
				"names the person", quote(text), in.d.Unit)
	default:
		return table, key, true
	}
	return "", "", false
}

// similarTable suggests the table that was meant. Where there are very many it does not
// look, because as many paths may be wrong.
func (d *Dataset) similarTable(name string) string {
	if len(d.order) > 1000 {
		return ""
	}
	return didYouMean(name, d.order...)
}

// chain follows the steps from a table to the unit. It returns nothing where the
// way is broken, and tells about it where that is not told already.
func (in unitReader) chain(from string, p paths) []Step {
	var out []Step
	way := quote(from)
	for name := from; name != in.d.Unit.Table; {
		step, ok := p.step[name]
		if !ok {
			return nil // That table has a problem of its own.
		}
		if slices.ContainsFunc(out, func(s Step) bool { return s.Table == step.Table }) {
			return nil // It leads into a circle, whose tables tell of it.
		}
		out = append(out, step)
		way += " -> " + quote(step.Table)
		switch {
		case step.Table == from:
			in.r.at(p.at[from], "the path goes in a circle, %s, and never reaches the unit %s; one of these tables must lead to it",
				shortWay(way), in.d.Unit)
			return nil
		case len(out) > maxPath:
			in.r.at(p.at[from], "the path has more than %d steps, or goes in a circle; lead to a table that is closer "+
				"to the unit %s", maxPath, in.d.Unit)
			return nil
		case name == from && !p.isKey(step):
			next := p.step[step.Table]
			in.r.at(p.at[from],
				"the path leads to %s, but that column says who the rows of %s belong to, and one person can have many of them; "+
					"lead to a column that is different in every row, or write COLUMN -> %s", quote(step.Table+"."+step.Key),
				quote(step.Table),
				next.Table+"."+next.Key)
			return nil
		}
		name = step.Table
	}
	return out
}

func shortWay(way string) string {
	const most = 300
	if len(way) > most {
		return strings.ToValidUTF8(way[:most], "") + "..."
	}
	return way
}

// isKey reports whether the far end of a step can tell rows apart. The column by
// which its table leads on cannot, unless a person has one row there. Of any
// other column the owner promises it, and the engine's check holds them to it.
func (p paths) isKey(s Step) bool {
	next, ok := p.step[s.Table]
	return !ok || p.unique[s.Table] || fold(next.Column) != fold(s.Key)
}
