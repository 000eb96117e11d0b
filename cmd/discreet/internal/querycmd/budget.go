package querycmd

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"iter"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/cmd/discreet/internal/console"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/curator/budgets"
	"github.com/discreet-dp/discreet/internal/lab/chart"
	"github.com/discreet-dp/discreet/internal/render"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/policy"
)

type BudgetCmd struct {
	Policy  string `help:"The policy file." required:"" placeholder:"FILE" short:"p"`
	Dataset string `help:"Only this dataset." placeholder:"NAME"`
	Plot    string `help:"Plot the spending over time, with the limits, to a .png or .svg file." placeholder:"FILE"`
	JSON    bool   `help:"Print JSON." name:"json"`
}

func (BudgetCmd) Help() string {
	return `Shows the account of the dataset, which limits all analysts together, and each analyst's quota inside it; how much of
each is spent, with a mark from 50, 80 and 95 % on; and how long it lasts at the rate of the last 30 days.

  discreet budget --policy hospital.yaml
  discreet budget --policy hospital.yaml --plot spending.png`
}

// forecastAccount is an account with how long it lasts.
type forecastAccount struct {
	api.Account
	// Questions is about how many more questions at the default price are left.
	Questions *int64           `json:"questions,omitempty"`
	Forecast  budgets.Forecast `json:"forecast"`
}

// printQuestions says about how many questions each account has left.
func printQuestions(w io.Writer, accounts []api.Account, epsilon dp.Amount) {
	var parts []string
	for _, a := range accounts {
		if n := a.Questions(epsilon); n != nil {
			parts = append(parts, fmt.Sprintf("%s about %d", a.Name, *n))
		}
	}
	if len(parts) > 0 {
		fmt.Fprintf(w, "left, in questions at the default price of epsilon %v: %s\n", epsilon, strings.Join(parts, ", "))
	}
}

func (c *BudgetCmd) Run(ctx context.Context, s console.Screen) error {
	if c.Plot != "" {
		if err := console.CanSave(c.Plot); err != nil {
			return err
		}
	}
	db, err := discreet.Open(ctx, c.Policy, discreet.AsOwner())
	if err != nil {
		return err
	}
	defer db.Close()
	names := []string{c.Dataset}
	if c.Dataset == "" {
		names = db.Policy().Names()
	}
	var groups [][]api.Account
	var words [][]string
	for _, name := range names {
		accounts, err := db.Budget(ctx, name)
		if err != nil {
			return err
		}
		promise, err := db.Promise(ctx, name)
		if err != nil {
			return err
		}
		groups, words = append(groups, accounts), append(words, promise)
	}
	price := func(accounts []api.Account) dp.Amount {
		return db.Policy().Datasets[accounts[0].Name].Budget.DefaultEpsilon
	}
	at := s.Now()
	spent, err := readSpendingHistory(db.Records(ctx, 0), at)
	if err != nil {
		return err
	}
	if c.Plot != "" {
		if err := console.SaveChart(c.Plot, spent.chart(slices.Concat(groups...), at)); err != nil {
			return err
		}
	}
	if c.JSON {
		all, promises := []forecastAccount{}, map[string][]string{}
		for i, accounts := range groups {
			promises[accounts[0].Name] = words[i]
			for _, a := range accounts {
				all = append(all, forecastAccount{a, a.Questions(price(accounts)), spent.forecast(a, at)})
			}
		}
		return console.PrintJSON(s.Out, map[string]any{"accounts": all, "promise": promises, "mended_times": spent.mended})
	}
	for i, accounts := range groups {
		if i > 0 {
			fmt.Fprintln(s.Out)
		}
		printAccounts(s.Out, accounts)
		printQuestions(s.Out, accounts, price(accounts))
		for _, line := range words[i] {
			fmt.Fprintln(s.Out, console.CleanLines(line))
		}
		fmt.Fprintln(s.Out)
		due := ""
		if next, _, err := db.Due(ctx, accounts[0].Name); err == nil && !next.IsZero() {
			due = next.Format(time.DateOnly)
		}
		spent.print(s.Out, accounts, due, at)
	}
	for _, name := range spent.unknownDatasets(db.Policy()) {
		fmt.Fprintf(s.Out, "the ledger also holds charges of a dataset %q, which the policy does not name. If you renamed the "+
			"dataset, its people now have a second budget\n", name)
	}
	if spent.mended > 0 {
		fmt.Fprintf(s.Out, "%s out of order, because a clock was wrong: the forecast uses the time of the previous charge\n",
			console.Plural(spent.mended, "charge has a time", "charges have times"))
	}
	if c.Plot != "" {
		fmt.Fprintf(s.Out, "wrote %s\n", console.ShellQuote(c.Plot))
	}
	return nil
}

