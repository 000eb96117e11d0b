package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/discreet-dp/discreet/internal/test/userstest"
)

// beginning is a server whose data is not open yet, and ana, who asks it.
type beginning struct {
	*Server
	password string
}

func begins(t *testing.T, c Config) *beginning {
	t.Helper()
	password := userstest.Password("ana")
	s, err := Begin(t.Context(), c)
	must(t, err)
	serve(t, s)
	return &beginning{s, password}
}

func (s *beginning) connect(t *testing.T) *pgconn.PgConn {
	t.Helper()
	conn, err := pgconn.Connect(t.Context(), fmt.Sprintf("host=127.0.0.1 port=%d user=ana password=%s dbname=hospital sslmode=disable",
		s.WireAddr().(*net.TCPAddr).Port, s.password))
	must(t, err)
	t.Cleanup(func() { conn.Close(context.Background()) })
	return conn
}

// ready is what whoever sends questions here is told of it.
func (s *beginning) ready(t *testing.T) int {
	t.Helper()
	a, err := http.Get("http://" + s.HTTPAddr().String() + "/readyz")
	must(t, err)
	a.Body.Close()
	return a.StatusCode
}

// asks asks something and says later what came of it.
func (s *beginning) asks(t *testing.T, sql string) <-chan error {
	t.Helper()
	conn, got := s.connect(t), make(chan error, 1)
	go func() {
		_, err := conn.Exec(t.Context(), sql).ReadAll()
		got <- err
	}()
	return got
}

// uncharged checks that there is nothing in the ledger but its first record.
func (s *beginning) uncharged(t *testing.T) {
	t.Helper()
	for r, err := range s.db.Records(t.Context(), 1) {
		t.Errorf("record %v before the data, %v", r, err)
	}
}

// Before the data is open the catalogue is answered, questions wait, and nothing is charged.
func TestBeforeTheData(t *testing.T) {
	s := begins(t, world(t, ""))
	all, err := s.connect(t).Exec(t.Context(), "SELECT relname FROM pg_catalog.pg_class WHERE relname = 'patients'").ReadAll()
	if err != nil || len(all) != 1 || len(all[0].Rows) != 1 {
		t.Errorf("the catalogue has %v: %v", all, err)
	}
	if got := s.ready(t); got != http.StatusServiceUnavailable {
		t.Errorf("ready: %d", got)
	}
	got := s.asks(t, "SELECT COUNT(*) FROM patients")
	select {
	case err := <-got:
		t.Errorf("an answer before the data: %v", err)
	case <-time.After(300 * time.Millisecond):
	}
	s.uncharged(t)
	must(t, s.OpenData(t.Context()))
	if err := <-got; err != nil {
		t.Error(err)
	}
	if got := s.ready(t); got != http.StatusOK {
		t.Errorf("ready: %d", got)
	}
}

// The data turns out to be none. Whoever waits is told that the server ends, and paid nothing.
func TestDataIsNone(t *testing.T) {
	c := world(t, "")
	file := filepath.Join(filepath.Dir(c.Policy), "data", "patients.csv")
	good, err := os.ReadFile(file)
	must(t, err)
	must(t, os.WriteFile(file, append(good, "1,\"\n"...), 0o600))
	s := begins(t, c)
	got := s.asks(t, "SELECT COUNT(*) FROM patients")
	if err := s.OpenData(t.Context()); err == nil || !strings.Contains(err.Error(), "has lines that are not rows") {
		t.Errorf("opened: %v", err)
	}
	if got := s.ready(t); got != http.StatusServiceUnavailable {
		t.Errorf("ready: %d", got)
	}
	select {
	case err := <-got:
		t.Errorf("an answer without data: %v", err)
	default:
	}
	s.uncharged(t)
	if err := s.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	var told *pgconn.PgError
	if err := <-got; !errors.As(err, &told) || told.Code != "57P01" || !strings.Contains(told.Message, "nothing was charged") {
		t.Errorf("who waited is told %v", err)
	}
}

// A server that is told to end while it reads a file ends, and reads no further.
func TestEndWhileOpening(t *testing.T) {
	c := world(t, "")
	file := filepath.Join(filepath.Dir(c.Policy), "data", "patients.csv")
	good, err := os.ReadFile(file)
	must(t, err)
	head, row, _ := strings.Cut(string(good), "\n")
	row, _, _ = strings.Cut(row, "\n")
	must(t, os.WriteFile(file, []byte(head+"\n"+strings.Repeat(row+"\n", 1_000_000)), 0o600))
	ctx, cancel := context.WithCancel(t.Context())
	var last, size atomic.Int64
	c.Progress = func(what string, done, of int64) {
		if what == "reading patients.csv" {
			last.Store(done)
			size.Store(of)
			cancel()
		}
	}
	s := begins(t, c)
	got := s.asks(t, "SELECT COUNT(*) FROM patients")
	if err := s.OpenData(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if last.Load() == 0 || last.Load() == size.Load() {
		t.Errorf("%d of %d bytes were read", last.Load(), size.Load())
	}
	s.uncharged(t)
	if err := s.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	if err := <-got; err == nil {
		t.Error("an answer without data")
	}
}
