package sessioncmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/cmd/discreet/internal/console"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/lab/chart"
	town "github.com/discreet-dp/discreet/internal/lab/traindemo"
	"github.com/discreet-dp/discreet/internal/mechanism/learn"
	"github.com/discreet-dp/discreet/internal/render"
)

type TrainCmd struct {
	Policy   string  `help:"The policy file." placeholder:"FILE" short:"p"`
	As       string  `help:"The analyst who asks, by the name in the policy." placeholder:"ANALYST"`
	Dataset  string  `help:"The dataset, if the policy has several." placeholder:"NAME"`
	Features string  `help:"A SELECT that gives one row for each row to learn from: numbers with bounds, columns with public keys." placeholder:"SQL"`
	Target   string  `help:"What to predict: one of the selected columns, or an expression over the same tables." placeholder:"COLUMN"`
	Epsilon  *string `help:"What to pay for the model." placeholder:"EPSILON"`
	Evaluate *string `help:"What to pay, on top, for an estimate of its accuracy on the rows it was trained on." placeholder:"EPSILON"`
	modelFlags
	Output  string  `help:"Write the model to a file, as JSON." placeholder:"FILE" short:"o"`
	Explain bool    `help:"Only show what it would cost, and how the model would be trained. Free."`
	Request *string `help:"Name the question for retries: the same request is charged once." placeholder:"ID"`
	JSON    bool    `help:"Print JSON." name:"json"`
	Sweep   bool    `help:"Instead of training, compare all methods on data in which nobody needs protection."`
	sweepFlags
}

// modelFlags say what kind of model to train.
type modelFlags struct {
	Loss        string             `help:"What to minimise: logistic or huber for classes, squares for numbers. The default follows from the target." placeholder:"NAME"`
	Method      string             `help:"auto, objective, output or minima; the default is auto." placeholder:"NAME"`
	Regulariser *float64           `help:"Lambda of the sum, 1/C in other libraries; if left out, it follows from the price." placeholder:"L"`
	Tune        []float64          `help:"Regularisers to choose from, privately; the choice takes part of the price." placeholder:"L,L"`
	Radius      *float64           `help:"The largest length of a row of features; longer rows are clipped." placeholder:"R"`
	HalfWidth   *float64           `help:"For huber: how far from the border the loss is curved." placeholder:"H"`
	Residual    *float64           `help:"For squares: the residual from which on the loss is straight." placeholder:"Q"`
	Weights     map[string]float64 `help:"Public weights of classes." placeholder:"CLASS=W" mapsep:","`
	Rows        *int64             `help:"About how many rows there are, if that is public; with --sweep, how many to make up." placeholder:"N"`
}

func (TrainCmd) Help() string {
	return `Trains a linear model under differential privacy: a classifier (logistic regression, or an SVM with the Huber
loss) or a regression (bounded squares). It shows the price first, then the coefficients, the guarantee and
the receipt. The same training again gives the same model, free. See docs/learning.md.

  discreet train --policy town.yaml --as ana --features 'SELECT * FROM town' --target earns --epsilon 1 -o model.json
  discreet train --policy town.yaml --as ana --features 'SELECT age, job FROM town' --target hours --epsilon 1 --explain
  discreet train --policy town.yaml --as ana --features 'SELECT age, job FROM town' --target earns --epsilon 1 --evaluate 0.1
  discreet predict -m model.json new.csv

--sweep is for owners, on made-up rows or on the Adult census, and charges nothing. It prints the test error of every method at
every epsilon, and plots it:

  discreet train --sweep --plot sweep.svg
  discreet train --sweep --adult adult.data --adult adult.test --neighbours substitute`
}

// NeverCharges tells who interrupts it that nothing can have been charged.
func (c *TrainCmd) NeverCharges() bool { return c.Sweep || c.Explain }

func (c *TrainCmd) Run(ctx context.Context, s console.Screen) error {
	if c.Sweep {
		return c.sweep(ctx, s)
	}
	q, err := c.readQuestion()
	if err != nil {
		return err
	}
	if c.Output != "" {
		if err := console.CanWrite(c.Output); err != nil {
			return err
		}
	}
	db, err := discreet.Open(ctx, c.Policy)
	if err != nil {
		return err
	}
	defer db.Close()
	done := console.Waiting(s.Err, "opening")
	quote, err := db.QuoteTraining(ctx, q)
	done()
	if err != nil {
		return console.Locate(err, q.Features)
	}
	if c.Explain {
		return c.explain(s, quote)
	}
	if !c.JSON && quote.Affordable {
		// Beside the answer and not in it: what fails later has printed nothing.
		render.TrainingOffer(s.Err, quote)
	}
	tell, done := showTraining(s.Err)
	t, err := db.Train(ctx, q, tell)
	done()
	if err != nil {
		return console.Locate(err, q.Features)
	}
	for _, alert := range t.Alerts {
		fmt.Fprintln(s.Err, "notice: "+alert.String())
	}
	if c.Output != "" {
		// It was paid for. Where it cannot be written the same training brings it again, free.
		if err := console.WriteFile(nil, c.Output, t.Model.Write); err != nil {
			return fmt.Errorf("%w. The model is paid for, and the same training again is free", err)
		}
	}
	if c.JSON {
		return console.PrintJSON(s.Out, console.Ordered{Object: struct {
			*api.Training
			File string `json:"file,omitempty"`
		}{t, c.Output}, Keys: []string{"id", "cost", "remaining", "receipt", "data_version", "notes", "alerts", "file", "model"}})
	}
	render.Training(s.Out, t)
	if c.Output == "" {
		fmt.Fprintln(s.Err, "the model was not saved; the same training with -o model.json writes it, free")
		return nil
	}
	fmt.Fprintf(s.Out, "wrote %s; predict with: discreet predict -m %s rows.csv\n", console.ShellQuote(c.Output),
		console.ShellQuote(c.Output))
	return nil
}