// alertWords mark an account that is near its limit.
var alertWords = map[int]string{50: "half", 80: "LOW", 95: "ALMOST OUT"}

// alertColours are those of a terminal: yellow, and bold red.
var alertColours = map[int]string{80: "\x1b[33m", 95: "\x1b[1;31m"}

func printAccounts(w io.Writer, accounts []api.Account) {
	pure, first := accounts[0].Limit.Rho == dp.Unbounded, accounts[0].ByEpsilon()
	mixed := slices.ContainsFunc(accounts, func(a api.Account) bool { return a.ByEpsilon() != first })
	t := &render.Table{Header: []string{"account", "spent", "", "limit", "left", "part", "", "worth so far", "kind"},
		Right: []bool{false, true, false, true, true, true}}
	raised := slices.ContainsFunc(accounts, func(a api.Account) bool {
		return console.Claim(a.ByEpsilon(), a.Granted) > 0 ||
			a.Granted.Delta > 0
	})
	ends := slices.ContainsFunc(accounts, func(a api.Account) bool { return a.Expires != "" })
	for _, column := range []struct {
		shown bool
		name  string
	}{{raised, "granted"}, {ends, "expires"}} {
		if column.shown {
			t.Header = append(t.Header, column.name)
		}
	}
	var colours []string
	for _, a := range accounts {
		by, unit := a.ByEpsilon(), ""
		spent, limit, left := console.Claim(by, a.Spent), console.Claim(by, a.Limit), console.Claim(by, a.Left)
		if mixed {
			unit = a.Side + " "
		}
		worth := "epsilon " + a.Guarantee.Epsilon.Short() + " of " + a.Total.Epsilon.Short()
		if !pure {
			worth += fmt.Sprintf(" at delta %v", a.Total.Delta)
		}
		word := alertWords[a.Alert]
		if a.Alert > 0 && left == 0 {
			word = "NOTHING LEFT"
		}
		cells := []string{a.Name, unit + spent.Short(), render.Bar(a.Part, 20), limit.Short(), left.Short(),
			fmt.Sprintf("%.0f %%", 100*a.Part), word, worth, kindWords(a)}
		if raised {
			cells = append(cells, topUpWords(a))
		}
		if ends {
			cells = append(cells, a.Expires)
		}
		t.Add(cells...)
		colours = append(colours, alertColours[a.Alert])
	}
	var text bytes.Buffer
	t.Write(&text)
	if console.IsTerminal(w) {
		console.PrintColoured(w, text.String(), colours)
	} else {
		w.Write(text.Bytes())
	}
	explainAmounts(w, accounts[0], mixed)
}

// explainAmounts says what the numbers of accounts are.
func explainAmounts(w io.Writer, a api.Account, mixed bool) {
	switch {
	case mixed:
		fmt.Fprintln(w, "amounts are epsilon or rho, whichever makes the account last longer")
	case a.ByEpsilon():
		fmt.Fprintln(w, "amounts are epsilon; a question at epsilon e takes e")
	default:
		fmt.Fprintln(w, "amounts are rho; a question at epsilon e takes rho = e tanh(e/2), about e²/2")
	}
	explainSides(w, a)
	if a.Limit.Delta > 0 && a.Limit.Delta != dp.Unbounded {
		fmt.Fprintf(w, "for private keys, delta %v of %v is spent\n", a.Spent.Delta, a.Limit.Delta)
	}
}

