package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/discreet-dp/discreet/internal/policywords"
	"github.com/discreet-dp/discreet/internal/render"
	"github.com/discreet-dp/discreet/internal/server/httpapi"
	"github.com/discreet-dp/discreet/policy"
)

// about names what a call is about.
type about struct {
	Dataset string `json:"dataset"`
}

// Described is what describe says, as programs read it.
type Described struct {
	Datasets []string         `json:"datasets"`
	Dataset  *httpapi.Dataset `json:"dataset,omitempty"`
	Language string           `json:"language"`
}

// describe says what can be asked. Nothing of it is read from the data.
func describe(ctx context.Context, a analyst, arguments json.RawMessage) (out *reply, err error) {
	var in about
	if err := read(arguments, datasetSchema, &in); err != nil {
		return nil, err
	}
	err = a.dispatcher.RunLookup(ctx, a.user.Name, func(context.Context) (err error) {
		out, err = a.describe(in)
		return err
	})
	return out, err
}

func (a analyst) describe(in about) (*reply, error) {
	mine := httpapi.AskableDatasets(a.dispatcher.DB().Policy(), a.user)
	if in.Dataset == "" && len(mine) > 1 {
		text := "You may ask about these datasets; describe one of them to see its tables: " + strings.Join(mine, ", ") + "\n\n" + language
		return &reply{text, Described{Datasets: mine, Language: language}}, nil
	}
	ds, err := a.dataset(in.Dataset)
	if err != nil {
		return nil, err
	}
	var text strings.Builder
	writeDataset(&text, ds)
	text.WriteString("\n" + language)
	whole := httpapi.DatasetOf(ds, a.user)
	return &reply{text.String(), Described{mine, &whole, language}}, nil
}

func writeDataset(text *strings.Builder, ds *policy.Dataset) {
	b := ds.Budget
	fmt.Fprintf(text, "Dataset %s. It protects %s, with all rows. Budget for all analysts together: %s. A question costs epsilon %v "+
		"unless it names another price, from %v to %v. The tool budget tells you what you have left.\n",
		ds.Name, protects(ds), policywords.Budget(ds), b.DefaultEpsilon, b.MinEpsilon, b.MaxEpsilon)
	for _, name := range ds.TableNames() {
		of := ds.Tables[name]
		fmt.Fprintf(text, "\nTable %s; rows: %s", name, policywords.Rows(of))
		if path := policywords.Path(of); path != "-" {
			fmt.Fprintf(text, "; a row belongs to: %s", path)
		}
		text.WriteString("\n")
		t := &render.Table{Header: []string{"column", "type", "null", "bounds", "SUM and AVG", "GROUP BY", "keys"}}
		for _, name := range of.ColumnNames() {
			c := of.Columns[name]
			asked, null := policywords.Column(of, c), "no"
			if c.Nullable {
				null = "yes"
			}
			t.Add(name, asked.Type, null, asked.Bounds, asked.Sum, asked.Group, keys(c, asked.Keys))
		}
		t.Write(text)
	}
	for _, name := range ds.ViewNames() {
		fmt.Fprintf(text, "\nView %s: %s\n", name, render.Clean(ds.Views[name]))
	}
}

func protects(ds *policy.Dataset) string {
	if ds.Unit.Row() {
		return "every row as a separate person"
	}
	return "each person (" + ds.Unit.String() + ")"
}

// mostKeys is how many keys are listed in words; all of them are in the JSON.
const mostKeys = 30

// keys lists the keys that the policy lists.
func keys(c *policy.Column, otherwise string) string {
	if c.Keys != policy.PublicKeys {
		return otherwise
	}
	var all []string
	for i, v := range c.KeyValues {
		if i == mostKeys {
			all = append(all, fmt.Sprintf("and %d more", len(c.KeyValues)-mostKeys))
			break
		}
		all = append(all, c.ShowValue(v))
	}
	return strings.Join(all, ", ")
}

// language is the SQL that is understood, in short; docs/sql.md has all of it.
const language = `SQL: one SELECT, as in PostgreSQL. Rows are never shown: select aggregates, and group by columns with keys.
- COUNT(*), COUNT(x), COUNT(DISTINCT x), SUM(x), AVG(x), VARIANCE, STDDEV, MEDIAN(x), PERCENTILE_CONT(p) WITHIN GROUP (ORDER BY x), MIN and MAX (as 1 % and 99 % quantiles), each with FILTER (WHERE ...).
- SUM and AVG need bounds. GROUP BY needs keys: listed ones are all shown, with zeros; private ones only if enough people have them.
- WHERE, CASE, arithmetic, text and date functions, LIKE, IN, BETWEEN; JOIN on the column that identifies the person, and with public tables; EXISTS, subqueries grouped by the person, WITH, UNION ALL, views.
- HAVING, ORDER BY, LIMIT and any SELECT around the question work on noisy answers, and are free. With the aggregate only in ORDER BY, as in SELECT k ... GROUP BY k ORDER BY COUNT(*) DESC LIMIT 3, only the best groups are released, which is sharper.
- dp_low(agg), dp_high(agg) and dp_error(agg) are the ends and the half width of the error bar.
- Parameters $1, $2, ... are constants.
- A smaller epsilon costs less and has more noise; error names the half width that you want and finds the price.
`

func budget(ctx context.Context, a analyst, arguments json.RawMessage) (*reply, error) {
	var in about
	if err := read(arguments, datasetSchema, &in); err != nil {
		return nil, err
	}
	ds, err := a.dataset(in.Dataset)
	if err != nil {
		return nil, err
	}
	me := a.user
	me.Role = "" // an owner who may ask is told what they may ask, here
	spent, err := httpapi.SpendingOf(ctx, a.dispatcher.DB(), ds, me)
	if err != nil {
		return nil, err
	}
	var text strings.Builder
	fmt.Fprintf(&text, "dataset %s, analyst %s\nleft: %s%s\n", ds.Name, me.Name, render.Left(*spent.Remaining),
		render.AtDefault(*spent.Remaining, ds.Budget.DefaultEpsilon))
	for _, account := range spent.Accounts {
		fmt.Fprintf(&text, "account %s: %.0f %% of its limit is spent\n", account.Name, 100*account.Part)
	}
	return &reply{text.String(), spent}, nil
}
