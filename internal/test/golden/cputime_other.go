//go:build !unix

package golden

import (
	"testing"
	"time"
)

var began = time.Now()

// Worked is the time that has passed, which is all that can be known here.
func Worked(testing.TB) time.Duration { return time.Since(began) }
