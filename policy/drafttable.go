package policy

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/discreet-dp/discreet/internal/textfile"
)

// writeTable writes a table, or why it is left out.
func (d *draft) writeTable(s Schema) {
	near, far := d.person(s)
	if s.LeftOut != "" || !d.unit.Row() && near == "" && !s.Public {
		d.writeLeftOut(s)
		return
	}
	d.line(3, "%s:", scalar(s.Table))
	for _, note := range append([]string{s.Comment}, s.Notes...) {
		d.comment(4, note)
	}
	d.writeSource(4, s)
	if s.Question != "" {
		d.comment(4, s.Question)
		d.line(4, "# trusted: true")
	}
	if s.Public {
		d.writePublic(s)
		return
	}
	if s.Encoding != "" {
		d.lineWithNote(4, "encoding: "+scalar(s.Encoding), "how the file writes characters")
	}
	if s.Unquoted {
		d.lineWithNote(4, "quotes: none", "every line is a row, whatever quotes are in it")
	}
	if !d.unit.Row() {
		if s.Table != d.unit.Table {
			if d.opt.People[s.Table] == "" {
				d.comment(4, s.PathNote)
			}
			d.lineWithNote(4, "path: "+pathScalar(near, far), "who the rows belong to")
		}
		column, _ := s.column(near)
		if nulls := column.missing(); len(nulls) > 0 {
			d.comment(4, "MISSING IDS? "+s.oneForAll(column)+".")
			if IsCSV(s.Source) {
				d.line(4, "# nulls: %s", listScalar(nulls))
			}
		}
		d.writeRows(s, column, far == d.unit.String())
	}
	d.writeColumns(s, near)
}

// missing are the texts of a column of ids that stand for none, or may.
func (c SchemaColumn) missing() []string { return slices.Concat(c.Nulls, c.MaybeNulls) }

// oneForAll says what happens to rows whose missing ids are spelt alike.
func (s Schema) oneForAll(c SchemaColumn) string {
	mend := "store NULL in its place"
	if IsCSV(s.Source) {
		mend = "write nulls: " + listScalar(c.missing()) + " under the table"
	}
	marks := make([]string, len(c.missing()))
	for i, mark := range c.missing() {
		marks[i] = scalar(mark)
	}
	return "All rows in which " + quote(c.Name) + " is " + strings.Join(marks, ", and all in which it is ") +
		" count as those of one person. If that is how a missing id is spelt, " + mend + ", so that these rows belong to nobody"
}

func (d *draft) writePublic(s Schema) {
	d.lineWithNote(4, "public: true", "NOTHING PROTECTS WHOEVER IS IN IT")
	if s.UniqueColumn != "" {
		d.lineWithNote(4, "unique: "+scalar(s.UniqueColumn), "different in every row, so joining on it finds one")
	}
	if s.MaxRows > 0 {
		d.lineWithNote(4, fmt.Sprintf("max_rows: %d", s.MaxRows), "how many of its rows count for one row joined to them")
	}
	d.writeColumns(s, "")
}

func (d *draft) writeSource(level int, s Schema) {
	if s.Relation != "" {
		if s.Relation != "public."+s.Table && !d.trinoHome(s) {
			d.line(level, "source: %s", scalar(s.Relation))
		}
		return
	}
	if d.source == "" || d.source != s.Source {
		d.line(level, "source: %s", scalar(s.Source))
	}
	if s.Delimiter != 0 && s.Delimiter != ',' && IsCSV(s.Source) {
		d.line(level, "delimiter: %s", strconv.Quote(string(s.Delimiter)))
	}
}

