package tools

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/discreet-dp/discreet/internal/server"
	"github.com/discreet-dp/discreet/internal/server/users"
	"github.com/discreet-dp/discreet/internal/test/daily"
	"github.com/discreet-dp/discreet/internal/test/userstest"
)

var rewrite = flag.Bool("rewrite", false, "write into testdata/corpus what comes of each statement")

// TestCorpus sends what tools sent, in their order and in their way, to a server on the same
// tables. What comes of each statement is what stands beside it:
//
//	free      it was answered, and nothing was charged, by the ledger's own word
//	paid      it was answered, and its price was charged
//	private   it was refused because of privacy, as the refusal says; the word after it says why
//	absent    PostgreSQL itself refuses it, and so does the server
//	FAILED    none of these, which is a defect
func TestCorpus(t *testing.T) {
	for _, c := range chosen(t) {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()     // most of the time one end waits for the other
			h := open(t, 16) // it connects hundreds of times, and checks the password each time
			r := &replay{t: t, testServer: h, sessions: map[int]*connection{}}
			defer r.close()
			r.charged()
			changed := false
			last := map[int]int{} // the last line of each connection
			refused := refusedNames{}
			for i, l := range c.lines {
				last[l.connection] = i
			}
			for i, l := range c.lines {
				was := r.play(l)
				if l.statement != nil {
					was = refused.because(l.statement, was)
				}
				if last[l.connection] == i {
					r.hangUp(l.connection)
				}
				if l.statement == nil {
					if was != "" {
						t.Errorf("%s: cannot connect with %s: %s", l.step, l.startup, was)
					}
					continue
				}
				if was == l.outcome {
					continue
				}
				changed = true
				if !*rewrite {
					t.Errorf("statement %d, %s: is %s, and was %s\n%s", i, l.step, was, l.outcome, l.body())
				}
				l.outcome = was
			}
			if *rewrite && changed {
				must(t, os.WriteFile(filepath.Join("testdata/corpus", c.name+".txt"), []byte(c.String()), 0o644))
			}
		})
	}
}

// refusedNames are the cursors and prepared statements that were refused, each with what came of
// it. What asks for them afterwards is refused for the same reason, where a tool would have
// stopped.
type refusedNames map[string]string

var makesName = regexp.MustCompile(`(?i)^\s*(?:DECLARE|PREPARE)\s+("?\w+"?)`)

func (r refusedNames) because(s *statement, outcome string) string {
	if m := makesName.FindStringSubmatch(s.sql); m != nil && strings.HasPrefix(outcome, "private ") {
		r[m[1]] = outcome
	}
	for name, why := range r {
		if strings.HasPrefix(outcome, "FAILED") && strings.Contains(outcome, fmt.Sprintf("%q does not exist", strings.Trim(name, `"`))) {
			return why
		}
	}
	return outcome
}

// everyDay are tools whose statements are sent every day: of each way to speak one that many use.
var everyDay = []string{"psql", "jdbc", "psycopg3", "asyncpg"}

// chosen are the tools of the flag, or those of every day and a sixth of the others.
func chosen(t *testing.T) []*script {
	t.Helper()
	var always, others []*script
	for _, c := range corpus(t) {
		switch {
		case *only != "" && strings.Contains(","+*only+",", ","+c.name+","), *only == "" && (*rewrite || slices.Contains(everyDay, c.name)):
			always = append(always, c)
		case *only == "":
			others = append(others, c)
		}
	}
	return append(always, daily.Sample(t, others, len(others)/6)...)
}

// unmended is how many statements of the corpus are refused for another reason than privacy. It
// only ever becomes less.
const unmended = 23

func TestUnmended(t *testing.T) {
	n := 0
	for _, c := range corpus(t) {
		for _, l := range c.lines {
			if l.statement != nil && (strings.HasPrefix(l.outcome, "FAILED") || l.outcome == "?") {
				n++
				t.Logf("%s, %s: %s\n%s", c.name, l.step, l.outcome, l.body())
			}
		}
	}
	if n > unmended {
		t.Errorf("%d statements fail, and %d did", n, unmended)
	}
}

// testServer is a server on the hospital.
type testServer struct {
	port     int
	password string
}

