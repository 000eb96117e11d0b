// Package render says in words and tables what the library says in structs, so that the command
// line and the server say it the same way: answers, prices, what is left, and explanations.
package render

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
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
		fmt.Fprintln(w, "note: "+Clean(n))
	}
	if a.Cut {
		fmt.Fprintf(w, "one person counts with at most %s in each of at most %s; the bias of this limit is not in %s\n",
			Count(a.MaxRows, "row"), Count(a.MaxGroups, "group"), PlusMinus(a.Confidence))
	}
}

// Rows writes the rows of an answer as a table with their error bars.
func Rows(w io.Writer, a *api.Answer) {
	t := &Table{}
	bars, whole := make([]bool, len(a.Columns)), make([]bool, len(a.Columns)) // what a column has beside it
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
		for i := range a.Whole {
			whole[j] = whole[j] || a.Whole[i][j] != nil && len(a.Whole) > 1 // a note says it of one row
		}
		if whole[j] {
			t.Header, t.Right = append(t.Header, "with what is cut"), append(t.Right, true)
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
			if whole[j] {
				cells = append(cells, rangeCell(a.Whole[i][j]))
			}
		}
		t.Add(cells...)
	}
	t.Write(w)
}

// rangeCell shows the interval of what was asked, cut or not.
func rangeCell(r *api.Range) string {
	if r == nil {
		return ""
	}
	low, high := r.Rough()
	return low + " .. " + high
}

// versionWords says which version of the data the answer is about, where there is more to say than
// that it is the first.
func versionWords(a *api.Answer) string {
	switch v := a.Version; {
	case v.Name != "":
		return fmt.Sprintf("data version %d: %s", v.Number, Clean(v.Name))
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

func Cell(v any) string {
	switch v := v.(type) {
	case nil:
		return "NULL"
	case json.Number:
		return v.String()
	}
	return fmt.Sprint(v)
}

// Price says what the answer cost and what is left.
func Price(a *api.Answer) string {
	return "price: " + Paid(a) + "; left: " + Left(a.Remaining) + answersLeftWords(a.More, " more")
}

func Paid(a *api.Answer) string {
	price := "free, already paid for"
	switch {
	case !a.Receipt.Free:
		price = priceTag(a.Cost, a.Remaining)
	case throughStreams(a):
		price = "free, through " + streamNames(a)
	case a.Receipt.Hash == "":
		price = "free"
	}
	return price
}

// ToPay says what is still to be paid for a question.
func ToPay(e *api.Explanation) string {
	switch {
	case e.Known:
		return "free, already paid for"
	case e.Closed:
		return "closed"
	case !e.Affordable:
		return priceTag(e.Pay, e.Remaining) + ", too much"
	}
	return priceTag(e.Pay, e.Remaining)
}

// answersLeftWords says about how many answers at a price are left.
func answersLeftWords(n *int64, word string) string {
	switch {
	case n == nil:
		return ""
	case *n == 0:
		return ", not enough for another at this price"
	}
	return fmt.Sprintf(", about %d%s at this price", *n, word)
}

// AtDefault says about how many questions at a price are left.
func AtDefault(r api.Remaining, epsilon dp.Amount) string {
	n, ok := r.Questions(epsilon)
	if !ok {
		return ""
	}
	return fmt.Sprintf(", about %d questions at the default price, epsilon %v", n, epsilon)
}

// throughStreams reports whether an answer owes it to a stream that it was free.
func throughStreams(a *api.Answer) bool {
	for _, u := range a.Through {
		if u.Free > 0 {
			return true
		}
	}
	return false
}

func streamNames(a *api.Answer) string {
	var names []string
	for _, u := range a.Through {
		if name := "the stream " + u.Stream; !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return strings.Join(names, " and ")
}

// priceTag shows a price; rho too, where that is what is counted.
func priceTag(cost dp.Cost, r api.Remaining) string {
	if r.Rho == dp.Unbounded || r.ByEpsilon() && cost.Delta == 0 {
		return "epsilon " + cost.Epsilon.String()
	}
	if cost.Delta > 0 {
		return "epsilon " + cost.Epsilon.String() + " (rho " + cost.Rho.Short() + ", delta " + cost.Delta.String() + ")"
	}
	return "epsilon " + cost.Epsilon.String() + " (rho " + cost.Rho.Short() + ")"
}

func Left(r api.Remaining) string {
	if r.Rho == dp.Unbounded {
		return "epsilon " + r.Epsilon.Short()
	}
	text := fmt.Sprintf("epsilon %s at delta %v (rho %s)", r.Epsilon.Short(), r.Delta, r.Rho.Short())
	if r.ByEpsilon() {
		text = fmt.Sprintf("epsilon %s at delta %v", r.Epsilon.Short(), r.Delta)
	}
	if r.KeysDelta > 0 && r.KeysDelta != dp.Unbounded {
		text += fmt.Sprintf(", and delta %v for private keys", r.KeysDelta)
	}
	return text
}

// PlusMinus heads a column of errors.
func PlusMinus(confidence float64) string {
	if confidence == 0 { // nobody said
		confidence = 0.95
	}
	return "±" + strconv.FormatFloat(100*confidence, 'g', 6, 64) + "%"
}

// Around shows how far off the values of a column are.
func Around(narrowest, widest float64) string {
	lo, hi := Number(narrowest), Number(widest)
	if lo == hi {
		return "±" + hi
	}
	return "±" + lo + " to ±" + hi
}

// Number shows five significant digits.
func Number(f float64) string {
	r, _ := strconv.ParseFloat(strconv.FormatFloat(f, 'g', 5, 64), 64)
	return strconv.FormatFloat(r, 'f', -1, 64)
}

// Count writes a number of things.
func Count(n int64, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprintf("%d %s", n, thing)
}
