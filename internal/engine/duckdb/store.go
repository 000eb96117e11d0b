package duckdb

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/internal/dialect"
	"github.com/discreet-dp/discreet/internal/engine/duckdb/chunks"
	"github.com/discreet-dp/discreet/policy"
)

// Stored is a table that was stored by person.
type Stored struct {
	Table string `json:"table"`
	File  string `json:"file"`
}

// Store writes each table whose people may have many rows into a file of its own, which is where
// the policy says, or in a folder: sorted by person, with numbers cast, on their lattice and
// clamped, with codes of the texts that have public keys, and without the rows about nobody.
// Questions about such a file have the same exact results, and are faster: see package bound. Tell
// is called now and then with what is done of a table, between 0 and 1.
//
// A file that was written before is replaced when the new one is whole; what else stands in its
// place is left alone. Nothing rests on the order for privacy: it is checked while a question runs.
func Store(ctx context.Context, ds *policy.Dataset, folder string, tell func(table string, done float64)) ([]Stored, error) {
	s, err := openUnlocked(ctx, unprepared(ds), asDeclared, Limits{})
	if err != nil {
		return nil, err
	}
	defer s.close()
	var made []making
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
		m, err := beginMaking(ctx, path)
		if err != nil {
			return nil, err
		}
		made = append(made, m)
		tell(name, 0)
		if err := s.store(ctx, t, m, func(done float64) { tell(name, done) }); err != nil {
			return nil, err
		}
	}
	if s.changed() {
		return nil, fmt.Errorf("dataset %s: the data has changed while it was stored by person; run 'discreet prepare' again", ds.Name)
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

// unprepared is a dataset as its sources have it.
func unprepared(ds *policy.Dataset) *policy.Dataset {
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
func (s *snapshot) store(ctx context.Context, t *table, m making, tell func(float64)) error {
	a, list, keys := t.storedList()
	defer func() {
		for _, k := range keys {
			k.Close()
		}
	}()
	a.Source = s.fingerprint(t)
	unit, from := t.Raw(t.UnitColumn), t.From
	order := unit
	var texts []string
	if isNamed(t.Stored[t.UnitColumn].Type) {
		a.Numbered = true
		number, who := dialect.QuoteName(numberColumn), dialect.QuoteName(whoColumn)
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
		"CREATE TABLE made.about AS SELECT "+dialect.QuoteText(string(about))+" AS text")
	failed := fmt.Errorf("table %s: %s could not be written; is there room on the disk, and in the folder for temporary files?",
		t.Name, m.path)
	if _, err := s.DB.ExecContext(ctx, "ATTACH "+dialect.QuoteText(m.part())+" AS made"); err != nil {
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
func (t *table) storedList() (a about, list []string, open []*chunks.Keys) {
	a = about{Form: form, Table: t.Name, Unit: t.UnitColumn, Columns: map[string]treated{}, Codes: map[string][]string{}}
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
			a.Columns[name] = treatment(c)
		}
		list = append(list, text+" AS "+dialect.QuoteName(t.Stored[name].Name))
		if c != nil && c.Type == policy.Text && c.Keys == policy.PublicKeys {
			a.Codes[name] = listTexts(c.KeyValues)
			keys := chunks.NewKeys(placesOf(a.Codes[name]), codeOfNull)
			open = append(open, keys)
			list = append(list, place(keys, t.Cast(name))+" AS "+dialect.QuoteName(codeName(name)))
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

// placesOf says where each text of a list is.
func placesOf(texts []string) map[string]int32 {
	places := map[string]int32{}
	for i, text := range texts {
		places[text] = int32(i)
	}
	return places
}

// making is a file that is being made, in a folder of its own beside its place: private from the
// first byte, and under its own name only when it is whole.
type making struct{ path, folder string }

func (m making) part() string { return filepath.Join(m.folder, "part.duckdb") }
func (m making) clear()       { os.RemoveAll(m.folder) }

// beginMaking makes the folders, and refuses to write over what is no prepared file.
func beginMaking(ctx context.Context, path string) (making, error) {
	// Private rows: for this user alone.
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return making{}, err
	}
	if _, err := os.Lstat(path); err == nil && !isPrepared(ctx, path) {
		return making{}, fmt.Errorf("%s exists already, and is nothing that 'discreet prepare' wrote, or is damaged; remove it first, or "+
			"choose another name in the policy or another folder with --out", path)
	}
	folder, err := os.MkdirTemp(filepath.Dir(path), "."+filepath.Base(path)+".part-*")
	return making{path, folder}, err
}

// finish puts the file into its place.
func (m making) finish() error {
	if err := os.Chmod(m.part(), 0o600); err != nil {
		return err
	}
	f, err := os.Open(m.part())
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.Sync(); err != nil {
		return err
	}
	return os.Rename(m.part(), m.path)
}
