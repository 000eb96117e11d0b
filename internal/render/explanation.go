package render

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
)

// Explanation writes what a question would cost, how exact it would be, and why.
func Explanation(w io.Writer, e *api.Explanation) {
	for i, q := range e.Questions {
		if len(e.Questions) > 1 {
			if i > 0 {
				fmt.Fprintln(w)
			}
			known := ""
			if q.Known && q.Stream == nil {
				known = fmt.Sprintf(", which is paid for (record %d)", q.Record)
			}
			fmt.Fprintf(w, "question %d of %d, about %s%s\n", i+1, len(e.Questions), strings.Join(q.Tables, ", "), known)
		}
		printInquiry(w, e, i)
	}
	fmt.Fprintln(w, "free: "+strings.Join(e.Free, "; "))
	fmt.Fprintln(w, "split: "+e.Split)
	if e.Noise != "" {
		fmt.Fprintln(w, "noise: "+e.Noise)
	}
	if e.Limits != "" {
		fmt.Fprintln(w, "limits: "+e.Limits)
	}
	for _, n := range e.Notes {
		fmt.Fprintln(w, "note: "+Clean(n))
	}
	price := priceTag(e.Cost, e.Remaining)
	if slices.ContainsFunc(e.Questions, func(q api.Inquiry) bool { return q.Stream != nil && !q.Stream.Known }) {
		price = "at most " + price
		if e.Cost == (dp.Cost{}) {
			price = "free now"
		}
	}
	switch {
	case e.Known && e.Cost == (dp.Cost{}) && !slices.ContainsFunc(e.Questions, func(q api.Inquiry) bool { return q.Stream != nil }):
		price = "free" // keys that are public, or columns alone
	case e.Known && e.Cost == (dp.Cost{}):
		price = "free, because it was answered before through a stream"
	case e.Known:
		price += ", and free now, because " + paidByWords(e)
	case e.Closed:
		price += ", but it would be refused"
	case !e.Affordable:
		price += ", which is more than what is left"
	case e.Pay != e.Cost:
		price += ", of which " + priceTag(e.Pay, e.Remaining) + " is still to be paid"
	}
	left := Left(e.Remaining)
	if e.Affordable && !e.Closed {
		left += answersLeftWords(e.More, "")
	}
	fmt.Fprintln(w, "price: "+price+"; left: "+left)
	if e.Affordable && !e.Known && !e.Closed {
		fmt.Fprintln(w, "left after it: "+Left(e.After))
	}
	if e.Deadline != nil && !e.Closed {
		fmt.Fprintf(w, "answered: %s after its turn, which comes with the next tick; later if others ask too, but the same whatever "+
			"is in the data\n", secondsWords(*e.Deadline))
	}
	if e.Closed {
		fmt.Fprintln(w,
			"closed: questions failed after they were charged, and there are no new answers until the owner of the data releases it")
	}
}

// secondsWords writes a time that is a number of ticks.
func secondsWords(s float64) string {
	return time.Duration(s * float64(time.Second)).Round(time.Millisecond).String()
}

// paidByWords says why an answer is free, and which records of the ledger paid for it.
func paidByWords(e *api.Explanation) string {
	what := "it was answered before"
	var records []string
	for _, q := range e.Questions {
		if q.Stream != nil {
			continue
		}
		if q.Derived {
			what = "it can be computed from answers that were paid for before"
		}
		if r := fmt.Sprint("record ", q.Record); !slices.Contains(records, r) {
			records = append(records, r)
		}
	}
	return what + " (" + strings.Join(records, ", ") + ")"
}

func printInquiry(w io.Writer, e *api.Explanation, i int) {
	q := e.Questions[i]
	t := &Table{
		Header: []string{"noisy number", "mechanism", "one person moves it by", "step", "noise scale", PlusMinus(e.Confidence),
			"epsilon", "rho", "delta"},
		Right: []bool{false, false, true, true, true, true, true, true, true},
	}
	delta := false
	for _, m := range q.Measures {
		delta = delta || m.Cost.Delta > 0
	}
	if !delta {
		t.Header, t.Right = t.Header[:8], t.Right[:8]
	}
	for _, m := range q.Measures {
		half := "-"
		if m.Error != nil {
			half = Number(*m.Error)
		}
		cells := []string{m.Measure, m.Mechanism, Number(m.Sensitivity) + " (" + m.Norm + ")", m.Step, Number(m.Deviation), half,
			m.Cost.Epsilon.Short(), m.Cost.Rho.Short(), deltaWords(m.Cost)}
		t.Add(cells[:len(t.Header)]...)
	}
	if len(q.Measures) > 0 {
		t.Write(w)
	}
	for _, m := range q.Measures {
		fmt.Fprintf(w, "%s: %s\n", Clean(m.Measure), Clean(m.Why))
	}
	for _, a := range q.Averages {
		if a.Error != nil {
			fmt.Fprintf(w, "%s: expected to be within %s, if it is of %s\n", Clean(a.Average), Around(*a.Error, *a.Error),
				Count(a.Values, "value"))
		}
	}
	if q.Sharpens > 0 {
		fmt.Fprintf(w, "made from record %d, which is the same with more noise: only the difference is paid\n", q.Sharpens)
	}
	for _, k := range q.Keys {
		values := ""
		if !k.Private {
			values = ", " + Count(int64(k.Values), "value")
		}
		fmt.Fprintf(w, "key %s: %s%s\n", Clean(k.Key), Clean(k.Rule), values)
	}
	rows := fmt.Sprintf("rows: %d, one for each combination of public keys", q.Groups)
	if q.Chosen > 0 {
		rows = fmt.Sprintf("rows: %d, chosen from %d combinations of public keys", q.Chosen, q.Groups)
	}
	for _, k := range q.Keys {
		if k.Private {
			rows += ", for each combination of private keys that is shown"
			break
		}
	}
	fmt.Fprintf(w, "%s; neighbours: %s; %s\n", rows, e.Neighbours, q.Bounds)
	if q.Stream != nil {
		printStream(w, e, q.Stream)
	}
}

