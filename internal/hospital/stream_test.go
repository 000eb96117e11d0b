package hospital

import (
	"slices"
	"testing"
)

// Questions are their seed's, and there is something of everything.
func TestWorkload(t *testing.T) {
	a := Workload(2000, 1)
	if !slices.Equal(a, Workload(2000, 1)) || slices.Equal(a, Workload(2000, 2)) {
		t.Error("a workload is not its seed's")
	}
	different := map[string]bool{}
	for _, q := range a {
		different[q] = true
	}
	if len(different) < 1000 || len(different) == 2000 || !different["smoker = true"] || !different["sex IN ('F')"] {
		t.Errorf("%d of 2000 are different", len(different))
	}
}
