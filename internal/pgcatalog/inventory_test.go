package pgcatalog

import (
	"context"
	"errors"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/discreet-dp/discreet/internal/pgcatalog/interpret"
	"github.com/discreet-dp/discreet/internal/pgcatalog/inventory"
)

const answered = "answered"

// verdicts says of everything that PostgreSQL has whether it is answered, or why not.
func verdicts(c *Catalog) (lines []string, counts map[string]int) {
	counts = map[string]int{}
	note := func(what, says string) {
		lines = append(lines, what+"\t"+says)
		counts[says]++
	}
	for i := range inventory.Functions {
		f := &inventory.Functions[i]
		says := string(f.Why())
		if library.Answers(c.db, f) {
			says = answered
		}
		note(f.Signature(), says)
	}
	for i := range inventory.Operators {
		o := &inventory.Operators[i]
		says := string(o.Why())
		if interpret.AnswersOperator(c.db, o) {
			says = answered
		}
		note(strings.TrimSpace(o.Left+" "+o.Name+" "+o.Right), says)
	}
	return lines, counts
}

// TestInventory: what is answered, and why the rest is refused, is as testdata/inventory.tsv says.
func TestInventory(t *testing.T) {
	lines, counts := verdicts(testCatalog(t))
	text := strings.Join(lines, "\n") + "\n"
	if *rewrite {
		must(t, os.WriteFile("testdata/inventory.tsv", []byte(text), 0o644))
	}
	want, err := os.ReadFile("testdata/inventory.tsv")
	must(t, err)
	before := strings.Split(strings.TrimSpace(string(want)), "\n")
	for _, line := range lines {
		if !slices.Contains(before, line) {
			t.Errorf("now %s; go test ./internal/pgcatalog -run TestInventory -rewrite writes it", line)
		}
	}
	for says, n := range counts {
		t.Logf("%5d %s", n, says)
	}
}

// samples are constants of each type.
var samples = map[string][]string{
	"int2": {"3::int2", "'-7'::int2"}, "int4": {"3", "-7", "0"}, "int8": {"5::int8", "'-9'::int8"},
	"float4": {"1.5::float4", "'-0.25'::float4"}, "float8": {"2.5::float8", "'-0.5'::float8", "1e10::float8"},
	"numeric": {"2.50", "'-13.7'::numeric", "0.5"}, "bool": {"true", "false"},
	"text": {"'Hello, World 7'::text", "'l'::text", "''::text"}, "name": {"'abc'::name", "'B'::name"},
	"varchar": {"'xyz'::varchar"}, "bpchar": {"'ab'::bpchar", "'b c'::bpchar"}, "char": {"'x'::\"char\"", "'A'::\"char\""},
	"date":        {"'2024-02-29'::date", "'1999-12-31'::date"},
	"timestamp":   {"'2024-02-29 13:14:15.678'::timestamp", "'1999-12-31'::timestamp"},
	"timestamptz": {"'2024-02-29 13:14:15.678+00'::timestamptz", "'1999-12-31 00:00:00+00'::timestamptz"},
	"interval":    {"'1 day 02:03:04.5'::interval", "'-3 mons'::interval", "'40:00:00'::interval"},
	"time":        {"'13:14:15.5'::time", "'00:00:00'::time"},
	"json":        {`'{"a": 1, "b": [1, "x", null]}'::json`, "'[1, 2, {\"c\": 3}]'::json"},
	"jsonb":       {`'{"a": 1, "b": [1, "x", null]}'::jsonb`, "'[1, 2, {\"c\": 3}]'::jsonb"},
	"oid":         {"26::oid", "1259::oid"}, "regclass": {"'pg_class'::regclass"}, "regtype": {"'int4'::regtype"},
	"regproc": {"'array_in'::regproc"}, "regnamespace": {"'pg_catalog'::regnamespace"},
	"xid": {"'5'::xid"}, "cid": {"'5'::cid"}, "xid8": {"'5'::xid8", "'9'::xid8"},
	"uuid":   {"'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'::uuid", "'00000000-0000-0000-0000-000000000001'::uuid"},
	"text[]": {"'{a,b,NULL,c}'::text[]", "'{}'::text[]", "'{b,c}'::text[]"}, "int4[]": {"'{1,2,3}'::int4[]", "'{2}'::int4[]"},
	"int8[]": {"'{1,2}'::int8[]"}, "float8[]": {"'{1,2.5}'::float8[]"}, "interval[]": {"'{1 day,02:00:00}'::interval[]"},
	"oidvector": {"'1 2 3'::oidvector", "'2'::oidvector"}, "int2vector": {"'1 2'::int2vector"}, "record": {"ROW(1, 2)", "ROW(2, 1)"},
	"any": {"4", "'x'::text", "true", "NULL::int4"}, "anyelement": {"2", "5"}, "anynonarray": {"7"}, "anycompatible": {"2", "5"},
	"anyarray": {"'{1,2,3}'::int4[]", "'{5}'::int4[]"}, "anycompatiblearray": {"'{1,2,3}'::int4[]", "'{5}'::int4[]"},
	"bit":       {"B'0101'", "B'0110'"},
	"regconfig": {}, "aclitem": {}, "aclitem[]": {}, "pg_node_tree": {}, "regdictionary": {}, "unknown": {"'u'"},
	"regoper": {}, "regrole": {"'postgres'::regrole"}, "regcollation": {}, "regprocedure": {}, "regoperator": {}, "void": {},
}

