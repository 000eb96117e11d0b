package server

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/planner"
	"github.com/discreet-dp/discreet/internal/test/daily"
	"github.com/discreet-dp/discreet/internal/test/generate"
	"github.com/discreet-dp/discreet/internal/test/storekinds"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/policy"
)

// front is a server as an attacker sees it.
type front struct {
	t        *testing.T
	server   *Server
	password string
	token    string
	data     *policy.Dataset
	source   string
}

// largest are neighbours, the largest of many that were made up.
var largest struct {
	sync.Once
	one, other *generate.Database
}

// neighbours are two servers with the same policy and the same users, whose data differs in one
// person.
func neighbours(t *testing.T, in storekinds.Store) (with, without *front) {
	ds := clinic(t, t.TempDir(), "clinic.duckdb").Datasets["clinic"]
	largest.Do(func() {
		dice := generate.NewDice("doors", 1)
		for range 200 {
			made := generate.Make(dice, ds)
			if n, ok := made.Neighbour(dice); ok && made.Rows() > n.Rows()+2 && (largest.one == nil || made.Rows() > largest.one.Rows()) {
				largest.one, largest.other = made, n
			}
		}
	})
	one, other := largest.one, largest.other
	t.Logf("%d rows, and %d without one person", one.Rows(), other.Rows())
	return newFront(t, in, one), newFront(t, in, other)
}

// clinic writes the policy of data at a source into a folder.
func clinic(t *testing.T, dir, source string) *policy.Policy {
	t.Helper()
	text, err := os.ReadFile("testdata/clinic.yaml")
	must(t, err)
	text = bytes.Replace(text, []byte("clinic.duckdb"), []byte(source), 1)
	if policy.IsTrino(source) {
		instead := "engine: trino"
		if strings.Contains(source, "/memory/") { // which does not say when it has changed
			instead = "refresh: 24h"
		}
		text = bytes.Replace(text, []byte("engine: duckdb"), []byte(instead), 1)
	}
	path := filepath.Join(dir, "clinic.yaml")
	must(t, os.WriteFile(path, text, 0o600))
	p, err := policy.Load(path)
	must(t, err)
	return p
}

func newFront(t *testing.T, in storekinds.Store, data *generate.Database) *front {
	t.Helper()
	dir := t.TempDir()
	source := in.Keep(t, data)
	p := clinic(t, dir, source)
	f := &front{t: t, source: source, data: p.Datasets["clinic"]}
	f.serve(dir, Config{})
	return f
}

// serve opens the server of a folder with a policy.
func (f *front) serve(dir string, c Config) {
	t := f.t
	t.Helper()
	c.Policy, c.Users, c.Listen, c.HTTP = filepath.Join(dir, "clinic.yaml"), filepath.Join(dir, "users"), "127.0.0.1:0", "127.0.0.1:0"
	c.Rate, c.Version = 1_000_000, "test"
	f.password, f.token = addAna(t, c)
	f.server = opened(t, c)
}

// wire opens a connection for messages of one's own.
func (f *front) wire() *pgconn.HijackedConn { return f.wireTo("clinic") }

func (f *front) wireTo(dataset string) *pgconn.HijackedConn {
	f.t.Helper()
	at := fmt.Sprintf("host=127.0.0.1 port=%d user=ana password=%s dbname=%s sslmode=disable",
		f.server.WireAddr().(*net.TCPAddr).Port, f.password, dataset)
	c, err := pgconn.Connect(f.t.Context(), at)
	must(f.t, err)
	raw, err := c.Hijack()
	must(f.t, err)
	f.t.Cleanup(func() { raw.Conn.Close() })
	return raw
}

// mask is what noise had a say in, which may differ: everything else may not.
type mask struct {
	rows    bool   // which rows there are
	columns []bool // values
}

// masked finds out, from text and policy alone, what noise has a say in.
func (f *front) masked(text string) mask {
	st, err := planner.Prepare(f.data, text, planner.Options{})
	if err != nil {
		return mask{rows: true} // there will be no rows; or a query of the catalogue, or of a public table
	}
	if st.Empty || len(st.Plans) == 0 {
		return mask{} // nothing: it has no rows, or is about public tables alone
	}
	p := st.Plans[0]
	m := mask{rows: st.Outer != nil || p.Having != nil || p.Limit != nil || p.Distinct || len(p.Order) > 0 || p.Query.Choice != nil ||
		len(p.Query.PrivateKeys()) > 0}
	if d, err := f.server.db.Describe(context.Background(), api.Question{Analyst: "ana", SQL: text}); err == nil {
		for _, c := range d.Columns {
			m.columns = append(m.columns, c.Noisy)
		}
	}
	return m
}