// explainSides says which of two sums keeps a budget that has two, of which one is enough.
func explainSides(w io.Writer, a api.Account) {
	switch {
	case a.Limit.Epsilon == dp.Unbounded || a.Limit.Rho == dp.Unbounded:
	case a.Spent.Epsilon > a.Limit.Epsilon:
		fmt.Fprintln(w, "the sum of epsilon is used up, as by every question with Gaussian noise: from here on the sum of rho keeps "+
			"this budget")
	case a.Spent.Rho > a.Limit.Rho:
		fmt.Fprintln(w, "the sum of rho is used up: from here on the sum of epsilon keeps this budget, and questions have Laplace noise")
	default:
		fmt.Fprintln(w, "the sum of epsilon or the sum of rho keeps this budget, whichever lasts longer; explain says which one a "+
			"question is paid from")
	}
}

func kindWords(a api.Account) string {
	if a.Kind == "window" {
		return fmt.Sprintf("window %d of %d", a.Window, a.Windows)
	}
	return a.Kind
}

func topUpWords(a api.Account) string {
	if amount := console.Claim(a.ByEpsilon(), a.Granted); amount > 0 {
		return "+" + amount.Short()
	}
	if a.Granted.Delta > 0 {
		return "+delta " + a.Granted.Delta.Short()
	}
	return ""
}

// spendingHistory is what was charged over time, by account.
type spendingHistory struct {
	accounts map[string][]budgets.Spend
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
	s := &spendingHistory{accounts: map[string][]budgets.Spend{}, jumps: map[string][]recoveredSpending{}, first: at}
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
				s.accounts[strings.Clone(b.Account)] = append(s.accounts[b.Account], budgets.Spend{Cost: r.Cost})
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
	s.mended = budgets.Mend(times, at)
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

func (s *spendingHistory) forecast(a api.Account, at time.Time) budgets.Forecast {
	return budgets.NewForecast(s.accounts[a.Name], a.Limit, a.Left, at)
}

func (s *spendingHistory) print(w io.Writer, accounts []api.Account, due string, at time.Time) {
	t := &render.Table{Header: []string{"account", fmt.Sprintf("the last %d days", budgets.WindowDays), "at this rate the budget"}}
	for _, a := range accounts {
		f := s.forecast(a, at)
		claim := func(c dp.Cost) dp.Amount { return console.Claim(a.ByEpsilon(), c) }
		daily := budgets.Daily(s.accounts[a.Name], claim, budgets.WindowDays, at)
		words := forecastWords(f)
		if due != "" && a.Kind != "dataset" && f.Status == budgets.Lasting && (f.Until == "" || f.Until > due) {
			words = fmt.Sprintf("lasts longer than its window, which is meant to end on %s (%s)", due, rateWords(f))
		}
		t.Add(a.Name, budgets.Sparkline(daily), words)
	}
	t.Write(w)
}

// forecastWords says how long an account lasts, as it reads after "at this rate the budget".
func forecastWords(f budgets.Forecast) string {
	switch f.Status {
	case budgets.UsedUp:
		return "is used up"
	case budgets.Idle:
		return fmt.Sprintf("lasts: nothing was spent in the last %d days", budgets.WindowDays)
	case budgets.Early:
		if f.Charges == 0 {
			return "lasts: nothing has been spent yet"
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

func rateWords(f budgets.Forecast) string {
	return fmt.Sprintf("%s %.3g a day over %s", f.Claim, f.PerDay, ratePeriodWords(f))
}

// ratePeriodWords says for how long a rate was looked at.
func ratePeriodWords(f budgets.Forecast) string {
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
		Title: "Spending over time", Subtitle: "each account with its limit, by the times of the records",
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
