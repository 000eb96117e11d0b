package catalog

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/internal/grammar"
	"github.com/discreet-dp/discreet/policy"
)

// Session is what a client's session knows about itself.
type Session struct {
	User     string
	Database string // the dataset
	PID      int32
	Version  string // of discreet
	// Setting returns a setting by name, as SHOW does; Set sets one, as set_config does. They are called while a query runs, and do not ask the catalogue.
	Setting func(name string) (string, bool)
	// Names are settings that PostgreSQL does not have, for its clients to complete.
	Names []string
	Set   func(name, value string) error
}

// Catalog is one dataset as its clients see it, for one session. It is safe for concurrent use, and runs one query at a time.
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
	rowTypes    map[uint32]*typ
}

// New makes the catalogue of a dataset. Of other datasets it knows the names of those that the user may ask.
func New(p *policy.Policy, dataset string, s Session) *Catalog {
	if s.Database == "" {
		s.Database = dataset
	}
	c := &Catalog{policy: p, dataset: p.Datasets[dataset], session: s, start: time.Now().UTC().Truncate(time.Microsecond)}
	c.model()
	return c
}

// Column is a column of a result.
type Column struct {
	Name string
	OID  uint32 // its PostgreSQL type
}

// Value is a parameter, decoded: nil, int64, float64, bool, string, or a []string for arrays.
type Value = any

// Result is the answer to a query about the catalogue. Values are nil, bool, int64, float64, string, or a []any of these, and fit their columns' types.
// Values of regclass and its kin, dates and timestamps, int2vector, oidvector and records are strings, as PostgreSQL writes them.
type Result struct {
	Columns []Column
	Rows    [][]any
}

// About says whether a SELECT is for the catalogue: all relations in it are the catalogue's, or there are none. One that mixes them
// with tables of the policy is not, and neither is one about relations that do not exist, unless they are said to be in the catalogue's schemas.
// It takes the tree of a text that was parsed for other reasons: to parse takes longer than to look.
func (c *Catalog) About(s *pg.SelectStmt) (about bool) {
	defer func() {
		if recover() != nil {
			about = false
		}
	}()
	c.mu.Lock()
	defer c.mu.Unlock()
	about = s != nil
	walk(s, func(v *pg.RangeVar, ctes map[string]bool) {
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
func (c *Catalog) Describe(sql string, known []uint32) (parameters []uint32, columns []Column, err error) {
	defer rescue(&err)
	c.mu.Lock()
	defer c.mu.Unlock()
	r := &run{c: c, ctx: context.Background()}
	q, params, err := c.bind(r, sql, known)
	if err != nil {
		return nil, nil, err
	}
	return params, q.columns(), nil
}

// Query runs a query.
func (c *Catalog) Query(ctx context.Context, sql string, parameters []Value) (*Result, error) {
	return c.QueryTyped(ctx, sql, nil, parameters)
}

// QueryTyped runs a query whose parameters were declared with types when it was prepared, so that its columns are those that Describe said.
func (c *Catalog) QueryTyped(ctx context.Context, sql string, known []uint32, parameters []Value) (result *Result, err error) {
	defer rescue(&err)
	c.mu.Lock()
	defer c.mu.Unlock()
	r := &run{c: c, ctx: ctx, params: parameters}
	q, params, err := c.bind(r, sql, known)
	if err != nil {
		return nil, err
	}
	if len(params) > len(parameters) {
		return nil, fail("08P01", "the query has %d parameters, and %d were sent", len(params), len(parameters))
	}
	rows, err := q.run(&env{run: r})
	if err != nil {
		return nil, err
	}
	if len(rows) > maxRows {
		return nil, fail("54000", "the result has more than %d rows", maxRows)
	}
	result = &Result{Columns: q.columns(), Rows: make([][]any, len(rows))}
	total := 0
	for i, t := range rows {
		out := make([]any, len(result.Columns))
		for j := range out {
			if total += size(t[j]); total > maxResult {
				return nil, fail("54000", "the result is larger than %d bytes", maxResult)
			}
			if out[j], err = r.outward(t[j], result.Columns[j].OID); err != nil {
				return nil, err
			}
		}
		result.Rows[i] = out
	}
	return result, nil
}

// outward is a value as a result has it.
func (r *run) outward(v any, t uint32) (any, error) {
	switch x := v.(type) {
	case int64:
		if isReg(t) {
			return r.format(v, t)
		}
	case time.Time, *record:
		return r.format(v, t)
	case []any:
		if t == tInt2Vector || t == tOidVector {
			return r.format(v, t)
		}
		out := make([]any, len(x))
		for i := range x {
			inner := elem(t)
			if _, ok := x[i].([]any); ok {
				inner = t
			}
			o, err := r.outward(x[i], inner)
			if err != nil {
				return nil, err
			}
			out[i] = o
		}
		return out, nil
	}
	return v, nil
}

func parseSelect(sql string) (*pg.SelectStmt, error) {
	parsed, err := grammar.Parse(sql, textLimits)
	if err != nil {
		return nil, unreadable(sql, err)
	}
	if n := len(parsed.Statements); n != 1 {
		return nil, fail("42601", "one statement is expected, and there are %d", n)
	}
	s := parsed.Statements[0].Stmt.GetSelectStmt()
	if s == nil {
		return nil, fail("0A000", "only SELECT is answered here")
	}
	return s, nil
}

func (c *Catalog) bind(r *run, sql string, known []uint32) (*query, []uint32, error) {
	s, err := parseSelect(sql)
	if err != nil {
		return nil, nil, err
	}
	b := &binder{c: c, r: r, params: append([]uint32(nil), known...)}
	q, err := b.selectStmt(s, nil)
	if err != nil {
		var e *Error
		if !errors.As(err, &e) {
			err = fail("XX000", "internal error in the catalogue")
		}
		return nil, nil, err
	}
	q.settle()
	for i, t := range b.params {
		if t == 0 || t == tUnknown {
			b.params[i] = tText
		}
	}
	return q, b.params, nil
}

// viewColumns are the columns of a view, as far as its text tells.
func (c *Catalog) viewColumns(text string) []attribute {
	q, _, err := c.bind(&run{c: c, ctx: context.Background()}, strings.TrimRight(strings.TrimSpace(text), ";"), nil)
	if err != nil {
		return nil
	}
	var out []attribute
	for _, col := range q.columns() {
		out = append(out, attribute{name: col.Name, typ: col.OID, comment: "noisy; private"})
	}
	return out
}
