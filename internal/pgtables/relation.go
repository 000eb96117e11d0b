package pgtables

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

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
	text := c.Kind == Text || c.Kind == Padded
	if encoding := tx.Conn().PgConn().ParameterStatus("server_encoding"); text && !t.Trusted && !slices.Contains(total, encoding) {
		return fmt.Errorf("table %s: column %s is a text in the encoding %s of the database, and one that has no counterpart in UTF-8 "+
			"would make reading fail; leave it out, or say trusted: true where you answer for it that there are none", t.Name, name,
			encoding)
	}
	if !slices.Contains(d.dataset.PathColumns(t), name) {
		return nil
	}
	switch {
	case c.Kind == Numeric:
		return fmt.Errorf("table %s: column %s says whose a row is, and it is a %s of any length, of which two may be the same double: "+
			"two people would be one; make it a bigint or a numeric(38,0), or cast it to text in a view, and say trusted: true", t.Name,
			name, c.Type)
	case c.loose:
		return fmt.Errorf("table %s: column %s says whose a row is, and by its collation texts that differ are the same: one person "+
			"would be two; give it a collation that is deterministic, or a view in which it has one spelling, and say trusted: true",
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
			case c.Kind == Unreadable:
				return c, fmt.Errorf("table %s: column %s is of the type %s, which cannot be read; leave it out of the policy, or make "+
					"a view in which it is cast, name that as the source, and say trusted: true", t.Name, name, c.Type)
			case c.generated == "v" && !t.Trusted:
				return c, fmt.Errorf("table %s: column %s is computed when it is read, by functions that may do anything; leave it out, "+
					"or say trusted: true", t.Name, name)
			}
			return c, nil
		}
	}
	return Column{}, fmt.Errorf("table %s: there is no column %s in %s; correct the policy or the data", t.Name, name, t.Relation)
}

// checkKind refuses what is no plain table, unless the owner answers for it.
func (d *Database) checkKind(ctx context.Context, tx pgx.Tx, r *Relation, kind string, secured bool) error {
	if _, ok := otherKinds[kind]; !ok && !plainKind(kind) {
		return fmt.Errorf("table %s: %s is no table", r.Name, r.Relation)
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
	return fmt.Errorf("table %s: %s is %s: what is read there is decided by functions and servers that Discreet does not know. Where you "+
		"answer for it, that reading it neither fails over single rows nor tells anybody of them, write trusted: true", r.Name, r.Relation,
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
