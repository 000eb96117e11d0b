package labcmd

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/discreet-dp/discreet/cmd/discreet/internal/console"
	"github.com/discreet-dp/discreet/internal/lab/chart"
	"github.com/discreet-dp/discreet/internal/lab/workbench"
	"github.com/discreet-dp/discreet/internal/lab/workload"
	"github.com/discreet-dp/discreet/internal/privacyloss"
)

type accountPlotCmd struct {
	mechanismFlags
	Delta     string   `help:"The delta at which to draw epsilon." placeholder:"D" default:"1e-6"`
	Epsilon   string   `help:"With --what loss: the epsilon beyond which to shade, instead of the one at delta." placeholder:"E"`
	What      string   `help:"What to draw: ${enum}." enum:"epsilon,loss" default:"epsilon"`
	Direction string   `help:"The neighbours to compare under sampling: ${enum}." enum:"both,remove,add" default:"both"`
	Log       bool     `help:"Use logarithmic axes, on which powers of the number of queries are straight lines."`
	Output    []string `help:"Write the picture to a file, .svg or .png; can be given again." placeholder:"FILE" short:"o" sep:"none"`
	ASCII     bool     `help:"Draw in the terminal with ASCII characters only." name:"ascii"`
	JSON      bool     `help:"Print the points as JSON instead of drawing in the terminal." name:"json"`
}

func (accountPlotCmd) Help() string {
	return `Plots epsilon against the number of queries up to --times, with one curve for each accountant. With
--what loss it plots the distribution of the privacy loss instead, and shades the part that makes up delta.

  discreet account plot --mechanism laplace:epsilon=0.1 --times 1000 --delta 1e-6
  discreet account plot --mechanism laplace:epsilon=0.1 --times 1000 --delta 1e-6 -o out.svg -o out.png
  discreet account plot --what loss --mechanism gaussian:sigma=1 --epsilon 1 -o loss.svg
` + mechanismHelp
}

func (c *accountPlotCmd) Run(ctx context.Context, s console.Screen) error {
	for _, file := range c.Output {
		if err := console.CanSave(file); err != nil {
			return err
		}
	}
	w, err := c.workload()
	if err != nil {
		return err
	}
	delta, err := readNumber("delta", c.Delta)
	if err != nil {
		return err
	}
	var drawn chart.Chart
	if c.What == "loss" {
		drawn, err = c.loss(s, w, delta)
	} else {
		drawn, err = c.curves(ctx, s, w, delta)
	}
	if err != nil {
		return err
	}
	for _, file := range c.Output {
		if err := console.SaveChart(file, drawn); err != nil {
			return err
		}
	}
	if c.JSON {
		return console.PrintJSON(s.Out, chartJSON(drawn))
	}
	if err := drawn.Text(s.Out, chart.Terminal{ASCII: c.ASCII}); err != nil {
		return err
	}
	for _, file := range c.Output {
		fmt.Fprintf(s.Out, "wrote %s\n", file)
	}
	return nil
}

// curves draws epsilon by every accountant against the number of queries.
func (c *accountPlotCmd) curves(ctx context.Context, s console.Screen, w *workload.Workload, delta float64) (chart.Chart, error) {
	uses := w.Uses()
	if len(uses) != 1 {
		return chart.Chart{}, console.Misuse(errors.New("a plot against the number of queries shows one mechanism: give --mechanism " +
			"once"))
	}
	if c.Epsilon != "" {
		return chart.Chart{}, console.Misuse(errors.New("--epsilon is for --what loss: give --delta here"))
	}
	use := uses[0]
	if use.Times < 2 {
		return chart.Chart{}, console.Misuse(errors.New("add --times, the number of queries to plot, such as --times 1000"))
	}
	points := map[workload.Method][]chart.Point{}
	tell, done := console.Progress(s.Err, "composing")
	defer done()
	places := console.CurvePoints(use.Times, c.Log)
	for i, k := range places {
		if err := ctx.Err(); err != nil {
			return chart.Chart{}, err
		}
		tell(i, len(places))
		some, err := workload.New(workload.Use{Mechanism: use.Mechanism, Times: k})
		if err != nil {
			return chart.Chart{}, err
		}
		answer, err := some.Epsilon(delta, workbench.Directions[c.Direction])
		if err != nil {
			return chart.Chart{}, err
		}
		for _, r := range answer.Results {
			points[r.Method] = append(points[r.Method], chart.Point{X: float64(k), Y: r.Upper})
		}
	}
	out := chart.Chart{
		Title: "What " + use.Mechanism.String() + " costs when it is used again", Subtitle: "epsilon at delta " +
			c.Delta + ", by composition theorem",
		X: "number of queries", Y: "epsilon", LogX: c.Log, LogY: c.Log,
	}
	for _, m := range workload.Methods {
		if len(points[m]) > 0 {
			out.Curves = append(out.Curves, chart.Curve{Name: string(m), Points: points[m]})
		}
	}
	return out, nil
}

