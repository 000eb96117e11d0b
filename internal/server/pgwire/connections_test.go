package pgwire

import (
	"context"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// Many who ask, cancel, hang up and send nonsense, all at once: no connection and no goroutine of
// theirs stays.
func TestConnections(t *testing.T) {
	p := open(t, func(o *Options) { o.StartupDeadline = 5 * time.Minute }) // the clients of forty logins share this machine
	p.ana(t).Exec(background, counting)                                    // the data is open now
	before := runtime.NumGoroutine()
	var all sync.WaitGroup
	for i := range 40 {
		all.Go(func() {
			r := rand.New(rand.NewPCG(1, uint64(i)))
			for range 3 {
				switch r.IntN(4) {
				case 0:
					c := p.dial(t)
					c.Write([]byte{byte(r.Uint32()), 0, 0, byte(r.Uint32()), 0, 3, 0, 0, 'u'})
					c.Close()
					continue
				}
				conn, err := pgx.ConnectConfig(background, p.config(t, []string{"ana", "ben"}[i%2], "hospital"))
				if err != nil {
					t.Error(err)
					return
				}
				ctx, cancel := context.WithTimeout(background, time.Duration(r.IntN(30))*time.Millisecond)
				switch r.IntN(3) {
				case 0:
					conn.Exec(ctx, "SELECT count(*) FROM patients WHERE age > $1", r.IntN(20))
				case 1:
					conn.Exec(background, "SELECT sex, count(*) FROM patients GROUP BY sex")
				case 2:
					conn.PgConn().Conn().Write(packet('Q', counting+"\x00"))
				}
				cancel()
				conn.PgConn().Conn().Close()
			}
		})
	}
	all.Wait()
	for range 1000 {
		if p.Connections() <= 1 && runtime.NumGoroutine() <= before+3 {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if n, g := p.Connections(), runtime.NumGoroutine(); n > 1 || g > before+3 {
		t.Errorf("%d connections and %d goroutines, after %d", n, g, before)
	}
}
