package pgtables

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/discreet-dp/discreet/internal/source/catalogue"
	"github.com/discreet-dp/discreet/policy"
)

// Relation is a table of the database that the policy names.
type Relation struct {
	*policy.Table
	Columns []Column // those that a question can use, in the order in which they were asked for
	Rows    int64    // about how many there are, or -1

	oid    uint32
	marked bool // the database counts what is changed in it
}

// names are those of its columns, as the database spells them.
func (r *Relation) names() (out []string) {
	for _, c := range r.Columns {
		out = append(out, c.Name)
	}
	return out
}

// Marked reports whether the database counts what changes in it.
func (r *Relation) Marked() bool { return r.marked }

const findRelation = `SELECT c.oid::bigint, c.relkind::text, c.relrowsecurity, c.reltuples::bigint
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND c.relname = $2`

// What a table is made of: its partitions, and tables that inherit from it.
const findParts = `WITH RECURSIVE part AS (SELECT $1::bigint::oid AS oid UNION SELECT i.inhrelid FROM pg_inherits i JOIN part p ON i.inhparent = p.oid)
SELECT c.relkind::text FROM pg_class c JOIN part p ON p.oid = c.oid WHERE c.relkind NOT IN ('r', 'p')`

// relation finds a table of the policy with these columns.
func (d *Database) relation(ctx context.Context, tx pgx.Tx, t *policy.Table, needed []string) (*Relation, error) {
	schema, table, _ := strings.Cut(t.Relation, ".")
	var oid int64
	var kind string
	var secured bool
	r := &Relation{Table: t}
	err := tx.QueryRow(ctx, findRelation, schema, table).Scan(&oid, &kind, &secured, &r.Rows)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return nil, fmt.Errorf("table %s: there is no %s in the database; write source: SCHEMA.TABLE into the policy", t.Name, t.Relation)
	case err != nil:
		return nil, d.unread(ctx, t, err)
	}
	r.oid = uint32(oid)
	if err := d.checkKind(ctx, tx, r, kind, secured); err != nil {
		return nil, err
	}
	all, err := columns(ctx, tx, r.oid)
	if err != nil {
		return nil, d.unread(ctx, t, err)
	}
	for _, name := range needed {
		c, err := pick(all, t, name)
		if err == nil {
			err = d.checkColumn(tx, t, name, c)
		}
		if err != nil {
			return nil, err
		}
		r.Columns = append(r.Columns, c)
	}
	return r, nil
}

// total are the encodings of which every text can be read: those that need no conversion, or one
// that has no gaps.
var total = []string{"UTF8", "SQL_ASCII", "LATIN1"}

// checkColumn refuses a column of which reading it would fail over a row, or make other people of
// those who are in the database.
func (d *Database) checkColumn(tx pgx.Tx, t *policy.Table, name string, c Column) error {
	text := c.Kind == catalogue.Text || c.Kind == catalogue.Padded
	if encoding := tx.Conn().PgConn().ParameterStatus("server_encoding"); text && !t.Trusted && !slices.Contains(total, encoding) {
		return fmt.Errorf("table %s: column %s is a text in the encoding %s of the database, and a text without a counterpart in "+
			"UTF-8 would make reading fail; leave it out, or write trusted: true if you vouch that there are none", t.Name, name,
			encoding)
	}
	if !slices.Contains(d.dataset.PathColumns(t), name) {
		return nil
	}
	switch {
	case c.Kind == catalogue.Numeric:
		return fmt.Errorf("table %s: column %s identifies the person, and it is a %s of any length, in which two values can be the "+
			"same double: two people would be one; make it a bigint or a numeric(38,0), or cast it to text in a view, and write "+
			"trusted: true", t.Name,
			name, c.Type)
	case c.loose:
		return fmt.Errorf("table %s: column %s identifies the person, but its collation treats different texts as the same: one "+
			"person would be two; give it a deterministic collation, or a view in which it has one spelling, and write trusted: true",
			t.Name, name)
	}
	return nil
}

