package histogram

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/discreet-dp/discreet/internal/mechanism/stream/linear"
	"github.com/discreet-dp/discreet/internal/sealed"
)

func domain(t testing.TB, sizes ...int) *linear.Domain {
	t.Helper()
	var attributes []linear.Attribute
	for i, n := range sizes {
		a := linear.Attribute{Name: fmt.Sprint("a", i)}
		for v := range n {
			a.Values = append(a.Values, fmt.Sprint(v))
		}
		attributes = append(attributes, a)
	}
	return must(linear.NewDomain(attributes...))
}

func randomQuery(r *rand.Rand, d *linear.Domain, steps int64) *linear.Query {
	var factors []linear.Factor
	for a, x := range d.Attributes() {
		if r.IntN(2) == 0 {
			f := linear.Factor{Attributes: []int{a}, Weights: make([]int64, len(x.Values))}
			for i := range f.Weights {
				f.Weights[i] = r.Int64N(2)
			}
			factors = append(factors, f)
		}
	}
	if steps > 1 && r.IntN(2) == 0 {
		f := linear.Factor{Attributes: []int{0, 2}}
		for range d.Size(f.Attributes) {
			f.Weights = append(f.Weights, r.Int64N(steps+1))
		}
		factors = append(factors, f)
	}
	q, err := d.Query(steps, factors...)
	if err != nil {
		panic(err)
	}
	return q
}

// All ways of adding up agree with the definition.
func TestAnswer(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	d := domain(t, 3, 4, 5, 6)
	for round := range 200 {
		counts := make([]int64, d.Cells())
		var cells, some []int64
		for i := range counts {
			if r.IntN(3) == 0 {
				counts[i] = r.Int64N(100)
				part := r.Int64N(counts[i] + 1)
				cells, some = append(cells, int64(i), int64(i)), append(some, part, counts[i]-part)
			}
		}
		r.Shuffle(len(cells), func(i, j int) {
			cells[i], cells[j] = cells[j], cells[i]
			some[i], some[j] = some[j], some[i]
		})
		dense := must(Dense(d, sealed.Seal(counts)))
		sparse := must(Sparse(d, sealed.Seal(cells), sealed.Seal(some)))
		// Without room for marginals a conjunction goes over bitmaps, and without these over cells.
		narrow, _ := Dense(d, sealed.Seal(counts))
		narrow.open().room = 0
		for range 20 {
			q := randomQuery(r, d, []int64{1, 7}[round%2])
			var want int64
			for i, c := range counts {
				want += c * q.Weight(d.Codes(i))
			}
			for name, table := range map[string]*Table{"dense": dense, "sparse": sparse, "narrow": narrow} {
				if got := table.Answer(q).Open(); len(got) != 1 || got[0] != want {
					t.Fatalf("%s: %v, want %d", name, got, want)
				}
			}
		}
	}
}

// One person more moves an answer by at most steps, however absurd the counts are.
func TestSensitivity(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	d := domain(t, 3, 4, 5)
	absurd := []int64{math.MinInt64, -1, 0, 1, maxCount - 1, maxCount, maxCount + 1, math.MaxInt64 - 1}
	for range 3000 {
		counts := make([]int64, d.Cells())
		for i := range counts {
			counts[i] = absurd[r.IntN(len(absurd))]
		}
		more := append([]int64{}, counts...)
		more[r.IntN(len(more))]++
		q := randomQuery(r, d, []int64{1, 7, linear.MaxSteps}[r.IntN(3)])
		a, _ := Dense(d, sealed.Seal(counts))
		b, _ := Dense(d, sealed.Seal(more))
		x, y := a.Answer(q).Open()[0], b.Answer(q).Open()[0]
		if y < x || y-x > q.Steps() || x < 0 {
			t.Fatalf("%d and %d for %d steps", x, y, q.Steps())
		}
		// The same with cells that the domain does not have, and with cells in pieces.
		cells := []int64{-1, 0, 0, int64(d.Cells()), math.MaxInt64, 1}
		some := append([]int64{}, counts[:6]...)
		e, _ := Sparse(d, sealed.Seal(cells), sealed.Seal(some))
		some = append([]int64{}, some...)
		some[r.IntN(6)]++
		f, _ := Sparse(d, sealed.Seal(cells), sealed.Seal(some))
		if x, y = e.Answer(q).Open()[0], f.Answer(q).Open()[0]; y < x || y-x > q.Steps() || x < 0 {
			t.Fatalf("sparse: %d and %d for %d steps", x, y, q.Steps())
		}
	}
}

func TestBadTables(t *testing.T) {
	d := domain(t, 3, 4)
	if _, err := Dense(d, sealed.Seal(make([]int64, 11))); err == nil || !strings.Contains(err.Error(), "11 counts for 12 cells") {
		t.Error(err)
	}
	if _, err := Sparse(d, sealed.Seal([]int64{1}), sealed.Seal(nil)); err == nil {
		t.Error("one cell without its count")
	}
}

func TestTableDoesNotShow(t *testing.T) {
	d := domain(t, 2)
	table := must(Dense(d, sealed.Seal([]int64{987654321, 987654321})))
	q, _ := d.Where(nil)
	table.Answer(q) // with a marginal
	for _, x := range []any{table, *table, struct{ t *Table }{table}, struct{ t Table }{*table}, []*Table{table}} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%d", "%s"} {
			if text := fmt.Sprintf(verb, x); strings.Contains(text, "987654321") || strings.Contains(text, "3ade68b1") {
				t.Errorf("%s shows %s", verb, text)
			}
		}
	}
	if text, err := json.Marshal(table); err == nil {
		t.Errorf("JSON is %s", text)
	}
}

// Many ask at once, also for what nobody asked before.
func TestConcurrent(t *testing.T) {
	d := domain(t, 3, 4, 5, 6)
	counts := make([]int64, d.Cells())
	for i := range counts {
		counts[i] = int64(i % 7)
	}
	for _, room := range []int{allMarginals, 0} {
		table := must(Dense(d, sealed.Seal(counts)))
		table.open().room = room
		var wait sync.WaitGroup
		for seed := range uint64(4) {
			wait.Go(func() {
				r := rand.New(rand.NewPCG(seed, 1))
				for range 300 {
					q := randomQuery(r, d, 1)
					var want int64
					q.Runs(func(from, to int, weight int64) {
						for _, c := range counts[from:to] {
							want += c * weight
						}
					})
					if got := table.Answer(q).Open()[0]; got != want {
						t.Errorf("%d, want %d", got, want)
						return
					}
				}
			})
		}
		wait.Wait()
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
