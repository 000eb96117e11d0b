package duckdb

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/internal/dialect"
	"github.com/discreet-dp/discreet/policy"
)

// Stored is a table that was stored by person.
type Stored struct {
	Table string `json:"table"`
	File  string `json:"file"`
}

// Store writes each table whose people may have many rows into a Parquet file of its own in a
// folder: sorted by person, with numbers cast, on their lattice and clamped, and without the rows
// about nobody. Questions about such a file have the same exact results, and are faster: see
// package bound. Tell is called now and then with what is done of a table, between 0 and 1.
//
// Nothing rests on the order: it is checked while a question runs.
func Store(ctx context.Context, ds *policy.Dataset, folder string, tell func(table string, done float64)) (_ []Stored, err error) {
	var out []Stored
	defer func() {
		if err != nil {
			for _, s := range out {
				os.Remove(s.File)
			}
		}
	}()
	s, err := openUnlocked(ctx, ds, asDeclared, Limits{})
	if err != nil {
		return nil, err
	}
	defer s.close()
	for _, name := range ds.TableNames() {
		t := s.tables[name]
		if t.UnitKind != policy.Many || t.UnitColumn == "" {
			continue // who a row is about is in another table, so there is nothing to sort by
		}
		path := filepath.Join(folder, name+".parquet")
		if err := s.store(ctx, t, path, func(done float64) { tell(name, done) }); err != nil {
			return out, err
		}
		out = append(out, Stored{name, path})
	}
	return out, nil
}

// store writes a table under another name first, so that a file with its own name is whole.
func (s *snapshot) store(ctx context.Context, t *table, path string, tell func(float64)) error {
	// Private rows: for this user alone.
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	if _, err := os.Lstat(path); err == nil {
		return fmt.Errorf("%s exists already; remove it first, or choose another folder with --out", path)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	part := path + ".part"
	f, err := os.OpenFile(part, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	f.Close()
	defer os.Remove(part)
	list, about := t.storedList()
	text := fmt.Sprintf("COPY (SELECT %s FROM %s WHERE %s IS NOT NULL ORDER BY %s) TO %s (FORMAT parquet, OVERWRITE true, KV_METADATA "+
		"{%s: %s})",
		strings.Join(list, ", "), t.From, t.Raw(t.UnitColumn), t.Raw(t.UnitColumn), dialect.QuoteText(part), preparedKey,
		dialect.QuoteText(about))
	if err := s.source.Exec(ctx, text, tell); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return fmt.Errorf("table %s: %s could not be written; is there room on the disk, and in the folder for temporary files?",
			t.Name, path)
	}
	if err := os.Chmod(part, 0o600); err != nil {
		return err
	}
	return os.Rename(part, path)
}

// storedList prints the columns as they are stored by person, and what is to be known about them.
func (t *table) storedList() (list []string, about string) {
	columns := map[string]prepared{}
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
			if note, ok := treatment(c); ok {
				columns[name] = note
			}
		}
		list = append(list, text+" AS "+dialect.QuoteName(t.Stored[name].Name))
	}
	b, _ := json.Marshal(columns) // texts and integers
	return list, string(b)
}

// prepared says what was done to a column.
type prepared struct {
	Step string `json:"step,omitempty"`
	Lo   *int64 `json:"lo,omitempty"`
	Hi   *int64 `json:"hi,omitempty"`
}

// preparedKey is where a Parquet file says it.
const preparedKey = "discreet"

// treatment says what is done to a column, where something is.
func treatment(c *policy.Column) (prepared, bool) {
	var p prepared
	if c.Granularity != nil {
		p.Step = c.Granularity.RatString()
	}
	if c.Bounds != nil {
		p.Lo, p.Hi = &c.Bounds.LoSteps, &c.Bounds.HiSteps
	}
	return p, c.Granularity != nil || c.Bounds != nil
}

// readPrepared reads what was done to the columns of a Parquet file. Where the policy has changed
// since, in a way that needs what was lost, the file has to be made again.
func (t *table) readPrepared(ctx context.Context, db *sql.DB) error {
	if t.csv || t.file == "" {
		return nil
	}
	var text string
	err := db.QueryRowContext(ctx, "SELECT decode(value) FROM parquet_kv_metadata("+dialect.QuoteText(t.file)+") WHERE decode(key) "+
		"= "+dialect.QuoteText(preparedKey)).Scan(&text)
	if err != nil {
		return nil // the file is not one of ours
	}
	var columns map[string]prepared
	if json.Unmarshal([]byte(text), &columns) != nil {
		return nil
	}
	t.Prepared = map[string]bool{}
	for name, was := range columns {
		c := t.Columns[name]
		if c == nil {
			continue
		}
		now, _ := treatment(c)
		narrower := was.Lo == nil || now.Lo != nil && *now.Lo >= *was.Lo && *now.Hi <= *was.Hi
		if was.Step != now.Step || !narrower {
			return fmt.Errorf("table %s: %s was prepared when the policy said something else about column %s; put its old source into "+
				"the policy and run 'discreet prepare' again",
				t.Name, t.where(), name)
		}
		t.Prepared[name] = c.Granularity != nil
	}
	return nil
}
