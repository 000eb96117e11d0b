package httpapi

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/render"
	"github.com/discreet-dp/discreet/internal/server/users"
)

// Holdouts are those of a dataset.
type Holdouts struct {
	Holdouts []render.HoldoutInfoJSON `json:"holdouts"`
}

// Board is the list of released scores of a holdout.
type Board struct {
	Dataset string      `json:"dataset"`
	Holdout string      `json:"holdout"`
	Lines   []BoardLine `json:"lines" doc:"The best first"`
}

// BoardLine is a released score.
type BoardLine struct {
	Rank  int       `json:"rank" minimum:"1" doc:"The same for the same score"`
	Name  string    `json:"name" doc:"What whoever submitted it called it"`
	Score string    `json:"score"`
	Error float64   `json:"error" doc:"How far the mean over the holdout may be from the score, with probability 0.95"`
	Time  time.Time `json:"time"`
	Spent bool      `json:"spent" doc:"Whether the score comes from the holdout; else it is that of the training side, confirmed"`
	Mine  bool      `json:"mine" doc:"Whether you submitted it"`
	// Analyst is who it is from.
	Analyst string `json:"analyst,omitempty" doc:"Who submitted it; for the owner, and of your own"`
}

type holdoutPath struct {
	Name    string `path:"name" maxLength:"64"`
	Holdout string `path:"holdout" maxLength:"64"`
}

func (d *door) holdouts() {
	register(d, operation(anyUser, http.MethodGet, "/v1/datasets/{name}/holdouts", "holdouts", "The holdouts of a dataset", "What the policy says about them. Nothing is read from the data.", http.StatusNotFound),
		func(_ context.Context, u users.User, in *datasetPath) (*body[Holdouts], error) {
			all, err := d.holdoutsOf(u, in.Name)
			if err != nil {
				return nil, err
			}
			out := Holdouts{[]render.HoldoutInfoJSON{}}
			for _, h := range all {
				out.Holdouts = append(out.Holdouts, render.HoldoutInfo(h))
			}
			return of(out), nil
		})
	register(d, operation(anyUser, http.MethodGet, "/v1/datasets/{name}/holdouts/{holdout}/board", "board", "The leaderboard of a holdout", "Released scores, of everybody who may ask about the dataset, under the names that they chose. It is free.", looking...),
		func(ctx context.Context, u users.User, in *holdoutPath) (*body[Board], error) {
			all, err := d.holdoutsOf(u, in.Name)
			if err != nil {
				return nil, err
			}
			if !slices.ContainsFunc(all, func(h api.HoldoutInfo) bool { return h.Name == in.Holdout }) {
				return nil, missing("holdout")
			}
			lines, err := d.Desk.Board(ctx, u.Name, in.Name, in.Holdout)
			if err != nil {
				return nil, err
			}
			out := Board{in.Name, in.Holdout, []BoardLine{}}
			for _, l := range lines {
				line := BoardLine{Rank: l.Rank, Name: l.Name, Score: l.Score, Error: l.Error, Time: l.Time.UTC(), Spent: l.Spent, Mine: l.Analyst == u.Name}
				if line.Mine || u.Role == users.Owner {
					line.Analyst = l.Analyst
				}
				out.Lines = append(out.Lines, line)
			}
			return of(out), nil
		})
}

// holdoutsOf are the holdouts of a dataset that a user may see.
func (d *door) holdoutsOf(u users.User, dataset string) ([]api.HoldoutInfo, error) {
	ds, err := d.dataset(u, dataset)
	if err != nil {
		return nil, err
	}
	return d.Desk.DB().Holdouts(ds.Name)
}