// around hides the widths of error bars that noise has a say in, such as those of averages, and
// what names a ledger or a request; moment hides what the clock has a say in.
var (
	around = regexp.MustCompile(`±[0-9.]+(?: to ±[0-9.]+)?|"hash":"[0-9a-f]+"|request:[A-Za-z0-9_-]+|[0-9a-f]{64}`)
	moment = regexp.MustCompile(`TIMESTAMP '[^']*' in place of now|now\(\) is TIMESTAMP '[^']*'|\\?"now\\?": ?\\?"[^"\\]*\\?"`)
)

// hide writes what a server said, without what noise had a say in.
func (m mask) hide(message pgproto3.BackendMessage) string {
	if row, ok := message.(*pgproto3.DataRow); ok {
		if m.rows {
			return ""
		}
		var b strings.Builder
		for i, v := range row.Values {
			switch {
			case v == nil:
				b.WriteString(" NULL")
			case i < len(m.columns) && m.columns[i]:
				b.WriteString(" #")
			default:
				fmt.Fprintf(&b, " %q", v)
			}
		}
		return "DataRow" + b.String()
	}
	if _, ok := message.(*pgproto3.CopyData); ok && m.rows {
		return ""
	}
	if done, ok := message.(*pgproto3.CommandComplete); ok && m.rows {
		return "CommandComplete " + strings.TrimRight(string(done.CommandTag), "0123456789")
	}
	if n, ok := message.(*pgproto3.NoticeResponse); ok { // whose length can be one of noisy digits
		if m.rows && strings.HasPrefix(n.Message, "error (") {
			return "" // it is said where there is a row
		}
		return moment.ReplaceAllString(around.ReplaceAllString(fmt.Sprintf("%+v", *n), "*"), "*")
	}
	raw, err := message.Encode(nil)
	return around.ReplaceAllString(fmt.Sprintf("%q %v", raw, err), "*")
}

// say sends messages and writes down what comes back, until the server is ready again.
func say(t *testing.T, c *pgconn.HijackedConn, m mask, messages ...pgproto3.FrontendMessage) string {
	t.Helper()
	for _, x := range messages {
		c.Frontend.Send(x)
	}
	if err := c.Frontend.Flush(); err != nil {
		return "closed"
	}
	var b strings.Builder
	for {
		x, err := c.Frontend.Receive()
		if err != nil {
			return b.String() + "closed"
		}
		if text := m.hide(x); text != "" {
			fmt.Fprintln(&b, text)
		}
		if _, ok := x.(*pgproto3.ReadyForQuery); ok {
			return b.String()
		}
	}
}

func (f *front) post(path, body string, m mask) string {
	f.t.Helper()
	r, err := http.NewRequest("POST", "http://"+f.server.HTTPAddr().String()+path, strings.NewReader(body))
	must(f.t, err)
	r.Header.Set("Authorization", "Bearer "+f.token)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("X-Request-Id", "same")
	a, err := http.DefaultClient.Do(r)
	must(f.t, err)
	defer a.Body.Close()
	text, err := io.ReadAll(a.Body)
	must(f.t, err)
	var fields map[string]any
	if a.StatusCode == http.StatusOK && json.Unmarshal(text, &fields) == nil && fields["rows"] != nil {
		text = m.body(fields)
	} else {
		text = around.ReplaceAll(text, []byte("*"))
	}
	text = moment.ReplaceAll(text, []byte("*"))
	header := a.Header.Clone()
	for _, name := range []string{"Date", "Idempotency-Key", "Content-Length"} { // drawn, or a length of noisy digits
		header.Del(name)
	}
	return fmt.Sprintf("%d %v %s", a.StatusCode, header, text)
}

