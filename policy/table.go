package policy

import (
	"strings"
	"unicode/utf8"
)

// Table is a table that analysts may ask about.
type Table struct {
	Name string
	// Source is the table's own file, or empty where the dataset's source says
	// where the table is; see [Dataset.Files].
	Source string
	// Delimiter separates the values of a CSV file.
	Delimiter rune
	// UnitKind says how many rows one person can have, and UnitColumn names the
	// person; it is empty for Row.
	UnitKind   UnitKind
	UnitColumn string
	// MaxRows is how many of one person's rows count at most in one group of an
	// answer, and MaxGroups in how many groups one person counts at most. Both
	// are 1 for Row and Unique.
	MaxRows, MaxGroups int64
	Columns            map[string]*Column

	order []string
}

// ColumnNames returns the names of the columns in the order of the file; sorted,
// where the table does not come from a file.
func (t *Table) ColumnNames() []string { return inOrder(t.order, t.Columns) }

// The most that one person can be allowed to count for. Noise grows in
// proportion, and far below these numbers nothing of an answer is left.
const maxRows, maxGroups = 1_000_000, 1_000_000

const (
	maxRowsMeans   = "how many rows of one person count at most in one group of an answer, and the noise grows with it"
	maxGroupsMeans = "in how many groups of an answer one person counts at most, and the noise grows with it"
)

// read fills the table from its mapping. The unit and the source are used only
// where they were read without a problem.
func (t *Table) read(r *reader, at place, d *Dataset, dir string, unitOK, sourceOK bool) {
	f, ok := r.fields(at, at.node, "a table", tableKeys)
	if !ok {
		return
	}
	if t.readSource(r, f, d, dir, sourceOK) && sourceOK {
		r.oneHome(at, d, t)
	}
	t.readDelimiter(r, f, d, sourceOK)
	t.readUnit(r, f, d.Unit, unitOK)
	t.readColumns(r, f)
}

// readSource reports whether it is known where the table is.
func (t *Table) readSource(r *reader, f fields, d *Dataset, dir string, sourceOK bool) bool {
	kind := d.SourceKind()
	v, given := f.get("source")
	switch {
	case given:
		text, ok := r.text(v, "source", "the path of a CSV or Parquet file")
		if !ok || !r.path(v, "source", text) {
			return false
		}
		if !IsCSV(text) && !IsParquet(text) {
			r.at(v, "the source %s is neither a CSV nor a Parquet file; its name must end in .csv, .tsv, .txt or .parquet", quote(text))
			return false
		}
		if kind == Folder {
			dir = d.Source
		}
		t.Source = resolve(dir, text)
	case sourceOK && kind == NoSource:
		r.at(f.at, "nothing says where the table is; give the dataset or the table a source")
		return false
	case sourceOK && kind == Folder && strings.ContainsAny(t.Name, `/\*?[]`):
		r.at(f.at, "no file can be found under this table's name; give the table a source of its own")
		return false
	}
	return true
}

func (t *Table) readDelimiter(r *reader, f fields, d *Dataset, sourceOK bool) {
	t.Delimiter = ','
	files := d.Files(t)
	if len(files) == 1 && isTSV(files[0]) {
		t.Delimiter = '\t'
	}
	v, ok := f.get("delimiter")
	if !ok {
		return
	}
	text, ok := r.text(v, "delimiter", "one character such as ';'")
	if !ok {
		return
	}
	if sourceOK && (len(files) == 0 && d.SourceKind() == Database || len(files) == 1 && IsParquet(files[0])) {
		r.at(v, "a delimiter is for CSV files, and this table is not one; remove it")
		return
	}
	c, size := utf8.DecodeRuneInString(text)
	if size != len(text) || c == utf8.RuneError || strings.ContainsRune("\"'\r\n\x00", c) {
		r.at(v, "the delimiter must be one character that is no quote and no line end, such as ';' or \"\\t\"; but this is %s", quote(text))
		return
	}
	t.Delimiter = c
}

