// Package pgtables reads tables of a PostgreSQL database: who may read them, what their columns
// are, and all of their rows in one state of the data.
//
// Nothing that an analyst writes comes here. What is asked of the database is what this package
// writes, names of the policy, and the owner's version query: so nothing that goes wrong here can
// depend on a question, and no message of the database reaches anybody but the owner.
//
// A connection sees no schema but pg_catalog by its short name, reads only, and runs no function
// of a user's: tables, no views and no foreign tables, of types that the database itself has,
// without row security. What else there is, is refused when the data is opened, unless the owner
// answers for it (policy.Table.Trusted). So is a role that may do more than read the tables of
// the policy: a mistake here could otherwise do what the role may do.
package pgtables

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/discreet-dp/discreet/internal/source/pgdial"
	"github.com/discreet-dp/discreet/policy"
)

// settings are what a connection runs with, whatever the database, the role or the environment say.
var settings = map[string]string{
	"search_path": "pg_catalog, pg_temp", "default_transaction_read_only": "on", "row_security": "off", "TimeZone": "UTC",
	"DateStyle":                   "ISO, YMD",
	"standard_conforming_strings": "on", "client_encoding": "UTF8", "application_name": "discreet", "extra_float_digits": "1",
	"synchronize_seqscans": "off", "jit": "off", "lock_timeout": "60s", "idle_in_transaction_session_timeout": "10min",
	// No number of rows makes it fail, their order is the file's, and the role is who connects.
	"statement_timeout": "0", "max_parallel_workers_per_gather": "0", "role": "none",
}

// patience is how long it may take to connect, and to ask for what is not the data itself.
const patience = 20 * time.Second

// Database is a PostgreSQL database with the tables of a dataset.
type Database struct {
	dataset *policy.Dataset
	config  *pgx.ConnConfig
	marks   markPool
}

// Of returns the database of a dataset. It does not connect.
func Of(ds *policy.Dataset) (*Database, error) {
	config, err := pgx.ParseConfig(explicit(ds.Source))
	if err != nil {
		// What the driver says may repeat parts of the address.
		return nil, fmt.Errorf("dataset %s: the address of its PostgreSQL database does not parse, or a file that it names cannot be "+
			"read; write postgres://user@host/database?sslmode=verify-full", ds.Name)
	}
	if err := checkServers(ds, &config.Config); err != nil {
		return nil, err
	}
	config.ConnectTimeout = patience
	config.RuntimeParams = settings
	config.DefaultQueryExecMode = pgx.QueryExecModeExec
	return &Database{dataset: ds, config: config, marks: markPool{patience: patience}}, nil
}

// explicit is an address with its port, so that PGPORT names no other server.
func explicit(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	_, port, _, _ := policy.PostgresServer(address)
	if u.Host != "" && u.Port() == "" {
		u.Host += ":" + port
	}
	if u.Host == "" && !u.Query().Has("port") {
		u.RawQuery += "&port=" + port
	}
	return u.String()
}

// checkServers looks whether what the driver has understood is what package policy has: the server
// that the address names, and no other one, with TLS that knows it by its name unless it is on this
// machine. Both read the address, and environment and service files have a say in the driver's.
func checkServers(ds *policy.Dataset, c *pgconn.Config) error {
	host, port, user, database := policy.PostgresServer(ds.Source)
	ok := c.User == user && c.Database == database
	check := func(at string, number uint16, secure *tls.Config) {
		ok = ok && at == host && strconv.Itoa(int(number)) == port
		ok = ok && (policy.PostgresIsHere(ds.Source) || secure != nil && !secure.InsecureSkipVerify && secure.ServerName == host)
	}
	check(c.Host, c.Port, c.TLSConfig)
	for _, f := range c.Fallbacks {
		check(f.Host, f.Port, f.TLSConfig)
	}
	if !ok {
		return fmt.Errorf("dataset %s: the address of its PostgreSQL database can be understood in two ways; write "+
			"postgres://user@host/database?sslmode=verify-full", ds.Name)
	}
	return nil
}

func (d *Database) String() string { return policy.Postgres(d.dataset.Source) }

// Unreachable is why there is no connection. Its text is the same whatever the server says, which
// is for the owner alone.
type Unreachable struct {
	Dataset, Where string
	Err            error
}

