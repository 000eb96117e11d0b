package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/table"
)

// asking is what query and explain have in common.
type asking struct {
	Policy  string  `help:"The policy file." required:"" placeholder:"FILE" short:"p"`
	As      string  `help:"The analyst who asks, as the policy names them." required:"" placeholder:"ANALYST"`
	Dataset string  `help:"The dataset, where the policy has several." placeholder:"NAME"`
	Epsilon *string `help:"What to pay; the policy has a default and a maximum." placeholder:"EPSILON"`
	JSON    bool    `help:"Print JSON." name:"json"`
	SQL     string  `arg:"" help:"One SELECT of COUNT, SUM or AVG; - reads it from standard input."`
}

func (a *asking) question(in io.Reader) (discreet.Question, error) {
	q := discreet.Question{Dataset: a.Dataset, Analyst: a.As, SQL: a.SQL}
	if a.SQL == "-" {
		text, err := io.ReadAll(io.LimitReader(in, 1<<20))
		if err != nil {
			return q, err
		}
		q.SQL = string(text)
		a.SQL = q.SQL
	}
	if a.Epsilon != nil { // given, and be it as '': an empty variable of a script is no wish for the default
		e, err := dp.Parse(*a.Epsilon)
		if err != nil {
			return q, &usageError{fmt.Errorf("--epsilon: %w", err)}
		}
		if e == 0 {
			return q, &usageError{errors.New("--epsilon: an answer needs an epsilon above 0 (and at least 2^-40); write for example 0.1")}
		}
		q.Epsilon = e
	}
	return q, nil
}

type queryCmd struct {
	asking  `embed:""`
	Request string `help:"Name the question for retries: the same request is charged once." placeholder:"ID"`
}

func (queryCmd) Help() string {
	return `Prints the answer with a 95 % error bar for each noisy column, then its price and what is left.
A question that was asked before is answered again, the same, free.

  discreet query --policy hospital.yaml --as ana 'SELECT sex, COUNT(*), AVG(age) FROM patients GROUP BY sex'
  discreet query --policy hospital.yaml --as ana --epsilon 0.5 --json 'SELECT SUM(cost) FROM visits'`
}

func (c *queryCmd) Run(ctx context.Context, s screen) error {
	q, err := c.question(stdin)
	if err != nil {
		return err
	}
	q.Request = c.Request
	db, err := discreet.Open(ctx, c.Policy)
	if err != nil {
		return err
	}
	defer db.Close()
	done := waiting(s.err, "asking")
	a, err := db.Ask(ctx, q)
	done()
	if err != nil {
		return locate(err, c.SQL)
	}
	if c.JSON {
		return printJSON(s.out, answerJSON(a))
	}
	printAnswer(s.out, a)
	return nil
}

// answerJSON is the answer for machines. Keys stay in this order.
func answerJSON(a *discreet.Answer) any {
	names := make([]string, len(a.Columns))
	for i, c := range a.Columns {
		names[i] = c.Name
	}
	rows, errs := a.Rows, a.Errors
	if rows == nil {
		rows, errs = [][]any{}, [][]*float64{}
	}
	return struct {
		Columns   []string     `json:"columns"`
		Rows      [][]any      `json:"rows"`
		Errors    [][]*float64 `json:"errors"`
		Cost      dp.Cost      `json:"cost"`
		Remaining any          `json:"remaining"`
		Receipt   any          `json:"receipt"`
		Limits    any          `json:"limits"`
	}{names, rows, errs, a.Cost, a.Remaining, struct {
		Sequence uint64 `json:"sequence"`
		Free     bool   `json:"free"`
	}{a.Receipt.Sequence, a.Receipt.Free}, struct {
		MaxRows   int64 `json:"max_rows"`
		MaxGroups int64 `json:"max_groups"`
	}{a.MaxRows, a.MaxGroups}}
}

// count writes a number of things.
func count(n int64, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprintf("%d %s", n, thing)
}

func printAnswer(w io.Writer, a *discreet.Answer) {
	t := &table.Table{}
	for _, c := range a.Columns {
		t.Header, t.Right = append(t.Header, c.Name), append(t.Right, c.Noisy)
		if c.Noisy {
			t.Header, t.Right = append(t.Header, "±95%"), append(t.Right, true)
		}
	}
	for i, row := range a.Rows {
		var cells []string
		for j, c := range a.Columns {
			value := cell(row[j])
			if !c.Noisy {
				cells = append(cells, value)
				continue
			}
			half := *a.Errors[i][j]
			digits := c.Decimals
			if digits < 0 { // an average: as many digits as its error deserves
				digits = significant(half)
				f, _ := strconv.ParseFloat(value, 64)
				value = strconv.FormatFloat(f, 'f', digits, 64)
			}
			cells = append(cells, value, strconv.FormatFloat(half, 'f', digits, 64))
		}
		t.Add(cells...)
	}
	t.Write(w)
	if a.Cut {
		fmt.Fprintf(w, "one person counts with at most %s in each of at most %s; what that leaves out is not in ±95%%\n", count(a.MaxRows, "row"), count(a.MaxGroups, "group"))
	}
	fmt.Fprintln(w, priceLine(a))
}

// significant returns how many digits after the point show two digits of an error.
func significant(half float64) int {
	if half <= 0 {
		return 2
	}
	return min(max(1-int(math.Floor(math.Log10(half))), 0), 6)
}

func cell(v any) string {
	switch v := v.(type) {
	case nil:
		return "NULL"
	case json.Number:
		return v.String()
	}
	return fmt.Sprint(v)
}

// priceLine says what the answer cost and what is left.
func priceLine(a *discreet.Answer) string {
	price := "free, already paid for"
	if !a.Receipt.Free {
		price = priceTag(a.Cost, a.Remaining)
	}
	return "price: " + price + "; left: " + leftOver(a.Remaining)
}

// priceTag shows a price; rho too, where that is what is counted.
func priceTag(cost dp.Cost, r discreet.Remaining) string {
	if r.Rho == dp.Unbounded {
		return "epsilon " + cost.Epsilon.String()
	}
	return "epsilon " + cost.Epsilon.String() + " (rho " + cost.Rho.Short() + ")"
}

// leftOver shows what is left.
func leftOver(r discreet.Remaining) string {
	if r.Rho == dp.Unbounded {
		return "epsilon " + r.Epsilon.Short()
	}
	return fmt.Sprintf("epsilon %s at delta %v (rho %s)", r.Epsilon.Short(), r.Delta, r.Rho.Short())
}
