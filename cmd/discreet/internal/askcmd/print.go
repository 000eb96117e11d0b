package askcmd

import (
	"fmt"
	"io"
	"slices"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/client"
	"github.com/discreet-dp/discreet/internal/render"
	"github.com/discreet-dp/discreet/internal/table"
)

// printFederatedAnswer shows the rows of all servers, and what each of them has charged.
func printFederatedAnswer(w io.Writer, a *client.Answer) {
	shown := &api.Answer{Columns: a.Columns, Rows: a.Rows, Errors: a.Errors, Confidence: a.Confidence, Shown: a.Shown}
	if slices.ContainsFunc(a.Of, func(n int) bool { return n < len(a.Servers) }) {
		shown = addServersColumn(shown, a)
	}
	render.Rows(w, shown)
	for _, n := range a.Notes {
		fmt.Fprintln(w, "note: "+table.Clean(n))
	}
	for _, n := range serverNotes(a.Servers) {
		fmt.Fprintln(w, "note: "+table.Clean(n))
	}
	t := &table.Table{Header: []string{"server", "price", "left", "data version", "record", "receipt"},
		Right: []bool{false, false, false, true, true, false}}
	for _, s := range a.Servers {
		version := fmt.Sprint(s.Answer.Version.Number)
		if s.Answer.Version.Name != "" {
			version += ": " + s.Answer.Version.Name
		}
		hash := s.Answer.Receipt.Hash
		t.Add(s.Server, render.Paid(s.Answer), render.Left(s.Answer.Remaining), version, fmt.Sprint(s.Answer.Receipt.Sequence),
			hash[:min(16, len(hash))])
	}
	fmt.Fprintln(w)
	t.Write(w)
}

// addServersColumn adds a column that says of how many servers a row is.
func addServersColumn(shown *api.Answer, a *client.Answer) *api.Answer {
	out := *shown
	out.Columns = append(slices.Clip(shown.Columns), api.Column{Name: "servers", Kind: "text", Decimals: -1})
	out.Rows, out.Errors = nil, nil
	for i, row := range shown.Rows {
		out.Rows = append(out.Rows, append(slices.Clip(row), fmt.Sprintf("%d of %d", a.Of[i], len(a.Servers))))
		out.Errors = append(out.Errors, append(slices.Clip(shown.Errors[i]), nil))
	}
	return &out
}

// serverNotes are what servers have said about their own answers: once, where all say the same.
func serverNotes(servers []client.Share) []string {
	var out []string
	for _, s := range servers {
		for _, n := range notesOfServer(s) {
			everywhere := !slices.ContainsFunc(servers, func(o client.Share) bool { return !slices.Contains(notesOfServer(o), n) })
			if !everywhere {
				n = s.Server + ": " + n
			}
			if !slices.Contains(out, n) {
				out = append(out, n)
			}
		}
	}
	return out
}

// notesOfServer are those of one server, with how much of a person counts there.
func notesOfServer(s client.Share) []string {
	l := s.Answer.Limits
	if l.MaxRows <= 1 && l.MaxGroups <= 1 {
		return s.Answer.Notes
	}
	return append(slices.Clip(s.Answer.Notes), fmt.Sprintf("one person counts with at most %s in each of at most %s; what that leaves out "+
		"is in no error bar", render.Count(l.MaxRows, "row"), render.Count(l.MaxGroups, "group")))
}

// printFederatedQuote shows what each server would charge, and how exact the total would be.
func printFederatedQuote(w io.Writer, q *client.Quote) {
	errors := &table.Table{Header: []string{"noisy number", render.PlusMinus(q.Confidence) + " of the total"}, Right: []bool{false, true}}
	for i, c := range q.Columns {
		switch {
		case !c.Noisy:
		case q.Errors[i] == nil:
			errors.Add(c.Name, "known with the answer")
		default:
			errors.Add(c.Name, render.Number(*q.Errors[i]))
		}
	}
	errors.Write(w)
	fmt.Fprintln(w)
	t := &table.Table{Header: []string{"server", "noise", "one person moves it by", "price", "left"}, Right: make([]bool, 5)}
	for _, s := range q.Servers {
		noise, moves := "", ""
		for _, i := range s.Price.Questions {
			for _, m := range i.Measures {
				noise += onOneLine(noise) + m.Mechanism + " " + render.Number(m.Deviation)
				moves += onOneLine(moves) + render.Number(m.Sensitivity)
			}
		}
		t.Add(s.Server, noise, moves, render.ToPay(s.Price), render.Left(s.Price.Remaining))
	}
	t.Write(w)
}

func onOneLine(text string) string {
	if text == "" {
		return ""
	}
	return ", "
}
