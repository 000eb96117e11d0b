package policy

import (
	"fmt"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"
)

// SourceKind says what a dataset's source is. Its name decides, so that a policy
// means the same whether or not the data is there.
type SourceKind int

const (
	// NoSource: every table names a file of its own.
	NoSource SourceKind = iota
	// Database is a DuckDB file, which holds the tables under their names.
	Database
	// File is one CSV or Parquet file, which is the only table.
	File
	// Folder holds one CSV or Parquet file for each table.
	Folder
	// PostgresDatabase is the address of a PostgreSQL database, of which the tables are copied.
	PostgresDatabase
	// TrinoDatabase is the address of a Trino cluster, which runs the questions on its tables.
	TrinoDatabase
)

// Remote reports whether it is a server that is asked for its tables.
func (k SourceKind) Remote() bool { return k == PostgresDatabase || k == TrinoDatabase }

// SourceKind returns what the dataset's source is: a name that ends in .duckdb,
// .ddb or .db is a database; one that ends like a table's file is that file; an address is a
// PostgreSQL database or a Trino cluster; everything else is a folder.
func (d *Dataset) SourceKind() SourceKind {
	switch {
	case d.Source == "":
		return NoSource
	case IsPostgres(d.Source):
		return PostgresDatabase
	case IsTrino(d.Source):
		return TrinoDatabase
	case IsDatabase(d.Source):
		return Database
	case IsCSV(d.Source) || IsParquet(d.Source):
		return File
	}
	return Folder
}

// Files returns the files that may hold the table, the first that exists
// being the one, and nothing where the table is in the dataset's database.
func (d *Dataset) Files(t *Table) []string {
	switch kind := d.SourceKind(); {
	case t.Source != "":
		return []string{t.Source}
	case kind == File:
		return []string{d.Source}
	case kind == Folder:
		return []string{filepath.Join(d.Source, t.Name+".parquet"), filepath.Join(d.Source, t.Name+".csv")}
	}
	return nil
}

// tableSource is a table that was read, and where in the policy it stands.
type tableSource struct {
	dataset, table string
	line           int
	public         bool
	// labels says that it is the file of a holdout, and table the holdout's name.
	labels bool
}

// refuseSharedFiles refuses a second name for the same data. In another dataset its people would
// have a second budget; in the same one, with unit: row, each would count as two; and what is
// public in one place is private in none. Only public tables may be read as often as one likes.
// What a link hides is found where the data is opened; what a view of a database hides is the
// owner's to avoid.
func (r *reader) refuseSharedFiles(at element, d *Dataset, t *Table) {
	files := d.Files(t)
	if len(files) == 0 && d.SourceKind() == Database {
		files = []string{d.Source + "\x00" + fold(t.Name)}
	}
	switch d.SourceKind() {
	case PostgresDatabase:
		files = []string{Postgres(d.Source) + "\x00" + t.Relation}
	case TrinoDatabase:
		files = []string{Trino(d.Source) + "\x00" + t.Relation}
	}
	for _, file := range files {
		first, ok := r.tableSources[file]
		if !ok {
			if r.tableSources == nil {
				r.tableSources = map[string]tableSource{}
			}
			r.tableSources[file] = tableSource{dataset: d.Name, table: t.Name, line: at.mark().Line, public: t.Public}
			continue
		}
		if first.labels {
			r.at(at, "this table is read from the same file as the labels of the holdout %s of the dataset %s in line %d; write table: "+
				"there to hold out a table, or give the labels a file of their own", quote(first.table), quote(first.dataset), first.line)
			return
		}
		if first.public && t.Public {
			continue
		}
		if first.public != t.Public {
			r.at(at, "this table is read from the same place as the table %s of the dataset %s in line %d, and only one of them is "+
				"public: its rows would be protected in one place and shown in the other; make both public, or remove one of them",
				quote(first.table), quote(first.dataset), first.line)
			return
		}
		if first.dataset == d.Name {
			r.at(at, "this table is read from the same place as the table %s in line %d; a person must not appear under two names, so "+
				"remove one of them or give it a source of its own", quote(first.table), first.line)
		} else {
			r.at(at, "this table is read from the same place as the table %s of the dataset %s in line %d; its people would have two "+
				"budgets, so put both into one dataset", quote(first.table), quote(first.dataset), first.line)
		}
		return
	}
}

// IsDatabase reports whether a file's name says that it is a DuckDB database.
func IsDatabase(path string) bool {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".duckdb", ".ddb", ".db":
		return true
	}
	return false
}

// IsCSV reports whether a file's name says that it is CSV, perhaps compressed.
func IsCSV(path string) bool {
	switch textExt(path) {
	case ".csv", ".tsv", ".txt":
		return true
	}
	return false
}

func isTSV(path string) bool { return textExt(path) == ".tsv" }

// textExt returns the extension in lower case, looking through compression.
func textExt(path string) string {
	return filepath.Ext(strings.TrimSuffix(strings.ToLower(path), ".gz"))
}

// IsParquet reports whether a file's name says that it is Parquet.
func IsParquet(path string) bool {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".parquet", ".pq":
		return true
	}
	return false
}

