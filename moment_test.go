package discreet

import (
	"strconv"
	"testing"
	"time"
)

// A name keeps its moment until so many others came after it, also where it was forgotten before
// and named again; and what is remembered is bounded.
func TestMoments(t *testing.T) {
	var m moments
	first := time.Date(2026, 11, 17, 12, 0, 0, 0, time.UTC)
	refused := name{"d", "ana", "refused"}
	m.first(refused, first)
	m.forget(refused)
	later := first.Add(time.Hour)
	if got := m.first(refused, later); got != later {
		t.Fatal(got)
	}
	for i := range 2 * mostMoments {
		if _, ok := m.of[refused]; ok != (i < mostMoments) {
			t.Fatalf("after %d others it is remembered: %v", i, ok)
		}
		m.first(name{"d", "ana", strconv.Itoa(i)}, later)
	}
	if len(m.of) > mostMoments || len(m.order) > mostMoments {
		t.Errorf("%d and %d are remembered", len(m.of), len(m.order))
	}
}