// body hides what noise had a say in.
func (m mask) body(fields map[string]any) []byte {
	var rows [][]string
	for _, row := range fields["rows"].([]any) {
		var cells []string
		for i, v := range row.([]any) {
			if v != nil && i < len(m.columns) && m.columns[i] {
				v = "#"
			}
			cells = append(cells, fmt.Sprint(v))
		}
		rows = append(rows, cells)
	}
	fields["rows"] = rows
	if m.rows {
		fields["rows"] = nil
	}
	delete(fields, "errors")
	delete(fields["receipt"].(map[string]any), "hash")
	text, _ := json.Marshal(fields)
	return text
}

// attacks are what hostile analysts ask, by family, and what only a server can be asked.
func attacks(t *testing.T) []string {
	var all []string
	for _, a := range generate.Attacks() {
		all = append(all, a.Text)
	}
	if len(all) < 150 {
		t.Fatalf("only %d attacks", len(all))
	}
	return append(all,
		"SELECT COUNT(*) FROM patients; SELECT pid FROM patients; SELECT COUNT(*) FROM visits",
		"SELECT COUNT(*) FROM patients WHERE age > 1; DROP TABLE patients",
		"BEGIN; SELECT COUNT(*) FROM patients WHERE age > 2; ROLLBACK", // nothing is given back
		"SELECT * FROM pg_stats", "SELECT * FROM pg_catalog.pg_statistic",
		"SELECT relname, reltuples, relpages FROM pg_class WHERE relkind IN ('r', 'v')",
		"SELECT pg_relation_size('patients'), pg_total_relation_size('patients')", "SELECT pg_stat_get_live_tuples('patients'::regclass)",
		"SELECT n_live_tup FROM pg_stat_user_tables", "SELECT * FROM pg_stat_activity", "SELECT * FROM pg_stat_statements",
		"SELECT pg_read_file('/etc/hostname')",
		"SELECT * FROM pg_settings", "SELECT * FROM duckdb_tables()", "SELECT * FROM sqlite_master", "PRAGMA table_info(patients)",
		"ATTACH 'x.duckdb'", "INSTALL httpfs",
		"SELECT count(*) FROM pg_class, patients", "SELECT (SELECT count(*) FROM patients) FROM pg_class",
		"SELECT 1 WHERE EXISTS (SELECT 1 FROM patients WHERE pid = 37)",
		"SELECT current_user, (SELECT max(cost) FROM patients)", "SELECT currval('patients_pid_seq')",
		"SELECT ctid, xmin, tableoid FROM patients",
		"EXPLAIN SELECT COUNT(*) FROM patients WHERE pid = 37", "EXPLAIN (ANALYZE, BUFFERS) SELECT COUNT(*) FROM patients",
		"EXPLAIN (FORMAT JSON) SELECT COUNT(*) FROM patients WHERE pid = 37",
		"EXPLAIN SELECT pid FROM patients", "ANALYZE patients", "VACUUM patients", "LOCK TABLE patients",
		"DECLARE c CURSOR FOR SELECT COUNT(*) FROM patients", "FETCH ALL FROM c",
		"DECLARE c CURSOR WITH HOLD FOR SELECT COUNT(*) FROM patients WHERE pid = 37",
		"FETCH 0 FROM c", "FETCH ALL FROM c", "FETCH PRIOR c",
		"MOVE BACKWARD ALL c", "SELECT * FROM pg_cursors", "CLOSE c",
		"DECLARE d CURSOR WITH HOLD FOR SELECT pid FROM patients",
		"DECLARE d BINARY CURSOR WITH HOLD FOR SELECT * FROM patients WHERE pid = 37",
		"BEGIN; DECLARE e CURSOR FOR SELECT AVG(cost) FROM patients WHERE pid = 37; FETCH e; ROLLBACK", "FETCH e",
		"COPY (SELECT COUNT(*) FROM patients) TO STDOUT",
		"COPY (SELECT zip, COUNT(*) FROM patients GROUP BY zip) TO STDOUT (FORMAT binary)",
		"COPY (SELECT MAX(cost) FROM patients WHERE pid = 37) TO STDOUT CSV HEADER",
		"COPY (SELECT * FROM patients WHERE pid = 37) TO STDOUT",
		"COPY patients (zip) TO STDOUT", "COPY (SELECT pid FROM patients) TO STDOUT (FORMAT csv, NULL 'x')",
		"COPY (SELECT COUNT(*) FROM patients WHERE 1/(CASE WHEN pid = 37 THEN 0 ELSE 1 END) = 1) TO STDOUT",
		"COPY (SELECT COUNT(*) FROM patients) TO '/tmp/x'", "COPY (SELECT COUNT(*) FROM patients) TO PROGRAM 'cat'",
		"PREPARE q(int) AS SELECT COUNT(*) FROM patients WHERE pid = $1; EXECUTE q(37); EXPLAIN EXECUTE q(37); DEALLOCATE q",
		"PREPARE r AS SELECT pid FROM patients", "EXECUTE r", "SELECT * FROM pg_prepared_statements",
		"SELECT * FROM patients WHERE 0 = 1", "SELECT * FROM patients LIMIT 0", "SELECT zip FROM patients WHERE pid = 37 AND false",
		"SELECT CAST(zip AS integer), 1 / (cost - cost) FROM patients WHERE 1 = 0",
		"SELECT DISTINCT diagnosis FROM patients WHERE pid = 37",
		"SELECT diagnosis FROM patients WHERE zip = '1003A' GROUP BY diagnosis", "SELECT DISTINCT zip FROM patients",
		"SELECT COUNT(*) FROM patients WHERE pid = ANY('{37}')", "SELECT COUNT(*) FROM patients WHERE pid = ANY(ARRAY[37, 1/0])",
		"SELECT COUNT(*) FROM patients WHERE zip LIKE ANY('{1003%,%}')", "SELECT COUNT(*) FROM patients WHERE age <> ALL ('{"+
			strings.Repeat("1,", 3000)+"1}')",
		"SELECT COUNT(*) FROM patients WHERE EXISTS (SELECT DISTINCT 1 FROM patients q WHERE q.pid = 37 LIMIT 0)",
		"COPY patients FROM STDIN", "DO $$ BEGIN PERFORM 1; END $$", "SET ROLE postgres",
		"SET SESSION AUTHORIZATION ben",
		"SET dp.epsilon = 'NaN'", "SET dp.epsilon = 1e20", "SET dp.epsilon = 0", "SET dp.epsilon = -1", "SHOW dp.budget",
		"SET dp.epsilon = 0.2; SELECT COUNT(*) FROM patients WHERE age > 3; RESET dp.epsilon",
		"LISTEN x", "NOTIFY x", "CREATE FUNCTION f() RETURNS int LANGUAGE sql AS 'SELECT 1'",
		"SELECT set_config('dp.epsilon', '50', false)", "RESET ALL",
		"SELECT COUNT(*) FROM patients WHERE zip = '\xff'", "SELECT COUNT(*) FROM patients WHERE zip = U&'\\0061'",
		"SELECT COUNT(*) FROM \"patients\u200b\"",
		"SELECT COUNT(*) FROM patients WHERE "+strings.Repeat("(", 100_000)+"true"+strings.Repeat(")", 100_000),
		"SELECT "+strings.Repeat("1+", 50_000)+"1",
		"SELECT COUNT(*) FROM patients WHERE zip = '"+strings.Repeat("x", 100_000)+"'",
		"", ";", "--", "/*",
	)
}

