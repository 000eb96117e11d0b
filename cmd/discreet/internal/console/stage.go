package console

import (
	"fmt"
	"sync/atomic"
)

// Stage is how far the opening of something is, told by one goroutine and shown by another. It is
// empty to begin with.
type Stage struct{ text atomic.Pointer[string] }

// Tell takes in how much of something was read. When that is all of it, nothing is left to be told.
func (s *Stage) Tell(what string, done, of int64) {
	if done >= of {
		s.text.Store(nil)
		return
	}
	text := fmt.Sprintf("%s, %d %%", what, 100*done/of)
	s.text.Store(&text)
}

// Or is what was told last, or something else where there is nothing.
func (s *Stage) Or(what string) func() string {
	return func() string {
		if text := s.text.Load(); text != nil {
			return *text
		}
		return what
	}
}
