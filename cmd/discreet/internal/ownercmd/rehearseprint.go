package ownercmd

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/cmd/discreet/internal/console"
	"github.com/discreet-dp/discreet/cmd/discreet/internal/prompt"
	"github.com/discreet-dp/discreet/internal/lab/rehearse"
	"github.com/discreet-dp/discreet/internal/render"
)

// Of an answer with more numbers than maxRehearsed only the worst are shown, and what they come to.
const maxRehearsed, worstRehearsed = 20, 10

// printRehearsal prints what a question comes to.
func printRehearsal(w io.Writer, number int, r *rehearse.Report) {
	text, ok := prompt.OneLine(r.SQL)
	if !ok {
		text = r.SQL
	}
	fmt.Fprintf(w, "\n%d. %s\n", number, render.Clean(text))
	if r.Skipped != "" {
		fmt.Fprintf(w, "no exact figures: %s\n", r.Skipped)
		return
	}
	fmt.Fprintf(w, "price: epsilon %v; %s\n\n", r.Epsilon, console.Plural(r.Draws, "draw", "draws"))
	cells := r.Cells
	if len(cells) > maxRehearsed {
		cells = worstCells(cells)
		fmt.Fprintf(w, "%d numbers; the %d that are furthest off in proportion:\n", len(r.Cells), len(cells))
	}
	t := &render.Table{Right: []bool{false, false, true, true, true, true, true, true, true, true, true},
		Header: []string{"group", "column", "exact", "cut", "bias", "", "limits", "bounds", "±noise", "off by", "95 %"}}
	for _, c := range cells {
		t.Add(cmp.Or(strings.Join(c.Group, ", "), "-"), c.Column, figure(c.Exact), figure(c.Cut), figure(c.Bias),
			percentOf(c.Bias, c.Exact), figure(c.ByLimits), figure(c.ByBounds), figure(c.Bar), figure(c.Median), figure(c.Most))
	}
	t.Write(w)
	if len(cells) < len(r.Cells) {
		fmt.Fprintln(w)
		printColumns(w, r.Cells)
	}
	fmt.Fprintln(w)
	if k := r.Keys; k != nil {
		fmt.Fprintf(w, "rows: %d exactly; limits and bounds drop %d by themselves; an answer drops %d (95 %%: at most %d) and invents %d\n",
			k.Exact, k.Cut, k.Dropped, k.Most, k.Invented)
	}
	for _, note := range r.Notes {
		fmt.Fprintf(w, "note: %s\n", render.Clean(note))
	}
	printProposal(w, r.Proposal)
}

// worstCells are those with the largest error, next to what they are exactly.
func worstCells(all []rehearse.Cell) []rehearse.Cell {
	size := func(c rehearse.Cell) float64 {
		if c.Most == nil || c.Exact == nil {
			return 0
		}
		return *c.Most / max(1, math.Abs(*c.Exact))
	}
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(a, b rehearse.Cell) int { return cmp.Compare(size(b), size(a)) })
	return all[:worstRehearsed]
}

// printColumns sums up each column over all groups.
func printColumns(w io.Writer, all []rehearse.Cell) {
	t := &render.Table{Header: []string{"column", "groups", "median bias", "largest bias", "median off by", "median 95 %"},
		Right: []bool{false, true, true, true, true, true}}
	var names []string
	of := map[string][]rehearse.Cell{}
	for _, c := range all {
		if of[c.Column] == nil {
			names = append(names, c.Column)
		}
		of[c.Column] = append(of[c.Column], c)
	}
	for _, name := range names {
		bias := sizes(of[name], func(c rehearse.Cell) *float64 { return c.Bias })
		off := sizes(of[name], func(c rehearse.Cell) *float64 { return c.Median })
		most := sizes(of[name], func(c rehearse.Cell) *float64 { return c.Most })
		t.Add(name, fmt.Sprint(len(of[name])), figure(middle(bias)), figure(last(bias)), figure(middle(off)), figure(middle(most)))
	}
	t.Write(w)
}

// sizes are how large some numbers are, sorted. What there is not is left out.
func sizes(all []rehearse.Cell, of func(rehearse.Cell) *float64) (out []float64) {
	for _, c := range all {
		if n := of(c); n != nil {
			out = append(out, math.Abs(*n))
		}
	}
	slices.Sort(out)
	return out
}

func middle(sorted []float64) *float64 {
	if len(sorted) == 0 {
		return nil
	}
	return &sorted[len(sorted)/2]
}

func last(sorted []float64) *float64 {
	if len(sorted) == 0 {
		return nil
	}
	return &sorted[len(sorted)-1]
}

// figure shows a number with as many digits as tell something.
func figure(n *float64) string {
	switch {
	case n == nil:
		return "-"
	case *n == math.Trunc(*n) && math.Abs(*n) < 1e15:
		return strconv.FormatFloat(*n, 'f', 0, 64)
	case math.Abs(*n) >= 10000:
		return strconv.FormatFloat(*n, 'f', 0, 64)
	}
	return strconv.FormatFloat(*n, 'g', 5, 64)
}

func percentOf(part, whole *float64) string {
	if part == nil || whole == nil || *whole == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f %%", math.Round(1000**part/math.Abs(*whole))/10+0) // without the sign of a negative 0
}

// printProposal says which limits would have the least error, and what it would be.
func printProposal(w io.Writer, p *rehearse.Proposal) {
	if p == nil {
		return
	}
	if p.Limits == "" {
		fmt.Fprintln(w, "proposal: keep the limits; none of those that were tried has less error at this price")
		return
	}
	fmt.Fprintf(w, "proposal: %s; the error of bias and noise together, over all groups:\n\n", p.Limits)
	t := &render.Table{Header: []string{"column", "today", "then"}, Right: []bool{false, true, true}}
	for _, e := range p.Errors {
		t.Add(e.Column, figure(&e.Today), figure(&e.Then))
	}
	t.Write(w)
}
