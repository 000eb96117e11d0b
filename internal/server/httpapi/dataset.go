package httpapi

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	counts "github.com/discreet-dp/discreet/internal/mechanism/stream"
	"github.com/discreet-dp/discreet/internal/render"
	"github.com/discreet-dp/discreet/internal/server/admission"
	"github.com/discreet-dp/discreet/internal/server/users"
	"github.com/discreet-dp/discreet/policy"
)

// Dataset is what the policy says about a dataset. Nothing of it is read from the data, and where
// the data is, is not part of it.
type Dataset struct {
	Name       string   `json:"name"`
	Unit       string   `json:"unit" doc:"Whom the budget protects: row, or the column that identifies a person"`
	Neighbours string   `json:"neighbours" doc:"How two neighbouring datasets differ: add-remove or substitute"`
	Budget     Budget   `json:"budget"`
	Tables     []Table  `json:"tables"`
	Views      []View   `json:"views"`
	Analysts   []string `json:"analysts,omitempty" doc:"For the owner: who may ask"`
	Expires    string   `json:"expires,omitempty" doc:"The first day, in UTC, on which you may no longer ask"`
}

// Budget is what one question may cost, and what all of them may.
type Budget struct {
	Epsilon        dp.Amount `json:"epsilon"`
	Delta          dp.Amount `json:"delta"`
	KeysDelta      dp.Amount `json:"keys_delta" doc:"The part of delta that is set aside for private keys"`
	DefaultEpsilon dp.Amount `json:"default_epsilon" doc:"The price of a question that names none"`
	MinEpsilon     dp.Amount `json:"min_epsilon" doc:"The lowest price of one question"`
	MaxEpsilon     dp.Amount `json:"max_epsilon" doc:"The highest price of one question"`
	DefaultDelta   dp.Amount `json:"default_delta" doc:"How much delta a question takes if it releases private keys"`
	Every          string    `json:"every,omitempty" doc:"How long the owner means a window of a renewed budget to be"`
	Windows        int64     `json:"windows,omitempty" doc:"How many windows there will ever be"`
}

// Table is a table that can be asked about.
type Table struct {
	Name      string   `json:"name"`
	Public    bool     `json:"public" doc:"Anybody may know its rows"`
	Person    string   `json:"person" doc:"How many rows a person has: row, unique, many, or public"`
	Column    string   `json:"column,omitempty" doc:"The column that identifies the person"`
	Path      []string `json:"path" doc:"How to get from a row to its person"`
	MaxRows   int64    `json:"max_rows" doc:"The most rows of a person that count in one group"`
	MaxGroups int64    `json:"max_groups" doc:"The most groups that a person counts in"`
	Columns   []Column `json:"columns"`
}

// Column is a column that can be named.
type Column struct {
	Name     string   `json:"name"`
	Type     string   `json:"type"`
	Nullable bool     `json:"nullable"`
	Bounds   *Bounds  `json:"bounds,omitempty" doc:"Values are clamped to these bounds before they are summed"`
	Step     string   `json:"step,omitempty" doc:"The distance between two values"`
	Keys     string   `json:"keys" enum:"none,public,private" doc:"How values can appear as groups"`
	Values   []string `json:"values,omitempty" doc:"The public keys, if the policy lists them"`
	Groups   int      `json:"groups,omitempty" doc:"How many values a column without keys can have by its type and bounds, if you can group by it"`
}

// Bounds are the ends of a column, as its type spells them.
type Bounds struct {
	Lowest  string `json:"lowest"`
	Highest string `json:"highest"`
}

// View is a question that others build on.
type View struct {
	Name string `json:"name"`
	SQL  string `json:"sql"`
}

type Datasets struct {
	Datasets []string `json:"datasets"`
}

type datasetPath struct {
	Name string `path:"name" maxLength:"64"`
}

// datasetHandler tells what the policy says about datasets.
type datasetHandler struct {
	dispatcher *admission.Dispatcher
}

