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
	Policy  string            `help:"The policy file." required:"" placeholder:"FILE" short:"p"`
	As      string            `help:"The analyst who asks, as the policy names them." required:"" placeholder:"ANALYST"`
	Dataset string            `help:"The dataset, where the policy has several." placeholder:"NAME"`
	Epsilon *string           `help:"What to pay; the policy has a default and a maximum." placeholder:"EPSILON"`
	Set     map[string]string `help:"Settings of the answer: dp.error=10 for the least price with that error, dp.confidence, dp.delta, dp.mechanism, dp.max_groups." placeholder:"NAME=VALUE" mapsep:";"`
	JSON    bool              `help:"Print JSON." name:"json"`
}

// settings are what the flags set.
func (a *asking) settings() (settings, error) {
	out := settings{}
	for name, value := range a.Set {
		if err := out.set(name, value); err != nil {
			return nil, &usageError{fmt.Errorf("--set: %w", err)}
		}
	}
	if a.Epsilon != nil { // given, and be it as '': an empty variable of a script is no wish for the default
		if err := out.set("dp.epsilon", *a.Epsilon); err != nil {
			return nil, &usageError{fmt.Errorf("--epsilon: %w", err)}
		}
	}
	return out, nil
}

func (a *asking) session(db *discreet.DB, s screen, start settings) *session {
	return &session{db: db, screen: s, dataset: a.Dataset, analyst: a.As, json: a.JSON, settings: start}
}

type queryCmd struct {
	asking      `embed:""`
	Request     *string `help:"Name the question for retries: the same request is charged once." placeholder:"ID"`
	Interactive bool    `help:"Ask one question after the other. The default on a terminal, without SQL." short:"i"`
	NoHistory   bool    `help:"Do not keep what is typed."`
	SQL         *string `arg:"" optional:"" help:"One SELECT with aggregates; - reads statements from standard input."`
}

func (queryCmd) Help() string {
	return `Prints the answer with an error bar for each noisy column that has one, of 95 % unless dp.confidence is set, then its
price and what is left.
A question that was asked before is answered again, the same, free.

  discreet query --policy hospital.yaml --as ana 'SELECT sex, COUNT(*), AVG(age) FROM patients GROUP BY sex'
  discreet query --policy hospital.yaml --as ana --epsilon 0.5 --json 'SELECT SUM(cost) FROM visits'
  discreet query --policy hospital.yaml --as ana            asks on, on a terminal; \? there says what can be typed
  discreet query --policy hospital.yaml --as ana < questions.sql

Statements on standard input end with a semicolon. They run in their order, up to the first that fails.
What is typed is kept for the next time in $XDG_STATE_HOME/discreet/history (~/.local/state where that is not set),
which only you can read. --no-history keeps nothing; a line that begins with a space is not kept either.`
}

func (c *queryCmd) Run(ctx context.Context, s screen) error {
	start, err := c.settings()
	if err != nil {
		return err
	}
	talk := c.Interactive || c.SQL == nil && isTerminal(stdin) && isTerminal(s.out)
	var script []string
	switch {
	case c.Interactive && c.SQL != nil:
		return &usageError{errors.New("--interactive asks for questions, and one is given already; leave one of the two out")}
	case c.Request != nil && *c.Request == "":
		return &usageError{errors.New("--request is empty; name the question, or leave it out")}
	case talk && c.Request != nil:
		return &usageError{errors.New("--request names one question; give that question too")}
	case talk:
	case c.SQL != nil && *c.SQL != "-":
		script = []string{*c.SQL}
	default:
		if script, err = readScript(stdin, c.SQL != nil); err != nil {
			return err
		}
		if len(script) > 1 && c.Request != nil {
			return &usageError{fmt.Errorf("--request names one question, and there are %d statements", len(script))}
		}
	}
	db, err := discreet.Open(ctx, c.Policy)
	if err != nil {
		return err
	}
	defer db.Close()
	session := c.session(db, s, start)
	if c.Request != nil {
		session.request = *c.Request
	}
	if talk {
		return interact(ctx, session, !c.NoHistory)
	}
	if len(script) == 1 && c.SQL != nil && *c.SQL != "-" {
		return session.ask(ctx, script[0]) // an argument is a question and nothing else
	}
	for _, text := range script {
		if err := session.do(ctx, text); err != nil {
			return err
		}
		if err := s.failed(); err != nil {
			return err // nobody would see the next answers
		}
	}
	return nil
}

// readScript reads the statements of standard input. Where nobody wrote - it has to have some.
func readScript(in io.Reader, asked bool) ([]string, error) {
	if !asked && isTerminal(in) {
		return nil, errNoSQL
	}
	text, err := readAll(in)
	if err != nil {
		return nil, err
	}
	done, rest, _ := statements(text)
	switch {
	case rest != "":
		done = append(done, rest)
	case len(done) == 0 && !asked:
		return nil, errNoSQL
	case len(done) == 0:
		done = []string{text} // to be refused as empty
	}
	return done, nil
}

