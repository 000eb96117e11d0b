package anchor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/discreet-dp/discreet/internal/source/pgdial"
	"github.com/discreet-dp/discreet/ledger"
)

// storeTimeout is how long one Load or Store may take altogether.
const storeTimeout = 10 * time.Second

const (
	createTable = `CREATE TABLE IF NOT EXISTS discreet_anchor (
  name text PRIMARY KEY,
  document text NOT NULL,
  sha256 text NOT NULL,
  stored timestamptz NOT NULL DEFAULT now()
)`
	// FOR UPDATE is refused by a standby, whose rows may be old.
	selectRow = `SELECT document, sha256 FROM discreet_anchor WHERE name = $1 FOR UPDATE`
	insertRow = `INSERT INTO discreet_anchor (name, document, sha256) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`
	updateRow = `UPDATE discreet_anchor SET document = $2, sha256 = $3, stored = now() WHERE name = $1`
)

// Row is the place of an anchor in a PostgreSQL database. It connects when it is first used, and
// again after an error.
type Row struct {
	config *pgx.ConnConfig
	name   string

	mutex  sync.Mutex
	conn   *pgx.Conn
	memory knownSums
}

// Postgres returns the place of an anchor in the row of this name. The address is a URL such as
// postgres://user:password@host/database, whose password is in no message. On another machine it is
// known by its certificate, unless the address says otherwise.
func Postgres(address, name string) (*Row, error) {
	if name == "" || len(name) > ledger.MaxName {
		return nil, &ledger.InvalidError{Field: "name of the anchor", Problem: fmt.Sprintf("must have 1 to %d bytes", ledger.MaxName)}
	}
	config, err := pgx.ParseConfig(pgdial.Verified(address))
	if err != nil {
		// What pgx says may repeat parts of the address.
		return nil, &ledger.InvalidError{Field: "address of the PostgreSQL database",
			Problem: "does not parse: write postgres://user:password@host/database"}
	}
	config.ConnectTimeout = storeTimeout
	// Poolers between us and the server may not keep prepared statements.
	config.DefaultQueryExecMode = pgx.QueryExecModeExec
	return &Row{config: config, name: name}, nil
}

func (r *Row) String() string {
	return fmt.Sprintf("the row %q of discreet_anchor in the PostgreSQL database %s at %s", r.name, r.config.Database, r.config.Host)
}

func (r *Row) Load(ctx context.Context) (a ledger.Anchor, found bool, err error) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	err = r.work(ctx, func(ctx context.Context, tx pgx.Tx) error {
		text, sum, err := r.read(ctx, tx)
		if err != nil {
			return err
		}
		if found = sum != noSum; found {
			if a, err = decode(text); err != nil {
				return &DamagedError{r.String(), err}
			}
		}
		r.memory.set(sum)
		return nil
	})
	if err != nil {
		return ledger.Anchor{}, false, err
	}
	return a, found, nil
}

func (r *Row) Store(ctx context.Context, a ledger.Anchor) error {
	text, err := encode(a)
	if err != nil {
		return err
	}
	r.mutex.Lock()
	defer r.mutex.Unlock()
	sum := ledger.Hash(text)
	err = r.work(ctx, func(ctx context.Context, tx pgx.Tx) error {
		_, before, err := r.read(ctx, tx)
		if err != nil {
			return err
		}
		if len(r.memory) > 0 && !r.memory.allows(before) {
			return &MovedError{r.String()}
		}
		r.memory.set(before)
		statement := updateRow
		if before == noSum {
			statement = insertRow
		}
		tag, err := tx.Exec(ctx, statement, r.name, string(text), sum)
		if err == nil && tag.RowsAffected() != 1 {
			return &MovedError{r.String()} // another process inserted it first
		}
		r.memory.addTried(sum)
		return err
	})
	if err != nil {
		return err
	}
	r.memory.set(sum)
	return nil
}

func (r *Row) Close() error {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.hangUp()
	return nil
}

// hangUp closes the connection. That a server which restarted cannot be told so is no trouble.
func (r *Row) hangUp() {
	pgdial.HangUp(r.conn)
	r.conn = nil
}

// read returns the row and the hash of its document, and locks it.
func (r *Row) read(ctx context.Context, tx pgx.Tx) ([]byte, string, error) {
	var text, sum string
	err := tx.QueryRow(ctx, selectRow, r.name).Scan(&text, &sum)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, noSum, nil
	} else if err != nil {
		return nil, "", err
	}
	if ledger.Hash(text) != sum {
		return nil, "", &DamagedError{r.String(), errors.New("the row was changed: the document does not match its hash")}
	}
	return []byte(text), sum, nil
}

// work does something in a transaction that is on stable storage when it returns nil. The
// connection is not used again after an error.
func (r *Row) work(ctx context.Context, do func(context.Context, pgx.Tx) error) error {
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	// An idle connection may have died with a server that is back by now. Nothing was tried on it
	// yet, so a second one may be.
	if r.conn != nil && r.conn.Ping(ctx) != nil {
		r.hangUp()
	}
	err := r.transact(ctx, do)
	var refused *pgconn.PgError
	if errors.As(err, &refused) && refused.Code == "42P01" { // undefined_table
		if err = r.create(ctx); err == nil {
			err = r.transact(ctx, do)
		}
	}
	if err == nil {
		return nil
	}
	r.hangUp()
	var moved *MovedError
	var damaged *DamagedError
	if errors.As(err, &moved) || errors.As(err, &damaged) {
		return err
	}
	return &unreachable{r.String(), r.config.Password, err}
}

func (r *Row) transact(ctx context.Context, do func(context.Context, pgx.Tx) error) error {
	if r.conn == nil {
		conn, err := pgx.ConnectConfig(ctx, r.config)
		if err != nil {
			return err
		}
		r.conn = conn
	}
	return pgx.BeginFunc(ctx, r.conn, func(tx pgx.Tx) error {
		// Here and not when connecting, because a pooler may hand out another connection. A
		// stronger setting is left.
		if _, err := tx.Exec(ctx,
			`SELECT set_config('synchronous_commit', 'on', true) WHERE current_setting('synchronous_commit') IN ('off', 'local')`); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, fmt.Sprintf(`SET LOCAL statement_timeout = %d`, storeTimeout.Milliseconds())); err != nil {
			return err
		}
		return do(ctx, tx)
	})
}

// create makes the table. Two that create it at once may get in each other's way, and then it is
// there.
func (r *Row) create(ctx context.Context) error {
	_, err := r.conn.Exec(ctx, createTable)
	var refused *pgconn.PgError
	// unique_violation, duplicate_table, duplicate_object
	if errors.As(err, &refused) && slices.Contains([]string{"23505", "42P07", "42710"}, refused.Code) {
		return nil
	}
	return err
}

// unreachable is an error of PostgreSQL or on the way to it, without the password.
type unreachable struct {
	place, password string
	err             error
}

func (e *unreachable) Error() string {
	text := pgdial.Why(e.err)
	if e.password != "" && strings.Contains(text, e.password) {
		text = "the reason cannot be shown, because it contains the password"
	}
	return fmt.Sprintf("the anchor in %s cannot be used: %s", e.place, text)
}
