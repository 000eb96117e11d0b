package interpret

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/pgcatalog/datum"
	"github.com/discreet-dp/discreet/internal/pgcatalog/oid"
)

// TestForms: a signature says which forms a function has.
func TestForms(t *testing.T) {
	for signature, want := range map[string]string{
		"version() text":                         "version[] 25",
		"substring|substr(text,int4,int4=) text": "substring[25 23] 25; substring[25 23 23] 25; substr[25 23] 25; substr[25 23 23] 25",
		"pg_has_role(name|oid,text) bool":        "pg_has_role[19 25] 16; pg_has_role[26 25] 16",
		"lax concat_ws(text,...any) text":        "lax concat_ws[25 0]... 25",
		"unnest(anyarray) setof anyelement":      "unnest[2277] setof 2283",
		"f(text[]) (a text, b int4)":             "f[1009] setof 2249 [{a 25} {b 23}]",
	} {
		var got []string
		for _, f := range forms(Function{Signature: signature}) {
			s := fmt.Sprintf("%s%v ", f.name, f.args)
			if f.lax {
				s = "lax " + s
			}
			if f.variadic {
				s = strings.TrimSpace(s) + "... "
			}
			if f.set {
				s += "setof "
			}
			s += fmt.Sprint(f.result)
			if f.cols != nil {
				s += fmt.Sprint(" ", f.cols)
			}
			got = append(got, s)
		}
		if s := strings.Join(got, "; "); s != want {
			t.Errorf("%s: %s, and not %s", signature, s, want)
		}
	}
}

// TestEveryCall calls every function, operator, aggregate and cast with values of every kind: what
// does not fit is refused with a code, and what is answered is of the type that was described.
func TestEveryCall(t *testing.T) {
	values := strings.Fields("NULL 'a' 1 '{a}'::text[] true 1.5 'a'::name 'staff'::regclass now() ROW(1,'a')" +
		" 'a'::\"char\" 1::int2 1::int8 1::float8 26::oid '2024-05-06'::date ARRAY[1,NULL] '1'::int2vector '{}' '0'::xid")
	some, few := values[:10], values[:4]
	var calls []string
	for name := range testLibrary {
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
	for _, call := range calls {
		columns, rows, err := answer(t.Context(), "SELECT "+call)
		if code := codeOf(err); err != nil && (len(code) != 5 || code == "XX000") {
			t.Errorf("%s: %v", call, err)
		}
		for _, row := range rows {
			if !fits(row[0], columns[0].OID) {
				t.Errorf("%s: %T in a column of type %d", call, row[0], columns[0].OID)
			}
		}
	}
	t.Logf("%d calls", len(calls))
}

// fits reports whether a value of a result is of the kind that the column's type promises.
func fits(v datum.Value, t uint32) bool {
	ok := true
	switch kind := oid.KindOf(t); {
	case v == nil:
	case kind == oid.KindInt && !oid.IsReg(t):
		_, ok = v.(datum.Int)
	case t == oid.Numeric || t == oid.Float4:
		_, ok = v.(datum.Text)
	case kind == oid.KindFloat:
		_, ok = v.(datum.Float)
	case kind == oid.KindBool:
		_, ok = v.(datum.Bool)
	case kind == oid.KindList && !oid.IsVector(t):
		list, isList := v.(datum.List)
		ok = isList && !slices.ContainsFunc(list, func(x datum.Value) bool {
			if _, nested := x.(datum.List); nested {
				return !fits(x, t)
			}
			return !fits(x, oid.Elem(t))
		})
	default:
		_, ok = v.(datum.Text)
	}
	return ok
}
