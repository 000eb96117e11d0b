// Package federate makes one answer of those of several servers to one question: counts and sums
// are added up, and averages are made of sums and counts that were added up. It sees what servers
// have said, which may be anything: nothing of it is believed that can be checked.
//
// # Error bars
//
// A total is off by the sum of the noises of the servers, each drawn by itself. The variances of
// independent noises add up, which is what adding errors in squares means; but an error bar is more
// than a deviation. Two Laplace noises are no Laplace noise, and of a confidence of 0.9 the root of
// the summed squares of half widths would be too small. So servers say the law of their noise, and
// the half width is that of the law of the sum ([mech.HalfWidthOfSum]), which is never too small.
//
// An average is the total of the sums over the total of the counts. Both are within their half
// widths with half of what may fail each, and then so is the quotient ([mech.RatioOfIntervals]); of
// one server alone it has the interval that it has there. Sums are taken around one center for all:
// that of the servers, or the middle of all their bounds where they have different ones.
//
// What is not in the error bars is what no server knows: how many people are at two of them.
package federate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/api"
)

// Given is an answer of a server that said before what it would be made of.
type Given struct {
	Offer
	Answer *api.Answer
}

// Settings are what is done with the totals.
type Settings struct {
	Confidence  float64
	Nonnegative bool // counts below 0 are shown as 0
}

// Joined is what several answers are together.
type Joined struct {
	Columns []api.Column
	Rows    [][]any
	Errors  [][]*float64
	Servers []int // for each row, of how many servers it is: those that list its keys
	Notes   []string
}

// Twice is what has to be said about every such answer.
const Twice = "a person in the data of two of these servers counts twice, which no error bar shows; what can be learnt about them is " +
	"what both budgets allow together"

// group are the parts of one row at the servers that have it.
type group struct {
	keys  []any
	parts [][]api.Part // of each of them
	of    []string     // their names
}

var errStopped = errors.New("it was stopped while the answers were being combined")

// Join puts answers together, row by row. What servers say and cannot be is an error.
func Join(ctx context.Context, all []Given, s Settings) (*Joined, error) {
	var order []string
	groups, paid := map[string]*group{}, map[string]bool{"": false}
	for _, g := range all {
		hash := g.Answer.Receipt.Hash
		if paid[hash] {
			return nil, fmt.Errorf("%s paid with the same record as another of these servers: they are one server", g.Server)
		}
		paid[hash] = hash != ""
		names, err := g.read(groups)
		if err != nil {
			return nil, err
		}
		order = append(order, names...)
	}
	out := &Joined{Columns: joinColumns(all), Notes: []string{Twice}}
	h := halfWidths{}
	for _, name := range order {
		if ctx.Err() != nil { // of hostile servers, every row has other noise, and each takes a while
			return nil, errStopped
		}
		g := groups[name]
		values, errs, err := g.row(out.Columns, all[0].Makeup.Columns, s, h)
		if err != nil {
			return nil, fmt.Errorf("the answers of %s cannot be combined: %w", strings.Join(g.of, ", "), err)
		}
		out.Rows, out.Errors, out.Servers = append(out.Rows, values), append(out.Errors, errs), append(out.Servers, len(g.of))
	}
	out.Notes = append(out.Notes, missingRowNotes(all, order, groups)...)
	return out, nil
}

// read adds the rows of an answer to those of others, and returns the names of the keys that no
// other has had, in their order. There has to be a row for every combination of keys, once.
func (g Given) read(groups map[string]*group) ([]string, error) {
	want := 1
	for _, c := range g.Makeup.Columns {
		if c.Of == api.OfKey {
			want *= len(c.Values)
		}
	}
	a := g.Answer
	if len(a.Columns) != len(g.Makeup.Columns) || len(a.Rows) != want || len(a.Parts) != want {
		return nil, strangeServerError(g.Server)
	}
	var names []string
	for i, row := range a.Rows {
		if len(row) != len(a.Columns) || len(a.Parts[i]) != len(a.Columns) {
			return nil, strangeServerError(g.Server)
		}
		var keys []any
		for j, c := range g.Makeup.Columns {
			if (c.Of == api.OfKey) != (a.Parts[i][j].Sum == nil) || a.Columns[j].Name != c.Name {
				return nil, strangeServerError(g.Server)
			}
			if c.Of == api.OfKey {
				keys = append(keys, row[j])
			}
		}
		name := keyName(keys)
		if groups[name] == nil {
			groups[name] = &group{keys: keys}
			names = append(names, name)
		}
		at := groups[name]
		if slices.Contains(at.of, g.Server) {
			return nil, strangeServerError(g.Server)
		}
		at.parts, at.of = append(at.parts, a.Parts[i]), append(at.of, g.Server)
	}
	return names, nil
}

