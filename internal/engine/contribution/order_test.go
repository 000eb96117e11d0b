package contribution

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/internal/test/daily"
)

// orderOf finds the order of rows, whatever their groups are.
func orderOf(t testing.TB, rows []row, text bool, size, goroutines int) *Order {
	s := Spec{Groups: 1, MaxGroups: 1, Measures: []Measure{{Kind: People}}}
	all := slices.Clone(rows)
	for i := range all {
		all[i].group, all[i].values = 0, nil
	}
	order, err := FindOrder(t.Context(), s, source(s, all, text, size, goroutines))
	if err != nil {
		t.Fatal(err)
	}
	return order
}

// given feeds batches from a number of goroutines.
func given(batches []*Batch, goroutines int) BatchReader {
	return func(take func(*Batch) error) error {
		var group sync.WaitGroup
		errs := make([]error, goroutines)
		for g := range goroutines {
			group.Go(func() {
				for i := g; i < len(batches) && errs[g] == nil; i += goroutines {
					errs[g] = take(batches[i])
				}
			})
		}
		group.Wait()
		return errors.Join(errs...)
	}
}

// asBatches feeds rows in batches that do not depend on which of them are left out.
func asBatches(s Spec, rows []row, text bool, size int, passes *int) BatchReader {
	from := source(s, rows, text, size, 3)
	return func(take func(*Batch) error) error { *passes++; return from(take) }
}

// merged feeds rows in batches as DuckDB's filter does: without those that are left out, and where
// few are left, with those of the same goroutine's next batches.
func merged(s Spec, rows []row, text bool, size int, passes *int) BatchReader {
	return func(take func(*Batch) error) error {
		*passes++
		var group sync.WaitGroup
		errs := make([]error, 2)
		for g := range errs {
			group.Go(func() {
				var few []row
				give := func(some []row) { errs[g] = errors.Join(errs[g], take(batchOf(s, some, text))) }
				for i := g * size; i < len(rows); i += 2 * size {
					some := slices.Clone(rows[i:min(len(rows), i+size)])
					some = slices.DeleteFunc(some, func(r row) bool { return r.group < 0 })
					if len(some) > size/2 {
						give(some)
					} else if few = append(few, some...); len(few) > size/2 {
						give(few)
						few = nil
					}
				}
				give(few)
			})
		}
		group.Wait()
		return errors.Join(errs...)
	}
}

// TestStrays has rows in the order of people, but for some that are anywhere: one reading, and what
// the definition says, with rows left out too.
func TestStrays(t *testing.T) {
	tried := map[string]int{}
	try := func(rt *rapid.T) {
		s := drawSpec(rt)
		text := rapid.Bool().Draw(rt, "text")
		rows := drawRows(rt, s, text)
		slices.SortStableFunc(rows, func(a, b row) int { return cmp.Compare(a.person, b.person) })
		size := rapid.SampledFrom([]int{3, 40, 200}).Draw(rt, "batch")
		moved := 0
		if len(rows) > 0 {
			moved = rapid.SampledFrom([]int{0, 1, 2, 10, 100}).Draw(rt, "moved")
		}
		for range moved {
			from, to := rapid.IntRange(0, len(rows)-1).Draw(rt, "from"), rapid.IntRange(0, len(rows)-1).Draw(rt, "to")
			r := rows[from]
			rows = slices.Insert(slices.Delete(rows, from, from+1), to, r)
		}
		s.Order = orderOf(t, rows, text, size, 2)
		passes := 0
		got, err := Run(context.Background(), s, asBatches(s, rows, text, size, &passes))
		if err != nil || fmt.Sprint(got) != fmt.Sprint(naive(s, rows, text)) {
			rt.Fatalf("not the definition (%v)", err)
		}
		if s.Order != nil && passes != 1 {
			rt.Fatalf("thought to be in order, and read %d times", passes)
		}
		passes = 0
		got, err = Run(context.Background(), s, merged(s, rows, text, size, &passes))
		if err != nil || fmt.Sprint(got) != fmt.Sprint(naive(s, rows, text)) || s.Order != nil && passes != 1 {
			rt.Fatalf("put together, and read %d times (%v)", passes, err)
		}
		tried[fmt.Sprintf("%v, strays %v", s.Order != nil, s.Order.hasStrays())]++
	}
	rapid.Check(t, try)
	again := rapid.Custom(func(rt *rapid.T) bool { try(rt); return true })
	for _, what := range []string{"true, strays false", "true, strays true", "false, strays false"} {
		for seed := 0; tried[what] == 0 && seed < 500; seed++ { // few draws may miss one; these are the same every day
			again.Example(seed)
		}
		if tried[what] == 0 {
			t.Errorf("never tried: %s", what)
		}
	}
	t.Log(tried)
}

