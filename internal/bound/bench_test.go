package bound

import (
	"context"
	"math/big"
	"runtime"
	"strconv"
	"sync"
	"testing"
)

// BenchmarkRun measures the operator alone, on rows that are in memory: ten a person, in no order
// and by person, of 1000 groups.
func BenchmarkRun(b *testing.B) {
	const rows, size = 1 << 23, 2048
	for _, ordered := range []bool{false, true} {
		var batches []*Batch
		for start := 0; start < rows; start += size {
			batch := &Batch{Ints: make([]int64, size), Groups: make([]int32, size), Values: [][]int64{nil, make([]int64, size)}}
			for i := range size {
				n := uint64(start + i)
				batch.Ints[i] = int64(mix(n) % (rows / 10))
				if ordered {
					batch.Ints[i] = int64(n / 10)
				}
				batch.Groups[i], batch.Values[1][i] = int32(mix(n*31)%1000), int64(mix(n+7)%100_000)
			}
			batches = append(batches, batch)
		}
		for measures := 1; measures <= 2; measures++ {
			s := Spec{Groups: 1000, MaxGroups: 5, Measures: []Measure{{Kind: Rows, Lo: new(big.Int), Hi: big.NewInt(10)},
				{Kind: Sum, Lo: new(big.Int), Hi: big.NewInt(1_000_000), Reach: 100_000}}[:measures]}
			b.Run("ordered="+strconv.FormatBool(ordered)+"/measures="+strconv.Itoa(measures), func(b *testing.B) {
				for b.Loop() {
					if _, err := Run(context.Background(), s, feed(batches, measures)); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/rows, "ns/row")
			})
		}
	}
}

// feed hands batches over from as many goroutines as there are processors.
func feed(batches []*Batch, measures int) Source {
	return func(take func(*Batch) error) error {
		var group sync.WaitGroup
		workers := runtime.GOMAXPROCS(0)
		errs := make(chan error, workers)
		for w := range workers {
			group.Go(func() {
				for i := w; i < len(batches); i += workers {
					b := *batches[i]
					b.Values = b.Values[:measures]
					if err := take(&b); err != nil {
						errs <- err
						return
					}
				}
			})
		}
		group.Wait()
		close(errs)
		return <-errs
	}
}

// BenchmarkHeavy measures what a person with a million rows changes: the same number of rows, and
// one in eight of them is that person's or somebody else's.
func BenchmarkHeavy(b *testing.B) {
	const rows, size = 1 << 23, 2048
	s := Spec{Groups: 1000, MaxGroups: 5, Unordered: true, Measures: []Measure{{Kind: Rows, Lo: new(big.Int), Hi: big.NewInt(10)},
		{Kind: Sum, Lo: new(big.Int), Hi: big.NewInt(1_000_000), Reach: 100_000}}}
	for _, heavy := range []bool{false, true} {
		b.Run("heavy="+strconv.FormatBool(heavy), func(b *testing.B) {
			var batches []*Batch
			for start := 0; start < rows; start += size {
				batch := &Batch{Ints: make([]int64, size), Groups: make([]int32, size), Values: [][]int64{nil, make([]int64, size)}}
				for i := range size {
					n := uint64(start + i)
					batch.Ints[i] = int64(mix(n) % (rows / 10))
					if heavy && n%8 == 0 {
						batch.Ints[i] = 7
					}
					batch.Groups[i], batch.Values[1][i] = int32(mix(n*31)%1000), int64(mix(n+7)%100_000)
				}
				batches = append(batches, batch)
			}
			for b.Loop() {
				if _, err := Run(context.Background(), s, feed(batches, 2)); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/rows, "ns/row")
		})
	}
}