// writeLeftOut says why a table is left out, and what to write to have it.
func (d *draft) writeLeftOut(s Schema) {
	column := s.likelyPerson(d.unit)
	switch {
	case s.LeftOut != "" && !s.Trusted:
		d.comment(3, "LEFT OUT: "+s.LeftOut)
		d.comment(3, s.Comment)
		return
	case s.LeftOut != "":
		d.comment(3, "LEFT OUT: "+s.LeftOut)
	case s.UniqueColumn != "":
		d.writeCodes(s)
		return
	case s.Relation != "":
		d.comment(3, fmt.Sprintf("LEFT OUT: no foreign key leads from the table %s to %s, and no column of it has that name, so "+
			"nothing says who its rows belong to. If a column does, draft again with --person %s=COLUMN, or write the path yourself, as in",
			quote(s.Table), d.unit, s.Table))
	default:
		d.comment(3, fmt.Sprintf("LEFT OUT: the table %s has no column %s to say who its rows belong to. If another column holds the "+
			"same values, draft again with --person %s=COLUMN, or write the path yourself, as in", quote(s.Table), quote(d.unit.Column),
			s.Table))
	}
	d.comment(3, s.Comment)
	d.commented(func() {
		d.line(1, "%s:", scalar(s.Table))
		d.writeSource(2, s)
		if s.Trusted {
			d.line(2, "trusted: true")
		}
		if !d.unit.Row() {
			d.line(2, "path: %s", pathScalar(column, d.unit.String()))
			d.line(2, "max_rows: 10")
			d.line(2, "max_groups: 3")
		}
		d.line(2, "columns: {}")
	})
	d.comment(3, "Its columns are "+strings.Join(s.columnNames(), ", ")+". If its rows lead to another table that leads on, name "+
		"that table's key: path: order_id -> orders.oid. If everybody may know the rows, write public: true in place of path, "+
		"max_rows and max_groups.")
}

// writeCodes writes, as a comment, a table that others refer to as to a list of codes.
func (d *draft) writeCodes(s Schema) {
	d.comment(3, fmt.Sprintf("LEFT OUT: no foreign key leads from the table %s to %s, and others refer to it as a list of codes. If "+
		"everybody may know all of its rows, remove the # of these lines: what is joined with it can then be asked for by name. If "+
		"its rows are about people, draft again with --person %s=COLUMN.", quote(s.Table), d.unit, s.Table))
	d.comment(3, s.Comment)
	d.commented(func() {
		d.line(0, "%s:", scalar(s.Table))
		d.writeSource(1, s)
		d.line(1, "public: true")
		d.line(1, "unique: %s", scalar(s.UniqueColumn))
		d.line(1, "columns:")
		for _, c := range s.Columns {
			if c.Type != NoType && c.LeftOut == "" && checkName(c.Name) == "" {
				d.line(2, "%s: {type: %s}", scalar(c.Name), c.Type)
			}
		}
	})
}

func (d *draft) commented(write func()) {
	before := d.out.String()
	d.out.Reset()
	write()
	lines := d.out.String()
	d.out.Reset()
	d.out.WriteString(before)
	for _, l := range strings.Split(strings.TrimSuffix(lines, "\n"), "\n") {
		d.line(3, "# %s", l)
	}
}

// likelyPerson returns a column that may say whose a row is, by its name.
func (s Schema) likelyPerson(unit Unit) string {
	table := strings.ToLower(unit.Table)
	singular := strings.TrimSuffix(table, "s")
	for _, fits := range []func(string) bool{
		func(n string) bool {
			return strings.Contains(n, singular) || strings.Contains(n, strings.ToLower(unit.Column))
		},
		func(n string) bool { return len(n) > 3 && strings.HasPrefix(table, n) }, // Patient of patienten
		func(n string) bool {
			return strings.HasSuffix(n, "id") || strings.HasSuffix(n, "nr") || strings.HasSuffix(n, "no")
		},
	} {
		for _, c := range s.Columns {
			if checkName(c.Name) == "" && !strings.Contains(c.Name, "->") && fits(strings.ToLower(c.Name)) {
				return c.Name
			}
		}
	}
	return "COLUMN"
}

func (s Schema) columnNames() []string {
	var out []string
	for _, c := range s.Columns {
		out = append(out, quote(c.Name))
	}
	return out
}

// comment writes a text in lines of comment, or nothing where there is none. It may come from a
// database, so what cannot be seen is left out.
func (d *draft) comment(level int, text string) {
	line := ""
	text = strings.Map(func(c rune) rune {
		if unicode.IsPrint(c) {
			return c
		}
		return ' '
	}, strings.ToValidUTF8(text, " "))
	if strings.TrimSpace(text) == "" {
		return
	}
	for _, word := range strings.Fields(text) {
		if line != "" && 2*level+len(line)+len(word) > 94 {
			d.line(level, "# %s", line)
			line = ""
		}
		line = strings.TrimPrefix(line+" "+word, " ")
	}
	d.line(level, "# %s", line)
}