var errNoSQL = &usageError{errors.New(`expected "<sql>"; see discreet query --help`)}

// readAll reads standard input. More than a limit is refused as a whole: half of a question could be another one.
func readAll(in io.Reader) (string, error) {
	const most = 1 << 20
	text, err := io.ReadAll(io.LimitReader(in, most+1))
	if err == nil && len(text) > most {
		err = &usageError{fmt.Errorf("standard input is longer than %d bytes; ask in parts", most)}
	}
	return string(text), err
}

// answerJSON is the answer for machines. Keys stay in this order.
func answerJSON(a *discreet.Answer) any {
	names := make([]string, len(a.Columns))
	for i, c := range a.Columns {
		names[i] = c.Name
	}
	rows, errs := a.Rows, a.Errors
	if rows == nil {
		rows = [][]any{}
	}
	if errs == nil && len(rows) == 0 {
		errs = [][]*float64{}
	}
	notes := a.Notes
	if notes == nil {
		notes = []string{}
	}
	alerts := a.Alerts
	if alerts == nil {
		alerts = []discreet.Alert{}
	}
	return struct {
		Columns    []string     `json:"columns"`
		Rows       [][]any      `json:"rows"`
		Errors     [][]*float64 `json:"errors"`
		Cost       dp.Cost      `json:"cost"`
		Remaining  any          `json:"remaining"`
		Receipt    any          `json:"receipt"`
		Limits     any          `json:"limits"`
		Confidence float64      `json:"confidence"`
		Notes      []string     `json:"notes"`
		Version    any          `json:"data_version"`
		Alerts     any          `json:"alerts"`
	}{names, rows, errs, a.Cost, a.Remaining, struct {
		Sequence uint64 `json:"sequence"`
		Hash     string `json:"hash"`
		Free     bool   `json:"free"`
	}{a.Receipt.Sequence, a.Receipt.Hash, a.Receipt.Free}, struct {
		MaxRows   int64 `json:"max_rows"`
		MaxGroups int64 `json:"max_groups"`
	}{a.MaxRows, a.MaxGroups}, a.Confidence, notes, a.Version, alerts}
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
	bars := make([]bool, len(a.Columns)) // whether a column has errors
	for j, c := range a.Columns {
		bars[j] = c.Noisy && (len(a.Rows) == 0 && !c.Approximate)
		for i := range a.Errors {
			bars[j] = bars[j] || a.Errors[i][j] != nil
		}
		t.Header, t.Right = append(t.Header, c.Name), append(t.Right, c.Noisy && c.Kind != "text" && c.Kind != "boolean")
		if bars[j] {
			t.Header, t.Right = append(t.Header, plusMinus(a.Confidence)), append(t.Right, true)
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
	for _, n := range a.Notes {
		fmt.Fprintln(w, "note: "+table.Clean(n))
	}
	if a.Cut {
		fmt.Fprintf(w, "one person counts with at most %s in each of at most %s; what that leaves out is not in %s\n", count(a.MaxRows, "row"), count(a.MaxGroups, "group"), plusMinus(a.Confidence))
	}
	if text := versionLine(a); text != "" {
		fmt.Fprintln(w, text)
	}
	fmt.Fprintln(w, priceLine(a))
}

// versionLine says which version of the data the answer is about, where there is more to say than that it is the first.
func versionLine(a *discreet.Answer) string {
	switch v := a.Version; {
	case v.Name != "":
		return fmt.Sprintf("data version %d: %s", v.Number, table.Clean(v.Name))
	case v.Number > 1:
		return fmt.Sprintf("data version %d", v.Number)
	}
	return ""
}

// noisyCell shows a value and its error, with as many digits as the error deserves where the value has no digits of its own.
func noisyCell(v any, digits int, half *float64) (value, around string) {
	value = cell(v)
	if half == nil {
		return value, ""
	}
	if digits < 0 {
		digits = significant(*half)
		if f, err := strconv.ParseFloat(value, 64); err == nil {
			value = strconv.FormatFloat(f, 'f', digits, 64)
		}
	}
	return value, strconv.FormatFloat(*half, 'f', digits, 64)
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
	if cost.Delta > 0 {
		return "epsilon " + cost.Epsilon.String() + " (rho " + cost.Rho.Short() + ", delta " + cost.Delta.String() + ")"
	}
	return "epsilon " + cost.Epsilon.String() + " (rho " + cost.Rho.Short() + ")"
}

// leftOver shows what is left.
func leftOver(r discreet.Remaining) string {
	if r.Rho == dp.Unbounded {
		return "epsilon " + r.Epsilon.Short()
	}
	text := fmt.Sprintf("epsilon %s at delta %v (rho %s)", r.Epsilon.Short(), r.Delta, r.Rho.Short())
	if r.KeysDelta > 0 && r.KeysDelta != dp.Unbounded {
		text += fmt.Sprintf(", and delta %v for private keys", r.KeysDelta)
	}
	return text
}
