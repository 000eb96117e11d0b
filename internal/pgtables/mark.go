package pgtables

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
)

// parts are tables with their partitions and those that inherit from them.
const parts = `WITH RECURSIVE part AS (SELECT unnest($1::bigint[])::oid AS oid UNION SELECT i.inhrelid FROM pg_inherits i
JOIN part p ON i.inhparent = p.oid) `

// What the database counts of changes, without reading a row: the file that a table is in, which
// is another after TRUNCATE and after it was written anew, and how many rows were inserted,
// updated and deleted. A table or a column can also take the name of another one, so it is what
// they are called, too. On a standby nothing is counted, and it is how far it has followed.
//
// It may be late by as long as the database takes to count, about a second. That makes nothing less
// private: what was copied is what is asked, under a name of its own contents. It is looked again
// with the next question.
const readMark = parts + `SELECT coalesce(string_agg(concat_ws(' ', c.oid, c.relnamespace, n.nspname, c.relname, c.relrowsecurity,
pg_relation_filenode(c.oid), pg_stat_get_tuples_inserted(c.oid), pg_stat_get_tuples_updated(c.oid), pg_stat_get_tuples_deleted(c.oid),
CASE WHEN c.oid = ANY ($1::bigint[]::oid[]) THEN (SELECT string_agg(concat_ws(' ', a.attnum, a.attname, a.atttypid, a.atttypmod,
a.attisdropped), ' ' ORDER BY a.attnum) FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0) END), ', ' ORDER BY c.oid), '') ||
CASE WHEN pg_is_in_recovery() THEN ' ' || pg_last_wal_replay_lsn()::text ELSE '' END
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

// Look asks for the mark of tables that were read before. Without a mark of its own data is another
// whenever it is asked.
func (d *Database) Look(ctx context.Context, all []*Relation) (Mark, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	c, tx, err := d.begin(ctx)
	if err != nil {
		return Mark{}, err
	}
	defer hangUp(c)
	return d.mark(ctx, tx, all)
}

func (d *Database) mark(ctx context.Context, tx pgx.Tx, all []*Relation) (m Mark, err error) {
	if d.dataset.VersionQuery != "" {
		m.Name, err = d.askVersion(ctx, tx)
		m.Text = m.Name
		return m, err
	}
	oids := oidsOf(all)
	if err := tx.QueryRow(ctx, readMark, oids).Scan(&m.Text); err != nil {
		return m, d.roleUnread(ctx, err)
	}
	return m, nil
}

func oidsOf(all []*Relation) (oids []int64) {
	for _, r := range all {
		oids = append(oids, int64(r.oid))
	}
	return oids
}

// VersionError says that the owner's version query gives no version. Its text is the same whatever
// the data is; Problem is for the owner's eyes.
type VersionError struct {
	Dataset, Problem string
}

func (e *VersionError) Error() string {
	return "the version query of the dataset " + e.Dataset + " does not name the data; ask the owner to run 'discreet check', which says " +
		"why"
}

// Explain says what is wrong, to the owner.
func (e *VersionError) Explain() string {
	return "the version query of the dataset " + e.Dataset + " " + e.Problem
}

// askVersion runs the owner's version query, with the rights of the role and in a transaction that
// changes nothing. In brackets there is room for one SELECT and nothing else.
func (d *Database) askVersion(ctx context.Context, tx pgx.Tx) (string, error) {
	query := strings.TrimRight(d.dataset.VersionQuery, "; \t\r\n")
	rows, err := tx.Query(ctx, "SELECT v::text FROM (\n"+query+"\n) AS q(v) LIMIT 2")
	var values []*string
	if err == nil {
		values, err = pgx.CollectRows(rows, pgx.RowTo[*string])
	}
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case err != nil:
		return "", &VersionError{d.dataset.Name, "cannot be run; write one SELECT of one column, such as SELECT max(loaded_at) FROM " +
			"public.load_log, with the schemas of its tables: " + reason(err)}
	case len(values) != 1:
		return "", &VersionError{d.dataset.Name, "does not have one row; take an aggregate such as max"}
	case values[0] == nil:
		return "", &VersionError{d.dataset.Name, "is NULL; it has to have a value, so write coalesce(..., 'empty')"}
	}
	return *values[0], nil
}
