// Package pgdial knows where in a PostgreSQL database something of ours is, by an address without
// a password, and connects to it: with a certificate that is verified where it is on another
// machine, never to a server that confirms what is not on a disk, and without waiting for ever.
package pgdial

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/discreet-dp/discreet/internal/address"
)

// PasswordVariable names the environment variable that has the password of the ledger's database,
// and of the users'.
const PasswordVariable = "DISCREET_LEDGER_PASSWORD"

// Database is a database, and a schema in it.
type Database struct {
	Config *pgx.ConnConfig
	Schema string
	Name   string // for messages; without the password
	// Statement is how long a statement may take. PostgreSQL ends it then; where nothing at all
	// comes from the server for 5 seconds longer, we do.
	Statement time.Duration
}

// Is reports whether a text is the address of a database, by how it is written.
func Is(text string) bool { return address.IsPostgres(text) }

var schemaName = regexp.MustCompile(`^[a-z_][a-z0-9_]{0,62}$`)

// Parse reads an address, such as postgres://discreet@db.example.org/discreet. Its parameters are
// those of libpq, and schema, in which several of a kind share a database. The error says what the
// address has that is wrong, in words that follow "the address".
//
// The address has no password: that is in the environment or in a file that the environment or the
// address names. Where nothing is said of TLS and the database is on another machine, its
// certificate and its name are verified.
func Parse(text string) (*Database, error) {
	invalid := errors.New
	u, err := url.Parse(text)
	if err != nil || !Is(text) {
		return nil, invalid("does not parse: write postgres://user@host/database")
	}
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return nil, invalid("does not parse: write postgres://user@host/database")
	}
	if _, given := u.User.Password(); given || query.Has("password") || query.Has("sslpassword") {
		return nil, invalid("has a password: put it into the environment variable " + PasswordVariable +
			", or into a file that PGPASSFILE or passfile= names")
	}
	for name, values := range query {
		// Of two the driver takes the last, and what is looked at here is the first.
		if len(values) > 1 || name == "ssl" {
			return nil, invalid("says something twice, or in two ways: give each of its options once, and sslmode for TLS")
		}
	}
	schema := cmp.Or(query.Get("schema"), "discreet")
	if !schemaName.MatchString(schema) || strings.HasPrefix(schema, "pg_") {
		return nil, invalid("has a schema that is not a simple name: write lower-case letters, digits and _")
	}
	query.Del("schema")
	hosts := cmp.Or(query.Get("host"), u.Host)
	if hosts == "" {
		return nil, invalid("does not name a host")
	}
	verify(query, hosts)
	if strings.Contains(hosts, ",") && query.Get("target_session_attrs") == "" {
		query.Set("target_session_attrs", "read-write")
	}
	u.RawQuery = query.Encode()
	config, err := pgx.ParseConfig(u.String())
	if err != nil { // what pgx says may repeat parts of the address
		return nil, invalid("does not parse, or names files that cannot be read: write postgres://user@host/database")
	}
	if password, ok := os.LookupEnv(PasswordVariable); ok {
		config.Password = password
	}
	config.ConnectTimeout = 5 * time.Second
	out := &Database{Config: config, Schema: schema, Statement: 30 * time.Second}
	dial := config.DialFunc
	config.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &bounded{Conn: c, silence: out.Statement + 5*time.Second}, nil
	}
	config.DefaultQueryExecMode = pgx.QueryExecModeExec // a pooler on the way may not keep prepared statements
	config.RuntimeParams["application_name"] = "discreet"
	name := &url.URL{Scheme: "postgres", Host: u.Host, Path: u.Path}
	if config.User != "" {
		name.User = url.User(config.User)
	}
	kept := url.Values{}
	if schema != "discreet" {
		kept.Set("schema", schema)
	}
	if host := query.Get("host"); host != "" {
		kept.Set("host", host)
	}
	name.RawQuery = kept.Encode()
	out.Name = name.String()
	return out, nil
}

// verify says that the certificate and the name of a server on another machine are verified, where
// nothing else is said.
func verify(query url.Values, hosts string) {
	if query.Get("sslmode") == "" && !local(hosts) {
		query.Set("sslmode", "verify-full")
	}
}

// Verified is an address of any database, which is verified where nothing is said of TLS and it is
// on another machine. What is no URL is left as it is.
func Verified(text string) string {
	u, err := url.Parse(text)
	if err != nil || !Is(text) {
		return text
	}
	query := u.Query()
	verify(query, cmp.Or(query.Get("host"), u.Host))
	u.RawQuery = query.Encode()
	return u.String()
}

func local(hosts string) bool {
	for _, host := range strings.Split(hosts, ",") {
		if h, _, err := net.SplitHostPort(host); err == nil {
			host = h
		}
		if !address.IsHere(strings.Trim(host, "[]")) {
			return false
		}
	}
	return true
}

// In puts the name of the schema into a statement, where it says the word and a dot.
func (p *Database) In(word, sql string) string {
	return strings.ReplaceAll(sql, word+".", pgx.Identifier{p.Schema}.Sanitize()+".")
}

