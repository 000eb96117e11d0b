package httpapi

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/server/users"
	"github.com/discreet-dp/discreet/ledger"
)

// Incident is a question that failed after its charge.
type Incident struct {
	Sequence uint64    `json:"sequence"`
	Time     time.Time `json:"time"`
	Analyst  string    `json:"analyst" doc:"Empty for a crash that may have been several analysts'"`
	Failure  string    `json:"failure" doc:"error, memory, time, panic or crash"`
	Charge   uint64    `json:"charge" doc:"The charge of the question; 0 where it is not known"`
	Told     bool      `json:"told" doc:"The door was open, so that somebody was told of it. Only such ones count"`
	Released uint64    `json:"released" doc:"The record of the release that took it back, or 0"`
}

// Incidents are those of a dataset, the newest first.
type Incidents struct {
	Dataset   string     `json:"dataset"`
	Closed    bool       `json:"closed" doc:"The dataset gives nobody new answers"`
	ShutOut   []string   `json:"shut_out" doc:"The analysts that it gives no new answers"`
	Open      int        `json:"open" doc:"How many were told and are not released"`
	Incidents []Incident `json:"incidents"`
	More      bool       `json:"more" doc:"There are more, which are older"`
}

// mostIncidents is how many are listed.
const mostIncidents = 1000

// Release takes incidents back.
type Release struct {
	Analyst string `json:"analyst,omitempty" maxLength:"64" doc:"Only the incidents of this analyst; all of the dataset, where nobody is named"`
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
	Releases int   `json:"releases" doc:"How many incidents it takes back"`
}

// Released is what a release did.
type Released struct {
	Sequence uint64 `json:"sequence"`
	Released int    `json:"released" doc:"How many incidents it took back"`
	Closed   bool   `json:"closed" doc:"It is still closed, because of incidents of others"`
	Again    bool   `json:"again" doc:"It was written before, and is not written twice"`
}

type releaseInput struct {
	Name string `path:"name" maxLength:"64"`
	Body Release
}

type signedReleaseInput struct {
	Name string `path:"name" maxLength:"64"`
	Body SignedRelease
}

func (d *door) releases() {
	register(d, operation(ownerOnly, http.MethodGet, "/v1/datasets/{name}/incidents", "incidents", "Questions that failed",
		"For the owner: what failed after its charge, and who gets no new answers because of it.", http.StatusNotFound),
		func(ctx context.Context, u users.User, in *datasetPath) (*body[Incidents], error) {
			out, err := d.incidents(ctx, u, in.Name)
			if err != nil {
				return nil, err
			}
			return of(*out), nil
		})
	register(d, drafting("/v1/datasets/{name}/releases/draft", "draft-release", "Draft a release of incidents"),
		func(ctx context.Context, u users.User, in *releaseInput) (*body[ReleaseDraft], error) {
			released, err := d.release(ctx, u, in.Name, in.Body, ledger.Deferred{})
			draft, err := d.draftOf(ctx, err)
			if err != nil {
				return nil, err
			}
			return of(ReleaseDraft{draft, released.Released}), nil
		})
	register(d, writing("/v1/datasets/{name}/releases", "release", "Release incidents",
		"For the owner. Takes back the incidents of an analyst, or of the whole dataset, so that there are new answers again. Each "+
			"release lets as many failures be told as the policy bears."),
		func(ctx context.Context, u users.User, in *signedReleaseInput) (*body[Released], error) {
			released, err := d.release(ctx, u, in.Name, in.Body.Release, in.Body.signer())
			if record, written := d.again(ctx, in.Body.Signed, err); written {
				return of(Released{Sequence: record, Again: true}), nil
			}
			if err != nil {
				return nil, err
			}
			return of(*released), nil
		})
}

// incidents are those of a dataset.
func (d *door) incidents(ctx context.Context, u users.User, name string) (*Incidents, error) {
	ds, err := d.dataset(u, name)
	if err != nil {
		return nil, err
	}
	db := d.Dispatcher.DB()
	cases, err := d.past.cases(ctx, db, ds.Name)
	if err != nil {
		return nil, err
	}
	all, err := db.Door(ctx, ds.Name, "")
	if err != nil {
		return nil, err
	}
	out := &Incidents{Dataset: ds.Name, Closed: all.Closed, ShutOut: []string{}, Incidents: []Incident{}}
	for _, analyst := range ds.AnalystNames() {
		one, err := db.Door(ctx, ds.Name, analyst)
		if err != nil {
			return nil, err
		}
		if one.Closed {
			out.ShutOut = append(out.ShutOut, analyst)
		}
	}
	out.Open = len(standing(cases, ""))
	for _, c := range slices.Backward(cases) {
		if len(out.Incidents) == mostIncidents {
			out.More = true
			break
		}
		out.Incidents = append(out.Incidents, Incident{c.Sequence, c.Time, c.Analyst, string(c.Failure), c.Charge, c.Told, c.Released})
	}
	return out, nil
}

// standing are the incidents that a release would take back: an analyst's, or everybody's.
func standing(cases []ledger.Case, analyst string) []ledger.Case {
	return slices.DeleteFunc(slices.Clone(cases), func(c ledger.Case) bool {
		return !c.Told || c.Released > 0 || analyst != "" && c.Analyst != analyst
	})
}

func (d *door) release(ctx context.Context, u users.User, name string, in Release, signer ledger.Deferred) (*Released, error) {
	dataset, err := d.owned(u, name)
	if err != nil {
		return nil, err
	}
	db := d.Dispatcher.DB()
	cases, err := d.past.cases(ctx, db, dataset)
	if err != nil {
		return nil, err
	}
	out := &Released{Released: len(standing(cases, in.Analyst))}
	// Of what was signed the ledger says whether it is stale, before anybody looks what is left.
	if out.Released == 0 && signer.Text == "" {
		return nil, api.Refuse("GET /v1/datasets/{name}/incidents lists what failed; a crash that names nobody is released with the whole "+
			"dataset", "there is nothing to release: as a record it would say that somebody looked at what is not there")
	}
	if out.Sequence, err = db.Release(ctx, dataset, in.Analyst, in.Reason, signer); err != nil {
		return out, err
	}
	after, err := db.Door(ctx, dataset, in.Analyst)
	out.Closed = after.Closed
	return out, err
}
