package anchor

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/discreet-dp/discreet/internal/test/ledgertest"
	"github.com/discreet-dp/discreet/internal/test/testpg"
	"github.com/discreet-dp/discreet/ledger"
)

func mustPostgres(t testing.TB, address, name string) *Row {
	t.Helper()
	r, err := Postgres(address, name)
	noError(t, err)
	t.Cleanup(func() { r.Close() })
	return r
}

func execute(t testing.TB, address, sql string) {
	t.Helper()
	c, err := pgx.Connect(ctx, address)
	noError(t, err)
	defer c.Close(ctx)
	noError(t, ledgertest.ErrOf(c.Exec(ctx, sql)))
}

// TestPostgresVerified: who could pretend to be the anchor could make an old ledger the latest.
func TestPostgresVerified(t *testing.T) {
	t.Setenv("PGSSLMODE", "disable")
	for address, verified := range map[string]bool{"postgres://anchor:x@db.example.org/anchors": true,
		"postgresql://anchor@/anchors?host=db.example.org": true, "postgres://anchor@db.example.org/anchors?sslmode=disable": false,
		"postgres://anchor@localhost/anchors": false, "postgres://anchor@/anchors?host=/run": false} {
		c := mustPostgres(t, address, "x").config
		if got := c.TLSConfig != nil && !c.TLSConfig.InsecureSkipVerify && c.TLSConfig.ServerName == "db.example.org" &&
			len(c.Fallbacks) == 0; got != verified {
			t.Errorf("%s: verified is %v", address, got)
		}
	}
}

// TestPostgresClosed: a ledger ends in order when the anchor's database has restarted meanwhile.
func TestPostgresClosed(t *testing.T) {
	server, authority := testpg.Start(t), testpg.NewAuthority(t)
	execute(t, server.URL(), "CREATE ROLE clerk LOGIN PASSWORD 'secret'; CREATE SCHEMA clerk AUTHORIZATION clerk")
	server.Listen(t, authority, "localhost", time.Now().Add(time.Hour))
	place := mustPostgres(t, "postgres://clerk:secret@localhost:"+server.Port()+"/postgres?sslmode=verify-full&sslrootcert="+
		authority.File, "x")
	mustStore(t, place, 5)
	server.Stop(t)
	server.Restart(t)
	if err := place.Close(); err != nil {
		t.Error(err)
	}
}

