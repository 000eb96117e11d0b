package duckdb

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/source/catalogue"
	"github.com/discreet-dp/discreet/internal/source/pgtables"
	"github.com/discreet-dp/discreet/policy"
)

// peopleOf is a dataset of a table of people with a text.
func (c *clinic) peopleOf(keys, more string) string {
	return "source: " + c.source() + "\n" + keys + "unit: people.pid\ntables: {people: {unique: pid" + more +
		", columns: {pid: {type: integer}, word: {type: text, keys: [a]}}}}\n"
}

// words are the texts of the copy, by person.
func words(t *testing.T, e *Engine) string {
	t.Helper()
	rows := must(e.now.DB.Query(`SELECT coalesce(word, 'NULL') FROM "copied people" ORDER BY pid`))(t)
	defer rows.Close()
	var all []string
	for rows.Next() {
		var w string
		mustDo(t, rows.Scan(&w))
		all = append(all, w)
	}
	return strings.Join(all, " ")
}

// whyNot is what the owner is told of why a dataset is not opened, or empty.
func whyNot(t *testing.T, keys string) string {
	t.Helper()
	e, err := Open(t.Context(), dataset(t, t.TempDir(), keys))
	if err == nil {
		e.Close()
		return ""
	}
	return catalogue.ForOwner(err).Error()
}

// TestCopiedAnyText: no text that somebody has in their row keeps others from asking. What is no
// UTF-8, and what is too long for a message, is NULL; an encoding from which not every text can be
// converted is refused before a row is read.
func TestCopiedAnyText(t *testing.T) {
	people := []string{"CREATE TABLE people (pid bigint, word text)", "GRANT SELECT ON people TO reader",
		"INSERT INTO people VALUES (1, 'a')"}
	c := newClinic(t, append(people, "INSERT INTO people VALUES (2, repeat('x', 2000000)), (3, repeat('y', 1 << 20))",
		"CREATE DOMAIN note AS varchar", "ALTER TABLE people ADD more note, ADD padded char(9)",
		"UPDATE people SET more = repeat('z', 2000000) WHERE pid = 1")...)
	e := open(t, dataset(t, t.TempDir(), strings.Replace(c.peopleOf("", ""), "word: {", "more: {type: text}, padded: {type: text}, word: {",
		1)))
	if got := words(t, e); got != "a NULL "+strings.Repeat("y", 1<<20) {
		t.Errorf("long texts: %.100s", got)
	}
	ascii := c.in("SQL_ASCII", append(people, "SET client_encoding = 'SQL_ASCII'", `INSERT INTO people VALUES (2, E'\xe4'), (3, 'b')`)...)
	if got := words(t, open(t, dataset(t, t.TempDir(), ascii.peopleOf("", "")))); got != "a NULL b" {
		t.Errorf("in SQL_ASCII: %q", got)
	}
	latin := c.in("LATIN1", append(people, `INSERT INTO people SELECT i, chr(i) FROM generate_series(160, 255) i`)...)
	if got := words(t, open(t, dataset(t, t.TempDir(), latin.peopleOf("", "")))); !strings.HasSuffix(got, "ý þ ÿ") {
		t.Errorf("in LATIN1: %q", got)
	}
	windows := c.in("WIN1252", people...)
	if told := whyNot(t, windows.peopleOf("", "")); !strings.Contains(told, "encoding WIN1252") {
		t.Errorf("in WIN1252: %s", told)
	}
	if told := whyNot(t, windows.peopleOf("", ", trusted: true")); told != "" {
		t.Errorf("in WIN1252, where the owner answers for it: %s", told)
	}
}

// TestCopiedPeople: who is one person in the database is one in the copy, and two are two.
func TestCopiedPeople(t *testing.T) {
	c := newClinic(t, "CREATE COLLATION loose (provider = icu, locale = 'und-u-ks-level2', deterministic = false)",
		"CREATE DOMAIN anyone AS numeric",
		"CREATE TABLE people (pid bigint, word text, name text COLLATE loose, n numeric, d anyone, exact numeric(38,0))")
	grant := func(columns string) {
		c.do("REVOKE ALL ON people FROM reader", "GRANT SELECT ("+columns+") ON people TO reader")
	}
	for column, want := range map[string]string{"name": "one person would be two", "n": "two people would be one",
		"d": "two people would be one", "exact": "", "word": ""} {
		typ := map[bool]string{true: "text", false: "decimal"}[column == "name" || column == "word"]
		if column != "word" { // which is there anyway
			keys := strings.ReplaceAll(c.peopleOf("", ""), "pid: {type: integer}", column+": {type: "+typ+"}, pid: {type: integer}")
			grant("pid, word, " + column)
			if told := whyNot(t, keys); told != "" {
				t.Errorf("%s beside people: %s", column, told)
			}
		}
		keys := "source: " + c.source() + "\nunit: people." + column + "\ntables: {people: {max_rows: 2, max_groups: 2, columns: {}}}\n"
		grant(column)
		if told := whyNot(t, keys); (told == "") != (want == "") || !strings.Contains(told, want) {
			t.Errorf("people by %s: %s", column, told)
		}
	}
}

