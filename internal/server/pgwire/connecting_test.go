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
