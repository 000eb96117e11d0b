package pgtables

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/discreet-dp/discreet/internal/test/testpg"
	"github.com/discreet-dp/discreet/policy"
)

// watched is a database that is looked at, and who looks at the server meanwhile.
type watched struct {
	*Database
	t      *testing.T
	server *testpg.Server
	all    []*Relation
}

func newWatched(t *testing.T) *watched {
	t.Helper()
	w := &watched{t: t, server: testpg.Start(t, "fsync=off")}
	w.ask("CREATE TABLE people (pid bigint)")
	w.ask("CREATE ROLE reader LOGIN")
	w.ask("GRANT SELECT ON people TO reader")
	u, err := url.Parse(w.server.URL())
	if err != nil {
		t.Fatal(err)
	}
	u.User = url.User("reader")
	people := &policy.Table{Name: "people", Relation: "public.people", UnitKind: policy.Unique, UnitColumn: "pid"}
	ds := &policy.Dataset{Name: "clinic", Source: u.String(), Unit: policy.Unit{Table: "people", Column: "pid"},
		Tables: map[string]*policy.Table{"people": people}}
	if w.Database, err = Of(ds); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	s, err := w.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	w.all = s.Relations
	s.Close()
	return w
}

func (w *watched) ask(text string) string {
	w.t.Helper()
	c, err := pgx.Connect(context.Background(), w.server.URL())
	if err != nil {
		w.t.Fatal(err)
	}
	defer c.Close(context.Background())
	rows, err := c.Query(context.Background(), text)
	if err != nil {
		w.t.Fatal(err)
	}
	all, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		w.t.Fatalf("%v in %s", err, text)
	}
	return strings.Join(all, " ")
}

// lookers are who is connected, once there are no more than so many: who has hung up is there for a
// moment still.
func (w *watched) lookers(most int) (all []string) {
	w.t.Helper()
	for range 250 {
		all = strings.Fields(w.ask("SELECT pid::text FROM pg_stat_activity WHERE usename = 'reader'"))
		if len(all) <= most {
			return all
		}
		time.Sleep(20 * time.Millisecond)
	}
	w.t.Errorf("%d are connected, and not %d", len(all), most)
	return all
}

func (w *watched) look() Mark {
	w.t.Helper()
	m, err := w.CurrentMark(w.t.Context(), w.all)
	if err != nil {
		w.t.Fatal(err)
	}
	return m
}

func TestLook(t *testing.T) {
	w := newWatched(t)
	t.Run("kept", w.kept)
	t.Run("forgetful", w.forgetful)
	t.Run("ended", w.ended)
}

// A connection is kept for looks, and nobody notices where it breaks.
func (w *watched) kept(t *testing.T) {
	first := w.look()
	who := w.lookers(1)
	if again := w.look(); again != first || !slices.Equal(w.lookers(1), who) {
		t.Errorf("%+v and %+v, by %q and %q", first, again, who, w.lookers(1))
	}
	w.ask("SELECT pg_terminate_backend(pid)::text FROM pg_stat_activity WHERE usename = 'reader'")
	if now := w.look(); now != first || slices.Equal(w.lookers(1), who) {
		t.Errorf("cut off: %+v by %s", now, w.lookers(1))
	}
	w.server.Stop(t)
	var gone *Unreachable
	if m, err := w.CurrentMark(t.Context(), w.all); !errors.As(err, &gone) {
		t.Errorf("without a server: %+v, %v", m, err)
	}
	w.server.Restart(t)
	w.look()
	// Many who look at once take few connections.
	failed := make(chan error)
	for range 50 {
		go func() {
			_, err := w.CurrentMark(context.Background(), w.all)
			failed <- err
		}()
	}
	for range 50 {
		if err := <-failed; err != nil {
			t.Error(err)
		}
	}
	w.lookers(maxMarkConnections)
}

// A database that has lost its counts, as one does that crashed, is not what it
// was when it had as many.
func (w *watched) forgetful(t *testing.T) {
	first := w.look()
	w.ask("INSERT INTO people VALUES (1)")
	w.server.Stop(t)
	w.server.Restart(t)
	if now := w.look(); now == first {
		t.Errorf("it has a row more, and is still %+v", now)
	}
	before := w.look()
	w.ask("INSERT INTO people VALUES (2)")
	w.ask("SELECT pg_stat_force_next_flush()::text")
	w.ask("SELECT pg_stat_reset()::text")
	if now := w.look(); now == before {
		t.Errorf("its counts were reset, and it is still %+v", now)
	}
}

// An owner's query that takes long ends with who waits for it, with the patience of
// the server, and with the database; and nothing that it sets stays.
func (w *watched) ended(t *testing.T) {
	idle := func(what string) {
		t.Helper()
		for range 100 {
			if w.ask("SELECT count(*)::text FROM pg_stat_activity WHERE usename = 'reader' AND state = 'active'") == "0" {
				return
			}
			time.Sleep(20 * time.Millisecond)
		}
		t.Errorf("%s: the query still runs", what)
	}
	w.dataset.VersionQuery = "SELECT pg_sleep(60)"
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(100*time.Millisecond, cancel)
	if _, err := w.CurrentMark(ctx, w.all); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
	idle("canceled")
	hasty, err := Of(w.dataset)
	if err != nil {
		t.Fatal(err)
	}
	hasty.marks.patience = 200 * time.Millisecond
	var failed *policy.VersionError
	if _, err := hasty.CurrentMark(t.Context(), w.all); !errors.As(err, &failed) ||
		!strings.Contains(failed.Explain(), "statement timeout") || strings.Contains(err.Error(), "timeout") {
		t.Errorf("after too long: %v", err)
	}
	idle("after too long")
	hasty.Close()
	w.dataset.VersionQuery = "SELECT set_config('search_path', 'evil', false) || set_config('default_transaction_read_only', 'off', false)"
	if m := w.look(); m.Name != "eviloff" {
		t.Errorf("%+v", m)
	}
	w.dataset.VersionQuery = "SELECT current_setting('search_path') || current_setting('transaction_read_only')"
	if m := w.look(); m.Name != "pg_catalog, pg_tempon" {
		t.Errorf("%+v", m)
	}
	w.dataset.VersionQuery = "SELECT pg_sleep(60)"
	time.AfterFunc(100*time.Millisecond, w.Close)
	if _, err := w.CurrentMark(t.Context(), w.all); !errors.Is(err, context.Canceled) {
		t.Errorf("closed: %v", err)
	}
	if _, err := w.CurrentMark(t.Context(), w.all); !errors.Is(err, context.Canceled) {
		t.Errorf("after it was closed: %v", err)
	}
}
