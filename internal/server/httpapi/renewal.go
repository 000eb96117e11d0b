package httpapi

import (
	"context"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/server/users"
	"github.com/discreet-dp/discreet/ledger"
)

// Renewal begins the next window.
type Renewal struct {
	Reason string `json:"reason" minLength:"1" maxLength:"1000" doc:"Why, for whoever reads the ledger later"`
}

// SignedRenewal is a renewal that was signed for.
type SignedRenewal struct {
	Renewal
	Signed
}

// RenewalDraft is a renewal that is yet to be signed.
type RenewalDraft struct {
	Draft Draft `json:"draft"`
	api.Renewed
}

// Renewed says which window began.
type Renewed struct {
	api.Renewed
	Again bool `json:"again" doc:"It was begun before, by the same record; then only the sequence is told"`
}

type renewalInput struct {
	Name string `path:"name" maxLength:"64"`
	Body Renewal
}

type signedRenewalInput struct {
	Name string `path:"name" maxLength:"64"`
	Body SignedRenewal
}

func (d *door) renewals() {
	register(d, drafting("/v1/datasets/{name}/renewals/draft", "draft-renewal", "Draft a renewal"),
		func(ctx context.Context, u users.User, in *renewalInput) (*body[RenewalDraft], error) {
			renewed, err := d.renew(ctx, u, in.Name, in.Body.Reason, ledger.Deferred{})
			draft, err := d.draftOf(ctx, err)
			if err != nil {
				return nil, err
			}
			return of(RenewalDraft{draft, renewed}), nil
		})
	register(d, writing("/v1/datasets/{name}/renewals", "renew", "Begin the next window",
		"For the owner. Ends the current window of a budget that is renewed, and begins the next one, where the policy has one more. "+
			"Questions that run meanwhile are charged and not answered: do it when little is going on."),
		func(ctx context.Context, u users.User, in *signedRenewalInput) (*body[Renewed], error) {
			renewed, err := d.renew(ctx, u, in.Name, in.Body.Reason, in.Body.signer())
			if record, written := d.again(ctx, in.Body.Signed, err); written {
				return of(Renewed{api.Renewed{Sequence: record, Promise: []string{}}, true}), nil
			}
			if err != nil {
				return nil, err
			}
			return of(Renewed{renewed, false}), nil
		})
}

func (d *door) renew(ctx context.Context, u users.User, name, reason string, signer ledger.Deferred) (api.Renewed, error) {
	dataset, err := d.owned(u, name)
	if err != nil {
		return api.Renewed{}, err
	}
	return d.Dispatcher.DB().RenewSigned(ctx, dataset, reason, signer)
}
