package users

import (
	"context"
	"database/sql"
	sqldriver "database/sql/driver"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/discreet-dp/discreet/internal/source/pgdial"
	"github.com/discreet-dp/discreet/internal/version"
)

// databaseSchema makes the users in a database. Names are compared and put in order by their bytes,
// as in a file. Times are microseconds since 1970, and 0 is never.
const databaseSchema = `
CREATE TABLE main.secret (one integer PRIMARY KEY CHECK (one = 1), format integer NOT NULL, secret bytea NOT NULL);
CREATE TABLE main.users (
  name text COLLATE "C" PRIMARY KEY, role text NOT NULL, created bigint NOT NULL, revoked bigint NOT NULL DEFAULT 0,
  epoch bigint NOT NULL DEFAULT 1, argon2 text NOT NULL, scram text NOT NULL
);
CREATE TABLE main.tokens (
  id text COLLATE "C" PRIMARY KEY, "user" text COLLATE "C" NOT NULL REFERENCES main.users (name), label text NOT NULL,
  hash bytea NOT NULL, created bigint NOT NULL, expires bigint NOT NULL, revoked bigint NOT NULL DEFAULT 0, used bigint NOT NULL DEFAULT 0
);
CREATE INDEX tokens_of ON main.tokens ("user");
CREATE TABLE main.logins (
  id bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY, at bigint NOT NULL, until bigint NOT NULL, count bigint NOT NULL,
  name text COLLATE "C" NOT NULL, address text NOT NULL, door text NOT NULL, outcome text NOT NULL, token text NOT NULL,
  good bigint NOT NULL
);
CREATE INDEX logins_kept ON main.logins (good, id);
CREATE INDEX logins_of ON main.logins (name, id);
` + tablesOf2

// tablesOf2 makes what version 2 has beside the tables of version 1.
const tablesOf2 = `
CREATE TABLE main.visits (
  hash bytea PRIMARY KEY, "user" text COLLATE "C" NOT NULL REFERENCES main.users (name), epoch bigint NOT NULL, created bigint NOT NULL,
  used bigint NOT NULL, ended bigint NOT NULL DEFAULT 0
);
CREATE INDEX visits_of ON main.visits ("user", created);
CREATE TABLE main.saved (
  id text COLLATE "C" PRIMARY KEY, kind text NOT NULL, "user" text COLLATE "C" NOT NULL REFERENCES main.users (name),
  dataset text COLLATE "C" NOT NULL, shared bigint NOT NULL, title text NOT NULL, body text NOT NULL, created bigint NOT NULL,
  changed bigint NOT NULL
);
CREATE INDEX saved_of ON main.saved ("user", kind);
CREATE INDEX saved_about ON main.saved (dataset, kind);
`

// connections is how many a server has to the users at most. One is enough for most.
const connections = 8

// database is where in PostgreSQL the users are.
type database struct{ *pgdial.Database }

func openDatabase(address string, create bool) (*backend, error) {
	p, err := pgdial.Parse(address)
	if err != nil {
		return nil, &InvalidError{"the address of the user database", err.Error()}
	}
	p.Config.RuntimeParams["application_name"] = "discreet users"
	p.Statement = 2 * busyTimeout // people wait for their login
	d := database{p}
	if err := d.claim(create); err != nil {
		return nil, err
	}
	db := sql.OpenDB(newTranslator(p))
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections / 2)
	db.SetConnMaxIdleTime(time.Minute)
	return &backend{
		DB: db, explain: d.words, remote: true,
		insert: func(text string, args ...any) (id int64, err error) {
			err = db.QueryRow(text+" RETURNING id", args...).Scan(&id)
			return id, err
		},
		// Not prepared: a pooler on the way may not keep it.
		prepare: func(text string) (preparedQuery, error) {
			return func(ctx context.Context, args ...any) *sql.Row { return db.QueryRowContext(ctx, text, args...) }, nil
		},
	}, nil
}

