// How long a budget lasts at the rate of its last charges.
//
// A forecast informs and decides nothing. The times are those of the records, by whatever clock the
// machine had then, so they can be out of order: the order of the records is the truth. As few
// times as possible are disbelieved so that the others are in order, and a charge whose time is
// disbelieved counts as made at the time of the one before it. See [Mend].

package budgets

import (
	"math"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/discreet-dp/discreet/dp"
)

const (
	// Days is how far back the rate looks.
	WindowDays = 30
	// MinCharges is how many charges it takes to speak of a rate, and there has to be a day between
	// the first and now.
	MinCharges = 3
	// maxForecastDays is, in days, how far ahead a date is named.
	maxForecastDays = 36500

	oneDay = 24 * time.Hour
)

var beforeFirstLedger = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)

// Spend is a charge in one account, or several that count as one time's.
type Spend struct {
	Time    time.Time
	Cost    dp.Cost
	Charges int // how many charges it is; 0 is 1
}

// Status says what a forecast can say.
type Status string

// What a forecast can say.
const (
	Early   Status = "too early" // too few charges, or too young
	Idle    Status = "idle"      // nothing was spent lately
	UsedUp  Status = "used up"   // nothing is left
	Lasting Status = "lasting"   // it lasts for DaysLeft
)

// Forecast is how long an account lasts.
type Forecast struct {
	Status Status `json:"status"`
	// Charges is how many there were in the last Days days, or since the first charge where that is
	// later.
	Charges int     `json:"charges"`
	Days    float64 `json:"days"`
	// Claim is the claim that runs out first, epsilon, rho or delta, and PerDay how much of it a
	// day takes.
	Claim  string  `json:"claim,omitempty"`
	PerDay float64 `json:"per_day"`
	// DaysLeft is how long it lasts at that rate, and Until the day, as 2006-01-02; empty where it
	// is over a hundred years away.
	DaysLeft float64 `json:"days_left,omitempty"`
	Until    string  `json:"until,omitempty"`
}

// NewForecast returns the forecast of an account from all of its charges, in order and with mended
// times, and what is left of it.
func NewForecast(spends []Spend, limit, left dp.Cost, now time.Time) Forecast {
	f := Forecast{Status: Early}
	if isUsedUp(limit, left) {
		f.Status = UsedUp
	}
	if len(spends) == 0 {
		return f
	}
	since := now.Add(-WindowDays * oneDay)
	if first := spends[0].Time; first.After(since) {
		since = first
	}
	f.Days = max(now.Sub(since).Hours()/24, 0)
	var sums [3]float64
	all := 0
	for _, s := range spends {
		all += max(s.Charges, 1)
		if s.Time.Before(since) {
			continue
		}
		f.Charges += max(s.Charges, 1)
		for i, a := range claimAmounts(s.Cost) {
			sums[i] += a.Float()
		}
	}
	switch {
	case f.Status == UsedUp:
		return f
	case f.Charges == 0:
		f.Status = Idle
		return f
	case f.Days < 1 || f.Charges < MinCharges && all < MinCharges:
		return f
	}
	shortest := f.remainingDays(sums, claimAmounts(limit), claimAmounts(left))
	if math.IsInf(shortest, 0) {
		f.Status = Idle
		return f
	}
	f.Status, f.DaysLeft = Lasting, shortest
	if shortest <= maxForecastDays {
		f.Until = now.UTC().Add(time.Duration(shortest * float64(oneDay))).Format(time.DateOnly)
	}
	return f
}

// isUsedUp reports whether nothing is left of what is asked with: epsilon or rho. Delta alone is
// for private keys.
func isUsedUp(limit, left dp.Cost) bool {
	epsilon, rho := limit.Epsilon != dp.Unbounded, limit.Rho != dp.Unbounded
	if epsilon && rho {
		return left.Epsilon == 0 && left.Rho == 0
	}
	return epsilon && left.Epsilon == 0 || rho && left.Rho == 0
}

// remainingDays is for how many days what is left does, and notes the claim that runs out. Of
// epsilon and rho, where both are limited, the one that lasts longer counts.
func (f *Forecast) remainingDays(sums [3]float64, limits, left [3]dp.Amount) float64 {
	names := []string{"epsilon", "rho", "delta"}
	var days [3]float64
	for i := range names {
		if days[i] = math.Inf(1); limits[i] != dp.Unbounded && sums[i] > 0 {
			days[i] = left[i].Float() / (sums[i] / f.Days)
		}
	}
	if limits[0] != dp.Unbounded && limits[1] != dp.Unbounded {
		if days[0] < days[1] {
			days[0] = math.Inf(1)
		} else {
			days[1] = math.Inf(1)
		}
	}
	first := 0
	for i := range days {
		if days[i] < days[first] {
			first = i
		}
	}
	if !math.IsInf(days[first], 0) {
		f.Claim, f.PerDay = names[first], sums[first]/f.Days
	}
	return days[first]
}

