package policydraft

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/discreet-dp/discreet/internal/source/catalogue"
	"github.com/discreet-dp/discreet/internal/test/golden"
	"github.com/discreet-dp/discreet/internal/test/testpg"
	"github.com/discreet-dp/discreet/policy"
)

// shared is the server of all tests, each of which has databases of its own there, with the role
// that reads.
func shared(t testing.TB) *testpg.Server {
	t.Helper()
	server := testpg.Shared(t)
	reader.Do(func() { server.Run(t, "postgres", "CREATE ROLE reader LOGIN") })
	return server
}

var reader sync.Once

// fresh makes a database with these statements, and returns its address for a user.
func fresh(t testing.TB, server *testpg.Server, name, user, statements string) string {
	t.Helper()
	u, err := url.Parse(server.URL())
	if err != nil {
		t.Fatal(err)
	}
	run := func(text string) {
		t.Helper()
		conn, err := pgx.Connect(context.Background(), u.String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close(context.Background())
		// Several statements at once go without parameters.
		if _, err := conn.PgConn().Exec(context.Background(), text).ReadAll(); err != nil {
			t.Fatalf("%v in %.300s", err, text)
		}
	}
	run("CREATE DATABASE " + name)
	u.Path = "/" + name
	run(statements)
	u.User = url.User(user)
	return u.String()
}

// TestDraftPostgres needs a server, which its parts share.
func TestDraftPostgres(t *testing.T) {
	server := shared(t)
	t.Run("golden", func(t *testing.T) { testGolden(t, server) })
	t.Run("refused", func(t *testing.T) { testRefused(t, server) })
	t.Run("hostile", func(t *testing.T) { testHostile(t, server) })
}

// What is drafted from what. The drafts are in the file to be read.
func testGolden(t *testing.T, server *testpg.Server) {
	n := 0
	golden.Run(t, "testdata/drafts.txt", func(question string) string {
		n++
		first, statements, _ := strings.Cut(question, "\n")
		var opt Options
		for _, word := range strings.Fields(strings.TrimPrefix(first, "--")) {
			key, value, _ := strings.Cut(word, "=")
			switch key {
			case "unit":
				opt.Unit = value
			case "schema":
				opt.Schemas = append(opt.Schemas, value)
			case "trust":
				opt.TrustDataBounds = true
			case "person":
				table, column, _ := strings.Cut(value, "=")
				opt.People = map[string]string{table: column}
			}
		}
		address := fresh(t, server, fmt.Sprintf("case%d", n), "reader", statements)
		d, err := DraftPostgres(t.Context(), address, opt)
		if err != nil {
			return err.Error() + "\n"
		}
		if _, err := policy.Parse("draft", []byte(d.Text)); err != nil {
			t.Errorf("case %d: %v", n, err)
		}
		_, text, _ := strings.Cut(d.Text, "\n    # refresh: 24h\n")
		before, text, _ := strings.Cut(text, "    # Neighbours differ")
		_, text, _ = strings.Cut(text, "\n    tables:\n")
		for _, note := range d.Notes {
			text += "note: " + note + "\n"
		}
		return strings.TrimSpace(before) + "\n" + text
	})
}

// What cannot be drafted from is said without a password.
func testRefused(t *testing.T, server *testpg.Server) {
	address := fresh(t, server, "empty", "postgres", "CREATE TABLE t (x integer)")
	for _, c := range []struct {
		address string
		opt     Options
		want    string
	}{
		{"postgres://a:secret@db.example.org/x?sslmode=verify-full", Options{}, "has a password in it"},
		{"postgres://a@db.example.org/x?sslmode=verify-full&password=secret", Options{}, "has a password in it"},
		{"postgres://a@db.example.org/x", Options{}, "sslmode=verify-full"},
		{"postgres://a:secret@%zz/x", Options{}, "is not the address of a PostgreSQL database"},
		{address, Options{Schemas: []string{"nowhere"}}, "has no table in the schemas nowhere"},
		{address, Options{OMOP: true}, "no readable table person"},
		{address, Options{DraftOptions: policy.DraftOptions{Unit: "t.y"}}, "is not a column of these tables"},
		{strings.Replace(address, "postgres@", "nobody@", 1), Options{}, `role "nobody" does not exist`},
	} {
		_, err := DraftPostgres(t.Context(), c.address, c.opt)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v; wants %s", c.address, err, c.want)
		}
	}
	d, err := DraftPostgres(t.Context(), address, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(d.Text, "CREATE ROLE discreet LOGIN") || !strings.Contains(strings.Join(d.Notes, " "), "is a superuser") {
		t.Errorf("for a superuser: %s\n%s", d.Notes, d.Text)
	}
}

// Whatever tables are called and say, the draft is a policy.
func testHostile(t *testing.T, server *testpg.Server) {
	var sql strings.Builder
	sql.WriteString("CREATE TABLE patients (id bigint PRIMARY KEY);")
	names := []string{"null", "on", "1", "a b", "x->y", `q"q`, "new\nline", "tab\t", "#x", "a: b", "- x", "ä😀", "*",
		"&a", "!t", "%", "{", "[", "'", "'it''s", "@", "`",
		"\\", "a.b", " lead", "trail ", "\u202e", strings.Repeat("n", 63), "true", "~", "patients.id", "Patients", "select", "---", "? " +
			"", ": "}
	for i, name := range names {
		quoted := pgx.Identifier{name}.Sanitize()
		text := "'" + strings.ReplaceAll(name, "'", "''") + "'"
		fmt.Fprintf(&sql, "CREATE SCHEMA s%d; CREATE TYPE s%d.kind AS ENUM ('x', %s); CREATE TABLE s%d.%s (%s bigint REFERENCES patients, "+
			"k text CHECK (k IN (%s, '', E'\\n# y: z')), e s%d.kind, i integer CHECK (i IN (5, 9) AND i > 7));", i, i, text, i,
			quoted, quoted, text, i)
		fmt.Fprintf(&sql, "COMMENT ON TABLE s%d.%s IS E'one\\n  two: {three\\x1b[31m\\u2028four'; COMMENT ON COLUMN s%d.%s.%s IS %s;",
			i, quoted, i,
			quoted, quoted, text)
		fmt.Fprintf(&sql, "CREATE SCHEMA %s; CREATE TABLE %[1]s.t (p bigint REFERENCES patients, %[1]s integer);",
			pgx.Identifier{"w" + name[:min(len(name), 62)]}.Sanitize())
	}
	address := fresh(t, server, "hostile", "reader", sql.String())
	for _, unit := range []string{"", "row", "patients.id"} {
		d, err := DraftPostgres(t.Context(), address, Options{DraftOptions: policy.DraftOptions{Unit: unit}})
		if err != nil {
			t.Fatalf("unit %q: %v", unit, err)
		}
		p, err := policy.Parse("draft", []byte(d.Text))
		if err != nil {
			t.Fatalf("unit %q: %v\n%s", unit, err, d.Text)
		}
		if n := len(p.Datasets["hostile"].Tables); n < len(names) {
			t.Errorf("unit %q: %d tables of %d", unit, n, 2*len(names)+1)
		}
		for _, c := range d.Text {
			if c != '\n' && (c < ' ' || c == '\u2028' || c == '\u202e') {
				t.Errorf("unit %q: the draft has the sign %U", unit, c)
			}
		}
	}
}

// TestUnitByName: where rows cannot be told apart there is no draft that protects rows, which could
// not be used: the unit is guessed by names, or asked for.
func TestUnitByName(t *testing.T) {
	from := &Store{Address: "trino://a@h/c/s", Where: "trino://h", Dataset: "s", Home: "c.s", Unreferenced: true,
		Spelt: func(string, string) string { return "" }, Rights: func(func(string, ...any), *policy.Dataset) {}}
	draft := func(table, unit string) (string, error) {
		l := &catalogue.Table{Schema: "c.s", Name: table, Columns: []catalogue.Column{
			{Name: "age", Type: "integer", Kind: catalogue.Int32},
			{Name: "pid", Type: "bigint", Kind: catalogue.Int64}}}
		d, err := From(t.Context(), &catalogue.Catalogue{Role: "a", Tables: []*catalogue.Table{l}}, from,
			Options{DraftOptions: policy.DraftOptions{Unit: unit}})
		if err != nil {
			return "", err
		}
		return d.Text, nil
	}
	if text, err := draft("patients", ""); err != nil || !strings.Contains(text, "\n    unit: patients.pid\n") ||
		!strings.Contains(text, "GUESSED by the names") {
		t.Error(err, text)
	}
	var option *OptionError
	for table, unit := range map[string]string{"t": "", "patients": "row"} {
		if text, err := draft(table, unit); !errors.As(err, &option) || !strings.Contains(err.Error(), "--unit TABLE.COLUMN") {
			t.Error(err, text)
		}
	}
}

// TestConditions: what is read of a condition, and that nothing is of what means something else.
func TestConditions(t *testing.T) {
	for text, want := range map[string]string{
		"((age >= 0) AND (age <= 120))":                  "age 0..120",
		"((0 < age) AND (120 > age))":                    "age (0..120)",
		"((x >= '-5'::integer) AND (x <= (5)::numeric))": "x -5..5",
		"(x > (- 1.5))":                                  "x (-1.5..",
		"((sex)::text = ANY ((ARRAY['F'::character varying, 'M'::character varying])::text[]))": "sex F M",
		"(a IN (1, 2))": "a 1 2",
		"((k = 'in'::text) OR (k = 'out'::text))":  "k in out",
		"((k IS NULL) OR (k = ANY (ARRAY[1, 2])))": "k 1 2",
		"((x IS NULL) OR (x >= 3))":                "x 3..",
		"((y IS NULL) OR (x >= 3))":                "",
		"((x >= 3) OR (x <= 1))":                   "",
		"((x = 3) OR (y = 1))":                     "",
		"((x = 3) OR (x > y))":                     "",
		"(NOT (x >= 3))":                           "",
		"(x <> 3)":                                 "",
		"(upper(sex) = 'F'::text)":                 "",
		"((x)::integer >= 3)":                      "x rounded 3..",
		"((x)::integer = ANY (ARRAY[1, 2]))":       "x rounded 1 2",
		"(at)::date <= '2020-12-31'::date":         "",
		"(x <= now())":                             "",
		"(x >= y)":                                 "",
		"(x = ANY (ARRAY[1, y]))":                  "",
		"(t.x >= 1)":                               "",
		"((x + 1) >= 1)":                           "",
		"(x >= NULL::integer)":                     "",
		"not SQL (":                                "",
		"true; DROP TABLE x":                       "",
		strings.Repeat("(", 200) + "x > 1" + strings.Repeat(")", 200): "",
	} {
		var got []string
		for name, a := range conditions([]string{text}) {
			line := name
			if a.rounded {
				line += " rounded"
			}
			if a.lowest != "" || a.highest != "" {
				line += " " + map[bool]string{true: "("}[a.above] + a.lowest + ".." + a.highest + map[bool]string{true: ")"}[a.below]
			}
			for _, k := range a.keys {
				line += fmt.Sprintf(" %s", k)
			}
			if line != name {
				got = append(got, line)
			}
		}
		slices.Sort(got)
		if strings.Join(got, "; ") != want {
			t.Errorf("%s: %q; want %q", text, got, want)
		}
	}
}
