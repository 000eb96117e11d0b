package policy

import (
	"math/big"
	"strings"
	"unicode/utf8"
)

// Table is a table that analysts may ask about.
type Table struct {
	Name string
	// Source is the table's own file, or empty where the dataset's source says
	// where the table is; see [Dataset.Files].
	Source string
	// Relation is the schema and the name of the table in a PostgreSQL database, or the catalog,
	// the schema and the name in a Trino cluster. Trusted says that the owner answers for it
	// where it is no plain table: a view, a foreign table, or one with row security.
	Relation string
	Trusted  bool
	// Prepared is the file in which the table is stored by person, or empty where it is not; see
	// discreet prepare.
	Prepared string
	// Delimiter separates the values of a CSV file.
	Delimiter rune
	// CSV is how the values of a CSV file are spelt.
	CSV CSVFile
	// Public says that everybody may know the rows. The budget protects nobody in
	// them, and UnitKind is NoUnit.
	Public bool
	// UniqueColumn is a column of a public table that is different in every row, so that
	// a join on it does not multiply rows; or empty.
	UniqueColumn string
	// UnitKind says how many rows one person can have. UnitColumn is the column that names the
	// person; it is empty for Row and NoUnit, and where Path has more than one step.
	UnitKind   UnitKind
	UnitColumn string
	// Path leads from a row to the person it is about, all the way: every step's
	// Table is where the next one starts, and the last step ends at the unit. It is
	// empty for the unit's own table, for Row and for NoUnit.
	Path []Step
	// MaxRows is how many of one person's rows count at most in one group of an answer, and
	// MaxGroups in how many groups one person counts at most. Both are 1 for Row and Unique. For a
	// public table MaxRows is how many of its rows count at most for one row that they are joined
	// to other than on UniqueColumn, and MaxGroups is 1.
	MaxRows, MaxGroups int64
	// AutoRows and AutoGroups say that the limits are to be chosen for each question, up to these,
	// from a noisy count that is paid for.
	AutoRows, AutoGroups bool
	// LimitsFromData says that MaxRows and MaxGroups were chosen by looking at the data, which the
	// owner should be told about.
	LimitsFromData bool
	// MaxJoined is how many of one person's rows are joined at most with others of the same person;
	// 0 stands for the default. See Joined.
	MaxJoined int64
	Columns   map[string]*Column

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

// tableText is a table as it stands in the file.
type tableText struct {
	name string
	at   element
	f    fields
}

// read fills the table from its mapping. The unit, the paths and the source are used
// only where they were read without a problem.
func (t *Table) read(r *reader, text tableText, d *Dataset, dir string, p paths, unitOK, sourceOK bool) {
	f := text.f
	if t.readSource(r, f, d, dir, sourceOK) && sourceOK {
		r.refuseSharedFiles(text.at, d, t)
	}
	t.readTrusted(r, f, d, sourceOK)
	csv := !sourceOK || t.mayBeCSV(d)
	t.readDelimiter(r, f, d, csv)
	formats := t.readCSV(r, f, csv)
	t.readJoined(r, f, d, unitOK)
	t.readLimitsFrom(r, f)
	if t.Public {
		t.readPublicKeys(r, f)
	} else {
		t.readUnit(r, f, d.Unit, unitOK)
	}
	t.readPrepared(r, f, d, dir, unitOK)
	t.readColumns(r, f, p.columns[t.Name], func(f fields, c *Column) { t.readSpelling(r, f, c, formats, csv) })
	t.checkUnique(r, f)
}

// readSource reports whether it is known where the table is.
func (t *Table) readSource(r *reader, f fields, d *Dataset, dir string, sourceOK bool) bool {
	kind := d.SourceKind()
	switch kind {
	case PostgresDatabase:
		return t.readRelation(r, f)
	case TrinoDatabase:
		return t.readTrinoRelation(r, f, d)
	}
	v, given := f.get("source")
	switch {
	case given:
		text, ok := r.text(v, "source", "the path of a CSV or Parquet file")
		if !ok || !r.path(v, "source", text) {
			return false
		}
		if !IsCSV(text) && !IsParquet(text) && !sourceOK {
			return false // it may be a table of the database that the dataset's source was to name
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

// mayBeCSV reports whether the table is a CSV file, as far as the names of files tell.
func (t *Table) mayBeCSV(d *Dataset) bool {
	files := d.Files(t)
	return !(len(files) == 0 && d.SourceKind() != NoSource || len(files) == 1 && IsParquet(files[0]))
}

func (t *Table) readDelimiter(r *reader, f fields, d *Dataset, csv bool) {
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
	if !csv {
		r.at(v, "a delimiter is for CSV files, and this table is not one; remove it")
		return
	}
	c, size := utf8.DecodeRuneInString(text)
	if size != len(text) || c == utf8.RuneError || strings.ContainsRune("\"'\r\n\x00", c) {
		r.at(v, "the delimiter must be one character that is neither a quote nor a line end, such as ';' or \"\\t\"; but this is "+
			"%s", quote(text))
		return
	}
	t.Delimiter = c
}

// readUnit works out how many rows one person can have.
func (t *Table) readUnit(r *reader, f fields, unit Unit, unitOK bool) {
	unique, isUnique := f.get("unique")
	path, hasPath := f.get("path")
	rows, hasRows := f.get("max_rows")
	groups, hasGroups := f.get("max_groups")
	var uniqueColumn string
	if isUnique {
		// A key whose value is wrong still says what kind of table was meant.
		uniqueColumn, _ = r.text(unique, "unique", "the column that names a person, such as pid")
	}
	if !unitOK {
		return
	}
	if unit.Row() {
		const remove = "the unit is row, so every row is a separate person; remove '%s', or name a column as the dataset's unit"
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
		r.at(f.at, "nothing says who the rows belong to; write path: COLUMN -> %s with the column that names the person, or public: "+
			"true if everybody may know them, or leave the table out", unit)
		return
	case len(t.Path) == 1:
		t.UnitColumn = t.Path[0].Column
	}
	if isUnique && len(t.Path) > 1 {
		r.at(unique, "unique says that a column of this table names the person, but the path to the unit %s has %d steps; write max_rows "+
			"and max_groups instead", unit, len(t.Path))
		t.UnitKind = Many
		return // What else is missing is told when this is mended.
	}
	if isUnique {
		t.UnitKind = Unique
		if uniqueColumn != "" && t.UnitColumn != "" && uniqueColumn != t.UnitColumn {
			r.at(unique, "unique must be the column that names the person, %s, not %s; it says that every person has at most one row",
				quote(t.UnitColumn), quote(uniqueColumn))
		}
		for _, key := range []string{"max_rows", "max_groups"} {
			if v, ok := f.get(key); ok {
				r.at(v, "unique says that every person has at most one row, so %s is 1 already; remove one of the two keys", key)
			}
		}
		return
	}
	t.UnitKind = Many
	hint := "one person can have many rows here; write max_rows and max_groups"
	if t.UnitColumn != "" {
		hint += ", or unique: " + t.UnitColumn + " if nobody has more than one"
	}
	switch {
	case !hasRows && !hasGroups:
		r.at(f.at, "the keys 'max_rows' and 'max_groups' are missing: %s; max_rows is %s; max_groups is %s", hint,
			maxRowsMeans, maxGroupsMeans)
	case !hasRows:
		r.at(f.at, "the key 'max_rows' is missing: %s; it is %s", hint, maxRowsMeans)
	case !hasGroups:
		r.at(f.at, "the key 'max_groups' is missing: %s; it is %s", hint, maxGroupsMeans)
	}
	if hasRows {
		t.MaxRows, t.AutoRows = r.limit(rows, "max_rows", maxRows, mostAutoRows, maxRowsMeans)
	}
	if hasGroups {
		t.MaxGroups, t.AutoGroups = r.limit(groups, "max_groups", maxGroups, mostAutoGroups, maxGroupsMeans)
	}
	if t.Auto() && t.UnitColumn == "" {
		r.at(f.at, "auto counts people by a column of the table that names the person, and the path to the unit %s has %d steps; write "+
			"numbers for max_rows and max_groups", unit, len(t.Path))
	}
}

// Auto reports whether a limit of the table is to be chosen.
func (t *Table) Auto() bool { return t.AutoRows || t.AutoGroups }

// The largest limits that are chosen where the policy says auto. A table is joined and sorted up to
// them.
const mostAutoRows, mostAutoGroups = 1000, 100

func (t *Table) readLimitsFrom(r *reader, f fields) {
	v, ok := f.get("limits_from")
	if !ok {
		return
	}
	text, ok := r.text(v, "limits_from", "data, or remove the key")
	_, rows := f.get("max_rows")
	_, groups := f.get("max_groups")
	switch {
	case !ok:
	case text != "data":
		r.at(v, "limits_from is %s, but it can only say that max_rows and max_groups were chosen by looking at the data; write data, or "+
			"remove the key if you chose them yourself", quote(text))
	case !rows && !groups || t.Public:
		r.at(v, "limits_from is about how many rows of one person count, but nothing here limits them; remove it")
	default:
		t.LimitsFromData = true
	}
}

// readColumns reads the columns. Those that paths use are given by their folded names, and
// spelling reads how the values of a column are spelt.
func (t *Table) readColumns(r *reader, f fields, paths map[string]string, spelling func(fields, *Column)) {
	v, ok := f.need(r, "columns", "list the columns that analysts may name, for example columns: {age: {type: integer, bounds: [0, "+
		"110]}}; a column that is not listed does not exist for them")
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
		if used, ok := paths[fold(e.name)]; ok && used != e.name {
			whose := "the path's column"
			if used == t.UnitColumn {
				whose = "the unit's column"
			}
			r.at(element{node: e.key, where: v.where},
				"the column %s differs only in letter case from %s %s, which SQL cannot tell apart; spell both the same", quote(e.name),
				whose, quote(used))
		}
		before := len(r.problems)
		c.read(r, e.element, spelling)
		if len(r.problems) > before {
			if r.broken == nil {
				r.broken = map[*Column]bool{}
			}
			r.broken[c] = true
		}
		if t.Public && c.Keys == PrivateKeys {
			r.at(e.element, "the table is public, so everybody may know the keys of its columns; remove keys: private")
		}
		t.Columns[e.name] = c
		t.order = append(t.order, e.name)
	}
}

const publicRowsMeans = "how many rows of this table count at most for one row that they are joined to, and the noise grows with it"

func (t *Table) readPublic(r *reader, f fields) {
	if v, ok := f.get("public"); ok {
		public, ok := r.truth(v, "public")
		// A value that is wrong still says what kind of table was meant.
		t.Public = public || !ok
	}
}

// readPublicKeys reads what a public table has in place of a unit.
func (t *Table) readPublicKeys(r *reader, f fields) {
	t.UnitKind = NoUnit
	for _, key := range []string{"path", "max_groups"} {
		if v, ok := f.get(key); ok {
			r.at(v, "the table is public, so its rows are about nobody whom the budget protects; remove '%s', or remove public: true", key)
		}
	}
	if v, ok := f.get("unique"); ok {
		if text, ok := r.text(v, "unique", "the column with a different value in every row, such as code"); ok {
			t.UniqueColumn = text
		}
	}
	if v, ok := f.get("max_rows"); ok {
		if n, ok := r.whole(v, "max_rows", maxRows, publicRowsMeans); ok {
			t.MaxRows = n
		}
	}
}

// checkUnique refuses a promise about a column that no join can name.
func (t *Table) checkUnique(r *reader, f fields) {
	if t.UniqueColumn == "" || t.Columns == nil || t.Columns[t.UniqueColumn] != nil {
		return
	}
	v, _ := f.get("unique")
	r.at(v, "unique names the column %s, which is not listed under columns; list it, so that it can be joined on%s", quote(t.UniqueColumn),
		didYouMean(t.UniqueColumn, t.order...))
}

const maxSumMeans = "what one person adds to a sum of the column in one group of an answer at most, and the noise grows with it"

// readMaxSum reads a bound on what one person's rows come to in one group. Any number will do: who
// has more is cut to it.
func (c *Column) readMaxSum(r *reader, f fields) {
	v, ok := f.get("max_sum")
	if !ok {
		return
	}
	n, ok := r.number(v, "max_sum")
	if !ok {
		return
	}
	least := big.NewRat(1, 1)
	if c.Granularity != nil {
		least = c.Granularity
	}
	switch {
	case c.Type != Integer && c.Type != Decimal:
		r.at(v, "a %s column cannot be summed; remove max_sum", c.Type)
	case c.Bounds == nil:
		r.at(v, "a column without bounds cannot be summed; remove max_sum, or give the column bounds")
	case n.Cmp(least) < 0:
		r.at(v, "max_sum must be at least the granularity, %s; it is %s", decimal(least), maxSumMeans)
	default:
		c.MaxSum = n
	}
}
