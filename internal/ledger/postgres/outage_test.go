package postgres

import (
	"fmt"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/test/testpg"
)

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
