package duckdb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/discreet-dp/discreet/internal/engine"
	"github.com/discreet-dp/discreet/internal/engine/duckdb/chunks"
	"github.com/discreet-dp/discreet/internal/engine/publictime"
	"github.com/discreet-dp/discreet/internal/engine/sqlengine"
	"github.com/discreet-dp/discreet/internal/source/catalogue"
	"github.com/discreet-dp/discreet/internal/source/pgtables"
	"github.com/discreet-dp/discreet/internal/sqlgen"
	"github.com/discreet-dp/discreet/policy"
	"github.com/discreet-dp/discreet/store"
)

// Tables of a PostgreSQL database are copied, all of them in one state, with the columns of the
// policy and their own types. Questions are about the copy: what they compute, what they keep of a
// person and how they fail is what it is for every other source, and PostgreSQL hears of none. It
// has no way to make an expression that cannot fail, and what it would choose among somebody's rows
// would be others.
//
// Before a question it is looked whether the database has changed (pgtables.Mark), and then all of
// it is copied again.

type origin struct {
	database  *pgtables.Database
	relations []*pgtables.Relation
	mark      pgtables.Mark
	refresh   time.Duration
	looked    atomic.Int64 // when it was last found to be the same, in nanoseconds of the clock
	passed    bool         // the database is that of a later copy, too
	// Of tables of which not everything is read: about how many rows and private keys there are,
	// and of which there are many.
	estimated map[string]publictime.Table
	many      []engine.Finding
}

// follow takes over the connections of the copy before, over which others may be looking just now.
func (o *origin) follow(before *origin) {
	if o == nil || before == nil {
		return
	}
	o.database, before.passed = before.database, true
}

func (o *origin) close() {
	if o != nil && !o.passed {
		o.database.Close()
	}
}

// fresh reports whether it need not be looked yet.
func (o *origin) fresh() bool {
	return o.refresh > 0 && time.Now().UnixNano()-o.looked.Load() < int64(o.refresh)
}

// moved looks whether the database has changed.
func (o *origin) moved(ctx context.Context) (bool, error) {
	if o.fresh() {
		return false, nil
	}
	now, err := o.database.CurrentMark(ctx, o.relations)
	if err != nil {
		return false, err
	}
	for _, r := range o.relations {
		if !r.Marked() && now.Name == "" {
			return true, nil
		}
	}
	if now != o.mark {
		return true, nil
	}
	o.looked.Store(time.Now().UnixNano())
	return false, nil
}

// beginCopy looks at the tables of a PostgreSQL database, in the transaction in which they are
// copied. It has to be closed.
func (s *dataState) beginCopy(ctx context.Context, ds *policy.Dataset) (*pgtables.Snapshot, error) {
	database, err := pgtables.Of(ds)
	if err != nil {
		return nil, err
	}
	from, err := database.Begin(ctx)
	if err != nil {
		return nil, err
	}
	if err := checkNamed(ds, from); err != nil {
		from.Close()
		return nil, err
	}
	s.origin = &origin{database: database, relations: from.Relations, mark: from.Mark, refresh: ds.Refresh,
		estimated: map[string]publictime.Table{}}
	s.origin.looked.Store(time.Now().UnixNano())
	s.version = store.Version{Name: from.Mark.Name}
	return from, nil
}

// copier copies tables of one state of a PostgreSQL database.
type copier struct {
	db     *sql.DB
	rows   chunks.Database // the same database
	limits Limits
	typed  bool // for questions, and not to see what does not fit the policy
	from   *pgtables.Snapshot
	origin *origin
}

// copyTables copies the tables, but for those that are prepared.
func (c *copier) copyTables(ctx context.Context, ds *policy.Dataset, tables map[string]*table) error {
	needed := c.limits.doubts.Read(ds)
	for _, r := range c.from.Relations {
		t := tables[r.Name]
		if t.prepared != "" && ds.VersionQuery == "" {
			return fmt.Errorf("table %s: data prepared from a PostgreSQL database needs a version query, and the policy has none; "+
				"add version: SELECT ... to the policy, or remove 'prepared'", r.Name)
		}
		if t.prepared != "" && c.typed {
			continue
		}
		read := r
		if c.limits.doubts != nil {
			read = r.Only(needed[r.Name])
			if err := c.estimate(ctx, t, r); err != nil {
				return err
			}
		}
		if err := c.copyTable(ctx, t, r, read); err != nil {
			return err
		}
	}
	return c.from.Whole(ctx)
}

