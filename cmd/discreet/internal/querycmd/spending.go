package querycmd

import (
	"fmt"
	"io"
	"iter"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/cmd/discreet/internal/console"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/chart"
	"github.com/discreet-dp/discreet/internal/forecast"
	"github.com/discreet-dp/discreet/internal/render"
	"github.com/discreet-dp/discreet/internal/table"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/policy"
)

// spendingHistory is what was charged over time, by account.
type spendingHistory struct {
	accounts map[string][]forecast.Spend
	// jumps are what a recovery counted as spent: no rate, but a part of the picture.
	jumps  map[string][]recoveredSpending
	first  time.Time
	mended int
}

// recoveredSpending is what an account has spent from a charge on, by a recovery.
type recoveredSpending struct {
	after int // charges of the account before it
	at    time.Time
	spent dp.Cost
}

// readSpendingHistory reads the charges out of the records and puts their times into order.
func readSpendingHistory(records iter.Seq2[*ledger.Record, error], at time.Time) (*spendingHistory, error) {
	var times []time.Time
	type place struct {
		account string
		index   int
	}
	var places [][]place // of each charge
	s := &spendingHistory{accounts: map[string][]forecast.Spend{}, jumps: map[string][]recoveredSpending{}, first: at}
	recoveries := map[int][]place{} // by how many charges came before
	for r, err := range records {
		if err != nil {
			return nil, err
		}
		switch r.Kind {
		case ledger.KindCharge:
			var all []place
			for _, b := range r.Balances {
				all = append(all, place{b.Account, len(s.accounts[b.Account])})
				s.accounts[strings.Clone(b.Account)] = append(s.accounts[b.Account], forecast.Spend{Cost: r.Cost})
			}
			times, places = append(times, r.Time), append(places, all)
		case ledger.KindRecovery:
			for _, b := range r.Balances {
				name := strings.Clone(b.Account)
				recoveries[len(times)] = append(recoveries[len(times)], place{name, len(s.jumps[name])})
				s.jumps[name] = append(s.jumps[name], recoveredSpending{after: len(s.accounts[name]), at: r.Time, spent: b.Spent})
			}
		}
	}
	s.mended = forecast.Mend(times, at)
	for i, all := range places {
		for _, p := range all {
			s.accounts[p.account][p.index].Time = times[i]
		}
	}
	for n, all := range recoveries {
		for _, p := range all {
			if n > 0 {
				s.jumps[p.account][p.index].at = times[n-1]
			}
		}
	}
	if len(times) > 0 {
		s.first = times[0]
	}
	return s, nil
}

func (s *spendingHistory) forecast(a api.Account, at time.Time) forecast.Forecast {
	return forecast.New(s.accounts[a.Name], a.Limit, a.Left, at)
}

// print says how long the accounts last.
func (s *spendingHistory) print(w io.Writer, accounts []api.Account, due string, at time.Time) {
	t := &table.Table{Header: []string{"account", fmt.Sprintf("the last %d days", forecast.Days), "at this rate the budget"}}
	for _, a := range accounts {
		f := s.forecast(a, at)
		daily := forecast.Daily(s.accounts[a.Name], func(c dp.Cost) dp.Amount { return console.Claim(a.ByEpsilon(), c) }, forecast.Days, at)
		words := forecastWords(f)
		if due != "" && a.Kind != "dataset" && f.Status == forecast.Lasting && (f.Until == "" || f.Until > due) {
			words = fmt.Sprintf("lasts longer than its window, which is meant to end on %s (%s)", due, rateWords(f))
		}
		t.Add(a.Name, forecast.Sparkline(daily), words)
	}
	t.Write(w)
}

