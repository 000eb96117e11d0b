package querycmd

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/cmd/discreet/internal/console"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/curator/profile"
	"github.com/discreet-dp/discreet/internal/render"
	"github.com/discreet-dp/discreet/policy"
)

type ProfileCmd struct {
	Policy  string   `help:"The policy file." required:"" placeholder:"FILE" short:"p"`
	As      string   `help:"The analyst who pays, by the name in the policy." required:"" placeholder:"ANALYST"`
	Dataset string   `help:"The dataset, if the policy has several." placeholder:"NAME"`
	Spend   *string  `help:"What all of them cost together; without it you see what is already paid for." placeholder:"EPSILON"`
	JSON    bool     `help:"Print JSON." name:"json"`
	Tables  []string `arg:"" optional:"" help:"Only these tables, or columns such as visits.cost; otherwise all tables in which people have many rows."`
}

func (ProfileCmd) Help() string {
	return `Counts, with noise, how many people have 1, 2, 3, ... rows in a table, and shows which part of the rows counts under
each max_rows. You pay once: from then on, answers about the table say what its limits leave out, for every analyst.
Of a column with bounds, it counts where between them people's largest values lie, and how many are at the upper one,
where all larger values are cut to.

  discreet profile --policy hospital.yaml --as ana --spend 0.05
  discreet profile --policy hospital.yaml --as ana --spend 0.05 visits.cost
  discreet profile --policy hospital.yaml --as ana visits        free, once it is paid for`
}

// tableProfile is a table with its profile.
type tableProfile struct {
	Table   string         `json:"table"`
	MaxRows int64          `json:"max_rows"`
	People  []profile.Cell `json:"people"`
	Limits  []limitShare   `json:"limits"`
	Cost    dp.Cost        `json:"cost"`
	price   string
}

// limitShare is which part of the rows counts where at most so many of each person do.
type limitShare struct {
	MaxRows int64 `json:"max_rows"`
	profile.Range
}

func (c *ProfileCmd) Run(ctx context.Context, s console.Screen) error {
	db, err := discreet.Open(ctx, c.Policy)
	if err != nil {
		return err
	}
	defer db.Close()
	ds, err := c.dataset(db.Policy())
	if err != nil {
		return err
	}
	columns, err := c.columns(ds)
	if err != nil {
		return err
	}
	var tables []*policy.Table
	if len(columns) == 0 || len(c.Tables) > 0 {
		if tables, err = c.tables(ds); err != nil {
			return err
		}
	}
	q := api.Question{Dataset: ds.Name, Analyst: c.As, Epsilon: ds.Budget.MinEpsilon, Free: true}
	if c.Spend != nil {
		all, err := dp.Parse(*c.Spend)
		if err != nil {
			return console.Misuse(fmt.Errorf("--spend: %w", err))
		}
		n := len(tables) + len(columns)
		q.Free, q.Epsilon = false, all/dp.Amount(n)
		if q.Epsilon < ds.Budget.MinEpsilon || q.Epsilon > ds.Budget.MaxEpsilon {
			return console.Misuse(fmt.Errorf("--spend %s is epsilon %v for each of %s, but a question may cost from %v to %v; "+
				"spend more or less, or name fewer", *c.Spend, q.Epsilon, render.Count(int64(n), "profile"),
				ds.Budget.MinEpsilon, ds.Budget.MaxEpsilon))
		}
	}
	var out []*tableProfile
	for _, t := range tables {
		p, err := c.ask(ctx, db, ds, q, t, s)
		if err != nil {
			return err
		}
		out = append(out, p)
	}
	values := []*columnProfile{}
	for _, col := range columns {
		v, err := c.askValues(ctx, db, ds, q, col, s)
		if err != nil {
			return err
		}
		values = append(values, v)
	}
	if c.JSON {
		return console.PrintJSON(s.Out, map[string]any{"profiles": out, "columns": values})
	}
	for i, p := range out {
		if i > 0 {
			fmt.Fprintln(s.Out)
		}
		p.print(s.Out)
	}
	for i, v := range values {
		if i+len(out) > 0 {
			fmt.Fprintln(s.Out)
		}
		v.print(s.Out)
	}
	return nil
}

