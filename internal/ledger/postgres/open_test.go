package postgres

import (
	"flag"
	"fmt"
	"sync"
	"testing"
)

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
	if err != nil {
		b.Fatal(err)
	}
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
