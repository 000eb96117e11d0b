package chain

import "github.com/discreet-dp/discreet/ledger"

// Of the positions behind the head, the last dense ones are all kept; further back, they are about
// one part in sparse of their distance from the head apart. So the length grows with the logarithm
// of that of the ledger: 150 to 300 at a million records.
const (
	dense  = 64
	sparse = 8
)

// trail is positions of a chain in their order.
type trail []ledger.Position

// newTrail returns the trail up to the head.
func newTrail(s *State, hashAt func(uint64) (string, error)) (trail, error) {
	head, hash := s.Head()
	t := trail{{Sequence: head, Hash: hash}}
	for age := uint64(1); age <= head; age += step(age) {
		hash, err := hashAt(head - age)
		if err != nil {
			return nil, err
		}
		t = append(t, ledger.Position{Sequence: head - age, Hash: hash})
	}
	for i, j := 0, len(t)-1; i < j; i, j = i+1, j-1 {
		t[i], t[j] = t[j], t[i]
	}
	return t, nil
}

// step returns how far apart the positions of an age are.
func step(age uint64) uint64 {
	if age < dense {
		return 1
	}
	return max(age/sparse, 1)
}

// add puts a later position at the end, and thins out the others every now and then. One that is
// known already is not added.
func (t *trail) add(p ledger.Position) {
	if n := len(*t); n > 0 && (*t)[n-1].Sequence >= p.Sequence {
		return
	}
	*t = append(*t, p)
	if len(*t)%dense == 0 {
		t.thin()
	}
}

// thin leaves out positions without which their neighbours are still no more than a step apart. To
// look at the neighbour before is what bounds the gaps: to keep whatever is a step from the
// neighbour after lets them grow without end, since the ages go on growing.
func (t *trail) thin() {
	old := *t
	head := old[len(old)-1].Sequence
	kept := make(trail, 0, len(old))
	last := head
	for i := len(old) - 1; i >= 0; i-- {
		p := old[i]
		if age := head - p.Sequence; age == 0 || i == 0 || last-old[i-1].Sequence > step(age) {
			kept = append(kept, p)
			last = p.Sequence
		}
	}
	for i, j := 0, len(kept)-1; i < j; i, j = i+1, j-1 {
		kept[i], kept[j] = kept[j], kept[i]
	}
	*t = kept
}

// before returns the positions before a sequence, in memory of their own.
func (t trail) before(sequence uint64) []ledger.Position {
	n := len(t)
	for n > 0 && t[n-1].Sequence >= sequence {
		n--
	}
	return append([]ledger.Position{}, t[:n]...)
}
