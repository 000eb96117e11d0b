package tree_test

import (
	"math/big"
	"testing"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/policy"
)

// world is a query reduced to what its sensitivity depends on.
type world struct {
	groups, maxGroups, rows, lo, hi int64
}

// query makes a query of that shape: a sum of one column, over one key.
func (w world) query(n dp.Neighbours) (*tree.Query, tree.Measure) {
	column := &tree.Column{Field: tree.Field{Name: "x", Type: tree.NumberType(tree.One, big.NewInt(w.lo), big.NewInt(w.hi), true)}}
	q := &tree.Query{
		From:       &tree.Scan{Table: &policy.Table{UnitKind: policy.Many}},
		Neighbours: n,
		Keys:       []tree.Key{{Expr: column, Values: make([]policy.Value, w.groups)}},
		RowLimit:   w.rows, GroupLimit: w.maxGroups,
	}
	return q, tree.Measure{Kind: tree.Sum, Arg: column}
}

// vectors calls f with every vector that one person can contribute, as the
// engine's steps define it: any rows with values in [lo, hi] in any groups, of
// which at most maxGroups are kept, the sums clamped to at most rows times the
// bounds. A person can have more rows than that, so every sum in the clamped interval
// can occur. Only the ends and 0 matter to a distance that is convex in every entry.
func (w world) vectors(f func([]int64)) {
	ends := []int64{0}
	if w.lo < 0 {
		ends = append(ends, w.rows*w.lo)
	}
	if w.hi > 0 {
		ends = append(ends, w.rows*w.hi)
	}
	v := make([]int64, w.groups)
	var fill func(g int, left int64)
	fill = func(g int, left int64) {
		if g == len(v) {
			f(v)
			return
		}
		for _, e := range ends {
			if e != 0 && left == 0 {
				continue
			}
			v[g] = e
			used := int64(0)
			if e != 0 {
				used = 1
			}
			fill(g+1, left-used)
		}
		v[g] = 0
	}
	fill(0, w.maxGroups)
}

func distance(a, b []int64, norm dp.Norm) int64 {
	sum := int64(0)
	for i := range a {
		d := a[i] - b[i]
		if norm == dp.L2 {
			d *= d
		}
		sum += max(d, -d)
	}
	return sum
}

// farthest returns the largest distance between the vectors of two neighbours.
func (w world) farthest(n dp.Neighbours, norm dp.Norm) int64 {
	far := int64(0)
	nobody := make([]int64, w.groups)
	w.vectors(func(a []int64) {
		if n == dp.AddRemove {
			far = max(far, distance(a, nobody, norm))
			return
		}
		a = append([]int64(nil), a...)
		w.vectors(func(b []int64) { far = max(far, distance(a, b, norm)) })
	})
	return far
}

func worlds(f func(world)) {
	for groups := int64(1); groups <= 4; groups++ {
		for c := int64(1); c <= groups+1; c++ {
			for rows := int64(1); rows <= 3; rows += 2 {
				for _, b := range [][2]int64{{0, 1}, {0, 5}, {-5, 0}, {-2, 3}, {-3, 2}, {-3, 3}, {2, 3}, {-3, -2}, {-1, 100}} {
					f(world{groups, c, rows, b[0], b[1]})
				}
			}
		}
	}
}

// TestSensitivityIsExact compares the bound with the largest distance among all that one person can
// do. It must hold, which is privacy, and be attained, which is all the noise that can be saved.
func TestSensitivityIsExact(t *testing.T) {
	worlds(func(w world) {
		for _, n := range []dp.Neighbours{dp.AddRemove, dp.Substitute} {
			q, m := w.query(n)
			for _, norm := range []dp.Norm{dp.L1, dp.L2} {
				if got, want := bound(q, m, norm), w.farthest(n, norm); got != want {
					t.Errorf("%+v, %v: %v is %d, but the farthest neighbours are %d apart", w, n, norm, got, want)
				}
			}
		}
	})
}

// largestMove returns how far one group of a person's vector is from that of a neighbour, at most.
func (w world) largestMove(n dp.Neighbours) int64 {
	far := int64(0)
	w.vectors(func(a []int64) {
		a = append([]int64(nil), a...)
		other := func(b []int64) {
			for i := range a {
				far = max(far, a[i]-b[i], b[i]-a[i])
			}
		}
		if other(make([]int64, w.groups)); n == dp.Substitute {
			w.vectors(other)
		}
	})
	return far
}