func (h *datasetHandler) register(r *router) {
	register(r,
		operation(anyUser, http.MethodGet, "/v1/datasets", "datasets", "The datasets", "Those that you may ask about; an owner sees all "+
			"of them."),
		func(_ context.Context, u users.User, _ *empty) (*body[Datasets], error) {
			return bodyOf(Datasets{visibleDatasets(h.dispatcher.DB().Policy(), u)}), nil
		})
	register(r, operation(anyUser, http.MethodGet, "/v1/datasets/{name}", "dataset", "What the policy says about a dataset",
		"Tables, columns, bounds, keys, views and what a question may cost. Nothing is read from the data.", http.StatusNotFound),
		func(_ context.Context, u users.User, in *datasetPath) (*body[Dataset], error) {
			ds, err := datasetFor(h.dispatcher.DB().Policy(), u, in.Name)
			if err != nil {
				return nil, err
			}
			return bodyOf(DatasetOf(ds, u)), nil
		})
}

// AskableDatasets are the datasets that a user may ask about.
func AskableDatasets(p *policy.Policy, u users.User) []string {
	out := []string{}
	for _, name := range p.Names() {
		if p.Datasets[name].Analysts[u.Name] != nil {
			out = append(out, name)
		}
	}
	return out
}

// visibleDatasets are those that a user may see: all of them, for an owner.
func visibleDatasets(p *policy.Policy, u users.User) []string {
	if u.Role == users.Owner {
		return append([]string{}, p.Names()...)
	}
	return AskableDatasets(p, u)
}

// datasetFor finds a dataset that a user may see. One that is not theirs does not exist.
func datasetFor(p *policy.Policy, u users.User, name string) (*policy.Dataset, error) {
	ds := p.Datasets[name]
	if ds == nil || u.Role != users.Owner && ds.Analysts[u.Name] == nil {
		return nil, missing("dataset")
	}
	return ds, nil
}

// ChooseDataset finds the dataset that a question is about: the only one, where it names none. Its
// error is a [*Problem].
func ChooseDataset(p *policy.Policy, u users.User, name string) (string, error) {
	mine := AskableDatasets(p, u)
	if name == "" && len(mine) == 1 {
		return mine[0], nil
	}
	if name == "" && len(mine) > 1 {
		return "", &Problem{Status: http.StatusUnprocessableEntity, Kind: "refused", Detail: "you may ask about several datasets",
			Instead: "name one of them in dataset", Spent: no}
	}
	ds, err := datasetFor(p, u, name)
	if err != nil {
		return "", err
	}
	if ds.Analysts[u.Name] == nil {
		return "", &Problem{Status: http.StatusForbidden, Kind: "role", Detail: "an owner sees budgets and the ledger, but cannot ask " +
			"questions",
			Instead: "ask as an analyst whom the policy lists", Spent: no}
	}
	return ds.Name, nil
}

// DatasetOf is what a user is told about a dataset.
func DatasetOf(ds *policy.Dataset, u users.User) Dataset {
	b := ds.Budget
	out := Dataset{
		Name: ds.Name, Unit: ds.Unit.String(), Neighbours: ds.Neighbours.String(), Tables: []Table{}, Views: []View{},
		Budget: Budget{b.Epsilon, b.Delta, b.KeysDelta, b.DefaultEpsilon, b.MinEpsilon, b.MaxEpsilon, b.DefaultDelta, b.Renewal.Every,
			b.Renewal.Windows},
	}
	if u.Role == users.Owner {
		out.Analysts = ds.AnalystNames()
	}
	if a := ds.Analysts[u.Name]; a != nil && !a.Expires.IsZero() {
		out.Expires = a.Expires.UTC().Format(time.DateOnly)
	}
	for _, name := range ds.TableNames() {
		out.Tables = append(out.Tables, tableOf(ds.Tables[name]))
	}
	for _, name := range ds.ViewNames() {
		out.Views = append(out.Views, View{name, ds.Views[name]})
	}
	return out
}

