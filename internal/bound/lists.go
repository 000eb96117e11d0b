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
	pick.Sink = func() Sink { last = &lists{groups: make([]list, s.Groups)}; return last }
	s.Pick = &pick
	if _, err := Run(ctx, s, source); err != nil {
		return nil, err
	}
	return last.sorted(ctx)
}

// lists are values by group.
type lists struct {
	groups []list
	locks  [256]sync.Mutex // a group has that of its number's lowest bits
}

type list struct{ values []int64 }

// Take adds rows to their groups.
func (t *lists) Take(groups []int32, values [][]int64) {
	flags, value := values[0], values[len(values)-1]
	for i, g := range groups {
		if flags[i] == 0 {
			continue
		}
		lock := &t.locks[int(g)%len(t.locks)]
		lock.Lock()
		l := &t.groups[g]
		l.values = append(l.values, value[i])
		lock.Unlock()
	}
}

// sorted returns the values of each group in their order.
func (t *lists) sorted(ctx context.Context) ([][]int64, error) {
	out := make([][]int64, len(t.groups))
	var all sync.WaitGroup
	n := runtime.GOMAXPROCS(0)
	for worker := range n {
		all.Go(func() {
			for g := worker; g < len(out) && ctx.Err() == nil; g += n {
				out[g] = t.groups[g].values
				slices.Sort(out[g])
			}
		})
	}
	all.Wait()
	return out, ctx.Err()
}
