package server

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// A dashboard of 40 tiles over 50 connections of one account gets answers and no errors, with the
// usual limits: the first time, when all is new; again, when all is in memory; and then when some
// of it is new and psql asks beside it.
func TestDashboard(t *testing.T) {
	t.Parallel() // it waits
	g := hostWith(t, "{epsilon: 100, delta: 1e-6, per_query: {default: 0.1}}", 5000, Config{Running: 2})
	psql, err := exec.LookPath("psql")
	if err != nil && os.Getenv("DISCREET_NEED_POSTGRES") != "" {
		t.Fatal(err)
	}
	const connections, tiles, known = 50, 40, 35
	all := make([]*pgx.Conn, connections)
	for i := range all {
		mode := "simple_protocol"
		if i%5 == 0 {
			mode = "cache_describe"
		}
		c, err := pgx.Connect(t.Context(), g.url()+"&default_query_exec_mode="+mode)
		must(t, err)
		defer c.Close(t.Context())
		all[i] = c
	}
	said := make([]map[int]string, 3)
	for round := range said {
		said[round] = map[int]string{}
		var mu sync.Mutex
		var done sync.WaitGroup
		for i, c := range all {
			at := i % tiles
			if round == 2 && i >= known {
				at = tiles + i // which nobody has asked
			}
			done.Go(func() {
				var n int64
				if err := c.QueryRow(t.Context(), ageTile(at)).Scan(&n); err != nil {
					t.Errorf("round %d, tile %d: %v", round, at, err)
				}
				mu.Lock()
				defer mu.Unlock()
				if before, ok := said[round][at]; ok && before != fmt.Sprint(n) {
					t.Errorf("tile %d has two answers", at)
				}
				said[round][at] = fmt.Sprint(n)
			})
		}
		if round == 2 && psql != "" {
			done.Go(func() {
				out, err := exec.Command(psql, "-X", "-q", "-t", "-A", g.url(), "-c", ageTile(0), "-c", ageTile(tiles)).CombinedOutput()
				if err != nil || !slices.Contains(strings.Split(string(out), "\n"), said[1][0]) {
					t.Errorf("psql says %s, %v; tile 0 is %s", out, err, said[1][0])
				}
			})
		}
		done.Wait()
	}
	for i := range tiles {
		if said[0][i] == "" || said[0][i] != said[1][i] || i < known && said[2][i] != said[0][i] {
			t.Errorf("tile %d said %q, %q and %q", i, said[0][i], said[1][i], said[2][i])
		}
	}
}

// ageTile is a tile of a dashboard.
func ageTile(i int) string { return fmt.Sprintf("SELECT COUNT(*) FROM patients WHERE age >= %d", i) }

var retried = regexp.MustCompile(`number of transactions retried: (\d+)`)

// A client that tries again by itself does so when it came too early: pgbench, with an account that
// may ask ten times a second and that nobody waits for.
func TestRetried(t *testing.T) {
	t.Parallel() // it waits
	g := hostWith(t, "{epsilon: 1, per_query: {default: 0.1}}", 100, Config{Rate: 600, Patience: -1})
	out := report(t, "-n", "-c", "20", "-j", "1", "-t", "6", "--max-tries", "100000",
		"-f", script(t, "SELECT count(*) FROM patients"), g.url())
	n, err := strconv.Atoi("0" + group1(retried, out))
	if err != nil || n == 0 || !strings.Contains(out, "120/120") || !strings.Contains(out, "failed transactions: 0") {
		t.Errorf("pgbench says\n%s", out)
	}
}

// With patience it need not try again: twenty connections that ask faster than they may are slowed
// down, psql too.
func TestSlowedDown(t *testing.T) {
	t.Parallel() // it waits
	g := hostWith(t, "{epsilon: 1, per_query: {default: 0.1}}", 100, Config{Rate: 600})
	out := report(t, "-n", "-c", "20", "-j", "1", "-t", "6", "-f", script(t, "SELECT count(*) FROM patients"), g.url())
	if !strings.Contains(out, "120/120") || !strings.Contains(out, "failed transactions: 0") {
		t.Errorf("pgbench says\n%s", out)
	}
	begin := time.Now()
	said, err := exec.Command("psql", "-X", "-q", "-t", "-A", g.url(), "-c", "SELECT count(*) FROM patients").CombinedOutput()
	if err != nil || time.Since(begin) > 30*time.Second {
		t.Errorf("psql says %s, %v", said, err)
	}
}