// writeRows writes how many rows one person can have. Unless the data says that the column is
// unique it must be taken that it is not: the other mistake would break the promise.
func (d *draft) writeRows(s Schema, unit SchemaColumn, direct bool) {
	if unit.unique() && unit.Enforced && direct {
		d.lineWithNote(4, "unique: "+scalar(unit.Name), "the database takes no value twice")
		return
	}
	if unit.unique() && direct {
		d.line(4, "# No value occurred twice when this was drafted. Keep the line only if none ever can;")
		d.line(4, "# otherwise write max_rows and max_groups instead.")
		d.line(4, "unique: %s", scalar(unit.Name))
		return
	}
	d.line(4, "# One person can have many rows. You choose: larger numbers keep more of a busy")
	if direct {
		d.line(4, "# person's rows, and add noise to every answer. If nobody can have two, write instead")
		d.line(4, "#   unique: %s", scalar(unit.Name))
	} else {
		d.line(4, "# person's rows, and add noise to every answer.")
	}
	rows, groups := "rows of one person that count in one group", "groups of one answer that a person counts in"
	if s.Relation != "" && s.MaxRows == 0 {
		rows, groups = "rows of a person in one group; not from the data", "groups that a person is in; not from the data"
	}
	if s.LimitsFromData {
		rows = "the least of 1, 2, 5, 10 and so on that keeps 95 % of the rows"
	}
	d.lineWithNote(4, fmt.Sprintf("max_rows: %d", cmp.Or(s.MaxRows, 10)), rows)
	d.lineWithNote(4, fmt.Sprintf("max_groups: %d", cmp.Or(s.MaxGroups, 3)), groups)
	if s.LimitsFromData {
		d.lineWithNote(4, "limits_from: data", "THEY WERE CHOSEN BY LOOKING AT THE DATA")
	}
}

// column finds a column by its name; in letters of another case, where there is none in these.
func (s Schema) column(name string) (SchemaColumn, bool) {
	for _, same := range []func(string) bool{
		func(n string) bool { return n == name },
		func(n string) bool { return fold(n) == fold(name) },
	} {
		for _, c := range s.Columns {
			if same(c.Name) {
				return c, true
			}
		}
	}
	return SchemaColumn{}, false
}

// writeColumns writes the columns that can be listed, and as comments those
// that cannot. Person is the one that says whose a row is.
func (d *draft) writeColumns(s Schema, person string) {
	var usable []SchemaColumn
	var notes []string
	seen := map[string]bool{}
	for _, c := range s.Columns {
		problem := checkName(c.Name)
		switch {
		case problem != "":
			notes = append(notes, "The column "+quote(c.Name)+" is left out: its name "+problem+".")
		case c.LeftOut != "":
			notes = append(notes, "The column "+quote(c.Name)+" "+c.LeftOut)
		case !d.unit.Row() && c.Name == person:
			what := "says whose row it is"
			if person == d.unit.Column {
				what = "is the unit"
			}
			notes = append(notes, "The column "+quote(c.Name)+" "+what+"; it is not listed, so no value of it can be named.")
		case seen[fold(c.Name)] || !d.unit.Row() && fold(c.Name) == fold(person):
			notes = append(notes, "The column "+quote(c.Name)+" is left out: another differs from it only in letter case.")
		case c.Type == NoType:
			notes = append(notes, "The column "+quote(c.Name)+" is left out: its type "+quote(cmp.Or(c.EngineType, "unknown"))+
				" is not supported.")
		default:
			usable = append(usable, c)
		}
		if problem == "" { // a name that cannot be written stands in nobody's way
			seen[fold(c.Name)] = true
		}
	}
	if len(usable) == 0 {
		d.line(4, "columns: {}")
	} else {
		d.line(4, "columns:")
	}
	for _, c := range usable {
		d.writeColumn(c)
	}
	for _, note := range notes {
		d.line(5, "# %s", note)
	}
}