// claim finds the users, or makes them where it may. What is not ours is not changed.
func (d database) claim(create bool) error {
	c, err := d.Dial(uninterrupted)
	if err != nil {
		return d.words(err)
	}
	defer pgdial.HangUp(c)
	format, err := d.format(c)
	switch {
	case err != nil || format == Format:
		return err
	case format == 0 && !create:
		return fmt.Errorf("%w in %s", ErrNone, d.Name)
	}
	var verdict error
	err = d.Make(uninterrupted, c, func(tx pgx.Tx) error {
		format, err := d.format(c)
		verdict = err
		switch {
		case err != nil || format == Format:
			return err
		case format == 1:
			return d.upgrade(tx)
		}
		if _, err := tx.Exec(uninterrupted, d.In("main", databaseSchema), pgx.QueryExecModeSimpleProtocol); err != nil {
			return err
		}
		if _, err := tx.Exec(uninterrupted, d.comment()); err != nil {
			return err
		}
		_, err = tx.Exec(uninterrupted, d.In("main", "INSERT INTO main.secret (one, format, secret) VALUES (1, $1, $2)"), Format,
			random(32))
		return err
	})
	switch {
	case err == nil || verdict != nil:
		return verdict
	case format == 1:
		return fmt.Errorf("an older program made the users in %s, and this one could not create two more tables that it needs: run "+
			"'discreet user list' once as the role that owns the others (%w)", d.Name, d.Said(err))
	}
	return fmt.Errorf("the users cannot be created in %s: %w", d.Name, d.Said(err))
}

// upgrade adds what version 2 has. Who may use the tokens may use it too: these are the roles of
// servers.
func (d database) upgrade(tx pgx.Tx) error {
	if _, err := tx.Exec(uninterrupted, d.In("main", tablesOf2), pgx.QueryExecModeSimpleProtocol); err != nil {
		return err
	}
	rows, err := tx.Query(uninterrupted, `SELECT a.privilege_type, r.rolname FROM pg_class k JOIN pg_namespace n ON n.oid = k.relnamespace
CROSS JOIN aclexplode(k.relacl) a JOIN pg_roles r ON r.oid = a.grantee
WHERE n.nspname = $1 AND k.relname = 'tokens' AND a.privilege_type IN ('SELECT', 'INSERT', 'UPDATE', 'DELETE')`, d.Schema)
	if err != nil {
		return err
	}
	var grants []string
	var right, role string
	if _, err := pgx.ForEachRow(rows, []any{&right, &role}, func() error {
		grants = append(grants, fmt.Sprintf("GRANT %s ON main.visits, main.saved TO %s", right, pgx.Identifier{role}.Sanitize()))
		return nil
	}); err != nil {
		return err
	}
	for _, grant := range append(grants, fmt.Sprintf("UPDATE main.secret SET format = %d", Format)) {
		if _, err := tx.Exec(uninterrupted, d.In("main", grant)); err != nil {
			return err
		}
	}
	return nil
}

// format reports which version of the tables there is, 0 where there are none. Some of them, or
// others of their names, are somebody else's. As with a file, what everybody may read or change is
// refused and not repaired.
func (d database) format(c *pgx.Conn) (format int, err error) {
	var names, ours, first int
	var open bool
	var encoding string
	err = c.QueryRow(uninterrupted, `SELECT count(*), count(*) FILTER (WHERE k.relkind = 'r' AND NOT k.relrowsecurity),
count(*) FILTER (WHERE k.relname IN ('secret', 'users', 'tokens', 'logins')),
coalesce(bool_or(has_table_privilege('public', k.oid, 'SELECT, INSERT, UPDATE, DELETE, TRUNCATE, TRIGGER')
  OR has_any_column_privilege('public', k.oid, 'SELECT, INSERT, UPDATE')), false), current_setting('server_encoding')
FROM pg_class k JOIN pg_namespace n ON n.oid = k.relnamespace
WHERE n.nspname = $1 AND k.relname IN ('secret', 'users', 'tokens', 'logins', 'visits', 'saved')`, d.Schema).
		Scan(&names, &ours, &first, &open, &encoding)
	switch {
	case err != nil:
		return 0, d.words(err)
	case encoding != "UTF8":
		return 0, fmt.Errorf("the database of %s has the encoding %s, which cannot store every name: create it with UTF8",
			d.Name, encoding)
	case names == 0:
		return 0, nil
	case ours != names || first != 4:
		return 0, d.foreign()
	}
	err = c.QueryRow(uninterrupted, d.In("main", "SELECT format FROM main.secret")).Scan(&format)
	var e *pgconn.PgError
	switch {
	case errors.Is(err, pgx.ErrNoRows) || errors.As(err, &e) && slices.Contains([]string{"42703", "42804"}, e.Code):
		return 0, d.foreign()
	case err != nil:
		return 0, d.words(err)
	case format < 1 || format > Format:
		return 0, errors.New(version.Newer("the database of users "+d.Name, fmt.Sprint(format), formatsRead, d.writer(c)))
	case names != map[int]int{1: 4, 2: 6}[format]:
		return 0, d.foreign()
	case open:
		return 0, fmt.Errorf("everybody in the database of %s can read or change who may log in. Revoke what PUBLIC may do with the "+
			"tables secret, users, tokens, logins, visits and saved; if somebody could have read them, give everybody a new "+
			"password", d.Name)
	}
	return format, nil
}

