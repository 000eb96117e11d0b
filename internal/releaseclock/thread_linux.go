package releaseclock

import (
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

type thread struct{ id int }

func thisThread() thread { return thread{syscall.Gettid()} }

// worked is how long a processor has worked for the thread. It may be read on any thread.
func (t thread) worked() time.Duration {
	const precise = 6 // the clock of one thread, in nanoseconds: see clock_getcpuclockid
	var at unix.Timespec
	if err := unix.ClockGettime(int32(^t.id<<3|precise), &at); err != nil {
		return 0
	}
	return time.Duration(at.Nano())
}
