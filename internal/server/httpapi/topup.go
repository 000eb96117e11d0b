package httpapi

import (
	"context"
	"errors"
	"net/http"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/server/users"
	"github.com/discreet-dp/discreet/ledger"
)

// TopUp is more budget.
type TopUp struct {
	Analyst string  `json:"analyst,omitempty" maxLength:"64" doc:"Raises the quota of this analyst. Without analyst and group it is the dataset's own limit, and people in the data are promised less"`
	Group   string  `json:"group,omitempty" maxLength:"64" doc:"Raises the quota of this group"`
	Epsilon decimal `json:"epsilon,omitempty" doc:"How much more the limit is worth, at the same delta"`
	Delta   decimal `json:"delta,omitempty" doc:"How much more there is for private keys"`
	Reason  string  `json:"reason" minLength:"1" maxLength:"1000" doc:"Why, for whoever reads the ledger later"`
}

// SignedTopUp is more budget that was signed for.
type SignedTopUp struct {
	TopUp
	Signed
}

// TopUpDraft is a top-up that is yet to be signed.
type TopUpDraft struct {
	Draft Draft `json:"draft"`
	api.Raised
}

// Raised is what a top-up did.
type Raised struct {
	api.Raised
	Again bool `json:"again" doc:"It was written before, and is not written twice; then only the sequence is told"`
}

type topUpInput struct {
	Name string `path:"name" maxLength:"64"`
	Body TopUp
}

type signedTopUpInput struct {
	Name string `path:"name" maxLength:"64"`
	Body SignedTopUp
}

func (d *door) topUps() {
	register(d, drafting("/v1/datasets/{name}/topups/draft", "draft-topup", "Draft a top-up"),
		func(ctx context.Context, u users.User, in *topUpInput) (*body[TopUpDraft], error) {
			raised, err := d.topUp(ctx, u, in.Name, in.Body, ledger.Deferred{})
			draft, err := d.draftOf(ctx, err)
			if err != nil {
				return nil, err
			}
			return of(TopUpDraft{draft, *raised}), nil
		})
	register(d, writing("/v1/datasets/{name}/topups", "topup", "Give more budget",
		"For the owner. Raises the limit of a dataset, a group or an analyst, for the current window where the budget is renewed."),
		func(ctx context.Context, u users.User, in *signedTopUpInput) (*body[Raised], error) {
			raised, err := d.topUp(ctx, u, in.Name, in.Body.TopUp, in.Body.signer())
			if record, written := d.again(ctx, in.Body.Signed, err); written {
				return of(Raised{api.Raised{Sequence: record, Before: []api.Account{}, After: []api.Account{},
					PromiseBefore: []string{}, Promise: []string{}}, true}), nil
			}
			if err != nil {
				return nil, err
			}
			return of(Raised{*raised, false}), nil
		})
}

func (d *door) topUp(ctx context.Context, u users.User, name string, in TopUp, signer ledger.Deferred) (*api.Raised, error) {
	dataset, err := d.owned(u, name)
	if err != nil {
		return nil, err
	}
	t := api.TopUp{Reason: in.Reason, Signer: signer}
	switch {
	case in.Analyst != "" && in.Group != "":
		return nil, unfit("body.group", "name an analyst or a group, and not both")
	case in.Analyst != "":
		t.Account = in.Analyst
	case in.Group != "":
		t.Account = "group:" + in.Group
	}
	for _, a := range []struct {
		where string
		text  decimal
		to    *dp.Amount
	}{{"body.epsilon", in.Epsilon, &t.Epsilon}, {"body.delta", in.Delta, &t.Delta}} {
		if a.text == "" {
			continue
		}
		amount, err := dp.Parse(string(a.text))
		if err == nil && amount == 0 {
			err = errors.New("it must be above 0")
		}
		if err != nil {
			return nil, unfit(a.where, err.Error())
		}
		*a.to = amount
	}
	return d.Dispatcher.DB().TopUp(ctx, dataset, t)
}

// unfit is an input that the schema lets through and that cannot be used.
func unfit(where, problem string) *Problem {
	return &Problem{Status: http.StatusUnprocessableEntity, Kind: "invalid", Detail: "the input is not as the document says",
		Instead: "GET /openapi.json has its schema", Errors: []*Fault{{clip(problem), where}}}
}