func TestPostgres(t *testing.T) {
	server := testpg.Start(t)
	t.Run("promises", func(t *testing.T) {
		places(t, func() ledger.Anchorage { return mustPostgres(t, server.URL(), "hospital") })
		mustHold(t, mustPostgres(t, server.URL(), "another"), 0)
	})
	t.Run("damaged", func(t *testing.T) {
		place := mustPostgres(t, server.URL(), "damaged")
		mustStore(t, place, 5)
		for _, change := range []string{
			`document = replace(document, '"sequence":5', '"sequence":4')`,
			`document = replace(document, '"sequence":5', '"sequence":4'), sha256 = encode(sha256(convert_to(replace(document, '"sequence":5', '"sequence":4'), 'UTF8')), 'hex')`,
			`document = ''`,
			`sha256 = 'nothing'`,
		} {
			execute(t, server.URL(), `UPDATE discreet_anchor SET `+change+` WHERE name = 'damaged'`)
			var damaged *DamagedError
			if _, found, err := mustPostgres(t, server.URL(), "damaged").Load(ctx); found || !errors.As(err, &damaged) {
				t.Errorf("%s: %v, %v", change, found, err)
			}
			execute(t, server.URL(), `DELETE FROM discreet_anchor WHERE name = 'damaged'`)
			var moved *MovedError
			if err := place.Store(ctx, at(6)); !errors.As(err, &moved) {
				t.Errorf("a row that was removed: %v", err)
			}
			place = mustPostgres(t, server.URL(), "damaged")
			mustStore(t, place, 5)
		}
	})
	t.Run("at once", func(t *testing.T) {
		execute(t, server.URL(), `DROP TABLE discreet_anchor`)
		var wg sync.WaitGroup
		var mutex sync.Mutex
		stored := 0
		for i := range 8 {
			place := mustPostgres(t, server.URL(), "one row")
			wg.Go(func() {
				_, _, err := place.Load(ctx)
				if err == nil {
					err = place.Store(ctx, at(uint64(i+1)))
				}
				var moved *MovedError
				mutex.Lock()
				defer mutex.Unlock()
				switch {
				case err == nil:
					stored++
				case !errors.As(err, &moved):
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if stored == 0 {
			t.Error("nobody stored")
		}
	})
	t.Run("commits are durable", func(t *testing.T) {
		address := server.URL() + "&synchronous_commit=off"
		place := mustPostgres(t, address, "durable")
		if err := place.work(ctx, func(ctx context.Context, tx pgx.Tx) error {
			var got string
			err := tx.QueryRow(ctx, "SHOW synchronous_commit").Scan(&got)
			if got != "on" {
				t.Errorf("synchronous_commit is %s", got)
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
	})
	t.Run("read only", func(t *testing.T) {
		// What a standby does.
		place := mustPostgres(t, server.URL()+"&default_transaction_read_only=on", "hospital")
		if _, found, err := place.Load(ctx); err == nil {
			t.Errorf("an anchor was read where it may be old: %v", found)
		}
	})
	t.Run("rights", func(t *testing.T) {
		execute(t, server.URL(),
			`CREATE ROLE clerk LOGIN; REVOKE CREATE ON SCHEMA public FROM PUBLIC; GRANT SELECT, INSERT, UPDATE ON discreet_anchor TO clerk`)
		clerk := mustPostgres(t, strings.Replace(server.URL(), "postgres@", "clerk@", 1), "clerk")
		mustHold(t, clerk, 0)
		mustStore(t, clerk, 1)
		mustStore(t, clerk, 2)
		mustHold(t, clerk, 2)
	})
	t.Run("down and up", func(t *testing.T) {
		place := mustPostgres(t, server.URL(), "down")
		mustStore(t, place, 1)
		server.Stop(t)
		for range 2 {
			if err := place.Store(ctx, at(2)); err == nil {
				t.Error("stored in a server that is down")
			}
			if _, found, err := place.Load(ctx); err == nil {
				t.Errorf("loaded from a server that is down: %v", found)
			}
		}
		server.Restart(t)
		mustHold(t, place, 1)
		mustStore(t, place, 3)
		// The connection dies unnoticed between two stores.
		server.Stop(t)
		server.Restart(t)
		mustStore(t, place, 4)
		mustHold(t, mustPostgres(t, server.URL(), "down"), 4)
	})
	t.Run("unknown fate", func(t *testing.T) {
		// A commit of which we did not hear: the anchor is there, and the next one goes over it.
		place := mustPostgres(t, server.URL(), "fate")
		mustStore(t, place, 1)
		before := append(knownSums{}, place.memory...)
		mustStore(t, place, 2)
		place.memory = append(before, place.memory...)
		mustStore(t, place, 3)
		mustHold(t, place, 3)
	})
}

// The password is in no text, whatever goes wrong.
func TestPostgresPassword(t *testing.T) {
	const secret = "correct-horse"
	var texts []string
	for _, address := range []string{
		"postgres://ana:" + secret + "@127.0.0.1:1/db",
		"host=127.0.0.1 port=1 user=ana password=" + secret,
		"postgres://ana:" + secret + "@127.0.0.1:notaport/db",
		"postgres://ana:" + secret + "@[/db",
		"postgres://ana:x@127.0.0.1:1/db?sslmode=" + secret,
	} {
		place, err := Postgres(address, "hospital")
		if err != nil {
			texts = append(texts, fmt.Sprintf("%v %+v", err, err))
			continue
		}
		_, _, err = place.Load(ctx)
		texts = append(texts, place.String(), fmt.Sprint(err), fmt.Sprintf("%+v", err), fmt.Sprint(place.Store(ctx, at(1))))
		if u := errors.Unwrap(err); u != nil {
			t.Errorf("%v unwraps to what PostgreSQL said", err)
		}
	}
	if len(texts) < 9 {
		t.Errorf("only %d texts", len(texts))
	}
	for _, text := range texts {
		if strings.Contains(text, secret) {
			t.Errorf("%q has the password", text)
		}
	}
	hidden := &unreachable{"x", secret, &url.Error{Op: "dial", URL: secret, Err: errors.New("no")}}
	if strings.Contains(hidden.Error(), secret) || !strings.Contains(hidden.Error(), "cannot be shown") {
		t.Error(hidden)
	}
}

func TestPostgresName(t *testing.T) {
	for _, name := range []string{"", strings.Repeat("x", 257)} {
		if _, err := Postgres("postgres://x/y", name); err == nil {
			t.Errorf("%q is a name", name)
		}
	}
}
