package duckdb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	driver "github.com/duckdb/duckdb-go/v2"

	"github.com/discreet-dp/discreet/internal/dialect"
	"github.com/discreet-dp/discreet/internal/engine/sqlengine"
	"github.com/discreet-dp/discreet/policy"
)

// askVersion asks the owner's version query. It runs when the data is opened, and again when the
// file may have changed; never with a question, so how long it takes tells nothing about one.
//
// It runs in a DuckDB of its own, so that nothing it does is there when analysts ask, and one that
// is locked: it sees the database, read-only, and no other file. The other DuckDB is opened after
// this one is closed, because closing a file takes away the locks that this process has on it.
func askVersion(ctx context.Context, ds *policy.Dataset, limits Limits) (string, error) {
	failed := func(problem string, err error) (string, error) {
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		return "", &policy.VersionError{Dataset: ds.Name, Problem: problem, Err: err}
	}
	connector, err := driver.NewConnector("", nil)
	if err != nil {
		return "", fmt.Errorf("start DuckDB: %w", err)
	}
	db := sql.OpenDB(connector)
	defer db.Close()
	c, err := db.Conn(ctx)
	if err != nil {
		return "", fmt.Errorf("start DuckDB: %w", err)
	}
	defer c.Close()
	// A time is spelled in the same way on every machine. Where the zones are not there, neither
	// are such times.
	_, _ = c.ExecContext(ctx, "SET TimeZone = 'UTC'")
	if _, err := c.ExecContext(ctx, "ATTACH "+dialect.QuoteText(ds.Source)+" AS source (READ_ONLY)"); err != nil {
		return "", errAttach(ds)
	}
	for _, set := range slices.Concat(limits.settings(), []string{
		"USE source",              // so that names are those of the database
		"SET temp_directory = ''", // private rows are spilled nowhere
		"SET allowed_paths = []",
	}, locks) {
		if _, err := c.ExecContext(ctx, set); err != nil {
			return "", fmt.Errorf("lock DuckDB (%s): %w", set, err)
		}
	}
	// In brackets there is room for one SELECT and nothing else.
	query := strings.TrimRight(ds.VersionQuery, "; \t\r\n")
	rows, err := c.QueryContext(ctx, "SELECT CAST(COLUMNS(*) AS VARCHAR) FROM (\n"+query+"\n)")
	if err != nil {
		return failed("cannot be run; write one SELECT about tables of the database, such as SELECT max(loaded_at) FROM load_log", err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil || len(columns) != 1 {
		return failed(fmt.Sprintf("has %d columns; select one", len(columns)), err)
	}
	var versions []sql.NullString
	for rows.Next() && len(versions) < 2 {
		var v sql.NullString
		if err := rows.Scan(&v); err != nil {
			return failed("cannot be read", err)
		}
		versions = append(versions, v)
	}
	switch err := rows.Err(); {
	case err != nil:
		return failed("cannot be run", err)
	case len(versions) == 0:
		return failed("has no row; it has to have one, so take an aggregate such as max", nil)
	case len(versions) > 1:
		return failed("has several rows; it has to have one, so take an aggregate such as max", nil)
	case !versions[0].Valid:
		return failed("is NULL; it has to have a value, so write coalesce(..., 'empty')", nil)
	}
	text := versions[0].String
	if problem := sqlengine.CheckName(text); problem != "" {
		return failed(problem, nil)
	}
	return text, nil
}

func errAttach(ds *policy.Dataset) error {
	return fmt.Errorf("open %s: it is not a DuckDB file that this version can read, or another process is writing to it", ds.Source)
}

// DescribeVersion says, for the owner, what the version of the data is. Of contents it shows no
// hash: who is given one can try out guesses of all that is in the files.
func DescribeVersion(ctx context.Context, ds *policy.Dataset) (string, error) {
	if ds.SourceKind() == policy.PostgresDatabase {
		return describeOrigin(ctx, ds)
	}
	if ds.VersionQuery != "" {
		text, err := askVersion(ctx, ds, Limits{})
		var failed *policy.VersionError
		if errors.As(err, &failed) {
			return "", errors.New(failed.Explain())
		}
		if err != nil {
			return "", err
		}
		return fmt.Sprintf("%q, by the version query; analysts see it", text), nil
	}
	tables := map[string]*table{}
	for _, name := range ds.TableNames() {
		t, err := findTable(ds, ds.Tables[name])
		if err != nil {
			return "", err
		}
		tables[name] = t
	}
	files, large := 0, 0
	database, rest := dataFiles(ds, tables)
	for _, path := range append(database, rest...) {
		if f := stateOf(path); f.exists {
			files++
			if f.size > hashedWhole {
				large++
			}
		}
	}
	text := fmt.Sprintf("the contents of %d files", files)
	if files == 1 {
		text = "the contents of the file"
	}
	if large > 0 {
		text += fmt.Sprintf("; %d above 1 GiB by samples, times and inode", large)
	}
	return text, nil
}
