package duckdb

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	driver "github.com/duckdb/duckdb-go/v2"

	"github.com/discreet-dp/discreet/internal/engine/duckdb/chunks"
	"github.com/discreet-dp/discreet/internal/engine/sqlengine"
	"github.com/discreet-dp/discreet/internal/sqlgen"
	"github.com/discreet-dp/discreet/policy"
)

// A prepared file is a table stored by person, which Store makes. It is an index and not data of
// its own: results are the same integers as those of the source, so the version of the data is the
// source's, and what was answered before is remembered. That holds as long as the file was made of
// that source, which is looked at whenever the data is opened, and the files are with every
// question. A file that fits no more is refused, and never read.

// preparedInfo is what a prepared file says of itself.
type preparedInfo struct {
	Form  int    `json:"form"`
	Table string `json:"table"`
	// Unit is the column that says whose a row is. Numbers are of its people, and rows without one
	// are left out.
	Unit string `json:"unit"`
	// Source names the contents that it was made of; see [dataState.fingerprint].
	Source string `json:"source"`
	// Columns is what was done to columns, by the policy's names.
	Columns map[string]columnTreatment `json:"columns"`
	// Codes are the texts whose places stand beside a column.
	Codes map[string][]string `json:"codes"`
	// Numbered says that people have numbers, and that there is a list of them.
	Numbered bool `json:"numbered"`
}

// preparedForm is the form of the files that are written here. Others are refused.
const preparedForm = 3

// No name of a policy has a quotation mark in it, so these are nobody else's.
func codeName(name string) string { return `code"` + name }

const (
	numberColumn = `number"`
	whoColumn    = `who"` // of the list of people
)

// Codes of what is no text of the list.
const (
	codeOfOther = -1
	codeOfNull  = -2
)

// columnTreatment says what was done to a column.
type columnTreatment struct {
	Type string `json:"type"`
	Step string `json:"step,omitempty"`
	Lo   *int64 `json:"lo,omitempty"`
	Hi   *int64 `json:"hi,omitempty"`
}

func treatmentOf(c *policy.Column) columnTreatment {
	out := columnTreatment{Type: c.Type.String()}
	if c.Granularity != nil {
		out.Step = c.Granularity.RatString()
	}
	if c.Bounds != nil {
		out.Lo, out.Hi = &c.Bounds.LoSteps, &c.Bounds.HiSteps
	}
	return out
}

// holds reports whether what is stored has all that the policy wants now: bounds may be narrower
// than they were.
func (was columnTreatment) holds(now columnTreatment) bool {
	narrower := was.Lo == nil || now.Lo != nil && *now.Lo >= *was.Lo && *now.Hi <= *was.Hi
	return was.Type == now.Type && was.Step == now.Step && narrower
}

// openPrepared attaches the prepared file of a table and looks whether it fits.
func (s *snapshot) openPrepared(ctx context.Context, t *table) (preparedInfo, error) {
	path, place := t.prepared, sqlgen.QuoteName("prepared "+t.Name)
	again := "; run 'discreet prepare' again"
	if _, err := os.Stat(path); err != nil {
		return preparedInfo{}, fmt.Errorf("table %s: the prepared file %s does not exist; run 'discreet prepare', or remove 'prepared' "+
			"from the policy", t.Name, path)
	}
	_, err := s.DB.ExecContext(ctx, "ATTACH "+sqlgen.QuoteText(path)+" AS "+place+" (READ_ONLY)")
	var a preparedInfo
	if err == nil {
		a, err = readPreparedInfo(ctx, s.DB, place)
	}
	switch {
	case ctx.Err() != nil:
		return a, ctx.Err()
	case err != nil || a.Form != preparedForm || a.Table != t.Name:
		return a, fmt.Errorf("table %s: %s is not a file that this version of 'discreet prepare' wrote for it%s", t.Name, path, again)
	case a.Source != s.state.fingerprint(t):
		return a, fmt.Errorf("table %s: the data has changed since %s was prepared from it%s", t.Name, path, again)
	}
	if a.Unit != t.UnitColumn {
		return a, fmt.Errorf("table %s: %s was prepared when the policy said that column %s, not %s, identifies the person of a "+
			"row%s", t.Name, path,
			a.Unit, t.UnitColumn, again)
	}
	for _, name := range t.Needed() {
		// What a path uses is stored as it is: two orders that were clamped to one would be one.
		if was, ok := a.Columns[name]; name != t.UnitColumn && (ok == t.onPath(name) || ok && !was.holds(treatmentOf(t.Columns[name]))) {
			return a, fmt.Errorf("table %s: %s was prepared when the policy said something else about column %s%s", t.Name, path, name,
				again)
		}
	}
	return a, nil
}

