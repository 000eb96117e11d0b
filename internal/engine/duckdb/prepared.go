package duckdb

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"fmt"
	"os"

	driver "github.com/duckdb/duckdb-go/v2"

	"github.com/discreet-dp/discreet/internal/dialect"
	"github.com/discreet-dp/discreet/internal/engine/sqlengine"
	"github.com/discreet-dp/discreet/policy"
)

// A prepared file is a table stored by person, which Store makes. It is an index and not data of
// its own: results are the same integers as those of the source, so the version of the data is the
// source's, and what was answered before is remembered. That holds as long as the file was made of
// that source, which is looked at whenever the data is opened, and the files are with every
// question. A file that fits no more is refused, and never read.

// about is what a prepared file says of itself.
type about struct {
	Form  int    `json:"form"`
	Table string `json:"table"`
	// Unit is the column that says whose a row is. Numbers are of its people, and rows without one
	// are left out.
	Unit string `json:"unit"`
	// Source names the contents that it was made of; see [snapshot.fingerprint].
	Source string `json:"source"`
	// Columns is what was done to columns, by the policy's names.
	Columns map[string]treated `json:"columns"`
	// Codes are the texts whose places stand beside a column.
	Codes map[string][]string `json:"codes"`
	// Numbered says that people have numbers, and that there is a list of them.
	Numbered bool `json:"numbered"`
}

// form is the form of the files that are written here. Others are refused.
const form = 3

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

// treated says what was done to a column.
type treated struct {
	Type string `json:"type"`
	Step string `json:"step,omitempty"`
	Lo   *int64 `json:"lo,omitempty"`
	Hi   *int64 `json:"hi,omitempty"`
}

func treatment(c *policy.Column) treated {
	out := treated{Type: c.Type.String()}
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
func (was treated) holds(now treated) bool {
	narrower := was.Lo == nil || now.Lo != nil && *now.Lo >= *was.Lo && *now.Hi <= *was.Hi
	return was.Type == now.Type && was.Step == now.Step && narrower
}

// fingerprint names what a table is read from: the contents of its file and how it is read, or the
// database, by its contents or by what the owner's version query says.
func (s *snapshot) fingerprint(t *table) string {
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

// openPrepared attaches the prepared file of a table and looks whether it fits.
func (s *snapshot) openPrepared(ctx context.Context, t *table) (about, error) {
	path, place := t.prepared, dialect.QuoteName("prepared "+t.Name)
	again := "; run 'discreet prepare' again"
	if _, err := os.Stat(path); err != nil {
		return about{}, fmt.Errorf("table %s: there is no prepared file %s; run 'discreet prepare', or remove 'prepared' from the policy",
			t.Name, path)
	}
	_, err := s.DB.ExecContext(ctx, "ATTACH "+dialect.QuoteText(path)+" AS "+place+" (READ_ONLY)")
	var a about
	if err == nil {
		a, err = readAbout(ctx, s.DB, place)
	}
	switch {
	case ctx.Err() != nil:
		return a, ctx.Err()
	case err != nil || a.Form != form || a.Table != t.Name:
		return a, fmt.Errorf("table %s: %s is no file that this version of 'discreet prepare' wrote for it%s", t.Name, path, again)
	case a.Source != s.fingerprint(t):
		return a, fmt.Errorf("table %s: the data has changed since %s was prepared from it%s", t.Name, path, again)
	}
	if a.Unit != t.UnitColumn {
		return a, fmt.Errorf("table %s: %s was prepared when the policy said that column %s is whose a row is, and not %s%s", t.Name, path,
			a.Unit, t.UnitColumn, again)
	}
	for _, name := range t.Needed() {
		// What a path uses is stored as it is: two orders that were clamped to one would be one.
		if was, ok := a.Columns[name]; name != t.UnitColumn && (ok == t.onPath(name) || ok && !was.holds(treatment(t.Columns[name]))) {
			return a, fmt.Errorf("table %s: %s was prepared when the policy said something else about column %s%s", t.Name, path, name,
				again)
		}
	}
	return a, nil
}

// usePrepared makes a table one that is read from its prepared file.
func (s *snapshot) usePrepared(ctx context.Context, t *table, a about) error {
	t.From, t.csv, t.copied, t.byPerson = dialect.QuoteName("prepared "+t.Name)+".rows", false, false, true
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
		places := placesOf(texts)
		if c := t.Columns[name]; c != nil && c.Type == policy.Text && len(places) == len(texts) { // no text has two
			t.Codes[name], t.coded[name] = codeName(name), places
		}
	}
	t.numbered = a.Numbered
	return nil
}

func readAbout(ctx context.Context, db *sql.DB, place string) (a about, err error) {
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
	if _, err := db.ExecContext(ctx, "ATTACH "+dialect.QuoteText(path)+" AS made (READ_ONLY)"); err != nil {
		return false
	}
	a, err := readAbout(ctx, db, "made")
	return err == nil && a.Form > 0
}

// refuseOldPrepared refuses a Parquet file that 'discreet prepare' once wrote, in which numbers are
// steps.
func (t *table) refuseOldPrepared(ctx context.Context, db *sql.DB) error {
	if t.csv || t.file == "" {
		return nil
	}
	var n int
	err := db.QueryRowContext(ctx, "SELECT count(*) FROM parquet_kv_metadata("+dialect.QuoteText(t.file)+") WHERE decode(key) = "+
		"'discreet'").Scan(&n)
	if err != nil || n == 0 {
		return nil // what cannot be read is told elsewhere
	}
	return fmt.Errorf("table %s: %s was prepared by an earlier version; put its old source into the policy and run 'discreet prepare' "+
		"again", t.Name, t.where())
}