func (e *Unreachable) Error() string {
	return "the PostgreSQL database of the dataset " + e.Dataset + " cannot be reached; ask the owner to run 'discreet check', which " +
		"says why"
}

func (e *Unreachable) Explain() string {
	return fmt.Sprintf("the PostgreSQL database of the dataset %s, %s, cannot be reached: %s", e.Dataset, e.Where, reason(e.Err))
}

// reason is what went wrong, without the password, which the driver leaves out.
func reason(err error) string {
	var refused *pgconn.PgError
	if errors.As(err, &refused) {
		return refused.Message
	}
	return pgdial.Why(err)
}

func (d *Database) connect(ctx context.Context) (*pgx.Conn, error) {
	c, err := pgx.ConnectConfig(ctx, d.config)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		var refused *pgconn.PgError
		if errors.As(err, &refused) && refused.Code == wrongPassword && d.config.Password == "" {
			err = errors.New(refused.Message + ", and none was given: put it into PGPASSWORD, or into a file that PGPASSFILE or " +
				"passfile= names")
		}
		return nil, &Unreachable{d.dataset.Name, d.String(), err}
	}
	return c, nil
}

// wrongPassword is PostgreSQL's code for it.
const wrongPassword = "28P01"

// begin opens a connection and a transaction that sees one state of the data and changes nothing.
func (d *Database) begin(ctx context.Context) (*pgx.Conn, pgx.Tx, error) {
	c, err := d.connect(ctx)
	if err != nil {
		return nil, nil, err
	}
	tx, err := c.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	if err != nil {
		pgdial.HangUp(c)
		return nil, nil, &Unreachable{d.dataset.Name, d.String(), err}
	}
	return c, tx, nil
}

func name(relation string) string {
	schema, table, _ := strings.Cut(relation, ".")
	return pgx.Identifier{schema, table}.Sanitize()
}

// What a role may do is what it may by itself and as any role that it is a member of: one that
// inherits nothing can still become that other one. Conditions are about the role m.oid.

const findRole = `SELECT current_user::text, r.rolsuper, r.rolcreaterole, r.rolcreatedb, r.rolreplication, r.rolbypassrls
FROM pg_roles r WHERE r.rolname = current_user`

// Roles that may do more than their members need: of the database itself, and those with rights
// that nobody inherits but by becoming them.
const findMemberships = `SELECT 0::bigint, quote_ident(r.rolname), '', '{}'::text[] FROM pg_roles r WHERE r.rolname <> current_user
AND pg_has_role(current_user, r.oid, 'MEMBER') AND (r.rolsuper OR r.rolcreaterole OR r.rolcreatedb OR r.rolreplication OR r.rolbypassrls
OR r.rolname LIKE 'pg\_%' AND r.rolname NOT IN ('pg_database_owner', 'pg_monitor', 'pg_read_all_stats', 'pg_read_all_settings',
'pg_stat_scan_tables')) ORDER BY 1`

// Tables and sequences that are not the database's own, nor an extension's.
const others = `FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname NOT LIKE 'pg\_%' AND n.nspname <> 'information_schema' AND NOT EXISTS (SELECT 1 FROM pg_depend d
WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e')`

// Nobody but its owner may do anything with a table of which nothing was granted, and that is seen
// without asking for every role and column.
const granted = ` AND (c.relacl IS NOT NULL OR pg_has_role(current_user, c.relowner, 'MEMBER') OR EXISTS (SELECT 1 FROM pg_attribute g
WHERE g.attrelid = c.oid AND g.attacl IS NOT NULL))`

const relation = `quote_ident(n.nspname) || '.' || quote_ident(c.relname)`

