package postgres

import (
	"flag"
	"fmt"
	"regexp"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/test/testpg"
)

var requests atomic.Int64

// BenchmarkCharge charges, one client and many, and then lets pgbench do as many simple updates as
// it can on the same server, for as long.
func BenchmarkCharge(b *testing.B) {
	const seconds = 8
	pg := testpg.Start(b, "max_connections=400")
	pg.Tool(b, "pgbench", "-i", "-q", "-s", "10", "-h", pg.Host(), "-U", "postgres", "postgres")
	for _, clients := range []int{1, 300} {
		b.Run(fmt.Sprint(clients, " clients"), func(b *testing.B) {
			var charges, updates, commits float64
			for b.Loop() {
				made, commit := charging(b, within(b, pg.URL()), clients, seconds*time.Second)
				charges, commits = charges+float64(made), commits+float64(commit)
				said := pg.Tool(b, "pgbench", "-N", "-c", fmt.Sprint(clients), "-j", fmt.Sprint(min(clients, 2)), "-T", fmt.Sprint(seconds),
					"-h", pg.Host(), "-U", "postgres", "postgres")
				rate := regexp.MustCompile(`tps = ([0-9.]+)`).FindStringSubmatch(said)
				if rate == nil {
					b.Fatal(said)
				}
				tps, err := strconv.ParseFloat(rate[1], 64)
				noError(b, err)
				updates += tps * seconds
			}
			b.ReportMetric(charges/seconds/float64(b.N), "charges/s")
			b.ReportMetric(updates/seconds/float64(b.N), "pgbench/s")
			b.ReportMetric(charges/updates, "ratio")
			b.ReportMetric(charges/commits, "charges/commit")
		})
	}
}

// charging returns how many charges clients of one server made in a time, and in how many commits.
func charging(b *testing.B, at string, clients int, d time.Duration) (charges int64, commits uint64) {
	l := open(b, at, Options{})
	defer l.Close()
	before := l.commits
	var made atomic.Int64
	var wg sync.WaitGroup
	end := time.Now().Add(d)
	for range clients {
		wg.Go(func() {
			for time.Now().Before(end) {
				mustCharge(b, l, ask(fmt.Sprint(requests.Add(1)), hospital(1<<30)))
				made.Add(1)
			}
		})
	}
	wg.Wait()
	return made.Load(), l.commits - before
}

var opened = flag.Int("opened", 0, "how many charges, each with its answer, BenchmarkOpen makes first")

func BenchmarkOpen(b *testing.B) {
	if *opened == 0 {
		b.Skip("-opened N says how many charges it makes first")
	}
	at := address(b)
	l := open(b, at, Options{})
	var wg sync.WaitGroup
	const clients = 300
	for c := range clients {
		wg.Go(func() {
			for i := c; i < *opened; i += clients {
				r := mustCharge(b, l, ask(fmt.Sprint(i), hospital(1<<30)))
				mustKeep(b, l, r.Sequence, fmt.Sprint("key ", i), "answer")
			}
		})
	}
	wg.Wait()
	records, _, err := l.Head(ctx)
	noError(b, err)
	mustClose(b, l)
	for _, full := range []bool{true, false} {
		b.Run(fmt.Sprintf("full=%v", full), func(b *testing.B) {
			for b.Loop() {
				mustClose(b, open(b, at, Options{Full: full}))
			}
			b.ReportMetric(float64(records), "records")
		})
	}
}
