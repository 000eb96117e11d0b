package postgres

import (
	"net/url"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/testpg"
)

// The database is killed and its standby takes over, for which every commit has waited: nothing
// that was confirmed is lost, and what was not confirmed is found out there.
func TestPromise6Failover(t *testing.T) {
	t.Parallel()
	first := testpg.Start(t)
	second := first.Standby(t)
	u := url.URL{Scheme: "postgres", User: url.User("postgres"), Path: "/postgres",
		RawQuery: url.Values{"host": {first.Host() + "," + second.Host()}, "schema": {"failover"}}.Encode()}
	admin := open(t, first.URL(), Options{})
	do(t, admin, "ALTER SYSTEM SET synchronous_standby_names = '*'")
	do(t, admin, "SELECT pg_reload_conf()")
	until(t, "a standby that is waited for", func() bool {
		var n int
		err := admin.conn.QueryRow(ctx, "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'").Scan(&n)
		return err == nil && n == 1
	})
	mustClose(t, admin)
	servers := []*Ledger{open(t, u.String(), Options{}), open(t, u.String(), Options{}), open(t, u.String(), Options{})}
	o := newOutcome()
	stop := o.crowd(t, servers)
	told := func() int {
		o.mu.Lock()
		defer o.mu.Unlock()
		return len(o.answers)
	}
	until(t, "the first answers", func() bool { return told() > 60 })
	first.Stop(t)
	second.Promote(t)
	before := told()
	until(t, "answers of the other database", func() bool { return told() > before+60 })
	time.Sleep(50 * time.Millisecond)
	stop()
	t.Logf("%d answers before the failover, %d in the end", before, len(o.answers))
	o.check(t, u.String(), 1<<20)
}