func claimAmounts(c dp.Cost) [3]dp.Amount { return [3]dp.Amount{c.Epsilon, c.Rho, c.Delta} }

// Mend puts the times of records, which are in the order of the records, into order, and returns
// how many it changed. Times after now are not believed, nor those from before there was such a
// program: a machine without a clock wakes up in 1970. Of the others a longest sequence that is in
// order is, so that one clock that was wrong for a while, in either direction, changes only its own
// times.
func Mend(times []time.Time, now time.Time) (mended int) {
	// ends[k] is the record with the least time at which k+1 times in order can end; before is the
	// one before each.
	var ends []int
	before := make([]int, len(times))
	for i, t := range times {
		before[i] = -1
		if t.After(now) || t.Before(beforeFirstLedger) {
			continue
		}
		k := sort.Search(len(ends), func(k int) bool { return times[ends[k]].After(t) })
		if k > 0 {
			before[i] = ends[k-1]
		}
		if k == len(ends) {
			ends = append(ends, i)
		} else {
			ends[k] = i
		}
	}
	if len(ends) == 0 {
		for i := range times {
			times[i] = now
		}
		return len(times)
	}
	believed := make([]bool, len(times))
	first := 0
	for i := ends[len(ends)-1]; i >= 0; i = before[i] {
		believed[i], first = true, i
	}
	last := times[first]
	for i := range times {
		if believed[i] {
			last = times[i]
			continue
		}
		times[i] = last
		mended++
	}
	return mended
}

// Daily returns what was spent on each of the last days, the last of which ends now, in one claim.
func Daily(spends []Spend, claim func(dp.Cost) dp.Amount, days int, now time.Time) []float64 {
	out := make([]float64, days)
	for _, s := range spends {
		if ago := now.Sub(s.Time); ago >= 0 && ago < time.Duration(days)*oneDay {
			if a := claim(s.Cost); a != dp.Unbounded {
				out[days-1-int(ago/oneDay)] += a.Float()
			}
		}
	}
	return out
}

// Sparkline draws heights as a line of small bars. What is above nothing is seen.
func Sparkline(heights []float64) string {
	bars := []rune("▁▂▃▄▅▆▇█")
	if len(heights) == 0 {
		return ""
	}
	most := slices.Max(heights)
	out := make([]rune, len(heights))
	for i, h := range heights {
		if out[i] = '·'; h > 0 {
			out[i] = bars[min(int(h/most*float64(len(bars))), len(bars)-1)]
		}
	}
	return string(out)
}

// Tally adds up what was charged, by account and hour, as charges come in: the past of a ledger of
// any length in a few numbers for each hour in which something was asked. The times are believed
// where they are in order and not to come; others count as that of the charge before. That is less
// than [Mend] can tell, which needs all of them at once.
type Tally struct {
	accounts map[string][]Spend
	last     time.Time
}

func (t *Tally) Add(at time.Time, accounts []string, cost dp.Cost, now time.Time) {
	if t.accounts == nil {
		t.accounts = map[string][]Spend{}
	}
	switch {
	case at.Before(beforeFirstLedger) && t.last.IsZero():
		at = now
	case at.After(now) && t.last.IsZero():
		at = now
	case at.Before(t.last) || at.After(now):
		at = t.last
	}
	t.last = at
	hour := at.UTC().Truncate(time.Hour)
	for _, name := range accounts {
		all := t.accounts[name]
		if n := len(all); n > 0 && all[n-1].Time.Equal(hour) {
			all[n-1].Cost, all[n-1].Charges = all[n-1].Cost.Add(cost), all[n-1].Charges+1
			continue
		}
		t.accounts[strings.Clone(name)] = append(all, Spend{Time: hour, Cost: cost, Charges: 1})
	}
}

// Of returns what an account was charged, by hours, in their order. It is not to be changed.
func (t *Tally) Of(account string) []Spend { return t.accounts[account] }

// Accounts returns the names of all accounts that were charged, in no order.
func (t *Tally) Accounts() []string {
	out := make([]string, 0, len(t.accounts))
	for name := range t.accounts {
		out = append(out, name)
	}
	return out
}
