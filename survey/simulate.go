package survey

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/discreet-dp/discreet/noise"
)

// Simulate asks people whose values are known, and returns what their reports tell. It
// is for planning a survey and for showing one: whoever runs it has the data already,
// and protects nobody from themselves. The reports are made of real randomness, in
// several goroutines, and thrown away once they are counted.
//
// tell, unless it is nil, is called now and then with the number of people asked so
// far, by one goroutine at a time.
func Simulate(ctx context.Context, o Oracle, values []int, tell func(asked int)) (*Collector, error) {
	for i, v := range values {
		if err := checkValue(v, o.Size()); err != nil {
			return nil, fmt.Errorf("person %d: %w", i, err)
		}
	}
	const batch = 1024
	// A collector takes memory for the whole domain.
	workers := min(runtime.GOMAXPROCS(0), 1+len(values)/max(batch, o.room()))
	collectors, failures := make([]*Collector, workers), make([]error, workers)
	var next, asked atomic.Int64
	var telling sync.Mutex
	var all sync.WaitGroup
	for w := range workers {
		all.Go(func() {
			src := noise.NewSource()
			c := NewCollector(o)
			collectors[w] = c
			for {
				from := int(next.Add(batch)) - batch
				if from >= len(values) {
					return
				}
				if failures[w] = ctx.Err(); failures[w] != nil {
					return
				}
				some := values[from:min(from+batch, len(values))]
				for _, v := range some {
					if failures[w] = c.Add(o.report(dice{src}, v)); failures[w] != nil {
						return
					}
				}
				if so := asked.Add(int64(len(some))); tell != nil {
					telling.Lock()
					tell(int(so))
					telling.Unlock()
				}
			}
		})
	}
	all.Wait()
	failures = append(failures, ctx.Err())
	for _, c := range collectors[1:] {
		failures = append(failures, collectors[0].Merge(c))
	}
	if err := errors.Join(failures...); err != nil {
		return nil, err
	}
	return collectors[0], nil
}
