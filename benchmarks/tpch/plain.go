package main

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"time"

	_ "github.com/duckdb/duckdb-go/v2"
	"github.com/jackc/pgx/v5/pgconn"
)

var tables = []string{"region", "nation", "part", "supplier", "partsupp", "customer", "orders", "lineitem"}

// address is that of a database behind the socket in a folder.
func address(host, role, database string) string {
	return (&url.URL{Scheme: "postgres", User: url.User(role), Path: "/" + database,
		RawQuery: url.Values{"host": {host}}.Encode()}).String()
}

// postgres is a connection that asks plain queries.
type postgres struct{ conn *pgconn.PgConn }

func dial(ctx context.Context, host, database string) (postgres, error) {
	conn, err := pgconn.Connect(ctx, address(host, "postgres", database))
	return postgres{conn}, err
}

// query returns all rows as text, and how long that took.
func (p postgres) query(ctx context.Context, text string) ([][][]byte, time.Duration, error) {
	start := time.Now()
	results, err := p.conn.Exec(ctx, text).ReadAll()
	took := time.Since(start)
	if err != nil {
		return nil, 0, fmt.Errorf("PostgreSQL: %w", err)
	}
	return results[0].Rows, took, nil
}

// duck is a DuckDB beside that of the engine, on the same file.
type duck struct{ db *sql.DB }

func attach(ctx context.Context, file string) (duck, error) {
	db, err := sql.Open("duckdb", "")
	if err != nil {
		return duck{}, err
	}
	db.SetMaxOpenConns(1) // USE is the connection's
	for _, s := range []string{"ATTACH '" + file + "' AS d (READ_ONLY)", "USE d",
		"SET preserve_insertion_order = false"} { // as the engine has it
		if _, err := db.ExecContext(ctx, s); err != nil {
			db.Close()
			return duck{}, err
		}
	}
	return duck{db}, nil
}

// query reads all rows and returns how long that took.
func (d duck) query(ctx context.Context, text string) (time.Duration, error) {
	start := time.Now()
	rows, err := d.db.QueryContext(ctx, text)
	if err != nil {
		return 0, fmt.Errorf("DuckDB: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
	}
	return time.Since(start), rows.Err()
}

// load makes a DuckDB file of the Parquet files of a folder, unless it is there.
func load(ctx context.Context, parquet, file string) error {
	if _, err := os.Stat(file); err == nil {
		return nil
	}
	half := file + ".half"
	if err := os.RemoveAll(half); err != nil {
		return err
	}
	db, err := sql.Open("duckdb", half)
	if err != nil {
		return err
	}
	defer db.Close()
	for _, t := range tables {
		from := filepath.Join(parquet, t+".parquet")
		if _, err := db.ExecContext(ctx, fmt.Sprintf("CREATE TABLE %s AS FROM read_parquet('%s')", t, from)); err != nil {
			return err
		}
	}
	if err := db.Close(); err != nil {
		return err
	}
	return os.Rename(half, file)
}
