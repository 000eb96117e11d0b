package httpapi

import (
	"context"
	"net/http"
	"strings"

	"github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/server/users"
	"github.com/discreet-dp/discreet/policy"
)

// Spending is what was spent of a dataset's budget.
type Spending struct {
	Dataset  string        `json:"dataset"`
	Accounts []api.Account `json:"accounts" doc:"Your own account; all of them, for the owner"`
	// Remaining is what can still be spent.
	Remaining *api.Remaining `json:"remaining,omitempty" doc:"What you can still spend: the least of what is left in all accounts that you are charged in"`
	// Questions is about how many more questions that is.
	Questions *int64   `json:"questions,omitempty" doc:"About how many more questions that is at the default price"`
	Promise   []string `json:"promise,omitempty" doc:"What the budget promises to every person in the data; for the owner"`
}

func (d *door) budgets() {
	register(d, operation(anyUser, http.MethodGet, "/v1/datasets/{name}/budget", "budget", "What is spent and what is left",
		"Your own account and what you can still spend; for the owner, all accounts and the promise.", http.StatusNotFound),
		func(ctx context.Context, u users.User, in *datasetPath) (*body[Spending], error) {
			ds, err := d.dataset(u, in.Name)
			if err != nil {
				return nil, err
			}
			out, err := SpendingOf(ctx, d.Dispatcher.DB(), ds, u)
			if err != nil {
				return nil, err
			}
			return of(out), nil
		})
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

// owns says whether an account is an analyst's own in a dataset: hospital/ana, or hospital/ana#2 in
// the second window.
func owns(analyst, dataset, account string) bool {
	name, _, _ := strings.Cut(account, "#")
	return name == dataset+"/"+analyst
}
