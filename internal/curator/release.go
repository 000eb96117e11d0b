package curator

import (
	"cmp"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/dp/mech"
	"github.com/discreet-dp/discreet/internal/curator/answercache"
	"github.com/discreet-dp/discreet/internal/curator/answers"
	"github.com/discreet-dp/discreet/internal/curator/pricing"
	"github.com/discreet-dp/discreet/internal/engine"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/internal/session/sessionhost"
	"github.com/discreet-dp/discreet/policy"
)

// releaser adds noise, by a generator of its own.
type releaser struct{ noise *mech.Releaser }

// release turns exact values into noisy ones. room is how many bytes the ledger has for what
// depends on how many private keys there are.
func (m *releaser) release(b *pricing.Purchase, r *engine.Result, base *answercache.Base, room int) (*answers.Released, error) {
	if !hasShape(b, r) {
		return nil, sessionhost.ErrRun // an engine that is broken
	}
	if b.Choice != nil {
		scores := r.Measures[0]
		if w := b.Query.Choice.Weights; w != nil {
			scores = scores.Scale(w)
		}
		chosen, err := m.noise.SelectTop(scores, b.Choice.Top)
		return &answers.Released{Chosen: chosen}, err
	}
	if base != nil {
		return m.sharpen(b, r, base)
	}
	out := &answers.Released{}
	groups := b.Query.Groups()
	places, units := []int{0}, []int64(nil)
	if b.Keys != nil {
		places, units = m.releaseKeys(b, r, out, room)
	}
	out.Measures, out.Quantiles = make([][]int64, len(b.Noise)), make([][][]int64, len(b.Noise))
	for _, p := range b.Twins { // one vector with one noise
		vector := r.Measures[p[0]].Pick(places, groups).Concat(r.Measures[p[1]].Pick(places, groups))
		both := m.noise.Release(vector, b.Noise[p[0]].Mechanism)
		half := len(both) / 2
		out.Measures[p[0]], out.Measures[p[1]] = both[:half:half], both[half:]
	}
	for i, n := range b.Noise {
		switch {
		case out.Measures[i] != nil:
		case n.Decides: // the numbers that were compared are those that are shown
			out.Measures[i] = units
		case n.Running != nil:
			out.Measures[i] = m.noise.ReleaseRunningTotals(r.Measures[i].Pick(places, groups), n.Running)
		case n.Quantiles == nil:
			out.Measures[i] = m.noise.Release(r.Measures[i].Pick(places, groups), n.Mechanism)
		default:
			all := make([][]int64, 0, len(places)*groups)
			for _, place := range places {
				for g := range groups {
					all = append(all, m.noise.ReleaseQuantiles(r.Values[i][place*groups+g], n.Quantiles))
				}
			}
			out.Quantiles[i] = all
		}
	}
	return out, nil
}

// hasShape reports whether a result has the shape that the query says.
func hasShape(b *pricing.Purchase, r *engine.Result) bool {
	combos := 1
	if len(b.Query.PrivateKeys()) > 0 {
		combos = r.Persons.Len()
	}
	if len(r.Measures) != len(b.Query.Measures) {
		return false
	}
	for i, m := range b.Query.Measures {
		if m.Kind == tree.Quantile {
			if len(r.Values) != len(b.Query.Measures) || len(r.Values[i]) != combos*b.Query.Groups() {
				return false
			}
		} else if r.Measures[i].Len() != combos*b.Query.Groups() {
			return false
		}
	}
	return true
}

// keptKey is a combination of private keys that was released.
type keptKey struct {
	place int
	keys  []policy.Value
	units int64 // its noisy number of people; 0 where none was released
}

// releaseKeys releases private keys, and returns their places in the order of the keys, with the
// noisy numbers that they were shown by: where a combination stood in the engine's result is
// private, and is forgotten with the order.
//
// Where more are released than the ledger can keep, those with the most people stay, by their noisy
// numbers, and of equals the first. Nothing else is looked at, so this tells no more than the keys
// do.
func (m *releaser) releaseKeys(b *pricing.Purchase, r *engine.Result, out *answers.Released, room int) ([]int, []int64) {
	people := r.Persons
	if i := slices.IndexFunc(b.Noise, func(n pricing.Noise) bool { return n.Decides }); i >= 0 {
		people = r.Measures[i]
	}
	all := m.keptKeys(b.Keys, r, people)
	slices.SortFunc(all, func(x, y keptKey) int {
		return cmp.Or(cmp.Compare(y.units, x.units), compareKeys(x.keys, y.keys))
	})
	n := 0
	for ; n < len(all); n++ {
		if room -= b.Cells()*pricing.CellBytes + answercache.KeyBytes(all[n].keys); room < 0 {
			break
		}
	}
	out.Dropped = len(all) - n
	all = all[:n]
	slices.SortFunc(all, func(x, y keptKey) int { return compareKeys(x.keys, y.keys) })
	places, units := make([]int, n), make([]int64, n)
	for i, k := range all {
		places[i], units[i] = k.place, k.units
		out.Keys = append(out.Keys, k.keys)
	}
	return places, units
}

// keptKeys releases the keys that enough people have.
func (m *releaser) keptKeys(rule *pricing.KeyRule, r *engine.Result, people mech.Exact) []keptKey {
	var all []keptKey
	switch {
	case rule.Selection != nil:
		for _, i := range m.noise.SelectKeys(people, rule.Selection) {
			all = append(all, keptKey{place: i})
		}
	case rule.Weights != nil:
		for _, k := range m.noise.ReleaseWeighedKeys(r.Members, people.Len(), rule.Weights) {
			all = append(all, keptKey{place: k.Index, units: k.Units})
		}
	default:
		for _, k := range m.noise.ReleaseKeys(people, rule.Threshold) {
			all = append(all, keptKey{place: k.Index, units: k.Units})
		}
	}
	places := make([]int, len(all))
	for i, k := range all {
		places[i] = k.place
	}
	for i, keys := range r.Combos.Pick(places) {
		all[i].keys = slices.Clone(keys)
		for j := range all[i].keys {
			// The ledger keeps UTF-8, and what is shown first is what is shown again.
			all[i].keys[j].Text = strings.ToValidUTF8(keys[j].Text, "\uFFFD")
		}
	}
	return all
}

// compareKeys orders combinations of keys; NULL comes last, as it does where PostgreSQL sorts.
func compareKeys(a, b []policy.Value) int {
	return slices.CompareFunc(a, b, func(x, y policy.Value) int {
		switch {
		case x.Null || y.Null:
			if x.Null == y.Null {
				return 0
			} else if x.Null {
				return 1
			}
			return -1
		}
		return cmp.Or(strings.Compare(x.Text, y.Text), cmp.Compare(x.Int, y.Int))
	})
}

// sharpen releases a purchase again with less noise.
func (m *releaser) sharpen(b *pricing.Purchase, r *engine.Result, base *answercache.Base) (*answers.Released, error) {
	out := &answers.Released{Quantiles: make([][][]int64, len(b.Noise))}
	for i, by := range base.By {
		values, off := base.Values[i], int64(0)
		if by != nil {
			var err error
			if values, err = m.noise.Sharpen(r.Measures[i], values, by); err != nil {
				return nil, sessionhost.ErrRun
			}
			off = by.ExtraSteps()
		}
		out.Measures, out.Off = append(out.Measures, values), append(out.Off, off)
	}
	return out, nil
}
