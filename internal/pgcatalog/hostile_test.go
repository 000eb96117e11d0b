package pgcatalog

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/discreet-dp/discreet/internal/pgcatalog/datum"
	"github.com/discreet-dp/discreet/internal/pgcatalog/interpret"
	"github.com/discreet-dp/discreet/internal/pgcatalog/oid"
	"github.com/discreet-dp/discreet/internal/test/daily"
)

// TestRefusals has queries that must fail, with their SQLSTATEs.
func TestRefusals(t *testing.T) {
	c := testCatalog(t)
	all := "pg_attribute a, pg_attribute b, pg_attribute c, pg_attribute d"
	for _, test := range daily.Sample(t, []struct{ code, sql string }{
		{"42P01", "SELECT * FROM pg_catalog.nothing"},
		{"42P01", "SELECT * FROM launch_codes"},
		{"42703", "SELECT nothing FROM pg_class"},
		{"42702", "SELECT oid FROM pg_class, pg_type"},
		{"0A000", "SELECT pg_read_file('/etc/passwd')"},
		{"0A000", "SELECT pg_sleep(10)"},
		{"0A000", "SELECT pg_ls_dir('.')"},
		{"0A000", "SELECT lo_import('/etc/passwd')"},
		{"42883", "SELECT dblink('x', 'y')"},
		{"0A000", "SELECT query_to_xml('select 1', true, true, '')"},
		{"0A000", "SELECT random()"},
		{"42883", "SELECT public.lower('A')"},
		{"0A000", "SELECT 1 FROM pg_class FOR UPDATE"},
		{"0A000", "DELETE FROM pg_class"},
		{"0A000", "SELECT * FROM patients"},
		{"0A000", "SELECT count(*) FROM pg_class, patients"},
		{"0A000", "SELECT * FROM pg_class TABLESAMPLE SYSTEM (1)"},
		{"0A000", "SELECT * FROM elsewhere.public.other"},
		{"54000", "SELECT count(*) FROM " + all},
		{"54000", "SELECT count(*) FROM " + all + " WHERE a.attname || b.attname || c.attname = d.attname"},
		{"54000", "SELECT count(*) FROM pg_attribute a JOIN pg_attribute b ON a.attname <= b.attname"},
		{"54000", "SELECT (SELECT count(*) FROM pg_attribute b WHERE b.attname >= a.attname) FROM pg_attribute a"},
		{"54000", "SELECT a.* FROM pg_attribute a, generate_series(1, 100)"},
		{"54000", "SELECT * FROM pg_type ORDER BY (SELECT array_agg(a) FROM pg_attribute a)"},
		{"54000", "SELECT row_number() OVER (ORDER BY a.attname) FROM pg_attribute a, pg_attribute b"},
		{"54000", "SELECT DISTINCT ON (a.attname) b.attname FROM pg_attribute a, pg_attribute b"},
	}, 13) {
		res, err := c.Query(context.Background(), test.sql, nil, nil)
		var e *interpret.Error
		if !errors.As(err, &e) {
			t.Errorf("%.120s: %v (%v)", test.sql, err, res != nil)
			continue
		}
		if e.Code != test.code {
			t.Errorf("%.120s: %s %s, and not %s", test.sql, e.Code, e.Message, test.code)
		}
		if e.Code == "42883" && e.Hint == "" {
			t.Errorf("%.120s: no hint", test.sql)
		}
	}
}

// TestOtherDatasets: of datasets that a user may not ask not even the names can be found, and of
// the others the name alone.
func TestOtherDatasets(t *testing.T) {
	c := testCatalog(t)
	for _, rel := range c.db.schema.relations {
		if rel.policy {
			continue
		}
		res, err := c.Query(context.Background(), "SELECT x::text FROM "+rel.schema+"."+datum.Quote(rel.name)+" x", nil, nil)
		if err != nil {
			t.Errorf("%s: %v", rel.name, err)
			continue
		}
		for _, row := range res.Rows {
			s, _ := row[0].(string)
			for _, word := range []string{"secret", "launch", "hidden", "benedikta", ".duckdb"} {
				if strings.Contains(s, word) {
					t.Errorf("%s shows %s: %s", rel.name, word, s)
				}
			}
			if rel.name != "pg_database" && strings.Contains(s, "elsewhere") {
				t.Errorf("%s shows the other dataset: %s", rel.name, s)
			}
		}
	}
	if got := show(t, c, "SELECT datname FROM pg_database ORDER BY 1"); got != "elsewhere\nhospital" {
		t.Errorf("databases:\n%s", got)
	}
	// A view has the columns that its text says.
	if got := show(t, c, `SELECT count(*) FROM pg_attribute a JOIN pg_class c ON c.oid = attrelid
		WHERE relname = 'elderly' AND attname NOT IN ('sex', 'cost')`); got != "0" {
		t.Errorf("columns of a view: %s", got)
	}
}

// TestStatisticsDoNotExist: everything that would count rows is empty, -1 or 0. Two are about the
// session alone.
func TestStatisticsDoNotExist(t *testing.T) {
	c := testCatalog(t)
	for _, rel := range c.db.schema.relations {
		if rel.policy || !strings.HasPrefix(rel.name, "pg_stat") || rel.name == "pg_stat_activity" || rel.name == "pg_stat_gssapi" {
			continue
		}
		if got := show(t, c, "SELECT count(*) FROM "+datum.Quote(rel.name)); got != "0" {
			t.Errorf("%s has %s rows", rel.name, got)
		}
	}
	if got := show(t, c, `SELECT DISTINCT reltuples, relpages, relallvisible, pg_relation_size(oid), pg_total_relation_size(oid),
		pg_table_size(oid), pg_indexes_size(oid) FROM pg_class WHERE relkind IN ('r', 'v')`); got != "-1|0|0|0|0|0|0" {
		t.Errorf("%s", got)
	}
	if got := show(t, c, "SELECT pg_database_size('hospital'), pg_database_size(current_database())"); got != "0|0" {
		t.Errorf("%s", got)
	}
}

