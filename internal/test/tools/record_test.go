package tools

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/discreet-dp/discreet/internal/test/testpg"
)

var (
	recordTools = flag.String("record", "", "the tools, or all, to run against PostgreSQL; what they send is written into testdata/corpus")
	only        = flag.String("tools", "", "the tools that TestCorpus and TestTools are about; all where it is empty")
)

// TestRecord writes the corpus:
//
//	DISCREET_TOOLS=/opt/tools go test ./internal/test/tools -run TestRecord -record all
func TestRecord(t *testing.T) {
	if *recordTools == "" {
		t.Skip("it is run by hand: -record psql,asyncpg")
	}
	for _, tool := range tools {
		if *recordTools != "all" && !strings.Contains(","+*recordTools+",", ","+tool.name+",") {
			continue
		}
		t.Run(tool.name, func(t *testing.T) {
			why := tool.missing()
			if why != "" {
				t.Fatal(why)
			}
			postgres, names := hospitalInPostgres(t)
			steps := filepath.Join(t.TempDir(), "step")
			r := record(t, postgres, names, steps)
			out := run(t, tool, target{"127.0.0.1", r.port(), "ana", "secret", steps})
			t.Logf("%s", out)
			c := &script{name: tool.name, lines: r.recording()}
			for l := range strings.SplitSeq(out, "\n") {
				if about, ok := strings.CutPrefix(l, "tool "); ok {
					c.about = append(c.about, strings.TrimSpace(about))
				}
			}
			c.about = append(c.about, "sent by testdata/senders/"+tool.sender())
			c.brief()
			file := filepath.Join("testdata/corpus", tool.name+".txt")
			c.takeOutcomes(file)
			must(t, os.WriteFile(file, []byte(c.String()), 0o644))
		})
	}
}

// takeOutcomes keeps what is known of statements that were in the file before.
func (c *script) takeOutcomes(file string) {
	text, err := os.ReadFile(file)
	if err != nil {
		return
	}
	old, err := parse(c.name, string(text))
	if err != nil {
		return
	}
	known := map[string]string{}
	for _, l := range old.lines {
		if l.statement != nil {
			known[l.way+l.body()] = l.outcome
		}
	}
	for _, l := range c.lines {
		if l.statement != nil && known[l.way+l.body()] != "" {
			l.outcome = known[l.way+l.body()]
		}
	}
}

// hospitalInPostgres is a PostgreSQL with the tables of the policy: how to reach it, and the names
// of its OIDs.
func hospitalInPostgres(t *testing.T) (func() (net.Conn, error), map[string]string) {
	t.Helper()
	s := testpg.Start(t)
	ctx := context.Background()
	c, err := pgx.Connect(ctx, s.URL())
	must(t, err)
	defer c.Close(ctx)
	do := func(c *pgx.Conn, texts ...string) {
		t.Helper()
		for _, sql := range texts {
			if _, err := c.Exec(ctx, sql); err != nil {
				t.Fatalf("%v\n%s", err, sql)
			}
		}
	}
	// OIDs that are no other numbers: 16384 is one that tools write themselves.
	do(c, "SELECT count(lo_create(0)) FROM generate_series(1, 48000)",
		"CREATE ROLE ana LOGIN PASSWORD 'secret'", "CREATE DATABASE hospital OWNER ana")
	u, err := url.Parse(s.URL())
	must(t, err)
	socket := filepath.Join(u.Query().Get("host"), ".s.PGSQL.5432")
	u.Path, u.User = "/hospital", url.User("ana")
	h, err := pgx.Connect(ctx, u.String())
	must(t, err)
	defer h.Close(ctx)
	schema, err := os.ReadFile("testdata/schema.sql")
	must(t, err)
	dir := filepath.Join(t.TempDir(), "data")
	writeData(t, dir)
	do(h, string(schema))
	for _, table := range []string{"patients", "visits", "wards"} {
		rows, err := os.ReadFile(filepath.Join(dir, table+".csv"))
		must(t, err)
		must(t, errorOf(h.PgConn().CopyFrom(ctx, bytes.NewReader(rows), "COPY "+table+" FROM STDIN (FORMAT csv, HEADER)")))
	}
	do(h, "ANALYZE")
	names := map[string]string{}
	rows, err := h.Query(ctx, `SELECT oid::text, relname::text FROM pg_class WHERE oid > 60000 AND relkind IN ('r', 'v', 'i')
		UNION ALL SELECT oid::text, 'database' FROM pg_database WHERE oid > 60000
		UNION ALL SELECT oid::text, 'role' FROM pg_roles WHERE oid > 60000
		UNION ALL SELECT oid::text, 'constraint ' || conname FROM pg_constraint WHERE oid > 60000`)
	must(t, err)
	var id, name string
	must(t, errorOf(pgx.ForEachRow(rows, []any{&id, &name}, func() error { names[id] = name; return nil })))
	return func() (net.Conn, error) { return net.Dial("unix", socket) }, names
}

// target is where a sender finds its server.
type target struct {
	host           string
	port           int
	user, password string
	steps          string // the file into which it writes what it is about
}

func (p target) environment() []string {
	return []string{"PGHOST=" + p.host, fmt.Sprintf("PGPORT=%d", p.port), "PGUSER=" + p.user, "PGPASSWORD=" + p.password,
		"PGDATABASE=hospital", "DISCREET_STEP=" + p.steps, "LC_ALL=C.UTF-8", "TZ=UTC"}
}

// run runs a sender to its end, and returns what it printed.
func run(t testing.TB, tool tool, p target) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Minute)
	defer cancel()
	args := tool.command()
	c := exec.CommandContext(ctx, args[0], args[1:]...)
	c.Dir = "testdata/senders"
	c.Env = append(os.Environ(), p.environment()...)
	c.Env = append(c.Env, "DISCREET_SCRATCH="+t.TempDir())
	var errors bytes.Buffer
	c.Stderr = &errors
	out, err := c.Output()
	if err != nil {
		t.Errorf("%s: %v\n%s\n%s", tool.name, err, out, errors.String())
	}
	return string(out)
}
