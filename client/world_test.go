package client

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/lab/hospital"
	"github.com/discreet-dp/discreet/internal/server"
	"github.com/discreet-dp/discreet/internal/server/users"
	"github.com/discreet-dp/discreet/internal/test/userstest"
)

// site is a server with a made-up hospital, in this process.
type site struct {
	*Server
	hospital *hospital.Hospital
	data     string // where it is read from
	address  string
	token    string
}

const (
	pure     = "{epsilon: 10, per_query: {default: 0.5, max: 2}}"
	gaussian = "{epsilon: 10, delta: 1e-6, noise: gaussian, per_query: {default: 0.5, max: 2}}"
)

// open starts a server; edit changes its policy.
func open(t testing.TB, name, budget string, people int, edit func(string) string) *site {
	t.Helper()
	dir, ctx := t.TempDir(), context.Background()
	h := hospital.New(people, uint64(len(name)))
	policy := "datasets:\n" + hospital.Dataset("hospital", "data", budget) + "    release: immediate\n"
	if edit != nil {
		policy = edit(policy)
	}
	config := server.Config{Policy: filepath.Join(dir, "policy.yaml"), Users: filepath.Join(dir, "policy.users"), HTTP: "127.0.0.1:0",
		Rate: 1_000_000}
	userstest.Write(t, config.Users, map[string]users.Role{"ana": users.Analyst}, "")
	store, err := users.Open(config.Users)
	must(t, err)
	token, _, err := store.NewToken(ctx, "ana", "test", time.Time{})
	must(t, err)
	store.Close()
	must(t, h.Write(filepath.Join(dir, "data")))
	must(t, os.WriteFile(config.Policy, []byte(policy), 0o600))
	s, err := server.Open(ctx, config)
	must(t, err)
	go s.Serve()
	t.Cleanup(func() { s.Shutdown(context.Background()) })
	out := &site{hospital: h, data: filepath.Join(dir, "data"), address: "http://" + s.HTTPAddr().String(), token: token}
	out.Server = out.reach(t, name, out.address)
	return out
}

// reach is the same server by another address.
func (s *site) reach(t testing.TB, name, address string) *Server {
	t.Helper()
	c, err := New(address, s.token)
	must(t, err)
	c.Name = name
	return c
}

// wire is a connection to a real server that breaks.
type wire struct {
	*httptest.Server
	deaf  atomic.Int32 // so many questions do not reach the server
	mute  atomic.Int32 // of so many the answer does not come back
	asked atomic.Int32 // how many questions came
}

// breaking returns a server behind such a wire. Who asks again waits for less than it would.
func (s *site) breaking(t testing.TB, name string) (*Server, *wire) {
	t.Helper()
	before := firstWait
	firstWait = time.Millisecond
	t.Cleanup(func() { firstWait = before })
	to, err := url.Parse(s.address)
	must(t, err)
	w, through := &wire{}, httputil.NewSingleHostReverseProxy(to)
	w.Server = httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/query") {
			through.ServeHTTP(out, r)
			return
		}
		w.asked.Add(1)
		if w.deaf.Add(-1) >= 0 {
			panic(http.ErrAbortHandler)
		}
		if w.mute.Add(-1) >= 0 {
			through.ServeHTTP(httptest.NewRecorder(), r) // the server has answered, and nobody hears it
			panic(http.ErrAbortHandler)
		}
		through.ServeHTTP(out, r)
	}))
	t.Cleanup(w.Close)
	return s.reach(t, name, w.URL), w
}

// left is what ana has left at a server.
func (s *site) left(t testing.TB) string {
	t.Helper()
	e, err := s.explain(context.Background(), Question{SQL: "SELECT COUNT(*) FROM patients"})
	must(t, err)
	return fmt.Sprint(e.Remaining.Epsilon.Short(), " ", e.Remaining.Rho.Short())
}

// stopping cancels something when the first question comes.
func stopping(h http.Handler, cancel func()) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/query") {
			cancel()
		}
		h.ServeHTTP(w, r)
	})
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func errorOf[T any](_ T, err error) error { return err }
