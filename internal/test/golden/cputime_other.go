//go:build !unix

package golden

import (
	"testing"
	"time"
)

var began = time.Now()

// CPUTime is the time that has passed, which is all that can be known here.
func CPUTime(testing.TB) time.Duration { return time.Since(began) }