// readSource reads where the tables are. It reports false where the source is
// given and wrong, so that tables do not complain about it again.
func (in sourceReader) readSource(f fields, dir string) bool {
	v, ok := f.get("source")
	if !ok {
		return true
	}
	text, ok := in.r.text(v, "source", "the path of a .duckdb file, of a folder, or of a CSV or Parquet file, or the address of a "+
		"PostgreSQL database or of a Trino cluster")
	switch {
	case ok && IsPostgres(text):
		return in.readPostgres(v, text)
	case ok && IsTrino(text):
		return in.readTrino(v, text)
	}
	if !ok || !in.r.path(v, "source", text) {
		return false
	}
	in.d.Source = resolve(dir, text)
	return true
}

// path refuses what is no path to one local file or folder.
func (r *reader) path(p element, key, text string) bool {
	hidden := func(c rune) bool { return unicode.IsControl(c) }
	switch {
	case strings.Contains(text, "://"):
		r.at(p, "'%s' is an address; write the path of a local file", key)
	case !utf8.ValidString(text) || strings.ContainsFunc(text, hidden):
		r.at(p, "'%s' contains a control character; write the path of a local file", key)
	case key == "source" && strings.ContainsAny(text, "*?[]"):
		// The engine would read a pattern as many files.
		r.at(p, "'%s' contains one of * ? [ ], and patterns of several files are not supported yet; write the path of one "+
			"file or folder", key)
	case text == ":memory:":
		r.at(p, "'%s' must be kept when the server stops; write the path of a local file", key)
	default:
		return true
	}
	return false
}

// maxVersionQuery is how long a version query may be, in bytes.
const maxVersionQuery = 4096

// readVersion reads the query that names the state of a database. It is the owner's own SQL, so
// what stands in it is for the engine to say.
func (in sourceReader) readVersion(f fields, sourceOK bool) {
	v, ok := f.get("version")
	if !ok {
		return
	}
	text, ok := in.r.text(v, "version", "one SELECT, such as SELECT max(loaded_at) FROM load_log")
	switch {
	case !ok:
	case sourceOK && in.d.SourceKind() != Database && !in.d.SourceKind().Remote():
		in.r.at(v,
			"'version' is a query for a database, and the source is not one; remove it: the contents of files tell whether they have "+
				"changed")
	case strings.TrimSpace(text) == "" || len(text) > maxVersionQuery || !utf8.ValidString(text) || strings.ContainsRune(text, 0):
		in.r.at(v, "'version' is at most %d bytes of text; write one SELECT, such as SELECT max(loaded_at) FROM load_log", maxVersionQuery)
	default:
		in.d.VersionQuery = text
	}
}

// maxVersionName is how long the owner's name for the data may be, in bytes.
const maxVersionName = 200

// CheckVersionName returns what is wrong with a name that is to be printed and recorded.
func CheckVersionName(text string) string {
	switch {
	case strings.TrimSpace(text) == "":
		return "is an empty text; select something that changes with the data"
	case len(text) > maxVersionName:
		return fmt.Sprintf("is %d bytes long; the most is %d; select md5(...) of it", len(text), maxVersionName)
	case !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }):
		return "has characters that cannot be printed in a line; select md5(...) of it"
	}
	return ""
}

// VersionError says that the owner's version query gives no version. Its text is the same whatever
// the data is; Problem and Err are for the owner's eyes.
type VersionError struct {
	Dataset string
	Problem string
	Err     error // in the words of the database, which may quote data
}

func (e *VersionError) Error() string {
	return "the version query of the dataset " + e.Dataset + " does not name the data; ask the owner to run 'discreet check', which says " +
		"why"
}

// Explain says what is wrong, to the owner.
func (e *VersionError) Explain() string {
	text := "the version query of the dataset " + e.Dataset + " " + e.Problem
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

// readPrepared reads where the table is stored by person. The table stays what its source says: the
// file is made of it, and can be made again.
func (t *Table) readPrepared(r *reader, f fields, d *Dataset, dir string, unitOK bool) {
	v, given := f.get("prepared")
	if !given {
		return
	}
	text, ok := r.text(v, "prepared", "the path of the file that 'discreet prepare' writes, such as prepared/visits.duckdb")
	if !ok || !r.path(v, "prepared", text) {
		return
	}
	if d.SourceKind() == TrinoDatabase {
		r.at(v, "'prepared' is a file for DuckDB, but this table is in a Trino cluster; remove it")
		return
	}
	if !IsDatabase(text) {
		r.at(v, "the prepared file %s is not a DuckDB file; its name must end in .duckdb", quote(text))
		return
	}
	if unitOK && !t.Preparable() {
		r.at(v, "a table is stored by person only if a person can have many rows in it and a column says who they belong to; remove "+
			"'prepared'")
		return
	}
	t.Prepared = resolve(dir, text)
	if t.Prepared == d.Source {
		r.at(v, "this is the dataset's source, and the prepared file is another file, made from it; give it a name of its own")
		return
	}
	if r.prepared == nil {
		r.prepared = map[string]string{}
	}
	if other := r.prepared[t.Prepared]; other != "" {
		r.at(v, "the table %s has this prepared file already; give each table one of its own", quote(other))
	}
	r.prepared[t.Prepared] = t.Name
}

// Preparable reports whether the table can be stored by person: somebody may have many rows in it,
// and who that is stands in the row.
func (t *Table) Preparable() bool { return t.UnitKind == Many && t.UnitColumn != "" }
