package reference

import (
	"cmp"
	"fmt"
	"maps"
	"math/big"
	"slices"

	"github.com/discreet-dp/discreet/internal/engine"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/internal/sealed"
	"github.com/discreet-dp/discreet/policy"
)

type total struct {
	q      *tree.Query
	groups map[group]*sums
	combos map[string]*combo
	people [][]string // the combinations that each is in
}

type sums struct {
	sums     []*big.Int
	distinct []map[string]bool
	values   [][]int64
}

// combo is a combination of private keys that was found.
type combo struct {
	keys    []policy.Value
	persons int64
}

// ranking orders the values of a person where there are too many: by how one is spelled, and what
// it is.
type ranking func(what string, v tree.Value) uint64

func (t *total) person(kept map[group]*partial, rank ranking) {
	found := map[string]bool{}
	for g, p := range kept {
		c := t.combos[g.private]
		if c == nil {
			c = &combo{keys: p.keys}
			t.combos[g.private] = c
		}
		if !found[g.private] {
			found[g.private] = true
			c.persons++
		}
		t.add(g, p, rank)
	}
	if len(found) > 0 {
		t.people = append(t.people, slices.Collect(maps.Keys(found)))
	}
}

// members are the combinations that each person is in, by their places.
func (t *total) members(names []string, keys [][]policy.Value) sealed.Members {
	var places []int32
	var ends []int
	for _, own := range t.people {
		for _, name := range own {
			place, _ := slices.BinarySearch(names, name)
			places = append(places, int32(place))
		}
		ends = append(ends, len(places))
	}
	return engine.SealMembers(t.q, keys, places, ends)
}

func (t *total) add(g group, p *partial, rank ranking) {
	s := t.groups[g]
	if s == nil {
		n := len(t.q.Measures)
		s = &sums{distinct: make([]map[string]bool, n), values: make([][]int64, n)}
		for m := range n {
			s.sums, s.distinct[m] = append(s.sums, new(big.Int)), map[string]bool{}
		}
		t.groups[g] = s
	}
	for m, measure := range t.q.Measures {
		switch measure.Kind {
		case tree.CountDistinct:
			all := map[string]tree.Value{}
			for _, v := range p.values[m] {
				all[fmt.Sprint(v)] = v
			}
			for _, name := range t.first(slices.Collect(maps.Keys(all)), g, rank, func(n string) tree.Value { return all[n] }) {
				s.distinct[m][name] = true
			}
		case tree.Quantile:
			byName := map[string]int64{}
			var names []string
			for i, v := range p.values[m] {
				name := fmt.Sprint(v) + " "
				for k := 0; ; k++ { // the same value again is another one
					if _, ok := byName[name+fmt.Sprint(k)]; !ok {
						name += fmt.Sprint(k)
						break
					}
				}
				byName[name], names = keyValue(p.values[m][i]).Int, append(names, name)
			}
			for _, name := range t.first(names, g, rank, func(n string) tree.Value { return big.NewInt(byName[n]) }) {
				s.values[m] = append(s.values[m], byName[name])
			}
		default:
			v := p.sums[m]
			if t.q.Bounded() {
				lo, hi := t.q.Interval(measure)
				v = clamp(v, lo, hi)
			}
			s.sums[m].Add(s.sums[m], v)
		}
	}
}

// first keeps MaxRows of a person's values in a group.
func (t *total) first(names []string, g group, rank ranking, value func(name string) tree.Value) []string {
	if !t.q.Bounded() || int64(len(names)) <= t.q.MaxRows() {
		return names
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(rank(g.String()+a, value(a)), rank(g.String()+b, value(b))), cmp.Compare(a, b))
	})
	return names[:t.q.MaxRows()]
}

// sumLimit is where a group's sum is clamped, so that it is an int64. That moves no two numbers
// apart.
var sumLimit = new(big.Int).Lsh(big.NewInt(1), 62)

func (t *total) result() *engine.Result {
	q, out := t.q, &engine.Result{}
	names := []string{""}
	if len(q.PrivateKeys()) > 0 {
		names = slices.Sorted(maps.Keys(t.combos))
		var combos [][]policy.Value
		var persons []int64
		for _, name := range names {
			combos, persons = append(combos, t.combos[name].keys), append(persons, t.combos[name].persons)
		}
		out.Combos, out.Persons = sealed.SealList(combos), sealed.Seal(persons)
		if q.Weighs() {
			out.Members = t.members(names, combos)
		}
	}
	for m, measure := range q.Measures {
		vector, values := []int64{}, []sealed.Vector(nil)
		for _, name := range names {
			for i := range q.Groups() {
				s := t.groups[group{name, i}]
				switch {
				case measure.Kind == tree.Quantile && s == nil:
					values = append(values, sealed.Seal(nil))
				case measure.Kind == tree.Quantile:
					values = append(values, sealed.Seal(s.values[m]))
				case s == nil:
					vector = append(vector, 0)
				case measure.Kind == tree.CountDistinct:
					vector = append(vector, int64(len(s.distinct[m])))
				default:
					vector = append(vector, clamp(s.sums[m], new(big.Int).Neg(sumLimit), sumLimit).Int64())
				}
			}
		}
		out.Measures, out.Values = append(out.Measures, sealed.Seal(vector)), append(out.Values, values)
	}
	return out
}