func (c *TrainCmd) explain(s console.Screen, quote *api.TrainingQuote) error {
	if c.JSON {
		return console.PrintJSON(s.Out, console.Ordered{Object: quote, Keys: []string{"dataset", "unit", "neighbours", "max_rows",
			"method", "why", "plan", "epsilon", "cost", "pay", "currency", "known", "remaining", "after", "affordable"}})
	}
	render.TrainingQuote(s.Out, quote)
	return nil
}

func (c *TrainCmd) readQuestion() (q api.TrainingQuestion, err error) {
	for _, needed := range []struct {
		flag, text, example string
	}{
		{"--policy", c.Policy, "town.yaml"}, {"--as", c.As, "ana"}, {"--features", c.Features, "'SELECT age, job, earns FROM town'"},
		{"--target", c.Target, "earns"},
	} {
		if needed.text == "" {
			return q, console.Misuse(fmt.Errorf("%s is missing: write for example %s %s; see discreet train --help", needed.flag,
				needed.flag, needed.example))
		}
	}
	if flag := c.sweepFlags.given(); flag != "" {
		return q, console.Misuse(fmt.Errorf("%s is for --sweep", flag))
	}
	if c.Epsilon == nil {
		return q, console.Misuse(errors.New("add --epsilon, the most the model may cost, such as --epsilon 1"))
	}
	q = api.TrainingQuestion{Dataset: c.Dataset, Analyst: c.As, Features: c.Features, Target: c.Target}
	if q.Spec, err = c.modelFlags.spec(); err != nil {
		return q, err
	}
	if q.Spec.Budget.Epsilon, err = readAmount("--epsilon", *c.Epsilon); err != nil {
		return q, err
	}
	if c.Evaluate != nil {
		if q.Spec.Evaluate, err = readAmount("--evaluate", *c.Evaluate); err != nil {
			return q, err
		}
		if q.Spec.Evaluate == 0 {
			return q, console.Misuse(errors.New("--evaluate is 0: give the most the estimate may cost, such as 0.1, or leave it out"))
		}
	}
	if c.Rows != nil {
		if q.Spec.Rows = *c.Rows; q.Spec.Rows < 1 {
			return q, console.Misuse(fmt.Errorf("--rows %d: give about how many rows there are, or leave it out", q.Spec.Rows))
		}
	}
	if c.Request != nil {
		if q.Request = *c.Request; q.Request == "" {
			return q, console.Misuse(errors.New("--request is empty; name the question, or leave it out"))
		}
	}
	return q, nil
}

func (f modelFlags) spec() (learn.Spec, error) {
	s := learn.Spec{Loss: f.Loss, Method: f.Method, Tune: slices.Clone(f.Tune), Weights: f.Weights}
	for _, x := range []struct {
		flag  string
		given *float64
		to    *float64
	}{
		{"--regulariser", f.Regulariser, &s.Regulariser}, {"--radius", f.Radius, &s.Radius}, {"--half-width", f.HalfWidth, &s.HalfWidth},
		{"--residual", f.Residual, &s.Residual},
	} {
		if x.given == nil {
			continue
		}
		// In a spec 0 stands for a default. Who writes 0 means something else, and would pay for
		// the default.
		if *x.to = *x.given; *x.to == 0 {
			return s, console.Misuse(fmt.Errorf("%s 0: give a positive number, or leave it out to have one chosen", x.flag))
		}
	}
	return s, nil
}

func readAmount(flag, text string) (dp.Amount, error) {
	a, err := dp.Parse(text)
	if err != nil {
		return 0, console.Misuse(fmt.Errorf("%s: %w", flag, err))
	}
	return a, nil
}

