package chain

import (
	"strings"

	"github.com/discreet-dp/discreet/ledger"
)

// versions are those of one dataset's data.
type versions struct {
	last    string // of the last charge
	since   uint64 // where it was recorded
	numbers map[digest]uint64
}

// version adds a record of kind version.
func (s *State) version(r *ledger.Record) {
	v := s.versions[r.Dataset]
	if v.numbers == nil {
		v.numbers = map[digest]uint64{}
	}
	if d := s.digestOf(r.DataVersion); v.numbers[d] == 0 {
		v.numbers[d] = uint64(len(v.numbers)) + 1
	}
	v.last, v.since = strings.Clone(r.DataVersion), r.Sequence
	s.versions[strings.Clone(r.Dataset)] = v
}

// DataVersion returns what is known of a state of a dataset's data.
func (s *State) DataVersion(dataset, label, state string) ledger.Version {
	v := ledger.Version{ID: ledger.VersionID(s.identity, dataset, state), Label: label}
	known := s.versions[dataset]
	v.Number, v.Since = known.numbers[s.digestOf(v.String())], known.since
	return v
}