// loss draws the distribution of the privacy loss.
func (c *accountPlotCmd) loss(s console.Screen, w *workload.Workload, delta float64) (chart.Chart, error) {
	done := console.Waiting(s.Err, "composing")
	defer done()
	// A picture is of one of the two: the one that loses more, almost always.
	way := workload.Remove
	if c.Direction == "add" {
		way = workload.Add
	}
	var epsilon float64
	if c.Epsilon == "" {
		answer, err := w.Epsilon(delta, way)
		if err != nil {
			return chart.Chart{}, err
		}
		epsilon = lossDistributionEpsilon(answer)
	} else {
		var err error
		if epsilon, err = readNumber("epsilon", c.Epsilon); err != nil {
			return chart.Chart{}, err
		}
		answer, err := w.Delta(epsilon, way)
		if err != nil {
			return chart.Chart{}, err
		}
		delta = lossDistributionEpsilon(answer)
	}
	sum, err := w.Loss(way)
	if err != nil {
		return chart.Chart{}, err
	}
	return drawLoss(sum.Shape(400), namesInText(w.Uses()), epsilon, delta, c.Log || delta < 1e-3), nil
}

// drawLoss draws a loss with the part that makes delta shaded. A small delta can only
// be seen on a logarithmic axis.
func drawLoss(shape privacyloss.Shape, of string, epsilon, delta float64, log bool) chart.Chart {
	out := chart.Chart{
		Title:    "The privacy loss of " + of,
		Subtitle: fmt.Sprintf("delta = %.3g: losses beyond epsilon, weighted by 1 - exp(epsilon - loss)", delta),
		X:        "privacy loss", Y: "density", LogY: log,
		Marks: []chart.Mark{{Name: fmt.Sprintf("epsilon = %.4g", epsilon), X: epsilon}},
	}
	// On a logarithmic axis what is far below the shaded part is left out.
	floor := 0.0
	if log {
		floor = max(delta, 1e-300) / 1000
	}
	var curve, tail []chart.Point
	for _, p := range shape.Density {
		if p.Height < floor {
			continue
		}
		curve = append(curve, chart.Point{X: p.Loss, Y: p.Height})
		if weight := -math.Expm1(epsilon - p.Loss); p.Loss >= epsilon && p.Height*weight >= floor {
			tail = append(tail, chart.Point{X: p.Loss, Y: p.Height * weight})
		}
	}
	if len(curve) > 0 {
		out.Curves = []chart.Curve{{Points: curve}}
	} else {
		out.Y = "probability"
	}
	if len(tail) > 1 {
		out.Areas = []chart.Area{{Name: fmt.Sprintf("delta = %.3g", delta), Points: tail}}
	}
	for _, a := range shape.Atoms {
		if a.Height < floor {
			continue
		}
		stem := chart.Stem{X: a.Loss, Y: a.Height, Shaded: a.Loss > epsilon}
		if len(curve) > 0 {
			stem.Name = fmt.Sprintf("probability %.3g", a.Height)
		}
		out.Stems = append(out.Stems, stem)
	}
	return out
}

// lossDistributionEpsilon returns what the loss distribution itself says.
func lossDistributionEpsilon(a workload.Answer) float64 {
	for _, r := range a.Results {
		if r.Method == workload.PLD {
			return r.Upper
		}
	}
	return a.Tightest().Upper
}

func chartJSON(c chart.Chart) any {
	type curve struct {
		Name   string       `json:"name"`
		Points [][2]float64 `json:"points"`
	}
	pairs := func(points []chart.Point) (out [][2]float64) {
		for _, p := range points {
			out = append(out, [2]float64{p.X, p.Y})
		}
		return out
	}
	curves, atoms := []curve{}, [][2]float64{}
	for _, k := range c.Curves {
		curves = append(curves, curve{k.Name, pairs(k.Points)})
	}
	for _, s := range c.Stems {
		atoms = append(atoms, [2]float64{s.X, s.Y})
	}
	return struct {
		Title  string       `json:"title"`
		X      string       `json:"x"`
		Y      string       `json:"y"`
		Curves []curve      `json:"curves"`
		Atoms  [][2]float64 `json:"atoms,omitempty"`
	}{c.Title, c.X, c.Y, curves, atoms}
}
