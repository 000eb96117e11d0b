package pgtables

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/discreet-dp/discreet/policy"
)

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
	return fmt.Errorf("table %s: the database does not count what changes in %s, which is no plain table, or track_counts is off; write "+
		"refresh: 1h into the policy, to read it anew every hour, or a version query that names the state of the data", r.Name, r.Relation)
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

// mark reads what came of the question.
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
		return Mark{}, d.errVersion("does not have one row; take an aggregate such as max", nil)
	case values[0] == nil:
		return Mark{}, d.errVersion("is NULL; it has to have a value, so write coalesce(..., 'empty')", nil)
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
