package labels

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// Predictions are what an analyst submits: a value for every row.
type Predictions struct {
	Values []string
	// IDs say whose each value is, where the rows have identifiers, in any order.
	IDs []string
}

// PredictionsError says what is wrong with predictions. It follows from them and from what is
// public.
type PredictionsError struct{ Problem, Instead string }

func (e *PredictionsError) Error() string { return e.Problem + "; " + e.Instead }

func newPredictionsError(instead, format string, args ...any) error {
	return &PredictionsError{fmt.Sprintf(format, args...), instead}
}

// ReadPredictions reads a CSV file of predictions. Without identifiers it is one value in each
// line, and the first line may be a header that is the name of the label's column, or "prediction".
// With identifiers it has a header that names both columns.
func ReadPredictions(r io.Reader, column, id string) (Predictions, error) {
	var p Predictions
	contents, err := io.ReadAll(io.LimitReader(r, maxBytes+1))
	if err != nil {
		return p, err
	}
	if len(contents) > maxBytes {
		return p, newPredictionsError("submit only the predictions", "the predictions are longer than %d bytes", maxBytes)
	}
	const instead = "write a CSV file with one prediction in each line"
	t, err := readTable(contents, ',')
	if err != nil {
		return p, newPredictionsError(instead, "the predictions cannot be read: %v", err)
	}
	value, name := 0, -1
	for first := true; ; first = false {
		row, err := t.next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return p, newPredictionsError(instead, "the predictions cannot be read: %v", err)
		}
		if first {
			isHeader := slices.ContainsFunc(row, func(s string) bool { return isPrediction(s, column) })
			switch {
			case id != "":
				value, name = slices.IndexFunc(row, func(s string) bool { return isPrediction(s, column) }),
					slices.IndexFunc(row, func(s string) bool { return strings.TrimSpace(s) == id })
				if value < 0 || name < 0 {
					return p, newPredictionsError(fmt.Sprintf("write %s,prediction as the first line", id),
						"the predictions must name their columns, because rows are found by %q", id)
				}
				continue
			case len(row) > 1:
				value = slices.IndexFunc(row, func(s string) bool { return isPrediction(s, column) })
				if value < 0 {
					return p, newPredictionsError(instead+", or name the column prediction",
						"the predictions have %d columns, and none is called prediction", len(row))
				}
				continue
			case isHeader:
				continue
			}
		}
		p.Values = append(p.Values, strings.TrimSpace(row[value]))
		if name >= 0 {
			p.IDs = append(p.IDs, strings.TrimSpace(row[name]))
		}
	}
	return p, nil
}

func isPrediction(header, column string) bool {
	header = strings.TrimSpace(header)
	return strings.EqualFold(header, "prediction") || column != "" && header == column
}

// Checked are predictions that fit: one for every row, in the order of the file. They are public.
type Checked struct {
	of    *Labels
	names []string // where labels are names
	steps []int64  // where they are numbers
}

// Check looks at predictions without looking at a label.
func (l *Labels) Check(p Predictions) (*Checked, error) {
	if len(p.Values) != l.size {
		return nil, newPredictionsError(fmt.Sprintf("submit one for each of the %d rows", l.size),
			"there are %d predictions, but the holdout has %d rows", len(p.Values), l.size)
	}
	place, err := l.rowOfID(p.IDs)
	if err != nil {
		return nil, err
	}
	c := &Checked{of: l}
	if l.spec.Steps > 1 {
		c.steps = make([]int64, l.size)
	} else {
		c.names = make([]string, l.size)
	}
	known := map[string]readValue{} // most values are there many times
	for i, text := range p.Values {
		r, ok := known[text]
		if !ok {
			if r, err = l.readPrediction(text, i+1); err != nil {
				return nil, err
			}
			if len(known) < maxKnown {
				known[text] = r
			}
		}
		if c.names != nil {
			c.names[place(i)] = r.name
		} else {
			c.steps[place(i)] = r.steps
		}
	}
	return c, nil
}

type readValue struct {
	name  string
	steps int64
}

// maxKnown bounds how many different values are remembered while predictions are read.
const maxKnown = 10_000

func (l *Labels) readPrediction(text string, n int) (readValue, error) {
	value, problem := clean(text)
	if problem != "" {
		return readValue{}, newPredictionsError("write a label, without spaces around it", "prediction %d %s", n, problem)
	}
	if strings.EqualFold(value, "nan") {
		// a model that failed, and no class of anybody's
		return readValue{}, newPredictionsError("predict something for every row", "prediction %d is not a number", n)
	}
	if l.spec.Steps == 1 {
		return readValue{name: nameOf(value)}, nil
	}
	steps, _, ok := stepsOf(value, l.spec.Steps)
	if !ok {
		return readValue{}, newPredictionsError("write a decimal number such as 0.25", "prediction %d is not a number from 0 to 1", n)
	}
	return readValue{steps: steps}, nil
}

// rowOfID says in which row the i-th prediction belongs.
func (l *Labels) rowOfID(ids []string) (func(int) int, error) {
	if l.rows == nil {
		if len(ids) > 0 {
			return nil,
				newPredictionsError("leave the identifiers out, and submit in the order of the rows",
					"the rows of this holdout have no identifiers")
		}
		return func(i int) int { return i }, nil
	}
	if len(ids) != l.size {
		return nil, newPredictionsError(fmt.Sprintf("name the %s of every prediction", l.spec.ID),
			"there are %d identifiers for %d predictions", len(ids), l.size)
	}
	out := make([]int, l.size)
	seen := make([]bool, l.size)
	for i, id := range ids {
		at, ok := l.rows[strings.TrimSpace(id)]
		switch {
		case !ok:
			return nil,
				newPredictionsError("submit exactly the identifiers of the holdout",
					"the holdout has no row for the identifier of prediction %d", i+1)
		case seen[at]:
			return nil, newPredictionsError("submit every identifier once", "the identifier of prediction %d appears twice", i+1)
		}
		seen[at], out[i] = true, at
	}
	return func(i int) int { return out[i] }, nil
}

// Key names the predictions: the same for the same predictions, in whatever order and spelling they
// came. No label is in it.
func (c *Checked) Key() string {
	h := sha256.New()
	fmt.Fprintf(h, "predictions %d %d\n", c.of.spec.Steps, c.of.size)
	var line []byte
	for _, name := range c.names {
		line = strconv.AppendInt(line[:0], int64(len(name)), 10)
		h.Write(append(append(append(line, ':'), name...), ','))
	}
	for _, n := range c.steps {
		h.Write(append(strconv.AppendInt(line[:0], n, 10), ','))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// errOther is returned when predictions were checked against another file.
var errOther = errors.New("these predictions are for other labels")
