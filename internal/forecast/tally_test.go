package forecast

import (
	"testing"
	"time"

	"github.com/discreet-dp/discreet/dp"
)

// TestTally: charges of an hour are one, and a clock that was wrong moves nothing but its own.
func TestTally(t *testing.T) {
	now := time.Date(2026, 11, 17, 12, 0, 0, 0, time.UTC)
	var sums Tally
	for _, at := range []time.Time{
		now.Add(-50 * time.Hour), now.Add(-50*time.Hour + time.Minute), now.Add(90 * time.Hour), time.Unix(0, 0), now.Add(-time.Hour),
	} {
		sums.Add(at, []string{"a", "b"}, dp.Cost{Epsilon: dp.One}, now)
	}
	sums.Add(now, []string{"b"}, dp.Cost{Epsilon: dp.One}, now)
	a := sums.Of("a")
	if len(a) != 2 || a[0].Charges != 4 || a[0].Cost.Epsilon != 4*dp.One || !a[1].Time.Equal(now.Add(-time.Hour)) ||
		len(sums.Of("b")) != 3 {
		t.Errorf("%+v", a)
	}
	if len(sums.Accounts()) != 2 || sums.Of("c") != nil {
		t.Error(sums.Accounts())
	}
	f := New(a, dp.Cost{Epsilon: 100 * dp.One, Rho: dp.Unbounded}, dp.Cost{Epsilon: 95 * dp.One, Rho: dp.Unbounded}, now)
	if f.Status != Lasting || f.Charges != 5 || f.Claim != "epsilon" {
		t.Errorf("%+v", f)
	}
}