// calls are calls of a form with constants.
func calls(name string, args []string) (out []string) {
	shapes := [][]string{nil}
	for _, a := range args {
		if strings.HasSuffix(a, "=") {
			out = append(out, applied(name, shapes)...)
		}
		var longer [][]string
		for _, s := range shapes {
			for _, v := range samples[inventory.Type(a)] {
				longer = append(longer, append(s[:len(s):len(s)], v))
			}
		}
		shapes = longer
	}
	return append(out, applied(name, shapes)...)
}

// applied are calls with some of the arguments: enough that every value is in one.
func applied(name string, shapes [][]string) (out []string) {
	const most = 12
	step := max(1, len(shapes)/most)
	if step%2 == 0 || step%3 == 0 {
		step += 1 + step%2
	}
	for i := 0; i < len(shapes); i += step {
		inside := strings.Join(shapes[i], ", ")
		if name == `"count"` && inside == "" {
			inside = "*"
		}
		out = append(out, name+"("+inside+")")
	}
	return out
}

// operatorCalls are uses of an operator with constants.
func operatorCalls(o *inventory.Operator) (out []string) {
	for _, r := range samples[o.Right] {
		if o.Left == "" {
			out = append(out, o.Name+" ("+r+")")
		}
		for _, l := range samples[o.Left] {
			out = append(out, "("+l+") "+o.Name+" ("+r+")")
		}
	}
	return out
}

// use is a call or an operator with constants, and what is known of it.
type use struct {
	sql      string
	answered bool
	constant bool
	compared bool // with PostgreSQL 15
}

func uses(c *Catalog) (out []use) {
	add := func(calls []string, answers, constant bool, versions string) {
		for _, sql := range calls {
			out = append(out, use{"SELECT " + sql, answers, constant, strings.Contains(versions, "15")})
		}
	}
	for i := range inventory.Functions {
		f := &inventory.Functions[i]
		name := `"` + f.Name + `"`
		if strings.HasPrefix(f.Name, "_pg_") {
			name = "information_schema." + name
		}
		switch f.Kind {
		case 'f':
			add(calls(name, f.Args), library.Answers(c.db, f), f.Constant, f.Versions)
		case 'a':
			add(calls(name, f.Args), library.Answers(c.db, f), true, f.Versions)
		}
	}
	for i := range inventory.Operators {
		o := &inventory.Operators[i]
		add(operatorCalls(o), interpret.AnswersOperator(c.db, o), true, o.Versions)
	}
	return out
}

// TestInventoryIsTrue: what is said to be answered is, as PostgreSQL does it, and everything else
// that PostgreSQL has is refused with its reason.
func TestInventoryIsTrue(t *testing.T) {
	c := testCatalog(t)
	pg := startReal(t, c)
	compared := 0
	for _, u := range uses(c) {
		res, err := c.Query(context.Background(), u.sql, nil, nil)
		var failed *interpret.Error
		errors.As(err, &failed)
		if !u.answered {
			if err == nil && res.Rows[0][0] == nil {
				continue // NULL of a type without values
			}
			if failed == nil || failed.Code == "42883" && u.compared {
				if _, _, err := pg.try(u.sql); err == nil {
					t.Errorf("%s is not said to be answered, and is: %v", u.sql, err)
				}
			}
			continue
		}
		if failed != nil && (failed.Code == "0A000" || failed.Code == "XX000") {
			t.Errorf("%s is said to be answered: %v", u.sql, err)
			continue
		}
		if !u.compared {
			continue
		}
		compared++
		cols, rows, theirErr := pg.try(u.sql)
		var theirs *pgconn.PgError
		switch {
		case errors.As(theirErr, &theirs) && failed != nil:
			if theirs.Code != failed.Code && u.constant {
				t.Errorf("%s fails with %s (%s), and in PostgreSQL with %s (%s)", u.sql, failed.Code, failed.Message, theirs.Code,
					theirs.Message)
			}
		case theirErr != nil || err != nil:
			if u.constant && !differently(u.sql) {
				t.Errorf("%s fails with %v, and in PostgreSQL with %v", u.sql, err, theirErr)
			}
		case cols[0].OID != res.Columns[0].OID:
			t.Errorf("%s has type %d, and in PostgreSQL %d", u.sql, res.Columns[0].OID, cols[0].OID)
		case u.constant:
			if a, b := normal(texts(res), nil), normal(rows, nil); !slices.EqualFunc(a, b, alike) {
				t.Errorf("%s is %q, and in PostgreSQL %q", u.sql, a, b)
			}
		}
	}
	t.Logf("%d calls compared with PostgreSQL", compared)
}

// differently are calls that fail here, and there do not, or otherwise: there are no years before
// 1, and PostgreSQL calls a kind of object that it does not know an internal error.
func differently(sql string) bool {
	return strings.Contains(sql, `"make_date"(-7`) || strings.Contains(sql, `"acldefault"`)
}

// alike compares two texts; doubles in the last digit may differ, which depends on the machine.
func alike(a, b string) bool {
	x, err := strconv.ParseFloat(a, 64)
	y, other := strconv.ParseFloat(b, 64)
	if len(a) > 15 && err == nil && other == nil {
		return math.Abs(x-y) <= 4e-16*math.Abs(y)
	}
	return a == b
}
