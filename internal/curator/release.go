package curator

import (
	"cmp"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/internal/answers"
	"github.com/discreet-dp/discreet/internal/engine"
	"github.com/discreet-dp/discreet/internal/interactive"
	"github.com/discreet-dp/discreet/internal/memory"
	"github.com/discreet-dp/discreet/internal/plan/tree"
	"github.com/discreet-dp/discreet/internal/pricing"
	"github.com/discreet-dp/discreet/mech"
	"github.com/discreet-dp/discreet/policy"
)

// release turns exact values into noisy ones. room is how many bytes the ledger has for what
// depends on how many private keys there are.
func (c *Curator) release(b *pricing.Purchase, r *engine.Result, base *memory.Base, room int) (*answers.Released, error) {
	if !fitting(b, r) {
		return nil, interactive.ErrRun // an engine that is broken
	}
	if b.Choice != nil {
		scores := r.Measures[0]
		if w := b.Query.Choice.Weights; w != nil {
			scores = scores.Weighted(w)
		}
		chosen, err := c.releaser.Top(scores, b.Choice.Top)
		return &answers.Released{Chosen: chosen}, err
	}
	if base != nil {
		return c.sharpen(b, r, base)
	}
	out := &answers.Released{}
	groups := b.Query.Groups()
	places, units := []int{0}, []int64(nil)
	if b.Keys != nil {
		places, units = c.releaseKeys(b, r, out, room)
	}
	out.Measures, out.Quantiles = make([][]int64, len(b.Noise)), make([][][]int64, len(b.Noise))
	for _, p := range b.Twins { // one vector with one noise
		vector := r.Measures[p[0]].Pick(places, groups).Beside(r.Measures[p[1]].Pick(places, groups))
		both := c.releaser.Release(vector, b.Noise[p[0]].Mechanism)
		half := len(both) / 2
		out.Measures[p[0]], out.Measures[p[1]] = both[:half:half], both[half:]
	}
	for i, n := range b.Noise {
		switch {
		case out.Measures[i] != nil:
		case n.Decides: // the numbers that were compared are those that are shown
			out.Measures[i] = units
		case n.Running != nil:
			out.Measures[i] = c.releaser.ReleaseRunning(r.Measures[i].Pick(places, groups), n.Running)
		case n.Quantiles == nil:
			out.Measures[i] = c.releaser.Release(r.Measures[i].Pick(places, groups), n.Mechanism)
		default:
			all := make([][]int64, 0, len(places)*groups)
			for _, place := range places {
				for g := range groups {
					all = append(all, c.releaser.Quantiles(r.Values[i][place*groups+g], n.Quantiles))
				}
			}
			out.Quantiles[i] = all
		}
	}
	return out, nil
}

// fitting reports whether a result has the shape that the query says.
func fitting(b *pricing.Purchase, r *engine.Result) bool {
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

// kept is a combination of private keys that was released.
type kept struct {
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
func (c *Curator) releaseKeys(b *pricing.Purchase, r *engine.Result, out *answers.Released, room int) ([]int, []int64) {
	people := r.Persons
	if i := slices.IndexFunc(b.Noise, func(n pricing.Noise) bool { return n.Decides }); i >= 0 {
		people = r.Measures[i]
	}
	all := c.keptKeys(b.Keys, r, people)
	slices.SortFunc(all, func(x, y kept) int {
		return cmp.Or(cmp.Compare(y.units, x.units), compareKeys(x.keys, y.keys))
	})
	n := 0
	for ; n < len(all); n++ {
		if room -= b.Cells()*pricing.CellBytes + memory.KeyBytes(all[n].keys); room < 0 {
			break
		}
	}
	out.Dropped = len(all) - n
	all = all[:n]
	slices.SortFunc(all, func(x, y kept) int { return compareKeys(x.keys, y.keys) })
	places, units := make([]int, n), make([]int64, n)
	for i, k := range all {
		places[i], units[i] = k.place, k.units
		out.Keys = append(out.Keys, k.keys)
	}
	return places, units
}

// keptKeys releases the keys that enough people have.
func (c *Curator) keptKeys(rule *pricing.KeyRule, r *engine.Result, people mech.Exact) []kept {
	var all []kept
	switch {
	case rule.Selection != nil:
		for _, i := range c.releaser.SelectKeys(people, rule.Selection) {
			all = append(all, kept{place: i})
		}
	case rule.Weights != nil:
		for _, k := range c.releaser.ReleaseWeighed(r.Members, people.Len(), rule.Weights) {
			all = append(all, kept{place: k.Index, units: k.Units})
		}
	default:
		for _, k := range c.releaser.ReleaseKeys(people, rule.Threshold) {
			all = append(all, kept{place: k.Index, units: k.Units})
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
