package learn

import (
	"context"
	"fmt"
	"math/big"
	"testing"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/detrand"
)

// BenchmarkTrain adds and trains rows of 100 weights, of which 49 are numbers.
func BenchmarkTrain(b *testing.B) {
	e := &Encoding{Target: Column{Name: "y", Values: []string{"no", "yes"}}}
	for i := range 49 {
		e.Features = append(e.Features, Column{Name: fmt.Sprint("x", i), Lo: -1000, Hi: 1000, Step: big.NewRat(1, 10)})
	}
	for i := range 5 {
		e.Features = append(e.Features,
			Column{Name: fmt.Sprint("c", i), Values: []string{"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"}})
	}
	for _, n := range []int{10_000, 200_000} {
		for _, method := range []string{Output, Objective} {
			p := prepared(b, e, Spec{Budget: Budget{Epsilon: dp.One}, Method: method, Rows: int64(n)}, one)
			b.Run(fmt.Sprintf("%d/%s", n, method), func(b *testing.B) {
				dice := detrand.New("bench", 1)
				codes := make([]int64, 55)
				for range b.N {
					b.StopTimer()
					t := p.NewTable()
					word := uint64(dice.Below(1<<62)) | 1
					next := func(n uint64) int64 { // fast, and good enough for a benchmark
						word ^= word << 13
						word ^= word >> 7
						word ^= word << 17
						return int64(word % n)
					}
					b.StartTimer()
					for range n {
						sum := int64(0)
						for j := range 49 {
							codes[j] = next(2001) - 1000
							sum += codes[j] * int64(j%3-1)
						}
						for j := 49; j < 54; j++ {
							codes[j] = next(10)
						}
						codes[54] = 0
						if sum+next(4000) > 2000 {
							codes[54] = 1
						}
						t.Add(codes)
					}
					read := b.Elapsed()
					if _, err := Fit(context.Background(), p, t, releaser(1), nil); err != nil {
						b.Fatal(err)
					}
					b.ReportMetric((b.Elapsed() - read).Seconds(), "fit-s")
				}
			})
		}
	}
}