// open starts a server that takes so many rounds to check a password.
func open(t testing.TB, rounds int) testServer {
	t.Helper()
	dir := t.TempDir()
	writeData(t, filepath.Join(dir, "data"))
	policy, err := os.ReadFile("testdata/policy.yaml")
	must(t, err)
	c := server.Config{Policy: filepath.Join(dir, "policy.yaml"), Users: filepath.Join(dir, "users"), Listen: "127.0.0.1:0",
		Rate: 1_000_000, Version: "test"}
	must(t, os.WriteFile(c.Policy, policy, 0o600))
	password := userstest.WriteRounds(t, c.Users, map[string]users.Role{"ana": users.Analyst}, "", rounds)["ana"]
	s, err := server.Open(t.Context(), c)
	must(t, err)
	served := make(chan error, 1)
	go func() { served <- s.Serve() }()
	t.Cleanup(func() {
		if err := errors.Join(s.Shutdown(context.Background()), <-served); err != nil {
			t.Error(err)
		}
	})
	return testServer{s.WireAddr().(*net.TCPAddr).Port, password}
}

type replay struct {
	t testing.TB
	testServer
	dial     func() (net.Conn, error) // where it is not the port of testServer
	sessions map[int]*connection
	oids     map[string]string
	control  *connection // asks what is left
	left     string
}

// connection is a connection, at the level of messages.
type connection struct {
	*pgconn.HijackedConn
	status byte // of its transaction
}

func (r *replay) close() {
	for i := range r.sessions {
		r.hangUp(i)
	}
	if r.control != nil {
		r.control.Conn.Close()
	}
}

func (r *replay) hangUp(connection int) {
	if s := r.sessions[connection]; s != nil {
		s.Conn.Close()
		delete(r.sessions, connection)
	}
}

