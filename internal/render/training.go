package render

import (
	"fmt"
	"io"
	"strings"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/mechanism/learn/model"
)

// TrainingOffer says in few lines what a training will cost and how it is done.
func TrainingOffer(w io.Writer, q *api.TrainingQuote) {
	fmt.Fprintln(w, trainingPrice(q))
	printWrapped(w, "method:", q.Method+". "+strings.Join(q.Why, " "))
	fmt.Fprintln(w)
}

func trainingPrice(q *api.TrainingQuote) string {
	if q.Known {
		return fmt.Sprintf("price: free, already paid for by record %d; left: %s", q.Record, Left(q.Remaining))
	}
	return "price: " + priceTag(q.Cost, q.Remaining) + "; left before: " + Left(q.Remaining)
}

// TrainingQuote says what a training would cost, and all about how it would be done.
func TrainingQuote(w io.Writer, q *api.TrainingQuote) {
	fmt.Fprintln(w, trainingPrice(q))
	switch {
	case q.Known:
	case q.Affordable:
		fmt.Fprintln(w, "left after: "+Left(q.After))
	default:
		fmt.Fprintln(w, "the budget does not allow it now")
	}
	printWrapped(w, "currency:", q.Currency)
	fmt.Fprintf(w, "it protects one of %s; at most %s for each\n\n", Clean(q.Unit), rowCountWords(q.MaxRows))
	for _, line := range q.Lines {
		if line.Name != "price" {
			printWrapped(w, fmt.Sprintf("%-12s", line.Name), line.Value)
		}
	}
}

// printWrapped prints a name and, beside it, a text in lines that fit on a terminal.
func printWrapped(w io.Writer, name, text string) {
	const most = 100
	line, indent := name, strings.Repeat(" ", len(name))
	for _, word := range strings.Fields(Clean(text)) {
		if len(line) > len(name) && len(line)+1+len(word) > most {
			fmt.Fprintln(w, line)
			line = indent
		}
		line += " " + word
	}
	fmt.Fprintln(w, line)
}

func rowCountWords(rows int64) string {
	if rows == 1 {
		return "one row counts"
	}
	return fmt.Sprintf("%d rows count", rows)
}

// Training shows a model: its coefficients, its accuracy where it was paid for, its guarantee and
// its receipt.
func Training(w io.Writer, t *api.Training) {
	m := t.Model
	Coefficients(w, m)
	if e := m.Evaluation; e != nil {
		fmt.Fprintf(w, "\n%s on the training rows: %.4g, from %.4g to %.4g with probability 95 %%\n", errorName(m),
			e.Error, e.Low, e.High)
	}
	fmt.Fprintln(w)
	ModelGuarantee(w, m)
	if m.Receipt != nil {
		fmt.Fprintf(w, "receipt: record %d, %s\n", m.Receipt.Sequence, m.Receipt.Hash)
	}
	for _, note := range t.Notes {
		fmt.Fprintln(w, "note: "+note)
	}
	price := "free, already paid for"
	if !t.Receipt.Free {
		price = priceTag(t.Cost, t.Remaining)
	}
	fmt.Fprintf(w, "price: %s; left: %s\n", price, Left(t.Remaining))
}

// ModelGuarantee says what is proven about a model.
func ModelGuarantee(w io.Writer, m *model.Model) {
	printWrapped(w, "guarantee:", m.Guarantee.Words)
	printWrapped(w, "theorem:", m.Guarantee.Theorem)
}

func errorName(m *model.Model) string {
	if m.Encoding.Target.Categorical() {
		return "share of errors"
	}
	return "root mean square error"
}

func Coefficients(w io.Writer, m *model.Model) {
	list := m.Coefficients()
	t := &Table{Header: []string{"feature", "value", "weight"}, Right: []bool{false, false, true}}
	several, noise := len(m.Weights) > 1, false
	for _, c := range list {
		noise = noise || c.Deviation > 0
	}
	if noise {
		t.Header, t.Right = append(t.Header, "noise"), append(t.Right, true)
	}
	if several {
		t.Header, t.Right = append([]string{"class"}, t.Header...), append([]bool{false}, t.Right...)
	}
	for _, c := range list {
		name := c.Feature
		if name == "" {
			name = "(intercept)"
		}
		row := []string{name, c.Value, fmt.Sprintf("%+.4g", c.Weight)}
		if noise {
			row = append(row, fmt.Sprintf("± %.2g", c.Deviation))
		}
		if several {
			row = append([]string{c.Class}, row...)
		}
		t.Add(row...)
	}
	if target := &m.Encoding.Target; target.Categorical() && !several {
		says := Clean(target.Name) + " = " + Clean(target.Values[1])
		if strings.ContainsAny(target.Name, "=<> ") {
			says = "that " + Clean(target.Name) + " is " + Clean(target.Values[1]) // x > 60 = true would be two comparisons
		}
		fmt.Fprintf(w, "Above zero the model says %s.\n\n", says)
	}
	t.Write(w)
}
