package publictime_test

import (
	"math/big"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/publictime"
	"github.com/discreet-dp/discreet/mech"
	"github.com/discreet-dp/discreet/noise"
)

// Releases of which noise on each number is the least take no longer than their steps may.
func TestSteps(t *testing.T) {
	machine := publictime.Machine{Threads: 1, Factor: 1}
	releaser := mech.NewReleaser(noise.NewSource())
	check := func(name string, public time.Duration, release func()) {
		worked := took(t, 3, func() error { release(); return nil })
		t.Logf("%s: %v of %v", name, worked, public)
		if worked > public {
			t.Errorf("%s takes %v, and its public time is %v", name, worked, public)
		}
	}
	for _, n := range []int{256, 1024} {
		m, err := mech.NewRunning(mech.Sequence{Len: n, Groups: 3, Low: new(big.Int), High: big.NewInt(1 << 10)}, dp.One)
		if err != nil {
			t.Fatal(err)
		}
		exact := mech.Exactly(make([]int64, n)...)
		check("running totals", machine.Steps(float64(n*(n+1))), func() { releaser.ReleaseRunning(exact, m) })
	}
	for _, sizes := range [][]int{{16, 16, 16, 16}, {256, 256}, {2, 2, 2, 2, 2, 2, 2, 2}, {8, 8, 8, 8, 8}} {
		var sets [][]int
		for mask := range 1 << len(sizes) {
			var set []int
			for axis := range sizes {
				if mask>>axis&1 == 1 {
					set = append(set, axis)
				}
			}
			sets = append(sets, set)
		}
		m, err := mech.NewResiduals(mech.Marginals{Sizes: sizes, Hidden: make([]bool, len(sizes)), Sets: sets, Low: new(big.Int),
			High: big.NewInt(1 << 10)}, dp.One)
		if err != nil {
			t.Fatal(err)
		}
		exact := mech.Exactly(make([]int64, m.Len())...)
		check("a cube", machine.Steps(5*float64(m.Len()*(m.Parts()+len(sets)))), func() { releaser.ReleaseMarginals(exact, m) })
	}
}
