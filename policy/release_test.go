package policy

import (
	"testing"
	"time"
)

// A tick is the owner's, or chosen by the magnitude of the data and by nothing else.
func TestTickFor(t *testing.T) {
	for _, c := range []struct {
		release   Release
		magnitude int
		want      time.Duration
	}{
		{Release{}, 0, 100 * time.Millisecond}, {Release{}, 5, 100 * time.Millisecond}, {Release{}, 6, 500 * time.Millisecond},
		{Release{}, 7, 2 * time.Second},
		{Release{}, 8, 10 * time.Second}, {Release{}, 9, time.Minute}, {Release{}, 18, time.Minute},
		{Release{Tick: time.Second}, 3, time.Second}, {Release{Tick: time.Second}, 9, time.Second}, {Release{Immediate: true}, 9, 0},
	} {
		if got := c.release.For(c.magnitude); got != c.want {
			t.Errorf("%+v, 10^%d: %v", c.release, c.magnitude, got)
		}
	}
}