// connect opens a session with the parameters of a tool.
func (r *replay) connect(startup string) (*connection, error) {
	config, err := pgconn.ParseConfig(fmt.Sprintf("host=127.0.0.1 port=%d user=ana password=%s dbname=hospital sslmode=disable",
		r.port, r.password))
	if err != nil {
		return nil, err
	}
	config.RuntimeParams = parameters(startup)
	if r.dial != nil {
		config.DialFunc = func(context.Context, string, string) (net.Conn, error) { return r.dial() }
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	c, err := pgconn.ConnectConfig(ctx, config)
	if err != nil {
		return nil, err
	}
	h, err := c.Hijack()
	if err != nil {
		return nil, err
	}
	return &connection{HijackedConn: h, status: 'I'}, nil
}

var parameter = regexp.MustCompile(`(\S+?)=("(?:[^"\\]|\\.)*")`)

func parameters(startup string) map[string]string {
	out := map[string]string{}
	for _, m := range parameter.FindAllStringSubmatch(startup, -1) {
		out[m[1]], _ = strconv.Unquote(m[2])
	}
	return out
}

// play does what a line says, and returns what came of it.
func (r *replay) play(l line) string {
	e, failed := r.send(l)
	switch {
	case failed != "" || l.startup != "":
		return failed
	case e.lost != nil:
		return "FAILED " + e.lost.Error()
	}
	return e.outcome(l.statement, r.charged())
}

// send does what a line says, or tells why it could not.
func (r *replay) send(l line) (*exchange, string) {
	if l.startup != "" {
		s, err := r.connect(l.startup)
		if err != nil {
			return nil, err.Error()
		}
		r.sessions[l.connection] = s
		return nil, ""
	}
	s := r.sessions[l.connection]
	if s == nil { // it could not connect as the tool does, which was said
		var err error
		if s, err = r.connect(""); err != nil {
			return nil, "FAILED " + err.Error()
		}
		r.sessions[l.connection] = s
	}
	sql, err := r.resolve(l.sql)
	if err != nil {
		return nil, "unsent: " + err.Error()
	}
	if s.status == 'E' && l.verb() != "ROLLBACK" { // a tool begins anew; a script cannot know that
		s.simple("ROLLBACK")
		s.simple("BEGIN")
	}
	var e *exchange
	if l.way == "simple" {
		e = s.simple(sql)
	} else {
		e = r.extended(s, l.statement, sql)
	}
	if e.lost != nil {
		delete(r.sessions, l.connection)
	}
	return e, ""
}

// charged reports whether less is left than when it was asked last.
func (r *replay) charged() bool {
	if r.control == nil {
		var err error
		if r.control, err = r.connect(""); err != nil {
			r.t.Fatal(err)
		}
	}
	e := r.control.simple("SHOW dp.budget")
	if e.lost != nil || e.err != nil || len(e.rows) == 0 {
		r.t.Fatalf("SHOW dp.budget: %v %v", e.lost, e.err)
	}
	before := r.left
	r.left = fmt.Sprintf("%s", e.rows)
	return before != r.left
}

var named = regexp.MustCompile(`@([a-z_ ]+)@`)

// resolve puts our OIDs for names.
func (r *replay) resolve(text string) (string, error) {
	if !named.MatchString(text) {
		return text, nil
	}
	if r.oids == nil {
		s, err := r.connect("")
		if err != nil {
			return "", err
		}
		defer s.Conn.Close()
		e := s.simple(`SELECT oid::text, relname::text FROM pg_class UNION ALL SELECT oid::text, 'database' FROM pg_database
			UNION ALL SELECT oid::text, 'role' FROM pg_roles WHERE rolname = 'ana'
			UNION ALL SELECT oid::text, 'constraint ' || conname FROM pg_constraint`)
		if e.err != nil {
			r.t.Fatalf("the catalogue: %v", e.err.Message)
		}
		r.oids = map[string]string{}
		for _, row := range e.rows {
			r.oids[string(row[1])] = string(row[0])
		}
	}
	missing := ""
	out := named.ReplaceAllStringFunc(text, func(m string) string {
		oid := r.oids[strings.Trim(m, "@")]
		if oid == "" {
			missing = m
		}
		return oid
	})
	if missing != "" {
		return "", fmt.Errorf("there is no %s here", missing)
	}
	return out, nil
}

// extended sends a statement as drivers do.
func (r *replay) extended(s *connection, l *statement, sql string) *exchange {
	types := make([]uint32, len(l.types))
	for i, name := range l.types {
		types[i] = typeOID(name)
	}
	if l.name != "" {
		s.Frontend.Send(&pgproto3.Close{ObjectType: 'S', Name: l.name})
	}
	s.Frontend.Send(&pgproto3.Parse{Name: l.name, Query: sql, ParameterOIDs: types})
	e := &exchange{}
	if l.asked || l.way == "describe" {
		s.Frontend.Send(&pgproto3.Describe{ObjectType: 'S', Name: l.name})
		s.Frontend.Send(&pgproto3.Sync{})
		if s.read(e, false); e.err != nil || e.lost != nil || l.way == "describe" {
			return e
		}
		for i := range types {
			if types[i] == 0 && i < len(e.types) {
				types[i] = e.types[i]
			}
		}
	}
	bind := &pgproto3.Bind{PreparedStatement: l.name, DestinationPortal: l.portal, ResultFormatCodes: codes(l.results)}
	for i, v := range l.values {
		bytes, err := r.encode(v, types[i])
		if err != nil {
			r.t.Fatalf("%s: $%d: %v", l.sql, i+1, err)
		}
		bind.Parameters = append(bind.Parameters, bytes)
		bind.ParameterFormatCodes = append(bind.ParameterFormatCodes, map[bool]int16{true: 1}[v.binary])
	}
	s.Frontend.Send(bind)
	s.Frontend.Send(&pgproto3.Describe{ObjectType: 'P', Name: l.portal})
	for range 1000 {
		s.Frontend.Send(&pgproto3.Execute{Portal: l.portal, MaxRows: l.rows})
		if l.rows == 0 {
			s.Frontend.Send(&pgproto3.Sync{})
			s.read(e, false)
			return e
		}
		s.Frontend.Send(&pgproto3.Flush{})
		e.suspended = false
		if s.read(e, true); e.lost != nil {
			return e
		}
		if e.err != nil || !e.suspended {
			s.Frontend.Send(&pgproto3.Sync{})
			s.read(e, false)
			return e
		}
	}
	e.lost = errors.New("there is no end of rows")
	return e
}

func typeOID(name string) uint32 {
	if name == "-" {
		return 0
	}
	if t, ok := pgTypes.TypeForName(name); ok {
		return t.OID
	}
	n, _ := strconv.ParseUint(name, 10, 32)
	return uint32(n)
}

func codes(results string) []int16 {
	switch results {
	case "", "text":
		return nil
	case "binary":
		return []int16{1}
	}
	var out []int16
	for _, c := range results {
		out = append(out, map[rune]int16{'b': 1}[c])
	}
	return out
}

func (r *replay) encode(v value, oid uint32) ([]byte, error) {
	if v.null {
		return nil, nil
	}
	text, err := r.resolve(v.text)
	if err != nil || !v.binary {
		return []byte(text), err
	}
	out, err := recode(oid, text, pgtype.TextFormatCode, pgtype.BinaryFormatCode)
	return []byte(out), err
}
