package policy

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/account"
	"github.com/discreet-dp/discreet/internal/username"
)

// Accounts are named dataset, dataset/analyst, dataset/group:group, each perhaps with #window. None
// of the letters between may be in a name, or two accounts could be one.
func TestNamesMakeDifferentAccounts(t *testing.T) {
	for _, c := range "/#:\x00 \"%é,\t" {
		for _, name := range []string{string(c), "a" + string(c), string(c) + "a", "a" + string(c) + "1"} {
			if checkShortName(name) == "" || c != 'é' && username.Check(name) == "" {
				t.Errorf("%q is a name", name)
			}
		}
	}
}

func TestNextWindow(t *testing.T) {
	for _, c := range []struct{ every, begin, want string }{
		{"day", "2026-12-31T23:59:59Z", "2027-01-01"},
		{"day", "2026-12-31T23:59:59-05:00", "2027-01-02"}, // which is the next day in UTC
		{"week", "2026-02-25T00:00:00Z", "2026-03-04"},
		{"month", "2026-01-01T12:00:00Z", "2026-02-01"},
		{"month", "2026-01-31T12:00:00Z", "2026-02-28"},
		{"month", "2028-01-31T12:00:00Z", "2028-02-29"},
		{"month", "2026-12-31T12:00:00Z", "2027-01-31"},
		{"quarter", "2026-11-30T12:00:00Z", "2027-02-28"},
		{"year", "2028-02-29T12:00:00Z", "2029-02-28"},
	} {
		begin, err := time.Parse(time.RFC3339, c.begin)
		if err != nil {
			t.Fatal(err)
		}
		if got := (Renewal{Every: c.every}).Next(begin).Format(time.DateOnly); got != c.want {
			t.Errorf("a %s after %s is %s; want %s", c.every, c.begin, got, c.want)
		}
	}
}

// TestTotal: all windows together are what the specification says, and no more.
func TestTotal(t *testing.T) {
	const text = "datasets: {d: {engine: duckdb, source: a.csv, unit: row, analysts: {a: }, tables: {t: {columns: {}}}, budget: " +
		"{epsilon: %s, delta: %s, keys_delta: %s, renewal: {every: week, windows: %d}}}}"
	for _, c := range []struct {
		epsilon, delta, keys string
		windows              int64
	}{{"0.3", "0", "0", 7}, {"1", "1e-6", "0", 12}, {"0.5", "1e-6", "3e-7", 1}, {"0.1", "1e-5", "4e-6", 1000}} {
		p, err := Parse("p.yaml", fmt.Appendf(nil, text, c.epsilon, c.delta, c.keys, c.windows))
		if err != nil {
			t.Fatal(err)
		}
		d := p.Datasets["d"]
		one, all, n := d.Filter().Limit(), d.TotalFilter().Limit(), dp.Amount(c.windows)
		if d.Budget.Pure() {
			if all != (dp.Cost{Epsilon: n * one.Epsilon, Rho: dp.Unbounded}) {
				t.Errorf("%+v: %v", c, all)
			}
			continue
		}
		if all != (dp.Cost{Epsilon: dp.Unbounded, Rho: n * one.Rho, Delta: n * one.Delta}) {
			t.Errorf("%+v: %v", c, all)
		}
		// It is what a claim of the same rho and delta is worth, by the code for planning.
		promised, err := account.Epsilon(all.Rho, d.Budget.RhoDelta())
		if err != nil {
			t.Fatal(err)
		}
		claim := account.ApproxZCDP{Rho: all.Rho.Float(), Delta: all.Delta.Float()}
		if e, err := claim.EpsilonAt(all.Delta.Add(d.Budget.RhoDelta()).Float()); err != nil || e > promised.Float()*(1+1e-9) {
			t.Errorf("%+v: promised %v, and is %v, %v", c, promised, e, err)
		}
	}
}

// TestManyGroups: a charge names at most 64 accounts.
func TestManyGroups(t *testing.T) {
	for n, want := range map[int]string{maxGroupsOf: "", maxGroupsOf + 1: "is in more than 60 groups"} {
		var b strings.Builder
		b.WriteString("datasets: {d: {engine: duckdb, source: a.csv, unit: row, budget: {epsilon: 1}, analysts: {a: }, tables: {t: " +
			"{columns: {}}}, groups: {")
		for i := range n {
			fmt.Fprintf(&b, "g%d: {analysts: [a]}, ", i)
		}
		_, err := Parse("p.yaml", []byte(b.String()+"}}}"))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%d groups: %v", n, err)
		}
	}
}

// A quota by epsilon follows the budget when a program changes it.
func TestEpsilonQuotaFollows(t *testing.T) {
	d := &Dataset{Budget: Budget{Epsilon: dp.One}, Analysts: map[string]*Analyst{"a": {Epsilon: dp.One / 2}, "more": {Epsilon: 2 * dp.One}}}
	if q, _ := d.Quota("a"); q != account.PureFilter(dp.One/2) {
		t.Errorf("half of one is %v", q.Limit())
	}
	if q, _ := d.Quota("more"); q != d.Filter() {
		t.Errorf("a quota above the budget is %v", q.Limit())
	}
	d.Budget.Delta = dp.One / 1000
	rho, err := account.Rho(dp.One/2, d.Budget.Delta)
	if err != nil {
		t.Fatal(err)
	}
	if q, _ := d.Quota("a"); q != account.ZCDPFilter(rho, 0) {
		t.Errorf("epsilon 0.5 is %v; want rho %v", q.Limit(), rho)
	}
}

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
