package postgres

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/discreet-dp/discreet/internal/ledger/anchor"
	"github.com/discreet-dp/discreet/internal/ledger/groupcommit"
	"github.com/discreet-dp/discreet/internal/test/ledgertest"
	"github.com/discreet-dp/discreet/internal/test/testpg"
	"github.com/discreet-dp/discreet/ledger"
)

// answered charges and keeps requests by their numbers.
func answered(t *testing.T, l *Ledger, from, to, limit int) {
	t.Helper()
	for i := from; i < to; i++ {
		r := mustCharge(t, l, ask(fmt.Sprint("request ", i), hospital(limit)))
		mustKeep(t, l, r.Sequence, fmt.Sprint("key ", i), fmt.Sprint("answer ", i))
	}
}

// anchorage is a row in another database than the one that fails.
func anchorage(t *testing.T) ledger.Anchorage {
	t.Helper()
	return anchorNamed(t, fmt.Sprint("anchor ", schemas.Add(1)))
}

func anchorNamed(t *testing.T, name string) ledger.Anchorage {
	t.Helper()
	row, err := anchor.Postgres(testpg.Shared(t).URL(), name)
	noError(t, err)
	t.Cleanup(func() { row.Close() })
	return row
}

// A database is killed whose standby nobody waited for and that was cut off before: what was
// confirmed since is gone. A server that has read it notices, one that has not is told by the
// anchor, and so is whoever starts anew. The owner counts what was lost as spent and goes on.
func TestPromise13AsynchronousStandby(t *testing.T) {
	t.Parallel()
	const limit = 20
	first := testpg.Start(t)
	second := first.Standby(t)
	at, place := both(first, second), anchorage(t)
	options := Options{Anchorage: place, Lease: time.Second}
	busy, idle := open(t, at, options), open(t, at, options)
	answered(t, busy, 0, 10, limit)
	pending := mustCharge(t, idle, ask("pending", hospital(limit)))
	var here string
	noError(t, busy.conn.QueryRow(ctx, "SELECT pg_current_wal_lsn()").Scan(&here))
	until(t, "the standby", func() bool {
		var there bool
		err := busy.conn.QueryRow(ctx, "SELECT bool_and(replay_lsn >= $1::text::pg_lsn) FROM pg_stat_replication", here).Scan(&there)
		return err == nil && there
	})
	cutOff(t, busy, second)
	answered(t, busy, 10, 15, limit) // told, and only here
	first.Kill(t)
	second.Promote(t)

	var corrupt *ledger.CorruptError
	if _, err := busy.Charge(ctx, ask("after", hospital(limit))); !errors.As(err, &corrupt) {
		t.Errorf("a server went on that had read what is lost: %v", err)
	}
	var refused *ledger.AnchorError
	if _, err := idle.Charge(ctx, ask("by one that knows nothing", hospital(limit))); !errors.As(err, &refused) {
		t.Errorf("a charge was confirmed on a ledger that has lost some: %v", err)
	}
	if l, err := OpenWith(at, options); !errors.As(err, &refused) {
		t.Errorf("opened: %v", err)
		l.Close()
	}
	// What is lost: five charges with their answers. What the idle server wrote is there, and was
	// told to nobody.
	if report := verify(t, at); report.Charges != 12 || report.Answers != 10 {
		t.Errorf("%+v", report)
	}
	if _, err := Recover(at, options, "failover"); !errors.Is(err, errServing) {
		t.Errorf("recovered beside a server: %v", err)
	}
	mustClose(t, idle)
	busy.Close()
	recovers(t, at, options, pending, limit)
}

// cutOff keeps a standby from hearing of anything more.
func cutOff(t *testing.T, l *Ledger, standby *testpg.Server) {
	t.Helper()
	c, err := pgx.Connect(ctx, standby.URL())
	noError(t, err)
	defer c.Close(ctx)
	for _, sql := range []string{"ALTER SYSTEM SET primary_conninfo = 'host=/nowhere'", "SELECT pg_reload_conf()"} {
		noError(t, ledgertest.ErrOf(c.Exec(ctx, sql)))
	}
	until(t, "the end of the replication", func() bool {
		var n int
		err := l.conn.QueryRow(ctx, "SELECT count(*) FROM pg_stat_replication").Scan(&n)
		return err == nil && n == 0
	})
}

// recovers counts what was lost as spent, once.
func recovers(t *testing.T, at string, o Options, pending ledger.Receipt, limit int) {
	t.Helper()
	var r groupcommit.Recovered
	until(t, "the end of the leases of those that were not closed in order", func() bool {
		var err error
		if r, err = Recover(at, o, "failover"); err != nil && !errors.Is(err, errServing) {
			t.Fatal(err)
		}
		return err == nil
	})
	again, err := Recover(at, o, "failover")
	noError(t, err)
	if !strings.Contains(r.Problem, "it is older: it ends at record") || again.Problem != "" || again.Hash != r.Hash {
		t.Errorf("%v, and then %v", r, again)
	}
	l := open(t, at, o)
	// 11 in both histories, 5 that were lost, and one that was made since.
	if n := spent(t, l, "hospital"); n != 17 {
		t.Errorf("%d were spent", n)
	}
	if err := l.Keep(ctx, pending.Sequence, "late", []byte("42")); !errors.Is(err, ledger.ErrRecovered) {
		t.Errorf("an answer that may have been given was given again: %v", err)
	}
	if kept, found, err := l.Answer(ctx, "request 3"); err != nil || !found || string(kept) != "answer 3" {
		t.Errorf("%q, %v", kept, err)
	}
	if _, found, err := l.Answer(ctx, "request 12"); err != nil || found {
		t.Errorf("an answer that was lost is there: %v", err)
	}
	answered(t, l, 100, 103, limit)
	if _, err := l.Charge(ctx, ask("one too many", hospital(limit))); !errors.As(err, new(*ledger.BudgetError)) {
		t.Errorf("got %v", err)
	}
	mustClose(t, l)
	verify(t, at)
}
