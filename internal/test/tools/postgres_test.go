package tools

import (
	"errors"
	"fmt"
	"net"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgtype"
)

// TestLikePostgres sends the corpus to our server and to a PostgreSQL with the same tables and
// comments. What both answer has the same columns of the same types. What is about public tables or
// constants has the same values too; those of the catalogue are compared in internal/pgcatalog.
func TestLikePostgres(t *testing.T) {
	dial := likeOurs(t)
	for _, c := range chosen(t) {
		t.Run(c.name, func(t *testing.T) {
			ours := &replay{t: t, testServer: open(t, 16), sessions: map[int]*connection{}}
			theirs := &replay{t: t, testServer: testServer{5432, "secret"}, dial: dial, sessions: map[int]*connection{}}
			defer ours.close()
			defer theirs.close()
			compared, exact := 0, 0
			for i, l := range c.lines {
				if l.statement != nil {
					l.results = "text"
				}
				is, failed := ours.send(l)
				should, failedThere := theirs.send(l)
				if l.statement == nil || failed != "" || failedThere != "" || errors.Join(is.failure(), should.failure()) != nil {
					continue
				}
				compared++
				difference := compareColumns(is.columns, should.columns)
				if difference == "" && isExact(l.sql) {
					exact++
					difference = compareRows(ours, theirs, is, should)
				}
				if difference != "" && !slices.Contains(differences, c.name+", "+l.step+": "+difference) {
					t.Errorf("statement %d, %s: %s\n%s", i, l.step, difference, l.body())
				}
			}
			t.Logf("%d answers compared, %d of them exact", compared, exact)
		})
	}
}

// differences are types that PostgreSQL has otherwise: that of a column that a UNION in a subquery
// makes, and that of a sum of parameters, which we take for bigint.
var differences = []string{
	`jooq, generate: column "type_udt_schema" is name, and in PostgreSQL text`,
	`jooq, case: column "sum" is numeric, and in PostgreSQL int8`,
}

// likeOurs is a PostgreSQL with the hospital of the policy: an owner who is not the analyst, and
// the comments that we make.
func likeOurs(t *testing.T) func() (net.Conn, error) {
	t.Helper()
	dial, _ := hospitalInPostgres(t)
	ours := &replay{t: t, testServer: open(t, 16), sessions: map[int]*connection{}}
	theirs := &replay{t: t, testServer: testServer{5432, "secret"}, dial: dial, sessions: map[int]*connection{}}
	defer ours.close()
	defer theirs.close()
	from, err := ours.connect("")
	must(t, err)
	defer from.Conn.Close()
	to, err := theirs.connect("")
	must(t, err)
	defer to.Conn.Close()
	for _, row := range from.simple(`SELECT format('COMMENT ON %s public.%I IS %L', CASE relkind WHEN 'v' THEN 'VIEW' ELSE 'TABLE' END, relname, obj_description(oid, 'pg_class'))
		FROM pg_class WHERE relkind IN ('r', 'v') AND relnamespace = 'public'::regnamespace
		UNION ALL SELECT format('COMMENT ON COLUMN public.%I.%I IS %L', relname, attname, col_description(c.oid, attnum))
		FROM pg_class c JOIN pg_attribute a ON attrelid = c.oid WHERE relkind IN ('r', 'v') AND relnamespace = 'public'::regnamespace AND attnum > 0`).rows {
		if e := to.simple(string(row[0])); e.err != nil {
			t.Fatalf("%s: %s", row[0], e.err.Message)
		}
	}
	for _, sql := range []string{"ALTER TABLE patients ALTER pid SET NOT NULL", "ALTER TABLE visits ALTER pid SET NOT NULL",
		"ALTER TABLE wards ALTER building SET NOT NULL", "ALTER TABLE wards ALTER beds SET NOT NULL", "ANALYZE",
		"ALTER ROLE ana SET default_transaction_read_only = on"} {
		if e := to.simple(sql); e.err != nil {
			t.Fatalf("%s: %s", sql, e.err.Message)
		}
	}
	return dial
}

// inexact are statements about private tables, the catalogue, the session or the moment.
var inexact = regexp.MustCompile(`(?i)\b(patients|visits|elderly|pg_\w+|information_schema|current_\w+|session_user|dp\.\w+|version|now|show|explain|` +
	`fetch|execute|set_config|to_reg\w+|txid_\w+|inet_\w+|obj_description|col_description|set)\b`)

// isExact reports whether the answer to a statement is the same anywhere.
func isExact(sql string) bool { return !inexact.MatchString(sql) }

func compareColumns(is, should []column) string {
	if len(is) != len(should) {
		return fmt.Sprintf("it has %d columns, and in PostgreSQL %d", len(is), len(should))
	}
	for i := range is {
		if is[i].name != should[i].name {
			return fmt.Sprintf("column %d is called %q, and in PostgreSQL %q", i+1, is[i].name, should[i].name)
		}
		if is[i].oid != should[i].oid {
			return fmt.Sprintf("column %q is %s, and in PostgreSQL %s", is[i].name, typeName(is[i].oid), typeName(should[i].oid))
		}
	}
	return ""
}

// compareRows compares rows in any order, with names in the place of OIDs. Every row of ours has
// to be one of PostgreSQL's; what PostgreSQL has more, of its own functions, types and operators,
// need not be here, but what is about the hospital. Averages are computed in doubles here, so they
// have 14 digits in common with PostgreSQL's.
func compareRows(ours, theirs *replay, is, should *exchange) string {
	a, b := ours.printRows(is), theirs.printRows(should)
	for i, row := range a {
		if j := slices.Index(b, row); j >= 0 {
			b = slices.Delete(b, j, j+1)
			a[i] = ""
		}
	}
	missing := ""
	for _, row := range b {
		if ofHospital.MatchString(row) {
			missing = "\nand PostgreSQL has\n  " + row
			break
		}
	}
	for _, row := range a {
		if row != "" {
			return "it has a row that PostgreSQL has not:\n  " + row + missing
		}
	}
	return strings.TrimPrefix(missing, "\nand ")
}

var ofHospital = regexp.MustCompile(`patients|visits|wards|elderly`)

var ownOID = regexp.MustCompile(`^\d{5}$`)

func (r *replay) printRows(e *exchange) []string {
	if r.oids == nil {
		if _, err := r.resolve("@patients@"); err != nil {
			r.t.Fatal(err)
		}
	}
	names := map[string]string{}
	for name, oid := range r.oids {
		names[oid] = name
	}
	var out []string
	for _, row := range e.rows {
		var b strings.Builder
		for i, v := range row {
			text := string(v)
			if name := names[text]; name != "" && ownOID.MatchString(text) {
				text = "@" + name + "@"
			}
			switch {
			case v == nil:
				b.WriteString("NULL | ")
			case i < len(e.columns) && e.columns[i].oid == pgtype.ByteaOID:
				fmt.Fprintf(&b, "%x | ", v)
			case i < len(e.columns) && e.columns[i].oid == pgtype.NumericOID && strings.Contains(text, "."):
				f, err := strconv.ParseFloat(text, 64)
				must(r.t, err)
				fmt.Fprintf(&b, "%.14g | ", f)
			default:
				fmt.Fprintf(&b, "%q | ", text)
			}
		}
		out = append(out, b.String())
	}
	return out
}
