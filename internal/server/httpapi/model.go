package httpapi

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/server/users"
)

// Models are several, in the order in which they were paid for.
type Models struct {
	Models api.List[*api.KeptModel] `json:"models"`
	Next   *uint64                  `json:"next,omitempty" doc:"Where to go on: the next after. Left out at the end"`
}

// weights stands for [learn.Model] in the document.
type weights struct{}

// Schema implements [huma.SchemaProvider]. What is in a model is the business of package learn, and
// may grow.
func (weights) Schema(huma.Registry) *huma.Schema {
	text, object := &huma.Schema{Type: huma.TypeString}, &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true}
	return &huma.Schema{
		Type: huma.TypeObject, AdditionalProperties: true,
		Required:    []string{"format", "method", "loss", "guarantee", "receipt", "encoding", "weights", "step"},
		Description: "A model as 'discreet predict' reads it. What is not listed here docs/learning.md has",
		Properties: map[string]*huma.Schema{
			"format": text, "method": text, "loss": text, "guarantee": object, "receipt": object,
			"encoding": {Type: huma.TypeObject, AdditionalProperties: true, Required: []string{"features", "target"},
				Description: "Features and target, with bounds and steps, or values",
				Properties:  map[string]*huma.Schema{"features": {Type: huma.TypeArray, Items: object}, "target": object}},
			"weights": {Type: huma.TypeArray, Description: "Whole numbers of steps: a list for each linear function, with the " +
				"intercept at its end", Items: &huma.Schema{Type: huma.TypeArray, Items: &huma.Schema{Type: huma.TypeInteger}}},
			"step": {Type: huma.TypeNumber},
		},
	}
}

type modelsInput struct {
	After   int64  `query:"after" minimum:"-1" default:"-1" doc:"Only what was paid for after this record"`
	Limit   int    `query:"limit" minimum:"1" maximum:"1000" default:"100" doc:"How many at most"`
	Dataset string `query:"dataset" maxLength:"64" doc:"Only those of this dataset"`
}

type modelPath struct {
	ID string `path:"id" maxLength:"64"`
}

func (d *door) models() {
	d.trainings()
	register(d,
		operation(anyUser, http.MethodGet, "/v1/models", "models", "Your models",
			"Those that you paid for; an owner sees all. Page by page: a page can have fewer than limit, or none, and still a next.",
			looking...),
		func(ctx context.Context, u users.User, in *modelsInput) (*body[Models], error) {
			datasets, analyst := d.modelled(u)
			if in.Dataset != "" {
				ds, err := d.dataset(u, in.Dataset)
				if err != nil {
					return nil, err
				}
				datasets = []string{ds.Name}
			}
			all, next, err := d.Dispatcher.Models(ctx, u.Name, datasets,
				api.ModelsQuestion{Analyst: analyst, After: in.After, Limit: in.Limit, Reads: mostRead})
			if err != nil {
				return nil, err
			}
			for _, m := range all {
				hide(u, m)
			}
			return of(Models{all, next}), nil
		})
	register(d,
		operation(anyUser, http.MethodGet, "/v1/models/{id}", "model", "A model",
			"One that you paid for, or were given because somebody had paid before; an owner sees all. There is no difference between "+
				"another's and one that does not exist. It is free.", looking...),
		func(ctx context.Context, u users.User, in *modelPath) (*body[*api.KeptModel], error) {
			var out *api.KeptModel
			datasets, analyst := d.modelled(u)
			err := d.Dispatcher.Model(ctx, u.Name, datasets, in.ID, analyst, func(_ context.Context, m *api.KeptModel) error {
				hide(u, m)
				out = m
				return nil
			})
			return of(out), err
		})
	d.predictions()
}

// modelled returns the datasets whose models a user may see, and as whom: nobody in particular, for
// an owner.
func (d *door) modelled(u users.User) (datasets []string, analyst string) {
	if u.Role == users.Owner {
		return d.seen(u), ""
	}
	return Asked(d.Dispatcher.DB().Policy(), u), u.Name
}

// hide leaves out of a model what is not for a user.
func hide(u users.User, m *api.KeptModel) {
	m.Time = m.Time.UTC()
	if u.Role != users.Owner && m.Analyst != u.Name {
		m.Analyst = ""
	}
}
