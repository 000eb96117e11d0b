package httpapi

import (
	"context"
	"errors"
	"net/http"

	"github.com/discreet-dp/discreet/internal/server/users"
)

// Tile is a place on a dashboard, with a question that is saved elsewhere or with one of its own.
type Tile struct {
	Saved    string         `json:"saved,omitempty" maxLength:"64" doc:"The id of a saved question of the same dataset"`
	Question *SavedQuestion `json:"question,omitempty" doc:"A question of its own. In answers it is there for saved ones too, as they are now; sent beside saved it is not looked at"`
	Missing  bool           `json:"missing,omitempty" doc:"In answers: the saved question is gone, or not for your eyes"`
	Place    Place          `json:"place,omitzero" doc:"Where it is"`
}

// Place is where a tile is on a grid of 12 columns.
type Place struct {
	X      int `json:"x" minimum:"0" maximum:"11"`
	Y      int `json:"y" minimum:"0" maximum:"999"`
	Width  int `json:"width" minimum:"1" maximum:"12"`
	Height int `json:"height" minimum:"1" maximum:"100"`
}

// Tiles are what is on a dashboard.
type Tiles struct {
	Tiles []Tile `json:"tiles" maxItems:"50"`
}

// NewDashboard is a dashboard to save.
type NewDashboard struct {
	Title   string `json:"title" minLength:"1" maxLength:"200"`
	Dataset string `json:"dataset,omitempty" maxLength:"64" doc:"May be left out where you have only one"`
	Shared  bool   `json:"shared,omitempty" doc:"Whether all who may ask about the dataset see it"`
	Tiles
}

// Dashboard is a page of questions.
type Dashboard struct {
	Titled
	Tiles
}

// Dashboards are several, as [SavedList] has questions.
type Dashboards struct {
	Dashboards []Titled `json:"dashboards"`
}

type dashboardInput struct{ Body NewDashboard }

type dashboardChange struct {
	ID   string `path:"id" maxLength:"64"`
	Body NewDashboard
}

func (d *door) dashboards() {
	o := operation(anyUser, http.MethodPost, "/v1/dashboards", "make-dashboard", "Make a dashboard",
		"A page of questions, for yourself or for all who may ask about its dataset. Nothing is asked, and it costs nothing: who opens it "+
			"asks, with free, and is told what a refresh would cost.", http.StatusNotFound, http.StatusConflict)
	o.DefaultStatus = http.StatusCreated
	register(d, o, func(ctx context.Context, u users.User, in *dashboardInput) (*body[Dashboard], error) {
		s, err := d.toSave(u, kindDashboard, in.Body.Dataset, in.Body.Shared, in.Body.Title, in.Body.stored())
		if err != nil {
			return nil, err
		}
		if err := d.furnished(ctx, u, s, in.Body); err != nil {
			return nil, err
		}
		if s, err = d.Users.Save(ctx, s, maxDashboards); err != nil {
			return nil, err
		}
		return d.dashboard(ctx, u, s)
	})
	register(d, operation(anyUser, http.MethodGet, "/v1/dashboards", "dashboards", "Dashboards",
		"Yours, and those that others share in datasets that you may ask about. An owner sees those that are shared."),
		func(ctx context.Context, u users.User, _ *nothing) (*body[Dashboards], error) {
			all, err := d.visible(ctx, u, kindDashboard)
			return of(Dashboards{all}), err
		})
	register(d, operation(anyUser, http.MethodGet, "/v1/dashboards/{id}", "dashboard", "A dashboard",
		"With its questions as they are now. There is no difference between one that you may not see and one that does not exist.",
		http.StatusNotFound),
		func(ctx context.Context, u users.User, in *savedPath) (*body[Dashboard], error) {
			s, err := d.see(ctx, u, kindDashboard, in.ID)
			if err != nil {
				return nil, err
			}
			return d.dashboard(ctx, u, s)
		})
	register(d, operation(anyUser, http.MethodPut, "/v1/dashboards/{id}", "change-dashboard", "Change a dashboard of yours",
		"All of it: what is left out is gone.", http.StatusNotFound),
		func(ctx context.Context, u users.User, in *dashboardChange) (*body[Dashboard], error) {
			s, err := d.toChange(ctx, u, kindDashboard, in.ID, in.Body.Dataset, in.Body.Shared, in.Body.Title, in.Body.stored())
			if err != nil {
				return nil, err
			}
			if err := d.furnished(ctx, u, s, in.Body); err != nil {
				return nil, err
			}
			if s, err = d.Users.Replace(ctx, s); err != nil {
				return nil, gone(err, kindDashboard)
			}
			return d.dashboard(ctx, u, s)
		})
	register(d, operation(anyUser, http.MethodDelete, "/v1/dashboards/{id}", "delete-dashboard", "Delete a dashboard of yours",
		"Its saved questions stay. An owner can delete what is shared.", http.StatusNotFound),
		func(ctx context.Context, u users.User, in *savedPath) (*nothing, error) {
			return nil, d.drop(ctx, u, kindDashboard, in.ID)
		})
}

// stored are the tiles as they are kept: of a saved question its id, whatever was sent beside it,
// so that what was answered can be sent back.
func (t Tiles) stored() Tiles {
	out := Tiles{make([]Tile, len(t.Tiles))}
	for i, one := range t.Tiles {
		if one.Missing = false; one.Saved != "" {
			one.Question = nil
		}
		out.Tiles[i] = one
	}
	return out
}

// furnished checks what is to be on a dashboard: each tile has one question, and those who will see
// the dashboard see it too.
func (d *door) furnished(ctx context.Context, u users.User, s users.Saved, n NewDashboard) error {
	if err := titled(n.Title); err != nil {
		return err
	}
	for _, t := range n.Tiles.Tiles {
		if t.Saved == "" {
			if t.Question == nil {
				return invalid("a tile has neither the id of a saved question nor a question of its own", "send saved or question")
			}
			if err := t.Question.check(); err != nil {
				return err
			}
			continue
		}
		q, err := d.see(ctx, u, kindQuestion, t.Saved)
		switch {
		case err != nil:
			return err
		case q.Dataset != s.Dataset:
			return invalid("a saved question is about another dataset than the dashboard", "put it on a dashboard of that dataset")
		case s.Shared && !q.Shared:
			return invalid("the dashboard is shared, and a saved question on it is not",
				"share the question too, or put a copy of it into the tile")
		}
	}
	return nil
}

// dashboard shows a dashboard with its questions.
func (d *door) dashboard(ctx context.Context, u users.User, s users.Saved) (*body[Dashboard], error) {
	tiles, err := inside[Tiles](s)
	if err != nil {
		return nil, err
	}
	tiles.Tiles = append([]Tile{}, tiles.Tiles...)
	for i := range tiles.Tiles {
		t := &tiles.Tiles[i]
		if t.Saved == "" {
			continue
		}
		q, err := d.Users.Saved(ctx, kindQuestion, t.Saved)
		if err != nil && !errors.Is(err, users.ErrNoSaved) {
			return nil, err
		}
		if t.Missing = err != nil || q.Dataset != s.Dataset || !d.sees(u, q); t.Missing {
			continue
		}
		question, err := inside[SavedQuestion](q)
		if err != nil {
			return nil, err
		}
		t.Question = &question
	}
	return of(Dashboard{Titled{aboutOf(s, u), s.Title}, tiles}), nil
}
