package httpapi

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/curator/budgets"
	"github.com/discreet-dp/discreet/internal/server/admission"
	"github.com/discreet-dp/discreet/internal/server/users"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/policy"
)

// Spending is what was spent of a dataset's budget.
type Spending struct {
	Dataset  string        `json:"dataset"`
	Accounts []api.Account `json:"accounts" doc:"Your own account; for the owner, all of them"`
	// Remaining is what can still be spent.
	Remaining *api.Remaining `json:"remaining,omitempty" doc:"What you can still spend: the smallest amount left in any account that you are charged in"`
	// Questions is about how many more questions that is.
	Questions *int64   `json:"questions,omitempty" doc:"About how many more questions that pays for at the default price"`
	Promise   []string `json:"promise,omitempty" doc:"What the budget promises to every person in the data; for the owner"`
}

// budgetHandler tells what was spent, and what is left.
type budgetHandler struct {
	dispatcher *admission.Dispatcher
	history    *history
}

func (h *budgetHandler) register(r *router) {
	register(r, operation(anyUser, http.MethodGet, "/v1/datasets/{name}/budget", "budget", "What is spent, and what is left",
		"Your own account, and what you can still spend; for the owner, all accounts and the promise.", http.StatusNotFound),
		func(ctx context.Context, u users.User, in *datasetPath) (*body[Spending], error) {
			ds, err := datasetFor(h.dispatcher.DB().Policy(), u, in.Name)
			if err != nil {
				return nil, err
			}
			out, err := SpendingOf(ctx, h.dispatcher.DB(), ds, u)
			if err != nil {
				return nil, err
			}
			return bodyOf(out), nil
		})
	h.registerSpending(r)
}

// SpendingOf is what a user is told about the budget of a dataset.
func SpendingOf(ctx context.Context, db *discreet.DB, ds *policy.Dataset, u users.User) (out Spending, err error) {
	out.Dataset = ds.Name
	if u.Role == users.Owner {
		out.Accounts, err = db.Budget(ctx, ds.Name)
	} else {
		out.Accounts, err = db.BudgetOf(ctx, ds.Name, u.Name)
	}
	if err != nil {
		return out, err
	}
	if ds.Analysts[u.Name] != nil {
		left, err := db.Remaining(ctx, ds.Name, u.Name)
		if err != nil {
			return out, err
		}
		out.Remaining = &left
		if n, ok := left.Questions(ds.Budget.DefaultEpsilon); ok {
			out.Questions = &n
		}
	}
	if u.Role == users.Owner {
		out.Promise, err = db.Promise(ctx, ds.Name)
	}
	return out, err
}

// isOwnAccount says whether an account is an analyst's own in a dataset: hospital/ana, or
// hospital/ana#2 in the second window.
func isOwnAccount(analyst, dataset, account string) bool {
	name, _, _ := strings.Cut(account, "#")
	return name == dataset+"/"+analyst
}

// Charged is what somebody was charged in a time.
type Charged struct {
	Analyst string  `json:"analyst"`
	Charges int     `json:"charges" doc:"How many questions were charged"`
	Cost    dp.Cost `json:"cost"`
}

// Span is a part of the time that was asked about.
type Span struct {
	Start    time.Time `json:"start" doc:"When it begins, in UTC"`
	Charges  int       `json:"charges"`
	Cost     dp.Cost   `json:"cost" doc:"What everybody listed was charged in total"`
	Analysts []Charged `json:"analysts" doc:"By name; analysts with no charges are left out"`
}

// LastingAccount is an account with how long it lasts.
type LastingAccount struct {
	api.Account
	Questions *int64           `json:"questions,omitempty" doc:"About how many more questions it pays for at the default price"`
	Forecast  budgets.Forecast `json:"forecast" doc:"How long it will last at the pace of the last 30 days"`
}

// Window is where a renewed budget stands.
type Window struct {
	Number  uint64 `json:"number" doc:"The current window, counted from 1"`
	Windows uint64 `json:"windows" doc:"How many there will ever be"`
	Every   string `json:"every"`
	Due     string `json:"due,omitempty" doc:"For the owner: the day from which they meant to begin the next one. Left out before the first charge and in the last window"`
	Overdue bool   `json:"overdue" doc:"True from that day on"`
}

type BudgetAlert struct {
	Account string `json:"account"`
	Kind    string `json:"kind" enum:"spent,pace,due" doc:"spent: a threshold of the limit is passed. pace: it will be used up soon. due: the next window is due"`
	Percent int    `json:"percent,omitempty" doc:"For spent: the threshold, 50, 80 or 95; 100 if nothing is left"`
	Until   string `json:"until,omitempty" doc:"For pace: the day when it will be used up; for due: the day when it is due"`
	Text    string `json:"text"`
}

