//go:build !linux

package duckdb

import "time"

// threadTime is the time, where the system does not say for how long a thread has worked.
func threadTime() time.Duration { return time.Duration(time.Now().UnixNano()) }
