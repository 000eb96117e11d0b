package testpg

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"
)

// Shared returns the one server of a test binary, which ends with the process. It is for tests that
// have a database or a schema of their own, and stop no server.
func Shared(t testing.TB) *Server {
	t.Helper()
	shared.once.Do(func() {
		defer func() { _ = recover() }() // how starting ends that does not go on
		shared.server = Start(&shared.starting)
	})
	if shared.server == nil {
		if os.Getenv("DISCREET_NEED_POSTGRES") != "" || !shared.starting.skipped {
			t.Fatal(shared.starting.err)
		}
		t.Skip(shared.starting.err)
	}
	return shared.server
}

var shared struct {
	once     sync.Once
	starting sharedTest
	server   *Server
}

// sharedTest is the test that a shared server belongs to: none.
type sharedTest struct {
	testing.TB
	err     error
	skipped bool
}

func (s *sharedTest) Helper()        {}
func (s *sharedTest) Cleanup(func()) {} // the server ends with the end of its input, which is ours
func (s *sharedTest) Fatal(args ...any) {
	s.err = errors.New(fmt.Sprint(args...))
	panic(s.err)
}
func (s *sharedTest) Fatalf(format string, args ...any) { s.Fatal(fmt.Sprintf(format, args...)) }
func (s *sharedTest) Error(args ...any)                 { s.Fatal(args...) }
func (s *sharedTest) Skip(args ...any) {
	s.skipped = true
	s.Fatal(args...)
}
