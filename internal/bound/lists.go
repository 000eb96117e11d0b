package bound

import (
	"context"
	"runtime"
	"slices"
	"sync"
)

// Collect returns the values of each group, sorted, of those rows that Pick keeps of each person.
// The first measure is Pick's Flag, and the last one is the value; there may be only one.
func Collect(ctx context.Context, s Spec, source Source) ([][]int64, error) {
	if s.Pick == nil || s.Pick.Flag != 0 || len(s.Measures) == 0 {
		return nil, errSpec
	}
	pick := *s.Pick
	var last *lists
	pick.Sink = func() Sink { last = &lists{groups: s.Groups}; return last }
	s.Pick = &pick
	if _, err := Run(ctx, s, source); err != nil {
		return nil, err
	}
	return last.sorted(ctx)
}

// lists are values of groups, as they come.
type lists struct {
	groups int
	mu     sync.Mutex
	parts  []listed
}

type listed struct {
	groups []int32
	values []int64
}

// Take keeps the rows that have a value.
func (t *lists) Take(groups []int32, values [][]int64) {
	flags, value := values[0], values[len(values)-1]
	p := listed{make([]int32, 0, len(groups)), make([]int64, 0, len(groups))}
	for i, g := range groups {
		if flags[i] != 0 {
			p.groups, p.values = append(p.groups, g), append(p.values, value[i])
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.parts = append(t.parts, p)
}

// sorted returns the values of each group in their order: they are counted, placed and sorted.
func (t *lists) sorted(ctx context.Context) ([][]int64, error) {
	ends := make([]int, t.groups+1)
	for _, p := range t.parts {
		for _, g := range p.groups {
			ends[g+1]++
		}
	}
	for g := range t.groups {
		ends[g+1] += ends[g]
	}
	all := make([]int64, ends[t.groups])
	for k, p := range t.parts {
		for i, g := range p.groups {
			all[ends[g]] = p.values[i]
			ends[g]++
		}
		t.parts[k] = listed{}
	}
	out := make([][]int64, t.groups)
	var done sync.WaitGroup
	n := runtime.GOMAXPROCS(0)
	for worker := range n {
		done.Go(func() {
			for g := worker; g < len(out) && ctx.Err() == nil; g += n {
				start := 0 // each group's start has become its end
				if g > 0 {
					start = ends[g-1]
				}
				if ends[g] > start {
					out[g] = all[start:ends[g]:ends[g]]
					slices.Sort(out[g])
				}
			}
		})
	}
	done.Wait()
	return out, ctx.Err()
}
