package pgtables

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/discreet-dp/discreet/internal/pgplace"
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
	looks   looks
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
	return &Database{dataset: ds, config: config, looks: looks{patience: patience}}, nil
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

// String says where the database is.
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

// Explain says why, to the owner.
func (e *Unreachable) Explain() string {
	return fmt.Sprintf("the PostgreSQL database of the dataset %s, %s, cannot be reached: %s", e.Dataset, e.Where, reason(e.Err))
}

// reason is what went wrong, without the password, which the driver leaves out.
func reason(err error) string {
	var refused *pgconn.PgError
	if errors.As(err, &refused) {
		return refused.Message
	}
	return pgplace.Why(err)
}

// connect opens a connection.
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
		pgplace.HangUp(c)
		return nil, nil, &Unreachable{d.dataset.Name, d.String(), err}
	}
	return c, tx, nil
}

// name spells a relation of the policy.
func name(relation string) string {
	schema, table, _ := strings.Cut(relation, ".")
	return pgx.Identifier{schema, table}.Sanitize()
}