// TestCopiedSpellings: values that PostgreSQL takes for one are one person, however they are
// spelled and stored, and what is nobody is no person.
func TestCopiedSpellings(t *testing.T) {
	c := newClinic(t)
	for i, p := range []struct{ typ, policy, values, want string }{
		{"double precision", "decimal", "'0', '-0', 0e-300", "1"}, {"real", "decimal", "'0', '-0'", "1"},
		{"double precision", "decimal", "'NaN', 'Infinity', '-Infinity'", "3"},
		{"numeric(9,3)", "decimal", "'1', '1.000', '01.0'", "1"}, {"numeric(38,6)", "decimal", "'0', '-0.000000', '1e-9'", "1"},
		{"numeric(9,3)", "decimal", "'NaN'", "0"}, {"char(4)", "text", "'a', 'a ', 'a   '", "1"},
		{"varchar(4)", "text", "'a', 'a ', 'A'", "3"}, {"uuid", "text", "'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11', " +
			"'{a0eebc999c0b4ef8bb6d6bb9bd380a11}'", "1"},
		{"timestamptz", "timestamp", "'2020-01-01 00:00+00', '2020-01-01 05:00+05', '2019-12-31 12:00-12'", "1"},
		{"timestamp", "timestamp", "'infinity', '-infinity', '294276-12-31', '294270-01-01'", "2"},
		{"date", "date", "'infinity', '2020-01-01', '20200101'", "2"},
		{"text", "text", "'', ' ', repeat('x', 2000000)", "2"},
	} {
		name := fmt.Sprint("t", i)
		c.do("CREATE TABLE "+name+" (pid "+p.typ+")", "GRANT SELECT ON "+name+" TO reader",
			"INSERT INTO "+name+" SELECT v FROM unnest(ARRAY["+p.values+"]::"+p.typ+"[]) v, generate_series(1, 3)")
		e := open(t, dataset(t, t.TempDir(), "source: "+c.source()+"\nunit: "+name+".pid\ntables: {"+name+
			": {max_rows: 1, max_groups: 1, columns: {pid: {type: "+p.policy+"}}}}\n"))
		for _, count := range []string{"*", "DISTINCT pid"} {
			if got := answer(t, e, "SELECT COUNT("+count+") FROM "+name); got != "["+p.want+"]" {
				t.Errorf("%s %s: COUNT(%s) is %s and not %s", p.typ, p.values, count, got, p.want)
			}
		}
		e.Close()
		c.do("REVOKE ALL ON " + name + " FROM reader")
	}
}

// TestCopiedBlanks: blanks at the end of a text make no two people of one.
func TestCopiedBlanks(t *testing.T) {
	c := newClinic(t, "CREATE TABLE people (pid char(5) PRIMARY KEY)",
		"CREATE TABLE visits (vid varchar(9), pid varchar(9) REFERENCES people)",
		`CREATE TABLE bills ("VID" char(9))`, "INSERT INTO people VALUES ('ann')", "INSERT INTO visits VALUES ('v', 'ann '), ('w ', 'ann')",
		"GRANT SELECT ON people, visits, bills TO reader")
	keys := "source: " + c.source() + "\nunit: people.pid\ntables:\n  people: {unique: pid, columns: {pid: {type: text}}}\n" +
		"  visits: {path: pid -> people.pid, max_rows: 2, max_groups: 2, columns: {}}\n" +
		"  bills: {path: vid -> visits.vid, max_rows: 2, max_groups: 2, columns: {}}\n"
	for _, change := range []string{"", "ALTER TABLE visits DROP CONSTRAINT visits_pid_fkey; ALTER TABLE people ALTER pid TYPE text"} {
		c.do(change)
		if told := whyNot(t, keys); !strings.Contains(told, "one person would be two") {
			t.Errorf("after %q: %s", change, told)
		}
	}
	c.do("ALTER TABLE bills ALTER \"VID\" TYPE text")
	if told := whyNot(t, keys); told != "" {
		t.Error(told)
	}
	c.do("ALTER TABLE people ALTER pid TYPE char(7); ALTER TABLE visits ALTER pid TYPE char(9)") // of any width
	if told := whyNot(t, keys); told != "" {
		t.Error(told)
	}
}