// printStream says what a question costs that goes through a stream.
func printStream(w io.Writer, e *api.Explanation, s *api.StreamInquiry) {
	price := "free, because all of it was answered before"
	switch {
	case s.Known:
	case s.Most == dp.Cost{}:
		price = "free now, because the open round of tests is paid for, against " + priceTag(s.Ordinary, e.Remaining) +
			" by itself"
	default:
		price = "at most " + priceTag(s.Most, e.Remaining) + " now, and less for what the stream predicts, against " +
			priceTag(s.Ordinary, e.Remaining) + " by itself"
	}
	fmt.Fprintf(w, "through the stream %s: %s, each within %d with probability %s, for all answers of the stream together; %s\n", s.Name,
		Count(int64(s.Counts), "count"), s.Error, Number(s.Confidence), price)
}

func deltaWords(c dp.Cost) string {
	if c.Delta == 0 {
		return "0"
	}
	return c.Delta.String()
}

// StreamPrice says in one line what an answer of a stream cost and why, and what is left.
func StreamPrice(a *api.StreamAnswer) string {
	return "price: " + streamWayWords(a) + "; left: " + Left(a.Remaining)
}

func streamWayWords(a *api.StreamAnswer) string {
	switch {
	case a.Way == "cached":
		return "free, it was asked before"
	case a.Way == "unchecked":
		return "free, predicted without a test: the budget is used up, and nobody knows how far off it is"
	case a.Way == "predicted" && a.Free:
		return "free, predicted from released answers, and the test agreed"
	case a.Way == "predicted":
		return priceTag(a.Cost, a.Remaining) + " for a round of tests; this one agreed with the prediction, and the next are free " +
			"until one disagrees"
	case a.Way == "paid" && a.Free:
		return "free, the test disagreed with the prediction, and its round was paid for"
	case a.Way == "paid":
		return priceTag(a.Cost, a.Remaining) + ", the test disagreed with the prediction"
	}
	return priceTag(a.Cost, a.Remaining) + ", without a test"
}

// StreamQuoteWords say what a stream would do with a question.
func StreamQuoteWords(q *api.StreamQuote) string {
	switch {
	case q.Way == "cached":
		return "free: it was asked before"
	case q.Way == "unchecked":
		return "free: predicted without a test, because the budget is used up; nobody would know how far off it is"
	case q.Way == "plain":
		return "at most " + Cost(q.Cost) + ": it is paid for without a test"
	case q.Cost == dp.Cost{}:
		return "free: it is predicted and tested, in a round that was paid for"
	}
	return "at most " + Cost(q.Cost) + ": it is predicted and tested, in a new round, in which the next are free until a test disagrees"
}

// Cost shows a cost in whichever currency it is in.
func Cost(c dp.Cost) string {
	if Claim(c) == "rho" {
		return "rho " + c.Rho.Short()
	}
	return "epsilon " + c.Epsilon.Short()
}

// Claim names the currency of a cost.
func Claim(c dp.Cost) string {
	if c.Epsilon == dp.Unbounded || c.Epsilon == 0 && c.Rho > 0 {
		return "rho"
	}
	return "epsilon"
}

// StreamValue shows the value of an answer with its error.
func StreamValue(a *api.StreamAnswer) string {
	if a.Error == nil {
		return fmt.Sprintf("%d", a.Value)
	}
	return fmt.Sprintf("%d ±%d", a.Value, *a.Error)
}

// CountColumn is what the column of counts of a synthetic table is called: count, unless the table
// has a column of that name.
func CountColumn(t *api.SyntheticTable) string {
	name := "count"
	for slices.Contains(t.Columns, name) {
		name = "synthetic_" + name
	}
	return name
}

// SyntheticCSV writes a synthetic table. Spell is how texts are written.
func SyntheticCSV(w io.Writer, t *api.SyntheticTable, crlf bool, spell func(string) string) error {
	out := csv.NewWriter(w)
	out.UseCRLF = crlf
	if err := out.Write(append(slices.Clone(t.Columns), CountColumn(t))); err != nil {
		return err
	}
	cells := make([]string, len(t.Columns)+1)
	for _, r := range t.Rows {
		for i, v := range r.Values {
			cells[i] = spell(v)
		}
		cells[len(t.Columns)] = strconv.FormatInt(r.Count, 10)
		if err := out.Write(cells); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}
