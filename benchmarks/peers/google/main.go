// Command google asks Google's Go library the questions of benchmarks/peers that it
// can answer, and prints what was shown and how far off it was, as JSON.
package main

import (
	"encoding/json"
	"log"
	"os"

	"github.com/google/differential-privacy/go/v3/dpagg"
	"github.com/google/differential-privacy/go/v3/noise"
)

// facts are the exact answers, and the limits of a person.
type facts struct {
	Keys         map[string]int64     `json:"keys"`
	Regions      map[string]int64     `json:"regions"`
	SumsByPerson map[string][]float64 `json:"sums_by_person"`
	Ages         []float64            `json:"ages"`
	Rows         int64                `json:"rows_of_a_customer"`
	MaxSum       float64              `json:"max_sum"`
	Times        int                  `json:"times"`
}

type result struct {
	Row    string    `json:"row"`
	System string    `json:"system"`
	Shown  []int     `json:"shown,omitempty"`
	Errors []float64 `json:"errors"`
}

const system = "Google Go 3.0.0"

func main() {
	var f facts
	text, err := os.ReadFile(os.Args[1])
	check(err)
	check(json.Unmarshal(text, &f))
	check(json.NewEncoder(os.Stdout).Encode([]result{keys(f), one(f), regions(f), sums(f)}))
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// count is of people with one row each, at epsilon 1.
func count(exact int64) *dpagg.Count {
	c, err := dpagg.NewCount(&dpagg.CountOptions{Epsilon: 1, MaxPartitionsContributed: 1, Noise: noise.Laplace()})
	check(err)
	check(c.IncrementBy(exact))
	return c
}

func keys(f facts) result {
	r := result{Row: "keys-laplace", System: system}
	for range 2 + f.Times/30 {
		shown := 0
		for _, exact := range f.Keys {
			got, err := count(exact).ThresholdedResult(1e-6)
			check(err)
			if got != nil {
				shown++
				r.Errors = append(r.Errors, float64(*got-exact))
			}
		}
		r.Shown = append(r.Shown, shown)
	}
	return r
}

func one(f facts) result {
	r := result{Row: "count", System: system}
	exact := int64(len(f.Ages))
	for range 10 * f.Times {
		got, err := count(exact).Result()
		check(err)
		r.Errors = append(r.Errors, float64(got-exact))
	}
	return r
}

// regions hides all orders of a customer, who has one region. The noise is what a count
// would add; dpagg.Count itself takes one row of a person.
func regions(f facts) result {
	r := result{Row: "regions", System: system}
	for range 2 * f.Times {
		for _, exact := range f.Regions {
			got, err := noise.Laplace().AddNoiseInt64(exact, 1, f.Rows, 1, 0)
			check(err)
			r.Errors = append(r.Errors, float64(got-exact))
		}
	}
	return r
}

// sums adds what each customer spent at a priority, clamped, in five partitions.
func sums(f facts) result {
	r := result{Row: "sums", System: system}
	for range 2 * f.Times {
		for _, persons := range f.SumsByPerson {
			s, err := dpagg.NewBoundedSumFloat64(&dpagg.BoundedSumFloat64Options{
				Epsilon: 1, MaxPartitionsContributed: int64(len(f.SumsByPerson)), Lower: 0, Upper: f.MaxSum, Noise: noise.Laplace()})
			check(err)
			exact := 0.0
			for _, x := range persons {
				exact += x
				check(s.Add(x))
			}
			got, err := s.Result()
			check(err)
			r.Errors = append(r.Errors, got-exact)
		}
	}
	return r
}