// TestStraysOfOthers runs questions with strays who are not those of the rows: it is found out.
func TestStraysOfOthers(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := drawSpec(rt)
		text := rapid.Bool().Draw(rt, "text")
		rows := drawRows(rt, s, text)
		s.Order = orderOf(t, drawRows(rt, s, text), text, 20, 1)
		passes := 0
		got, err := Run(context.Background(), s, asBatches(s, rows, text, 50, &passes))
		if err != nil || fmt.Sprint(got) != fmt.Sprint(naive(s, rows, text)) {
			rt.Fatalf("not the definition (%v)", err)
		}
	})
}

// TestStrayCosts counts the rows that leave the order's way: some for each row that is out of
// order, and not all others. Before, one of them made a table one in no order.
func TestStrayCosts(t *testing.T) {
	const people, each, size = 5_000, 10, 2048
	s := counting(50, 3)
	var sorted []row
	for i := range people * each {
		n := mix(uint64(i))
		sorted = append(sorted, row{person(int64(i / each * 7)), int32(n % 50), []int64{0, int64(n>>20%201) - 100, 0}})
	}
	stray := func(i int) row {
		n := mix(uint64(i) + 1<<40)
		return row{person(int64(n % (people * 7))), int32(n >> 20 % 50), []int64{0, 5, 0}} // some are nobody else
	}
	cases := map[string]struct {
		k  int
		at func(i int) int // where the next of them goes
		of func(i int) row
	}{
		"none":            {0, nil, stray},
		"one behind":      {1, func(int) int { return people * each }, func(int) row { return sorted[5] }},
		"one in front":    {1, func(int) int { return 0 }, func(int) row { return sorted[people*each-50] }},
		"one in between":  {1, func(int) int { return 25_000 }, func(int) row { return sorted[7] }},
		"beyond all":      {1, func(int) int { return 25_000 }, func(int) row { return row{person(1 << 60), 1, []int64{0, 1, 0}} }},
		"ten behind":      {10, func(i int) int { return people*each + i }, stray},
		"ten anywhere":    {10, func(i int) int { return int(mix(uint64(i)) % (people * each)) }, stray},
		"many behind":     {1000, func(i int) int { return people*each + i }, stray},
		"many in front":   {1000, func(i int) int { return i }, stray},
		"many anywhere":   {1000, func(i int) int { return int(mix(uint64(i)) % (people * each)) }, stray},
		"one's, anywhere": {1000, func(i int) int { return int(mix(uint64(i)) % (people * each)) }, func(int) row { return sorted[7] }},
		"one's beyond all": {1000, func(i int) int { return int(mix(uint64(i)) % (people * each)) },
			func(int) row { return row{person(1 << 60), 1, []int64{0, 1, 0}} }},
	}
	for _, name := range daily.Sample(t, slices.Sorted(maps.Keys(cases)), 4) {
		c := cases[name]
		rows := slices.Clone(sorted)
		for i := range c.k {
			rows = slices.Insert(rows, c.at(i), c.of(i))
		}
		unordered := s
		unordered.Unordered = true
		batches := slices.Collect(func(yield func(*Batch) bool) {
			for some := range slices.Chunk(rows, size) {
				yield(batchOf(s, some, false))
			}
		})
		want, err := Run(t.Context(), unordered, given(batches, 2))
		if err != nil {
			t.Fatal(err)
		}
		for _, goroutines := range []int{1, 2, 4} {
			own := s
			if own.Order = orderOf(t, rows, false, size, goroutines); own.Order == nil {
				t.Errorf("%s: no order", name)
				continue
			}
			l, err := newLayout(own)
			if err != nil {
				t.Fatal(err)
			}
			o := newOperator(t.Context(), l)
			got, err := o.runInOrder(given(batches, goroutines))
			if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%s, %d goroutines: another result (%v)", name, goroutines, err)
			}
			strays := int64(0)
			for _, w := range o.workers {
				strays += w.clustered.strays
			}
			if strays > int64(c.k*(each+2)) {
				t.Errorf("%s: %d rows are out of order, and %d are taken for it", name, c.k, strays)
			}
		}
	}
}
