package ledger

import "github.com/discreet-dp/discreet/api"

// Thresholds are the parts of a limit, in percent, at which an alert is given.
var Thresholds = []int{50, 80, 95}

// Alert says that a charge took an account over a part of its limit.
type Alert = api.Alert

// Alerts returns the alerts of a charge: of each account the highest threshold that this charge and
// none before it passed. They follow from the record alone, so each is given once. A request that
// had been charged before has none.
func (r Receipt) Alerts() []Alert {
	if r.Again {
		return nil
	}
	var all []Alert
	for _, b := range r.Balances {
		before := b
		before.Spent = b.Spent.Sub(r.Cost)
		passed := 0
		for _, percent := range Thresholds {
			if at := float64(percent) / 100; before.Part() < at && b.Part() >= at {
				passed = percent
			}
		}
		if passed > 0 {
			all = append(all, Alert{Account: b.Account, Percent: passed})
		}
	}
	return all
}
