package pgtables

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/discreet-dp/discreet/internal/pgplace"
	"github.com/discreet-dp/discreet/policy"
)

// Catalogue is what a database says about its tables. No row is read for it.
type Catalogue struct {
	// Role is as whom it was read, and Superuser whether that role may do everything.
	Role      string
	Superuser bool
	// Unread says that the role may read none of the tables yet. They are listed all the same: what
	// tables there are everybody sees who may connect.
	Unread bool
	Tables []*Listed
}

// Listed is a table of the catalogue.
type Listed struct {
	Schema, Name, Comment string
	// Kind says what it is where it is no plain table, such as "a view": then the owner has to
	// answer for it.
	Kind string
	// Columns are those that the role may read; all, where it may read nothing yet.
	Columns []ListedColumn
	// Hidden are the columns that the role may not read.
	Hidden []string
	// Unique are the columns, or lists of columns, that no two rows have in common, the primary key
	// first.
	Unique [][]string
	// References are the foreign keys.
	References []Reference
	// Checks are the conditions that every row fulfils, as SQL.
	Checks []string
	// Inherited says that other tables inherit from it, which is not to be divided: what is said of
	// it need not be so of their rows.
	Inherited bool

	oid int64
}

// ListedColumn is a column of the catalogue.
type ListedColumn struct {
	Column
	Comment string
	// Labels are those of an enumeration.
	Labels []string
	// Checks are the conditions of the column's domain, as SQL about VALUE.
	Checks []string
	// Computed says that it is computed when it is read.
	Computed bool
}

// Reference is a foreign key: these columns are those of a row of another table.
type Reference struct {
	Columns       []string
	Schema, Table string
	Far           []string
	// Valid says that it holds for all rows, and not only for those that were added since.
	Valid bool
}

// Relation is the schema and the name, as a policy spells it.
func (l *Listed) Relation() string { return l.Schema + "." + l.Name }

// Column finds a column.
func (l *Listed) Column(name string) (ListedColumn, bool) {
	i := slices.IndexFunc(l.Columns, func(c ListedColumn) bool { return c.Name == name })
	if i < 0 {
		return ListedColumn{}, false
	}
	return l.Columns[i], true
}

// Tables that are a part of another one are in that.
const listTables = `SELECT c.oid::bigint, n.nspname::text, c.relname::text, coalesce(obj_description(c.oid, 'pg_class'), ''), c.relkind::text,
c.relrowsecurity, c.relkind = 'r' AND EXISTS (SELECT 1 FROM pg_inherits i WHERE i.inhparent = c.oid), has_schema_privilege(n.oid, 'USAGE') AND has_any_column_privilege(c.oid, 'SELECT') ` + others + `
AND c.relkind IN ('r', 'p', 'v', 'm', 'f') AND c.relpersistence <> 't' AND NOT EXISTS (SELECT 1 FROM pg_inherits i WHERE i.inhrelid = c.oid)
AND (cardinality($1::text[]) = 0 OR n.nspname = ANY ($1::text[])) ORDER BY n.nspname, c.relname`

// List reads the catalogue of a database: the tables of these schemas, or of all, that the role may
// read.
func List(ctx context.Context, address string, schemas []string) (*Catalogue, error) {
	d, err := Of(&policy.Dataset{Name: "to be drafted", Source: address})
	if err != nil {
		return nil, err
	}
	conn, tx, err := d.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer pgplace.HangUp(conn)
	out := &Catalogue{}
	if err := out.read(ctx, d, tx, schemas); err != nil {
		return nil, d.roleUnread(ctx, err)
	}
	return out, nil
}

func (c *Catalogue) read(ctx context.Context, d *Database, tx pgx.Tx, schemas []string) error {
	find := "SELECT r.rolname::text, r.rolsuper FROM pg_roles r WHERE r.rolname = current_user"
	if err := tx.QueryRow(ctx, find).Scan(&c.Role, &c.Superuser); err != nil {
		return err
	}
	if schemas == nil {
		schemas = []string{}
	}
	rows, err := tx.Query(ctx, listTables, schemas)
	if err != nil {
		return err
	}
	type row struct {
		Listed
		kind         string
		secured, may bool
	}
	all, err := pgx.CollectRows(rows, func(from pgx.CollectableRow) (r row, err error) {
		err = from.Scan(&r.oid, &r.Schema, &r.Name, &r.Comment, &r.kind, &r.secured, &r.Inherited, &r.may)
		return r, err
	})
	if err != nil {
		return err
	}
	c.Unread = !slices.ContainsFunc(all, func(r row) bool { return r.may })
	for i := range all {
		r := &all[i]
		if !r.may && !c.Unread {
			continue
		}
		if r.Kind, err = kindOf(ctx, tx, r.oid, r.kind, r.secured); err != nil {
			return err
		}
		if err := r.fill(ctx, tx, c.Unread); err != nil {
			return err
		}
		c.Tables = append(c.Tables, &r.Listed)
	}
	return nil
}

// fill reads what the catalogue says about a table.
func (l *Listed) fill(ctx context.Context, tx pgx.Tx, all bool) error {
	found, err := columns(ctx, tx, uint32(l.oid))
	if err != nil {
		return err
	}
	facts, err := l.facts(ctx, tx)
	if err != nil {
		return err
	}
	for _, c := range found {
		f := facts[c.Name]
		if !f.may && !all {
			l.Hidden = append(l.Hidden, c.Name)
			continue
		}
		f.Column, f.Computed = c, c.generated == "v"
		l.Columns = append(l.Columns, f.ListedColumn)
	}
	if l.Unique, err = unique(ctx, tx, l.oid); err != nil {
		return err
	}
	if l.References, err = references(ctx, tx, l.oid); err != nil {
		return err
	}
	l.Checks, err = texts(ctx, tx, `SELECT pg_get_expr(k.conbin, k.conrelid) FROM pg_constraint k
WHERE k.conrelid = $1::bigint::oid AND k.contype = 'c' AND k.convalidated AND NOT k.connoinherit ORDER BY k.conname`, l.oid)
	return err
}

