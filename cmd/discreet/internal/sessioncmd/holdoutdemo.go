package sessioncmd

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/discreet-dp/discreet/cmd/discreet/internal/console"
	"github.com/discreet-dp/discreet/internal/lab/chart"
	experiment "github.com/discreet-dp/discreet/internal/lab/holdoutdemo"
	"github.com/discreet-dp/discreet/internal/render"
)

type holdoutDemoCmd struct {
	Signal      bool   `help:"Let 20 attributes go with the label; without it, none does."`
	N           int    `help:"People in the training data, in the holdout, and in the fresh data." placeholder:"N" name:"n" default:"10000"`
	Attributes  int    `help:"Attributes of each." placeholder:"D" default:"10000"`
	Selected    int    `help:"The largest number of attributes of a classifier; a twentieth of all if left out." placeholder:"K"`
	Repetitions int    `help:"How often to repeat everything, with other data." placeholder:"R" default:"12"`
	Seed        uint64 `help:"The same seed makes the same data and the same noise." placeholder:"S" default:"1"`
	Plot        string `help:"Write the plot to a file, .svg or .png." placeholder:"FILE"`
	ASCII       bool   `help:"Draw in the terminal with ASCII characters only." name:"ascii"`
	JSON        bool   `help:"Print JSON." name:"json"`
}

func (holdoutDemoCmd) Help() string {
	return `The experiment of Dwork, Feldman, Hardt, Pitassi, Reingold and Roth (2015). An analyst asks a holdout how each
attribute goes with a label, keeps those for which training and holdout agree, and asks how good a classifier
of the best is. A plain holdout answers exactly; the other is a session of package holdout with threshold 0.04
and noise 0.01. The reports of both are compared with fresh data.

  discreet holdout demo
  discreet holdout demo --signal --plot signal.svg
  discreet holdout demo --n 2000 --attributes 2000

All data is made up. It takes under a minute on two cores, and a few seconds with --n 2000 --attributes 2000.`
}

func (c *holdoutDemoCmd) Run(ctx context.Context, s console.Screen) error {
	if c.Plot != "" {
		if err := console.CanSave(c.Plot); err != nil {
			return err
		}
	}
	e := experiment.NewClassic(c.Signal)
	e.Size, e.Attributes, e.Repetitions, e.Seed = c.N, c.Attributes, c.Repetitions, c.Seed
	most := c.Selected
	if most == 0 {
		most = c.Attributes / 20
	}
	e.Selected = experiment.Grid(most)
	tell, done := console.Progress(s.Err, "looking at columns")
	r, err := e.Run(ctx, tell)
	done()
	if errors.Is(err, experiment.ErrDemo) {
		return console.Misuse(err)
	} else if err != nil {
		return err
	}
	drawn := c.picture(r)
	if c.JSON {
		if err := c.printJSON(s, e, r); err != nil {
			return err
		}
	} else {
		c.print(s, e, r)
		if err := drawn.Text(s.Out, chart.Terminal{ASCII: c.ASCII}); err != nil {
			return err
		}
	}
	return console.DrawChart(s, c.Plot, drawn, c.JSON)
}

func (c *holdoutDemoCmd) print(s console.Screen, e experiment.Classic, r *experiment.Result) {
	threshold, _ := e.Threshold.Float64()
	noise, _ := e.Noise.Float64()
	fmt.Fprintf(s.Out, "%s people; %s attributes, %d of them go with the label; %d repetitions; threshold %v, noise %v\n",
		console.Thousands(float64(e.Size)), console.Thousands(float64(e.Attributes)), e.Biased, e.Repetitions, threshold, noise)
	fmt.Fprintf(s.Out, "share of labels that a classifier gets right: mean and standard deviation over the repetitions\n\n")
	t := &render.Table{
		Header: []string{"selected", "plain: training", "reported", "fresh", "Thresholdout: training", "reported", "fresh"},
		Right:  []bool{true, true, true, true, true, true, true},
	}
	if e.Biased > 0 {
		t.Header, t.Right = append(t.Header, "of the signal"), append(t.Right, true)
	}
	show := func(f experiment.Figure) string { return fmt.Sprintf("%.3f ± %.3f", f.Mean, f.Deviation) }
	for i, p := range r.Plain {
		q := r.Threshold[i]
		row := []string{fmt.Sprint(p.Selected), show(p.Training), show(p.Reported), show(p.Fresh), show(q.Training),
			show(q.Reported), show(q.Fresh)}
		if e.Biased > 0 {
			row = append(row, fmt.Sprintf("%.1f", q.Found.Mean))
		}
		t.Add(row...)
	}
	t.Write(s.Out)
	p, q := r.Plain[len(r.Plain)-1], r.Threshold[len(r.Threshold)-1]
	fmt.Fprintf(s.Out, "\nWith %d selected, the plain holdout reports %.3f where fresh data gives %.3f; Thresholdout reports %.3f where "+
		"fresh data gives %.3f.\n",
		p.Selected, p.Reported.Mean, p.Fresh.Mean, q.Reported.Mean, q.Fresh.Mean)
	fmt.Fprintf(s.Out, "Over all sizes, reports of the plain holdout are up to %.3f away from fresh data, and those of "+
		"Thresholdout up to %.3f; its threshold allows %v.\n",
		maxDistance(r.Plain), maxDistance(r.Threshold), threshold)
	fmt.Fprintf(s.Out, "Thresholdout answered %.0f of %d questions from the holdout, for a pure epsilon of up to %.3g. At that price "+
		"the theorems are vacuous: this shows\npractice, and promises nothing. See discreet holdout plan.\n\n",
		r.Rounds.Mean, e.Attributes+len(e.Selected)+1, r.Cost.Epsilon.Float())
}