// madeBy begins the comment on the table of the secret, which names the version that made the
// tables, or brought them to their format.
const madeBy = "users of Discreet "

// writer is the version that the comment names, or nothing.
func (d database) writer(c *pgx.Conn) string {
	var comment string
	if err := c.QueryRow(uninterrupted, `SELECT coalesce(obj_description(k.oid, 'pg_class'), '')
FROM pg_class k JOIN pg_namespace n ON n.oid = k.relnamespace WHERE n.nspname = $1 AND k.relname = 'secret'`, d.Schema).
		Scan(&comment); err != nil {
		return ""
	}
	by, found := strings.CutPrefix(comment, madeBy)
	if !found {
		return ""
	}
	return by
}

// comment is the statement that names this version there.
func (d database) comment() string {
	return d.In("main", "COMMENT ON TABLE main.secret IS '"+madeBy+version.Clean(version.Version)+"'")
}

func (d database) foreign() error {
	return fmt.Errorf("the schema of %s has tables with these names that do not hold users of Discreet, and was not changed; name another "+
		"with schema=", d.Name)
}

// words puts an error into words for the owner.
func (d database) words(err error) error {
	return fmt.Errorf("the users in %s could not be read: %w", d.Name, d.Said(err))
}

// translator connects to PostgreSQL, which then takes the statements of a file: its tables are in
// the schema of the place, and its parameters have numbers.
type translator struct {
	sqldriver.Connector
	place *pgdial.Database
	known sync.Map // of texts by texts; there are few
}

func newTranslator(p *pgdial.Database) *translator {
	return &translator{Connector: stdlib.GetConnector(*p.Config, stdlib.OptionAfterConnect(p.Settle)), place: p}
}

func (t *translator) Connect(ctx context.Context) (sqldriver.Conn, error) {
	c, err := t.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &translated{c.(*stdlib.Conn), t}, nil
}

// text returns a statement in PostgreSQL's words.
func (t *translator) text(sql string) string {
	if text, ok := t.known.Load(sql); ok {
		return text.(string)
	}
	text := t.place.In("main", numbered(sql))
	t.known.Store(sql, text)
	return text
}

// numbered writes ?, ? and ?1 as $1, $2 and $1. Our statements have question marks for nothing
// else.
func numbered(sql string) string {
	var out strings.Builder
	n := 0
	for i, part := range strings.Split(sql, "?") {
		if i > 0 {
			out.WriteByte('$')
			if part == "" || part[0] < '0' || part[0] > '9' {
				n++
				out.WriteString(strconv.Itoa(n))
			}
		}
		out.WriteString(part)
	}
	return out.String()
}

type translated struct {
	*stdlib.Conn
	by *translator
}

func (c *translated) ExecContext(ctx context.Context, sql string, args []sqldriver.NamedValue) (sqldriver.Result, error) {
	return c.Conn.ExecContext(ctx, c.by.text(sql), args)
}

func (c *translated) QueryContext(ctx context.Context, sql string, args []sqldriver.NamedValue) (sqldriver.Rows, error) {
	return c.Conn.QueryContext(ctx, c.by.text(sql), args)
}

// BeginTx begins a transaction that is alone, as those of a file are: who revokes a user does not
// pass by who is making them a token. It waits for the end of any other, also of one whose
// connection was lost, and what it reads then is what that one left.
func (c *translated) BeginTx(ctx context.Context, o sqldriver.TxOptions) (sqldriver.Tx, error) {
	tx, err := c.Conn.BeginTx(ctx, o)
	if err != nil {
		return nil, err
	}
	if _, err := c.ExecContext(ctx, "SELECT one FROM main.secret FOR UPDATE", nil); err != nil {
		return nil, errors.Join(err, tx.Rollback())
	}
	return tx, nil
}

// CheckNamedValue makes texts fit that PostgreSQL does not take, so that a name that nobody can
// have is looked up like any other, and not found: neither a name nor the id of a token has a
// replacement character.
func (c *translated) CheckNamedValue(v *sqldriver.NamedValue) error {
	if text, ok := v.Value.(string); ok {
		v.Value = strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\uFFFD")
	}
	return c.Conn.CheckNamedValue(v)
}