var (
	findDatabase = holders("0", "quote_ident(d.datname)", "''", "FROM pg_database d WHERE d.datname = current_database()",
		"has_database_privilege(m.oid, d.oid, 'CREATE')")
	findSchemas = holders("0", "quote_ident(n.nspname)", "''", `FROM pg_namespace n WHERE n.nspname NOT LIKE 'pg\_%' AND
n.nspname <> 'information_schema'`, "has_schema_privilege(m.oid, n.oid, 'CREATE')")
	findWritable = holders("c.oid", relation, "''", others+granted, `CASE WHEN c.relkind = 'S' THEN has_sequence_privilege(m.oid, c.oid, 'USAGE, UPDATE')
WHEN c.relkind IN ('r', 'p', 'v', 'm', 'f') THEN
has_table_privilege(m.oid, c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER')
OR has_any_column_privilege(m.oid, c.oid, 'INSERT, UPDATE, REFERENCES') ELSE false END`)
	findReadable = parts + holders("c.oid", relation, "''", others+`
AND c.relkind IN ('r', 'p', 'v', 'm', 'f') AND c.oid NOT IN (SELECT oid FROM part)`+granted, "has_any_column_privilege(m.oid, c.oid, 'SELECT')")
	// Columns of the tables $1, and of what they are made of, that are not among $3, each of the
	// table at its place in $2. Of a table of which no column is needed any one lets its rows be
	// counted.
	findFurther = `WITH RECURSIVE part AS (SELECT u.oid::oid AS oid, u.oid::oid AS root FROM unnest($1::bigint[]) AS u (oid)
UNION SELECT i.inhrelid, p.root FROM pg_inherits i JOIN part p ON i.inhparent = p.oid),
needed AS (SELECT p.oid, u.name FROM part p JOIN unnest($2::bigint[], $3::text[]) AS u (root, name) ON u.root::oid = p.root) ` +
		holders("c.oid", relation, "quote_ident(a.attname)", `FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
JOIN pg_attribute a ON a.attrelid = c.oid WHERE c.oid IN (SELECT oid FROM needed) AND a.attnum > 0 AND NOT a.attisdropped
AND NOT EXISTS (SELECT 1 FROM needed u WHERE u.oid = c.oid AND u.name = a.attname)`+granted, "has_column_privilege(m.oid, c.oid, a.attnum, 'SELECT')")
)

// holders lists what a role may that fulfils a condition: its number, its name, a column of it, and
// the roles through which it may, being a member of them, where not everybody may anyway.
func holders(oid, name, column, from, condition string) string {
	const of = "EXISTS (SELECT 1 FROM pg_roles m WHERE pg_has_role(%s, m.oid, 'MEMBER') AND %s)"
	return fmt.Sprintf("SELECT (%s)::bigint, %s, %s, ARRAY(SELECT quote_ident(g.rolname) FROM pg_auth_members i JOIN pg_roles g "+
		"ON g.oid = i.roleid JOIN pg_roles u ON u.oid = i.member WHERE u.rolname = current_user AND NOT (%s) AND %s ORDER BY 1) "+
		"%s AND %s ORDER BY 2, 3 LIMIT 50", oid, name, column, strings.ReplaceAll(condition, "m.oid", "'public'::name"),
		fmt.Sprintf(of, "g.oid", condition), from, fmt.Sprintf(of, "current_user", condition))
}

type held struct {
	oid          int64 // of a table, or 0
	name, column string
	through      []string
}

func (d *Database) held(ctx context.Context, tx pgx.Tx, query string, args ...any) ([]held, error) {
	rows, err := tx.Query(ctx, query, args...)
	if err != nil {
		return nil, d.roleUnread(ctx, err)
	}
	out, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (h held, err error) {
		err = row.Scan(&h.oid, &h.name, &h.column, &h.through)
		return h, err
	})
	if err != nil {
		return nil, d.roleUnread(ctx, err)
	}
	return out, nil
}

// RoleError says what a role may do that it need not.
type RoleError struct {
	Dataset string
	Role    string
	May     []string // each with how to take it away
	Run     []string

	back []string // to run after what takes away
}

func (e *RoleError) Error() string {
	return "the role that reads the dataset " + e.Dataset + " may do too much or too little; ask the owner to run 'discreet " +
		"check', which says what"
}

// Explain says what, and what to run, to the owner.
func (e *RoleError) Explain() string {
	return fmt.Sprintf("the role %s, which reads the dataset %s, must be able to read the columns of the policy and nothing else, "+
		"but it %s. As an administrator of the database run:\n\n  %s\n", e.Role, e.Dataset, strings.Join(e.May, "; it "),
		strings.Join(e.Run, "\n  "))
}

func (e *RoleError) add(run, format string, args ...any) {
	e.May = append(e.May, fmt.Sprintf(format, args...))
	e.run(run)
}

func (e *RoleError) run(run string) {
	if run != "" && !slices.Contains(e.Run, run) {
		e.Run = append(e.Run, run)
	}
}

