package servecmd

import (
	"testing"
	"testing/synctest"
	"time"
)

// While there is progress systemd is asked to wait, and not with every step.
func TestStill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told []string
		progress := newTimeoutExtender(func(text string) { told = append(told, text) })
		for range 100 {
			progress()
			time.Sleep(time.Second)
		}
		if len(told) != 3 || told[0] != "EXTEND_TIMEOUT_USEC=300000000" {
			t.Errorf("systemd was told %q", told)
		}
	})
}
