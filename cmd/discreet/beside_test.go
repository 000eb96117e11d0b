package main

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// The owner works beside a server that has the ledger in a file, while somebody asks it: top-ups,
// renewals, reading, and a backup of one moment. What is entered counts from the next question on.
func TestOwnerBesideServer(t *testing.T) {
	t.Parallel()
	policy := teamed(t, "{epsilon: 1, renewal: {every: month, windows: 3}, per_query: {default: 0.1, max: 0.5}}")
	file := beside(policy, "policy.ledger")
	password := comes(t, beside(policy, "policy.users"), "ana")
	server := starts(t, nil, "-p", policy, "--listen", "127.0.0.1:0", "--http", "")
	at := server.out.find(t, `psql postgresql://ana@(\S+)/hospital`)
	by := fmt.Sprintf("postgresql://ana:%s@%s/hospital?sslmode=disable", url.QueryEscape(password), at)
	c, err := pgx.Connect(context.Background(), by)
	must(t, err)
	defer c.Close(context.Background())
	ask := func() error {
		var n int
		return c.QueryRow(context.Background(), people).Scan(&n)
	}
	must(t, ask())
	stop := make(chan struct{})
	var asking sync.WaitGroup
	asking.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				if err := ask(); err != nil { // free, and the ledger is read each time
					t.Error(err)
					return
				}
			}
		}
	})
	begun := time.Now()
	key, other := beside(policy, "owner.key"), beside(policy, "other.key")
	command("ledger", "key", "-p", policy, key).wants(t, 0, "made")
	command("ledger", "key", "-p", policy, other).wants(t, 2)
	command("ledger", "key", "-p", policy, other, "--old", key, "--reason", "Kim has left").wants(t, 0)
	topup := []string{"ledger", "topup", "-p", policy, "--epsilon", "0.1", "--reason", "test", "--key"}
	command(append(topup, key)...).wants(t, 1, "the key is not that of the ledger's owner")
	command(append(topup, other)...).wants(t, 0, "epsilon 1 before, epsilon 1.1 from now on")
	command("ledger", "renew", "-p", policy, "--due", "--reason", "cron").wants(t, 0, "not due before")
	command("ledger", "renew", "-p", policy, "--reason", "February").wants(t, 0, "window 2 of 3 has begun")
	command("incidents", "list", "-p", policy).wants(t, 0)
	for _, c := range []string{"ledger", "incidents"} { // what works beside a server is said to
		command(c, "--help").wants(t, 0, "work while").lacks(t, "stop the server first", "stop it first")
	}
	command("incidents", "release", "-p", policy, "--reason", "none", "--key", other).wants(t, 2, "nothing to release")
	command("budget", "-p", policy).wants(t, 0, "0.1")
	for _, args := range [][]string{{"show"}, {"export"}, {"replay"}, {"verify"}} {
		command(append([]string{"ledger"}, append(args, "-p", policy)...)...).wants(t, 0)
		command(append([]string{"ledger"}, append(args, file)...)...).wants(t, 0)
	}
	backup := beside(policy, "backup.ledger")
	command("ledger", "copy", file, backup).wants(t, 0, "copied and compared", "1 answer kept")
	command("ledger", "verify", backup).wants(t, 0, "is whole")
	if took := time.Since(begun); took > time.Minute {
		t.Errorf("it took %v", took)
	}
	close(stop)
	asking.Wait()
	// A question of an analyst does not go this way.
	asks(policy, older("40")).wants(t, 1, "the ledger is open already")
	if info, err := os.Stat(file + ".hatch"); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the socket: %v, %v", info, err)
	}
	server.stops(t, syscall.SIGTERM)
	if _, err := os.Stat(file + ".hatch"); !os.IsNotExist(err) {
		t.Errorf("the socket is left behind: %v", err)
	}
	command("ledger", "verify", "-p", policy).wants(t, 0, "hospital is in window 2")
}
