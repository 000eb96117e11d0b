package traincmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/cmd/discreet/internal/console"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/chart"
	"github.com/discreet-dp/discreet/internal/render"
	"github.com/discreet-dp/discreet/internal/table"
	town "github.com/discreet-dp/discreet/internal/traindemo"
)

// sweepFlags are for train --sweep.
type sweepFlags struct {
	Adult      []string `help:"With --sweep: a file of the Adult census (1994), in place of made-up rows; can be given again." placeholder:"FILE" sep:"none"`
	Epsilons   []string `help:"With --sweep: the prices to compare; 0.1, 0.2, 0.5, 1 and 2 if left out." placeholder:"E,E"`
	Splits     *int     `help:"With --sweep: how often rows are dealt anew into four fifths to train on and a fifth to test with; 5 if left out." placeholder:"N"`
	Draws      *int     `help:"With --sweep: how often noise is drawn for each; once if left out." placeholder:"N"`
	Neighbours string   `help:"With --sweep: add-remove or substitute; the default is add-remove." placeholder:"KIND"`
	Seed       uint64   `help:"With --sweep: the same seed makes the same rows and the same noise; 1 if left out." placeholder:"S"`
	Plot       []string `help:"With --sweep: draw error against epsilon to a file, .svg or .png; can be given again." placeholder:"FILE" sep:"none"`
	ASCII      bool     `help:"With --sweep: draw in the terminal with ASCII signs only." name:"ascii"`
}

// given names a flag that was given, or is empty.
func (f *sweepFlags) given() string {
	for _, flag := range []struct {
		name string
		is   bool
	}{
		{"--adult", len(f.Adult) > 0}, {"--epsilons", len(f.Epsilons) > 0}, {"--splits", f.Splits != nil}, {"--draws", f.Draws != nil},
		{"--neighbours", f.Neighbours != ""}, {"--seed", f.Seed != 0}, {"--plot", len(f.Plot) > 0}, {"--ascii", f.ASCII},
	} {
		if flag.is {
			return flag.name
		}
	}
	return ""
}

// readSweep reads the flags.
func (c *TrainCmd) readSweep() (town.Sweep, error) {
	s := town.Sweep{Ways: town.Ways, Splits: 5, Draws: 1, Seed: cmp.Or(c.Seed, 1)}
	for flag, is := range map[string]bool{
		"--policy": c.Policy != "", "--as": c.As != "", "--dataset": c.Dataset != "", "--features": c.Features != "",
		"--target": c.Target != "", "--epsilon": c.Epsilon != nil, "--evaluate": c.Evaluate != nil,
		"--tune": len(c.Tune) > 0, "--half-width": c.HalfWidth != nil, "--residual": c.Residual != nil, "--weights": len(c.Weights) > 0,
		"--output": c.Output != "", "--explain": c.Explain, "--request": c.Request != nil,
	} {
		if is {
			return s, console.Misuse(fmt.Errorf("--sweep compares methods on rows of its own, and has no use for %s; "+
				"see discreet train --help", flag))
		}
	}
	if c.Loss != "" && c.Loss != "logistic" {
		return s, console.Misuse(errors.New("--sweep is for the logistic loss"))
	}
	if c.Method != "" && c.Method != "auto" {
		s.Ways = slices.DeleteFunc(slices.Clone(s.Ways), func(w town.Way) bool { return w.Method != c.Method })
		if len(s.Ways) == 0 {
			return s, console.Misuse(fmt.Errorf("there is no method %q, but output, objective and minima", c.Method))
		}
	}
	if c.Splits != nil {
		s.Splits = *c.Splits
	}
	if c.Draws != nil {
		s.Draws = *c.Draws
	}
	spec, err := c.modelFlags.spec()
	if err != nil {
		return s, err
	}
	s.Regulariser, s.Radius = spec.Regulariser, spec.Radius
	if s.Epsilons, err = ReadEpsilons(c.Epsilons); err != nil {
		return s, err
	}
	if c.Neighbours != "" {
		if s.Neighbours, err = dp.ParseNeighbours(c.Neighbours); err != nil {
			return s, console.Misuse(fmt.Errorf("--neighbours: %w", err))
		}
	}
	return s, nil
}

