package sessioncmd

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/cmd/discreet/internal/console"
	"github.com/discreet-dp/discreet/internal/mechanism/learn"
	"github.com/discreet-dp/discreet/internal/render"
)

type PredictCmd struct {
	Model  string `help:"The model, as discreet train wrote it." required:"" placeholder:"FILE" short:"m"`
	Output string `help:"Write to a file instead of printing." placeholder:"FILE" short:"o"`
	Scores bool   `help:"Add a column for each class: probabilities for logistic models, distances for huber."`
	Show   bool   `help:"Show the model: coefficients and guarantee. Takes no rows."`
	PMML   bool   `help:"Write the model as PMML 4.4, for other programs. Takes no rows." name:"pmml"`
	JSON   bool   `help:"Print JSON." name:"json"`
	Rows   string `arg:"" optional:"" help:"A CSV file with a header that names the columns; - reads standard input."`
}

func (PredictCmd) Help() string {
	return `Reads rows as CSV with a header that names the columns of the training, in any order, and writes them again with a column
for the prediction. An empty cell is a missing value, a number beyond its public bounds counts as the bound, and a value
that is not one of the public ones counts as none. If the target is among the columns, it prints on standard error how
good the predictions are.

  discreet predict -m model.json new.csv > predicted.csv
  discreet predict -m model.json --scores - < new.csv
  discreet predict -m model.json --show
  discreet predict -m model.json --pmml -o model.pmml

The model is already released, so predictions are free. Nothing but the model and the rows is read.`
}

func (c *PredictCmd) Run(s console.Screen) (err error) {
	if c.Output != "" {
		if err := console.CanWrite(c.Output); err != nil {
			return err
		}
	}
	m, err := readModel(c.Model)
	if err != nil {
		return err
	}
	switch {
	case c.Show && c.PMML || (c.Show || c.PMML) && c.Rows != "":
		return console.Misuse(errors.New("--show and --pmml need only the model; leave out the rows, or one of the two"))
	case c.PMML:
		err := console.WriteFile(s.Out, c.Output, m.WritePMML)
		if errors.Is(err, learn.ErrPMML) {
			return console.Misuse(err)
		}
		return err
	case c.Show && c.JSON:
		return m.Write(s.Out)
	case c.Show:
		render.Coefficients(s.Out, m)
		fmt.Fprintln(s.Out)
		render.ModelGuarantee(s.Out, m)
		return nil
	case c.Rows == "":
		return console.Misuse(errors.New("give a CSV file with rows to predict, or - for standard input; see discreet predict --help"))
	}
	in, name := s.In, "standard input"
	if c.Rows != "-" {
		f, err := os.Open(c.Rows)
		if err != nil {
			return console.Misuse(err)
		}
		defer f.Close()
		in, name = f, console.ShellQuote(c.Rows)
	}
	p := &predictor{model: m, scores: c.Scores, name: name}
	if err := p.open(in); err != nil {
		return console.Misuse(err)
	}
	if c.JSON {
		err = p.writeJSON(s, c.Output)
	} else {
		err = p.writeCSV(s, c.Output)
	}
	if err != nil {
		return err
	}
	if text := p.accuracy(); text != "" && !c.JSON {
		fmt.Fprintln(s.Err, text)
	}
	return nil
}

func readModel(file string) (*learn.Model, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, console.Misuse(err)
	}
	defer f.Close()
	m, err := learn.ReadModel(f)
	if err != nil {
		return nil, console.Misuse(fmt.Errorf("%s: %w", console.ShellQuote(file), err))
	}
	return m, nil
}

// predictor goes through the rows of a file.
type predictor struct {
	model  *learn.Model
	scores bool
	name   string

	in     *csv.Reader
	header []string
	target int // where the target stands, or -1

	rows, known int     // all rows, and those with a target
	missed      float64 // how many are wrong, or the sum of squares
}

func (p *predictor) open(in io.Reader) error {
	p.in = csv.NewReader(in)
	p.in.ReuseRecord = true
	header, err := p.in.Read()
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("%s cannot be read: %w", p.name, err)
	} else if err != nil {
		return fmt.Errorf("%s has no header that names its columns", p.name)
	}
	p.header = slices.Clone(header)
	p.header[0] = strings.TrimPrefix(p.header[0], "\ufeff")
	for i, name := range p.header {
		if slices.Contains(p.header[:i], name) {
			return fmt.Errorf("%s has two columns %q", p.name, name)
		}
	}
	for i := range p.model.Encoding.Features {
		if name := p.model.Encoding.Features[i].Name; !slices.Contains(p.header, name) {
			return fmt.Errorf("%s has no column %q, which the model needs, but %s; if you do not have the values, add the column and "+
				"leave it empty",
				p.name, name, strings.Join(p.header, ", "))
		}
	}
	p.target = slices.Index(p.header, p.model.Encoding.Target.Name)
	return nil
}

