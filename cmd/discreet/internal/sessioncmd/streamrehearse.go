package sessioncmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/cmd/discreet/internal/console"
	"github.com/discreet-dp/discreet/internal/lab/chart"
	"github.com/discreet-dp/discreet/internal/mechanism/stream"
	"github.com/discreet-dp/discreet/internal/render"
)

type streamRehearseCmd struct {
	streamFlags
	Workload string   `help:"The file of questions: one condition or SELECT COUNT(*) on each line; - reads standard input." required:"" placeholder:"FILE" short:"w"`
	Limit    int      `help:"Replay only this many questions, from the first." placeholder:"N"`
	Plot     []string `help:"Plot the cost against the questions to a file, .svg or .png; can be given again." placeholder:"FILE" sep:"none"`
	ASCII    bool     `help:"Draw in the terminal with ASCII characters only." name:"ascii"`
}

func (streamRehearseCmd) Help() string {
	return `Replays questions on the data as if a stream had just been opened. Shows how many would be paid and free, how far off
the furthest answer is, and the cost, next to the cost of paying for every question, or of only remembering answers.
Nothing is charged, nothing is kept, and the errors are exact: this is for the owner's eyes only. Every run draws new
noise. The comparison is as if there were no limit; the figures for the stream itself are within the policy's limit.

  discreet stream rehearse --policy clinic.yaml --workload questions.txt
  discreet stream rehearse --policy clinic.yaml --workload questions.txt --limit 1000 --plot cost.svg
  discreet stream --policy clinic.yaml --workload - < questions.txt

A line is a condition such as sex = 'F' AND age >= 30, or a SELECT COUNT(*) with it. Lines that begin with #
are skipped.`
}

