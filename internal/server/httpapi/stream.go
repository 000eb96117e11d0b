package httpapi

import (
	"context"
	"net/http"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/render"
	"github.com/discreet-dp/discreet/internal/server/users"
	counts "github.com/discreet-dp/discreet/stream"
)

// Streams are those of a dataset.
type Streams struct {
	Streams []api.StreamInfo `json:"streams"`
}

type streamPath struct {
	Name   string `path:"name" maxLength:"64"`
	Stream string `path:"stream" maxLength:"64"`
}

func (d *door) streams() {
	register(d,
		operation(anyUser, http.MethodGet, "/v1/datasets/{name}/streams", "streams", "The streams of a dataset",
			"What the policy says about them: what can be asked, how exact answers are, and what they cost. Nothing is read from the data.",
			http.StatusNotFound),
		func(_ context.Context, u users.User, in *datasetPath) (*body[Streams], error) {
			all, err := d.streamsOf(u, in.Name)
			if err != nil {
				return nil, err
			}
			return of(Streams{all}), nil
		})
	o := operation(anyUser, http.MethodGet, "/v1/datasets/{name}/streams/{stream}/synthetic", "synthetic", "A synthetic table",
		"How many people a stream predicts for each combination of values. It is made of released answers alone, so it is free; how far "+
			"it is off is known for the questions that were asked, and for nothing else. Accept: text/csv sends it as CSV.", looking...)
	content(&o, http.StatusOK, map[string]*huma.Schema{mediaJSON: schema[api.SyntheticTable](d), mediaCSV: {Type: huma.TypeString}})
	register(d, o, func(ctx context.Context, u users.User, in *streamPath) (*stream, error) {
		if err := d.streamOf(u, in); err != nil {
			return nil, err
		}
		if _, err := Askable(d.Dispatcher.DB().Policy(), u, in.Name); err != nil {
			return nil, err // an owner who may not ask
		}
		t, err := d.Dispatcher.Synthetic(ctx, u.Name, in.Name, in.Stream)
		if err != nil {
			return nil, err
		}
		if err := note(ctx).share.Reserve(len(t.Rows) * (64 + 64*len(t.Columns))); err != nil {
			return nil, err
		}
		return &stream{func(c huma.Context) { synthetic(c, note(ctx).accept, t) }}, nil
	})
	register(d,
		operation(ownerOnly, http.MethodGet, "/v1/datasets/{name}/streams/{stream}/report", "stream-report", "The books of a stream",
			"For the owner: how many questions were free and paid, what was spent, and what it would have cost without the stream.",
			looking...),
		func(ctx context.Context, u users.User, in *streamPath) (*body[counts.Report], error) {
			if err := d.streamOf(u, in); err != nil {
				return nil, err
			}
			r, err := d.Dispatcher.StreamReport(ctx, u.Name, in.Name, in.Stream)
			if err != nil {
				return nil, err
			}
			return of(*r), nil
		})
}

// looking are the codes with which something can fail that is free and takes a turn at the
// dispatcher.
var looking = []int{http.StatusNotFound, statusCanceled, http.StatusGatewayTimeout}

// streamsOf are the streams of a dataset that a user may see.
func (d *door) streamsOf(u users.User, dataset string) ([]api.StreamInfo, error) {
	ds, err := d.dataset(u, dataset)
	if err != nil {
		return nil, err
	}
	return d.Dispatcher.DB().Streams(ds.Name)
}

// streamOf says no to a stream that is not there or not theirs.
func (d *door) streamOf(u users.User, in *streamPath) error {
	all, err := d.streamsOf(u, in.Name)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(all, func(s api.StreamInfo) bool { return s.Name == in.Stream }) {
		return missing("stream")
	}
	return nil
}

// synthetic sends a table in the way that was agreed on.
func synthetic(c huma.Context, media string, t *api.SyntheticTable) {
	if media != mediaCSV {
		whole(c, t)
		return
	}
	c.SetHeader("Content-Type", media+"; charset=utf-8; header=present")
	c.SetStatus(http.StatusOK)
	if render.SyntheticCSV(c.BodyWriter(), t, true, harmless) != nil {
		cut()
	}
}
