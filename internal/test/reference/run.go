package reference

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"math/big"
	"slices"
	"time"

	"github.com/discreet-dp/discreet/internal/engine"
	"github.com/discreet-dp/discreet/internal/planner/expr"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/internal/sealed"
	"github.com/discreet-dp/discreet/policy"
)

// group is a combination of keys: of private ones, spelled, and the number of the public ones.
type group struct {
	private string
	public  int
}

func (g group) String() string { return fmt.Sprintf("%d %s", g.public, g.private) }

// partial is what one person has in one group.
type partial struct {
	keys   []policy.Value // the private ones
	sums   []*big.Int     // by measure
	values [][]tree.Value // by measure, for those of different values and of quantiles
	// counted is by how many rows each sum is scaled.
	counted []int64
}

// Run computes a query. It does not fail.
func (e *Engine) Run(_ context.Context, q *tree.Query) (*engine.Result, error) {
	r := run{e, map[tree.Relation][]row{}}
	people := map[string]map[group]*partial{}
	for i, values := range r.rows(q.From) {
		unit := values[q.From.Unit()]
		// Rows of nobody are left out, but where nobody has two a row without a name is one of its
		// own.
		if unit == nil && q.Bounded() || !r.holds(q.Where, values) {
			continue
		}
		g, keys, ok := r.group(q, values)
		if !ok {
			continue
		}
		person := fmt.Sprint(unit)
		if !q.Bounded() {
			person = fmt.Sprint("#", i) // nobody has two, and nobody looks
		}
		if people[person] == nil {
			people[person] = map[group]*partial{}
		}
		p := people[person][g]
		if p == nil {
			p = &partial{keys: keys, values: make([][]tree.Value, len(q.Measures)), counted: make([]int64, len(q.Measures))}
			for range q.Measures {
				p.sums = append(p.sums, new(big.Int))
			}
			people[person][g] = p
		}
		r.add(q, p, values)
	}
	t := total{q: q, groups: map[group]*sums{}, combos: map[string]*combo{}}
	hash := q.Hash()
	for _, person := range slices.Sorted(maps.Keys(people)) {
		t.person(e.kept(q, hash, person, people[person]), func(what string, v tree.Value) uint64 {
			return e.numberOf(Choice{Hash: hash, Person: e.name(q, person), Value: v}, what)
		})
	}
	return t.result(), nil
}

// name is what a choice may know about who a person is. Where every row is a person, that is
// nothing.
func (e *Engine) name(_ *tree.Query, person string) string {
	if e.dataset.Unit.Row() {
		return ""
	}
	return person
}

// kept cuts a person to the groups that count.
func (e *Engine) kept(q *tree.Query, hash, person string, groups map[group]*partial) map[group]*partial {
	if !q.Bounded() || int64(len(groups)) <= q.MaxGroups() {
		return groups
	}
	all := slices.SortedFunc(maps.Keys(groups), func(a, b group) int {
		rank := func(g group) uint64 {
			keys := append(q.Group(g.public), groups[g].keys...)
			c := Choice{Hash: hash, Person: e.name(q, person), Keys: keys, Public: len(q.PublicKeys()), Place: g.public}
			return e.numberOf(c, g.String())
		}
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a.String(), b.String()))
	})
	out := map[group]*partial{}
	for _, g := range all[:q.MaxGroups()] {
		out[g] = groups[g]
	}
	return out
}

// group finds the group of a row. A row whose key is not public has none.
func (r run) group(q *tree.Query, values row) (g group, private []policy.Value, ok bool) {
	for _, k := range q.Keys {
		v := expr.Eval(k.Expr, r.leaf(values))
		if k.Private {
			private = append(private, keyValue(v))
			g.private += fmt.Sprintf("%q ", fmt.Sprint(v))
			continue
		}
		i := slices.IndexFunc(k.Values, func(key policy.Value) bool { return isKey(v, key) })
		if i < 0 {
			return g, nil, false
		}
		g.public = g.public*len(k.Values) + i
	}
	return g, private, true
}

func (r run) add(q *tree.Query, p *partial, values row) {
	for m, measure := range q.Measures {
		var v tree.Value
		if measure.Arg != nil {
			v = expr.Eval(measure.Arg, r.leaf(values))
		}
		switch measure.Kind {
		case tree.CountRows:
			p.sums[m].Add(p.sums[m], one.Num())
		case tree.CountValues:
			if v != nil {
				p.sums[m].Add(p.sums[m], one.Num())
			}
		case tree.CountPersons:
			if values[q.From.Unit()] != nil && (measure.Arg == nil || v != nil) {
				p.sums[m] = big.NewInt(1)
			}
		case tree.Sum:
			if v != nil {
				x := v.(*big.Int)
				if !q.Bounded() { // a row is all that a person adds
					lo, hi := q.Interval(measure)
					x = clamp(x, lo, hi)
				}
				p.sums[m].Add(p.sums[m], x)
			}
			if v != nil || measure.Scaled == tree.ByRows {
				p.counted[m]++
			}
		case tree.CountDistinct, tree.Quantile:
			if v != nil {
				p.values[m] = append(p.values[m], v)
			}
		}
	}
}

