// Package traincmd has discreet train and discreet predict: models that are trained privately, the
// comparison of methods, and predictions.
package traincmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/cmd/discreet/internal/console"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/render"
	"github.com/discreet-dp/discreet/internal/table"
	"github.com/discreet-dp/discreet/learn"
)

// TrainCmd is discreet train.
type TrainCmd struct {
	Policy   string  `help:"The policy file." placeholder:"FILE" short:"p"`
	As       string  `help:"The analyst who asks, as the policy names them." placeholder:"ANALYST"`
	Dataset  string  `help:"The dataset, where the policy has several." placeholder:"NAME"`
	Features string  `help:"A SELECT of one row for each row to learn from: numbers with bounds, columns with public keys." placeholder:"SQL"`
	Target   string  `help:"What to predict: one of the selected columns, or an expression over the same tables." placeholder:"COLUMN"`
	Epsilon  *string `help:"What to pay for the model." placeholder:"EPSILON"`
	Evaluate *string `help:"What to pay, on top, for an estimate of its accuracy on the rows it was trained on." placeholder:"EPSILON"`
	modelFlags
	Output  string  `help:"Write the model to a file, as JSON." placeholder:"FILE" short:"o"`
	Explain bool    `help:"Only say what it would cost, and how it would be trained. Free."`
	Request *string `help:"Name the question for retries: the same request is charged once." placeholder:"ID"`
	JSON    bool    `help:"Print JSON." name:"json"`
	Sweep   bool    `help:"Compare all methods on data that nobody has to be protected in, in place of training."`
	sweepFlags
}

// modelFlags say what kind of model to train.
type modelFlags struct {
	Loss        string             `help:"What to minimise: logistic or huber for classes, squares for numbers. The default follows from the target." placeholder:"NAME"`
	Method      string             `help:"auto, objective, output or minima; the default is auto." placeholder:"NAME"`
	Regulariser *float64           `help:"Lambda of the sum, 1/C of other libraries; without it one follows from the price." placeholder:"L"`
	Tune        []float64          `help:"Regularisers to choose from, privately: a part of the price." placeholder:"L,L"`
	Radius      *float64           `help:"How long a row of features may be; longer ones are clipped." placeholder:"R"`
	HalfWidth   *float64           `help:"Of huber: how far from the border the loss is curved." placeholder:"H"`
	Residual    *float64           `help:"Of squares: from which residual on the loss is straight." placeholder:"Q"`
	Weights     map[string]float64 `help:"Public weights of classes." placeholder:"CLASS=W" mapsep:","`
	Rows        *int64             `help:"About how many rows there are, if that is public; with --sweep how many to make up." placeholder:"N"`
}

func (TrainCmd) Help() string {
	return `Trains a linear model under differential privacy: a classifier (logistic regression, or an SVM with the Huber loss) or a
regression (bounded squares). It shows the price first, then the coefficients, the guarantee and the receipt. The same training again is the
same model, free. See docs/learning.md.

  discreet train --policy town.yaml --as ana --features 'SELECT * FROM town' --target earns --epsilon 1 -o model.json
  discreet train --policy town.yaml --as ana --features 'SELECT age, job FROM town' --target hours --epsilon 1 --explain
  discreet train --policy town.yaml --as ana --features 'SELECT age, job FROM town' --target earns --epsilon 1 --evaluate 0.1
  discreet predict -m model.json new.csv

--sweep is for owners, on made-up rows or on the Adult census, and charges nothing. It prints the test error of every method at
every epsilon, and draws it:

  discreet train --sweep --plot sweep.svg
  discreet train --sweep --adult adult.data --adult adult.test --neighbours substitute`
}

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
		fmt.Fprintln(s.Err, "the model was not kept; the same training with -o model.json writes it, free")
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

// readQuestion reads the flags of a training.
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
		return q, console.Misuse(errors.New("--epsilon is missing: say what the model may cost, such as --epsilon 1"))
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
			return q, console.Misuse(errors.New("--evaluate is 0: say what the estimate may cost, such as 0.1, or leave it out"))
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
			return s, console.Misuse(fmt.Errorf("%s 0: give a positive number, or leave it out and one is chosen", x.flag))
		}
	}
	return s, nil
}

// readAmount reads an amount of privacy.
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
			fmt.Fprintf(w, "\r\x1b[K%s %s %.0f %%", p.Stage, table.Bar(p.Done, 20), 100*p.Done)
		}
	}
	return tell, func() {
		if !shown.IsZero() {
			fmt.Fprint(w, "\r\x1b[K")
		}
	}
}