// ReadEpsilons reads prices in increasing order.
func ReadEpsilons(texts []string) (out []dp.Amount, err error) {
	if len(texts) == 0 {
		texts = []string{"0.1", "0.2", "0.5", "1", "2"}
	}
	for _, text := range texts {
		a, err := readAmount("--epsilons", strings.TrimSpace(text))
		if err != nil {
			return nil, err
		}
		if a == 0 {
			return nil, console.Misuse(errors.New("--epsilons: with an epsilon of 0 nothing can be learned"))
		}
		out = append(out, a)
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// sweepRows makes rows up, or reads them.
func (c *TrainCmd) sweepRows(seed uint64) (*town.Data, error) {
	var d *town.Data
	var err error
	switch {
	case len(c.Adult) > 0 && c.Rows != nil:
		return nil, console.Misuse(errors.New("--rows says how many rows to make up, and --adult reads some; leave one of the two out"))
	case len(c.Adult) > 0:
		d, err = town.ReadAdult(c.Adult...)
	default:
		n := int64(20_000)
		if c.Rows != nil {
			n = *c.Rows
		}
		d, err = town.Made(int(n), seed)
	}
	if err != nil {
		return nil, console.Misuse(err)
	}
	return d, nil
}

// sweep compares all methods.
func (c *TrainCmd) sweep(ctx context.Context, s console.Screen) error {
	for _, file := range c.Plot {
		if err := console.CanSave(file); err != nil {
			return err
		}
	}
	what, err := c.readSweep()
	if err != nil {
		return err
	}
	d, err := c.sweepRows(what.Seed)
	if err != nil {
		return err
	}
	tell, done := console.Progress(s.Err, "training")
	r, err := what.Run(ctx, d, tell)
	done()
	if errors.Is(err, town.ErrDemo) {
		return console.Misuse(err)
	} else if err != nil {
		return err
	}
	drawn := drawSweep(d, what, r)
	for _, file := range c.Plot {
		if err := console.SaveChart(file, drawn); err != nil {
			return err
		}
	}
	if c.JSON {
		return console.PrintJSON(s.Out, newSweepJSON(d, what, r))
	}
	printSweep(s, d, what, r)
	if err := drawn.Text(s.Out, chart.Terminal{ASCII: c.ASCII}); err != nil {
		return err
	}
	for _, file := range c.Plot {
		fmt.Fprintf(s.Out, "wrote %s\n", console.ShellQuote(file))
	}
	return nil
}

func printSweep(s console.Screen, d *town.Data, what town.Sweep, r *town.Result) {
	fmt.Fprintf(s.Out, "%s: %s rows, of which %s to train on; %d weights; logistic loss; %s neighbours; delta %.2g\n", d.Name,
		console.Thousands(float64(r.Rows)), console.Thousands(float64(r.Training)), r.Weights, what.Neighbours, r.Delta)
	mean := "mean and standard deviation"
	if what.Splits*what.Draws == 1 {
		mean = "mean" // of one there is no deviation
	}
	fmt.Fprintf(s.Out, "share of test rows that are wrong, %s of %s (%s, %s each)\n\n", mean,
		render.Count(int64(what.Splits*what.Draws), "training"), render.Count(int64(what.Splits), "split"),
		render.Count(int64(what.Draws), "draw"))
	t := &table.Table{Header: []string{"method"}, Right: []bool{false}}
	for _, e := range what.Epsilons {
		t.Header, t.Right = append(t.Header, "epsilon "+e.Short()), append(t.Right, true)
	}
	for _, w := range what.Ways {
		row := []string{w.Name}
		for _, e := range what.Epsilons {
			cell, _ := r.At(w.Name, e)
			text := fmt.Sprintf("%.4f", cell.Error)
			if what.Splits*what.Draws > 1 {
				text += fmt.Sprintf(" ± %.4f", cell.Deviation)
			}
			row = append(row, text)
		}
		t.Add(row...)
	}
	t.Write(s.Out)
	fmt.Fprintf(s.Out, "\nwithout privacy: %.4f; always the more frequent class: %.4f\n", r.Plain, r.Constant)
	fmt.Fprintln(s.Out, "With delta a promise is weaker than without, and weaker still with rho, which is what epsilon buys where a "+
		"budget has a delta. Nothing was charged.")
	fmt.Fprintln(s.Out)
}

// drawSweep draws error against epsilon, and the error without privacy.
func drawSweep(d *town.Data, what town.Sweep, r *town.Result) chart.Chart {
	out := chart.Chart{
		Title: "What privacy costs a classifier",
		Subtitle: fmt.Sprintf("%s, %s rows to train on, %d weights, mean of %s", d.Name, console.Thousands(float64(r.Training)),
			r.Weights, render.Count(int64(what.Splits*what.Draws), "training")),
		X: "epsilon", Y: "share of test rows that are wrong", LogX: true,
	}
	plain := chart.Curve{Name: "without privacy"}
	for _, e := range what.Epsilons {
		plain.Points = append(plain.Points, chart.Point{X: e.Float(), Y: r.Plain})
	}
	for _, w := range what.Ways {
		curve := chart.Curve{Name: w.Name}
		for _, e := range what.Epsilons {
			cell, _ := r.At(w.Name, e)
			curve.Points = append(curve.Points, chart.Point{X: e.Float(), Y: cell.Error})
		}
		out.Curves = append(out.Curves, curve)
	}
	out.Curves = append(out.Curves, plain)
	return out
}

// sweepJSON is a sweep for machines.
type sweepJSON struct {
	Data       string `json:"data"`
	Neighbours string `json:"neighbours"`
	Splits     int    `json:"splits"`
	Draws      int    `json:"draws"`
	Seed       uint64 `json:"seed"`
	*town.Result
	Cells []sweepCell `json:"cells"`
}

type sweepCell struct {
	Epsilon float64 `json:"epsilon"`
	town.Cell
}

func newSweepJSON(d *town.Data, what town.Sweep, r *town.Result) sweepJSON {
	out := sweepJSON{Data: d.Name, Neighbours: what.Neighbours.String(), Splits: what.Splits, Draws: what.Draws, Seed: what.Seed, Result: r}
	for _, c := range r.Cells {
		out.Cells = append(out.Cells, sweepCell{console.Decimal(c.Epsilon), c})
	}
	return out
}