func tableOf(t *policy.Table) Table {
	out := Table{
		Name: t.Name, Public: t.Public, Person: t.UnitKind.String(), Column: t.UnitColumn, Path: []string{},
		MaxRows: t.MaxRows, MaxGroups: t.MaxGroups, Columns: []Column{},
	}
	for _, s := range t.Path {
		out.Path = append(out.Path, s.String())
	}
	for _, name := range t.ColumnNames() {
		out.Columns = append(out.Columns, columnOf(t.Columns[name]))
	}
	return out
}

func columnOf(c *policy.Column) Column {
	out := Column{Name: c.Name, Type: c.Type.String(), Nullable: c.Nullable, Keys: c.Keys.String()}
	if c.Bounds != nil {
		out.Bounds = &Bounds{c.Show(c.Bounds.LoSteps), c.Show(c.Bounds.HiSteps)}
		if c.Granularity != nil && c.Type != policy.Date && c.Type != policy.Timestamp {
			out.Step = c.Show(1)
		}
	}
	if c.Keys == policy.PublicKeys {
		for _, v := range c.KeyValues {
			out.Values = append(out.Values, c.ShowValue(v))
		}
	}
	if c.Keys == policy.NoKeys {
		out.Groups = c.CountPublicValues()
	}
	return out
}

type Streams struct {
	Streams []api.StreamInfo `json:"streams"`
}

type streamPath struct {
	Name   string `path:"name" maxLength:"64"`
	Stream string `path:"stream" maxLength:"64"`
}

// streamHandler serves the streams of datasets.
type streamHandler struct {
	dispatcher *admission.Dispatcher
}

func (h *streamHandler) register(r *router) {
	register(r,
		operation(anyUser, http.MethodGet, "/v1/datasets/{name}/streams", "streams", "The streams of a dataset",
			"What the policy says about them: what you can ask, how exact answers are, and what they cost. Nothing is read from the data.",
			http.StatusNotFound),
		func(_ context.Context, u users.User, in *datasetPath) (*body[Streams], error) {
			all, err := h.streams(u, in.Name)
			if err != nil {
				return nil, err
			}
			return bodyOf(Streams{all}), nil
		})
	o := operation(anyUser, http.MethodGet, "/v1/datasets/{name}/streams/{stream}/synthetic", "synthetic", "A synthetic table",
		"How many people a stream predicts for each combination of values. It is computed only from released answers, so it is free; its "+
			"error is known for the questions that were asked, and for no others. Accept: text/csv sends it as CSV.",
		freeProblems...)
	setContent(&o, http.StatusOK, map[string]*huma.Schema{mediaJSON: schema[api.SyntheticTable](r), mediaCSV: {Type: huma.TypeString}})
	register(r, o, func(ctx context.Context, u users.User, in *streamPath) (*streamedBody, error) {
		if err := h.checkStream(u, in); err != nil {
			return nil, err
		}
		if _, err := ChooseDataset(h.dispatcher.DB().Policy(), u, in.Name); err != nil {
			return nil, err // an owner who may not ask
		}
		t, err := h.dispatcher.Synthetic(ctx, u.Name, in.Name, in.Stream)
		if err != nil {
			return nil, err
		}
		if err := infoOf(ctx).share.Reserve(len(t.Rows) * (64 + 64*len(t.Columns))); err != nil {
			return nil, err
		}
		return &streamedBody{func(c huma.Context) { writeSynthetic(c, infoOf(ctx).accept, t) }}, nil
	})
	register(r,
		operation(ownerOnly, http.MethodGet, "/v1/datasets/{name}/streams/{stream}/report", "stream-report", "The accounts of a stream",
			"For the owner: how many questions were free and how many paid, what was spent, and what it would have cost without the "+
				"stream.",
			freeProblems...),
		func(ctx context.Context, u users.User, in *streamPath) (*body[counts.Report], error) {
			if err := h.checkStream(u, in); err != nil {
				return nil, err
			}
			r, err := h.dispatcher.StreamReport(ctx, u.Name, in.Name, in.Stream)
			if err != nil {
				return nil, err
			}
			return bodyOf(*r), nil
		})
}