// keyName names a combination of keys: two of one value have one name, however it is written.
func keyName(keys []any) string {
	out := ""
	for _, k := range keys {
		switch k := k.(type) {
		case nil:
			out += "null "
		case json.Number:
			text := k.String()
			if r, ok := new(big.Rat).SetString(text); ok && len(text) < 64 && !strings.ContainsAny(text, "eE") {
				text = r.RatString()
			}
			out += text + " "
		default:
			out += strconv.Quote(fmt.Sprint(k)) + " "
		}
	}
	return out
}

// joinColumns returns the columns of all: of the widest kind that any server has.
func joinColumns(all []Given) []api.Column {
	var out []api.Column
	for i, first := range all[0].Makeup.Columns {
		c := api.Column{Name: first.Name, Kind: first.Kind, Type: first.Type, Decimals: first.Decimals, Noisy: first.Of != api.OfKey,
			Approximate: first.Of == api.OfAverage}
		c.Bar = c.Noisy
		for _, g := range all[1:] {
			at := g.Makeup.Columns[i]
			if c.Noisy && slices.Index(numericKinds, at.Kind) > slices.Index(numericKinds, c.Kind) {
				c.Kind, c.Type = at.Kind, at.Type
			}
			if c.Decimals >= 0 && (at.Decimals < 0 || at.Decimals > c.Decimals) {
				c.Decimals = at.Decimals
			}
		}
		c.Decimals = min(c.Decimals, maxDecimals)
		out = append(out, c)
	}
	return out
}

// maxDecimals is how many digits after the point a server may ask for.
const maxDecimals = 40

func oneRat() *big.Rat { return big.NewRat(1, 1) }

// row computes the values of a row, and their error bars.
func (g *group) row(columns []api.Column, made []api.MakeupOfColumn, s Settings, h halfWidths) (values []any, errs []*float64, err error) {
	keys := g.keys
	for j, c := range made {
		var value any
		var half *float64
		switch c.Of {
		case api.OfKey:
			value, keys = keys[0], keys[1:]
		case api.OfAverage:
			var mean float64
			if mean, half, err = average(g.column(j), 1-s.Confidence, h); err != nil {
				return nil, nil, err
			}
			value = json.Number(strconv.FormatFloat(mean, 'f', -1, 64))
		default:
			t := newTotal()
			for _, p := range g.column(j) {
				if err := t.add(*p.Sum, oneRat()); err != nil {
					return nil, nil, err
				}
			}
			wide, err := h.of(t, 1-s.Confidence)
			if err != nil {
				return nil, nil, err
			}
			if c.Of == api.OfCount && s.Nonnegative && t.value.Sign() < 0 {
				t.value.SetInt64(0) // no further from what is counted, so the error bar holds for it too
			}
			number, off := spellTotal(t.value, columns[j].Decimals)
			value = number
			if wide != nil {
				width := roundUp(new(big.Rat).Add(wide, off))
				half = &width
			}
		}
		values, errs = append(values, value), append(errs, half)
	}
	return values, errs, nil
}

// column are the parts of one column, of each server that has the row.
func (g *group) column(j int) []api.Part {
	var out []api.Part
	for _, p := range g.parts {
		out = append(out, p[j])
	}
	return out
}

// spellTotal writes a total, with all of its digits where it is no real number, and says by how
// much rounding has moved it.
func spellTotal(r *big.Rat, decimals int) (number json.Number, off *big.Rat) {
	text := r.FloatString(max(decimals, 0))
	if decimals < 0 {
		f, _ := r.Float64()
		text = strconv.FormatFloat(f, 'f', -1, 64)
	}
	off, ok := new(big.Rat).SetString(text)
	if !ok { // it is beyond what a real number can be
		return json.Number(text), new(big.Rat)
	}
	off.Sub(off, r)
	return json.Number(text), off.Abs(off)
}

// maxNamedRows is how many rows a note names.
const maxNamedRows = 5