// checkNamed refuses what a version query says that cannot be shown and recorded.
func checkNamed(ds *policy.Dataset, from *pgtables.Snapshot) error {
	if ds.VersionQuery == "" {
		return nil
	}
	if problem := policy.CheckVersionName(from.Mark.Name); problem != "" {
		return &policy.VersionError{Dataset: ds.Name, Problem: problem}
	}
	return nil
}

// estimate asks how large a table is of which not everything is read.
func (c *copier) estimate(ctx context.Context, t *table, r *pgtables.Relation) error {
	n, err := c.from.Rows(ctx, r)
	if err != nil {
		return err
	}
	size := publictime.Table{Rows: n, Values: map[string]int64{}}
	c.origin.estimated[t.Name] = size
	for _, name := range t.ColumnNames() {
		if t.Columns[name].Keys != policy.PrivateKeys {
			continue
		}
		n, err := c.from.Different(ctx, r, r.Only([]string{name}).Columns[0].Name)
		if err != nil {
			return err
		}
		if size.Values[name] = n; n > sqlengine.MinManyKeys {
			c.origin.many = append(c.origin.many, sqlengine.ManyKeysFinding(t.Name, name))
		}
	}
	return nil
}

func absentValues() chunks.Values {
	return chunks.Values{Valid: make([]uint64, pgtables.BatchRows/64), Ints: make([]int64, pgtables.BatchRows),
		Reals: make([]float64, pgtables.BatchRows), Wides: make([][2]uint64, pgtables.BatchRows),
		Texts: make([][]byte, pgtables.BatchRows)}
}

// copyTable copies a table, of which only some columns may be read: the others are NULL, and
// without one there is no row.
func (c *copier) copyTable(ctx context.Context, t *table, r, read *pgtables.Relation) error {
	columns := make([]string, len(r.Columns))
	for i, col := range r.Columns {
		columns[i] = sqlgen.QuoteName(col.Name) + " " + col.DuckDB()
	}
	if len(columns) == 0 { // a policy may list no column: then rows can be counted
		columns = []string{"c INTEGER"}
	}
	failed := fmt.Errorf("table %s: its rows do not fit into memory and the folder for temporary files", t.Name)
	if _, err := c.db.ExecContext(ctx, "CREATE TABLE "+t.From+" ("+strings.Join(columns, ", ")+")"); err != nil {
		return failed
	}
	if c.limits.doubts != nil && len(read.Columns) == 0 {
		return nil
	}
	into, err := c.rows.Append(t.copy())
	if err != nil {
		return failed
	}
	tell, done := c.limits.telling(r.Relation), int64(0)
	var place []int // of each column that is read
	for i, col := range r.Columns {
		if slices.ContainsFunc(read.Columns, func(o pgtables.Column) bool { return o.Name == col.Name }) {
			place = append(place, i)
		}
	}
	absent := absentValues()
	err = c.from.Copy(ctx, read, func(b *pgtables.Batch) error {
		values := slices.Repeat([]chunks.Values{absent}, len(columns))
		for i := range b.Columns {
			v := &b.Columns[i]
			values[place[i]] = chunks.Values{Valid: v.Valid[:], Ints: v.Ints[:], Reals: v.Reals[:], Wides: v.Wides[:], Texts: v.Texts[:]}
		}
		if done += int64(b.N); tell != nil {
			tell(done, max(done+1, r.Rows))
		}
		return into.Add(b.N, values)
	})
	if tell != nil {
		tell(max(done, 1), max(done, 1))
	}
	if closed := into.Close(); err == nil {
		err = closed
	}
	if errors.Is(err, chunks.ErrAppend) {
		return failed
	}
	return err
}

// copy names the table that rows are copied into.
func (t *table) copy() string { return "copied " + t.Name }

// describeOrigin says, for the owner, what names the state of a PostgreSQL database. It reads no
// row.
func describeOrigin(ctx context.Context, ds *policy.Dataset) (string, error) {
	database, err := pgtables.Of(ds)
	if err != nil {
		return "", err
	}
	from, err := database.Begin(ctx)
	if err != nil {
		return "", catalogue.ForOwner(err)
	}
	defer from.Close()
	if err := checkNamed(ds, from); err != nil {
		return "", catalogue.ForOwner(err)
	}
	text := "the contents of a copy of " + database.String()
	if ds.VersionQuery != "" {
		text = fmt.Sprintf("%q, by the version query; analysts see it", from.Mark.Name)
	}
	if ds.Refresh > 0 {
		return fmt.Sprintf("%s; changes are looked for every %v", text, ds.Refresh), nil
	}
	return text + "; changes are looked for before every question", nil
}
