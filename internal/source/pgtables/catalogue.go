package pgtables

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/discreet-dp/discreet/internal/source/catalogue"
	"github.com/discreet-dp/discreet/internal/source/pgdial"
	"github.com/discreet-dp/discreet/policy"
)

// listing is a table of the catalogue that is being read.
type listing struct {
	catalogue.Table
	oid int64
}

// Tables that are a part of another one are in that.
const listTables = `SELECT c.oid::bigint, n.nspname::text, c.relname::text, coalesce(obj_description(c.oid, 'pg_class'), ''), c.relkind::text,
c.relrowsecurity, c.relkind = 'r' AND EXISTS (SELECT 1 FROM pg_inherits i WHERE i.inhparent = c.oid), has_schema_privilege(n.oid, 'USAGE') AND has_any_column_privilege(c.oid, 'SELECT') ` + others + `
AND c.relkind IN ('r', 'p', 'v', 'm', 'f') AND c.relpersistence <> 't' AND NOT EXISTS (SELECT 1 FROM pg_inherits i WHERE i.inhrelid = c.oid)
AND (cardinality($1::text[]) = 0 OR n.nspname = ANY ($1::text[])) ORDER BY n.nspname, c.relname`

// List reads the catalogue of a database: the tables of these schemas, or of all, that the role may
// read.
func List(ctx context.Context, address string, schemas []string) (*catalogue.Catalogue, error) {
	d, err := Of(&policy.Dataset{Name: "to be drafted", Source: address})
	if err != nil {
		return nil, err
	}
	conn, tx, err := d.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer pgdial.HangUp(conn)
	out := &catalogue.Catalogue{}
	if err := readCatalogue(ctx, tx, schemas, out); err != nil {
		return nil, d.roleUnread(ctx, err)
	}
	return out, nil
}

func readCatalogue(ctx context.Context, tx pgx.Tx, schemas []string, c *catalogue.Catalogue) error {
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
		listing
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
		c.Tables = append(c.Tables, &r.Table)
	}
	return nil
}

// fill reads what the catalogue says about a table.
func (l *listing) fill(ctx context.Context, tx pgx.Tx, all bool) error {
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
		f.Type, f.Kind, f.NotNull, f.Computed = c.Type, c.Kind, c.NotNull, c.generated == "v"
		f.Precision, f.Scale = c.Precision, c.Scale
		l.Columns = append(l.Columns, f.Column)
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
	catalogue.Column
	may bool
}

func (l *listing) facts(ctx context.Context, tx pgx.Tx) (map[string]fact, error) {
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

func references(ctx context.Context, tx pgx.Tx, table int64) ([]catalogue.Reference, error) {
	rows, err := tx.Query(ctx, listReferences, table)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (r catalogue.Reference, err error) {
		err = row.Scan(&r.Schema, &r.Table, &r.Columns, &r.Far, &r.Valid)
		return r, err
	})
}

// Extremes reads the smallest and the largest value of columns off the data, as texts: numbers,
// dates and times that are finite. Where there is none, both are empty.
func Extremes(ctx context.Context, address string, t *catalogue.Table, columns []catalogue.Column) ([][2]string, error) {
	d, err := Of(&policy.Dataset{Name: "to be drafted", Source: address})
	if err != nil {
		return nil, err
	}
	conn, tx, err := d.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer pgdial.HangUp(conn)
	var out [][2]string
	for _, c := range columns {
		column := pgx.Identifier{c.Name}.Sanitize()
		finite := column + "::text NOT IN ('NaN', 'Infinity', '-Infinity')"
		switch c.Kind {
		case catalogue.Timestamp, catalogue.TimestampTZ:
			column = "(" + column + ")::timestamp"
			fallthrough
		case catalogue.Date:
			finite = "isfinite(" + column + ")"
		}
		var ends [2]string
		query := fmt.Sprintf("SELECT coalesce(min(%[1]s)::text, ''), coalesce(max(%[1]s)::text, '') FROM %[2]s WHERE %[3]s", column,
			pgx.Identifier{t.Schema, t.Name}.Sanitize(), finite)
		if err := tx.QueryRow(ctx, query).Scan(&ends[0], &ends[1]); err != nil {
			return nil, d.roleUnread(ctx, fmt.Errorf("table %s: %w", strings.ToValidUTF8(t.Relation(), "?"), err))
		}
		out = append(out, ends)
	}
	return out, nil
}

// Doubt is what the catalogue does not say of a table, so that its rows have to tell.
type Doubt struct {
	// Paths says that keys may repeat, or that rows may lead nowhere.
	Paths bool
	// Unit says that somebody may have several rows, or a row nobody.
	Unit bool
	// Columns are those whose values may not be what the policy says.
	Columns []string
}

// Doubts are those of a dataset, by tables. Tables without doubts are not listed.
type Doubts map[string]*Doubt