// A type may be a domain of a domain, and so on: its labels are those of the last, and it has the
// conditions of all.
const domains = `WITH RECURSIVE d AS (SELECT a.atttypid AS oid
UNION SELECT t.typbasetype FROM pg_type t JOIN d ON d.oid = t.oid WHERE t.typtype = 'd') `

const listFacts = `SELECT a.attname::text, has_column_privilege(a.attrelid, a.attnum, 'SELECT'), coalesce(col_description(a.attrelid, a.attnum), ''),
CASE WHEN y.typtype IN ('d', 'e') THEN ARRAY(` + domains + `SELECT e.enumlabel::text FROM pg_enum e JOIN d ON d.oid = e.enumtypid
ORDER BY e.enumsortorder) ELSE '{}' END,
CASE WHEN y.typtype = 'd' THEN ARRAY(` + domains + `SELECT pg_get_expr(k.conbin, 0) FROM pg_constraint k JOIN d ON d.oid = k.contypid
WHERE k.contype = 'c' AND k.convalidated ORDER BY k.conname) ELSE '{}' END
FROM pg_attribute a JOIN pg_type y ON y.oid = a.atttypid WHERE a.attrelid = $1::bigint::oid AND a.attnum > 0 AND NOT a.attisdropped`

// fact is what the catalogue says about a column, and whether the role may read it.
type fact struct {
	ListedColumn
	may bool
}

func (l *Listed) facts(ctx context.Context, tx pgx.Tx) (map[string]fact, error) {
	rows, err := tx.Query(ctx, listFacts, l.oid)
	if err != nil {
		return nil, err
	}
	all, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (f fact, err error) {
		err = row.Scan(&f.Name, &f.may, &f.Comment, &f.Labels, &f.Checks)
		return f, err
	})
	out := map[string]fact{}
	for _, f := range all {
		out[f.Name] = f
	}
	return out, err
}

// Where other tables inherit from one, what is unique in it is not in all of them together; nor is
// it in a partitioned table before all of its parts have the index.
const listUnique = `SELECT (SELECT array_agg(a.attname::text ORDER BY p.i) FROM unnest(k.conkey) WITH ORDINALITY AS p (n, i)
JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = p.n)
FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid JOIN pg_index x ON x.indexrelid = k.conindid AND x.indisvalid
WHERE k.conrelid = $1::bigint::oid AND k.contype IN ('p', 'u') AND (c.relkind = 'p' OR NOT EXISTS (SELECT 1 FROM pg_inherits i WHERE i.inhparent = c.oid)) ORDER BY k.contype, k.conname`

func unique(ctx context.Context, tx pgx.Tx, table int64) ([][]string, error) {
	rows, err := tx.Query(ctx, listUnique, table)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[[]string])
}

const listReferences = `SELECT n.nspname::text, f.relname::text,
(SELECT array_agg(a.attname::text ORDER BY p.i) FROM unnest(k.conkey) WITH ORDINALITY AS p (n, i)
JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = p.n),
(SELECT array_agg(a.attname::text ORDER BY p.i) FROM unnest(k.confkey) WITH ORDINALITY AS p (n, i)
JOIN pg_attribute a ON a.attrelid = k.confrelid AND a.attnum = p.n), k.convalidated
FROM pg_constraint k JOIN pg_class f ON f.oid = k.confrelid JOIN pg_namespace n ON n.oid = f.relnamespace
WHERE k.conrelid = $1::bigint::oid AND k.contype = 'f' AND k.conparentid = 0 ORDER BY k.conkey, k.conname`

func references(ctx context.Context, tx pgx.Tx, table int64) ([]Reference, error) {
	rows, err := tx.Query(ctx, listReferences, table)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (r Reference, err error) {
		err = row.Scan(&r.Schema, &r.Table, &r.Columns, &r.Far, &r.Valid)
		return r, err
	})
}

// Extremes reads the smallest and the largest value of columns off the data, as texts: numbers,
// dates and times that are finite. Where there is none, both are empty.
func Extremes(ctx context.Context, address string, l *Listed, columns []ListedColumn) ([][2]string, error) {
	d, err := Of(&policy.Dataset{Name: "to be drafted", Source: address})
	if err != nil {
		return nil, err
	}
	conn, tx, err := d.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer pgplace.HangUp(conn)
	var out [][2]string
	for _, c := range columns {
		column := pgx.Identifier{c.Name}.Sanitize()
		finite := column + "::text NOT IN ('NaN', 'Infinity', '-Infinity')"
		switch c.Kind {
		case Timestamp, TimestampTZ:
			column = "(" + column + ")::timestamp"
			fallthrough
		case Date:
			finite = "isfinite(" + column + ")"
		}
		var ends [2]string
		query := fmt.Sprintf("SELECT coalesce(min(%[1]s)::text, ''), coalesce(max(%[1]s)::text, '') FROM %[2]s WHERE %[3]s", column,
			pgx.Identifier{l.Schema, l.Name}.Sanitize(), finite)
		if err := tx.QueryRow(ctx, query).Scan(&ends[0], &ends[1]); err != nil {
			return nil, d.roleUnread(ctx, fmt.Errorf("table %s: %w", strings.ToValidUTF8(l.Relation(), "?"), err))
		}
		out = append(out, ends)
	}
	return out, nil
}
