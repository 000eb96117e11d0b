package forecast

import (
	"strings"
	"time"

	"github.com/discreet-dp/discreet/dp"
)

// Tally adds up what was charged, by account and hour, as charges come in: the past of a ledger of
// any length in a few numbers for each hour in which something was asked. The times are believed
// where they are in order and not to come; others count as that of the charge before. That is less
// than [Mend] can tell, which needs all of them at once.
type Tally struct {
	accounts map[string][]Spend
	last     time.Time
}

// Add takes in the next charge.
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