// TestCopiedSwapped: another table or another column under the same name is other data.
func TestCopiedSwapped(t *testing.T) {
	c := newClinic(t, "CREATE TABLE people (pid bigint, word text, other text)", "INSERT INTO people VALUES (1, 'a', 'b')",
		"CREATE TABLE fresh (LIKE people)", "INSERT INTO fresh VALUES (1, 'c', 'd')",
		"GRANT SELECT (pid, word) ON people TO reader",
		"SELECT pg_stat_force_next_flush()")
	e := open(t, dataset(t, t.TempDir(), c.peopleOf("", "")))
	for _, s := range []struct{ change, want string }{
		{"ALTER TABLE people RENAME TO old; ALTER TABLE fresh RENAME TO people; REVOKE ALL ON old FROM reader; " +
			"GRANT SELECT (pid, word) ON people TO reader", "c"},
		{"ALTER TABLE people RENAME word TO w; ALTER TABLE people RENAME other TO word; REVOKE SELECT (w) ON people FROM reader; " +
			"GRANT SELECT (word) ON people TO reader", "d"},
		{"ALTER SCHEMA public RENAME TO past; CREATE SCHEMA public; GRANT USAGE ON SCHEMA public TO reader; REVOKE ALL ON past.people " +
			"FROM reader; CREATE TABLE public.people (pid bigint, word text); GRANT SELECT ON public.people TO reader", ""},
	} {
		c.do(s.change)
		version(t, e)
		if got := words(t, e); got != s.want {
			t.Errorf("%s: %q", s.change, got)
		}
	}
}

// TestCopiedMoved: a table that is emptied, written anew, or made another one between the beginning
// of the transaction and the copy is not taken for what it was.
func TestCopiedMoved(t *testing.T) {
	c := newClinic(t, "CREATE TABLE people (pid bigint, word text)", "CREATE TABLE fresh (LIKE people)",
		"GRANT SELECT ON people, fresh TO reader")
	c.do("REVOKE ALL ON fresh FROM reader")
	ds := dataset(t, t.TempDir(), c.peopleOf("", ""))
	database := must(pgtables.Of(ds))(t)
	for _, change := range []string{"", "INSERT INTO people VALUES (3, 'c')",
		"BEGIN; TRUNCATE people; INSERT INTO people VALUES (2, 'b'); COMMIT", "ALTER TABLE people ALTER pid TYPE double precision",
		"ALTER TABLE people RENAME TO old; ALTER TABLE fresh RENAME TO people; GRANT SELECT ON people TO reader",
		"ALTER TABLE people RENAME pid TO x; ALTER TABLE people ADD pid date", "DROP TABLE people"} {
		from := must(database.Begin(t.Context()))(t)
		if change != "" {
			c.do(change)
		}
		rows := 0
		err := from.Copy(t.Context(), from.Relations[0], func(b *pgtables.Batch) error { rows += b.N; return nil })
		if err == nil {
			err = from.Whole(t.Context())
		}
		if still := change == "" || strings.HasPrefix(change, "INSERT"); (err == nil) != still {
			t.Errorf("%s: %d rows, %v", change, rows, err)
		}
		from.Close()
		c.do("DROP TABLE IF EXISTS people, old", "CREATE TABLE people (pid bigint, word text)", "INSERT INTO people VALUES (1, 'a')",
			"GRANT SELECT ON people TO reader")
	}
}

// TestCopiedMember: what a role can become counts as what it may do, whether or not it inherits it.
func TestCopiedMember(t *testing.T) {
	c := newClinic(t, "CREATE TABLE people (pid bigint, word text)", "GRANT SELECT ON people TO reader", "ALTER ROLE reader NOINHERIT",
		"CREATE TABLE other (x integer)", "CREATE ROLE boss SUPERUSER", "CREATE ROLE writer", "GRANT INSERT ON people TO writer",
		"CREATE ROLE looker", "GRANT SELECT ON other TO looker", "CREATE ROLE maker", "GRANT CREATE ON SCHEMA public TO maker",
		"CREATE ROLE builder", "GRANT CREATE ON DATABASE clinic TO builder", "CREATE ROLE plain")
	for role, want := range map[string]string{"boss": "a member of boss", "writer": "may change public.people",
		"looker": "may read public.other", "maker": "may create tables in the schema public", "builder": "may create schemas",
		"plain": ""} {
		c.do("GRANT " + role + " TO reader")
		if told := whyNot(t, c.peopleOf("", "")); (told == "") != (want == "") || !strings.Contains(told, want) {
			t.Errorf("a member of %s: %s", role, told)
		}
		c.do("REVOKE " + role + " FROM reader")
	}
	// Settings of the role and of the database change nothing.
	c.do("GRANT plain TO reader", "ALTER ROLE reader SET role = 'plain'", "ALTER ROLE reader SET statement_timeout = 1",
		"ALTER DATABASE clinic SET search_path = evil", "INSERT INTO people SELECT i, 'a' FROM generate_series(1, 200000) i")
	if told := whyNot(t, c.peopleOf("", "")); told != "" {
		t.Error(told)
	}
}