// TestAttacks sends what hostile analysts ask through both listeners of neighbours. What is said
// and what is charged is the same, byte for byte, but for the noisy numbers themselves, and what is
// chosen by them.
func TestAttacks(t *testing.T) {
	for i, s := range storekinds.Stores() {
		if testing.Short() && i > 0 {
			continue // which the race detector has nothing to say about
		}
		t.Run(s.Name, func(t *testing.T) { testAttacks(t, s) })
	}
}

func testAttacks(t *testing.T, in storekinds.Store) {
	one, other := neighbours(t, in)
	var sides [2][]string
	texts := append(storekinds.Some(in, 16, daily.Full(), attacks(t)), "SELECT COUNT(*) FROM patients")
	if in.Name != "duckdb" { // which asks all of them
		texts = daily.Sample(t, texts, 60)
	}
	everyWay := daily.Sample(t, texts, len(texts)/8)
	masks := map[string]mask{} // of text and policy, which are the same on both sides
	for _, text := range texts {
		masks[text] = one.masked(text)
	}
	var of []string // which text it is that was answered
	for i, f := range []*front{one, other} {
		c := f.wire()
		for _, text := range texts {
			m := masks[text]
			sides[i] = append(sides[i], "simple: "+say(t, c, m, &pgproto3.Query{String: text}))
			if of = append(of, text); !slices.Contains(everyWay, text) {
				continue
			}
			of = append(of, text, text, text)
			sides[i] = append(sides[i], "extended: "+
				say(t, c, m, &pgproto3.Parse{Query: text}, &pgproto3.Describe{ObjectType: 'S'}, &pgproto3.Bind{},
					&pgproto3.Describe{ObjectType: 'P'}, &pgproto3.Execute{}, &pgproto3.Sync{}))
			body, err := json.Marshal(map[string]string{"dataset": "clinic", "sql": text})
			must(t, err)
			sides[i] = append(sides[i], "HTTP: "+f.post("/v1/query", string(body), m),
				"HTTP explain: "+f.post("/v1/explain", string(body), m))
		}
	}
	answered := 0
	for i, said := range sides[0] {
		if strings.Contains(said, "DataRow") || strings.HasPrefix(said, "HTTP: 200") {
			answered++
		}
		if strings.HasSuffix(said, "closed") {
			t.Errorf("the connection was closed: %.200q", of[i])
		}
		if said != sides[1][i] {
			t.Errorf("%.300q\nsays\n%.1500s\nand without one person\n%.1500s", of[i], said, sides[1][i])
		}
	}
	if answered < len(sides[0])/16 {
		t.Errorf("only %d of %d were answered", answered, len(sides[0]))
	}
	if a, b := one.charges(), other.charges(); a != b {
		t.Errorf("the ledgers differ:\n%s\n%s", a, b)
	} else if strings.Count(a, "\n") < len(texts)/10 {
		t.Errorf("too few charges:\n%s", a)
	}
}

