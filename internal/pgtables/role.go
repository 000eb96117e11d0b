package pgtables

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
)

// What a role may do by itself and as any role that it is a member of: one that inherits nothing
// can still become that other one.
const anyRole = `EXISTS (SELECT 1 FROM pg_roles m WHERE pg_has_role(current_user, m.oid, 'MEMBER') AND `

const findRole = `SELECT current_user::text, r.rolsuper, r.rolcreaterole, r.rolcreatedb, r.rolreplication, r.rolbypassrls,
` + anyRole + `has_database_privilege(m.oid, current_database(), 'CREATE')) FROM pg_roles r WHERE r.rolname = current_user`

// Roles that may do more than their members need: of the database itself, and those with rights
// that nobody inherits but by becoming them.
const findMemberships = `SELECT quote_ident(r.rolname) FROM pg_roles r WHERE r.rolname <> current_user
AND pg_has_role(current_user, r.oid, 'MEMBER') AND (r.rolsuper OR r.rolcreaterole OR r.rolcreatedb OR r.rolreplication OR r.rolbypassrls
OR r.rolname LIKE 'pg\_%' AND r.rolname NOT IN ('pg_database_owner', 'pg_monitor', 'pg_read_all_stats', 'pg_read_all_settings',
'pg_stat_scan_tables')) ORDER BY 1`

const findSchemas = `SELECT quote_ident(n.nspname) FROM pg_namespace n WHERE n.nspname NOT LIKE 'pg\_%' AND
n.nspname <> 'information_schema' AND ` + anyRole + `has_schema_privilege(m.oid, n.oid, 'CREATE')) ORDER BY 1`

// Tables and sequences that are not the database's own, nor an extension's.
const others = `FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname NOT LIKE 'pg\_%' AND n.nspname <> 'information_schema' AND NOT EXISTS (SELECT 1 FROM pg_depend d
WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e')`

const findWritable = `SELECT quote_ident(n.nspname) || '.' || quote_ident(c.relname) ` + others + `
AND ` + anyRole + `CASE WHEN c.relkind = 'S' THEN has_sequence_privilege(m.oid, c.oid, 'USAGE, UPDATE')
WHEN c.relkind IN ('r', 'p', 'v', 'm', 'f') THEN
has_table_privilege(m.oid, c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER')
OR has_any_column_privilege(m.oid, c.oid, 'INSERT, UPDATE, REFERENCES') ELSE false END) ORDER BY 1 LIMIT 20`

const findReadable = parts + `SELECT quote_ident(n.nspname) || '.' || quote_ident(c.relname) ` + others + `
AND c.relkind IN ('r', 'p', 'v', 'm', 'f') AND c.oid NOT IN (SELECT oid FROM part)
AND ` + anyRole + `has_any_column_privilege(m.oid, c.oid, 'SELECT')) ORDER BY 1 LIMIT 20`

// RoleError says what a role may do that it need not.
type RoleError struct {
	Dataset string
	Role    string
	May     []string // each with how to take it away
	Run     []string
}

func (e *RoleError) Error() string {
	return "the role with which the dataset " + e.Dataset + " is read may do too much or too little; ask the owner to run 'discreet " +
		"check', which says what"
}

// Explain says what, and what to run, to the owner.
func (e *RoleError) Explain() string {
	return fmt.Sprintf("the role %s, with which the dataset %s is read, has to read the columns of the policy and nothing else, and it "+
		"%s. As an administrator of the database run:\n\n  %s\n", e.Role, e.Dataset, strings.Join(e.May, "; it "),
		strings.Join(e.Run, "\n  "))
}

func (e *RoleError) add(run, format string, args ...any) {
	e.May = append(e.May, fmt.Sprintf(format, args...))
	if run != "" && !slices.Contains(e.Run, run) {
		e.Run = append(e.Run, run)
	}
}