// TestLargestMoveIsExact does the same for what one group moves by, which Laplace noise is cheaper
// for in rho, and finds what is easily mistaken.
func TestLargestMoveIsExact(t *testing.T) {
	found := 0
	worlds(func(w world) {
		for _, n := range []dp.Neighbours{dp.AddRemove, dp.Substitute} {
			q, m := w.query(n)
			got, want := q.Sensitivity(m, dp.L1).Each().Int64(), w.largestMove(n)
			if got != want {
				t.Errorf("%+v, %v: one group moves by %d, and %d is claimed", w, n, want, got)
			}
			// Planted: as if one person were there or not.
			q, m = w.query(dp.AddRemove)
			if q.Sensitivity(m, dp.L1).Each().Int64() < want {
				found++
			}
		}
	})
	if found == 0 {
		t.Error("substitution moves a group as far as removal everywhere, and nobody sees it")
	}
}

// TestSensitivityOfPrivateKeys: where keys are private there can be as many groups as two people
// need to share none, however few values the public keys beside them have.
func TestSensitivityOfPrivateKeys(t *testing.T) {
	worlds(func(w world) {
		if w.groups != 2*w.maxGroups {
			return
		}
		for _, n := range []dp.Neighbours{dp.AddRemove, dp.Substitute} {
			q, m := w.query(n)
			private := tree.Key{Expr: q.Keys[0].Expr, Private: true}
			for _, keys := range [][]tree.Key{{private}, {{Expr: private.Expr, Values: make([]policy.Value, 3)}, private}} {
				q.Keys = keys
				for _, norm := range []dp.Norm{dp.L1, dp.L2} {
					if got, want := bound(q, m, norm), w.farthest(n, norm); got != want {
						t.Errorf("%+v, %v: %v is %d, but the farthest neighbours are %d apart", w, n, norm, got, want)
					}
				}
			}
		}
	})
}

func bound(q *tree.Query, m tree.Measure, norm dp.Norm) int64 {
	if s := q.Sensitivity(m, norm); norm == dp.L1 {
		return s.L1().Int64()
	} else {
		return s.L2Squared().Int64()
	}
}

// TestPlantedSensitivities shows that the comparison above finds the mistakes
// that are usually made.
func TestPlantedSensitivities(t *testing.T) {
	for name, wrong := range map[string]func(w world, n dp.Neighbours, norm dp.Norm) int64{
		"substitution costs as much as removal": func(w world, _ dp.Neighbours, norm dp.Norm) int64 {
			q, m := w.query(dp.AddRemove)
			return bound(q, m, norm)
		},
		"substitution costs twice as much": func(w world, n dp.Neighbours, norm dp.Norm) int64 {
			q, m := w.query(dp.AddRemove)
			if n == dp.Substitute {
				return 2 * bound(q, m, norm)
			}
			return bound(q, m, norm)
		},
		"l2 is not squared": func(w world, n dp.Neighbours, _ dp.Norm) int64 {
			q, m := w.query(n)
			return bound(q, m, dp.L1)
		},
		"one group is forgotten": func(w world, n dp.Neighbours, norm dp.Norm) int64 {
			w.maxGroups = max(1, w.maxGroups-1)
			q, m := w.query(n)
			return bound(q, m, norm)
		},
		"max_rows is forgotten": func(w world, n dp.Neighbours, norm dp.Norm) int64 {
			w.rows = 1
			q, m := w.query(n)
			return bound(q, m, norm)
		},
		"the lower bound is forgotten": func(w world, n dp.Neighbours, norm dp.Norm) int64 {
			if w.hi > 0 {
				w.lo = max(w.lo, 0)
			}
			q, m := w.query(n)
			return bound(q, m, norm)
		},
	} {
		found := 0
		worlds(func(w world) {
			for _, n := range []dp.Neighbours{dp.AddRemove, dp.Substitute} {
				for _, norm := range []dp.Norm{dp.L1, dp.L2} {
					if wrong(w, n, norm) != w.farthest(n, norm) {
						found++
					}
				}
			}
		})
		if found == 0 {
			t.Errorf("not found: %s", name)
		}
	}
}

// TestIntervalHoldsZero checks what the argument rests on: a person who is not
// there adds 0, so 0 must be possible.
func TestIntervalHoldsZero(t *testing.T) {
	worlds(func(w world) {
		q, m := w.query(dp.AddRemove)
		for _, m := range []tree.Measure{m, {Kind: tree.CountRows}, {Kind: tree.CountValues, Arg: m.Arg}} {
			lo, hi := q.Interval(m)
			if lo.Sign() > 0 || hi.Sign() < 0 {
				t.Error(w, lo, hi)
			}
		}
	})
}
