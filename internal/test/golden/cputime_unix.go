//go:build unix

package golden

import (
	"syscall"
	"testing"
	"time"
)

// What follows tells a test how much processor time its process has used. What others on the
// machine do changes that little, and a clock on the wall a lot: a test that bounds work by a clock
// fails where the machine is busy.

// CPUTime is the time that processors have worked for this process so far.
func CPUTime(t testing.TB) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
