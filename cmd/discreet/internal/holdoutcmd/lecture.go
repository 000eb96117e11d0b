package holdoutcmd

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/discreet-dp/discreet/cmd/discreet/internal/console"
	"github.com/discreet-dp/discreet/internal/chart"
	experiment "github.com/discreet-dp/discreet/internal/holdoutdemo"
	"github.com/discreet-dp/discreet/internal/table"
)

type holdoutLectureCmd struct {
	N           int     `help:"How many numbers there are." placeholder:"N" name:"n" default:"1000"`
	Group       int     `help:"How many subsets are in a group, of which one is kept." placeholder:"G" default:"10"`
	Repetitions int     `help:"How often everything is done again." placeholder:"R" default:"1000"`
	Tolerance   float64 `help:"The tolerance that epsilon is for, in standard deviations." placeholder:"T" default:"0.5"`
	Seed        uint64  `help:"The same seed makes the same data and the same noise." placeholder:"S" default:"1"`
	Plot        string  `help:"Draw both histograms to a file, .svg or .png." placeholder:"FILE"`
	ASCII       bool    `help:"Draw in the terminal with ASCII signs only." name:"ascii"`
	JSON        bool    `help:"Print JSON, with every final mean." name:"json"`
}

func (holdoutLectureCmd) Help() string {
	return `n standard normal numbers are dealt into subsets of ln n, and the subsets into groups. Of each group the subset with the largest
mean is kept, and the final mean is that of all that was kept. The truth is 0. Subsets chosen by their exact means give a final mean that is far
off; chosen by report noisy max, at the epsilon at which the theorem on generalisation begins to speak about the tolerance, they do not.

  discreet holdout lecture
  discreet holdout lecture --n 10000 --tolerance 0.3 --plot lecture.svg`
}

func (c *holdoutLectureCmd) Run(ctx context.Context, s console.Screen) error {
	if c.Plot != "" {
		if err := console.CanSave(c.Plot); err != nil {
			return err
		}
	}
	l := experiment.Lecture{Size: c.N, Group: c.Group, Repetitions: c.Repetitions, Tolerance: c.Tolerance, Seed: c.Seed}
	tell, done := console.Progress(s.Err, "choosing")
	r, err := l.Run(ctx, tell)
	done()
	if errors.Is(err, experiment.ErrDemo) {
		return console.Misuse(err)
	} else if err != nil {
		return err
	}
	exact, private := experiment.FigureOf(r.Exact), experiment.FigureOf(r.Private)
	drawn := drawHistograms(r)
	if c.JSON {
		err = console.PrintJSON(s.Out, struct {
			Numbers     int               `json:"numbers"`
			Subset      int               `json:"subset"`
			Subsets     int               `json:"subsets"`
			Group       int               `json:"group"`
			Repetitions int               `json:"repetitions"`
			Epsilon     float64           `json:"epsilon"`
			Exact       experiment.Figure `json:"exact"`
			Private     experiment.Figure `json:"private"`
			ExactMeans  []float64         `json:"exact_means"`
			PrivateMean []float64         `json:"private_means"`
		}{c.N, r.Subset, r.Subsets, c.Group, c.Repetitions, r.Epsilon.Float(), exact, private, r.Exact, r.Private})
	} else {
		fmt.Fprintf(s.Out, "%s numbers in %s subsets of %d, of every %d subsets one is kept; %s repetitions\n",
			console.Thousands(float64(c.N)), console.Thousands(float64(r.Subsets)), r.Subset, c.Group,
			console.Thousands(float64(c.Repetitions)))
		fmt.Fprintf(s.Out, "epsilon %s, for a tolerance of %v standard deviations\n\n", r.Epsilon.Short(), c.Tolerance)
		t := &table.Table{Header: []string{"chosen by", "final mean", "standard deviation", "within the tolerance"},
			Right: []bool{false, true, true, true}}
		within := func(all []float64) string {
			n := 0
			for _, x := range all {
				if math.Abs(x) <= c.Tolerance {
					n++
				}
			}
			return fmt.Sprintf("%d of %d", n, len(all))
		}
		t.Add("exact means", fmt.Sprintf("%.4f", exact.Mean), fmt.Sprintf("%.4f", exact.Deviation), within(r.Exact))
		t.Add("report noisy max", fmt.Sprintf("%.4f", private.Mean), fmt.Sprintf("%.4f", private.Deviation), within(r.Private))
		t.Write(s.Out)
		fmt.Fprintln(s.Out)
		err = drawn.Text(s.Out, chart.Terminal{ASCII: c.ASCII})
	}
	if err != nil {
		return err
	}
	return console.DrawChart(s, c.Plot, drawn, c.JSON)
}

// drawHistograms draws both kinds of final means, in bins of the same width.
func drawHistograms(r *experiment.Lesson) chart.Chart {
	low, high := 0.0, 0.0
	for _, all := range [][]float64{r.Exact, r.Private} {
		for _, x := range all {
			low, high = math.Min(low, x), math.Max(high, x)
		}
	}
	const bins = 60
	width := math.Max(high-low, 1e-9) / bins
	out := chart.Chart{
		Title: "The mean of what was kept", Subtitle: fmt.Sprintf("%d repetitions; chosen by exact means, and by "+
			"report noisy max at epsilon %s", len(r.Exact), r.Epsilon.Short()),
		X: "final mean, in standard deviations", Y: "repetitions", Marks: []chart.Mark{{Name: "the truth", X: 0}},
	}
	for _, h := range []struct {
		name string
		all  []float64
	}{{"exact means", r.Exact}, {"noisy max", r.Private}} {
		count := make([]float64, bins)
		for _, x := range h.all {
			count[min(bins-1, int((x-low)/width))]++
		}
		curve := chart.Curve{Name: h.name}
		for i, n := range count {
			curve.Points = append(curve.Points, chart.Point{X: low + float64(i)*width, Y: n},
				chart.Point{X: low + float64(i+1)*width, Y: n})
		}
		out.Curves = append(out.Curves, curve)
	}
	return out
}