func (d *draft) writeColumn(c SchemaColumn) {
	d.line(5, "%s:", scalar(c.Name))
	d.comment(6, c.Comment)
	d.line(6, "type: %s", c.Type)
	d.writeSpelling(c)
	if !c.Nullable {
		d.line(6, "nullable: false")
	}
	switch c.Type {
	case Integer:
		if d.writeKeys(c) && (c.PrivateKeys || c.Lowest == "") || c.Identifier {
			return // bounds would be about numbers, and these are codes
		}
		d.writeBounds(c)
	case Date, Timestamp:
		d.writeBounds(c)
	case Decimal:
		d.lineWithNote(6, "granularity: "+c.granularity(), "values are rounded to whole multiples of it")
		d.writeBounds(c)
	case Text:
		switch {
		case d.writeKeys(c) || c.Identifier:
		case !c.GroupsPrivately():
			d.comment(6, "Nearly every row has a different value, so there is nothing to group by. Delete the column unless somebody "+
				"needs it.")
		default:
			d.lineWithNote(6, "# keys: [A, B, C]", "fill in to group by it, or write keys: private")
		}
	case Boolean:
		if c.Nullable {
			d.line(6, "keys: [true, false, null]")
		} else {
			d.line(6, "keys: [true, false]")
		}
	}
}

// writeKeys writes the keys that are known, and reports whether there are some.
func (d *draft) writeKeys(c SchemaColumn) bool {
	if c.PrivateKeys {
		d.lineWithNote(6, "keys: private", cmp.Or(c.From, "the list of its values is private"))
		return true
	}
	if len(c.Keys) == 0 {
		return false
	}
	keys := make([]string, len(c.Keys))
	for i, k := range c.Keys {
		if keys[i] = k; c.Type == Text {
			keys[i] = scalar(k)
		}
	}
	if c.Nullable {
		keys = append(keys, "null")
	}
	d.lineWithNote(6, "keys: ["+strings.Join(keys, ", ")+"]", cmp.Or(c.From, "everybody may know them"))
	return true
}

// writeSpelling writes how a CSV file spells the values of a column, and what is in doubt about it.
func (d *draft) writeSpelling(c SchemaColumn) {
	if len(c.OtherFormats) > 0 {
		d.comment(6, fmt.Sprintf("AMBIGUOUS: every value can also be read as %s. Look into the file, and write what is meant.",
			strings.Join(c.OtherFormats, " and as ")))
	}
	if c.Unfit {
		d.comment(6, fmt.Sprintf("NOT ALL: some values are not of type %v, and count as NULL; discreet check says how many.", c.Type))
	}
	if c.Format != "" {
		note := "how the file spells it"
		if m, err := textfile.ParseMoment(c.Format); err == nil && m.ShortYear {
			note = "THE YEARS 00 TO 68 ARE READ AS 2000 TO 2068"
		}
		d.lineWithNote(6, "format: "+scalar(c.Format), note)
	}
	if len(c.Nulls) > 0 {
		d.lineWithNote(6, "nulls: "+listScalar(c.Nulls), "taken for missing values")
	}
	if len(c.MaybeNulls) > 0 {
		nulls := append(slices.Clone(c.Nulls), c.MaybeNulls...)
		d.lineWithNote(6, "# nulls: "+listScalar(nulls), "ARE THESE MISSING VALUES? Then write this")
	}
}

func (d *draft) writeBounds(c SchemaColumn) {
	if lo, hi, ok := c.between(c.Lowest, c.Highest); ok {
		d.lineWithNote(6, "bounds: ["+lo+", "+hi+"]", cmp.Or(c.From, "values outside count as the nearer end"))
		return
	}
	if d.opt.TrustDataBounds {
		if lo, hi, ok := c.dataBounds(); ok {
			d.lineWithNote(6, "bounds: ["+lo+", "+hi+"]", "READ OFF THE DATA: tells about the people at both ends")
			d.line(6, "bounds_from: data")
			return
		}
	}
	note := "fill in from what you know, not from the data"
	if c.Type == Date {
		note = "fill in, spelt as in [2020-01-01, 2020-12-31]"
	}
	if c.Type == Timestamp {
		note = "fill in, spelt as in [2020-01-01 00:00:00, 2020-12-31 23:59:59]"
	}
	if c.Lowest != "" || c.Highest != "" {
		note = "one end is given " + cmp.Or(c.From, "by the schema") + "; the other is yours"
	}
	d.lineWithNote(6, fmt.Sprintf("# bounds: [%s, %s]", cmp.Or(c.Lowest, "lowest"), cmp.Or(c.Highest, "highest")), note)
}
