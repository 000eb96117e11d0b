package server

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/discreet-dp/discreet/internal/lab/hospital"
	"github.com/discreet-dp/discreet/internal/server/users"
	"github.com/discreet-dp/discreet/internal/test/testpg"
	"github.com/discreet-dp/discreet/internal/test/userstest"
)

// lines is a log that several may write.
type lines struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// sharing makes two servers on one ledger in a database, which has the users too.
func sharing(t *testing.T, pg *testpg.Server, log io.Writer) (both [2]*Server, store *users.Store) {
	t.Helper()
	dir := t.TempDir()
	must(t, hospital.New(100, 1).Write(filepath.Join(dir, "data")))
	policy := filepath.Join(dir, "policy.yaml")
	text := "ledger: " + pg.URL() + "\ndatasets:\n" + hospital.Dataset("hospital", "data", "{epsilon: 1, per_query: {default: 0.1}}")
	must(t, os.WriteFile(policy, []byte(text+released("")), 0o600))
	c := Config{Policy: policy, Listen: "127.0.0.1:0", HTTP: "127.0.0.1:0", Version: "test", Log: slog.New(slog.NewTextHandler(log, nil))}
	if _, err := Open(t.Context(), c); err == nil || !strings.Contains(err.Error(), "discreet user add") {
		t.Fatalf("a server without users: %v", err)
	}
	file, database := filepath.Join(dir, "users"), users.Beside(pg.URL())
	userstest.Write(t, file, map[string]users.Role{"ana": users.Analyst}, "correct horse battery")
	if _, err := users.Copy(t.Context(), file, database); err != nil {
		t.Fatal(err)
	}
	store, err := users.Open(database)
	must(t, err)
	t.Cleanup(func() { store.Close() })
	for i := range both {
		both[i] = opened(t, c)
	}
	return both, store
}

// A user who is revoked is out at every server, with open connections; a database that does not
// answer lets nobody in, and its words reach the owner's log and nobody else.
func TestServersShareUsers(t *testing.T) {
	pg := testpg.Start(t)
	var log lines
	both, store := sharing(t, pg, &log)
	connect := func(s *Server, password string) (*pgx.Conn, error) {
		return pgx.Connect(t.Context(), fmt.Sprintf("postgres://ana:%s@127.0.0.1:%d/hospital?sslmode=disable", password,
			s.WireAddr().(*net.TCPAddr).Port))
	}
	webLimits := func(s *Server, password string) (int, string) {
		r, err := http.NewRequest("GET", "http://"+s.HTTPAddr().String()+"/v1/me", nil)
		must(t, err)
		r.SetBasicAuth("ana", password)
		a, err := http.DefaultClient.Do(r)
		must(t, err)
		defer a.Body.Close()
		body, _ := io.ReadAll(a.Body)
		return a.StatusCode, string(body)
	}
	var open []*pgx.Conn
	for _, s := range both {
		c, err := connect(s, "correct%20horse%20battery")
		must(t, err)
		defer c.Close(context.Background())
		if _, err := c.Exec(t.Context(), "SELECT 1"); err != nil {
			t.Fatal(err)
		}
		open = append(open, c)
	}
	must(t, store.Revoke(t.Context(), "ana"))
	for i, s := range both {
		if _, err := open[i].Exec(t.Context(), "SELECT 1"); err == nil || !strings.Contains(err.Error(), "revoked") {
			t.Errorf("an open connection: %v", err)
		}
		if _, err := connect(s, "correct%20horse%20battery"); err == nil {
			t.Error("came in by the wire")
		}
		if status, _ := webLimits(s, "correct horse battery"); status != http.StatusUnauthorized {
			t.Errorf("the web says %d", status)
		}
	}
	if _, err := store.SetPassword(t.Context(), "ana", "another horse battery"); err != nil {
		t.Fatal(err)
	}
	for i, s := range both {
		c, err := connect(s, "another%20horse%20battery")
		must(t, err)
		defer c.Close(context.Background())
		open[i] = c
	}
	pg.Stop(t)
	for i, s := range both {
		_, asked := open[i].Exec(t.Context(), "SELECT 1")
		_, entered := connect(s, "another%20horse%20battery")
		status, body := webLimits(s, "another horse battery")
		for what, said := range map[string]string{"a question": fmt.Sprint(asked), "a login": fmt.Sprint(entered), "the web": body} {
			if said == "<nil>" || strings.Contains(said, ".s.PGSQL") || strings.Contains(said, "postgres://") ||
				strings.Contains(said, "refused") || strings.Contains(said, "57P01") || strings.Contains(said, "revoked") ||
				!strings.Contains(said, "in a while") {
				t.Errorf("%s got %s", what, said)
			}
		}
		if status != http.StatusServiceUnavailable || !strings.Contains(fmt.Sprint(entered), "nobody can log in now") {
			t.Errorf("%d, %v", status, entered)
		}
	}
	if !strings.Contains(log.String(), "the users in postgres://") {
		t.Errorf("the owner is not told:\n%s", log.String())
	}
	pg.Restart(t)
	for _, s := range both {
		if status, body := webLimits(s, "another horse battery"); status != http.StatusOK {
			t.Errorf("%d %s", status, body)
		}
		c, err := connect(s, "another%20horse%20battery")
		must(t, err)
		defer c.Close(context.Background())
		// The first that needs the ledger may find its connection gone.
		if _, err := c.Exec(t.Context(), "SELECT COUNT(*) FROM patients"); err != nil {
			if _, err = c.Exec(t.Context(), "SELECT COUNT(*) FROM patients"); err != nil {
				t.Error(err)
			}
		}
	}
}

// A server that the others have given up says so to those who start it again, and the others go on.
func TestGivenUpIsStartedAgain(t *testing.T) {
	pg := testpg.Start(t)
	both, _ := sharing(t, pg, io.Discard)
	ledger, err := pgx.Connect(t.Context(), pg.URL())
	must(t, err)
	defer ledger.Close(context.Background())
	if _, err := ledger.Exec(t.Context(), "UPDATE discreet.servers SET state = 'gone' "+
		"WHERE server = (SELECT min(server) FROM discreet.servers WHERE state = 'serving')"); err != nil {
		t.Fatal(err)
	}
	for i, want := range []int{503, 200} {
		c, err := pgx.Connect(t.Context(), fmt.Sprintf("postgres://ana:correct%%20horse%%20battery@127.0.0.1:%d/hospital?sslmode=disable",
			both[i].WireAddr().(*net.TCPAddr).Port))
		must(t, err)
		defer c.Close(context.Background())
		if _, err := c.Exec(t.Context(), "SELECT COUNT(*) FROM patients"); (err == nil) != (want == 200) {
			t.Errorf("server %d: %v", i, err)
		}
		for _, path := range []string{"/healthz", "/readyz"} {
			a, err := http.Get("http://" + both[i].HTTPAddr().String() + path)
			must(t, err)
			a.Body.Close()
			if a.StatusCode != want {
				t.Errorf("%s of server %d says %d", path, i, a.StatusCode)
			}
		}
	}
}