// usePrepared makes a table one that is read from its prepared file.
func (s *snapshot) usePrepared(ctx context.Context, t *table, a preparedInfo) error {
	t.From, t.csv, t.copied, t.byPerson = sqlgen.QuoteName("prepared "+t.Name)+".rows", false, false, true
	if _, err := sqlengine.Describe(ctx, s.DB, &t.Table, t.prepared, true); err != nil {
		return err
	}
	t.OnLattice, t.Codes, t.coded = map[string]bool{}, map[string]string{}, map[string]map[string]int32{}
	for name := range a.Columns {
		if c := t.Columns[name]; c != nil {
			t.OnLattice[name] = c.Granularity != nil
		}
	}
	for name, texts := range a.Codes {
		places := positionsOf(texts)
		if c := t.Columns[name]; c != nil && c.Type == policy.Text && len(places) == len(texts) { // no text has two
			t.Codes[name], t.coded[name] = codeName(name), places
		}
	}
	t.numbered = a.Numbered
	return nil
}

func readPreparedInfo(ctx context.Context, db *sql.DB, place string) (a preparedInfo, err error) {
	var text string
	if err := db.QueryRowContext(ctx, "SELECT text FROM "+place+".about").Scan(&text); err != nil {
		return a, err
	}
	return a, json.Unmarshal([]byte(text), &a)
}

// isPrepared reports whether a file is one that Store wrote.
func isPrepared(ctx context.Context, path string) bool {
	connector, err := driver.NewConnector("", nil)
	if err != nil {
		return false
	}
	db := sql.OpenDB(connector)
	defer db.Close()
	if _, err := db.ExecContext(ctx, "ATTACH "+sqlgen.QuoteText(path)+" AS made (READ_ONLY)"); err != nil {
		return false
	}
	a, err := readPreparedInfo(ctx, db, "made")
	return err == nil && a.Form > 0
}

// refuseOldPrepared refuses a Parquet file that 'discreet prepare' once wrote, in which numbers are
// steps.
func (t *table) refuseOldPrepared(ctx context.Context, db *sql.DB) error {
	if t.csv || t.file == "" {
		return nil
	}
	var n int
	err := db.QueryRowContext(ctx, "SELECT count(*) FROM parquet_kv_metadata("+sqlgen.QuoteText(t.file)+") WHERE decode(key) = "+
		"'discreet'").Scan(&n)
	if err != nil || n == 0 {
		return nil // what cannot be read is told elsewhere
	}
	return fmt.Errorf("table %s: %s was prepared by an earlier version; put its old source back into the policy and run 'discreet "+
		"prepare' again", t.Name, t.where())
}

// Stored is a table that was stored by person.
type Stored struct {
	Table string `json:"table"`
	File  string `json:"file"`
}

// Store writes each table whose people may have many rows into a file of its own, which is where
// the policy says, or in a folder: sorted by person, with numbers cast, on their lattice and
// clamped, with codes of the texts that have public keys, and without the rows about nobody.
// Questions about such a file have the same exact results, and are faster: see package
// contribution. Tell is called now and then with what is done of a table, between 0 and 1.
//
// A file that was written before is replaced when the new one is whole; what else stands in its
// place is left alone. Nothing rests on the order for privacy: it is checked while a question runs.
func Store(ctx context.Context, ds *policy.Dataset, folder string, tell func(table string, done float64)) ([]Stored, error) {
	s, err := openUnlocked(ctx, withoutPrepared(ds), asDeclared, Limits{})
	if err != nil {
		return nil, err
	}
	defer s.close()
	var made []fileInProgress
	defer func() {
		for _, m := range made {
			m.clear()
		}
	}()
	for _, name := range ds.TableNames() {
		t := s.tables[name]
		if !t.Preparable() {
			continue // who a row is about is in another table, so there is nothing to sort by
		}
		path := ds.Tables[name].Prepared
		if path == "" {
			path = filepath.Join(folder, name+".duckdb")
		}
		m, err := beginFile(ctx, path)
		if err != nil {
			return nil, err
		}
		made = append(made, m)
		tell(name, 0)
		if err := s.store(ctx, t, m, func(done float64) { tell(name, done) }); err != nil {
			return nil, err
		}
	}
	if s.state.changed() {
		return nil, fmt.Errorf("dataset %s: the data changed while it was being stored by person; run 'discreet prepare' again", ds.Name)
	}
	var out []Stored
	for i, name := range slices.DeleteFunc(ds.TableNames(), func(name string) bool { return !s.tables[name].Preparable() }) {
		if err := made[i].finish(); err != nil {
			return nil, err
		}
		out = append(out, Stored{name, made[i].path})
	}
	return out, nil
}

// withoutPrepared is a dataset as its sources have it.
func withoutPrepared(ds *policy.Dataset) *policy.Dataset {
	out := *ds
	out.Tables = map[string]*policy.Table{}
	for name, t := range ds.Tables {
		own := *t
		own.Prepared = ""
		out.Tables[name] = &own
	}
	return &out
}

