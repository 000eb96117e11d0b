package httpapi

import (
	"context"
	"encoding/hex"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/server/admission"
	"github.com/discreet-dp/discreet/internal/server/users"
	"github.com/discreet-dp/discreet/ledger"
)

// What the owner decides is written over HTTP in two steps, and only with the owner's key, which
// this server never sees: it drafts the record, the owner signs that elsewhere, and what comes back
// is written where it is still what would be signed. The command line asks for less where it is on
// the machine itself, for a renewal and for a release in a ledger without an owner: there one has
// to be able to write the ledger's file, and here a password that was guessed would be enough.

// Draft is a record that is yet to be signed.
type Draft struct {
	Text        string    `json:"text" doc:"The text to sign with Ed25519, as UTF-8 bytes. It is the record without its signature, with the number and the hash of the record that it follows"`
	Kind        string    `json:"kind" enum:"topup,renewal,release" doc:"The kind of the record"`
	Follows     uint64    `json:"follows" doc:"The record that it follows: the last one in which an owner decided something, or, for a release, the last incident if that came later. Questions that analysts ask meanwhile do not matter"`
	Time        time.Time `json:"time" doc:"When it was drafted; this becomes the time of the record"`
	Expires     time.Time `json:"expires" doc:"Until when it can be written, if nothing else is decided meanwhile"`
	Fingerprint string    `json:"fingerprint" doc:"The fingerprint of the key whose signature counts, as 'discreet ledger key' prints it"`
}

// Signed is what comes back for a draft.
type Signed struct {
	Text      string `json:"text" minLength:"1" maxLength:"65536" doc:"The text of the draft"`
	Signature string `json:"signature" pattern:"^[0-9a-f]{128}$" doc:"The Ed25519 signature of the text with the key of the ledger's owner, in hexadecimal"`
}

func (s Signed) signer() ledger.Deferred {
	signature, _ := hex.DecodeString(s.Signature) // the schema says that it is hexadecimal
	return ledger.Deferred{Text: s.Text, Signature: signature}
}

// draft is the draft that a ledger has returned in the place of a record; any other error is what
// it is.
func (h *ownerHandler) draft(ctx context.Context, err error) (Draft, error) {
	var draft *ledger.DraftError
	if !errors.As(err, &draft) {
		return Draft{}, err
	}
	var r ledger.Record
	if err := r.DecodeSigned(draft.Text); err != nil {
		return Draft{}, err
	}
	key := r.PublicKey
	if r.Kind == ledger.KindRenewal { // which does not name the key that signs it
		owner, err := h.history.ownerKey(ctx, h.dispatcher.DB())
		if err != nil {
			return Draft{}, err
		}
		key = owner
	}
	return Draft{draft.Text, string(r.Kind), r.Sequence, r.Time.UTC(), r.Time.Add(ledger.DraftHolds).UTC(), ledger.Fingerprint(key)}, nil
}

// alreadyWritten reports whether what could not be written is in the ledger already, as record: the
// answer to whoever sent it may have been lost, and must not become a second record.
func (h *ownerHandler) alreadyWritten(ctx context.Context, s Signed, err error) (record uint64, written bool) {
	var signed ledger.Record
	if err == nil || signed.DecodeSigned(s.Text) != nil {
		return 0, false
	}
	// What was signed to follow a record is the first decision after it, or was not written.
	record, err = h.history.decisionAfter(ctx, h.dispatcher.DB(), signed.Sequence)
	if err != nil || record == 0 {
		return 0, false
	}
	r, err := h.dispatcher.DB().Record(ctx, record)
	after := ledger.Position{Sequence: signed.Sequence, Hash: signed.Previous}
	if err != nil || string(r.Signed(after)) != s.Text || r.Signature != "" && r.Signature != s.Signature {
		return 0, false
	}
	return record, true
}

// signatureProblems are the problems of an operation that takes a signature.
var signatureProblems = []int{http.StatusNotFound, http.StatusConflict}

// draftOperation and writing make the two operations of a thing that the owner signs.
func draftOperation(at, id, summary string) huma.Operation {
	return operation(ownerOnly, http.MethodPost, at, id, summary,
		"For the owner. Writes nothing: the answer has the text to sign, and what would follow. Then send the same input with text and "+
			"signature to the address without /draft.", signatureProblems...)
}

