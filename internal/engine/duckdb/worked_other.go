//go:build !linux

package duckdb

import "time"

// worked is the time, where the system does not say for how long a thread has worked.
func worked() time.Duration { return time.Duration(time.Now().UnixNano()) }