// pick finds a column by its name, or by one that differs from it in nothing but case.
func pick(all []Column, t *policy.Table, name string) (Column, error) {
	for _, same := range []func(a, b string) bool{func(a, b string) bool { return a == b }, strings.EqualFold} {
		for _, c := range all {
			if !same(c.Name, name) {
				continue
			}
			switch {
			case c.Kind == catalogue.Unreadable:
				return c, fmt.Errorf("table %s: column %s is of the type %s, which cannot be read; leave it out of the policy, or "+
					"make a view that casts it, name that as the source, and write trusted: true", t.Name, name, c.Type)
			case c.generated == "v" && !t.Trusted:
				return c, fmt.Errorf("table %s: column %s is computed when it is read, by functions that can do anything; leave it "+
					"out, or write trusted: true", t.Name, name)
			}
			return c, nil
		}
	}
	return Column{}, fmt.Errorf("table %s: there is no column %s in %s; correct the policy or the data", t.Name, name, t.Relation)
}

// checkKind refuses what is no plain table, unless the owner answers for it.
func (d *Database) checkKind(ctx context.Context, tx pgx.Tx, r *Relation, kind string, secured bool) error {
	if _, ok := otherKinds[kind]; !ok && !plainKind(kind) {
		return fmt.Errorf("table %s: %s is not a table", r.Name, r.Relation)
	}
	what, err := kindOf(ctx, tx, int64(r.oid), kind, false)
	if err != nil {
		return d.unread(ctx, r.Table, err)
	}
	r.marked = what == ""
	if secured {
		what = rowSecurity
	}
	if what == "" || r.Trusted {
		return nil
	}
	return fmt.Errorf("table %s: %s is %s: functions and servers that Discreet does not know decide what is read there. If you "+
		"vouch that reading it neither fails because of single rows nor tells anybody about them, write trusted: true", r.Name, r.Relation,
		what)
}

// otherKinds are what can be read and is no plain table.
var otherKinds = map[string]string{"v": "a view", "m": "a materialized view", "f": "a foreign table"}

const rowSecurity = "a table with row security"

func plainKind(kind string) bool { return kind == "r" || kind == "p" }

// kindOf says what a relation is where it is no plain table.
func kindOf(ctx context.Context, tx pgx.Tx, oid int64, kind string, secured bool) (string, error) {
	if secured {
		return rowSecurity, nil
	}
	if !plainKind(kind) {
		return otherKinds[kind], nil
	}
	var part string
	switch err := tx.QueryRow(ctx, findParts, oid).Scan(&part); {
	case err == nil:
		return "a table with a part that is " + otherKinds[part], nil
	case !errors.Is(err, pgx.ErrNoRows):
		return "", err
	}
	return "", nil
}

// unread is the failure to read the catalogue, whatever the database says of it.
func (d *Database) unread(ctx context.Context, t *policy.Table, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return &Unreachable{d.dataset.Name, d.String(), fmt.Errorf("table %s: %w", t.Name, err)}
}

// markPool are connections that are kept to ask before every question whether the tables have
// changed: to make one takes longer than to ask.
type markPool struct {
	patience time.Duration // of one statement
	mu       sync.Mutex
	pool     *pgxpool.Pool
	life     context.Context // of the pool
	end      context.CancelFunc
	closed   bool
}

const (
	// maxMarkConnections is how many ask at once. Others wait for them: a server takes a hundred
	// connections or so, and questions may be more.
	maxMarkConnections = 4
	// maxMarkIdle is how long a connection is kept that nobody needs. The owner can neither drop
	// nor rename a database that somebody is connected to.
	maxMarkIdle = time.Minute
)

