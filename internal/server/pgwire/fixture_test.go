package pgwire

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/internal/lab/hospital"
	"github.com/discreet-dp/discreet/internal/server/admission"
	"github.com/discreet-dp/discreet/internal/server/users"
	"github.com/discreet-dp/discreet/internal/test/userstest"
)

// testServer is a hospital that can be asked over the wire.
type testServer struct {
	*Server
	db         *discreet.DB
	dispatcher *admission.Dispatcher
	store      *users.Store
	address    string
	passwords  map[string]string
}

const budget = "{epsilon: 10, per_query: {default: 0.1, max: 1}}"

// startTestServer opens a hospital with a server in front of it.
func startTestServer(t testing.TB, change func(*Options), before ...func(*Server)) *testServer {
	t.Helper()
	return startServing(t, newTestServer(t, ""), change, before...)
}

// startServing puts a server in front of a hospital.
func startServing(t testing.TB, p *testServer, change func(*Options), before ...func(*Server)) *testServer {
	t.Helper()
	o := Options{Dispatcher: p.dispatcher, Users: p.store, Version: "test"}
	if change != nil {
		change(&o)
	}
	p.Server = New(o)
	for _, f := range before {
		f(p.Server)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	p.address = l.Addr().String()
	served := make(chan error, 1)
	go func() { served <- p.Serve(l) }()
	t.Cleanup(func() {
		ctx, done := context.WithTimeout(context.Background(), 20*time.Second)
		defer done()
		if err := p.Shutdown(ctx); err != nil {
			t.Errorf("shutdown: %v", err)
		}
		if err := <-served; err != nil {
			t.Errorf("serve: %v", err)
		}
		if n := p.Connections(); n != 0 {
			t.Errorf("%d connections are left", n)
		}
	})
	return p
}

// newTestServer makes a hospital, its dispatcher and its users. More is of the policy of the
// dataset other, or a dataset more, for whose data there is the folder c.
func newTestServer(t testing.TB, more string) *testServer {
	t.Helper()
	dir := t.TempDir()
	check := func(err error) {
		t.Helper()
		must(t, err)
	}
	check(hospital.New(300, 1).Write(filepath.Join(dir, "a")))
	check(hospital.New(300, 2).Write(filepath.Join(dir, "b")))
	check(hospital.New(300, 3).Write(filepath.Join(dir, "c")))
	other := hospital.Dataset("other", "b", budget) + "    release: immediate\n"
	path := filepath.Join(dir, "policy.yaml")
	check(os.WriteFile(path, []byte("datasets:\n"+hospital.Dataset("hospital", "a", budget)+"    release: immediate\n"+other+more), 0o644))
	p := &testServer{}
	var err error
	p.db, err = discreet.Open(context.Background(), path)
	check(err)
	t.Cleanup(func() { p.db.Close() })
	p.dispatcher = admission.New(p.db, admission.Options{Rate: 1_000_000})
	p.passwords = userstest.Write(t, filepath.Join(dir, "users"), map[string]users.Role{"ana": users.Analyst, "ben": users.Analyst,
		"eve": users.Analyst, "olga": users.Owner}, "")
	p.store, err = users.Open(filepath.Join(dir, "users"))
	check(err)
	t.Cleanup(func() { p.store.Close() })
	return p
}

// config is how a user connects with pgx.
func (p *testServer) config(t testing.TB, user, database string) *pgx.ConnConfig {
	t.Helper()
	c, err := pgx.ParseConfig("postgres://" + p.address + "/" + database + "?sslmode=disable")
	must(t, err)
	c.User, c.Password = user, p.passwords[user]
	return c
}

func (p *testServer) connect(t testing.TB, c *pgx.ConnConfig) *pgx.Conn {
	t.Helper()
	conn, err := pgx.ConnectConfig(context.Background(), c)
	must(t, err)
	t.Cleanup(func() { conn.Close(context.Background()) })
	return conn
}

// ana is an analyst who is in.
func (p *testServer) ana(t testing.TB) *pgx.Conn { return p.connect(t, p.config(t, "ana", "hospital")) }

// notices collects what the server says beside results.
type notices struct {
	mu   sync.Mutex
	said []string
}

func (n *notices) add(text string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.said = append(n.said, text)
}

func (n *notices) take() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	s := n.said
	n.said = nil
	return s
}

// must ends a test that cannot go on.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
