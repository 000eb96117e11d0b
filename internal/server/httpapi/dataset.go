package httpapi

import (
	"context"
	"net/http"
	"time"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/server/users"
	"github.com/discreet-dp/discreet/policy"
)

// Dataset is what the policy says about a dataset. Nothing of it is read from the data, and where
// the data is, is not part of it.
type Dataset struct {
	Name       string  `json:"name"`
	Unit       string  `json:"unit" doc:"Whom the budget protects: row, or the column that names a person"`
	Neighbours string  `json:"neighbours" doc:"What it means to be without a person: add-remove or substitute"`
	Budget     Budget  `json:"budget"`
	Tables     []Table `json:"tables"`
	Views      []View  `json:"views"`
	// Analysts are who may ask.
	Analysts []string `json:"analysts,omitempty" doc:"Who may ask; for the owner"`
	Expires  string   `json:"expires,omitempty" doc:"The first day, in UTC, on which you may not ask any more"`
}

// Budget is what one question may cost, and what all of them may.
type Budget struct {
	Epsilon        dp.Amount `json:"epsilon"`
	Delta          dp.Amount `json:"delta"`
	KeysDelta      dp.Amount `json:"keys_delta" doc:"The part of delta that is set aside for private keys"`
	DefaultEpsilon dp.Amount `json:"default_epsilon" doc:"What a question costs that names no price"`
	MinEpsilon     dp.Amount `json:"min_epsilon" doc:"The least that one question may cost"`
	MaxEpsilon     dp.Amount `json:"max_epsilon" doc:"The most that one question may cost"`
	DefaultDelta   dp.Amount `json:"default_delta" doc:"What a question takes that releases private keys"`
	Every          string    `json:"every,omitempty" doc:"How long a window of a renewed budget is meant to be"`
	Windows        int64     `json:"windows,omitempty" doc:"How many windows there will ever be"`
}

// Table is a table that can be asked about.
type Table struct {
	Name      string   `json:"name"`
	Public    bool     `json:"public" doc:"Everybody may know its rows"`
	Person    string   `json:"person" doc:"How many rows a person has: row, unique, many, or public"`
	Column    string   `json:"column,omitempty" doc:"The column that names the person"`
	Path      []string `json:"path" doc:"How to get from a row to its person"`
	MaxRows   int64    `json:"max_rows" doc:"How many rows of a person count at most in one group"`
	MaxGroups int64    `json:"max_groups" doc:"In how many groups a person counts at most"`
	Columns   []Column `json:"columns"`
}

// Column is a column that can be named.
type Column struct {
	Name     string  `json:"name"`
	Type     string  `json:"type"`
	Nullable bool    `json:"nullable"`
	Bounds   *Bounds `json:"bounds,omitempty" doc:"The ends that values are moved to before they are summed"`
	Step     string  `json:"step,omitempty" doc:"The distance of two values"`
	Keys     string  `json:"keys" enum:"none,public,private" doc:"How values may appear as groups"`
	// Values are public.
	Values []string `json:"values,omitempty" doc:"The public keys, where the policy lists them"`
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

// Datasets are several, by name.
type Datasets struct {
	Datasets []string `json:"datasets"`
}

type datasetPath struct {
	Name string `path:"name" maxLength:"64"`
}

func (d *door) datasets() {
	register(d,
		operation(anyUser, http.MethodGet, "/v1/datasets", "datasets", "The datasets", "Those that you may ask about; an owner sees all."),
		func(_ context.Context, u users.User, _ *nothing) (*body[Datasets], error) {
			return of(Datasets{d.seen(u)}), nil
		})
	register(d, operation(anyUser, http.MethodGet, "/v1/datasets/{name}", "dataset", "What the policy says about a dataset",
		"Tables, columns, bounds, keys, views and what a question may cost. Nothing is read from the data.", http.StatusNotFound),
		func(_ context.Context, u users.User, in *datasetPath) (*body[Dataset], error) {
			ds, err := d.dataset(u, in.Name)
			if err != nil {
				return nil, err
			}
			return of(DatasetOf(ds, u)), nil
		})
}

// Asked are the datasets that a user may ask about.
func Asked(p *policy.Policy, u users.User) []string {
	out := []string{}
	for _, name := range p.Names() {
		if p.Datasets[name].Analysts[u.Name] != nil {
			out = append(out, name)
		}
	}
	return out
}

// seen are the datasets that a user may see: all of them, for an owner.
func (d *door) seen(u users.User) []string {
	if u.Role == users.Owner {
		return append([]string{}, d.Dispatcher.DB().Policy().Names()...)
	}
	return Asked(d.Dispatcher.DB().Policy(), u)
}

// dataset finds a dataset that a user may see. One that is not theirs does not exist.
func (d *door) dataset(u users.User, name string) (*policy.Dataset, error) {
	return datasetFor(d.Dispatcher.DB().Policy(), u, name)
}

func datasetFor(p *policy.Policy, u users.User, name string) (*policy.Dataset, error) {
	ds := p.Datasets[name]
	if ds == nil || u.Role != users.Owner && ds.Analysts[u.Name] == nil {
		return nil, missing("dataset")
	}
	return ds, nil
}

// Askable finds the dataset that a question is about: the only one, where it names none. Its error
// is a [*Problem].
func Askable(p *policy.Policy, u users.User, name string) (string, error) {
	mine := Asked(p, u)
	if name == "" && len(mine) == 1 {
		return mine[0], nil
	}
	if name == "" && len(mine) > 1 {
		return "", &Problem{Status: http.StatusUnprocessableEntity, Kind: "refused", Detail: "you may ask about several datasets",
			Instead: "say which of them, in dataset", Spent: no}
	}
	ds, err := datasetFor(p, u, name)
	if err != nil {
		return "", err
	}
	if ds.Analysts[u.Name] == nil {
		return "", &Problem{Status: http.StatusForbidden, Kind: "role", Detail: "an owner sees budgets and the ledger, and asks nothing",
			Instead: "ask as an analyst that the policy lists", Spent: no}
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
	return out
}
