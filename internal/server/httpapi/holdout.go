package httpapi

import (
	"context"
	"net/http"
	"slices"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/server/users"
)

// Holdouts are those of a dataset.
type Holdouts struct {
	Holdouts []api.HoldoutInfo `json:"holdouts"`
}

// Board is the list of released scores of a holdout.
type Board struct {
	Dataset string                  `json:"dataset"`
	Holdout string                  `json:"holdout"`
	Lines   api.List[api.BoardLine] `json:"lines" doc:"The best first"`
}

type holdoutPath struct {
	Name    string `path:"name" maxLength:"64"`
	Holdout string `path:"holdout" maxLength:"64"`
}

func (d *door) holdouts() {
	register(d, operation(anyUser, http.MethodGet, "/v1/datasets/{name}/holdouts", "holdouts", "The holdouts of a dataset",
		"What the policy says about them. Nothing is read from the data.", http.StatusNotFound),
		func(_ context.Context, u users.User, in *datasetPath) (*body[Holdouts], error) {
			all, err := d.holdoutsOf(u, in.Name)
			if err != nil {
				return nil, err
			}
			for i := range all {
				all[i].Column, all[i].ID = "", "" // what columns of the owner's file are called is of no use here
			}
			return of(Holdouts{all}), nil
		})
	register(d, operation(anyUser, http.MethodGet, "/v1/datasets/{name}/holdouts/{holdout}/board", "board", "The leaderboard of a holdout",
		"Released scores, of everybody who may ask about the dataset, under the names that they chose. It is free.", looking...),
		func(ctx context.Context, u users.User, in *holdoutPath) (*body[Board], error) {
			all, err := d.holdoutsOf(u, in.Name)
			if err != nil {
				return nil, err
			}
			if !slices.ContainsFunc(all, func(h api.HoldoutInfo) bool { return h.Name == in.Holdout }) {
				return nil, missing("holdout")
			}
			lines, err := d.Dispatcher.Board(ctx, u.Name, in.Name, in.Holdout)
			if err != nil {
				return nil, err
			}
			for i := range lines {
				l := &lines[i]
				l.Time, l.Mine = l.Time.UTC(), l.Analyst == u.Name
				if !l.Mine && u.Role != users.Owner {
					l.Analyst = ""
				}
			}
			return of(Board{in.Name, in.Holdout, lines}), nil
		})
}

// holdoutsOf are the holdouts of a dataset that a user may see.
func (d *door) holdoutsOf(u users.User, dataset string) ([]api.HoldoutInfo, error) {
	ds, err := d.dataset(u, dataset)
	if err != nil {
		return nil, err
	}
	return d.Dispatcher.DB().Holdouts(ds.Name)
}