func writeOperation(at, id, summary, description string) huma.Operation {
	o := operation(ownerOnly, http.MethodPost, at, id, summary,
		description+" It needs a draft signed by the ledger's owner. A draft is stale (409) once an owner has decided something else, "+
			"or, for a release, something else has failed: then draft it again. A record that was already written is returned again, and "+
			"not written twice.", signatureProblems...)
	o.DefaultStatus = http.StatusCreated
	return o
}

// owned finds a dataset for the owner.
func (h *ownerHandler) owned(u users.User, name string) (string, error) {
	ds, err := datasetFor(h.dispatcher.DB().Policy(), u, name)
	if err != nil {
		return "", err
	}
	return ds.Name, nil
}

type TopUp struct {
	Analyst string  `json:"analyst,omitempty" maxLength:"64" doc:"Raises the quota of this analyst. Without analyst or group it raises the dataset's own limit, and people in the data are promised less"`
	Group   string  `json:"group,omitempty" maxLength:"64" doc:"Raises the quota of this group"`
	Epsilon decimal `json:"epsilon,omitempty" doc:"How much epsilon to add to the limit, at the same delta"`
	Delta   decimal `json:"delta,omitempty" doc:"How much to add for private keys"`
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

type Raised struct {
	api.Raised
	Again bool `json:"again" doc:"True if it was written before, and so not again; then only the sequence is returned"`
}

type topUpInput struct {
	Name string `path:"name" maxLength:"64"`
	Body TopUp
}

type signedTopUpInput struct {
	Name string `path:"name" maxLength:"64"`
	Body SignedTopUp
}

// ownerHandler serves what the owner decides and signs: top-ups, renewals and releases.
type ownerHandler struct {
	dispatcher *admission.Dispatcher
	history    *history
	requests   *requestHandler
}

func (h *ownerHandler) register(r *router) {
	h.registerTopUps(r)
	h.registerRenewals(r)
	h.registerReleases(r)
}

func (h *ownerHandler) registerTopUps(r *router) {
	register(r, draftOperation("/v1/datasets/{name}/topups/draft", "draft-topup", "Draft a top-up"),
		func(ctx context.Context, u users.User, in *topUpInput) (*body[TopUpDraft], error) {
			raised, err := h.topUp(ctx, u, in.Name, in.Body, ledger.Deferred{})
			draft, err := h.draft(ctx, err)
			if err != nil {
				return nil, err
			}
			return bodyOf(TopUpDraft{draft, *raised}), nil
		})
	register(r, writeOperation("/v1/datasets/{name}/topups", "topup", "Give more budget",
		"For the owner. Raises the limit of a dataset, a group or an analyst; if the budget is renewed, for the current window."),
		func(ctx context.Context, u users.User, in *signedTopUpInput) (*body[Raised], error) {
			raised, err := h.topUp(ctx, u, in.Name, in.Body.TopUp, in.Body.signer())
			if record, written := h.alreadyWritten(ctx, in.Body.Signed, err); written {
				h.requests.toppedUp(ctx, in.Name, in.Body.TopUp, record)
				return bodyOf(Raised{api.Raised{Sequence: record, Before: []api.Account{}, After: []api.Account{},
					PromiseBefore: []string{}, Promise: []string{}}, true}), nil
			}
			if err != nil {
				return nil, err
			}
			h.requests.toppedUp(ctx, in.Name, in.Body.TopUp, raised.Sequence)
			return bodyOf(Raised{*raised, false}), nil
		})
}

func (h *ownerHandler) topUp(ctx context.Context, u users.User, name string, in TopUp, signer ledger.Deferred) (*api.Raised, error) {
	dataset, err := h.owned(u, name)
	if err != nil {
		return nil, err
	}
	t := api.TopUp{Reason: in.Reason, Signer: signer}
	switch {
	case in.Analyst != "" && in.Group != "":
		return nil, invalidInput("body.group", "name an analyst or a group, not both")
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
			return nil, invalidInput(a.where, err.Error())
		}
		*a.to = amount
	}
	return h.dispatcher.DB().TopUp(ctx, dataset, t)
}

// invalidInput is an input that the schema lets through and that cannot be used.
func invalidInput(where, problem string) *Problem {
	return &Problem{Status: http.StatusUnprocessableEntity, Kind: "invalid", Detail: "the input is not as the document says",
		Instead: "GET /openapi.json has its schema", Errors: []*Fault{{clip(problem), where}}}
}

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