func (c *streamRehearseCmd) Run(ctx context.Context, s console.Screen) error {
	if c.Limit < 0 {
		return console.Misuse(fmt.Errorf("--limit %d: give a number of questions, or leave it out for all", c.Limit))
	}
	for _, file := range c.Plot {
		if err := console.CanSave(file); err != nil {
			return err
		}
	}
	w, err := readWorkload(s.In, c.Workload, c.Limit)
	if err != nil {
		return err
	}
	db, info, err := c.openOne(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	r, err := c.rehearse(ctx, s, db, info, w)
	if err != nil {
		return w.locate(err)
	}
	drawn := c.picture(info, r)
	for _, file := range c.Plot {
		if err := console.SaveChart(file, drawn); err != nil {
			return err
		}
	}
	if c.JSON {
		return console.PrintJSON(s.Out, newRehearsalJSON(r, len(w.texts)))
	}
	c.print(s.Out, info, r, len(w.texts))
	if err := drawn.Text(s.Out, chart.Terminal{ASCII: c.ASCII}); err != nil {
		return err
	}
	for _, file := range c.Plot {
		fmt.Fprintf(s.Out, "wrote %s\n", console.ShellQuote(file))
	}
	return nil
}

// rehearse runs the workload and shows how far it is.
func (c *streamRehearseCmd) rehearse(ctx context.Context, s console.Screen, db *discreet.DB, info api.StreamInfo,
	w *questionFile) (*api.Rehearsal, error) {
	tell, done := console.Counting(s.Err, "rehearsing", "answers")
	defer done()
	return db.RehearseStream(ctx, info.Dataset, info.Name, w.texts, tell)
}

func (c *streamRehearseCmd) print(w io.Writer, info api.StreamInfo, r *api.Rehearsal, asked int) {
	report := r.Report
	fmt.Fprintf(w, "%d questions to the stream %s of %s: %d cells, predicted by %s\n\n", asked, info.Name,
		info.Dataset, info.Cells, r.Predictor)
	t := &render.Table{Header: []string{"answers", "", ""}, Right: []bool{false, true, false}}
	for _, line := range []struct {
		name string
		n    int
		what string
	}{
		{"paid", report.Paid, "the test disagreed with the prediction"},
		{"plain", report.Plain, "paid for without a test"},
		{"cached", report.Cached, "asked before"},
		{"predicted", report.Predicted, "predicted, and the test agreed"},
		{"unchecked", report.Unchecked, "predicted after the budget was used up, without a test or a guarantee"},
		{"refused", report.Refused, "the budget was used up"},
	} {
		t.Add(line.name, strconv.Itoa(line.n), line.what)
	}
	t.Write(w)
	fmt.Fprintf(w, "\nerror: the furthest answer is off by %d; the promise is %d (alpha %v of %d), and %d answers exceed it\n",
		r.MaxError, r.Bound, info.Alpha, info.Size, r.Beyond)
	fmt.Fprintf(w, "cost:  %s\n\nCompared as if the stream had no limit:\n", render.Cost(report.Spent))
	costs := &render.Table{Header: []string{"way", render.Claim(report.Spent), "paid", "reused", "refused"},
		Right: []bool{false, true, true, true, true}}
	for _, series := range r.Series {
		cells := []string{series.Name, formatAmount(lastCost(series))}
		if series.Report.Asked > 0 {
			k := series.Report
			cells = append(cells, strconv.Itoa(k.Paid+k.Plain), strconv.Itoa(k.Cached+k.Predicted+k.Unchecked), strconv.Itoa(k.Refused))
		} else {
			cells = append(cells, strconv.Itoa(asked), "0", "0")
		}
		costs.Add(cells...)
	}
	costs.Write(w)
	for _, name := range r.TooLarge {
		fmt.Fprintf(w, "%s is left out: it cannot keep %d cells\n", name, info.Cells)
	}
	fmt.Fprintln(w, "\nNothing was charged. The errors are exact, so this is for the owner's eyes only.")
	fmt.Fprintln(w)
}

func lastCost(s api.RehearsalSeries) float64 {
	if len(s.Points) == 0 {
		return 0
	}
	return s.Points[len(s.Points)-1].Cost
}

func formatAmount(f float64) string { return strconv.FormatFloat(f, 'g', 4, 64) }

// picture draws cost against the number of questions. The ways differ by factors, so the axis of
// costs is logarithmic.
func (c *streamRehearseCmd) picture(info api.StreamInfo, r *api.Rehearsal) chart.Chart {
	out := chart.Chart{
		Title: "What a stream of questions costs", Subtitle: fmt.Sprintf("%s of %s, %d cells, answers within %d of %d people", info.Name,
			info.Dataset, info.Cells, r.Bound, info.Size),
		X: "number of questions", Y: render.Claim(r.Report.Spent), LogY: true,
	}
	for _, s := range r.Series {
		k := chart.Curve{Name: s.Name}
		for _, p := range s.Points {
			if p.Queries > 0 && p.Cost > 0 && !math.IsInf(p.Cost, 0) {
				k.Points = append(k.Points, chart.Point{X: float64(p.Queries), Y: p.Cost})
			}
		}
		if len(k.Points) > 0 {
			out.Curves = append(out.Curves, k)
		}
	}
	return out
}

type rehearsalJSON struct {
	Dataset   string        `json:"dataset"`
	Stream    string        `json:"stream"`
	Predictor string        `json:"predictor"`
	Questions int           `json:"questions"`
	Claim     string        `json:"claim"` // what the costs of the series are: epsilon or rho
	Report    stream.Report `json:"report"`
	Bound     int64         `json:"bound"`
	MaxError  int64         `json:"max_error"`
	Beyond    int           `json:"beyond"`
	Series    []seriesJSON  `json:"series"`
	TooLarge  []string      `json:"too_large,omitempty"` // ways that cannot keep so many cells
}

type seriesJSON struct {
	Name   string       `json:"name"`
	Cost   float64      `json:"cost"`
	Points [][2]float64 `json:"points"`
}

func newRehearsalJSON(r *api.Rehearsal, asked int) rehearsalJSON {
	out := rehearsalJSON{r.Dataset, r.Stream, r.Predictor, asked, render.Claim(r.Report.Spent), r.Report, r.Bound, r.MaxError,
		r.Beyond, []seriesJSON{}, r.TooLarge}
	for _, s := range r.Series {
		one := seriesJSON{s.Name, lastCost(s), [][2]float64{}}
		for _, p := range s.Points {
			one.Points = append(one.Points, [2]float64{float64(p.Queries), p.Cost})
		}
		out.Series = append(out.Series, one)
	}
	return out
}

var errNoCondition = console.Misuse(errors.New("give a condition, such as \"sex = 'F' AND age >= 30\", or - to read them from standard " +
	"input; see discreet stream ask --help"))
