package stream

import (
	"math/rand/v2"
	"testing"

	"github.com/discreet-dp/discreet/internal/stream/linear"
)

// What is written of a query is read as the same query.
func TestQueryInTheJournal(t *testing.T) {
	d, err := linear.NewDomain(linear.Attribute{Name: "a", Values: []string{"1", "2"}},
		linear.Attribute{Name: "b", Values: []string{"1", "2", "3"}}, linear.Attribute{Name: "c", Values: []string{"1", "2"}})
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 20000 {
		steps := []int64{1, 2, 3, 4, 6, 12, 100}[r.IntN(7)]
		var fs []linear.Factor
		for range r.IntN(4) {
			var f linear.Factor
			n := 1
			for a := range 3 {
				if r.IntN(2) == 0 {
					f.Attributes = append(f.Attributes, a)
					n *= len(d.Attributes()[a].Values)
				}
			}
			for range n {
				w := r.Int64N(steps + 1)
				if r.IntN(2) == 0 {
					w = []int64{0, 1, steps, steps / 2}[r.IntN(4)]
				}
				f.Weights = append(f.Weights, w)
			}
			fs = append(fs, f)
		}
		q, err := d.Query(steps, fs...)
		if err != nil {
			continue
		}
		c := Config{Domain: d, Steps: steps}
		e := newEntry('x').query(q)
		again := (&reader{b: e.b[1:]}).query(c)
		if again == nil || again.Key() != q.Key() {
			t.Fatalf("steps %d, %v is read as another", steps, fs)
		}
		for a := range 2 {
			for b := range 3 {
				for k := range 2 {
					if w := q.Weight([]int{a, b, k}); w < 0 || w > steps || w != again.Weight([]int{a, b, k}) {
						t.Fatalf("steps %d, %v has weight %d", steps, fs, w)
					}
				}
			}
		}
	}
}
