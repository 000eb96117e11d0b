package interpret

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/discreet-dp/discreet/internal/pgcatalog/datum"
	"github.com/discreet-dp/discreet/internal/test/testpg"
)

// askPostgreSQL asks by the simple protocol, so that all values are texts; NULL is ~.
func askPostgreSQL(c *pgconn.PgConn, sql string) (columns []datum.Column, rows [][]string, err error) {
	results := c.Exec(context.Background(), sql)
	for results.NextResult() {
		reader := results.ResultReader()
		for _, f := range reader.FieldDescriptions() {
			columns = append(columns, datum.Column{Name: f.Name, OID: f.DataTypeOID})
		}
		for reader.NextRow() {
			row := make([]string, len(columns))
			for i, v := range reader.Values() {
				if row[i] = "~"; v != nil {
					row[i] = string(v)
				}
			}
			rows = append(rows, row)
		}
	}
	return columns, rows, results.Close()
}

// TestExpressionsAgainstPostgreSQL holds the interpreter against PostgreSQL, line by line.
func TestExpressionsAgainstPostgreSQL(t *testing.T) {
	text, err := os.ReadFile("testdata/expressions.sql")
	if err != nil {
		t.Fatal(err)
	}
	conn, err := pgconn.Connect(t.Context(), testpg.Shared(t).URL())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	if v := conn.ParameterStatus("server_version"); !strings.HasPrefix(v, "15.") {
		t.Skipf("what is interpreted is the language of PostgreSQL 15, and %s is installed", v)
	}
	for line := range strings.SplitSeq(strings.TrimSpace(string(text)), "\n") {
		if strings.HasPrefix(line, "--") {
			continue
		}
		sql := line
		if !strings.HasPrefix(sql, "SELECT") && !strings.HasPrefix(sql, "WITH") && !strings.HasPrefix(sql, "VALUES") {
			sql = "SELECT " + sql
		}
		columns, rows, theirErr := askPostgreSQL(conn, sql)
		ourColumns, ourRows, err := ask(t.Context(), sql)
		var theirs *pgconn.PgError
		switch {
		case errors.As(theirErr, &theirs):
			if theirs.Code != codeOf(err) {
				t.Errorf("%s\nfails with %v, and in PostgreSQL with %s (%s)", line, err, theirs.Code, theirs.Message)
			}
		case theirErr != nil || err != nil:
			t.Errorf("%s\nfails with %v, and in PostgreSQL with %v", line, err, theirErr)
		case !slices.Equal(columns, ourColumns):
			t.Errorf("%s\nhas columns %v, and in PostgreSQL %v", line, ourColumns, columns)
		case !slices.EqualFunc(rows, ourRows, slices.Equal):
			t.Errorf("%s\nis\n%s\nand in PostgreSQL\n%s", line, ourRows, rows)
		}
	}
}