type Renewed struct {
	api.Renewed
	Again bool `json:"again" doc:"True if the same record began it before; then only the sequence is returned"`
}

type renewalInput struct {
	Name string `path:"name" maxLength:"64"`
	Body Renewal
}

type signedRenewalInput struct {
	Name string `path:"name" maxLength:"64"`
	Body SignedRenewal
}

func (h *ownerHandler) registerRenewals(r *router) {
	register(r, draftOperation("/v1/datasets/{name}/renewals/draft", "draft-renewal", "Draft a renewal"),
		func(ctx context.Context, u users.User, in *renewalInput) (*body[RenewalDraft], error) {
			renewed, err := h.renew(ctx, u, in.Name, in.Body.Reason, ledger.Deferred{})
			draft, err := h.draft(ctx, err)
			if err != nil {
				return nil, err
			}
			return bodyOf(RenewalDraft{draft, renewed}), nil
		})
	register(r, writeOperation("/v1/datasets/{name}/renewals", "renew", "Begin the next window",
		"For the owner. Ends the current window of a renewed budget and begins the next one, if the policy has another. Questions that "+
			"are running are charged and not answered: do it at a quiet time."),
		func(ctx context.Context, u users.User, in *signedRenewalInput) (*body[Renewed], error) {
			renewed, err := h.renew(ctx, u, in.Name, in.Body.Reason, in.Body.signer())
			if record, written := h.alreadyWritten(ctx, in.Body.Signed, err); written {
				return bodyOf(Renewed{api.Renewed{Sequence: record, Promise: []string{}}, true}), nil
			}
			if err != nil {
				return nil, err
			}
			return bodyOf(Renewed{renewed, false}), nil
		})
}

func (h *ownerHandler) renew(ctx context.Context, u users.User, name, reason string, signer ledger.Deferred) (api.Renewed, error) {
	dataset, err := h.owned(u, name)
	if err != nil {
		return api.Renewed{}, err
	}
	return h.dispatcher.DB().RenewSigned(ctx, dataset, reason, signer)
}

// Incident is a question that failed after its charge.
type Incident struct {
	Sequence uint64    `json:"sequence"`
	Time     time.Time `json:"time"`
	Analyst  string    `json:"analyst" doc:"Empty for a crash that could have been caused by several analysts"`
	Failure  string    `json:"failure" doc:"error, memory, time, panic or crash"`
	Charge   uint64    `json:"charge" doc:"The charge of the question; 0 if it is not known"`
	Told     bool      `json:"told" doc:"True if the dataset was open to them, so that they were told of it. Only these count"`
	Released uint64    `json:"released" doc:"The record of the release that cleared it, or 0"`
}

// Incidents are those of a dataset, the newest first.
type Incidents struct {
	Dataset   string     `json:"dataset"`
	Closed    bool       `json:"closed" doc:"True if the dataset gives nobody new answers"`
	ShutOut   []string   `json:"shut_out" doc:"The analysts who get no new answers from it"`
	Open      int        `json:"open" doc:"How many were told to an analyst and are not released"`
	Incidents []Incident `json:"incidents"`
	More      bool       `json:"more" doc:"True if there are more, older ones"`
}

const maxIncidents = 1000

type Release struct {
	Analyst string `json:"analyst,omitempty" maxLength:"64" doc:"Only the incidents of this analyst; all of the dataset if you name nobody"`
	Reason  string `json:"reason" minLength:"1" maxLength:"1000" doc:"Why, for whoever reads the ledger later"`
}

// SignedRelease is a release that was signed for.
type SignedRelease struct {
	Release
	Signed
}

// ReleaseDraft is a release that is yet to be signed.
type ReleaseDraft struct {
	Draft    Draft `json:"draft"`
	Releases int   `json:"releases" doc:"How many incidents it would clear"`
}

type Released struct {
	Sequence uint64 `json:"sequence"`
	Released int    `json:"released" doc:"How many incidents it cleared"`
	Closed   bool   `json:"closed" doc:"True if it is still closed, because of other analysts' incidents"`
	Again    bool   `json:"again" doc:"True if it was written before, and so not again"`
}

type releaseInput struct {
	Name string `path:"name" maxLength:"64"`
	Body Release
}

type signedReleaseInput struct {
	Name string `path:"name" maxLength:"64"`
	Body SignedRelease
}

