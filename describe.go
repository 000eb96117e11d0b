package discreet

import (
	"context"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/planner"
	"github.com/discreet-dp/discreet/internal/planner/meter"
	"github.com/discreet-dp/discreet/internal/planner/syntax"
)

// Describe says what the answer to a question would look like. It is free, and the data is not
// looked at. A question with parameters need not have their values.
func (db *DB) Describe(ctx context.Context, q api.Question) (*api.Description, error) {
	ds, err := db.datasets.dataset(q.Dataset)
	if err != nil {
		return nil, err
	}
	kinds, samples := []string{}, []api.Parameter(nil)
	if strings.Contains(q.SQL, "$") {
		text := syntax.Open(q.SQL, q.Parsed)
		q.Parsed = text
		if kinds, samples, err = planner.Parameters(ds.policy, text); err != nil {
			return nil, err
		}
	}
	if len(kinds) > 0 && len(q.Parameters) == 0 {
		return db.describeUnbound(ctx, ds, q, kinds, samples)
	}
	asked, err := syntax.Bound(q)
	if err != nil {
		return nil, err
	}
	columns, err := ds.Describe(ctx, asked)
	if err != nil {
		return nil, err
	}
	return &api.Description{Parameters: kinds, Columns: api.WithErrors(columns, q.Settings.Errors)}, nil
}

// describeUnbound describes a question whose values are not there yet, with samples: of the kinds
// that a client says they have, of those that their places have, with NULL, which fits everywhere
// but in lists, where a sample does not fit, and with 0, where LIMIT must be that.
func (db *DB) describeUnbound(
	ctx context.Context, ds *dataset, q api.Question, kinds []string, samples []api.Parameter,
) (*api.Description, error) {
	nulls, zeros := make([]api.Parameter, len(kinds)), slices.Clone(samples)
	for i := range nulls {
		nulls[i].Null = true
		if kinds[i] == "integer" {
			zeros[i].Text = "0"
		}
	}
	ctx = meter.With(ctx)
	var first error
	for _, values := range [][]api.Parameter{said(samples, q.Kinds), samples, nulls, zeros} {
		q.Parameters = values
		asked, err := syntax.Bound(q)
		if err == nil {
			var columns []api.Column
			if columns, err = ds.Describe(ctx, asked); err == nil {
				return &api.Description{Parameters: kinds, Columns: api.WithErrors(columns, q.Settings.Errors)}, nil
			}
		}
		if meter.Spent(err) {
			return nil, err // the others are of the same text
		}
		if first == nil {
			first = err
		}
	}
	return nil, first
}

// said are samples of the kinds that a client says its values have. A text is what it calls all
// that it leaves to the place where it stands.
func said(samples []api.Parameter, kinds []string) []api.Parameter {
	out := slices.Clone(samples)
	for i, kind := range kinds {
		if i < len(out) && kind != "" && kind != "text" && kind != out[i].Kind {
			out[i] = planner.Sample(kind)
		}
	}
	return out
}

// maxTexts is how many bytes of texts are kept with what was read of them, which is some fifty
// times as large.
const maxTexts = 128 << 10

// read reads the text of a question, unless somebody did lately: dashboards ask the same all day.
func (db *DB) read(q *api.Question) {
	if t, ok := q.Parsed.(*syntax.Text); ok && t != nil {
		return
	}
	text, ok := db.texts.Get(q.SQL)
	if !ok {
		text = syntax.Open(q.SQL, nil)
		if _, err := text.Select(); err == nil {
			db.texts.Put(q.SQL, text, len(q.SQL))
		}
	}
	q.Parsed = text
}