// readUnit works out how many rows one person can have.
func (t *Table) readUnit(r *reader, f fields, unit Unit, unitOK bool) {
	t.MaxRows, t.MaxGroups = 1, 1
	unique, isUnique := f.get("unique")
	path, hasPath := f.get("path")
	rows, hasRows := f.get("max_rows")
	groups, hasGroups := f.get("max_groups")
	var uniqueColumn string
	if isUnique {
		// A key whose value is wrong still says what kind of table was meant.
		uniqueColumn, _ = r.text(unique, "unique", "the column that names a person, such as pid")
	}
	pathText, pathOK := "", false
	if hasPath {
		pathText, pathOK = r.text(path, "path", "the way to the unit, such as pid -> patients.pid")
	}
	if !unitOK {
		return
	}
	if unit.Row() {
		const remove = "the unit is row, so every row is a person of its own; remove '%s', or name a column as the dataset's unit"
		for _, key := range []string{"unique", "path", "max_rows", "max_groups"} {
			if v, ok := f.get(key); ok {
				r.at(v, remove, key)
			}
		}
		return
	}
	switch own := t.Name == unit.Table; {
	case own && hasPath:
		r.at(path, "this is the table of the unit %s itself, which needs no path; remove it", unit)
		t.UnitColumn = unit.Column
	case own:
		t.UnitColumn = unit.Column
	case !hasPath:
		r.at(f.at, "nothing says whose the rows are; write path: COLUMN -> %s with the column that names the person, or leave the table out", unit)
		return
	case pathOK:
		t.UnitColumn = t.readPath(r, path, pathText, unit)
	}
	if isUnique {
		t.UnitKind = Unique
		if uniqueColumn != "" && t.UnitColumn != "" && uniqueColumn != t.UnitColumn {
			r.at(unique, "unique must be the column that names the person, %s, and not %s; it says that every person has at most one row", quote(t.UnitColumn), quote(uniqueColumn))
		}
		for _, key := range []string{"max_rows", "max_groups"} {
			if v, ok := f.get(key); ok {
				r.at(v, "unique says that every person has at most one row, so %s is 1 already; remove one of the two keys", key)
			}
		}
		return
	}
	t.UnitKind = Many
	hint := "one person can have many rows here; write max_rows and max_groups, or unique: " + t.UnitColumn + " where nobody has more than one"
	switch {
	case !hasRows && !hasGroups:
		r.at(f.at, "the keys 'max_rows' and 'max_groups' are missing: %s; max_rows is %s; max_groups is %s", hint, maxRowsMeans, maxGroupsMeans)
	case !hasRows:
		r.at(f.at, "the key 'max_rows' is missing: %s; it is %s", hint, maxRowsMeans)
	case !hasGroups:
		r.at(f.at, "the key 'max_groups' is missing: %s; it is %s", hint, maxGroupsMeans)
	}
	if hasRows {
		t.MaxRows, _ = r.whole(rows, "max_rows", maxRows, maxRowsMeans)
	}
	if hasGroups {
		t.MaxGroups, _ = r.whole(groups, "max_groups", maxGroups, maxGroupsMeans)
	}
}

// readPath returns the column at the near end of a path "pid -> patients.pid".
// The far end must be the unit and is recognised first, whatever its name contains.
func (t *Table) readPath(r *reader, at place, text string, unit Unit) string {
	text = strings.TrimSpace(text)
	if near, ok := strings.CutSuffix(text, unit.String()); ok {
		if near, ok = strings.CutSuffix(strings.TrimSpace(near), "->"); ok {
			near = strings.TrimSpace(near)
			if strings.Contains(near, "->") {
				r.at(at, "the path %s has more than one step, which is not supported yet; write the unit's column into this table and use COLUMN -> %s", quote(text), unit)
				return ""
			}
			if problem := checkName(near); problem != "" {
				r.at(at, "the path's column %s %s", quote(near), problem)
				return ""
			}
			return near
		}
	}
	switch strings.Count(text, "->") {
	case 0:
		r.at(at, "the path %s has no arrow; write COLUMN -> %s with the column of this table that names the person", quote(text), unit)
	case 1:
		r.at(at, "the path %s does not lead to the unit; write COLUMN -> %s with the column of this table that names the person", quote(text), unit)
	default:
		r.at(at, "the path %s has more than one step, which is not supported yet; write the unit's column into this table and use COLUMN -> %s", quote(text), unit)
	}
	return ""
}

func (t *Table) readColumns(r *reader, f fields) {
	v, ok := f.need(r, "columns", "list the columns that analysts may name, for example columns: {age: {type: integer, bounds: [0, 110]}}; a column that is not listed does not exist for them")
	if !ok {
		return
	}
	entries, ok := r.entries(v, "columns", "column", checkName)
	if !ok {
		return
	}
	t.Columns = map[string]*Column{}
	for _, e := range entries {
		c := &Column{Name: e.name}
		if e.name != t.UnitColumn && fold(e.name) == fold(t.UnitColumn) {
			r.at(place{node: e.key, where: v.where}, "the column %s differs only in letter case from the unit's column %s, which SQL cannot tell apart; spell both the same", quote(e.name), quote(t.UnitColumn))
		}
		c.read(r, e.place)
		t.Columns[e.name] = c
		t.order = append(t.order, e.name)
	}
}