func (h *ownerHandler) registerReleases(r *router) {
	register(r, operation(ownerOnly, http.MethodGet, "/v1/datasets/{name}/incidents", "incidents", "Questions that failed",
		"For the owner: what failed after it was charged, and who gets no new answers because of that.", http.StatusNotFound),
		func(ctx context.Context, u users.User, in *datasetPath) (*body[Incidents], error) {
			out, err := h.incidents(ctx, u, in.Name)
			if err != nil {
				return nil, err
			}
			return bodyOf(*out), nil
		})
	register(r, draftOperation("/v1/datasets/{name}/releases/draft", "draft-release", "Draft a release of incidents"),
		func(ctx context.Context, u users.User, in *releaseInput) (*body[ReleaseDraft], error) {
			released, err := h.release(ctx, u, in.Name, in.Body, ledger.Deferred{})
			draft, err := h.draft(ctx, err)
			if err != nil {
				return nil, err
			}
			return bodyOf(ReleaseDraft{draft, released.Released}), nil
		})
	register(r, writeOperation("/v1/datasets/{name}/releases", "release", "Release incidents",
		"For the owner. Clears the incidents of an analyst, or of the whole dataset, so that new answers are given again. Each release "+
			"lets as many failures be told as the policy tolerates."),
		func(ctx context.Context, u users.User, in *signedReleaseInput) (*body[Released], error) {
			released, err := h.release(ctx, u, in.Name, in.Body.Release, in.Body.signer())
			if record, written := h.alreadyWritten(ctx, in.Body.Signed, err); written {
				return bodyOf(Released{Sequence: record, Again: true}), nil
			}
			if err != nil {
				return nil, err
			}
			return bodyOf(*released), nil
		})
}

func (h *ownerHandler) incidents(ctx context.Context, u users.User, name string) (*Incidents, error) {
	ds, err := datasetFor(h.dispatcher.DB().Policy(), u, name)
	if err != nil {
		return nil, err
	}
	db := h.dispatcher.DB()
	cases, err := h.history.incidents(ctx, db, ds.Name)
	if err != nil {
		return nil, err
	}
	all, err := db.Lockout(ctx, ds.Name, "")
	if err != nil {
		return nil, err
	}
	out := &Incidents{Dataset: ds.Name, Closed: all.Closed, ShutOut: []string{}, Incidents: []Incident{}}
	for _, analyst := range ds.AnalystNames() {
		one, err := db.Lockout(ctx, ds.Name, analyst)
		if err != nil {
			return nil, err
		}
		if one.Closed {
			out.ShutOut = append(out.ShutOut, analyst)
		}
	}
	out.Open = len(openIncidents(cases, ""))
	for _, c := range slices.Backward(cases) {
		if len(out.Incidents) == maxIncidents {
			out.More = true
			break
		}
		out.Incidents = append(out.Incidents, Incident{c.Sequence, c.Time, c.Analyst, string(c.Failure), c.Charge, c.Told, c.Released})
	}
	return out, nil
}

// openIncidents are the incidents that a release would take back: an analyst's, or everybody's.
func openIncidents(cases []ledger.Case, analyst string) []ledger.Case {
	return slices.DeleteFunc(slices.Clone(cases), func(c ledger.Case) bool {
		return !c.Told || c.Released > 0 || analyst != "" && c.Analyst != analyst
	})
}

func (h *ownerHandler) release(ctx context.Context, u users.User, name string, in Release, signer ledger.Deferred) (*Released, error) {
	dataset, err := h.owned(u, name)
	if err != nil {
		return nil, err
	}
	db := h.dispatcher.DB()
	cases, err := h.history.incidents(ctx, db, dataset)
	if err != nil {
		return nil, err
	}
	out := &Released{Released: len(openIncidents(cases, in.Analyst))}
	// Of what was signed the ledger says whether it is stale, before anybody looks what is left.
	if out.Released == 0 && signer.Text == "" {
		return nil, api.Refuse("GET /v1/datasets/{name}/incidents lists what failed; release the whole dataset to clear a crash that "+
			"names nobody", "there is nothing to release, so no record was written")
	}
	if out.Sequence, err = db.Release(ctx, dataset, in.Analyst, in.Reason, signer); err != nil {
		return out, err
	}
	after, err := db.Lockout(ctx, dataset, in.Analyst)
	out.Closed = after.Closed
	return out, err
}
