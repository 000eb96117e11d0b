package duckdb

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/discreet-dp/discreet/internal/pgtables"
)

// TestCopiedCutOff: a copy that breaks off is an error whose text is the same whatever broke it,
// and the copy before stays.
func TestCopiedCutOff(t *testing.T) {
	c := newClinic(t, "CREATE TABLE people (pid bigint, word text)", "GRANT SELECT ON people TO reader",
		"INSERT INTO people SELECT i, repeat('x', 150) FROM generate_series(1, 500000) i")
	ds := dataset(t, t.TempDir(), c.peopleOf("", ""))
	e, err := OpenWith(t.Context(), ds, Limits{Memory: MinMemory}) // with room for all only on disk
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	first, folder := version(t, e), e.now.spill.folder
	database, err := pgtables.Of(ds)
	if err != nil {
		t.Fatal(err)
	}
	read := func(ctx context.Context, during func()) error {
		from, err := database.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer from.Close()
		return from.Copy(ctx, from.Relations[0], func(*pgtables.Batch) error {
			if during != nil {
				during()
			}
			during = nil
			return nil
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	if err := read(ctx, cancel); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
	c.do("INSERT INTO people VALUES (0, 'y')", "SELECT pg_stat_force_next_flush()")
	if _, err := e.Version(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
	var gone *pgtables.Unreachable
	if err := read(t.Context(), func() {
		c.do("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'reader'")
	}); !errors.As(err, &gone) || strings.Contains(err.Error(), "administrator") {
		t.Errorf("cut off: %v", err)
	}
	if err := read(t.Context(), func() { c.server.Stop(t) }); !errors.As(err, &gone) {
		t.Errorf("the server died: %v", err)
	}
	if _, err := e.Version(t.Context()); !errors.As(err, &gone) || e.now.version != first {
		t.Errorf("without a server: %v", err)
	}
	if got := words(t, e); len(got) != 500000*151-1 {
		t.Errorf("the copy before has %d bytes", len(got))
	}
	c.server.Restart(t)
	if now := version(t, e); now == first {
		t.Errorf("%+v", now)
	}
	e.closing.Wait() // beside those who ask
	if _, err := os.Stat(folder); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder of the copy before: %v", err)
	}
}

// TestCopiedLocked: a table that somebody has locked is nobody's to wait for before it has changed.
// Then who asks waits for the copy, as long as they like, and those who ask about the one before do
// not.
func TestCopiedLocked(t *testing.T) {
	c := newClinic(t, "CREATE TABLE people (pid bigint, word text)", "GRANT SELECT ON people TO reader",
		"INSERT INTO people VALUES (1, 'a')", "SELECT pg_stat_force_next_flush()")
	e := open(t, dataset(t, t.TempDir(), c.peopleOf("", "")))
	first := version(t, e)
	locker, err := pgx.Connect(t.Context(), c.address("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	defer locker.Close(context.Background())
	lock := func(text string) {
		t.Helper()
		if _, err := locker.Exec(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
	lock("BEGIN; LOCK TABLE people IN ACCESS EXCLUSIVE MODE")
	if now := version(t, e); now != first {
		t.Errorf("%+v", now)
	}
	lock("COMMIT; INSERT INTO people VALUES (2, 'b')")
	lock("SELECT pg_stat_force_next_flush()")
	lock("BEGIN; LOCK TABLE people IN ACCESS EXCLUSIVE MODE")
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if now, err := e.Version(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%+v, %v", now, err)
	}
	if got := words(t, e); got != "a" {
		t.Errorf("the copy before: %q", got)
	}
	lock("COMMIT")
	if now := version(t, e); now == first || words(t, e) != "a b" {
		t.Errorf("%+v: %q", now, words(t, e))
	}
	// Nobody is left waiting on the server when the data is closed.
	lock("INSERT INTO people VALUES (3, 'c')")
	lock("SELECT pg_stat_force_next_flush()")
	lock("BEGIN; LOCK TABLE people IN ACCESS EXCLUSIVE MODE")
	waiting := make(chan error, 1)
	go func() {
		_, err := e.Version(context.Background())
		waiting <- err
	}()
	time.Sleep(200 * time.Millisecond)
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	if err := <-waiting; !errors.Is(err, context.Canceled) {
		t.Errorf("closed: %v", err)
	}
	left := 1
	for range 100 {
		if err := locker.QueryRow(t.Context(), "SELECT count(*) FROM pg_stat_activity WHERE usename = 'reader'").Scan(&left); err != nil {
			t.Fatal(err)
		}
		if left == 0 {
			return
		}
		lock("SELECT pg_stat_clear_snapshot(), pg_sleep(0.02)")
	}
	t.Errorf("%d are still connected", left)
}