// SpendingOverTime is what was spent when, and how long the rest lasts.
type SpendingOverTime struct {
	Dataset    string           `json:"dataset"`
	Claim      string           `json:"claim" enum:"epsilon,rho" doc:"Which member of costs, limits and what is left to plot: the one by which the budget lasts longer"`
	Bucket     string           `json:"bucket" enum:"hour,day,week"`
	From       time.Time        `json:"from"`
	To         time.Time        `json:"to"`
	Spans      []Span           `json:"spans" doc:"In order, without gaps"`
	Accounts   []LastingAccount `json:"accounts" doc:"Your own; for the owner, all of them"`
	Window     *Window          `json:"window,omitempty" doc:"If the budget is renewed"`
	Thresholds []int            `json:"thresholds" doc:"The percentages of a limit that raise an alert"`
	Alerts     []BudgetAlert    `json:"alerts"`
}

type spendingInput struct {
	Name   string    `path:"name" maxLength:"64"`
	Bucket string    `query:"bucket" enum:"hour,day,week" default:"day" doc:"How long a span is. Weeks begin on Monday, in UTC"`
	From   time.Time `query:"from" doc:"A time in the first span; 30 spans before the last if you leave it out"`
	To     time.Time `query:"to" doc:"A time in the last span; now if you leave it out"`
}

// maxSpans is how many spans one answer has.
const maxSpans = 1000

func (h *budgetHandler) registerSpending(r *router) {
	register(r, operation(anyUser, http.MethodGet, "/v1/datasets/{name}/spending", "spending", "What was spent when, and how long the "+
		"rest will last",
		"Charges per span of time, what is left, and a forecast at the pace of the last 30 days. Your own; for the owner, everybody's.",
		http.StatusNotFound),
		func(ctx context.Context, u users.User, in *spendingInput) (*body[SpendingOverTime], error) {
			ds, err := datasetFor(h.dispatcher.DB().Policy(), u, in.Name)
			if err != nil {
				return nil, err
			}
			out, err := h.spending(ctx, u, ds, in, time.Now())
			if err != nil {
				return nil, err
			}
			return bodyOf(*out), nil
		})
}

func (h *budgetHandler) spending(ctx context.Context, u users.User, ds *policy.Dataset, in *spendingInput,
	now time.Time) (*SpendingOverTime, error) {
	db, owner := h.dispatcher.DB(), u.Role == users.Owner
	out := &SpendingOverTime{Dataset: ds.Name, Claim: "rho", Bucket: in.Bucket, Accounts: []LastingAccount{}, Alerts: []BudgetAlert{},
		Thresholds: ledger.Thresholds}
	var accounts []api.Account
	var err error
	if owner {
		accounts, err = db.Budget(ctx, ds.Name)
	} else {
		accounts, err = db.BudgetOf(ctx, ds.Name, u.Name)
	}
	if err != nil {
		return nil, err
	}
	// What others spend is not an analyst's to see: they get what is in their own account.
	spent, err := h.history.spentByHour(ctx, db, func(account string) bool {
		ofDataset := account == ds.Name || strings.HasPrefix(account, ds.Name+"/") || strings.HasPrefix(account, ds.Name+"#")
		return ofDataset && (owner || isOwnAccount(u.Name, ds.Name, account))
	})
	if err != nil {
		return nil, err
	}
	if len(accounts) > 0 && accounts[0].ByEpsilon() {
		out.Claim = "epsilon"
	}
	for _, a := range accounts {
		out.Accounts = append(out.Accounts, LastingAccount{a, a.Questions(ds.Budget.DefaultEpsilon),
			budgets.NewForecast(spent[a.Name], a.Limit, a.Left, now)})
	}
	if err := out.fillSpans(ds, spent, in, now); err != nil {
		return nil, err
	}
	if err := h.window(ctx, out, ds, owner, now); err != nil {
		return nil, err
	}
	for _, a := range out.Accounts {
		out.alert(a, now)
	}
	return out, nil
}

// window says where a renewed budget stands. When the next one is due follows from the first
// charge, which may be another's, so it is for the owner.
func (h *budgetHandler) window(ctx context.Context, out *SpendingOverTime, ds *policy.Dataset, owner bool, now time.Time) error {
	if !ds.Budget.Renews() {
		return nil
	}
	w := &Window{Every: ds.Budget.Renewal.Every, Windows: uint64(ds.Budget.Renewal.Windows)}
	for _, a := range out.Accounts {
		w.Number = max(w.Number, a.Window)
	}
	out.Window = w
	if !owner || w.Number >= w.Windows {
		return nil
	}
	began, spent, err := h.history.windowStart(ctx, h.dispatcher.DB(), ds.Name)
	if err != nil || !spent {
		return err
	}
	due := ds.Budget.Renewal.Next(began)
	w.Due, w.Overdue = due.Format(time.DateOnly), !now.Before(due)
	if w.Overdue {
		out.Alerts = append(out.Alerts, BudgetAlert{Account: ledger.WindowName(ds.Name, w.Number), Kind: "due", Until: w.Due,
			Text: fmt.Sprintf("the next window of %s was meant to begin on %s", ds.Name, w.Due)})
	}
	return nil
}

