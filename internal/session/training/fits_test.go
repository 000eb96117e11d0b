package training

import (
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/internal/mechanism/learn"
)

// What the ledger could not keep is refused before it is paid for.
func TestTrainingFits(t *testing.T) {
	values := func(n int) []string { return slices.Repeat([]string{"value"}, n) }
	for _, c := range []struct {
		features, classes int
		fits              bool
	}{{10, 2, true}, {10_000, 20, true}, {60_000, 2, true}, {10_000, 256, false}, {2, 2_000_000, false}} {
		p :=
			&training{plan: &learn.Plan{Encoding: &learn.Encoding{Features: []learn.Column{{Name: "x", Values: values(c.features)}},
				Target: learn.Column{Name: "y", Values: values(c.classes)}}}}
		if err := p.fits(); (err == nil) != c.fits {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
