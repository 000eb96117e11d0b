package labels

import (
	"os"
	"sync"
	"time"
)

// Store has the labels of a file, and reads it anew when it may have changed. It is safe for
// concurrent use.
//
// A file is read because its owner put it there, and not because somebody asks: what is read, and
// whether it can be, is the same whatever is asked.
type Store struct {
	path string
	spec Spec

	mu     sync.Mutex
	now    *Labels
	size   int64
	change time.Time
}

// NewStore returns the store of a file, and does not read it yet.
func NewStore(path string, s Spec) *Store { return &Store{path: path, spec: s} }

// Labels returns the labels as they are now. Its errors are for the owner.
func (s *Store) Labels() (*Labels, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at, err := os.Stat(s.path)
	if err != nil {
		return nil, broken("the file of labels cannot be opened: %v", err)
	}
	if s.now != nil && at.Size() == s.size && at.ModTime().Equal(s.change) {
		return s.now, nil
	}
	l, err := Load(s.path, s.spec)
	if err != nil {
		return nil, err
	}
	if s.now != nil && l.version == s.now.version {
		l = s.now // touched, and the same: predictions that were checked stay good
	}
	s.now, s.size, s.change = l, at.Size(), at.ModTime()
	return l, nil
}
