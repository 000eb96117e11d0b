package labcmd

import (
	"cmp"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/cmd/discreet/internal/console"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/lab/chart"
	"github.com/discreet-dp/discreet/internal/lab/survey"
	"github.com/discreet-dp/discreet/internal/render"
)

type SurveyCmd struct {
	File    string   `arg:"" help:"A CSV file with a header; every row is a respondent."`
	Column  string   `help:"The column with the answers." required:"" placeholder:"C"`
	Epsilon string   `help:"The privacy loss of each respondent." required:"" placeholder:"E"`
	Value   string   `help:"Ask a yes-or-no question: is the answer this one?" placeholder:"V"`
	Oracle  string   `help:"How to randomize answers: ${enum}." enum:"auto,direct,oue,olh,hadamard" default:"auto"`
	Output  []string `help:"Write the picture to a file, .svg or .png; can be given again." placeholder:"FILE" short:"o" sep:"none"`
	ASCII   bool     `help:"Draw in the terminal with ASCII characters only." name:"ascii"`
	JSON    bool     `help:"Print JSON, with every value, instead of drawing in the terminal." name:"json"`
}

func (SurveyCmd) Help() string {
	return `Simulates a survey in the local model: every respondent randomizes their own answer, nobody is trusted with the
truth, and the proportions are estimated from the reports. The estimates are shown next to the exact
proportions, with intervals that each hold with probability 95 %. Every run draws new randomness.

The command reads the raw data, so its output is for the owner's eyes only.

  discreet survey patients.csv --column smoker --epsilon 1
  discreet survey patients.csv --column diagnosis --value asthma --epsilon 1.0986
  discreet survey patients.csv --column city --epsilon 2 --oracle olh -o cities.svg -o cities.png

Oracles: direct sends a value, oue a bit for each value, olh a hashed value, hadamard one bit. auto takes the
most exact one that is quick for this many values.`
}

const (
	surveyConfidence = 0.95
	// maxShownAnswers is how many are shown on screen and in the picture.
	maxShownAnswers = 24
	ownersOnlyNote  = "This simulation reads the raw data. plain is exact, and so plain and error are for the owner's eyes only; " +
		"private is noisy."
)

type surveyAnswer struct {
	Value   string  `json:"value"`
	Plain   float64 `json:"plain"`
	Private float64 `json:"private"`
	Low     float64 `json:"low"`
	High    float64 `json:"high"`
	Error   float64 `json:"error"`
}

func (c *SurveyCmd) Run(ctx context.Context, s console.Screen) error {
	for _, file := range c.Output {
		if _, err := console.ChartFormat(file); err != nil {
			return err
		}
		if dir, err := os.Stat(filepath.Dir(file)); err != nil || !dir.IsDir() {
			return console.Misuse(fmt.Errorf("%s: this folder does not exist; create it or name another",
				console.ShellQuote(filepath.Dir(file))))
		}
	}
	epsilon, err := dp.Parse(c.Epsilon)
	if err != nil {
		return console.Misuse(fmt.Errorf("epsilon: %w", err))
	}
	if epsilon == 0 {
		return console.Misuse(errors.New("epsilon 0 tells nothing; give one above 0, such as 1"))
	}
	done := console.Waiting(s.Err, "reading")
	domain, people, err := c.read()
	done()
	if err != nil {
		return err
	}
	oracle, why, err := c.chooseOracle(len(domain), epsilon)
	if err != nil {
		return console.Misuse(err)
	}
	tell, told := console.Progress(s.Err, "asking")
	every := max(1, len(people)/200)
	step := 0
	collected, err := survey.Simulate(ctx, oracle, people, func(asked int) {
		if asked/every > step {
			step = asked / every
			tell(asked, len(people))
		}
	})
	told()
	if err != nil {
		return err
	}
	done = console.Waiting(s.Err, "estimating")
	answers, err := c.compareAnswers(domain, people, collected)
	done()
	if err != nil {
		return err
	}
	drawn := c.picture(answers, oracle)
	for _, file := range c.Output {
		if err := console.SaveChart(file, drawn); err != nil {
			return err
		}
	}
	if c.JSON {
		return c.printJSON(s.Out, answers, collected, oracle, why)
	}
	return c.print(s.Out, answers, collected, oracle, why, drawn)
}

