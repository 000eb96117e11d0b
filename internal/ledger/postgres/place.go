package postgres

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
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/discreet-dp/discreet/ledger"
)

// PasswordVariable names the environment variable that has the password of the ledger's database.
const PasswordVariable = "DISCREET_LEDGER_PASSWORD"

// place is where a ledger is: a database, and a schema in it.
type place struct {
	config *pgx.ConnConfig
	schema string
	name   string // for messages; without the password
}

// Is reports whether a ledger is one of this package, by how its place is written.
func Is(address string) bool {
	return strings.HasPrefix(address, "postgres://") || strings.HasPrefix(address, "postgresql://")
}

var schemaName = regexp.MustCompile(`^[a-z_][a-z0-9_]{0,62}$`)

// parse reads the address of a ledger, such as postgres://discreet@db.example.org/discreet. Its
// parameters are those of libpq, and schema, in which several ledgers share a database.
//
// The address has no password: that is in the environment or in a file that the environment or the
// address names. Where nothing is said of TLS and the database is on another machine, its
// certificate and its name are verified.
func parse(address string) (*place, error) {
	invalid := func(problem string) error {
		return &ledger.InvalidError{Field: "address of the ledger's database", Problem: problem}
	}
	u, err := url.Parse(address)
	if err != nil || !Is(address) {
		return nil, invalid("does not parse: write postgres://user@host/database")
	}
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return nil, invalid("does not parse: write postgres://user@host/database")
	}
	if _, given := u.User.Password(); given || query.Has("password") {
		return nil, invalid("has a password: put it into the environment variable " + PasswordVariable +
			", or into a file that PGPASSFILE or passfile= names")
	}
	schema := cmp.Or(query.Get("schema"), "discreet")
	if !schemaName.MatchString(schema) || strings.HasPrefix(schema, "pg_") {
		return nil, invalid("has a schema that is no simple name: write lower-case letters, digits and _")
	}
	query.Del("schema")
	hosts := cmp.Or(query.Get("host"), u.Host)
	if hosts == "" {
		return nil, invalid("names no host")
	}
	if query.Get("sslmode") == "" && !local(hosts) {
		query.Set("sslmode", "verify-full")
	}
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
	dial := config.DialFunc
	config.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return bounded{c}, nil
	}
	config.DefaultQueryExecMode = pgx.QueryExecModeExec // a pooler on the way may not keep prepared statements
	config.RuntimeParams["application_name"] = "discreet ledger"
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
	return &place{config: config, schema: schema, name: name.String()}, nil
}

// local reports whether all hosts are this machine.
func local(hosts string) bool {
	for _, host := range strings.Split(hosts, ",") {
		if h, _, err := net.SplitHostPort(host); err == nil {
			host = h
		}
		ip := net.ParseIP(strings.Trim(host, "[]"))
		if !strings.HasPrefix(host, "/") && !strings.HasPrefix(host, "@") && host != "localhost" && (ip == nil || !ip.IsLoopback()) {
			return false
		}
	}
	return true
}

// in puts the name of the schema into a statement, where it says "ledger.".
func (p *place) in(sql string) string {
	return strings.ReplaceAll(sql, "ledger.", pgx.Identifier{p.schema}.Sanitize()+".")
}

// Limits of the work on a connection, which PostgreSQL keeps: whoever sleeps with the head locked
// loses it, and whoever waits for it does not wait for ever.
const (
	idleInTransaction = 5 * time.Second
	statementTimeout  = 30 * time.Second
	// silence is how long is waited for a server from which nothing comes at all, as where a
	// network has gone.
	silence = statementTimeout + 5*time.Second
)

// bounded is a connection on which nothing waits for ever.
type bounded struct{ net.Conn }

func (c bounded) Read(b []byte) (int, error) {
	if err := c.SetReadDeadline(time.Now().Add(silence)); err != nil {
		return 0, err
	}
	return c.Conn.Read(b)
}

func (c bounded) Write(b []byte) (int, error) {
	if err := c.SetWriteDeadline(time.Now().Add(silence)); err != nil {
		return 0, err
	}
	return c.Conn.Write(b)
}

// dial connects, and sets what all work rests on.
func (p *place) dial(ctx context.Context) (_ *pgx.Conn, err error) {
	c, err := pgx.ConnectConfig(ctx, p.config.Copy())
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			hangUp(c)
		}
	}()
	b := &pgx.Batch{}
	for _, set := range []string{
		"SET search_path = pg_catalog, pg_temp",
		fmt.Sprintf("SET idle_in_transaction_session_timeout = %d", idleInTransaction.Milliseconds()),
		fmt.Sprintf("SET statement_timeout = %d", statementTimeout.Milliseconds()),
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
		return nil, err
	}
	switch {
	case standby:
		return nil, errStandby
	case fsync != "on":
		return nil, errFsync
	case slices.Contains([]string{"off", "local"}, synchronous):
		return nil, errAsynchronous
	}
	return c, nil
}

var (
	errStandby = errors.New("the database is a standby, which may be behind")
	errFsync   = errors.New("the server runs with fsync = off, so nothing that it confirms is on a disk: set it to on")
	// It could not be set for the session.
	errAsynchronous = errors.New("the server confirms what is not on a disk: set synchronous_commit to on for this role")
)

// hangUp closes a connection without waiting for a server that does not answer.
func hangUp(c *pgx.Conn) {
	if c == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = c.Close(ctx)
}

// said is what a server or the way to it said, for the owner: never the password, and of the server
// only its code and its words, none of which has data of the tables that Discreet answers about.
func (p *place) said(err error) error {
	var refused *pgconn.PgError
	if errors.As(err, &refused) {
		err = fmt.Errorf("PostgreSQL says: %s (%s)", refused.Message, refused.Code)
	}
	if p.config.Password != "" && strings.Contains(err.Error(), p.config.Password) {
		return errors.New("the reason cannot be shown, because it contains the password")
	}
	return err
}
