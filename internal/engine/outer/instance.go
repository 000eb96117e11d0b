package outer

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"

	driver "github.com/duckdb/duckdb-go/v2"
)

// turns bounds how many calls run at a time, and so the memory of all; apart is for those of
// [Apart].
var turns, apart = make(chan struct{}, MaxRunning), make(chan struct{}, MaxApart)

type apartKey struct{}

// Apart returns a context whose calls have turns of their own. It is for what begins and ends at
// moments that nobody hides: whoever waited there for a turn of a question that leaves on a tick
// would see when that has come as far as its outer query, and so how long the data took.
func Apart(ctx context.Context) context.Context { return context.WithValue(ctx, apartKey{}, true) }

func turnsOf(ctx context.Context) chan struct{} {
	if ctx.Value(apartKey{}) != nil {
		return apart
	}
	return turns
}

// instance is a DuckDB for one call: in memory, locked, with the released tables and nothing else.
// Opening one takes about 15 ms; keeping them would need a proof that nothing stays behind.
type instance struct {
	db    *sql.DB
	conn  *sql.Conn
	turns chan struct{} // of which it has one
}

// settings are made before anything else; the last of them locks all.
var settings = []string{
	// One thread adds up in one order, so that sums of doubles are the same each time.
	"SET threads = 1",
	"SET memory_limit = '" + Memory + "'",
	"SET temp_directory = ''",
	"SET max_temp_directory_size = '0KB'",
	"SET integer_division = true", // as PostgreSQL divides whole numbers
	"SET TimeZone = 'UTC'",
	"SET autoinstall_known_extensions = false",
	"SET autoload_known_extensions = false",
	"SET allow_community_extensions = false",
	"SET allow_persistent_secrets = false",
	"SET disabled_filesystems = 'LocalFileSystem'",
	"SET enable_external_access = false",
	"SET lock_configuration = true",
}

// open takes a turn, opens a DuckDB, locks it and loads tables.
func open(ctx context.Context, tables []Table) (_ *instance, err error) {
	in := &instance{turns: turnsOf(ctx)}
	select {
	case in.turns <- struct{}{}:
	case <-ctx.Done():
		return nil, busy(ctx)
	}
	defer func() {
		if err != nil {
			in.close()
			if ctx.Err() != nil {
				err = busy(ctx)
			}
		}
	}()
	connector, err := driver.NewConnector("", nil)
	if err != nil {
		return nil, errStart
	}
	in.db = sql.OpenDB(connector)
	if in.conn, err = in.db.Conn(ctx); err != nil {
		return nil, errStart
	}
	if _, err := in.conn.ExecContext(ctx, strings.Join(settings, ";")); err != nil {
		return nil, errStart
	}
	for i := range tables {
		if err := in.load(ctx, &tables[i]); err != nil {
			return nil, err
		}
	}
	return in, nil
}

func (in *instance) close() error {
	var err error
	if in.conn != nil {
		err = in.conn.Close()
	}
	if in.db != nil {
		err = errors.Join(err, in.db.Close())
	}
	<-in.turns
	return err
}

// load makes a table. Its types depend on its columns alone, so that Describe sees what Run will.
func (in *instance) load(ctx context.Context, t *Table) error {
	if len(t.Columns) == 0 {
		return fmt.Errorf("the released result %q has no columns", t.Name)
	}
	columns := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		kind, err := c.sql()
		if err != nil {
			return fmt.Errorf("the released result %q: %w", t.Name, err)
		}
		columns[i] = quote(c.Name) + " " + kind
	}
	if _, err := in.conn.ExecContext(ctx, "CREATE TABLE "+quote(t.Name)+" ("+strings.Join(columns, ", ")+")"); err != nil {
		return fmt.Errorf("the released result %q cannot be made a table; does it have two columns of one name?", t.Name)
	}
	if len(t.Rows) == 0 {
		return nil
	}
	return in.conn.Raw(func(c any) error { return fill(c, t) })
}

func quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// sql is a column's type. A released whole number has at most 64 bits.
func (c Column) sql() (string, error) {
	switch c.Kind {
	case Integer:
		return "BIGINT", nil
	case Decimal:
		if c.Decimals < 0 || c.Decimals > maxDecimals {
			return "", fmt.Errorf("column %q has %d digits after the point; at most %d are possible", c.Name, c.Decimals, maxDecimals)
		}
		return "DECIMAL(38, " + strconv.Itoa(c.Decimals) + ")", nil
	case Real:
		return "DOUBLE", nil
	case Text:
		return "VARCHAR", nil
	case Boolean:
		return "BOOLEAN", nil
	case Date:
		return "DATE", nil
	case Timestamp:
		return "TIMESTAMP", nil
	}
	return "", fmt.Errorf("column %q has a kind that is not known", c.Name)
}
