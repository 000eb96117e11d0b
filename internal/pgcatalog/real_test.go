package pgcatalog

import (
	"context"
	"errors"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/discreet-dp/discreet/internal/pgcatalog/datum"
	"github.com/discreet-dp/discreet/internal/pgcatalog/interpret"
	"github.com/discreet-dp/discreet/internal/pgcatalog/oid"
	"github.com/discreet-dp/discreet/internal/test/testpg"
)

// real is a PostgreSQL with the tables of the policy.
type real struct {
	conn *pgconn.PgConn
}

func startReal(t *testing.T, c *Catalog) *real {
	t.Helper()
	server := testpg.Start(t)
	ctx := context.Background()
	admin, err := pgx.Connect(ctx, server.URL())
	must(t, err)
	must(t, errorOf(admin.Exec(ctx, "CREATE DATABASE hospital OWNER postgres")))
	admin.Close(ctx)
	conn, err := pgconn.Connect(ctx, strings.Replace(server.URL(), "/postgres?", "/hospital?", 1))
	must(t, err)
	t.Cleanup(func() { conn.Close(ctx) })
	r := &real{conn: conn}
	if v := conn.ParameterStatus("server_version"); !strings.HasPrefix(v, "15.") {
		t.Skipf("the catalogue is that of PostgreSQL 15, and %s is installed", v)
	}
	for _, sql := range strings.Split(hospitalDDL, ";\n") {
		r.do(t, sql)
	}
	for _, rel := range c.db.schema.declared {
		kind := "TABLE"
		if rel.kind == "v" {
			kind = "VIEW"
		}
		r.do(t, "COMMENT ON "+kind+" "+datum.Quote(rel.name)+" IS "+literal(rel.comment))
		for _, a := range rel.cols {
			r.do(t, "COMMENT ON COLUMN "+datum.Quote(rel.name)+"."+datum.Quote(a.name)+" IS "+literal(a.comment))
		}
	}
	r.do(t, "SET SESSION AUTHORIZATION ana")
	return r
}

