package policy

import (
	"slices"
	"time"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/account"
)

// Renewal says that a budget is one window's, and that there is a next one. The owner begins each
// window with a record in the ledger; no clock does.
type Renewal struct {
	// Every is how long a window is meant to be: day, week, month, quarter or year. It is a word
	// for people, and what a reminder goes by. Nothing that is spent depends on it.
	Every string
	// Windows is how many windows there will ever be; 0 where the budget is not renewed.
	Windows int64
}

// maxWindows is far above what people plan: 19 years of weeks.
const maxWindows = 1000

var periods = []string{"day", "week", "month", "quarter", "year"}

// Renews reports whether there is more than one budget over time.
func (b Budget) Renews() bool { return b.Renewal.Windows > 0 }

// Next returns the day, in UTC, on which a window that began at a time is meant to end. A month
// that begins on the 31st ends on the last day of the next one.
func (r Renewal) Next(begin time.Time) time.Time {
	y, m, d := begin.UTC().Date()
	months := 0
	switch r.Every {
	case "day":
		return time.Date(y, m, d+1, 0, 0, 0, 0, time.UTC)
	case "week":
		return time.Date(y, m, d+7, 0, 0, 0, 0, time.UTC)
	case "month":
		months = 1
	case "quarter":
		months = 3
	default:
		months = 12
	}
	last := time.Date(y, m+time.Month(months)+1, 0, 0, 0, 0, 0, time.UTC).Day()
	return time.Date(y, m+time.Month(months), min(d, last), 0, 0, 0, 0, time.UTC)
}

// TotalFilter returns the filter of all windows together, which is Filter where the budget is not
// renewed. What is admitted in the windows adds up: rho to Windows times the rho of one, and what
// is set aside for private keys to Windows times that. The conversion from rho happens once, at the
// same delta.
func (d *Dataset) TotalFilter() account.Filter {
	one := d.Filter()
	if !d.Budget.Renews() {
		return one
	}
	all := one.Limit().Mul(uint64(d.Budget.Renewal.Windows))
	if d.Budget.Pure() {
		return account.PureFilter(all.Epsilon)
	}
	return account.ZCDPFilter(all.Rho, all.Delta)
}

func (b *Budget) readRenewal(r *reader, at element) bool {
	f, ok := r.fields(at, at.node, "a renewal", renewalKeys)
	if !ok {
		return false
	}
	if v, given := f.need(r, "every", "how long a window is: day, week, month, quarter or year"); given {
		text, read := r.text(v, "every", "day, week, month, quarter or year")
		switch {
		case !read:
			ok = false
		case !slices.Contains(periods, text):
			r.at(v, "there is no window of %s; write day, week, month, quarter or year%s", quote(text), didYouMean(text, periods...))
			ok = false
		}
		b.Renewal.Every = text
	} else {
		ok = false
	}
	v, given := f.need(r, "windows",
		"how many windows there will ever be, such as 12; the promise to the people in the data is over all of them")
	if !given {
		return false
	}
	n, read := r.whole(v, "windows", maxWindows, "how many windows there will ever be")
	b.Renewal.Windows = n
	return ok && read
}

// checkTotal refuses windows that together promise nothing.
func (in budgetReader) checkTotal(at element) {
	b, limit := in.d.Budget, in.d.TotalFilter().Limit()
	epsilon := limit.Epsilon
	if !b.Pure() {
		var err error
		if epsilon, err = account.Epsilon(limit.Rho, b.RhoDelta()); err != nil {
			epsilon = dp.Unbounded
		}
		if delta := b.RhoDelta().Add(limit.Delta); delta.Rat().Cmp(maxDelta) > 0 {
			in.r.at(at, "over all %d windows delta adds up to %s, which is above 0.01; write fewer windows, or a smaller keys_delta",
				b.Renewal.Windows, delta.Short())
		}
	}
	if epsilon > maxEpsilon {
		in.r.at(at, "over all %d windows this is epsilon %s, which is above 100 and protects nobody; write fewer windows, or a smaller "+
			"epsilon for each", b.Renewal.Windows, epsilon.Short())
	}
}
