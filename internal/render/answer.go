package render

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/table"
)

// Answer writes an answer as a table with its error bars, and what is to be known about it.
func Answer(w io.Writer, a *api.Answer) {
	Body(w, a)
	if text := versionWords(a); text != "" {
		fmt.Fprintln(w, text)
	}
	fmt.Fprintln(w, Price(a))
}

// Body writes an answer without what it cost, and without which data it is about.
func Body(w io.Writer, a *api.Answer) {
	Rows(w, a)
	for _, n := range a.Notes {
		fmt.Fprintln(w, "note: "+table.Clean(n))
	}
	if a.Cut {
		fmt.Fprintf(w, "one person counts with at most %s in each of at most %s; what that leaves out is not in %s\n",
			Count(a.MaxRows, "row"), Count(a.MaxGroups, "group"), PlusMinus(a.Confidence))
	}
}

// Rows writes the rows of an answer as a table with their error bars.
func Rows(w io.Writer, a *api.Answer) {
	t := &table.Table{}
	bars := make([]bool, len(a.Columns)) // whether a column has errors
	for j, c := range a.Columns {
		bars[j] = c.Noisy && (len(a.Rows) == 0 && !c.Approximate)
		for i := range a.Errors {
			bars[j] = bars[j] || a.Errors[i][j] != nil
		}
		bars[j] = bars[j] && !a.Shown
		t.Header, t.Right = append(t.Header, c.Name), append(t.Right, c.Noisy && c.Kind != "text" && c.Kind != "boolean")
		if bars[j] {
			t.Header, t.Right = append(t.Header, PlusMinus(a.Confidence)), append(t.Right, true)
		}
	}
	for i, row := range a.Rows {
		var cells []string
		for j, c := range a.Columns {
			var half *float64
			if a.Errors != nil {
				half = a.Errors[i][j]
			}
			value, around := noisyCell(row[j], c.Decimals, half)
			cells = append(cells, value)
			if bars[j] {
				cells = append(cells, around)
			}
		}
		t.Add(cells...)
	}
	t.Write(w)
}

// versionWords says which version of the data the answer is about, where there is more to say than
// that it is the first.
func versionWords(a *api.Answer) string {
	switch v := a.Version; {
	case v.Name != "":
		return fmt.Sprintf("data version %d: %s", v.Number, table.Clean(v.Name))
	case v.Number > 1:
		return fmt.Sprintf("data version %d", v.Number)
	}
	return ""
}

// noisyCell shows a value and its error, with as many digits as the error deserves where the value
// has no digits of its own.
func noisyCell(v any, digits int, half *float64) (value, around string) {
	value = Cell(v)
	if half == nil {
		return value, ""
	}
	if digits < 0 {
		digits = significantDigits(*half)
		if f, err := strconv.ParseFloat(value, 64); err == nil {
			value = strconv.FormatFloat(f, 'f', digits, 64)
		}
	}
	return value, strconv.FormatFloat(*half, 'f', digits, 64)
}

// significantDigits returns how many digits after the point show two digits of an error.
func significantDigits(half float64) int {
	if half <= 0 {
		return 2
	}
	return min(max(1-int(math.Floor(math.Log10(half))), 0), 6)
}

// Cell shows a value of an answer.
func Cell(v any) string {
	switch v := v.(type) {
	case nil:
		return "NULL"
	case json.Number:
		return v.String()
	}
	return fmt.Sprint(v)
}
