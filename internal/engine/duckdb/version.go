package duckdb

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	driver "github.com/duckdb/duckdb-go/v2"

	"github.com/discreet-dp/discreet/internal/engine"
	"github.com/discreet-dp/discreet/internal/sqlgen"
	"github.com/discreet-dp/discreet/policy"
	"github.com/discreet-dp/discreet/store"
)

// dataState is which state of the data a snapshot is of, and what tells that there is another.
type dataState struct {
	files   []fileState
	opened  []fileState // of these, those that every question opens by their names
	version store.Version
	origin  *origin // of tables that are copied, or nil
	// The files of the database, and the hashes of all that is not named otherwise.
	database []string
	hashes   map[string][]byte
}

// identify names the state of the data: by the contents of its files, or, for a database whose
// owner has a query for it, by what that says.
//
// The name decides one thing: whether an answer that was given may be given again. A change that is
// missed makes such answers stale, and nothing less private: what is given again is a noisy number
// that everybody had already. A new question then runs on the changed data under the old name, and
// pays in full, with noise of its own. What is spent counts for a person over all versions and
// never begins anew with one, so it is no matter to which of them a charge is written.
//
// But an answer is sharpened of the same data, or it tells more than it costs. So it is where the
// contents name the data (store.Version.Whole), and not what an owner's query says, which may be
// late; and where they do so still after the question ran.
//
// Each file is looked at before it is read: what changes in between is found to have changed with
// the next question.
func (s *dataState) identify(ctx context.Context, ds *policy.Dataset, tables map[string]*table, limits Limits) error {
	database, rest := dataFiles(ds, tables)
	paths := append(rest, database...)
	slices.Sort(paths)
	for _, path := range slices.Compact(paths) {
		s.files = append(s.files, stateOf(path))
	}
	if len(database) > 0 {
		if _, err := os.Stat(ds.Source); err != nil {
			return fmt.Errorf("open the data: %w", err)
		}
	}
	var name string
	if ds.VersionQuery != "" && ds.SourceKind() == policy.Database {
		var err error
		if name, err = askVersion(ctx, ds, limits); err != nil {
			return err
		}
	}
	all, roles := sha256.New(), fileRoles(tables, ds)
	s.hashes = map[string][]byte{}
	for _, f := range s.files {
		if !f.exists || name != "" && slices.Contains(database, f.path) {
			continue
		}
		h, err := f.hash(maxHashedBytes)
		if err != nil {
			return fmt.Errorf("read the data: %w", err)
		}
		s.hashes[f.path] = h
		// The same bytes are other data when they are another table, or are read in another way.
		fmt.Fprintf(all, "%q %x\n", roles[f.path], h)
	}
	for _, t := range tables {
		if t.file != "" && !t.csv {
			s.opened = append(s.opened, s.files[slices.IndexFunc(s.files, func(f fileState) bool { return f.path == t.file })])
		}
	}
	s.version = store.Version{Name: name, State: hex.EncodeToString(all.Sum(nil)), Whole: name == ""}
	// What is prepared is the same data once more, and has to be looked at when it changes.
	s.database = database
	for _, t := range tables {
		if t.prepared != "" {
			s.files = append(s.files, stateOf(t.prepared))
		}
	}
	return nil
}

// fileRoles says of each file which table it is, and how it is read.
func fileRoles(tables map[string]*table, ds *policy.Dataset) map[string][]string {
	roles := map[string][]string{}
	for _, name := range ds.TableNames() {
		if t := tables[name]; t.file != "" {
			roles[t.file] = append(roles[t.file], t.role())
		}
	}
	return roles
}

// dataFiles returns the files of a dataset: the database with its log, where there is one, and all
// others.
func dataFiles(ds *policy.Dataset, tables map[string]*table) (database, rest []string) {
	if ds.SourceKind() == policy.Database {
		database = []string{ds.Source, ds.Source + ".wal"}
	}
	for _, t := range tables {
		if t.file != "" {
			rest = append(rest, t.file)
		}
	}
	return database, rest
}

// changed reports whether a file may not be what it was.
func (s *dataState) changed() bool { return slices.ContainsFunc(s.files, fileState.changed) }

// moved is changed, of data that may be elsewhere.
func (s *dataState) moved(ctx context.Context) (bool, error) {
	if s.changed() || s.origin == nil {
		return s.changed(), nil
	}
	return s.origin.moved(ctx)
}