// TestParameterAttacks binds what hostile analysts would.
func TestParameterAttacks(t *testing.T) {
	one, other := neighbours(t, storekinds.Stores()[0])
	var sides [2][]string
	values := []string{"NaN", "inf", "-0", "1e999999999", "37", "37 OR 1=1", "'; DROP TABLE patients; --", "\\'", "$1", "", "\u202e",
		"\xff\xfe", strings.Repeat("9", 200_000)}
	type binding struct {
		value, where string
		oid          uint32
		format       int16
	}
	var all []binding
	for _, value := range values {
		for _, where := range []string{"pid = $1", "zip = $1", "cost > $1", "smoker = $1", "admitted = $1", "zip LIKE $1",
			"age / $1 > 1", "age IN ($1, $1)", "zip = U&$1", "age > (SELECT $1)"} {
			for _, oid := range []uint32{0, 20, 25, 701, 1700, 1082} {
				all = append(all, binding{value, where, oid, 0}, binding{value, where, oid, 1})
			}
		}
	}
	some := daily.Sample(t, all, len(all)/3)
	for i, f := range []*front{one, other} {
		c := f.wire()
		for _, b := range some {
			text := "SELECT COUNT(*) FROM patients WHERE " + b.where
			m := mask{columns: []bool{true}}
			sides[i] = append(sides[i], fmt.Sprintf("%s %q %d %d: ", b.where, b.value, b.oid, b.format)+
				say(t, c, m, &pgproto3.Parse{Query: text, ParameterOIDs: []uint32{b.oid}},
					&pgproto3.Bind{ParameterFormatCodes: []int16{b.format}, Parameters: [][]byte{[]byte(b.value)}},
					&pgproto3.Describe{ObjectType: 'P'}, &pgproto3.Execute{}, &pgproto3.Sync{}))
		}
	}
	for i, said := range sides[0] {
		if strings.HasSuffix(said, "closed") {
			t.Errorf("the connection was closed: %.500s", said)
		}
		if said != sides[1][i] {
			t.Errorf("%.1500s\nand without one person\n%.1500s", said, sides[1][i])
		}
	}
	if a, b := one.charges(), other.charges(); a != b {
		t.Errorf("the ledgers differ:\n%s\n%s", a, b)
	}
}

// charges are those of a ledger, without what is drawn.
func (f *front) charges() string {
	var b strings.Builder
	for r, err := range f.server.db.Records(context.Background(), 0) {
		must(f.t, err)
		if r.Kind == ledger.KindCharge {
			fmt.Fprintln(&b, r.Sequence, r.Analyst, r.Query, r.Mechanisms, r.Cost)
		}
	}
	return b.String()
}
