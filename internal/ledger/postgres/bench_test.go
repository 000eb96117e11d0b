package postgres

import (
	"fmt"
	"os"
	"runtime"
	"sync/atomic"
	"testing"
)

var requests atomic.Int64

// BenchmarkCharge charges, one client and many.
func BenchmarkCharge(b *testing.B) {
	for _, clients := range []int{1, 300} {
		b.Run(fmt.Sprint(clients, " clients"), func(b *testing.B) {
			at := os.Getenv("DISCREET_BENCH_POSTGRES") // a server that pgbench runs on too
			if at == "" {
				at = address(b)
			} else {
				at = within(b, at)
			}
			l := open(b, at, Options{})
			before := l.commits
			b.SetParallelism(max(clients/runtime.GOMAXPROCS(0), 1))
			b.ResetTimer()
			if clients == 1 {
				for i := range b.N {
					mustCharge(b, l, ask(fmt.Sprint(i), hospital(1<<24)))
				}
			} else {
				b.RunParallel(func(p *testing.PB) {
					for p.Next() {
						mustCharge(b, l, ask(fmt.Sprint(requests.Add(1)), hospital(1<<24)))
					}
				})
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "charges/s")
			b.ReportMetric(float64(b.N)/float64(l.commits-before), "charges/commit")
		})
	}
}
