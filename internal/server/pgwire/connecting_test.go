package pgwire

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
)

// What machines and drivers set unasked does not keep anybody out: it is answered with what is
// true, and a notice, at the start and by SET alike.
func TestUnaskedSettings(t *testing.T) {
	p := open(t, nil)
	for _, c := range []struct{ name, value, is, says string }{
		{"client_encoding", "'utf-8'", "UTF8", ""},
		{"client_encoding", `"UTF8"`, "UTF8", ""},
		{"client_encoding", "WIN1252", "UTF8", "texts are in UTF8"},
		{"client_encoding", "nonsense", "UTF8", "texts are in UTF8"},
		{"TimeZone", "Europe/Berlin", "UTC", "no time zone"},
		{"TimeZone", "'America/St_Johns'", "UTC", "no time zone"},
		{"TimeZone", "Etc/UTC", "UTC", ""},
		{"DateStyle", "German, DMY", "ISO, MDY", "ISO 8601"},
		{"DateStyle", "ISO, DMY", "ISO, DMY", ""},
	} {
		said := &notices{}
		config := p.config(t, "ana", "hospital")
		config.RuntimeParams[c.name] = c.value
		config.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) { said.add(n.Message) }
		conn := p.connect(t, config)
		check := func(how string) {
			t.Helper()
			heard := strings.Join(said.take(), "\n")
			if got := conn.PgConn().ParameterStatus(c.name); got != c.is {
				t.Errorf("%s, %s = %s: is %s; want %s", how, c.name, c.value, got, c.is)
			}
			if c.says == "" && heard != "" || !strings.Contains(heard, c.says) {
				t.Errorf("%s, %s = %s: heard %q; want %q", how, c.name, c.value, heard, c.says)
			}
		}
		check("at the start")
		if _, err := conn.PgConn().Exec(background, "SET "+c.name+" = "+literal(c.value)).ReadAll(); err != nil {
			t.Errorf("SET %s = %s: %v", c.name, c.value, err)
		}
		check("by SET")
		conn.Close(background)
	}
}

// literal writes a text as SQL does.
func literal(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

// What pools send to make a connection new again, and what tools send that changes nothing here.
func TestPoolReset(t *testing.T) {
	p := open(t, nil)
	conn := p.ana(t)
	for sql, tags := range map[string]string{
		"SELECT pg_advisory_unlock_all();\nCLOSE ALL;\nUNLISTEN *;\nRESET ALL;": "SELECT 1,CLOSE CURSOR ALL,UNLISTEN,RESET",
		"SET TIME ZONE INTERVAL '+02:00' HOUR TO MINUTE; SET TIME ZONE LOCAL":   "SET,SET",
		"LISTEN x; SET CONSTRAINTS ALL DEFERRED; DISCARD PLANS; DISCARD TEMP":   "LISTEN,SET CONSTRAINTS,DISCARD PLANS,DISCARD TEMP",
		"SET SESSION AUTHORIZATION DEFAULT; RESET ROLE; RESET ALL; DISCARD ALL": "SET,RESET,RESET,DISCARD ALL",
		"EXPLAIN (ANALYZE FALSE, VERBOSE TRUE, COSTS off, BUFFERS 0, TIMING FALSE, SUMMARY, FORMAT JSON) SELECT count(*) FROM patients; " +
			"EXPLAIN VERBOSE SELECT count(*) FROM patients": "EXPLAIN,EXPLAIN",
	} {
		results, err := conn.PgConn().Exec(background, sql).ReadAll()
		var got []string
		for _, r := range results {
			got = append(got, r.CommandTag.String())
		}
		if err != nil || strings.Join(got, ",") != tags {
			t.Errorf("%s: %s %v; want %s", sql, strings.Join(got, ","), err, tags)
		}
	}
}

// A plan for programs is a list of one, as PostgreSQL's is: sqlx reads no other.
func TestPlanIsList(t *testing.T) {
	conn := open(t, nil).ana(t)
	for _, sql := range []string{"SELECT count(*) FROM patients", "SELECT 1"} {
		var plans []map[string]any
		if err := conn.QueryRow(background,
			"EXPLAIN (FORMAT JSON) "+sql).Scan(&plans); err != nil || len(plans) != 1 || len(plans[0]) == 0 {
			t.Errorf("%s: %v %v", sql, plans, err)
		}
	}
}

// A temporary view is described and stands in the session's own catalogue, free, and is nobody
// else's.
func TestTemporaryViews(t *testing.T) {
	p := open(t, nil)
	conn, other := p.ana(t), p.ana(t)
	run := func(sql, want string) {
		t.Helper()
		results, err := conn.PgConn().Exec(background, sql).ReadAll()
		got := ""
		if err != nil {
			got = code(err)
		} else {
			for _, row := range results[len(results)-1].Rows {
				got += string(row[0]) + ","
			}
			got += results[len(results)-1].CommandTag.String()
		}
		if got != want {
			t.Errorf("%s: %s %v; want %s", sql, got, err, want)
		}
	}
	const columns = "SELECT attname || ' ' || format_type(atttypid, -1) FROM pg_attribute WHERE attrelid = 'mine'::regclass ORDER BY attnum"
	run("CREATE TEMPORARY VIEW mine AS SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex", "CREATE VIEW")
	run(columns, "sex text,n bigint,SELECT 2")
	run("CREATE TEMP VIEW mine AS SELECT 1 AS one", "CREATE VIEW")
	run(columns, "one integer,SELECT 1")
	run("CREATE OR REPLACE TEMP VIEW mine (a) AS SELECT AVG(age) AS m FROM patients", "CREATE VIEW")
	run(columns, "a double precision,SELECT 1")
	run("SELECT count(*) FROM mine", notSupported)
	run("SELECT count(*) FROM public.mine, patients", notSupported)
	run("WITH mine AS (SELECT sex FROM patients) SELECT count(*) > 1000000 FROM mine", "f,SELECT 1")
	run("CREATE TEMP VIEW patients AS SELECT 1", "42P07")
	run("CREATE TEMP VIEW bad AS SELECT age FROM patients", notSupported)
	run("CREATE VIEW lasting AS SELECT 1", readOnly)
	run("DROP VIEW patients", readOnly)
	run("DROP TABLE patients", readOnly)
	run("DROP VIEW mine", "DROP VIEW")
	run("DROP VIEW IF EXISTS mine", "DROP VIEW")
	run(columns, "42P01")
	for range 60 {
		run("CREATE OR REPLACE TEMP VIEW mine AS SELECT 1 AS x", "CREATE VIEW")
	}
	for i := range 30 {
		run("CREATE TEMP VIEW v"+strings.Repeat("i", i)+" AS SELECT 1 AS x", "CREATE VIEW")
	}
	run("SELECT count(*) FROM information_schema.views WHERE table_schema = 'public'", "20,SELECT 1")
	if _, err := other.PgConn().Exec(background, "SELECT 'vi'::regclass").ReadAll(); code(err) != "42P01" {
		t.Errorf("somebody else's view: %v", err)
	}
	run("DISCARD TEMP", "DISCARD TEMP")
	run("SELECT count(*) FROM information_schema.views WHERE table_schema = 'public'", "0,SELECT 1")
}
