package main

import (
	"context"
	"fmt"
	"io"
	"strconv"

	"github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/internal/table"
)

type explainCmd struct {
	asking `embed:""`
	SQL    string `arg:"" help:"One SELECT of COUNT, SUM or AVG; - reads it from standard input."`
}

func (explainCmd) Help() string {
	return `Prints, for each noisy number of a question, the mechanism, how far one person can move it, the noise and
the expected error; then the price. It costs nothing, and nothing is computed from the data.

  discreet explain --policy hospital.yaml --as ana 'SELECT sex, AVG(age) FROM patients GROUP BY sex'`
}

func (c *explainCmd) Run(ctx context.Context, s screen) error {
	start, err := c.settings()
	if err != nil {
		return err
	}
	text := c.SQL
	if text == "-" {
		if text, err = readAll(stdin); err != nil {
			return err
		}
	}
	db, err := discreet.Open(ctx, c.Policy)
	if err != nil {
		return err
	}
	defer db.Close()
	return c.session(db, s, start).explain(ctx, text)
}

// printExplanation shows what a question would cost and how exact it would be.
func printExplanation(w io.Writer, e *discreet.Explanation) {
	t := &table.Table{
		Header: []string{"noisy number", "mechanism", "one person moves it by", "step", "noise scale", "±95%", "epsilon", "rho"},
		Right:  []bool{false, false, true, true, true, true, true, true},
	}
	for _, m := range e.Measures {
		t.Add(m.Measure, m.Mechanism, number(m.Sensitivity)+" ("+m.Norm+")", m.Step, number(m.Deviation), number(m.Error), m.Cost.Epsilon.Short(), m.Cost.Rho.Short())
	}
	t.Write(w)
	fmt.Fprintf(w, "rows: %d, one for each combination of public keys; neighbours: %s", e.Groups, e.Neighbours)
	if e.MaxRows > 1 || e.MaxGroups > 1 {
		fmt.Fprintf(w, "; one person counts with at most %s in each of at most %s", count(e.MaxRows, "row"), count(e.MaxGroups, "group"))
	}
	fmt.Fprintln(w)
	fmt.Fprintln(w, "HAVING, ORDER BY, LIMIT and averages are computed from the noisy numbers, free")
	price := priceTag(e.Cost, e.Remaining)
	switch {
	case e.Known:
		price += ", and free now, because it was answered before"
	case !e.Affordable:
		price += ", which is more than what is left"
	}
	fmt.Fprintln(w, "price: "+price+"; left: "+leftOver(e.Remaining))
}

// number shows five significant digits.
func number(f float64) string {
	r, _ := strconv.ParseFloat(strconv.FormatFloat(f, 'g', 5, 64), 64)
	return strconv.FormatFloat(r, 'f', -1, 64)
}
