package policy

import (
	"cmp"
	"strconv"
)

// writeTable writes a table, or why it is left out.
func (d *draft) writeTable(s Schema) {
	column, known := s.column(d.unit.Column)
	if !d.unit.Row() && !known {
		d.line(3, "# The table %s is left out: it has no column %s to say whose its rows are.", quote(s.Table), quote(d.unit.Column))
		return
	}
	d.line(3, "%s:", scalar(s.Table))
	if d.source == "" || d.source != s.Source {
		d.line(4, "source: %s", scalar(s.Source))
	}
	if s.Delimiter != 0 && s.Delimiter != ',' && IsCSV(s.Source) {
		d.line(4, "delimiter: %s", strconv.Quote(string(s.Delimiter)))
	}
	if !d.unit.Row() {
		if s.Table != d.unit.Table {
			d.noted(4, "path: "+pathScalar(column.Name, d.unit.String()), "whose the rows are")
		}
		d.writeRows(column)
	}
	d.writeColumns(s)
}

// writeRows writes how many rows one person can have. Unless the data says that
// the column is unique it must be taken that it is not: the other mistake would
// break the promise.
func (d *draft) writeRows(unit SchemaColumn) {
	if unit.unique() {
		d.line(4, "# No value occurred twice when this was drafted. Keep the line only if none ever can;")
		d.line(4, "# otherwise write max_rows and max_groups instead.")
		d.line(4, "unique: %s", scalar(unit.Name))
		return
	}
	d.line(4, "# One person can have many rows. Yours to choose: more keeps more of a busy person's")
	d.line(4, "# rows, and adds noise to every answer. Where nobody can have two, write instead")
	d.line(4, "#   unique: %s", scalar(unit.Name))
	d.noted(4, "max_rows: 10", "rows of one person that count in one group")
	d.noted(4, "max_groups: 3", "groups of one answer that a person counts in")
}

func (s Schema) column(name string) (SchemaColumn, bool) {
	for _, c := range s.Columns {
		if c.Name == name {
			return c, true
		}
	}
	return SchemaColumn{}, false
}

// writeColumns writes the columns that can be listed, and as comments those
// that cannot.
func (d *draft) writeColumns(s Schema) {
	var usable []SchemaColumn
	var notes []string
	seen := map[string]bool{}
	for _, c := range s.Columns {
		problem := checkName(c.Name)
		switch {
		case problem != "":
			notes = append(notes, "The column "+quote(c.Name)+" is left out: its name "+problem+".")
		case !d.unit.Row() && c.Name == d.unit.Column:
			notes = append(notes, "The column "+quote(c.Name)+" is the unit; it is not listed, so that analysts cannot name it.")
		case seen[fold(c.Name)] || !d.unit.Row() && fold(c.Name) == fold(d.unit.Column):
			notes = append(notes, "The column "+quote(c.Name)+" is left out: another differs from it only in letter case.")
		case c.Type == NoType:
			notes = append(notes, "The column "+quote(c.Name)+" is left out: its type "+quote(cmp.Or(c.EngineType, "unknown"))+
				" is not supported.")
		default:
			usable = append(usable, c)
		}
		seen[fold(c.Name)] = true
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
	d.line(6, "type: %s", c.Type)
	if !c.Nullable {
		d.line(6, "nullable: false")
	}
	switch c.Type {
	case Integer, Date, Timestamp:
		d.writeBounds(c)
	case Decimal:
		d.noted(6, "granularity: "+c.granularity(), "values are rounded to whole multiples of it")
		d.writeBounds(c)
	case Text:
		d.noted(6, "# keys: [A, B, C]", "fill in to group by it, or write keys: private")
	case Boolean:
		if c.Nullable {
			d.line(6, "keys: [true, false, null]")
		} else {
			d.line(6, "keys: [true, false]")
		}
	}
}

func (d *draft) writeBounds(c SchemaColumn) {
	if d.opt.TrustDataBounds {
		if lo, hi, ok := c.dataBounds(); ok {
			d.noted(6, "bounds: ["+lo+", "+hi+"]", "READ OFF THE DATA: tells about the people at both ends")
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
	d.noted(6, "# bounds: [lowest, highest]", note)
}
