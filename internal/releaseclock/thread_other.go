//go:build !linux

package releaseclock

import "time"

type thread struct{ since time.Time }

func thisThread() thread { return thread{time.Now()} }

// worked is how long a processor may have worked for the thread: that it had to wait for one is not
// known here.
func (t thread) worked() time.Duration { return time.Since(t.since) }
