package querycmd

import (
	"context"
	"errors"
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

// columnProfile is a column with where people's largest values of it lie.
type columnProfile struct {
	Table  string              `json:"table"`
	Column string              `json:"column"`
	People []profile.ValueCell `json:"people"`
	Lowest profile.ValueCell   `json:"lowest"`
	Cost   dp.Cost             `json:"cost"`
	price  string
	cut    string
}

type profiledColumn struct {
	table  *policy.Table
	column *policy.Column
}

// columns takes the columns out of what was named, and leaves the tables.
func (c *ProfileCmd) columns(ds *policy.Dataset) (out []profiledColumn, err error) {
	var tables []string
	for _, name := range c.Tables {
		before, after, dotted := strings.Cut(name, ".")
		t := ds.Tables[before]
		if ds.Tables[name] != nil || !dotted || t == nil {
			tables = append(tables, name)
			continue
		}
		column := t.Columns[after]
		if column == nil {
			return nil, console.Misuse(fmt.Errorf("the table %s has no column %s in the policy", before, after))
		}
		if !profile.OfValues(t, column) {
			return nil, console.Misuse(fmt.Errorf("the column %s has no profile: only numbers have one that lie between bounds of the "+
				"policy, at least ten steps apart, in a table that says whose a row is", name))
		}
		if one := (profiledColumn{t, column}); !slices.Contains(out, one) {
			out = append(out, one)
		}
	}
	c.Tables = tables
	return out, nil
}

func (c *ProfileCmd) askValues(
	ctx context.Context, db *discreet.DB, ds *policy.Dataset, q api.Question, of profiledColumn, s console.Screen,
) (*columnProfile, error) {
	name := of.table.Name + "." + of.column.Name
	q.SQL = profile.ValuesQuestion(of.table, of.column)
	done := console.WaitingFor(s.Err, func() string { return "asking about " + name })
	a, err := db.Ask(ctx, q)
	done()
	if err != nil {
		return nil, notPaid(err, name, ds)
	}
	v, err := profile.ReadValues(of.column, a)
	if err != nil {
		return nil, err
	}
	return &columnProfile{Table: of.table.Name, Column: of.column.Name, People: v.Cells, Lowest: v.Lowest, Cost: a.Cost,
		price: render.Price(a), cut: v.AtBounds(of.table, of.column)}, nil
}

// notPaid says what to do where a profile is not free yet.
func notPaid(err error, name string, ds *policy.Dataset) error {
	var price *api.PriceError
	if errors.As(err, &price) {
		return fmt.Errorf("nobody has paid for a profile of %s yet; add --spend, such as --spend %v", name, ds.Budget.DefaultEpsilon)
	}
	return err
}

func (p *columnProfile) print(w io.Writer) {
	t := &render.Table{Header: []string{"largest " + p.Table + "." + p.Column, "people", "±95%"}, Right: []bool{false, true, true}}
	for i, c := range p.People {
		values := c.From + " to below " + c.To
		switch {
		case i == 0: // and what is below the lower bound
			values = "below " + c.To
		case c.From == c.To:
			values = c.From + " or more"
		}
		t.Add(values, fmt.Sprintf("%.0f", c.People), fmt.Sprintf("%.0f", c.Error))
	}
	t.Write(w)
	fmt.Fprintln(w, "note: "+p.cut)
	fmt.Fprintln(w, p.price)
}