// TestCopiedRights: whatever a role may beside reading the columns of the policy is refused, and
// what is said to run takes it away and leaves what is needed, in one go.
func TestCopiedRights(t *testing.T) {
	c := newClinic(t, `CREATE TABLE "Visits 2" (pid bigint, "Größe cm" smallint, note text) PARTITION BY LIST (pid)`,
		`CREATE TABLE visits_1 PARTITION OF "Visits 2" FOR VALUES IN (1)`, "CREATE TABLE other (x integer)", "CREATE ROLE desk",
		"CREATE ROLE house", "GRANT desk TO house", "CREATE SEQUENCE numbers")
	keys := "source: " + c.source() + "\nunit: v.pid\ntables: {v: {source: public.Visits 2, max_rows: 1, max_groups: 1, " +
		"columns: {größe cm: {type: integer}}}}\n"
	for _, x := range []struct{ grant, want string }{
		{`GRANT USAGE ON SCHEMA public TO reader`, `may not read "Größe cm", "pid" of public.Visits 2`},
		{`GRANT SELECT ON "Visits 2" TO reader`, `may read note of public."Visits 2", which the policy does not name`},
		{`GRANT SELECT (pid, "Größe cm", note) ON "Visits 2" TO PUBLIC`, `may read note of public."Visits 2"`},
		{`GRANT SELECT ON visits_1 TO reader`, `may read note of public.visits_1`},
		{`GRANT SELECT ON "Visits 2" TO desk; GRANT house TO reader`, `may read note of public."Visits 2"`},
		{`GRANT ALL ON "Visits 2" TO reader`, `may change public."Visits 2"`},
		{`GRANT INSERT (pid) ON "Visits 2" TO desk; GRANT house TO reader`, `may change public."Visits 2"`},
		{`GRANT SELECT ON other TO desk; GRANT desk TO reader`, `may read public.other`},
		{`GRANT SELECT ON other TO PUBLIC; GRANT desk TO reader`, `may read public.other`},
		{`GRANT ALL ON SEQUENCE numbers TO reader`, `may change public.numbers`},
		{`GRANT CREATE ON SCHEMA public TO desk; GRANT desk TO reader; ALTER ROLE reader CREATEDB`, `create tables in the schema public`},
		{`GRANT CREATE ON DATABASE clinic TO reader`, `may create schemas in clinic`},
		{`GRANT pg_write_all_data TO reader`, `is a member of pg_write_all_data`},
	} {
		c.do(x.grant)
		told := whyNot(t, keys)
		if !strings.Contains(told, x.want) {
			t.Errorf("%s: %s\nwants %s", x.grant, told, x.want)
		}
		_, run, _ := strings.Cut(told, "run:\n")
		c.do(run)
		if told := whyNot(t, keys); told != "" {
			t.Errorf("%s, and then%sis not enough: %s", x.grant, run, told)
		}
		c.do(`REVOKE ALL ON "Visits 2", visits_1, other FROM desk, house, PUBLIC`, "REVOKE desk, house FROM reader")
	}
	// A version query may be about anything.
	c.do(`GRANT SELECT ON "Visits 2", other TO reader`)
	if told := whyNot(t, "version: SELECT coalesce(max(x), 0) FROM public.other\n"+keys); told != "" {
		t.Error(told)
	}
}

// TestCopiedNamed: what a version query says is shown and recorded, so it has to be a name.
func TestCopiedNamed(t *testing.T) {
	c := newClinic(t, "CREATE TABLE people (pid bigint, word text)", "GRANT SELECT ON people TO reader", "CREATE TABLE log (v text)",
		"GRANT SELECT ON log TO reader", "INSERT INTO log VALUES ('one')")
	keys := c.peopleOf("version: SELECT max(v) FROM public.log\n", "")
	e := open(t, dataset(t, t.TempDir(), keys))
	if v := version(t, e); v.Name != "one" || v.Whole {
		t.Errorf("%+v", v)
	}
	for name, want := range map[string]string{"''": "empty", "repeat('x', 201)": "201 bytes", "'a' || chr(27) || '[2J'": "printed"} {
		c.do("UPDATE log SET v = " + name)
		var failed *policy.VersionError
		if v, err := e.Version(t.Context()); !errors.As(err, &failed) || !strings.Contains(failed.Explain(), want) ||
			strings.Contains(err.Error(), "xxx") {
			t.Errorf("%s: %+v, %v", name, v, err)
		}
		if told, err := DescribeVersion(t.Context(), dataset(t, t.TempDir(), keys)); err == nil {
			t.Errorf("%s: %s", name, told)
		}
	}
	c.do("UPDATE log SET v = 'two'")
	if v := version(t, e); v.Name != "two" {
		t.Errorf("%+v", v)
	}
}
