package storekinds

import (
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/discreet-dp/discreet/internal/test/generate"
	"github.com/discreet-dp/discreet/internal/test/testpg"
	"github.com/discreet-dp/discreet/policy"
)

// postgresTypes are those in which PostgreSQL has what a column has, and compares, orders and sends
// it in another way each.
var postgresTypes = map[policy.Type][]string{policy.Text: {"text COLLATE loose", "varchar", "words", "text"},
	policy.Boolean: {"boolean", "yes"},
	policy.Date:    {"date", "day"}, policy.Decimal: {"double precision", "numeric", "real8"}, policy.Integer: {"bigint", "whole"},
	policy.Timestamp: {"timestamp", "timestamptz"}}

var createPostgresTypes = []string{"CREATE COLLATION loose (provider = icu, locale = 'und-u-ks-level1', deterministic = false)",
	"CREATE DOMAIN words AS varchar CHECK (length(VALUE) >= 0)", "CREATE DOMAIN yes AS boolean", "CREATE DOMAIN day AS date",
	"CREATE DOMAIN real8 AS double precision", "CREATE DOMAIN bottom AS bigint", "CREATE DOMAIN whole AS bottom"}

// Shadows are functions and operators under the names of PostgreSQL's own, that fail where they are
// called.
var Shadows = []string{
	"CREATE FUNCTION fail() RETURNS integer LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'a function of a user was called'; END $$",
	"CREATE FUNCTION public.octet_length(text) RETURNS integer LANGUAGE sql AS 'SELECT public.fail()'",
	"CREATE FUNCTION public.octet_length(varchar) RETURNS integer LANGUAGE sql AS 'SELECT public.fail()'",
	"CREATE FUNCTION public.less(integer, integer) RETURNS boolean LANGUAGE sql AS 'SELECT public.fail() > 0'",
	"CREATE OPERATOR public.<= (FUNCTION = public.less, LEFTARG = integer, RIGHTARG = integer)",
	"CREATE FUNCTION public.pg_relation_filenode(oid) RETURNS oid LANGUAGE sql AS 'SELECT public.fail()::oid'",
	"CREATE TABLE public.pg_class (oid oid, relname name)", "CREATE VIEW public.pg_attribute AS SELECT public.fail() AS attrelid",
	"CREATE DOMAIN public.int4 AS text",
}

var databases atomic.Int64

// Postgres keeps data in a server of PostgreSQL, each in a database of its own, beside what an
// owner may have put there: functions, operators and types that are called like PostgreSQL's own
// and fail.
func Postgres(server func(testing.TB) *testpg.Server) Store {
	return Store{Name: "postgres", Keep: func(t testing.TB, db *generate.Database) string {
		t.Helper()
		statements := slices.Concat(createPostgresTypes, Shadows)
		for _, name := range db.Dataset.TableNames() {
			statements = append(statements, tableSQL(db, db.Dataset.Tables[name])...)
			statements = append(statements, fmt.Sprintf("GRANT SELECT ON public.%q TO %s", name, testpg.Reader))
		}
		return server(t).Database(t, fmt.Sprint("made", databases.Add(1)), statements...)
	}}
}

func tableSQL(db *generate.Database, t *policy.Table) []string {
	all := db.Tables[t.Name]
	list := make([]string, len(all.Columns))
	for i, column := range all.Columns {
		typ := "bigint"
		if c := t.Columns[column]; c != nil {
			some := postgresTypes[c.Type]
			if slices.Contains(db.Dataset.PathColumns(t), column) { // who somebody is compares as what it is
				some = postgresTypes[c.Type][:1]
			}
			h := fnv.New32a()
			h.Write([]byte(column))
			typ = some[int(h.Sum32())%len(some)]
		}
		list[i] = fmt.Sprintf("%q %s", column, typ)
	}
	out := []string{fmt.Sprintf("CREATE TABLE public.%q (%s)", t.Name, strings.Join(list, ", "))}
	rows := make([]string, len(all.Rows))
	for k, row := range all.Rows {
		values := make([]string, len(row))
		for i, v := range row {
			values[i] = valueSQL(v, t.Columns[all.Columns[i]])
		}
		rows[k] = fmt.Sprintf("INSERT INTO public.%q VALUES (%s)", t.Name, strings.Join(values, ", "))
	}
	return append(out, strings.Join(rows, "; "))
}

// postgresCalendarStart is where PostgreSQL's calendar does, in the year 4714 before Christ:
// microseconds before 1970.
const postgresCalendarStart = -210866803200000000

// nearestInPostgres is the value nearest to one that PostgreSQL has.
func nearestInPostgres(v any, c *policy.Column) any {
	switch v := v.(type) {
	case string:
		return strings.ReplaceAll(v, "\x00", "\x01")
	case int64:
		if c != nil && c.Type == policy.Timestamp && v < postgresCalendarStart {
			return math.Inf(-1)
		}
	}
	return v
}

func valueSQL(v any, c *policy.Column) string {
	switch v := nearestInPostgres(v, c).(type) {
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
