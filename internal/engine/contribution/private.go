package contribution

import (
	"cmp"
	"math"
	"slices"
)

// Private says what groups are that were found in the data. A group's number is about other people:
// how many have which keys. So which groups a person keeps is decided by a name, which follows from
// the group's own keys. It is the order in which Pick keeps rows whose only value is the name.
type Private struct {
	Names []uint64 // of each group; see [Hash.Name]
	// Compare orders groups that share a name, by their keys. It is nil where no two do.
	Compare func(a, b int32) int
	// Of has, for each group, the combination of private keys that it belongs to, of which there
	// are Combos.
	Of     []int32
	Combos int
	// Members, where it is not nil, is told which combinations each person is in.
	Members *Members
}

// Members are the combinations of all people, of one person after the other and in no order that
// means anything, and where those of each end.
type Members struct {
	Combos []int32
	Ends   []int
}

// fits reports whether the parts of a specification are about the same groups and rows.
func (s *Spec) fits() bool {
	if p := s.Private; p != nil && (len(p.Names) != s.Groups || len(p.Of) != s.Groups || slices.ContainsFunc(p.Of,
		func(c int32) bool { return c < 0 || int(c) >= p.Combos })) {
		return false
	}
	for _, m := range s.Measures {
		if (m.Kind == Carried) != (s.Pick != nil) {
			return false
		}
	}
	if s.Pick != nil {
		return s.Pick.MaxRows >= 1 && s.Pick.Flag < len(s.Measures) && len(s.Measures) > 0 && s.Pick.Sink != nil
	}
	return len(s.Measures) > 0 || s.Private != nil
}

// hashByName replaces the hashes of pairs by those of what their groups are.
func (k *pairTable) hashByName(c *columns) {
	from := uint32(0)
	for p, to := range k.ends {
		for i := from; i < to; i++ {
			k.hash[i] = k.next(k.first(c.seeds[p]), k.Private.Names[k.group[i]])
		}
		from = to
	}
}

// chooseNamed keeps the pairs of one person, from up to to, whose hashes are smallest. Two may have
// the same, where their groups' names are the same.
func (k *pairTable) chooseNamed(from, to uint32) {
	all := k.named[:0]
	last := uint64(math.MaxUint64) // nothing beyond it is kept
	for i := from; i < to; i++ {
		if k.hash[i] > last {
			continue
		}
		if all = append(all, i); len(all) > 2*k.MaxGroups+64 {
			k.sortPairs(all)
			all = all[:k.MaxGroups]
			last = k.hash[all[k.MaxGroups-1]]
		}
	}
	k.sortPairs(all)
	k.kept = append(k.kept, all[:k.MaxGroups]...)
	k.named = all
}

func (k *pairTable) sortPairs(all []uint32) {
	slices.SortFunc(all, func(a, b uint32) int {
		if k.hash[a] != k.hash[b] {
			return cmp.Compare(k.hash[a], k.hash[b])
		}
		return k.Private.Compare(k.group[a], k.group[b])
	})
}

// combinationCounts counts the people of each combination of private keys. Somebody may keep
// several groups of one.
type combinationCounts struct {
	count []int64
	last  []uint32 // the number of the person who was counted last, never 0
	now   uint32
	in    Members
}

func newCombinationCounts(combos int) combinationCounts {
	return combinationCounts{count: make([]int64, combos), last: make([]uint32, combos)}
}

// countSpans counts one person, of whom some pairs are kept.
func (k *kernel) countSpans(kept []uint32) {
	s := &k.spans
	if s.now++; s.now == 0 {
		clear(s.last)
		s.now = 1
	}
	for _, i := range kept {
		combo := k.Private.Of[k.pairs.group[i]]
		if s.last[combo] != s.now {
			s.last[combo] = s.now
			s.count[combo]++
			if k.Private.Members != nil {
				s.in.Combos = append(s.in.Combos, combo)
			}
		}
	}
	if k.Private.Members != nil && len(kept) > 0 {
		s.in.Ends = append(s.in.Ends, len(s.in.Combos))
	}
}

// persons adds up how many people are in each combination.
func (o *operator) persons() []int64 {
	out := make([]int64, o.Private.Combos)
	for _, w := range o.workers {
		for i, n := range w.reducer.kernel.spans.count {
			out[i] += n
		}
	}
	if all := o.Private.Members; all != nil {
		*all = Members{}
		for _, w := range o.workers {
			in := &w.reducer.kernel.spans.in
			for _, end := range in.Ends {
				all.Ends = append(all.Ends, len(all.Combos)+end)
			}
			all.Combos = append(all.Combos, in.Combos...)
			*in = Members{}
		}
	}
	return out
}
