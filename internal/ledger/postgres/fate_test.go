package postgres

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/test/ledgertest"
	"github.com/discreet-dp/discreet/internal/test/testpg"
	"github.com/discreet-dp/discreet/ledger"
)

// A COMMIT that reached the server and whose confirmation was lost is found out: the caller gets
// the receipt.
func TestPromise9ConfirmationLost(t *testing.T) {
	at := address(t)
	p, via := newProxy(t, at)
	l := open(t, via, Options{})
	for i, request := range []string{"a", "b", "c"} {
		p.mu.Lock()
		p.swallow = true
		p.mu.Unlock()
		r, err := l.Charge(ctx, ask(request, hospital(10)))
		if err != nil || r.Again || r.Sequence != uint64(i+1) {
			t.Fatalf("%+v, %v", r, err)
		}
	}
	if p.swallowed != 3 {
		t.Errorf("%d confirmations were lost", p.swallowed)
	}
	if n := spent(t, l, "hospital"); n != 3 {
		t.Errorf("%d were spent", n)
	}
	verify(t, at)
}

// Where nobody can be asked, the caller is told that it is not known, nothing is answered
// meanwhile, and the same request gets what came of it.
func TestPromise9FateNotKnown(t *testing.T) {
	reconnectTimeout = 300 * time.Millisecond
	defer func() { reconnectTimeout = defaultReconnectTimeout }()
	at := address(t)
	p, via := newProxy(t, at)
	l := open(t, via, Options{})
	mustCharge(t, l, ask("before", hospital(10)))
	p.mu.Lock()
	p.swallow, p.last = true, true // and nobody gets through afterwards
	p.mu.Unlock()
	_, err := l.Charge(ctx, ask("lost", hospital(10)))
	var write *ledger.WriteError
	if !errors.As(err, &write) || !write.Unknown || write.Broken {
		t.Fatalf("got %v; want that it is not known", err)
	}
	if _, err := l.Balances(ctx, []ledger.Account{hospital(10)}); !errors.As(err, &write) {
		t.Errorf("a balance that nobody knows: %v", err)
	}
	if _, err := l.Charge(ctx, ask("meanwhile", hospital(10))); !errors.As(err, &write) || write.Unknown {
		t.Errorf("charged meanwhile: %v", err)
	}
	p.set(false)
	r := mustCharge(t, l, ask("lost", hospital(10)))
	if !r.Again {
		t.Error("a charge that was made was made again")
	}
	mustCharge(t, l, ask("meanwhile", hospital(10)))
	if n := spent(t, l, "hospital"); n != 3 {
		t.Errorf("%d were spent", n)
	}
	verify(t, at)
}

// A write that PostgreSQL refuses spends nothing, and the ledger goes on.
func TestPromise9Refused(t *testing.T) {
	at := address(t)
	l := open(t, at, Options{})
	mustCharge(t, l, ask("before", hospital(10)))
	admin := open(t, at, Options{})
	do := func(sql string) {
		t.Helper()
		noError(t, ledgertest.ErrOf(admin.conn.Exec(ctx, admin.database.in(sql))))
	}
	do("ALTER TABLE ledger.records ADD CONSTRAINT full_disk CHECK (sequence < 2)")
	for range 2 {
		var write *ledger.WriteError
		if _, err := l.Charge(ctx, ask("refused", hospital(10))); !errors.As(err, &write) || write.Broken || write.Unknown {
			t.Fatalf("got %v", err)
		}
		if n := spent(t, l, "hospital"); n != 1 {
			t.Errorf("%d were spent", n)
		}
	}
	do("ALTER TABLE ledger.records DROP CONSTRAINT full_disk")
	if r := mustCharge(t, l, ask("refused", hospital(10))); r.Again || r.Sequence != 2 {
		t.Errorf("%+v", r)
	}
	verify(t, at)
}

// A database that is away for longer than a lease is nobody's death: no server could renew its
// lease, and all go on when it is back.
func TestPromise8TheDatabaseWasAway(t *testing.T) {
	t.Parallel()
	pg := testpg.Start(t)
	at := within(t, pg.URL())
	short := Options{Lease: 4 * time.Second} // which a machine that is busy has too
	var servers []*Ledger
	for i := range 3 {
		l := open(t, at, short)
		mustCharge(t, l, ask(fmt.Sprint("before ", i), hospital(10)))
		servers = append(servers, l)
	}
	pg.Stop(t)
	time.Sleep(4500 * time.Millisecond)
	pg.Restart(t)
	for round := range 3 {
		for i, l := range servers {
			if _, err := l.Charge(ctx, ask(fmt.Sprint("after ", round, " ", i), hospital(100))); err != nil {
				t.Errorf("server %d: %v", i, err)
			}
		}
		time.Sleep(time.Second)
	}
	if died := servers[0].Died(); len(died) > 0 {
		t.Errorf("died: %q", died)
	}
}