// checkRole refuses a role that may do more than read the relations, and one that may not.
func (d *Database) checkRole(ctx context.Context, tx pgx.Tx, all []*Relation) error {
	e := &RoleError{Dataset: d.dataset.Name}
	flags := make([]bool, 6)
	if err := tx.QueryRow(ctx, findRole).Scan(&e.Role, &flags[0], &flags[1], &flags[2], &flags[3], &flags[4], &flags[5]); err != nil {
		return d.roleUnread(ctx, err)
	}
	role := pgx.Identifier{e.Role}.Sanitize()
	if flags[0] {
		e.add("CREATE ROLE discreet LOGIN NOINHERIT;  -- and name it in the policy's source", "is a superuser")
		e.Run = append(e.Run, Grants(d.dataset, "discreet")...)
		return e
	}
	for i, name := range []string{"CREATEROLE", "CREATEDB", "REPLICATION", "BYPASSRLS"} {
		if flags[i+1] {
			e.add(fmt.Sprintf("ALTER ROLE %s NO%s;", role, name), "has %s", name)
		}
	}
	if flags[5] {
		e.add(fmt.Sprintf("REVOKE CREATE ON DATABASE %s FROM %s, PUBLIC;", pgx.Identifier{d.config.Database}.Sanitize(), role),
			"may make schemas")
	}
	lists := []struct {
		query, may, run string
		args            []any
	}{
		{findMemberships, "is a member of %s", "REVOKE %s FROM " + role + ";", nil},
		{findSchemas, "may make tables in the schema %s", "REVOKE CREATE ON SCHEMA %s FROM " + role + ", PUBLIC;", nil},
		{findWritable, "may change %s", "REVOKE ALL ON %s FROM " + role + ", PUBLIC;", nil},
		{findReadable, "may read %s, which the policy does not name", "REVOKE ALL ON %s FROM " + role + ", PUBLIC;", []any{oidsOf(all)}},
	}
	if d.dataset.VersionQuery != "" { // it may be about other tables
		lists = lists[:3]
	}
	for _, l := range lists {
		names, err := texts(ctx, tx, l.query, l.args...)
		if err != nil {
			return d.roleUnread(ctx, err)
		}
		for _, name := range names {
			e.add(fmt.Sprintf(l.run, name), l.may, name)
		}
	}
	if err := d.checkReads(ctx, tx, all, e, role); err != nil {
		return err
	}
	if len(e.May) > 0 {
		return e
	}
	return nil
}

// checkReads looks whether a role may read what it is to read.
func (d *Database) checkReads(ctx context.Context, tx pgx.Tx, all []*Relation, e *RoleError, role string) error {
	for _, r := range all {
		schema, _, _ := strings.Cut(r.Relation, ".")
		var may bool
		if err := tx.QueryRow(ctx, "SELECT has_schema_privilege($1::text, 'USAGE')", schema).Scan(&may); err != nil {
			return d.roleUnread(ctx, err)
		}
		if !may {
			run := fmt.Sprintf("GRANT USAGE ON SCHEMA %s TO %s;", pgx.Identifier{schema}.Sanitize(), role)
			e.add(run, "may not use the schema %s", schema)
			continue
		}
		var missing []string
		for _, c := range r.Columns {
			const ask = "SELECT has_column_privilege($1::bigint::oid, $2::text, 'SELECT')"
			if err := tx.QueryRow(ctx, ask, int64(r.oid), c.Name).Scan(&may); err != nil {
				return d.roleUnread(ctx, err)
			}
			if !may {
				missing = append(missing, pgx.Identifier{c.Name}.Sanitize())
			}
		}
		if len(missing) > 0 {
			list := strings.Join(missing, ", ")
			e.add(fmt.Sprintf("GRANT SELECT (%s) ON %s TO %s;", list, name(r.Relation), role), "may not read %s of %s", list, r.Relation)
		}
	}
	return nil
}

func texts(ctx context.Context, tx pgx.Tx, query string, args ...any) ([]string, error) {
	rows, err := tx.Query(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}

func (d *Database) roleUnread(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return &Unreachable{d.dataset.Name, d.String(), err}
}