func literal(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

func (r *real) do(t *testing.T, sql string) ([]datum.Column, [][]string) {
	t.Helper()
	cols, rows, err := r.try(sql)
	if err != nil {
		t.Fatalf("PostgreSQL: %v\n%s", err, sql)
	}
	return cols, rows
}

// try asks by the simple protocol, so that all values are texts.
func (r *real) try(sql string) (cols []datum.Column, rows [][]string, err error) {
	m := r.conn.Exec(context.Background(), sql)
	for m.NextResult() {
		reader := m.ResultReader()
		for _, f := range reader.FieldDescriptions() {
			cols = append(cols, datum.Column{Name: f.Name, OID: f.DataTypeOID})
		}
		for reader.NextRow() {
			var row []string
			for _, v := range reader.Values() {
				if v == nil {
					row = append(row, "~")
				} else {
					row = append(row, string(v))
				}
			}
			rows = append(rows, row)
		}
		if _, err := reader.Close(); err != nil {
			m.Close()
			return nil, nil, err
		}
	}
	return cols, rows, m.Close()
}

// TestAgainstPostgreSQL compares columns, and the rows about public tables, with a PostgreSQL that
// has the same tables.
func TestAgainstPostgreSQL(t *testing.T) {
	c := testCatalog(t)
	pg := startReal(t, c)
	names := func(ask func(sql string) [][]string) map[string]string {
		m := map[string]string{}
		for _, row := range ask("SELECT oid, relname FROM pg_class WHERE relnamespace = 2200" +
			" UNION ALL SELECT oid, 'constraint ' || conname FROM pg_constraint" +
			" UNION ALL SELECT oid, 'type ' || typname FROM pg_type WHERE typnamespace = 2200" +
			" UNION ALL SELECT oid, 'database ' || datname FROM pg_database UNION ALL SELECT oid, 'role ' || rolname FROM pg_authid") {
			if len(row[0]) == 5 { // others are the same everywhere, or look like small numbers
				m[row[0]] = "<" + row[1] + ">"
			}
		}
		return m
	}
	pg.do(t, "RESET SESSION AUTHORIZATION")
	theirs := names(func(sql string) [][]string { _, rows := pg.do(t, sql); return rows })
	pg.do(t, "SET SESSION AUTHORIZATION ana")
	ours := names(func(sql string) [][]string {
		res, err := c.Query(context.Background(), sql, nil, nil)
		must(t, err)
		return texts(res)
	})
	theirOID := func(name string) string {
		for o, n := range theirs {
			if n == "<"+name+">" {
				return o
			}
		}
		t.Fatalf("no relation %s", name)
		return ""
	}
	for _, q := range clients(t) {
		t.Run(q.name, func(t *testing.T) {
			sql := fill(q.sql, ourOID(t, c))
			params, cols, err := c.Describe(sql, nil)
			must(t, err)
			if len(params) > 0 {
				described, err := pg.conn.Prepare(context.Background(), "", fill(q.sql, theirOID), nil)
				if err != nil {
					t.Fatalf("PostgreSQL: %v\n%s", err, q.sql)
				}
				for i, p := range described.ParamOIDs {
					if params[i] != p && !(params[i] == oid.Text && p == oid.Unknown) {
						t.Errorf("parameter $%d is %d, and %d for PostgreSQL", i+1, params[i], p)
					}
				}
				for i, f := range described.Fields {
					if cols[i] != (datum.Column{Name: f.Name, OID: f.DataTypeOID}) {
						t.Errorf("column %v, and %s %d for PostgreSQL", cols[i], f.Name, f.DataTypeOID)
					}
				}
				return
			}
			res, err := c.Query(context.Background(), sql, nil, nil)
			must(t, err)
			theirCols, theirRows, err := pg.try(fill(q.sql, theirOID))
			if err != nil {
				t.Fatalf("PostgreSQL: %v\n%s", err, q.sql)
			}
			if !slices.Equal(res.Columns, theirCols) {
				t.Errorf("columns\n%v\nand PostgreSQL has\n%v\n%s", res.Columns, theirCols, sql)
			}
			a, b := normal(texts(res), ours), normal(theirRows, theirs)
			if !strings.Contains(strings.ToLower(sql), "order by") {
				slices.Sort(a)
				slices.Sort(b)
			}
			if slices.Equal(a, b) {
				if reason, ok := different[q.name]; ok {
					t.Errorf("the same rows, which were said to differ because %s", reason)
				}
			} else {
				if reason, ok := different[q.name]; ok {
					t.Log("differs, because ", reason)
				} else {
					t.Errorf("of %d and %d rows, only here:\n%s\nonly in PostgreSQL:\n%s", len(a), len(b), missing(a, b), missing(b, a))
				}
			}
		})
	}
}

// normal keeps rows about the tables of the policy, with names for OIDs.
func normal(rows [][]string, names map[string]string) []string {
	var out []string
	for _, row := range rows {
		var line []string
		for _, v := range row {
			if n, ok := names[v]; ok {
				v = n
			}
			v = attributeVersion.ReplaceAllString(v, "~")
			line = append(line, v)
		}
		out = append(out, strings.Join(line, "|"))
	}
	return out
}

// attributeVersion is what later minor versions of PostgreSQL 15 note of a column.
var attributeVersion = regexp.MustCompile(`^{pg_attver=[0-9]+}$`)

// different are the queries whose rows differ from PostgreSQL's, and why.
var different = func() map[string]string {
	m := map[string]string{}
	for reason, names := range map[string]string{
		"there are no statistics and no sizes": `
			dbeaver/navigator#9 dbeaver/navigator#11 metabase/sync#2 pgjdbc/getIndexInfo#1 psql/di_plus#1 psql/dt_plus#1
			psql/l_plus#1`,
		"there are no other databases, roles and sessions": `
			dbeaver/navigator#20 psql/dg#1 psql/du#1 psql/du_plus#1 psql/l#1 psql/tab_completion#9`,
		"there is no history and no TOAST": `dbeaver/navigator#2 dbeaver/navigator#6 psql/dt_all#1 psql/tab_completion#7`,
		"what belongs to the system has no description and no index": `
			dbeaver/navigator#4 pgjdbc/getFunctions#1 pgjdbc/getTables_all#1 psql/dL#1 psql/dS#2 psql/dS#4 psql/dT_plus#1
			psql/d_system#2 psql/d_system#4`,
		"the types of rows of system relations have other numbers": `pgjdbc/getColumns_all#1 pgjdbc/getTypeInfo#1 pgjdbc/getTypeInfo#2`,
		"a view's text is the owner's":                             "psql/d_view#4 psql/sv#2",
		"constraints are shown to who may only read":               "metabase/sync#3 powerbi/navigator#3 powerbi/navigator#4",
		"there are fewer functions, operators, settings and words": `
			pgjdbc/keywords#1 psql/dC#1 psql/dF#1 psql/dconfig#1 psql/do#1 psql/dx#1 psql/tab_completion#14
			psql/tab_completion#10 psql/tab_completion#12 psql/tab_completion#22
			psql/tab_completion#36`,
		"the version is our own": "npgsql/types#1 sqlalchemy/inspector#1",
	} {
		for _, n := range strings.Fields(names) {
			m[n] = reason
		}
	}
	return m
}()

// missing are the first lines of a that are not in b.
func missing(a, b []string) string {
	var out []string
	for _, line := range a {
		if !slices.Contains(b, line) && len(out) < 5 {
			out = append(out, line)
		}
	}
	return strings.Join(out, "\n")
}

// TestExpressionsAgainstPostgreSQL holds queries about the catalogue against PostgreSQL, line by
// line.
func TestExpressionsAgainstPostgreSQL(t *testing.T) {
	c := testCatalog(t)
	pg := startReal(t, c)
	text, err := os.ReadFile("testdata/expressions.sql")
	must(t, err)
	for line := range strings.SplitSeq(string(text), "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "--") {
			continue
		}
		sql := line
		if !strings.HasPrefix(sql, "SELECT") && !strings.HasPrefix(sql, "WITH") && !strings.HasPrefix(sql, "VALUES") {
			sql = "SELECT " + sql
		}
		cols, rows, theirErr := pg.try(sql)
		res, err := c.Query(context.Background(), sql, nil, nil)
		var ours *interpret.Error
		var theirs *pgconn.PgError
		switch {
		case errors.As(theirErr, &theirs) && errors.As(err, &ours):
			if theirs.Code != ours.Code {
				t.Errorf("%s\nfails with %s (%s), and in PostgreSQL with %s (%s)", line, ours.Code, ours.Message, theirs.Code,
					theirs.Message)
			}
		case theirErr != nil || err != nil:
			t.Errorf("%s\nfails with %v, and in PostgreSQL with %v", line, err, theirErr)
		default:
			if !slices.Equal(cols, res.Columns) {
				t.Errorf("%s\nhas columns %v, and in PostgreSQL %v", line, res.Columns, cols)
			}
			a, b := normal(texts(res), nil), normal(rows, nil)
			if !slices.Equal(a, b) {
				t.Errorf("%s\nis\n%s\nand in PostgreSQL\n%s", line, strings.Join(a, "\n"), strings.Join(b, "\n"))
			}
		}
	}
}