// maxDistance is how far the mean report is from fresh data, at the size where it is farthest.
func maxDistance(lines []experiment.Line) (most float64) {
	for _, l := range lines {
		most = math.Max(most, math.Abs(l.Reported.Mean-l.Fresh.Mean))
	}
	return most
}

// picture draws by how much classifiers are better than a coin. An axis always shows zero, so
// shares of about a half would leave half of it empty.
func (c *holdoutDemoCmd) picture(r *experiment.Result) chart.Chart {
	out := chart.Chart{
		Title:    "A holdout asked again and again, without a signal",
		Subtitle: "labels that a classifier gets right beyond a half; the holdout is asked before every step",
		X:        "attributes selected", Y: "beyond a half",
	}
	if c.Signal {
		out.Title = "A holdout asked again and again, with a signal"
	}
	curve := func(name string, lines []experiment.Line, of func(experiment.Line) experiment.Figure) {
		k := chart.Curve{Name: name}
		for _, l := range lines {
			k.Points = append(k.Points, chart.Point{X: float64(l.Selected), Y: of(l).Mean - 0.5})
		}
		out.Curves = append(out.Curves, k)
	}
	training, reported, fresh := func(l experiment.Line) experiment.Figure { return l.Training },
		func(l experiment.Line) experiment.Figure { return l.Reported }, func(l experiment.Line) experiment.Figure { return l.Fresh }
	curve("plain: training", r.Plain, training)
	curve("plain: reported", r.Plain, reported)
	curve("plain: fresh", r.Plain, fresh)
	curve("Thresholdout: training", r.Threshold, training)
	curve("Thresholdout: reported", r.Threshold, reported)
	curve("Thresholdout: fresh", r.Threshold, fresh)
	return out
}

func (c *holdoutDemoCmd) printJSON(s console.Screen, e experiment.Classic, r *experiment.Result) error {
	return console.PrintJSON(s.Out, struct {
		People       int               `json:"people"`
		Attributes   int               `json:"attributes"`
		Signal       int               `json:"signal"`
		Repetitions  int               `json:"repetitions"`
		Seed         uint64            `json:"seed"`
		Plain        []experiment.Line `json:"plain"`
		Thresholdout []experiment.Line `json:"thresholdout"`
		Rounds       experiment.Figure `json:"rounds"`
		Epsilon      float64           `json:"epsilon"`
	}{e.Size, e.Attributes, e.Biased, e.Repetitions, e.Seed, r.Plain, r.Threshold, r.Rounds, r.Cost.Epsilon.Float()})
}

type holdoutLectureCmd struct {
	N           int     `help:"How many numbers to draw." placeholder:"N" name:"n" default:"1000"`
	Group       int     `help:"How many subsets a group has; one of them is kept." placeholder:"G" default:"10"`
	Repetitions int     `help:"How often to repeat everything." placeholder:"R" default:"1000"`
	Tolerance   float64 `help:"The tolerance that epsilon is for, in standard deviations." placeholder:"T" default:"0.5"`
	Seed        uint64  `help:"The same seed makes the same data and the same noise." placeholder:"S" default:"1"`
	Plot        string  `help:"Write both histograms to a file, .svg or .png." placeholder:"FILE"`
	ASCII       bool    `help:"Draw in the terminal with ASCII characters only." name:"ascii"`
	JSON        bool    `help:"Print JSON, with every final mean." name:"json"`
}

func (holdoutLectureCmd) Help() string {
	return `Deals n standard normal numbers into subsets of ln n, and the subsets into groups. Each group keeps the subset with the
largest mean, and the final mean is over all numbers that were kept. The truth is 0. Subsets chosen by their exact means
give a final mean that is far off. Subsets chosen by report noisy max do not, at the epsilon at which the theorem on
generalisation begins to cover the tolerance.

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
		fmt.Fprintf(s.Out, "%s numbers in %s subsets of %d, one of every %d subsets is kept; %s repetitions\n",
			console.Thousands(float64(c.N)), console.Thousands(float64(r.Subsets)), r.Subset, c.Group,
			console.Thousands(float64(c.Repetitions)))
		fmt.Fprintf(s.Out, "epsilon %s, for a tolerance of %v standard deviations\n\n", r.Epsilon.Short(), c.Tolerance)
		t := &render.Table{Header: []string{"chosen by", "final mean", "standard deviation", "within the tolerance"},
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
		Title: "The mean of the numbers that were kept", Subtitle: fmt.Sprintf("%d repetitions; chosen by exact means, and by "+
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