func (c *ProfileCmd) dataset(p *policy.Policy) (*policy.Dataset, error) {
	names := p.Names()
	if c.Dataset == "" && len(names) == 1 {
		return p.Datasets[names[0]], nil
	}
	if ds := p.Datasets[c.Dataset]; ds != nil {
		return ds, nil
	}
	return nil, console.Misuse(fmt.Errorf("name the dataset with --dataset; the policy has %s", strings.Join(names, ", ")))
}

func (c *ProfileCmd) tables(ds *policy.Dataset) ([]*policy.Table, error) {
	var out []*policy.Table
	for _, name := range ds.TableNames() {
		if t := ds.Tables[name]; profile.Of(t) && (len(c.Tables) == 0 || slices.Contains(c.Tables, name)) {
			out = append(out, t)
		}
	}
	for _, name := range c.Tables {
		switch t := ds.Tables[name]; {
		case t == nil:
			return nil, console.Misuse(fmt.Errorf("there is no table %s in %s", name, ds.Name))
		case !profile.Of(t):
			return nil, console.Misuse(fmt.Errorf("the table %s has no profile: only tables have one in which people have many rows, "+
				"and in which a column names the person", name))
		}
	}
	if len(out) == 0 {
		return nil, console.Misuse(fmt.Errorf("no table of %s has a profile: only tables have one in which people have many rows, and in "+
			"which a column names the person", ds.Name))
	}
	return out, nil
}

func (c *ProfileCmd) ask(ctx context.Context, db *discreet.DB, ds *policy.Dataset, q api.Question, t *policy.Table, s console.Screen) (
	*tableProfile, error) {
	q.SQL = profile.Question(t)
	done := console.WaitingFor(s.Err, func() string { return "asking about " + t.Name })
	a, err := db.Ask(ctx, q)
	done()
	if err != nil {
		return nil, notPaid(err, t.Name, ds)
	}
	p, err := profile.Read(a)
	if err != nil {
		return nil, err
	}
	out := &tableProfile{Table: t.Name, MaxRows: t.MaxRows, People: p.Cells, Cost: a.Cost, price: render.Price(a)}
	for _, n := range limitsToShow(p.Most(), t.MaxRows) {
		out.Limits = append(out.Limits, limitShare{n, p.Share(n)})
	}
	return out, nil
}

// limitsToShow are 1, 2, 5, 10, 20 and so on, up to the first that cuts nobody, and the limit that
// holds today.
func limitsToShow(most, today int64) []int64 {
	out := []int64{today}
	for n := int64(1); ; n *= 10 {
		for _, m := range []int64{n, 2 * n, 5 * n} {
			out = append(out, m)
			if m >= most {
				slices.Sort(out)
				return slices.Compact(out)
			}
		}
	}
}

func (p *tableProfile) print(w io.Writer) {
	if len(p.People) == 0 {
		fmt.Fprintf(w, "%s: nobody can be told from the noise; spend more\n%s\n", p.Table, p.price)
		return
	}
	t := &render.Table{Header: []string{"rows in " + p.Table, "people", "±95%"}, Right: []bool{false, true, true}}
	for _, c := range p.People {
		rows := fmt.Sprint(c.Least)
		if c.Most > c.Least {
			rows = fmt.Sprintf("%d to %d", c.Least, c.Most)
		}
		t.Add(rows, fmt.Sprintf("%.0f", c.People), fmt.Sprintf("%.0f", c.Error))
	}
	t.Write(w)
	fmt.Fprintln(w)
	t = &render.Table{Header: []string{"max_rows", "rows that count", "between", ""}, Right: []bool{true, true, false, false}}
	for _, l := range p.Limits {
		mark := ""
		if l.MaxRows == p.MaxRows {
			mark = "the policy today"
		}
		t.Add(fmt.Sprint(l.MaxRows), percent(l.About), percent(l.Low)+" and "+percent(l.High), mark)
	}
	t.Write(w)
	last := p.People[len(p.People)-1]
	fmt.Fprintf(w, "A few people may have more than %d rows: too few to tell from the noise.\n%s\n", last.Most, p.price)
}

func percent(f float64) string { return fmt.Sprintf("%.0f %%", 100*f) }