// read returns the list of answers and, for each respondent, which it is.
func (c *SurveyCmd) read() (domain []string, people []int, err error) {
	refuse := func(format string, args ...any) ([]string, []int, error) {
		return nil, nil, console.Misuse(fmt.Errorf(console.ShellQuote(c.File)+": "+format, args...))
	}
	f, err := os.Open(c.File)
	if errors.Is(err, fs.ErrNotExist) {
		return refuse("this file does not exist")
	} else if err != nil {
		return refuse("%w", errors.Unwrap(err))
	}
	defer f.Close()
	r := csv.NewReader(f)
	r.ReuseRecord = true
	header, err := r.Read()
	if errors.Is(err, io.EOF) {
		return refuse("the file is empty; its first line must name the columns")
	} else if err != nil {
		return refuse("cannot be read: %w", err)
	}
	header = slices.Clone(header)
	header[0] = strings.TrimPrefix(header[0], "\ufeff")
	at := slices.Index(header, c.Column)
	if at < 0 {
		return refuse("there is no column %q; name one of %s", c.Column, nameList(header))
	}
	number := map[string]int{}
	if c.Value != "" {
		domain = []string{"not " + c.Value, c.Value}
	}
	filled := false
	for {
		record, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			// The message has the line and not what is in it.
			return refuse("cannot be read: %w", err)
		}
		cell := record[at]
		filled = filled || cell != ""
		if c.Value != "" {
			is := 0
			if cell == c.Value {
				is = 1
			}
			people = append(people, is)
			continue
		}
		i, ok := number[cell]
		if !ok {
			i = len(domain)
			cell = strings.Clone(cell) // without the line that it is a part of
			number[cell] = i
			domain = append(domain, cell)
		}
		people = append(people, i)
	}
	switch {
	case len(people) == 0:
		return refuse("the file has no rows, and so no respondents")
	case !filled:
		return refuse("the column %q is empty", c.Column)
	case len(domain) == 1:
		return refuse("everybody has the same answer in column %q, and a question needs two answers; ask a yes-or-no question with "+
			"--value", c.Column)
	}
	for i, name := range domain {
		if name == "" {
			domain[i] = "(empty)"
		}
	}
	return domain, people, nil
}

// nameList writes names in one line, and not all of very many.
func nameList(names []string) string {
	const most = 20
	if len(names) > most {
		return strings.Join(names[:most], ", ") + ", ..."
	}
	return strings.Join(names, ", ")
}

// chooseOracle returns the oracle that was named, or the best.
func (c *SurveyCmd) chooseOracle(size int, epsilon dp.Amount) (survey.Oracle, string, error) {
	if c.Oracle == "auto" {
		return survey.ChooseOracle(size, epsilon)
	}
	o, err := survey.New(c.Oracle, size, epsilon)
	return o, "as asked for with --oracle", err
}

// compareAnswers compares, the most frequent first. The intervals are about the people of the
// file, as the plain proportions are.
func (c *SurveyCmd) compareAnswers(domain []string, people []int, collected *survey.Collector) ([]surveyAnswer, error) {
	estimates, err := collected.Estimates(surveyConfidence, survey.Fixed)
	if err != nil {
		return nil, err
	}
	out := make([]surveyAnswer, len(domain))
	for _, v := range people {
		out[v].Plain++
	}
	for x, e := range estimates {
		a := &out[x]
		a.Value, a.Plain = domain[x], a.Plain/float64(len(people))
		a.Private, a.Low, a.High, a.Error = e.Proportion, e.Low, e.High, e.Proportion-a.Plain
	}
	slices.SortFunc(out, func(a, b surveyAnswer) int {
		return cmp.Or(-cmp.Compare(a.Plain, b.Plain), cmp.Compare(a.Value, b.Value))
	})
	if c.Value != "" && out[0].Value != c.Value {
		slices.Reverse(out) // the question is about the value
	}
	return out, nil
}

