package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/discreet-dp/discreet/internal/entropy"
	"github.com/discreet-dp/discreet/internal/ledger/chain"
	"github.com/discreet-dp/discreet/internal/source/pgdial"
	"github.com/discreet-dp/discreet/internal/version"
	"github.com/discreet-dp/discreet/ledger"
)

// Format is the version of the tables and of what the records may hold: the one that is read and
// written here. A version that raises it raises it in the head before it writes anything else.
const Format = 1

// tables makes a ledger. The triggers are a guard against accidents: what a determined person
// changes is found by the hash chain.
var tables = []string{
	`CREATE TABLE ledger.head (
  one boolean PRIMARY KEY DEFAULT true CHECK (one),
  format integer NOT NULL,
  sequence bigint NOT NULL,
  hash text NOT NULL
)`,
	`CREATE TABLE ledger.records (
  sequence bigint PRIMARY KEY CHECK (sequence >= 0),
  body bytea NOT NULL,
  hash text NOT NULL,
  answer bytea,
  server bigint NOT NULL
)`,
	`CREATE TABLE ledger.servers (
  server bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
  host text NOT NULL,
  state text NOT NULL DEFAULT 'serving' CHECK (state IN ('serving', 'left', 'gone')),
  began timestamptz NOT NULL DEFAULT clock_timestamp(),
  seen timestamptz NOT NULL DEFAULT clock_timestamp()
)`,
	`CREATE TABLE ledger.deaths (
  server bigint NOT NULL,
  dataset text NOT NULL,
  counted boolean NOT NULL DEFAULT false,
  PRIMARY KEY (server, dataset)
)`,
	// What follows from the records, in pieces; nothing depends on it. It does not get smaller.
	`CREATE TABLE ledger.checkpoints (
  last bigint NOT NULL,
  sum text NOT NULL,
  part bigint NOT NULL,
  bytes bytea NOT NULL,
  PRIMARY KEY (last, sum, part)
)`,
	`ALTER TABLE ledger.checkpoints ALTER bytes SET STORAGE EXTERNAL`,
	`CREATE FUNCTION ledger.stays() RETURNS trigger LANGUAGE plpgsql AS
$$BEGIN RAISE EXCEPTION 'records are only ever appended: what was spent stays spent'; END$$`,
	`CREATE TRIGGER records_stay BEFORE UPDATE OR DELETE ON ledger.records FOR EACH ROW EXECUTE FUNCTION ledger.stays()`,
	`CREATE TRIGGER records_all_stay BEFORE TRUNCATE ON ledger.records FOR EACH STATEMENT EXECUTE FUNCTION ledger.stays()`,
	`CREATE TRIGGER head_stays BEFORE DELETE ON ledger.head FOR EACH ROW EXECUTE FUNCTION ledger.stays()`,
	`CREATE TRIGGER head_all_stays BEFORE TRUNCATE ON ledger.head FOR EACH STATEMENT EXECUTE FUNCTION ledger.stays()`,
}

const (
	insertHead = `INSERT INTO ledger.head (format, sequence, hash) VALUES ($1, $2, $3)`
	// Who waits for the head waits for the end of whatever transaction has it, also of one whose
	// connection was lost.
	lockHead      = `SELECT sequence, hash, format FROM ledger.head WHERE one FOR UPDATE`
	updateHead    = `UPDATE ledger.head SET sequence = $1, hash = $2 WHERE one AND sequence = $3 AND hash = $4`
	insertRecords = `INSERT INTO ledger.records (sequence, body, hash, answer, server)
SELECT s, b, h, a, $5 FROM unnest($1::bigint[], $2::bytea[], $3::text[], $4::bytea[]) AS t (s, b, h, a)`
	selectRecord = `SELECT body, hash, answer FROM ledger.records WHERE sequence = $1`
	selectHash   = `SELECT hash FROM ledger.records WHERE sequence = $1`
	// One statement has one snapshot: the head and the records that lead to it. Of answers only the
	// hash is read, because they may be large.
	selectSince = `SELECT h.sequence, h.hash, r.sequence, r.body, r.hash, coalesce(encode(sha256(r.answer), 'hex'), '')
FROM ledger.head h LEFT JOIN (SELECT * FROM ledger.records WHERE sequence > $1 ORDER BY sequence LIMIT $2) r ON true
WHERE h.one ORDER BY r.sequence`
)

// errOpen is for a ledger that everybody may read. The noise of thresholds is in it, and whoever
// can write it can spend or forget; a file has mode 0600 for the same reason.
var errOpen = errors.New("everybody in its database can read or change it, including the secrets of its streams: revoke the rights " +
	"of PUBLIC to the tables head, records, servers and deaths")