// leave is how to take away what a role may as a member of others.
func (e *RoleError) leave(groups []string) {
	for _, group := range groups {
		e.run(fmt.Sprintf("REVOKE %s FROM %s;", group, pgx.Identifier{e.Role}.Sanitize()))
	}
}

// keep gives back what the policy needs of a table of which everything is taken away.
func (e *RoleError) keep(all []*Relation, oid int64) {
	for _, r := range all {
		if int64(r.oid) == oid {
			e.back = append(e.back, grant(r.Table, r.names(), pgx.Identifier{e.Role}.Sanitize()))
		}
	}
}

// checkRole refuses a role that may do more than read the relations, and one that may not.
func (d *Database) checkRole(ctx context.Context, tx pgx.Tx, all []*Relation) error {
	e := &RoleError{Dataset: d.dataset.Name}
	flags := make([]bool, 5)
	if err := tx.QueryRow(ctx, findRole).Scan(&e.Role, &flags[0], &flags[1], &flags[2], &flags[3], &flags[4]); err != nil {
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
	lists := []struct {
		query, may, run string
		args            []any
	}{
		{findMemberships, "is a member of %s", "REVOKE %s FROM " + role + ";", nil},
		{findDatabase, "may create schemas in %s", "REVOKE CREATE ON DATABASE %s FROM " + role + ", PUBLIC;", nil},
		{findSchemas, "may create tables in the schema %s", "REVOKE CREATE ON SCHEMA %s FROM " + role + ", PUBLIC;", nil},
		{findWritable, "may change %s", "REVOKE ALL ON %s FROM " + role + ", PUBLIC;", nil},
		{findReadable, "may read %s, which the policy does not name", "REVOKE ALL ON %s FROM " + role + ", PUBLIC;", []any{oidsOf(all)}},
	}
	if d.dataset.VersionQuery != "" { // it may be about other tables
		lists = lists[:4]
	}
	for _, l := range lists {
		found, err := d.held(ctx, tx, l.query, l.args...)
		if err != nil {
			return err
		}
		for _, h := range found {
			e.add(fmt.Sprintf(l.run, h.name), l.may, h.name)
			e.leave(h.through)
			e.keep(all, h.oid)
		}
	}
	if err := d.checkFurther(ctx, tx, all, e); err != nil {
		return err
	}
	for _, run := range e.back {
		e.run(run)
	}
	if err := d.checkReads(ctx, tx, all, e); err != nil {
		return err
	}
	if len(e.May) > 0 {
		return e
	}
	return nil
}

// checkFurther looks whether a role may read columns of the tables that the policy does not name.
func (d *Database) checkFurther(ctx context.Context, tx pgx.Tx, all []*Relation, e *RoleError) error {
	if d.dataset.VersionQuery != "" { // it may be about them
		return nil
	}
	var roots []int64
	var names []string
	for _, r := range all {
		for _, name := range r.names() {
			roots, names = append(roots, int64(r.oid)), append(names, name)
		}
	}
	found, err := d.held(ctx, tx, findFurther, oidsOf(all), roots, names)
	if err != nil {
		return err
	}
	for len(found) > 0 {
		h, columns := found[0], []string(nil)
		for ; len(found) > 0 && found[0].oid == h.oid; found = found[1:] {
			columns, h.through = append(columns, found[0].column), append(h.through, found[0].through...)
		}
		e.add(fmt.Sprintf("REVOKE SELECT ON %s FROM %s, PUBLIC;", h.name, pgx.Identifier{e.Role}.Sanitize()),
			"may read %s of %s, which the policy does not name", strings.Join(columns, ", "), h.name)
		e.leave(h.through)
		e.keep(all, h.oid)
	}
	return nil
}

// checkReads looks whether a role may read what it is to read.
func (d *Database) checkReads(ctx context.Context, tx pgx.Tx, all []*Relation, e *RoleError) error {
	role := pgx.Identifier{e.Role}.Sanitize()
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
		for _, name := range r.names() {
			const ask = "SELECT has_column_privilege($1::bigint::oid, $2::text, 'SELECT')"
			if err := tx.QueryRow(ctx, ask, int64(r.oid), name).Scan(&may); err != nil {
				return d.roleUnread(ctx, err)
			}
			if !may {
				missing = append(missing, name)
			}
		}
		if len(missing) > 0 {
			e.add(grant(r.Table, missing, role), "may not read %s of %s", quoted(missing), r.Relation)
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
