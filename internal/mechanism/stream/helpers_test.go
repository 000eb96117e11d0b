package stream

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/account"
	"github.com/discreet-dp/discreet/dp/mech"
	"github.com/discreet-dp/discreet/internal/detrand"
	"github.com/discreet-dp/discreet/internal/entropy"
	"github.com/discreet-dp/discreet/internal/mechanism/session"
	"github.com/discreet-dp/discreet/internal/mechanism/stream/histogram"
	"github.com/discreet-dp/discreet/internal/mechanism/stream/linear"
	"github.com/discreet-dp/discreet/internal/sealed"
)

// domain returns a domain with so many values for each attribute.
func domain(t testing.TB, sizes ...int) *linear.Domain {
	t.Helper()
	var as []linear.Attribute
	for i, n := range sizes {
		a := linear.Attribute{Name: fmt.Sprintf("a%d", i)}
		for v := range n {
			a.Values = append(a.Values, fmt.Sprint(v))
		}
		as = append(as, a)
	}
	return must(linear.NewDomain(as...))
}

// loaderOf is a loader of what is there already.
func loaderOf(h *histogram.Table) Loader {
	return func(context.Context) (*histogram.Table, error) { return h, nil }
}

func dense(d *linear.Domain, counts []int64) *histogram.Table {
	return must(histogram.Dense(d, sealed.Seal(counts)))
}

// releaser draws the same noise for the same seed.
func releaser(seed uint64) *mech.Releaser {
	return mech.NewReleaser(entropy.FromReader(detrand.NewStream("stream", seed)))
}

// host returns a host with the budget of a configuration.
func host(c Config) *session.Memory {
	if c.Currency == mech.Pure {
		return session.NewMemory(account.PureFilter(c.Budget))
	}
	return session.NewMemory(account.ZCDPFilter(c.Budget, 0))
}

func open(t testing.TB, c Config, data *histogram.Table, seed uint64) (*Session, *session.Memory) {
	t.Helper()
	h := host(c)
	s := must(Open(context.Background(), c, loaderOf(data), releaser(seed), h))
	return s, h
}

// openDear opens a stream whose cache is so dear that rounds are bought from the first question on.
func openDear(t testing.TB, c Config, data *histogram.Table, seed uint64) *Session {
	t.Helper()
	p := must(calibrate(c))
	return openAt(t, c, p, data, seed)
}

func openAt(t testing.TB, c Config, p prices, data *histogram.Table, seed uint64) *Session {
	t.Helper()
	p.Cache *= 1000
	first := must(writeHead(c, p))
	h := host(c)
	if err := h.Append(context.Background(), first); err != nil {
		t.Fatal(err)
	}
	return must(Open(context.Background(), c, loaderOf(data), releaser(seed), h))
}

// subsets returns the query for a product of sets of values, as bits.
func subsets(t testing.TB, d *linear.Domain, steps int64, sets ...uint64) *linear.Query {
	t.Helper()
	var fs []linear.Factor
	for i, set := range sets {
		n := len(d.Attributes()[i].Values)
		if set == 1<<n-1 {
			continue
		}
		f := linear.Factor{Attributes: []int{i}, Weights: make([]int64, n)}
		for v := range n {
			f.Weights[v] = int64(set >> v & 1)
		}
		fs = append(fs, f)
	}
	return must(d.Query(steps, fs...))
}

// anySubsets draws a product of nonempty sets.
func anySubsets(t testing.TB, dice detrand.Choices, d *linear.Domain, steps int64) *linear.Query {
	sets := make([]uint64, len(d.Attributes()))
	for i, a := range d.Attributes() {
		sets[i] = 1 + uint64(dice.Below(1<<len(a.Values)-1))
	}
	return subsets(t, d, steps, sets...)
}

func amountOf(text string) dp.Amount { return must(dp.Parse(text)) }

func drawNormal(dice detrand.Choices) float64 {
	u := (float64(dice.Below(1<<30)) + 0.5) / (1 << 30)
	v := float64(dice.Below(1<<30)) / (1 << 30)
	return math.Sqrt(-2*math.Log(u)) * math.Cos(2*math.Pi*v)
}

func divideByWeights(n int64, weights []float64) []int64 {
	var sum float64
	for _, w := range weights {
		sum += w
	}
	out := make([]float64, len(weights))
	for i, w := range weights {
		out[i] = w / sum * float64(n)
	}
	return roundToIntegers(out)
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
