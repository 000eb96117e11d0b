package servecmd

import (
	"fmt"
	"sync"
	"time"
)

// What systemd is told while something is opened: to wait for longer than it would, as long as
// there is progress.
const (
	extendTimeoutEvery = 30 * time.Second
	extendTimeoutBy    = 5 * time.Minute
)

// newTimeoutExtender tells systemd to be patient, now and then, when more of something was read.
func newTimeoutExtender(tell func(string)) func() {
	var mu sync.Mutex
	last := time.Now()
	return func() {
		mu.Lock()
		defer mu.Unlock()
		if now := time.Now(); now.Sub(last) >= extendTimeoutEvery {
			last = now
			tell(fmt.Sprintf("EXTEND_TIMEOUT_USEC=%d", extendTimeoutBy.Microseconds()))
		}
	}
}