// TestNoDataInReach is why answers are the same whatever the data: nothing that is imported could
// read it. Of the project's packages only the policy is, and what reads texts with it, and of the
// standard library nothing that opens a file or a connection.
func TestNoDataInReach(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", `{{join .Imports "\n"}}`, "./...").Output()
	must(t, err)
	const discreet = "github.com/discreet-dp/discreet/"
	allowed := strings.Fields(`bytes cmp context crypto/md5 embed encoding/hex encoding/json errors fmt math math/big regexp
		regexp/syntax slices strconv strings sync time unicode unicode/utf8 github.com/pganalyze/pg_query_go/v6
		github.com/pganalyze/pg_query_go/v6/parser google.golang.org/protobuf/reflect/protoreflect ` +
		discreet + "policy " + discreet + "internal/planner/grammar " + discreet + "internal/planner/announce")
	for _, i := range strings.Fields(string(out)) {
		if !slices.Contains(allowed, i) && !strings.HasPrefix(i, discreet+"internal/pgcatalog/") {
			t.Errorf("imports %s", i)
		}
	}
}

// TestConcurrent runs sessions at once, which share the rows about the system. It is for the race
// detector.
func TestConcurrent(t *testing.T) {
	one := testCatalog(t)
	var wg sync.WaitGroup
	for range 8 {
		own := testCatalog(t)
		wg.Go(func() {
			for _, sql := range []string{
				"SELECT count(*) FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid",
				"SELECT count(*) FROM information_schema.columns WHERE table_name = 'patients'",
				"SELECT set_config('application_name', 'x', false), (SELECT setting FROM pg_settings WHERE name = 'application_name')",
				"SELECT relname FROM pg_class WHERE relname ~ '^pat' ORDER BY 1",
			} {
				for _, c := range []*Catalog{own, one} {
					if _, err := c.Query(context.Background(), sql, nil, nil); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	wg.Wait()
}

// FuzzQuery: no text makes the catalogue panic, take more than its limits, or fail without a code.
// What can be described has the columns that were described.
func FuzzQuery(f *testing.F) {
	base := testCatalog(f)
	for _, q := range clients(f) {
		f.Add(fill(q.sql, ourOID(f, base)))
	}
	for _, folder := range []string{"testdata", "interpret/testdata"} {
		text, err := os.ReadFile(folder + "/expressions.sql")
		if err != nil {
			f.Fatal(err)
		}
		for line := range strings.SplitSeq(string(text), "\n") {
			f.Add(line)
			f.Add("SELECT " + line)
		}
	}
	f.Fuzz(func(t *testing.T, sql string) {
		c := testCatalog(t)
		mine := about(c, sql)
		check := func(err error) *interpret.Error {
			var e *interpret.Error
			if !errors.As(err, &e) || len(e.Code) != 5 {
				t.Fatalf("an error without a code: %v", err)
			}
			if e.Code == "XX000" {
				t.Fatalf("an internal error: %s", e.Message)
			}
			return e
		}
		params, cols, err := c.Describe(sql, nil)
		if err != nil {
			check(err)
			return
		}
		res, err := c.Query(context.Background(), sql, nil, arguments(params))
		if err != nil {
			check(err)
			return
		}
		if !mine {
			t.Fatalf("answered, and was said not to be about the catalogue")
		}
		if len(res.Columns) != len(cols) {
			t.Fatalf("described %v, got %v", cols, res.Columns)
		}
		for i := range cols {
			if cols[i] != res.Columns[i] {
				t.Fatalf("described %v, got %v", cols[i], res.Columns[i])
			}
		}
		for _, row := range res.Rows {
			for i, v := range row {
				if !fits(v, cols[i].OID) {
					t.Fatalf("%T in a column of type %d", v, cols[i].OID)
				}
			}
		}
	})
}

// fits reports whether a value is of the kind that the column's type promises.
func fits(v any, t uint32) bool {
	if v == nil {
		return true
	}
	switch kind := oid.KindOf(t); {
	case kind == oid.KindInt && !oid.IsReg(t):
		_, ok := v.(int64)
		return ok
	case t == oid.Numeric || t == oid.Float4:
		_, ok := v.(string)
		return ok
	case kind == oid.KindFloat:
		_, ok := v.(float64)
		return ok
	case kind == oid.KindBool:
		_, ok := v.(bool)
		return ok
	case kind == oid.KindList && !oid.IsVector(t):
		list, ok := v.([]any)
		for _, x := range list {
			if _, nested := x.([]any); nested {
				ok = ok && fits(x, t)
			} else {
				ok = ok && fits(x, oid.Elem(t))
			}
		}
		return ok
	}
	_, ok := v.(string)
	return ok
}

// BenchmarkSession is what a session costs: a catalogue, and the first query about columns.
func BenchmarkSession(b *testing.B) {
	p := testPolicy(b)
	for b.Loop() {
		c := New(p, "hospital", Session{User: "ana"})
		const sql = "SELECT attname FROM pg_attribute WHERE attrelid = 'patients'::regclass"
		if _, err := c.Query(context.Background(), sql, nil, nil); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkSelect1 is the shortest query, in a session that has begun.
func BenchmarkSelect1(b *testing.B) {
	c := testCatalog(b)
	for b.Loop() {
		if _, err := c.Query(context.Background(), "SELECT 1", nil, nil); err != nil {
			b.Fatal(err)
		}
	}
}
