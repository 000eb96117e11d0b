package server

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/discreet-dp/discreet/internal/server/users"
)

// Before the data is open the catalogue is answered, questions wait, and nothing is charged.
func TestBeforeTheData(t *testing.T) {
	c := world(t, "")
	store, err := users.Open(c.Users)
	if err != nil {
		t.Fatal(err)
	}
	password, err := store.SetPassword(t.Context(), "ana", "")
	if err != nil {
		t.Fatal(err)
	}
	store.Close()
	s, err := Begin(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve() }()
	t.Cleanup(func() {
		if err := s.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	connect := func() *pgconn.PgConn {
		t.Helper()
		conn, err := pgconn.Connect(t.Context(), fmt.Sprintf("host=127.0.0.1 port=%d user=ana password=%s dbname=hospital sslmode=disable",
			s.WireAddr().(*net.TCPAddr).Port, password))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close(context.Background()) })
		return conn
	}
	ready := func() int {
		t.Helper()
		a, err := http.Get("http://" + s.HTTPAddr().String() + "/readyz")
		if err != nil {
			t.Fatal(err)
		}
		a.Body.Close()
		return a.StatusCode
	}
	ask := func(conn *pgconn.PgConn, sql string) ([][][]byte, error) {
		all, err := conn.Exec(t.Context(), sql).ReadAll()
		if err != nil {
			return nil, err
		}
		return all[0].Rows, nil
	}
	rows, err := ask(connect(), "SELECT relname FROM pg_catalog.pg_class WHERE relname = 'patients'")
	if err != nil || len(rows) != 1 {
		t.Errorf("the catalogue has %d rows: %v", len(rows), err)
	}
	if ready() != http.StatusServiceUnavailable {
		t.Errorf("ready: %d", ready())
	}
	conn, got := connect(), make(chan error, 1)
	go func() {
		_, err := ask(conn, "SELECT COUNT(*) FROM patients")
		got <- err
	}()
	select {
	case err := <-got:
		t.Errorf("an answer before the data: %v", err)
	case <-time.After(300 * time.Millisecond):
	}
	for r, err := range s.db.Records(t.Context(), 1) {
		t.Errorf("record %v before the data, %v", r, err)
	}
	if err := s.OpenData(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-got; err != nil {
		t.Error(err)
	}
	if ready() != http.StatusOK {
		t.Errorf("ready: %d", ready())
	}
}