// Everything is what there can be in doubt about a table.
func Everything(t *policy.Table) *Doubt {
	return &Doubt{Paths: true, Unit: t.UnitColumn != "", Columns: t.ColumnNames()}
}

// Read says which columns of which tables have to be read. A path is about the column that it leads
// to as well.
func (d Doubts) Read(ds *policy.Dataset) map[string][]string {
	out := map[string][]string{}
	add := func(table string, columns ...string) {
		for _, c := range columns {
			if c != "" && !slices.Contains(out[table], c) {
				out[table] = append(out[table], c)
			}
		}
	}
	for _, name := range ds.TableNames() {
		doubt, t := d[name], ds.Tables[name]
		if doubt == nil {
			continue
		}
		add(name, doubt.Columns...)
		if doubt.Unit {
			add(name, t.UnitColumn)
		}
		if !doubt.Paths {
			continue
		}
		add(name, t.UniqueColumn)
		add(name, ds.PathKeys(t)...)
		if len(t.Path) > 0 {
			add(name, t.Path[0].Column)
			add(t.Path[0].Table, t.Path[0].Key)
		}
	}
	return out
}

// Only is the relation with some of its columns.
func (r *Relation) Only(columns []string) *Relation {
	out := *r
	out.Columns = nil
	for _, c := range r.Columns {
		if slices.ContainsFunc(columns, func(name string) bool { return strings.EqualFold(name, c.Name) }) {
			out.Columns = append(out.Columns, c)
		}
	}
	return &out
}

// What was counted last of a table and its parts, and whether that was done of all that have rows.
const countedRows = parts + `SELECT coalesce(sum(c.reltuples), 0)::bigint, coalesce(bool_and(c.relpages > 0 AND c.reltuples >= 0), true)
FROM pg_class c JOIN part p ON p.oid = c.oid WHERE c.relkind = 'r' AND pg_relation_size(c.oid) > 0`

// Rows is about how many rows a table has: what was counted last, or what PostgreSQL plans with. It
// reads none.
func (s *Snapshot) Rows(ctx context.Context, r *Relation) (int64, error) {
	var n int64
	var known bool
	if err := s.tx.QueryRow(ctx, countedRows, []int64{int64(r.oid)}).Scan(&n, &known); err != nil {
		return 0, s.database.unread(ctx, r.Table, err)
	}
	if known && r.marked { // a plain table
		return n, nil
	}
	return s.planned(ctx, r, "SELECT FROM ")
}

// Different is about how many different values a column has. It reads none.
func (s *Snapshot) Different(ctx context.Context, r *Relation, column string) (int64, error) {
	return s.planned(ctx, r, "SELECT DISTINCT "+pgx.Identifier{column}.Sanitize()+" FROM ")
}

// planned is how many rows PostgreSQL expects of a query.
func (s *Snapshot) planned(ctx context.Context, r *Relation, what string) (int64, error) {
	var text string
	if err := s.tx.QueryRow(ctx, "EXPLAIN (FORMAT JSON) "+what+name(r.Relation)).Scan(&text); err != nil {
		return 0, s.database.unread(ctx, r.Table, err)
	}
	var plans []struct {
		Plan struct {
			Rows float64 `json:"Plan Rows"`
		}
	}
	if err := json.Unmarshal([]byte(text), &plans); err != nil || len(plans) != 1 {
		return 0, s.database.unread(ctx, r.Table, errRow)
	}
	return int64(plans[0].Plan.Rows), nil
}

// Grants are the statements with which a role may read the columns of a dataset, and nothing else.
func Grants(ds *policy.Dataset, role string) []string {
	role = pgx.Identifier{role}.Sanitize()
	var schemas, out []string
	for _, table := range ds.TableNames() {
		t := ds.Tables[table]
		schema, _, _ := strings.Cut(t.Relation, ".")
		if schema = (pgx.Identifier{schema}).Sanitize(); !slices.Contains(schemas, schema) {
			schemas = append(schemas, schema)
			out = append(out, fmt.Sprintf("GRANT USAGE ON SCHEMA %s TO %s;", schema, role))
		}
		out = append(out, grant(t, Needed(ds, t), role))
	}
	return out
}

// grant is the statement with which a role, quoted, may read columns of a table.
func grant(t *policy.Table, columns []string, role string) string {
	what := "SELECT (" + quoted(columns) + ")"
	if len(columns) == 0 { // its rows can be counted
		what = "SELECT"
	}
	return fmt.Sprintf("GRANT %s ON %s TO %s;", what, name(t.Relation), role)
}

func quoted(names []string) string {
	var list []string
	for _, name := range names {
		list = append(list, pgx.Identifier{name}.Sanitize())
	}
	return strings.Join(list, ", ")
}

// Needed are the columns of a table that a question can use, and those of its path.
func Needed(ds *policy.Dataset, t *policy.Table) []string {
	names := t.ColumnNames()
	for _, c := range ds.PathColumns(t) {
		if !slices.Contains(names, c) {
			names = append(names, c)
		}
	}
	return names
}