// paceAlertWithin is how near the end of a budget has to be for an alert.
const paceAlertWithin = 14 * 24 * time.Hour

// alert adds what is to be looked after in an account.
func (out *SpendingOverTime) alert(a LastingAccount, now time.Time) {
	if a.Forecast.Status == budgets.UsedUp {
		out.Alerts = append(out.Alerts, BudgetAlert{Account: a.Name, Kind: "spent", Percent: 100,
			Text: fmt.Sprintf("the budget of %q is used up", a.Name)})
		return
	}
	if a.Alert > 0 {
		out.Alerts = append(out.Alerts, BudgetAlert{Account: a.Name, Kind: "spent", Percent: a.Alert,
			Text: ledger.Alert{Account: a.Name, Percent: a.Alert}.String()})
	}
	if a.Forecast.Status != budgets.Lasting || a.Forecast.Until == "" {
		return
	}
	// A window that ends before its budget does has enough; that of all windows has no such end.
	if out.Window != nil && a.Kind != "dataset" && out.Window.Due != "" && a.Forecast.Until > out.Window.Due {
		return
	}
	if a.Forecast.Until <= now.Add(paceAlertWithin).UTC().Format(time.DateOnly) {
		out.Alerts = append(out.Alerts, BudgetAlert{Account: a.Name, Kind: "pace", Until: a.Forecast.Until,
			Text: fmt.Sprintf("at the pace of the last %d days the budget of %q will be used up on %s", budgets.WindowDays, a.Name,
				a.Forecast.Until)})
	}
}

// fillSpans puts what analysts were charged into spans.
func (out *SpendingOverTime) fillSpans(ds *policy.Dataset, spent map[string][]budgets.Spend, in *spendingInput, now time.Time) error {
	to := in.To
	if to.IsZero() {
		to = now
	}
	from := in.From
	if from.IsZero() {
		from = addSpans(spanStart(to, in.Bucket), in.Bucket, -29)
	}
	if from.Year() < 1 || to.Year() > 9999 || from.After(to) {
		return invalidInput("query.from", "it must be before to, and both within the years 1 to 9999")
	}
	out.From = spanStart(from, in.Bucket)
	out.To = addSpans(spanStart(to, in.Bucket), in.Bucket, 1)
	places := map[time.Time]int{}
	out.Spans = []Span{}
	for at := out.From; at.Before(out.To); at = addSpans(at, in.Bucket, 1) {
		if len(out.Spans) == maxSpans {
			return invalidInput("query.from", fmt.Sprintf("that is more than %d spans: ask for fewer, or for longer ones", maxSpans))
		}
		places[at] = len(out.Spans)
		out.Spans = append(out.Spans, Span{Start: at, Analysts: []Charged{}})
	}
	by := make([]map[string]*Charged, len(out.Spans))
	for account, hours := range spent {
		name, ok := analystOf(ds.Name, account)
		if !ok {
			continue
		}
		for _, s := range hours {
			i, ok := places[spanStart(s.Time, in.Bucket)]
			if !ok {
				continue
			}
			if by[i] == nil {
				by[i] = map[string]*Charged{}
			}
			c := by[i][name]
			if c == nil {
				c = &Charged{Analyst: name}
				by[i][name] = c
			}
			c.Charges, c.Cost = c.Charges+s.Charges, c.Cost.Add(s.Cost)
			out.Spans[i].Charges, out.Spans[i].Cost = out.Spans[i].Charges+s.Charges, out.Spans[i].Cost.Add(s.Cost)
		}
	}
	for i, all := range by {
		for _, c := range all {
			out.Spans[i].Analysts = append(out.Spans[i].Analysts, *c)
		}
		slices.SortFunc(out.Spans[i].Analysts, func(a, b Charged) int { return strings.Compare(a.Analyst, b.Analyst) })
	}
	return nil
}

// analystOf returns whose an account is, where it is an analyst's: hospital/ana, or hospital/ana#2.
func analystOf(dataset, account string) (string, bool) {
	name, _, _ := strings.Cut(account, "#")
	name, ok := strings.CutPrefix(name, dataset+"/")
	return name, ok && !strings.Contains(name, ":")
}

// spanStart is when the span begins that a time lies in.
func spanStart(t time.Time, bucket string) time.Time {
	t = t.UTC().Truncate(time.Hour)
	if bucket == "hour" {
		return t
	}
	day := time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC)
	if bucket == "week" {
		day = day.AddDate(0, 0, -(int(day.Weekday())+6)%7)
	}
	return day
}

// addSpans goes on by so many spans.
func addSpans(t time.Time, bucket string, n int) time.Time {
	switch bucket {
	case "hour":
		return t.Add(time.Duration(n) * time.Hour)
	case "week":
		n *= 7
	}
	return t.AddDate(0, 0, n)
}
