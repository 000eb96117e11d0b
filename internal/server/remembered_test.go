package server

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/discreet-dp/discreet/internal/test/testpg"
)

const tile = "SELECT sex, COUNT(*) FROM patients WHERE age >= 18 GROUP BY sex"

// BenchmarkRemembered compares an answer that was paid for before with SELECT 1 on the same server,
// over one connection, by medians, in turn.
func BenchmarkRemembered(b *testing.B) {
	g := hostOf(b, "{epsilon: 100, delta: 1e-6, per_query: {default: 0.0001}}", 20_000)
	for _, mode := range []string{"simple_protocol", "cache_statement"} {
		b.Run(mode, func(b *testing.B) {
			c, err := pgx.Connect(b.Context(), g.url()+"&default_query_exec_mode="+mode)
			must(b, err)
			defer c.Close(b.Context())
			took := map[string][]time.Duration{}
			for b.Loop() {
				for _, sql := range []string{"SELECT 1", tile} {
					begin := time.Now()
					if _, err := c.Exec(b.Context(), sql); err != nil {
						b.Fatal(err)
					}
					took[sql] = append(took[sql], time.Since(begin))
				}
			}
			median := func(sql string) float64 {
				return float64(slices.Sorted(slices.Values(took[sql]))[len(took[sql])/2].Microseconds()) / 1000
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(median("SELECT 1"), "ms-select-1")
			b.ReportMetric(median(tile), "ms-remembered")
			b.ReportMetric(median(tile)-median("SELECT 1"), "ms-more")
		})
	}
}

// BenchmarkFifty lets pgbench ask for an answer that was paid for before, over 50 connections, and
// then lets it ask a PostgreSQL of the same machine its own SELECT. The time of a run counts from
// before the logins, which take seconds for fifty passwords: shorter runs measure next to nothing,
// so what is reported is of runs that processed many.
func BenchmarkFifty(b *testing.B) {
	g := hostOf(b, "{epsilon: 100, delta: 1e-6, per_query: {default: 0.0001}}", 20_000)
	postgres := testpg.Start(b)
	pgbench(b, "-i", "-q", postgres.URL())
	for b.Loop() {
		for _, mode := range []string{"simple", "prepared"} {
			b.ReportMetric(pgbench(b, "-n", "-c", "50", "-j", "1", "-T", "20", "-M", mode, "-f", script(b, tile), g.url()), mode+"/s")
			b.ReportMetric(pgbench(b, "-n", "-c", "50", "-j", "1", "-T", "5", "-M", mode, "-S", postgres.URL()), "pg-"+mode+"/s")
		}
	}
}

func (g inn) url() string {
	return fmt.Sprintf("postgres://ana:%s@127.0.0.1:%d/hospital?sslmode=disable", g.password, g.port)
}

func script(tb testing.TB, sql string) string {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "script.sql")
	must(tb, os.WriteFile(path, []byte(sql+";\n"), 0o600))
	return path
}

var perSecond = regexp.MustCompile(`tps = ([0-9.]+)`)

// pgbench runs PostgreSQL's own benchmark, and returns how many transactions a second there were.
func pgbench(tb testing.TB, args ...string) float64 {
	tb.Helper()
	n, err := strconv.ParseFloat("0"+group1(perSecond, report(tb, args...)), 64)
	must(tb, err)
	return n
}

// report is what pgbench says of a run. Notices are left out, which it would print one by one.
func report(tb testing.TB, args ...string) string {
	tb.Helper()
	if _, err := exec.LookPath("pgbench"); err != nil {
		tb.Skip("there is no pgbench: install postgresql-contrib")
	}
	run := exec.Command("pgbench", args...)
	run.Env = append(os.Environ(), "PGOPTIONS=-c client_min_messages=warning")
	var out, failed strings.Builder
	run.Stdout, run.Stderr = &out, &failed
	if err := run.Run(); err != nil {
		tb.Fatalf("pgbench: %v\n%.2000s\n%s", err, failed.String(), out.String())
	}
	return out.String()
}

// group1 is the part of a text that an expression finds, or nothing.
func group1(e *regexp.Regexp, text string) string {
	if found := e.FindStringSubmatch(text); found != nil {
		return found[1]
	}
	return ""
}
