package pgcatalog

import (
	"context"
	"slices"
	"sync"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/internal/pgcatalog/datum"
	"github.com/discreet-dp/discreet/internal/pgcatalog/interpret"
)

// Session is what a client's session knows about itself.
type Session struct {
	User     string
	Database string // the dataset
	PID      int32
	Version  string // of discreet
	// Setting returns a setting by name, as SHOW does; Set sets one, as set_config does. They are
	// called while a query runs, and do not ask the catalogue.
	Setting func(name string) (string, bool)
	// Names are settings that PostgreSQL does not have, for its clients to complete.
	Names []string
	Set   func(name, value string, local bool) error // local to a transaction block
	// Kept are the cursors and prepared statements that the session has now; nil for none.
	Kept func() ([]Cursor, []Prepared)
}

// Catalog is one dataset as its clients see it, for one session. It is safe for concurrent use, and
// runs one query at a time.
type Catalog struct {
	mu     sync.Mutex
	db     *database
	limits interpret.Limits
}

// What a query may take. The largest thing that a known client asks takes a tenth of it.
const (
	maxSteps = 5_000_000
	maxBytes = 96 << 20
)

// Result is the answer to a query about the catalogue. Values are nil, bool, int64, float64,
// string, or a []any of these, as answers to questions have them, and fit their columns' types.
// Values of regclass and its kin, dates and timestamps, int2vector, oidvector and records are
// strings, as PostgreSQL writes them.
type Result struct {
	Columns []datum.Column
	Rows    [][]any
}

// About says whether a SELECT is for the catalogue: all relations in it are the catalogue's, or
// there are none. One that mixes them with tables of the policy is not, and neither is one about
// relations that do not exist, unless they are said to be in the catalogue's schemas. It takes the
// tree of a text that was parsed for other reasons: to parse takes longer than to look.
func (c *Catalog) About(s *pg.SelectStmt) (about bool) {
	defer func() {
		if recover() != nil {
			about = false
		}
	}()
	c.mu.Lock()
	defer c.mu.Unlock()
	about = s != nil
	interpret.VisitRelations(s, func(v *pg.RangeVar, ctes map[string]bool) {
		switch {
		case v.Schemaname == "" && ctes[v.Relname]:
		case v.Schemaname == "pg_catalog" || v.Schemaname == "information_schema":
		default:
			if r := c.db.find(v.Schemaname, v.Relname); r == nil || r.policy {
				about = false
			}
		}
	})
	return about
}

// Describe says which parameters a query has and what its result looks like, without running it.
func (c *Catalog) Describe(sql string, known []uint32) (parameters []uint32, columns []datum.Column, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	st, err := c.prepare(context.Background(), sql, known)
	if err != nil {
		return nil, nil, err
	}
	return st.Parameters, st.Columns, nil
}

// Query runs a query. known are the types that its parameters were declared with when it was
// prepared, so that its columns are those that Describe said. A parameter is a Bool, Int, Float or
// Text, or a List of Texts.
func (c *Catalog) Query(ctx context.Context, sql string, known []uint32, parameters []datum.Value) (*Result, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	st, err := c.prepare(ctx, sql, known)
	if err != nil {
		return nil, err
	}
	rows, err := st.Run(parameters)
	if err != nil {
		return nil, err
	}
	result := &Result{Columns: st.Columns, Rows: make([][]any, len(rows))}
	for i, t := range rows {
		result.Rows[i] = plain(t)
	}
	return result, nil
}

// plain are values as answers to questions have them.
func plain(values []datum.Value) []any {
	out := make([]any, len(values))
	for i, v := range values {
		switch v := v.(type) {
		case datum.Bool:
			out[i] = bool(v)
		case datum.Int:
			out[i] = int64(v)
		case datum.Float:
			out[i] = float64(v)
		case datum.Numeric:
			out[i] = v.String()
		case datum.Text:
			out[i] = string(v)
		case datum.List:
			out[i] = plain(v)
		}
	}
	return out
}

func (c *Catalog) prepare(ctx context.Context, sql string, known []uint32) (*interpret.Statement, error) {
	c.db.schema.resetRows("pg_cursors", "pg_prepared_statements")
	return c.db.prepare(ctx, sql, known, c.limits)
}

// maxTemporaryViews is how many a session has. Tools make one to learn the columns of a
// SELECT and do not always drop it, so the oldest makes room.
const maxTemporaryViews = 20

// AddView makes a temporary view: columns that the session can look at in its own catalogue, and
// nothing behind them. It takes the place of one of the same name.
func (c *Catalog) AddView(name, text string, columns []datum.Column) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(name) > 63 {
		name = datum.Truncate(name, 63)
	}
	s := c.db.schema
	if r := s.byName["public."+name]; r != nil && !r.temporary {
		return interpret.Fail("42P07", "relation %q already exists", clip(name))
	}
	s.removeTemporary(func(r *relation) bool { return r.name == name })
	if own := s.temporary(); len(own) >= maxTemporaryViews {
		s.removeTemporary(func(r *relation) bool { return r == own[0] })
	}
	r := &relation{db: c.db, oid: s.nextOID(), schema: "public", name: name, kind: "v", policy: true, temporary: true, text: text,
		comment: "a temporary view of this session; you can look at it, but not ask about it"}
	for _, col := range columns {
		r.cols = append(r.cols, attribute{name: col.Name, typ: col.OID})
	}
	s.addTemporary(r)
	return nil
}

// DropViews drops the temporary views of these names, or all where none is named. It reports
// whether there is one for each.
func (c *Catalog) DropViews(names ...string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	found := 0
	c.db.schema.removeTemporary(func(r *relation) bool {
		drop := len(names) == 0 || slices.Contains(names, r.name)
		if drop {
			found++
		}
		return drop
	})
	return found == len(names)
}

// ViewBytes is about what the temporary views take: their texts, and their columns in the tables of
// the catalogue.
func (c *Catalog) ViewBytes() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := 0
	for _, r := range c.db.schema.temporary() {
		n += len(r.text) + columnBytes*len(r.cols)
	}
	return n
}

// columnBytes is what a column takes: rows of a dozen tables are made of it.
const columnBytes = 2 << 10

// ReadsTemporary returns a temporary view that a SELECT reads, or nothing.
func (c *Catalog) ReadsTemporary(s *pg.SelectStmt) (name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.db.schema.temporary()) == 0 {
		return ""
	}
	interpret.VisitRelations(s, func(v *pg.RangeVar, ctes map[string]bool) {
		if r := c.db.find(v.Schemaname, v.Relname); r != nil && r.temporary && !(v.Schemaname == "" && ctes[v.Relname]) {
			name = v.Relname
		}
	})
	return name
}