// missingRowNotes says which rows are not of all servers.
func missingRowNotes(all []Given, order []string, groups map[string]*group) []string {
	var out []string
	for _, g := range all {
		var rows []string
		for _, name := range order {
			if !slices.Contains(groups[name].of, g.Server) {
				rows = append(rows, strings.TrimSpace(name))
			}
		}
		if n := len(rows); n > maxNamedRows {
			rows = append(rows[:maxNamedRows], fmt.Sprintf("and %d more", n-maxNamedRows))
		}
		if len(rows) > 0 {
			out = append(out, fmt.Sprintf("%s does not list %s: these rows come only from the other servers, and leave out its own "+
				"people in these groups", g.Server, strings.Join(rows, ", ")))
		}
	}
	return out
}

// Offer is what a server has said an answer would be made of.
type Offer struct {
	Server string // as the analyst calls it
	Makeup *api.Makeup
}

// Check refuses what cannot be put together, before anything is asked: a [*api.Refusal].
func Check(offers []Offer) error {
	for i, o := range offers {
		switch m := o.Makeup; {
		case m == nil:
			return api.Refuse("ask it by itself", "%s cannot say what the answer is made of, so it cannot be combined with others",
				o.Server)
		case m.Apart != "":
			return api.Refuse(m.Instead, "this cannot be combined: %s%s", namePart(offers, o), m.Apart)
		case m.Source == "" || len(m.Columns) == 0:
			return strangeServerError(o.Server)
		}
		for _, before := range offers[:i] {
			if before.Makeup.Source == o.Makeup.Source {
				return api.Refuse("name it once", "%s and %s have the same data and the same ledger, so everybody would count twice",
					before.Server, o.Server)
			}
		}
		if err := o.checkShape(offers[0]); err != nil {
			return err
		}
	}
	return nil
}

// namePart names a server that alone, or with some others, says that it cannot be.
func namePart(offers []Offer, o Offer) string {
	for _, other := range offers {
		if other.Makeup != nil && other.Makeup.Apart != o.Makeup.Apart {
			return "at " + o.Server + " "
		}
	}
	return ""
}

// strangeServerError is what is told of a server that says what no server of this kind says.
func strangeServerError(server string) error {
	return fmt.Errorf("%s sent something impossible: it is another kind of server, or another version", server)
}

// Kinds of columns that can be added up.
var numericKinds = []string{"integer", "decimal", "real"}

// checkShape refuses columns that are others than those of the first server.
func (o Offer) checkShape(first Offer) error {
	mine, theirs := o.Makeup.Columns, first.Makeup.Columns
	if len(mine) != len(theirs) {
		return strangeServerError(o.Server)
	}
	for i, c := range mine {
		d := theirs[i]
		isKey := c.Of == api.OfKey
		switch {
		case !slices.Contains([]string{api.OfKey, api.OfCount, api.OfSum, api.OfAverage}, c.Of),
			!isKey && !slices.Contains(numericKinds, c.Kind):
			return strangeServerError(o.Server)
		case c.Name != d.Name || c.Of != d.Of:
			return api.Refuse("ask each by itself", "column %d is %s, a %s, at %s and %s, a %s, at %s", i+1, d.Name, d.Of, first.Server,
				c.Name, c.Of, o.Server)
		case isKey && c.Kind != d.Kind:
			return api.Refuse("ask each by itself, or cast it to one type", "the key %s is %s at %s and %s at %s", c.Name, d.Kind,
				first.Server, c.Kind, o.Server)
		}
	}
	return nil
}

// Expect returns the error bars that the total would have, for each column; nil for keys and
// averages, whose error nobody can know before.
func Expect(offers []Offer, confidence float64) ([]*float64, error) {
	out := make([]*float64, len(offers[0].Makeup.Columns))
	for i, c := range offers[0].Makeup.Columns {
		if c.Of != api.OfCount && c.Of != api.OfSum {
			continue
		}
		t := newTotal()
		for _, o := range offers {
			at := o.Makeup.Columns[i]
			if t.add(api.NoisyNumber{Step: at.Step, Noise: at.Noise}, oneRat()) != nil {
				return nil, strangeServerError(o.Server)
			}
		}
		half, err := halfWidths{}.of(t, 1-confidence)
		if err != nil {
			return nil, err
		}
		if half != nil {
			width := roundUp(half)
			out[i] = &width
		}
	}
	return out, nil
}