// next predicts a row, and says where a row is wrong.
func (p *predictor) next() (row []string, said learn.Prediction, err error) {
	row, err = p.in.Read()
	if err == io.EOF {
		return nil, said, err
	}
	if err != nil {
		return nil, said, console.Misuse(fmt.Errorf("%s: %w", p.name, err))
	}
	cells := make(map[string]string, len(row))
	for i, name := range p.header {
		cells[name] = row[i]
	}
	if said, err = p.model.Predict(cells); err != nil {
		line, _ := p.in.FieldPos(0)
		return nil, said, console.Misuse(fmt.Errorf("line %d of %s: %w", line, p.name, err))
	}
	p.rows++
	if p.target >= 0 {
		p.judge(row[p.target], said)
	}
	return row, said, nil
}

// judge compares with the target, where it is given.
func (p *predictor) judge(text string, said learn.Prediction) {
	if text == "" {
		return
	}
	if p.model.Encoding.Target.Categorical() {
		p.known++
		if text != said.Class {
			p.missed++
		}
		return
	}
	if x, err := strconv.ParseFloat(text, 64); err == nil && !math.IsNaN(x) && !math.IsInf(x, 0) {
		p.known++
		p.missed += (x - said.Value) * (x - said.Value)
	}
}

func (p *predictor) accuracy() string {
	switch {
	case p.known == 0:
		return ""
	case p.model.Encoding.Target.Categorical():
		return fmt.Sprintf("%d of %d are wrong: %.4f", int(p.missed), p.known, p.missed/float64(p.known))
	}
	return fmt.Sprintf("root mean square error over %d rows: %.4g", p.known, math.Sqrt(p.missed/float64(p.known)))
}

// predictionColumn is the name of the new column.
func (p *predictor) predictionColumn() string {
	name := "predicted_" + p.model.Encoding.Target.Name
	for slices.Contains(p.header, name) {
		name += "_"
	}
	return name
}

func (p *predictor) classes() []string {
	if !p.scores {
		return nil
	}
	return p.model.Encoding.Target.Values
}

// writeCSV writes the rows with their predictions. A file appears when it is whole.
func (p *predictor) writeCSV(s console.Screen, file string) error {
	return console.WriteFile(s.Out, file, func(to io.Writer) error {
		w := csv.NewWriter(to)
		header := append(slices.Clone(p.header), p.predictionColumn())
		for _, class := range p.classes() {
			header = append(header, "score_"+class)
		}
		w.Write(header)
		for {
			row, said, err := p.next()
			if err == io.EOF {
				w.Flush()
				return w.Error()
			}
			if err != nil {
				w.Flush()
				return err
			}
			row = append(slices.Clone(row), said.Class)
			if !p.model.Encoding.Target.Categorical() {
				row[len(row)-1] = render.Number(said.Value)
			}
			for _, class := range p.classes() {
				row = append(row, strconv.FormatFloat(said.Scores[class], 'g', 6, 64))
			}
			if err := w.Write(row); err != nil {
				return err
			}
		}
	})
}

// writeJSON writes predictions and how good they are.
func (p *predictor) writeJSON(s console.Screen, file string) error {
	out := struct {
		Target      string             `json:"target"`
		Rows        int                `json:"rows"`
		Known       int                `json:"known,omitempty"`
		Error       *float64           `json:"error,omitempty"` // the share that is wrong, or the root of the mean square
		Predictions []learn.Prediction `json:"predictions"`
	}{Target: p.model.Encoding.Target.Name, Predictions: []learn.Prediction{}}
	for {
		_, said, err := p.next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		out.Predictions = append(out.Predictions, said)
	}
	out.Rows, out.Known = p.rows, p.known
	if p.known > 0 {
		x := p.missed / float64(p.known)
		if !p.model.Encoding.Target.Categorical() {
			x = math.Sqrt(x)
		}
		out.Error = &x
	}
	return console.WriteFile(s.Out, file, func(to io.Writer) error { return console.PrintJSON(to, out) })
}