// forecastWords says how long an account lasts, as it reads after "at this rate the budget".
func forecastWords(f forecast.Forecast) string {
	switch f.Status {
	case forecast.UsedUp:
		return "is used up"
	case forecast.Idle:
		return fmt.Sprintf("lasts: nothing was spent in the last %d days", forecast.Days)
	case forecast.Early:
		if f.Charges == 0 {
			return "lasts: nothing was spent yet"
		}
		if f.Days < 1 {
			return fmt.Sprintf("... it is too early to say: %s in less than a day", render.Count(int64(f.Charges), "charge"))
		}
		return fmt.Sprintf("... it is too early to say: %s in %s", render.Count(int64(f.Charges), "charge"), ratePeriodWords(f))
	}
	if f.Until == "" {
		return fmt.Sprintf("lasts for more than a hundred years (%s)", rateWords(f))
	}
	if f.DaysLeft < 1 {
		return fmt.Sprintf("lasts for less than a day (%s)", rateWords(f))
	}
	return fmt.Sprintf("lasts until %s, %s (%s)", f.Until, render.Count(int64(f.DaysLeft), "day"), rateWords(f))
}

// rateWords says how much a day takes.
func rateWords(f forecast.Forecast) string {
	return fmt.Sprintf("%s %.3g a day over %s", f.Claim, f.PerDay, ratePeriodWords(f))
}

// ratePeriodWords says for how long a rate was looked at.
func ratePeriodWords(f forecast.Forecast) string {
	if f.Days < 1.5 {
		return "1 day"
	}
	return fmt.Sprintf("%d days", int(math.Round(f.Days)))
}

// chart draws what the accounts have spent over time, and their limits.
func (s *spendingHistory) chart(accounts []api.Account, at time.Time) chart.Chart {
	pure, mixed := accounts[0].ByEpsilon(), false
	for _, a := range accounts {
		mixed = mixed || a.ByEpsilon() != pure
	}
	days := func(t time.Time) float64 { return t.Sub(s.first).Hours() / 24 }
	// A picture of one moment has no width.
	end := max(days(at), 1e-3)
	out := chart.Chart{
		Title: "What was spent over time", Subtitle: "each account with its limit, by the times of the records",
		X: "days since " + console.Timestamp(s.first) + " (UTC)", Y: "rho",
	}
	switch {
	case mixed:
		out.Y = "epsilon or rho"
	case pure:
		out.Y = "epsilon"
	}
	for _, a := range accounts {
		total, points := 0.0, []chart.Point{{X: 0, Y: 0}}
		step := func(x, y float64) {
			points = append(points, chart.Point{X: x, Y: total}, chart.Point{X: x, Y: y})
			total = y
		}
		jumps := s.jumps[a.Name]
		for i, spend := range s.accounts[a.Name] {
			for len(jumps) > 0 && jumps[0].after <= i {
				step(days(jumps[0].at), console.Claim(a.ByEpsilon(), jumps[0].spent).Float())
				jumps = jumps[1:]
			}
			step(days(spend.Time), total+console.Claim(a.ByEpsilon(), spend.Cost).Float())
		}
		for _, j := range jumps {
			step(min(max(days(j.at), 0), end), console.Claim(a.ByEpsilon(), j.spent).Float())
		}
		points = append(points, chart.Point{X: end, Y: total})
		out.Curves = append(out.Curves, chart.Curve{Name: a.Name, Points: points})
	}
	out.Curves = append(out.Curves, limitCurves(accounts, end)...)
	return out
}

// limitCurves are the limits of accounts as level lines, one for those that have the same.
func limitCurves(accounts []api.Account, end float64) (out []chart.Curve) {
	at := map[float64]int{}
	for _, a := range accounts {
		limit := console.Claim(a.ByEpsilon(), a.Limit).Float()
		if i, ok := at[limit]; ok {
			out[i].Name += ", " + a.Name
			continue
		}
		at[limit] = len(out)
		out = append(out, chart.Curve{Name: "limit of " + a.Name, Points: []chart.Point{{X: 0, Y: limit}, {X: end, Y: limit}}})
	}
	return out
}

// unknownDatasets returns the datasets that were charged and that the policy does not name.
func (s *spendingHistory) unknownDatasets(p *policy.Policy) []string {
	var out []string
	for account := range s.accounts {
		name, _, _ := strings.Cut(account, "#")
		name, _, _ = strings.Cut(name, "/")
		if p.Datasets[name] == nil && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}