// nameByContents names data that was copied by all of it, where no query of the owner's did.
func (s *dataState) nameByContents(hash string) {
	if s.version.Name == "" {
		s.version.State, s.version.Whole = hash, true
	}
}

// readFrom says which data was read here. A file that is opened by its name may have been another
// one meanwhile, also where its contents are what they were: who put it back changed its inode.
func (s *dataState) readFrom() engine.ReadFrom {
	if slices.ContainsFunc(s.opened, fileState.changed) {
		return engine.ReadFrom{State: "unknown"} // which is no version's
	}
	return engine.ReadFrom{State: s.version.Key(), Copied: s.origin != nil}
}

// fingerprint names what a table is read from: the contents of its file and how it is read, or the
// database, by its contents or by what the owner's version query says.
func (s *dataState) fingerprint(t *table) string {
	h := sha256.New()
	if t.file != "" {
		fmt.Fprintf(h, "file %q %x", t.role(), s.hashes[t.file])
	} else {
		fmt.Fprintf(h, "database %q", s.version.Name)
		if s.origin != nil {
			fmt.Fprintf(h, " of %q", s.origin.database.String())
		}
		for _, path := range s.database {
			fmt.Fprintf(h, " %x", s.hashes[path])
		}
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}

// askVersion asks the owner's version query. It runs when the data is opened, and again when the
// file may have changed; never with a question, so how long it takes tells nothing about one.
//
// It runs in a DuckDB of its own, so that nothing it does is there when analysts ask, and one that
// is locked: it sees the database, read-only, and no other file. The other DuckDB is opened after
// this one is closed, because closing a file takes away the locks that this process has on it.
func askVersion(ctx context.Context, ds *policy.Dataset, limits Limits) (string, error) {
	failed := func(problem string, err error) (string, error) {
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		return "", &policy.VersionError{Dataset: ds.Name, Problem: problem, Err: err}
	}
	connector, err := driver.NewConnector("", nil)
	if err != nil {
		return "", fmt.Errorf("start DuckDB: %w", err)
	}
	db := sql.OpenDB(connector)
	defer db.Close()
	c, err := db.Conn(ctx)
	if err != nil {
		return "", fmt.Errorf("start DuckDB: %w", err)
	}
	defer c.Close()
	// A time is spelled in the same way on every machine. Where the zones are not there, neither
	// are such times.
	_, _ = c.ExecContext(ctx, "SET TimeZone = 'UTC'")
	if _, err := c.ExecContext(ctx, "ATTACH "+sqlgen.QuoteText(ds.Source)+" AS source (READ_ONLY)"); err != nil {
		return "", errAttach(ds)
	}
	for _, set := range slices.Concat(limits.settings(), []string{
		"USE source",              // so that names are those of the database
		"SET temp_directory = ''", // private rows are spilled nowhere
		"SET allowed_paths = []",
	}, lockStatements) {
		if _, err := c.ExecContext(ctx, set); err != nil {
			return "", fmt.Errorf("lock DuckDB (%s): %w", set, err)
		}
	}
	// In brackets there is room for one SELECT and nothing else.
	query := strings.TrimRight(ds.VersionQuery, "; \t\r\n")
	rows, err := c.QueryContext(ctx, "SELECT CAST(COLUMNS(*) AS VARCHAR) FROM (\n"+query+"\n)")
	if err != nil {
		return failed("cannot be run; write one SELECT about tables of the database, such as SELECT max(loaded_at) FROM load_log", err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil || len(columns) != 1 {
		return failed(fmt.Sprintf("has %d columns; select one", len(columns)), err)
	}
	var versions []sql.NullString
	for rows.Next() && len(versions) < 2 {
		var v sql.NullString
		if err := rows.Scan(&v); err != nil {
			return failed("cannot be read", err)
		}
		versions = append(versions, v)
	}
	switch err := rows.Err(); {
	case err != nil:
		return failed("cannot be run", err)
	case len(versions) == 0:
		return failed("has no row, but must have one; select an aggregate such as max", nil)
	case len(versions) > 1:
		return failed("has several rows, but must have one; select an aggregate such as max", nil)
	case !versions[0].Valid:
		return failed("is NULL, but must have a value; write coalesce(..., 'empty')", nil)
	}
	text := versions[0].String
	if problem := policy.CheckVersionName(text); problem != "" {
		return failed(problem, nil)
	}
	return text, nil
}

func errAttach(ds *policy.Dataset) error {
	return fmt.Errorf("open %s: %s", ds.Source, whyNotAttached(ds.Source))
}

// DescribeVersion says, for the owner, what the version of the data is. Of contents it shows no
// hash: who is given one can try out guesses of all that is in the files.
func DescribeVersion(ctx context.Context, ds *policy.Dataset) (string, error) {
	if ds.SourceKind() == policy.PostgresDatabase {
		return describeOrigin(ctx, ds)
	}
	if ds.VersionQuery != "" {
		text, err := askVersion(ctx, ds, Limits{})
		var failed *policy.VersionError
		if errors.As(err, &failed) {
			return "", errors.New(failed.Explain())
		}
		if err != nil {
			return "", err
		}
		return fmt.Sprintf("%q, by the version query; analysts see it", text), nil
	}
	tables := map[string]*table{}
	for _, name := range ds.TableNames() {
		t, err := findTable(ds, ds.Tables[name])
		if err != nil {
			return "", err
		}
		tables[name] = t
	}
	files, large := 0, 0
	database, rest := dataFiles(ds, tables)
	for _, path := range append(database, rest...) {
		if f := stateOf(path); f.exists {
			files++
			if f.size > maxHashedBytes {
				large++
			}
		}
	}
	text := fmt.Sprintf("the contents of %d files", files)
	if files == 1 {
		text = "the contents of the file"
	}
	if large > 0 {
		text += fmt.Sprintf("; %d above 1 GiB by samples, times and inode", large)
	}
	return text, nil
}

// fileState is what tells, without reading it, that a file may have changed. Where the system has
// them, the device and the inode tell that another file has taken its name, and the time of the
// last change of the inode tells what a copied or restored time of modification hides: no program
// can set it.
type fileState struct {
	path     string
	exists   bool
	size     int64
	modified time.Time
	node     fileNode
}

// fileNode is what only some systems know of a file; all zero elsewhere.
type fileNode struct {
	device, inode uint64
	changed       int64 // in nanoseconds
}

func stateOf(path string) fileState {
	info, err := os.Stat(path)
	if err != nil {
		return fileState{path: path}
	}
	return fileState{path, true, info.Size(), info.ModTime().UTC(), nodeOf(info)}
}

// changed reports whether the file is not what it was, as far as can be told without reading it.
func (f fileState) changed() bool {
	now := stateOf(f.path)
	return now.exists != f.exists || now.size != f.size || !now.modified.Equal(f.modified) || now.node != f.node
}

// maxHashedBytes is the largest file whose version is its contents, all of them.
const maxHashedBytes = 1 << 30

// The samples of a larger file: edgeBytes at both ends, where formats keep their headers and
// footers, and sampleBlocks of blockBytes at equal distances between them.
const (
	edgeBytes    = 1 << 20
	sampleBlocks = 64
	blockBytes   = 64 << 10
)

// hash names the contents of a file. Up to a limit these are all bytes, so that a file that was
// copied, or touched, is the same one. Beyond it they are the samples, and with them the identity:
// size, times and inode. The device is left out, because its number may be another one after a
// restart.
//
// What can be missed of a large file is a change between the samples that leaves size, inode and
// both times as they were: on Unix that takes a clock that was set back, elsewhere a program that
// sets the time of modification. The other way round, a large file that was copied or touched
// counts as changed though it has not.
func (f fileState) hash(limit int64) ([]byte, error) {
	file, err := os.Open(f.path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	h := sha256.New()
	if f.size <= limit {
		_, err = io.Copy(h, file)
		return h.Sum(nil), err
	}
	fmt.Fprintf(h, "samples %d %d %d %d\n", f.size, f.modified.UnixNano(), f.node.inode, f.node.changed)
	sample := func(at, n int64) {
		if err == nil {
			_, err = io.Copy(h, io.NewSectionReader(file, at, n))
		}
	}
	sample(0, edgeBytes)
	for i := range int64(sampleBlocks) {
		sample(f.size/(sampleBlocks+1)*(i+1), blockBytes)
	}
	sample(max(0, f.size-edgeBytes), edgeBytes)
	return h.Sum(nil), err
}