// showTraining shows, on a terminal and from the second second on, how far a training is.
func showTraining(w io.Writer) (tell func(learn.Progress), done func()) {
	if !console.IsTerminal(w) {
		return nil, func() {}
	}
	start, shown := time.Now(), time.Time{}
	tell = func(p learn.Progress) {
		if now := time.Now(); now.Sub(start) > time.Second && now.Sub(shown) > 100*time.Millisecond {
			shown = now
			fmt.Fprintf(w, "\r\x1b[K%s %s %.0f %%", p.Stage, render.Bar(p.Done, 20), 100*p.Done)
		}
	}
	return tell, func() {
		if !shown.IsZero() {
			fmt.Fprint(w, "\r\x1b[K")
		}
	}
}

type sweepFlags struct {
	Adult      []string `help:"With --sweep: a file of the Adult census (1994), instead of made-up rows; can be given again." placeholder:"FILE" sep:"none"`
	Epsilons   []string `help:"With --sweep: the prices to compare; 0.1, 0.2, 0.5, 1 and 2 if left out." placeholder:"E,E"`
	Splits     *int     `help:"With --sweep: how often to split the rows anew into four fifths to train on and a fifth to test with; 5 if left out." placeholder:"N"`
	Draws      *int     `help:"With --sweep: how often to draw noise for each split; once if left out." placeholder:"N"`
	Neighbours string   `help:"With --sweep: add-remove or substitute; the default is add-remove." placeholder:"KIND"`
	Seed       uint64   `help:"With --sweep: the same seed makes the same rows and the same noise; 1 if left out." placeholder:"S"`
	Plot       []string `help:"With --sweep: plot the error against epsilon to a file, .svg or .png; can be given again." placeholder:"FILE" sep:"none"`
	ASCII      bool     `help:"With --sweep: draw in the terminal with ASCII characters only." name:"ascii"`
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

func (c *TrainCmd) readSweep() (town.Sweep, error) {
	s := town.Sweep{Ways: town.Ways, Splits: 5, Draws: 1, Seed: cmp.Or(c.Seed, 1)}
	for flag, is := range map[string]bool{
		"--policy": c.Policy != "", "--as": c.As != "", "--dataset": c.Dataset != "", "--features": c.Features != "",
		"--target": c.Target != "", "--epsilon": c.Epsilon != nil, "--evaluate": c.Evaluate != nil,
		"--tune": len(c.Tune) > 0, "--half-width": c.HalfWidth != nil, "--residual": c.Residual != nil, "--weights": len(c.Weights) > 0,
		"--output": c.Output != "", "--explain": c.Explain, "--request": c.Request != nil,
	} {
		if is {
			return s, console.Misuse(fmt.Errorf("--sweep compares methods on rows of its own, so leave out %s; see discreet train "+
				"--help", flag))
		}
	}
	if c.Loss != "" && c.Loss != "logistic" {
		return s, console.Misuse(errors.New("--sweep is for the logistic loss"))
	}
	if c.Method != "" && c.Method != "auto" {
		s.Ways = slices.DeleteFunc(slices.Clone(s.Ways), func(w town.Way) bool { return w.Method != c.Method })
		if len(s.Ways) == 0 {
			return s, console.Misuse(fmt.Errorf("there is no method %q; the methods are output, objective and minima", c.Method))
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
			return nil, console.Misuse(errors.New("--epsilons: nothing can be learned with an epsilon of 0; leave it out"))
		}
		out = append(out, a)
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

func (c *TrainCmd) sweepRows(seed uint64) (*town.Data, error) {
	var d *town.Data
	var err error
	switch {
	case len(c.Adult) > 0 && c.Rows != nil:
		return nil, console.Misuse(errors.New("--rows says how many rows to make up, but --adult reads rows; leave out one of the two"))
	case len(c.Adult) > 0:
		d, err = town.ReadAdult(c.Adult...)
	default:
		n := int64(20_000)
		if c.Rows != nil {
			n = *c.Rows
		}
		d, err = town.MakeTown(int(n), seed)
	}
	if err != nil {
		return nil, console.Misuse(err)
	}
	return d, nil
}

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
	fmt.Fprintf(s.Out, "%s: %s rows, %s of them to train on; %d weights; logistic loss; %s neighbours; delta %.2g\n", d.Name,
		console.Thousands(float64(r.Rows)), console.Thousands(float64(r.Training)), r.Weights, what.Neighbours, r.Delta)
	mean := "mean and standard deviation"
	if what.Splits*what.Draws == 1 {
		mean = "mean" // of one there is no deviation
	}
	fmt.Fprintf(s.Out, "share of test rows that are wrong, %s of %s (%s, %s each)\n\n", mean,
		render.Count(int64(what.Splits*what.Draws), "training"), render.Count(int64(what.Splits), "split"),
		render.Count(int64(what.Draws), "draw"))
	t := &render.Table{Header: []string{"method"}, Right: []bool{false}}
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
	fmt.Fprintln(s.Out, "A promise with delta is weaker than one without, and one with rho, which is what epsilon buys if a budget "+
		"has a delta, is weaker still. Nothing was charged.")
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