// store writes a table into a file that is being made.
func (s *snapshot) store(ctx context.Context, t *table, m fileInProgress, tell func(float64)) error {
	a, list, keys := t.storedList()
	defer func() {
		for _, k := range keys {
			k.Close()
		}
	}()
	a.Source = s.state.fingerprint(t)
	unit, from := t.Raw(t.UnitColumn), t.From
	order := unit
	var texts []string
	if isNamed(t.Stored[t.UnitColumn].Type) {
		a.Numbered = true
		number, who := sqlgen.QuoteName(numberColumn), sqlgen.QuoteName(whoColumn)
		texts = append(texts, fmt.Sprintf("CREATE TABLE made.people AS SELECT row_number() OVER (ORDER BY %s) - 1 AS %s, %s FROM "+
			"(SELECT DISTINCT %s AS %s FROM %s WHERE %s IS NOT NULL) ORDER BY %s", who, number, who, unit, who, from, unit, number))
		list = append(list, number)
		from, order = fmt.Sprintf("%s JOIN made.people ON %s = %s", from, who, unit), number
	}
	about, err := json.Marshal(a)
	if err != nil {
		return err
	}
	texts = append(texts,
		fmt.Sprintf("CREATE TABLE made.rows AS SELECT %s FROM %s WHERE %s IS NOT NULL ORDER BY %s", strings.Join(list, ", "), from,
			unit, order),
		"CREATE TABLE made.about AS SELECT "+sqlgen.QuoteText(string(about))+" AS text")
	failed := fmt.Errorf("table %s: %s could not be written; is there space on the disk and in the folder for temporary files?",
		t.Name, m.path)
	if _, err := s.DB.ExecContext(ctx, "ATTACH "+sqlgen.QuoteText(m.part())+" AS made"); err != nil {
		return failed
	}
	for _, text := range texts {
		if err = s.source.Exec(ctx, text, tell); err != nil {
			break
		}
	}
	if err == nil {
		_, err = s.DB.ExecContext(ctx, "CHECKPOINT made")
	}
	// Also where it has failed, so that the next table can be written.
	if _, detached := s.DB.ExecContext(context.WithoutCancel(ctx), "DETACH made"); err == nil {
		err = detached
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return failed
	}
	return nil
}

// storedList prints the columns as they are stored by person, and what is to be known about them.
func (t *table) storedList() (a preparedInfo, list []string, open []*chunks.Keys) {
	a = preparedInfo{Form: preparedForm, Table: t.Name, Unit: t.UnitColumn, Columns: map[string]columnTreatment{},
		Codes: map[string][]string{}}
	for _, name := range t.Needed() {
		c := t.Columns[name]
		text := t.Raw(name) // who it is stays as it is
		if name != t.UnitColumn && !slices.Contains(t.Paths, name) {
			text = t.Declared(name)
			switch c.Type {
			case policy.Date:
				text = "DATE '1970-01-01' + CAST(" + text + " AS INTEGER)"
			case policy.Timestamp:
				text = "make_timestamp(" + text + ")"
			}
			a.Columns[name] = treatmentOf(c)
		}
		list = append(list, text+" AS "+sqlgen.QuoteName(t.Stored[name].Name))
		if c != nil && c.Type == policy.Text && c.Keys == policy.PublicKeys {
			a.Codes[name] = listTexts(c.KeyValues)
			keys := chunks.NewKeys(positionsOf(a.Codes[name]), codeOfNull)
			open = append(open, keys)
			list = append(list, printKeyIndex(keys, t.Cast(name))+" AS "+sqlgen.QuoteName(codeName(name)))
		}
	}
	return a, list, open
}

// listTexts lists the public keys of a column that are texts.
func listTexts(values []policy.Value) (out []string) {
	for _, v := range values {
		if !v.Null {
			out = append(out, v.Text)
		}
	}
	return out
}

// positionsOf says where each text of a list is.
func positionsOf(texts []string) map[string]int32 {
	places := map[string]int32{}
	for i, text := range texts {
		places[text] = int32(i)
	}
	return places
}

// fileInProgress is a file that is being made, in a folder of its own beside its place: private
// from the first byte, and under its own name only when it is whole.
type fileInProgress struct{ path, folder string }

func (m fileInProgress) part() string { return filepath.Join(m.folder, "part.duckdb") }
func (m fileInProgress) clear()       { os.RemoveAll(m.folder) }

// beginFile makes the folders, and refuses to write over what is no prepared file.
func beginFile(ctx context.Context, path string) (fileInProgress, error) {
	// Private rows: for this user alone.
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fileInProgress{}, err
	}
	if _, err := os.Lstat(path); err == nil && !isPrepared(ctx, path) {
		return fileInProgress{}, fmt.Errorf("%s already exists and was not written by 'discreet prepare', or is damaged; remove it "+
			"first, or choose another name in the policy or another folder with --out", path)
	}
	folder, err := os.MkdirTemp(filepath.Dir(path), "."+filepath.Base(path)+".part-*")
	return fileInProgress{path, folder}, err
}

func (m fileInProgress) finish() error {
	if err := os.Chmod(m.part(), 0o600); err != nil {
		return err
	}
	f, err := os.OpenFile(m.part(), os.O_RDWR, 0) // Windows asks for that to make it durable
	if err != nil {
		return err
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(m.part(), m.path)
}