// Make makes the schema where it is not there, and what is to be in it, in one transaction. Those
// who do so at once do it one after the other, so the function looks again whether there is work
// left.
func (p *Database) Make(ctx context.Context, c *pgx.Conn, with func(pgx.Tx) error) error {
	return pgx.BeginFunc(ctx, c, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock(hashtext($1)::bigint)", "discreet ledger "+p.Schema); err != nil {
			return err
		}
		var there bool
		if err := tx.QueryRow(ctx, "SELECT to_regnamespace($1) IS NOT NULL", pgx.Identifier{p.Schema}.Sanitize()).Scan(&there); err != nil {
			return err
		}
		if !there { // to ask is not enough: who may not make schemas may not say IF NOT EXISTS either
			if _, err := tx.Exec(ctx, "CREATE SCHEMA "+pgx.Identifier{p.Schema}.Sanitize()); err != nil {
				return err
			}
		}
		return with(tx)
	})
}

// idleInTransaction is after how long PostgreSQL ends who sleeps in a transaction: whoever sleeps
// with something locked loses it.
const idleInTransaction = 5 * time.Second

// bounded is a connection on which nothing waits for ever. A deadline that is set counts too, where
// it is earlier: it is how a context ends a wait.
type bounded struct {
	net.Conn
	silence time.Duration

	mu  sync.Mutex
	set time.Time
}

func (c *bounded) SetDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.set = t
	return c.Conn.SetDeadline(t)
}

// until sets the deadline of one Read or Write.
func (c *bounded) until(set func(time.Time) error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := time.Now().Add(c.silence)
	if !c.set.IsZero() && c.set.Before(t) {
		t = c.set
	}
	return set(t)
}

func (c *bounded) Read(b []byte) (int, error) {
	if err := c.until(c.SetReadDeadline); err != nil {
		return 0, err
	}
	return c.Conn.Read(b)
}

func (c *bounded) Write(b []byte) (int, error) {
	if err := c.until(c.SetWriteDeadline); err != nil {
		return 0, err
	}
	return c.Conn.Write(b)
}

// Dial connects, and sets what all work rests on.
func (p *Database) Dial(ctx context.Context) (*pgx.Conn, error) {
	c, err := pgx.ConnectConfig(ctx, p.Config.Copy())
	if err != nil {
		return nil, err
	}
	if err := p.Settle(ctx, c); err != nil {
		return nil, err
	}
	return c, nil
}

// Settle sets what all work rests on for a connection, and hangs up where that cannot be had.
func (p *Database) Settle(ctx context.Context, c *pgx.Conn) (err error) {
	defer func() {
		if err != nil {
			HangUp(c)
		}
	}()
	b := &pgx.Batch{}
	for _, set := range []string{
		"SET search_path = pg_catalog, pg_temp",
		fmt.Sprintf("SET idle_in_transaction_session_timeout = %d", idleInTransaction.Milliseconds()),
		fmt.Sprintf("SET statement_timeout = %d", p.Statement.Milliseconds()),
		"SET default_transaction_isolation = 'read committed'",
		"SET jit = off", // which takes longer to compile a statement than any of ours runs
		// What is confirmed waits for the disk, and for the standbys that the server waits for.
		"SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') IN ('off', 'local')",
	} {
		b.Queue(set)
	}
	var standby bool
	var fsync, synchronous string
	b.Queue("SELECT pg_is_in_recovery(), current_setting('fsync'), current_setting('synchronous_commit')").QueryRow(func(r pgx.Row) error {
		return r.Scan(&standby, &fsync, &synchronous)
	})
	if err := c.SendBatch(ctx, b).Close(); err != nil {
		return err
	}
	switch {
	case standby:
		return ErrStandby
	case fsync != "on":
		return ErrFsync
	case slices.Contains([]string{"off", "local"}, synchronous):
		return ErrAsynchronous
	}
	return nil
}

// What is wrong with a server.
var (
	ErrStandby = errors.New("the database is a standby, which may be behind")
	ErrFsync   = errors.New("the server runs with fsync = off, so it confirms writes that are not on a disk: set it to on")
	// It could not be set for the session.
	ErrAsynchronous = errors.New("the server confirms writes that are not on a disk: set synchronous_commit to on for this role")
)

// HangUp closes a connection without waiting for a server that does not answer.
func HangUp(c *pgx.Conn) {
	if c == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = c.Close(ctx)
}

// Said is what a server or the way to it said, for the owner: never the password, and of the server
// only its code and its words, none of which has data of the tables that Discreet answers about.
func (p *Database) Said(err error) error {
	var refused *pgconn.PgError
	var failed *pgconn.ConnectError
	switch {
	case errors.As(err, &refused):
		text := fmt.Sprintf("PostgreSQL says: %s (%s)", refused.Message, refused.Code)
		if refused.Code == "28P01" && p.Config.Password == "" {
			text += ", and no password was given: put it into " + PasswordVariable + ", or into a file that PGPASSFILE or passfile= names"
		}
		err = errors.New(text)
	case errors.As(err, &failed):
		err = errors.New(Why(err))
	}
	if p.Config.Password != "" && strings.Contains(err.Error(), p.Config.Password) {
		return errors.New("the reason cannot be shown, because it contains the password")
	}
	return err
}

// Why says why there is no connection, to the owner. The driver says much of it twice, and what a
// certificate lacks in the words of a library. None of it has the password.
func Why(err error) string {
	if text := address.Certificate(err); text != "" {
		return text
	}
	var failed *pgconn.ConnectError
	if errors.As(err, &failed) {
		err = failed.Unwrap()
	}
	text := err.Error()
	if strings.Contains(text, "server refused TLS connection") {
		return "it has no TLS: set ssl = on there, with a certificate"
	}
	for _, again := range []string{"failed to write startup message: write failed: ", "dial error: ", "hostname resolving error: "} {
		text = strings.ReplaceAll(text, again, "")
	}
	return text
}
