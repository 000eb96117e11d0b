package pgcatalog

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/pgcatalog/interpret"
)

// TestEveryCall calls every function, operator, aggregate and cast with values of every kind: what
// does not fit is refused with a code, and what is answered is of the type that was described.
func TestEveryCall(t *testing.T) {
	values := strings.Fields("NULL 'a' 1 '{a}'::text[] true 1.5 'a'::name 'pg_class'::regclass now() ROW(1,'a')" +
		" 'a'::\"char\" 1::int2 1::int8 1::float8 26::oid '2024-05-06'::date ARRAY[1,NULL] '1'::int2vector '{}' '0'::xid")
	some, few := values[:10], values[:4]
	var calls []string
	for name := range library {
		if strings.HasPrefix(name, "_pg_") {
			name = "information_schema." + name
		}
		calls = append(calls, name+"()")
		for _, x := range values {
			calls = append(calls, name+"("+x+")")
		}
		for _, x := range some {
			for _, y := range some {
				calls = append(calls, name+"("+x+","+y+")")
			}
		}
		for _, x := range few {
			for _, y := range few {
				for _, z := range few {
					calls = append(calls, name+"("+x+","+y+","+z+")")
				}
			}
		}
	}
	for _, x := range values {
		for _, name := range strings.Fields("count min max sum avg bool_or bool_and every array_agg string_agg") {
			calls = append(calls, name+"("+x+")", name+"(DISTINCT "+x+")", name+"("+x+",'b')")
		}
		for _, typ := range strings.Fields(`text name "char" int2 int4 int8 float8 numeric bool date timestamp timestamptz oid regclass` +
			" regtype regproc text[] int4[] int2vector oidvector record varchar(1) bpchar xid json interval") {
			calls = append(calls, "("+x+")::"+typ)
		}
		for _, form := range []string{"- %s", "+ %s", "NOT %s", "%s IS NULL", "%s IS TRUE", "(%s)[1]", "(%s).f1", "ARRAY[%s]", "ROW(%s)",
			"CASE WHEN %s THEN 1 END"} {
			calls = append(calls, fmt.Sprintf(form, x))
		}
		for _, y := range values {
			for _, op := range strings.Fields("= <> < >= ~ ~~* || + - * / % & | >> @> <@ &&") {
				calls = append(calls, x+" "+op+" "+y)
			}
			for _, form := range []string{"%s IN (%s)", "%s = ANY (%s)", "%s <> ALL (%s)", "%s IS DISTINCT FROM %s", "NULLIF(%s, %s)",
				"COALESCE(%s, %s)", "GREATEST(%s, %s)", "%s BETWEEN %s AND 2", "%s IN (SELECT %s)",
				"CASE %s WHEN %s THEN 1 END", "ARRAY[%s, %s]"} {
				calls = append(calls, fmt.Sprintf(form, x, y))
			}
		}
	}
	c := testCatalog(t)
	for _, call := range calls {
		sql := "SELECT " + call
		res, err := c.Query(context.Background(), sql, nil, nil)
		var e *interpret.Error
		switch {
		case err == nil:
			for i, v := range res.Rows {
				if !fits(v[0], res.Columns[0].OID) {
					t.Errorf("%s: %T in a column of type %d, row %d", sql, v[0], res.Columns[0].OID, i)
				}
			}
		case !errors.As(err, &e) || e.Code == "XX000":
			t.Errorf("%s: %v", sql, err)
		}
	}
	t.Logf("%d calls", len(calls))
}