// CurrentMark asks for the mark of tables that were read before. Without a mark of its own data is
// another whenever it is asked.
func (d *Database) CurrentMark(ctx context.Context, all []*Relation) (Mark, error) {
	pool, err := d.pool()
	if err != nil {
		return Mark{}, err
	}
	within, cancel := context.WithTimeout(ctx, d.marks.patience+5*time.Second)
	defer cancel()
	defer context.AfterFunc(d.marks.life, cancel)()
	m, again, err := d.readCurrentMark(within, pool, all)
	if again {
		// The server has restarted, or hung up on who was idle: so it may have on the others.
		pool.Reset()
		m, _, err = d.readCurrentMark(within, pool, all)
	}
	if d.marks.life.Err() != nil {
		return Mark{}, context.Canceled
	}
	if err != nil && within.Err() != nil && ctx.Err() == nil { // who asks has not stopped waiting: we have
		return Mark{}, &Unreachable{d.dataset.Name, d.String(), fmt.Errorf("it has not answered for %v", d.marks.patience)}
	}
	return m, err
}

// readCurrentMark asks over one connection. It reports whether that was one that had broken.
func (d *Database) readCurrentMark(ctx context.Context, pool *pgxpool.Pool, all []*Relation) (m Mark, broken bool, err error) {
	c, err := pool.Acquire(ctx)
	if err != nil {
		return m, false, d.roleUnread(ctx, err)
	}
	defer c.Release() // which closes one that is not as it was
	text, args := d.question(all)
	b := &pgx.Batch{} // all in one message
	b.Queue("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
	b.Queue(text, args...)
	b.Queue("ROLLBACK") // also of what an owner's query may have set
	answers := c.SendBatch(ctx, b)
	if _, err = answers.Exec(); err == nil {
		rows, failed := answers.Query()
		m, err = d.mark(ctx, rows, failed)
	} else {
		err = d.roleUnread(ctx, err)
	}
	if closed := answers.Close(); err == nil && closed != nil {
		err = d.roleUnread(ctx, closed)
	}
	return m, err != nil && c.Conn().IsClosed() && ctx.Err() == nil, err
}

// pool returns the connections, which are as all others: they read only, and see pg_catalog alone.
func (d *Database) pool() (*pgxpool.Pool, error) {
	d.marks.mu.Lock()
	defer d.marks.mu.Unlock()
	if d.marks.closed {
		return nil, context.Canceled
	}
	if d.marks.pool != nil {
		return d.marks.pool, nil
	}
	unreachable := func(err error) error { return &Unreachable{d.dataset.Name, d.String(), err} }
	config, err := pgxpool.ParseConfig(explicit(d.dataset.Source))
	if err != nil {
		return nil, unreachable(err)
	}
	config.ConnConfig = d.config.Copy()
	config.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeCacheStatement // to plan it takes twice as long as to run it
	config.ConnConfig.RuntimeParams = maps.Clone(d.config.RuntimeParams)
	config.ConnConfig.RuntimeParams["statement_timeout"] = fmt.Sprint(d.marks.patience.Milliseconds())
	config.MinConns, config.MaxConns, config.MaxConnIdleTime, config.HealthCheckPeriod = 0, maxMarkConnections, maxMarkIdle, maxMarkIdle/2
	if d.marks.pool, err = pgxpool.NewWithConfig(context.Background(), config); err != nil {
		return nil, unreachable(err)
	}
	d.marks.life, d.marks.end = context.WithCancel(context.Background())
	return d.marks.pool, nil
}

// Close hangs up, also on who is asking.
func (d *Database) Close() {
	d.marks.mu.Lock()
	defer d.marks.mu.Unlock()
	d.marks.closed = true
	if d.marks.pool != nil {
		d.marks.end()
		d.marks.pool.Close()
	}
}

// parts are tables with their partitions and those that inherit from them.
const parts = `WITH RECURSIVE part AS (SELECT unnest($1::bigint[])::oid AS oid UNION SELECT i.inhrelid FROM pg_inherits i
JOIN part p ON i.inhparent = p.oid) `

// What the database counts of changes, without reading a row: the file that a table is in, which
// is another after TRUNCATE and after it was written anew, and how many rows were inserted,
// updated and deleted. A table or a column can also take the name of another one, so it is what
// they are called, too. On a standby nothing is counted, and it is how far it has followed. Counts
// begin anew after a crash, and when somebody resets them: so it is when they began.
//
// It may be late by as long as the database takes to count, about a second. That makes nothing less
// private: what was copied is what is asked, under a name of its own contents. It is looked again
// with the next question.
const readMark = parts + `SELECT coalesce(string_agg(concat_ws(' ', c.oid, c.relnamespace, n.nspname, c.relname, c.relrowsecurity,
pg_relation_filenode(c.oid), pg_stat_get_tuples_inserted(c.oid), pg_stat_get_tuples_updated(c.oid), pg_stat_get_tuples_deleted(c.oid),
CASE WHEN c.oid = ANY ($1::bigint[]::oid[]) THEN (SELECT string_agg(concat_ws(' ', a.attnum, a.attname, a.atttypid, a.atttypmod,
a.attisdropped), ' ' ORDER BY a.attnum) FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0) END), ', ' ORDER BY c.oid), '') ||
concat_ws(' ', '', CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() END, pg_stat_get_bgwriter_stat_reset_time(),
(SELECT pg_stat_get_db_stat_reset_time(b.oid) FROM pg_database b WHERE b.datname = current_database()))
FROM pg_class c JOIN part p ON p.oid = c.oid JOIN pg_namespace n ON n.oid = c.relnamespace`

// Mark is what tells one state of the data from another, as far as it is known without reading it.
type Mark struct {
	// Name is what the owner's version query says, or empty where there is none.
	Name string
	// Text is another one where the data may have changed.
	Text string
}

// errUnmarked is told where nothing says whether data has changed.
func (d *Database) errUnmarked(r *Relation) error {
	return fmt.Errorf("table %s: the database does not count changes in %s, which is not a plain table, or track_counts is off; "+
		"write refresh: 1h in the policy, to read it again every hour, or a version query that names the state of the "+
		"data", r.Name, r.Relation)
}

// question is what asks for the mark: one statement, with one column of texts.
func (d *Database) question(all []*Relation) (string, []any) {
	if d.dataset.VersionQuery == "" {
		return readMark, []any{oidsOf(all)}
	}
	// The owner's version query runs with the rights of the role and in a transaction that changes
	// nothing. In brackets there is room for one SELECT and nothing else.
	query := strings.TrimRight(d.dataset.VersionQuery, "; \t\r\n")
	return "SELECT v::text FROM (\n" + query + "\n) AS q(v) LIMIT 2", nil
}

func (d *Database) mark(ctx context.Context, rows pgx.Rows, err error) (Mark, error) {
	var values []*string
	if err == nil {
		values, err = pgx.CollectRows(rows, pgx.RowTo[*string])
	}
	named := d.dataset.VersionQuery != ""
	var refused *pgconn.PgError
	switch {
	case ctx.Err() != nil:
		return Mark{}, ctx.Err()
	case err != nil && named && errors.As(err, &refused):
		return Mark{}, d.errVersion("cannot be run; write one SELECT of one column, such as SELECT max(loaded_at) FROM public.load_log, "+
			"with the schemas of its tables", errors.New(reason(err)))
	case err != nil:
		return Mark{}, d.roleUnread(ctx, err)
	case !named:
		return Mark{Text: *values[0]}, nil
	case len(values) != 1:
		return Mark{}, d.errVersion("does not have one row; select an aggregate such as max", nil)
	case values[0] == nil:
		return Mark{}, d.errVersion("is NULL, but must have a value; write coalesce(..., 'empty')", nil)
	}
	return Mark{Name: *values[0], Text: *values[0]}, nil
}

func (d *Database) errVersion(problem string, err error) error {
	return &policy.VersionError{Dataset: d.dataset.Name, Problem: problem, Err: err}
}

func oidsOf(all []*Relation) (oids []int64) {
	for _, r := range all {
		oids = append(oids, int64(r.oid))
	}
	return oids
}
