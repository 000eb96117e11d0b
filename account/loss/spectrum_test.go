package loss

import (
	"testing"
)

// TestDirectAndFast: the two ways to the frequencies agree within their slacks.
func TestDirectAndFast(t *testing.T) {
	const n = 1 << 12
	f := newFrequencies(n)
	_, above := poisson(t, gauss(t, 1), 0.2, Remove).(mixture).enclose(0.01, 0, 1e-12, 3)
	live := []int{0, 1, 2, 17, 100, 999, n / 2}
	all, log, _ := f.transform(above, 3, 1, nil)
	few, again, _ := f.transform(above, 3, 1, live)
	if all.few || !few.few || log != again {
		t.Fatal("both ways are one")
	}
	for i, j := range live {
		if off := size(all.values[j] - few.values[i]); off > all.slack+few.slack || all.slack+few.slack > 1e-9 {
			t.Errorf("frequency %d: %v and %v, with slacks %v and %v", j, all.values[j], few.values[i], all.slack, few.slack)
		}
	}
	// At frequency 0 it is the whole.
	if off := size(few.values[0] - 1); off > few.slack {
		t.Errorf("the masses add up to %v", few.values[0])
	}
}

// TestManySampled: many unlike laws, of which most are summed directly, lose as much
// as some that are alike, in between.
func TestManySampled(t *testing.T) {
	var unlike Sum
	const k = 200
	for i := range k {
		unlike = unlike.plus(t, poisson(t, gauss(t, 1+0.001*float64(i)/k), 0.05, Remove), 1)
	}
	low := epsilonOf(t, times(t, poisson(t, gauss(t, 1), 0.05, Remove), k), 1e-5)
	high := epsilonOf(t, times(t, poisson(t, gauss(t, 1.001), 0.05, Remove), k), 1e-5)
	got := epsilonOf(t, unlike, 1e-5)
	if got.Upper < low.Lower || got.Lower > high.Upper || width(got) > 1e-3 {
		t.Errorf("%v is not between %v and %v", got, low, high)
	}
}
