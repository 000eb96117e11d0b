//go:build unix

package releaseclock

import (
	"syscall"
	"time"
)

// readUsed reads for how long processors have worked for this process.
func readUsed() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return time.Duration(time.Now().UnixNano()) // then all time is work
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
