package render

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/table"
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
		fmt.Fprintf(w, "answered: %s after its turn, which comes with the next tick; later where others ask too, and the same whatever "+
			"is in the data\n", secondsWords(*e.Deadline))
	}
	if e.Closed {
		fmt.Fprintln(w,
			"closed: questions failed after they were charged, and there are no new answers until the owner of the data has released it")
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

// printInquiry shows one question.
func printInquiry(w io.Writer, e *api.Explanation, i int) {
	q := e.Questions[i]
	t := &table.Table{
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
		fmt.Fprintf(w, "%s: %s\n", table.Clean(m.Measure), table.Clean(m.Why))
	}
	if q.Sharpens > 0 {
		fmt.Fprintf(w, "made of record %d, which is the same with more noise: the difference is paid\n", q.Sharpens)
	}
	for _, k := range q.Keys {
		values := ""
		if !k.Private {
			values = ", " + Count(int64(k.Values), "value")
		}
		fmt.Fprintf(w, "key %s: %s%s\n", table.Clean(k.Key), table.Clean(k.Rule), values)
	}
	rows := fmt.Sprintf("rows: %d, one for each combination of public keys", q.Groups)
	if q.Chosen > 0 {
		rows = fmt.Sprintf("rows: %d, chosen out of %d combinations of public keys", q.Chosen, q.Groups)
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
		price = "free now, because the round of tests that is open was paid for, against " + priceTag(s.Ordinary, e.Remaining) +
			" by itself"
	default:
		price = "at most " + priceTag(s.Most, e.Remaining) + " now, and less for what the stream predicts, against " +
			priceTag(s.Ordinary, e.Remaining) + " by itself"
	}
	fmt.Fprintf(w, "through the stream %s: %s, each within %d with probability %s, all that the stream answers together; %s\n", s.Name,
		Count(int64(s.Counts), "count"), s.Error, Number(s.Confidence), price)
}

func deltaWords(c dp.Cost) string {
	if c.Delta == 0 {
		return "0"
	}
	return c.Delta.String()
}