// Declared reads a stored value as the policy declares its column.
func Declared(c *policy.Column, stored any) tree.Value {
	switch c.Type {
	case policy.Text:
		if s, ok := stored.(string); ok {
			return s
		}
	case policy.Boolean:
		if b, ok := stored.(bool); ok {
			return b
		}
	case policy.Date:
		if t, ok := stored.(time.Time); ok {
			stored = int64(math.Floor(float64(t.Unix()) / (24 * 60 * 60)))
		}
		if d, ok := stored.(int64); ok {
			return tree.Day(clampTo(c, d))
		}
	case policy.Timestamp:
		if t, ok := stored.(time.Time); ok {
			stored = t.UnixMicro()
		}
		if micros, ok := stored.(int64); ok {
			return tree.Moment(clampTo(c, micros))
		}
	case policy.Integer, policy.Decimal:
		return number(c, stored)
	}
	return nil
}

// number puts a stored number on the column's lattice. Where the lattice is not the integers it is
// rounded in floating point, to the nearest and from the middle to even, row by row and inside of
// the clamp.
func number(c *policy.Column, stored any) tree.Value {
	if n, ok := stored.(int64); ok {
		if c.Type == policy.Integer && c.Granularity.Cmp(one) == 0 {
			return big.NewInt(clampTo(c, n))
		}
		stored = float64(n)
	}
	x, ok := stored.(float64)
	if !ok || math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	if c.Granularity == nil {
		return x
	}
	num, _ := new(big.Float).SetInt(c.Granularity.Num()).Float64()
	den, _ := new(big.Float).SetInt(c.Granularity.Denom()).Float64()
	x = math.RoundToEven(x * den / num)
	if !(x >= -1<<63 && x < 1<<63) {
		return nil // no 64-bit integer
	}
	return big.NewInt(clampTo(c, int64(x)))
}

var one = big.NewRat(1, 1)

func clampTo(c *policy.Column, steps int64) int64 {
	if c.Bounds == nil {
		return steps
	}
	return min(max(steps, c.Bounds.LoSteps), c.Bounds.HiSteps)
}

// identity names a stored value, so that two have the same name where they are equal.
func identity(stored any) tree.Value {
	switch v := stored.(type) {
	case nil:
		return nil
	case string:
		return fmt.Sprintf("%q", v)
	default:
		return fmt.Sprint(v)
	}
}

func keyValue(v tree.Value) policy.Value {
	switch v := v.(type) {
	case string:
		return policy.Value{Type: policy.Text, Text: v}
	case bool:
		if v {
			return policy.Value{Type: policy.Boolean, Int: 1}
		}
		return policy.Value{Type: policy.Boolean}
	case tree.Day:
		return policy.Value{Type: policy.Date, Int: int64(v)}
	case tree.Moment:
		return policy.Value{Type: policy.Timestamp, Int: int64(v)}
	case *big.Int:
		return policy.Value{Type: policy.Integer, Int: v.Int64()}
	}
	return policy.Value{Null: true}
}

// isKey reports whether a value is a key. A number that no key can hold is none.
func isKey(v tree.Value, k policy.Value) bool {
	if n, ok := v.(*big.Int); ok && !n.IsInt64() {
		return false
	}
	w := keyValue(v)
	return w.Null == k.Null && (w.Null || w.Text == k.Text && w.Int == k.Int)
}

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
				if measure.Scaled != tree.Unscaled {
					v = scaled(v, p.counted[m], t.q.MaxRows())
				}
				lo, hi := t.q.Interval(measure)
				v = clamp(v, lo, hi)
			}
			s.sums[m].Add(s.sums[m], v)
		}
	}
}

// scaled is most times the mean of so many values, where they are more than that.
func scaled(sum *big.Int, values, most int64) *big.Int {
	if values <= most {
		return sum
	}
	x := new(big.Rat).SetFrac(new(big.Int).Mul(sum, big.NewInt(most)), big.NewInt(values))
	text := x.FloatString(0) // to the nearest, halves away from zero
	out, _ := new(big.Int).SetString(text, 10)
	return out
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
