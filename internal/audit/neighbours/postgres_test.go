package neighbours_test

import (
	"context"
	"fmt"
	"math"
	"net/url"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/discreet-dp/discreet/internal/audit/generate"
	"github.com/discreet-dp/discreet/internal/audit/neighbours"
	"github.com/discreet-dp/discreet/internal/engine"
	"github.com/discreet-dp/discreet/internal/engine/duckdb"
	"github.com/discreet-dp/discreet/internal/engine/reference"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/plan/tree"
	"github.com/discreet-dp/discreet/internal/testpg"
	"github.com/discreet-dp/discreet/policy"
)

// opener stores a made-up database somewhere, and opens it there. What is the same for every store
// is in TestStores; another one is one more of these.
type opener func(t *testing.T, db *generate.Database) engine.Engine

func stores(t *testing.T) map[string]opener {
	server := testpg.Start(t)
	n := 0
	return map[string]opener{"postgres": func(t *testing.T, db *generate.Database) engine.Engine {
		n++
		return inPostgres(t, server, fmt.Sprintf("w%d", n), db)
	}}
}

// TestStores: the same data in another store has the same exact numbers, and the same groups and
// rows of people are kept, question by question, with the signs, infinities, dates and texts that
// databases disagree about.
func TestStores(t *testing.T) {
	questions := 0
	for name, open := range stores(t) {
		for w, ds := range generate.Worlds() {
			for pair := range 1 {
				d := generate.NewDice(fmt.Sprint("stores ", w, " ", pair), 1)
				db := withoutNUL(generate.Make(d, ds))
				maker := generate.NewMaker(ds, plan.Options{Public: reference.New(ds, db.Tables).Public()})
				own, err := stored(t.Context(), t.TempDir(), db)
				if err != nil {
					t.Fatal(err)
				}
				other := open(t, db)
				for range 40 {
					text := maker.Question(d)
					s, err := generate.Prepare(ds, text, plan.Options{Public: reference.New(ds, db.Tables).Public()})
					if err != nil {
						continue
					}
					for _, p := range s.Plans {
						if p.Query.ListsKeys() {
							continue
						}
						questions++
						sameResult(t, name+": "+ds.Name+": "+text, own, other, &p.Query)
					}
				}
				own.Close()
			}
		}
	}
	if questions < 80 {
		t.Errorf("only %d questions were compared", questions)
	}
}

// sameResult runs a query in two engines.
func sameResult(t *testing.T, what string, a, b engine.Engine, q *tree.Query) {
	t.Helper()
	x, err := a.Run(t.Context(), q)
	y, other := b.Run(t.Context(), q)
	if (err == nil) != (other == nil) {
		t.Errorf("%s: %v, and there %v", what, err, other)
		return
	}
	if err != nil {
		return
	}
	if far, err := neighbours.Judge(q, x, y); far != 0 || err != nil {
		t.Errorf("%s: other numbers: %v, %v", what, far, err)
	}
}

// withoutNUL takes characters out that PostgreSQL has in no text.
func withoutNUL(db *generate.Database) *generate.Database {
	for _, table := range db.Tables {
		for _, row := range table.Rows {
			for i, v := range row {
				if text, ok := v.(string); ok {
					row[i] = strings.ReplaceAll(text, "\x00", "\x01")
				}
			}
		}
	}
	return db
}

// inPostgres stores a made-up database in a schema of its own, which is copied again for questions.
func inPostgres(t *testing.T, server *testpg.Server, schema string, db *generate.Database) engine.Engine {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), server.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	ds := *db.Dataset
	ds.Tables = map[string]*policy.Table{}
	statements := []string{"CREATE SCHEMA " + schema, "CREATE ROLE r" + schema + " LOGIN",
		"GRANT USAGE ON SCHEMA " + schema + " TO r" + schema, "REVOKE CREATE ON SCHEMA public FROM PUBLIC"}
	for name, t := range db.Dataset.Tables {
		own := *t
		own.Relation = schema + "." + name
		ds.Tables[name] = &own
		statements = append(statements, tableSQL(schema, name, t, db)...)
		statements = append(statements, fmt.Sprintf("GRANT SELECT ON %s.%q TO r%s", schema, name, schema))
	}
	for _, s := range statements {
		if _, err := conn.Exec(t.Context(), s); err != nil {
			t.Fatalf("%v in %.500s", err, s)
		}
	}
	u, err := url.Parse(server.URL())
	if err != nil {
		t.Fatal(err)
	}
	u.User = url.User("r" + schema)
	ds.Source = u.String()
	e, err := duckdb.OpenWith(t.Context(), &ds, duckdb.Limits{Threads: 1, Memory: 1 << 30})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return e
}

// tableSQL makes a table in PostgreSQL.
func tableSQL(schema, name string, t *policy.Table, db *generate.Database) []string {
	all := db.Tables[name]
	types := map[policy.Type]string{policy.Text: "text", policy.Boolean: "boolean", policy.Date: "date", policy.Decimal: "double precision",
		policy.Integer: "bigint", policy.Timestamp: "timestamp"}
	list := make([]string, len(all.Columns))
	for i, column := range all.Columns {
		typ := "bigint"
		if c := t.Columns[column]; c != nil {
			typ = types[c.Type]
		}
		list[i] = fmt.Sprintf("%q %s", column, typ)
	}
	out := []string{fmt.Sprintf("CREATE TABLE %s.%q (%s)", schema, name, strings.Join(list, ", "))}
	for _, row := range all.Rows {
		values := make([]string, len(row))
		for i, v := range row {
			values[i] = valueSQL(v, t.Columns[all.Columns[i]])
		}
		out = append(out, fmt.Sprintf("INSERT INTO %s.%q VALUES (%s)", schema, name, strings.Join(values, ", ")))
	}
	return out
}

func valueSQL(v any, c *policy.Column) string {
	switch v := v.(type) {
	case nil:
		return "NULL"
	case string:
		return "'" + strings.ReplaceAll(v, "'", "''") + "'"
	case float64:
		if c.Type == policy.Timestamp {
			return map[bool]string{true: "'infinity'", false: "'-infinity'"}[math.IsInf(v, 1)]
		}
		return fmt.Sprintf("'%v'", v)
	case int64:
		if c != nil && c.Type == policy.Date {
			return fmt.Sprintf("date '1970-01-01' + (%d)", v)
		}
		if c != nil && c.Type == policy.Timestamp {
			return fmt.Sprintf("timestamp '1970-01-01' + (%d) * interval '1 second' + (%d) * interval '1 microsecond'", v/1_000_000,
				v%1_000_000)
		}
	}
	return fmt.Sprint(v)
}