func (c *SurveyCmd) print(
	w io.Writer, answers []surveyAnswer, collected *survey.Collector, oracle survey.Oracle, why string, drawn chart.Chart,
) error {
	p, q := oracle.Rates()
	question := "column " + c.Column
	if c.Value != "" {
		question += ": is it " + c.Value + "?"
	}
	fmt.Fprintf(w, "%s, %s of %s\n", render.Clean(question), render.Count(collected.People(), "respondent"), render.Clean(c.File))
	fmt.Fprintf(w, "epsilon  %s for each respondent, pure\n", oracle.Cost().Epsilon)
	fmt.Fprintf(w, "oracle   %s: %s\n", oracle.Name(), why)
	fmt.Fprintf(w, "report   %s; it supports the respondent's value with probability %.4g, and any other with %.4g\n\n",
		render.Count(int64(oracle.Bits()), "bit"), p, q)
	t := &render.Table{Header: []string{"value", "plain", "private", "95 % interval", "error"},
		Right: []bool{false, true, true, true, true}}
	for _, a := range answers[:min(len(answers), maxShownAnswers)] {
		t.Add(a.Value, percentWords(a.Plain), percentWords(a.Private), percentWords(a.Low)+" to "+percentWords(a.High),
			signedPercent(a.Error))
	}
	t.Write(w)
	if more := len(answers) - maxShownAnswers; more > 0 {
		fmt.Fprintf(w, "and %s; see --json\n", render.Count(int64(more), "more value"))
	}
	fmt.Fprintf(w, "\n%s\n", ownersOnlyNote)
	if c.Value == "" {
		fmt.Fprintln(w, "The list of values comes from the file; a real survey fixes it before asking anybody.")
	}
	fmt.Fprintln(w)
	if err := drawn.Text(w, chart.Terminal{ASCII: c.ASCII}); err != nil {
		return err
	}
	for _, file := range c.Output {
		fmt.Fprintf(w, "wrote %s\n", file)
	}
	return nil
}

func percentWords(x float64) string { return fmt.Sprintf("%.2f %%", 100*x) }

func signedPercent(x float64) string { return fmt.Sprintf("%+.2f %%", 100*x) }

func (c *SurveyCmd) printJSON(w io.Writer, answers []surveyAnswer, collected *survey.Collector, oracle survey.Oracle, why string) error {
	p, q := oracle.Rates()
	return console.PrintJSON(w, struct {
		File       string         `json:"file"`
		Column     string         `json:"column"`
		Question   string         `json:"question,omitempty"`
		People     int64          `json:"people"`
		Cost       dp.Cost        `json:"cost"`
		Oracle     string         `json:"oracle"`
		Why        string         `json:"why"`
		Bits       int            `json:"bits"`
		P          float64        `json:"p"`
		Q          float64        `json:"q"`
		Confidence float64        `json:"confidence"`
		Note       string         `json:"note"`
		Values     []surveyAnswer `json:"values"`
	}{c.File, c.Column, c.Value, collected.People(), oracle.Cost(), oracle.Name(), why, oracle.Bits(), p, q,
		surveyConfidence, ownersOnlyNote, answers})
}

// picture draws plain proportions as stems, their names to the right, and private ones as
// intervals to the left, with a long tick at the estimate. A curve that is broken between its
// strokes is all that takes.
func (c *SurveyCmd) picture(answers []surveyAnswer, oracle survey.Oracle) chart.Chart {
	answers = answers[:min(len(answers), maxShownAnswers)]
	out := chart.Chart{
		Title:    "A survey of " + c.Column + ", plain and private",
		Subtitle: fmt.Sprintf("dots: plain; bars: private, by %s at epsilon %s, 95 %% intervals", oracle.Name(), oracle.Cost().Epsilon),
		X:        "values, the most frequent first", Y: "proportion",
	}
	if c.Value != "" {
		out.X = "values"
	}
	var bars []chart.Point
	gap := chart.Point{X: math.NaN(), Y: math.NaN()}
	for i, a := range answers {
		x := float64(i + 1)
		stem := chart.Stem{X: x + 0.15, Y: a.Plain, Shaded: true}
		if len(answers) <= 8 {
			stem.Name = a.Value
		}
		out.Stems = append(out.Stems, stem)
		at := x - 0.15
		bars = append(bars,
			chart.Point{X: at - 0.06, Y: a.Low}, chart.Point{X: at + 0.06, Y: a.Low}, gap,
			chart.Point{X: at, Y: a.Low}, chart.Point{X: at, Y: a.High}, gap,
			chart.Point{X: at - 0.06, Y: a.High}, chart.Point{X: at + 0.06, Y: a.High}, gap,
			chart.Point{X: at - 0.12, Y: a.Private}, chart.Point{X: at + 0.12, Y: a.Private}, gap)
	}
	out.Curves = []chart.Curve{{Points: bars}}
	return out
}
