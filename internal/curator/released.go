package curator

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/internal/plan/tree"
	"github.com/discreet-dp/discreet/policy"
)

// released is what came of a purchase: noisy integers, and keys and groups that a mechanism has chosen. It is public.
type released struct {
	// Measures are the noisy vectors; nil for quantiles. Quantiles are, for each measure that is one, those of each group.
	Measures  [][]int64
	Quantiles [][][]int64
	// Keys are the combinations of private keys that are shown, sorted.
	Keys [][]policy.Value
	// Dropped is how many more were released than the ledger can keep.
	Dropped int
	// Chosen are the groups of a choice, best first.
	Chosen []int

	// sequence is the charge that paid for it, where that was before. The rest is for what was made of another purchase's values:
	// which charge paid for these, the noise in them, and how many of them are in each group.
	sequence uint64
	derived  uint64
	noise    []noise
	cells    []int
	// What came through a stream has no noise of its own: it says how, what it charged, and how far each number may be off.
	through *api.Through
	receipt api.Receipt
	halves  [][]int64
}

// release turns exact values into noisy ones. room is how many bytes the ledger has for what depends on how many
// private keys there are.
func (c *Curator) release(b *purchase, r *engine.Result, room int) (*released, error) {
	if !b.fitting(r) {
		return nil, ErrRun // an engine that is broken
	}
	if b.choice != nil {
		scores := r.Measures[0]
		if w := b.query.Choice.Weights; w != nil {
			scores = scores.Weighted(w)
		}
		chosen, err := c.releaser.Top(scores, b.choice.top)
		return &released{Chosen: chosen}, err
	}
	out := &released{}
	groups := b.query.Groups()
	places := []int{0}
	if b.keys != nil {
		places = c.releaseKeys(b, r, out, room)
	}
	for i, n := range b.noise {
		if n.quantiles == nil {
			out.Measures = append(out.Measures, c.releaser.Release(r.Measures[i].Pick(places, groups), n.Mechanism))
			out.Quantiles = append(out.Quantiles, nil)
			continue
		}
		all := make([][]int64, 0, len(places)*groups)
		for _, place := range places {
			for g := range groups {
				all = append(all, c.releaser.Quantiles(r.Values[i][place*groups+g], n.quantiles))
			}
		}
		out.Measures = append(out.Measures, nil)
		out.Quantiles = append(out.Quantiles, all)
	}
	return out, nil
}

// fitting reports whether a result has the shape that the query says.
func (b *purchase) fitting(r *engine.Result) bool {
	combos := 1
	if len(b.query.PrivateKeys()) > 0 {
		combos = r.Persons.Len()
	}
	if len(r.Measures) != len(b.query.Measures) {
		return false
	}
	for i, m := range b.query.Measures {
		if m.Kind == tree.Quantile {
			if len(r.Values) != len(b.query.Measures) || len(r.Values[i]) != combos*b.query.Groups() {
				return false
			}
		} else if r.Measures[i].Len() != combos*b.query.Groups() {
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

// releaseKeys releases private keys, and returns their places in the order of the keys: where a
// combination stood in the engine's result is private, and is forgotten with the order.
//
// Where more are released than the ledger can keep, those with the most people stay, by their noisy numbers, and
// of equals the first. Nothing else is looked at, so this tells no more than the keys do.
func (c *Curator) releaseKeys(b *purchase, r *engine.Result, out *released, room int) []int {
	all := c.keptKeys(b.keys, r)
	slices.SortFunc(all, func(x, y kept) int {
		return cmp.Or(cmp.Compare(y.units, x.units), compareKeys(x.keys, y.keys))
	})
	n := 0
	for ; n < len(all); n++ {
		if room -= b.cells()*cellBytes + keyBytes(all[n].keys); room < 0 {
			break
		}
	}
	out.Dropped = len(all) - n
	all = all[:n]
	slices.SortFunc(all, func(x, y kept) int { return compareKeys(x.keys, y.keys) })
	places := make([]int, n)
	for i, k := range all {
		places[i] = k.place
		out.Keys = append(out.Keys, k.keys)
	}
	return places
}

func (c *Curator) keptKeys(rule *keyRule, r *engine.Result) []kept {
	var all []kept
	if rule.selection != nil {
		for _, i := range c.releaser.SelectKeys(r.Persons, rule.selection) {
			all = append(all, kept{place: i})
		}
	} else {
		for _, k := range c.releaser.ReleaseKeys(r.Persons, rule.threshold) {
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

// keyBytes is what a combination of keys takes in the ledger.
func keyBytes(keys []policy.Value) int {
	text, err := json.Marshal(storedKeys(keys))
	if err != nil {
		return maxBytes // it is left out
	}
	return len(text) + 1
}