// exists reports whether the ledger is there. Some of it is damage, and what everybody may read or
// change is refused and not repaired.
func (p *database) exists(ctx context.Context, c *pgx.Conn) (bool, error) {
	var n int
	var open bool
	if err := c.QueryRow(ctx, `SELECT count(*),
coalesce(bool_or(has_table_privilege('public', k.oid, 'SELECT, INSERT, UPDATE, DELETE, TRUNCATE, TRIGGER')
  OR has_any_column_privilege('public', k.oid, 'SELECT, INSERT, UPDATE')), false)
FROM pg_class k JOIN pg_namespace n ON n.oid = k.relnamespace
WHERE n.nspname = $1 AND k.relkind = 'r' AND NOT k.relrowsecurity AND k.relname IN ('head', 'records', 'servers', 'deaths')`, p.schema).
		Scan(&n, &open); err != nil {
		return false, err
	}
	if n != 0 && n != 4 {
		return false, &ledger.CorruptError{Path: p.name, Where: fmt.Sprintf("only %d of its 4 tables exist as tables", n)}
	}
	if n == 0 {
		return false, nil
	}
	var has int
	err := c.QueryRow(ctx, p.in("SELECT format FROM ledger.head")).Scan(&has)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return false, &ledger.CorruptError{Path: p.name, Where: "its head is missing"}
	case err == nil && has != Format:
		return true, p.newer(ctx, c, has)
	case err == nil && open:
		err = errOpen
	}
	return true, err
}

// madeBy begins the comment on the head, which names the version that made the tables, or brought
// them to their format, so that an older one can name it.
const madeBy = "a ledger of Discreet "

// newer says that another version made the tables, and which, where their comment tells.
func (p *database) newer(ctx context.Context, c *pgx.Conn, has int) error {
	var comment string
	if err := c.QueryRow(ctx, `SELECT coalesce(obj_description(k.oid, 'pg_class'), '')
FROM pg_class k JOIN pg_namespace n ON n.oid = k.relnamespace WHERE n.nspname = $1 AND k.relname = 'head'`, p.schema).
		Scan(&comment); err != nil {
		comment = ""
	}
	by, found := strings.CutPrefix(comment, madeBy)
	if !found {
		by = ""
	}
	return &ledger.CorruptError{Path: p.name, Newer: version.Newer("the ledger "+p.name, fmt.Sprint(has), fmt.Sprint(Format), by)}
}

// create makes the tables and the first record, where there are none. Two that do so at once do it
// once.
func (p *database) create(ctx context.Context, c *pgx.Conn, now time.Time) error {
	first := chain.First(entropy.New().Name(), now)
	return p.fill(ctx, c, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, p.in(insertRecords), []int64{0}, [][]byte{[]byte(first.Body)}, []string{first.Hash}, [][]byte{nil},
			int64(0)); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, p.in(insertHead), Format, int64(0), first.Hash)
		return err
	})
}

// fill makes the tables with what is in them, in one transaction. Where they are there by then it
// does nothing.
func (p *database) fill(ctx context.Context, c *pgx.Conn, with func(pgx.Tx) error) error {
	return p.at.Make(ctx, c, func(tx pgx.Tx) error {
		if there, err := p.exists(ctx, c); err != nil || there {
			return err
		}
		for _, sql := range tables {
			if _, err := tx.Exec(ctx, p.in(sql)); err != nil {
				return err
			}
		}
		if _, err := tx.Exec(ctx, p.in("COMMENT ON TABLE ledger.head IS '"+madeBy+version.Clean(version.Version)+"'")); err != nil {
			return err
		}
		return with(tx)
	})
}

// database is where a ledger is: a database, and a schema in it.
type database struct {
	at     *pgdial.Database
	config *pgx.ConnConfig
	schema string
	name   string // for messages; without the password
}

// PasswordVariable names the environment variable that has the password of the ledger's database.
const PasswordVariable = pgdial.PasswordVariable

// Is reports whether a ledger is one of this package, by how its place is written.
func Is(address string) bool { return pgdial.Is(address) }

// parse reads the address of a ledger, such as postgres://discreet@db.example.org/discreet.
func parse(address string) (*database, error) {
	at, err := pgdial.Parse(address)
	if err != nil {
		return nil, &ledger.InvalidError{Field: "address of the ledger's database", Problem: err.Error()}
	}
	at.Config.RuntimeParams["application_name"] = "discreet ledger"
	return &database{at: at, config: at.Config, schema: at.Schema, name: at.Name}, nil
}

// in puts the name of the schema into a statement, where it says "ledger.".
func (p *database) in(sql string) string { return p.at.In("ledger", sql) }

// dial connects, and sets what all work rests on.
func (p *database) dial(ctx context.Context) (*pgx.Conn, error) { return p.at.Dial(ctx) }

// said is what a server or the way to it said, for the owner.
func (p *database) said(err error) error { return p.at.Said(err) }

// hangUp closes a connection without waiting for a server that does not answer.
func hangUp(c *pgx.Conn) { pgdial.HangUp(c) }

var errFsync = pgdial.ErrFsync