// freeProblems are the codes with which something can fail that is free and takes a turn at the
// dispatcher.
var freeProblems = []int{http.StatusNotFound, statusCanceled, http.StatusGatewayTimeout}

// streams are the streams of a dataset that a user may see.
func (h *streamHandler) streams(u users.User, dataset string) ([]api.StreamInfo, error) {
	ds, err := datasetFor(h.dispatcher.DB().Policy(), u, dataset)
	if err != nil {
		return nil, err
	}
	return h.dispatcher.DB().Streams(ds.Name)
}

// checkStream says no to a stream that is not there or not theirs.
func (h *streamHandler) checkStream(u users.User, in *streamPath) error {
	all, err := h.streams(u, in.Name)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(all, func(s api.StreamInfo) bool { return s.Name == in.Stream }) {
		return missing("stream")
	}
	return nil
}

// writeSynthetic sends a table in the way that was agreed on.
func writeSynthetic(c huma.Context, media string, t *api.SyntheticTable) {
	if media != mediaCSV {
		writeJSON(c, t)
		return
	}
	c.SetHeader("Content-Type", media+"; charset=utf-8; header=present")
	c.SetStatus(http.StatusOK)
	if render.SyntheticCSV(c.BodyWriter(), t, true, escapeFormula) != nil {
		abort()
	}
}

type Holdouts struct {
	Holdouts []api.HoldoutInfo `json:"holdouts"`
}

// Board is the list of released scores of a holdout.
type Board struct {
	Dataset string                  `json:"dataset"`
	Holdout string                  `json:"holdout"`
	Lines   api.List[api.BoardLine] `json:"lines" doc:"Best first"`
}

type holdoutPath struct {
	Name    string `path:"name" maxLength:"64"`
	Holdout string `path:"holdout" maxLength:"64"`
}

// holdoutHandler serves the holdouts of datasets.
type holdoutHandler struct {
	dispatcher *admission.Dispatcher
}

func (h *holdoutHandler) register(r *router) {
	register(r, operation(anyUser, http.MethodGet, "/v1/datasets/{name}/holdouts", "holdouts", "The holdouts of a dataset",
		"What the policy says about them. Nothing is read from the data.", http.StatusNotFound),
		func(_ context.Context, u users.User, in *datasetPath) (*body[Holdouts], error) {
			all, err := h.holdouts(u, in.Name)
			if err != nil {
				return nil, err
			}
			for i := range all {
				all[i].Column, all[i].ID = "", "" // what columns of the owner's file are called is of no use here
			}
			return bodyOf(Holdouts{all}), nil
		})
	register(r, operation(anyUser, http.MethodGet, "/v1/datasets/{name}/holdouts/{holdout}/board", "board", "The leaderboard of a holdout",
		"Released scores of everybody who may ask about the dataset, under the names that they chose. It is free.", freeProblems...),
		func(ctx context.Context, u users.User, in *holdoutPath) (*body[Board], error) {
			all, err := h.holdouts(u, in.Name)
			if err != nil {
				return nil, err
			}
			if !slices.ContainsFunc(all, func(h api.HoldoutInfo) bool { return h.Name == in.Holdout }) {
				return nil, missing("holdout")
			}
			lines, err := h.dispatcher.Board(ctx, u.Name, in.Name, in.Holdout)
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
			return bodyOf(Board{in.Name, in.Holdout, lines}), nil
		})
}

// holdouts are the holdouts of a dataset that a user may see.
func (h *holdoutHandler) holdouts(u users.User, dataset string) ([]api.HoldoutInfo, error) {
	ds, err := datasetFor(h.dispatcher.DB().Policy(), u, dataset)
	if err != nil {
		return nil, err
	}
	return h.dispatcher.DB().Holdouts(ds.Name)
}
