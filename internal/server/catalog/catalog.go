package catalog

import (
	"context"
	"sync"
	"time"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/internal/server/catalog/datum"
	"github.com/discreet-dp/discreet/internal/server/catalog/interpret"
	"github.com/discreet-dp/discreet/internal/server/catalog/oid"
	"github.com/discreet-dp/discreet/policy"
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
	Set   func(name, value string) error
	// Kept are the cursors and prepared statements that the session has now; nil for none.
	Kept func() ([]Cursor, []Prepared)
}

// Catalog is one dataset as its clients see it, for one session. It is safe for concurrent use, and
// runs one query at a time.
type Catalog struct {
	mu      sync.Mutex
	policy  *policy.Policy
	dataset *policy.Dataset
	session Session
	start   time.Time
	owner   string // the role that the tables belong to

	relations   []*relation // all, in order
	user        []*relation // those of the policy
	listed      []*relation // those that rows are made for: the policy's, or all others for what sessions share
	byName      map[string]*relation
	byOID       map[uint32]*relation
	constraints []*constraint
	rowTypes    oid.Types
	limits      interpret.Limits
}

// What a query may take. The largest thing that a known client asks takes a tenth of it.
const (
	maxSteps = 5_000_000
	maxBytes = 96 << 20
)

// New makes the catalogue of a dataset. Of other datasets it knows the names of those that the user
// may ask.
func New(p *policy.Policy, dataset string, s Session) *Catalog {
	if s.Database == "" {
		s.Database = dataset
	}
	c := &Catalog{policy: p, dataset: p.Datasets[dataset], session: s, start: time.Now().UTC().Truncate(time.Microsecond),
		limits: interpret.Limits{Steps: maxSteps, Bytes: maxBytes}}
	c.model()
	return c
}

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
			if r := c.find(v.Schemaname, v.Relname); r == nil || r.policy {
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
		case datum.Text:
			out[i] = string(v)
		case datum.List:
			out[i] = plain(v)
		}
	}
	return out
}

func (c *Catalog) prepare(ctx context.Context, sql string, known []uint32) (*interpret.Statement, error) {
	tree, err := interpret.Parse(sql)
	if err != nil {
		return nil, err
	}
	c.forget("pg_cursors", "pg_prepared_statements")
	return library.Prepare(ctx, c, tree, known, c.limits)
}

// Name is the dataset's.
func (c *Catalog) Name() string { return c.session.Database }

// Types are those of the rows of the policy's tables.
func (c *Catalog) Types() oid.Types { return c.rowTypes }

// Relation finds a relation by its name.
func (c *Catalog) Relation(schema, name string) interpret.Relation {
	if r := c.find(schema, name); r != nil {
		return r
	}
	return nil
}
