// Package profile says how many rows people have, privately, and what limits such as max_rows leave
// out of them.
//
// A profile is an answer like any other: a count of people, grouped by how many rows each has. A
// person is in one group of it, so it has the noise and the price of one count, by the theorems of
// package mech, and all that is computed from it here is post-processing. It is asked through the
// curator, is charged and kept like every answer, and is free for everybody once somebody has paid.
package profile

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/planner"
	"github.com/discreet-dp/discreet/policy"
)

var edges = planner.ProfileEdges()

// Of reports whether a table can have a profile: people have many rows in it, and it says whose
// they are.
func Of(t *policy.Table) bool { return !t.Public && t.UnitKind == policy.Many && t.UnitColumn != "" }

// Question is the SQL that a table's profile answers. Who asks it in any other way pays for it once
// more, so that it stands here alone.
func Question(t *policy.Table) string {
	list := make([]string, len(edges))
	for i, n := range edges {
		list[i] = strconv.FormatInt(n, 10)
	}
	person, rows := quote(t.UnitColumn), unlike("n", t)
	return fmt.Sprintf("SELECT width_bucket(%s, ARRAY[%s]) AS cell, COUNT(*) FROM (SELECT %s, dp_rows() AS %s FROM %s GROUP BY %s) "+
		"AS person GROUP BY 1 ORDER BY 1", rows, strings.Join(list, ","), person, rows, quote(t.Name), person)
}

// unlike is a name that the table's unit has not.
func unlike(name string, t *policy.Table) string {
	if strings.EqualFold(name, t.UnitColumn) {
		return name + "_"
	}
	return name
}

// widened is an error of a count for what is made of many of them. Noise of whole numbers can have
// an error of 0, or one just below the next whole number, and in some of many counts there is more.
func widened(error float64) float64 { return max(1, error+0.5) }

func quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// Profile is how many people have how many rows.
type Profile struct {
	Cells []Cell
	// Confidence is the probability with which each of Cells is within its error.
	Confidence float64
	// Beyond is how many people there can be with more rows than those of Cells.
	Beyond float64
}

// Cell is people who have from Least to Most rows.
type Cell struct {
	Least  int64   `json:"least"`
	Most   int64   `json:"most"`
	People float64 `json:"people"`
	Error  float64 `json:"error"`
}

// Read reads the answer to [Question].
func Read(a *api.Answer) (*Profile, error) {
	p := &Profile{Confidence: a.Confidence}
	var last []noisyCount
	for i, row := range a.Rows {
		if len(row) != 2 || len(a.Errors) != len(a.Rows) || len(a.Errors[i]) != 2 || a.Errors[i][1] == nil {
			return nil, fmt.Errorf("the answer is not a profile")
		}
		at, err := strconv.Atoi(fmt.Sprint(row[0]))
		if err != nil || at < 0 || at > len(edges) {
			return nil, fmt.Errorf("the answer is not a profile")
		}
		people, err := strconv.ParseFloat(fmt.Sprint(row[1]), 64)
		if err != nil {
			return nil, fmt.Errorf("the answer is not a profile")
		}
		switch at {
		case 0: // nobody has no row
		case len(edges): // nobody is taken to have so many
			last = append(last, noisyCount{people, widened(*a.Errors[i][1])})
		default:
			p.Cells = append(p.Cells, Cell{edges[at-1], edges[at] - 1, people, widened(*a.Errors[i][1])})
		}
	}
	p.drop(last)
	return p, nil
}

// drop leaves out the cells from twice as many rows on as the last cell that can be told from an
// empty one: the noise of all of them, times their many rows, would be all that is seen. What is
// said then is said of people with at most [Profile.Most] rows.
func (p *Profile) drop(last []noisyCount) {
	people, error := make([]float64, len(p.Cells)), 0.0
	for i, c := range p.Cells {
		people[i], error = c.People, max(error, c.Error)
	}
	keep := told(people, error/2, saidBy[:])
	if keep > 0 {
		keep = min(len(p.Cells), keep+2)
	}
	for _, c := range p.Cells[keep:] {
		last = append(last, noisyCount{c.People, c.Error})
	}
	p.Beyond, p.Cells = beyond(last), p.Cells[:keep]
}

// Range is a number that is known roughly.
type Range struct {
	Low   float64 `json:"low"`
	About float64 `json:"about"`
	High  float64 `json:"high"`
}

// Rows is how many rows there are, of people who have at most [Profile.Most].
func (p *Profile) Rows() Range {
	return p.sum(func(c Cell) (low, high float64) { return float64(c.Least), float64(c.Most) })
}

// Cut is how many rows are left out where at most so many of each person count.
func (p *Profile) Cut(most int64) Range {
	return p.sum(func(c Cell) (low, high float64) { return float64(max(0, c.Least-most)), float64(max(0, c.Most-most)) })
}

// Share is which part of the rows counts then. In cells that reach above the limit, it is not known
// how many rows of each person that is.
func (p *Profile) Share(most int64) Range {
	all, about := p.Rows().About, 1.0
	if all <= 0 {
		return Range{0, 1, 1}
	}
	if about -= p.Cut(most).About / all; about < 0 {
		about = 0
	}
	var low, high, noise float64
	for _, c := range p.Cells {
		middle := float64(c.Least+c.Most) / 2
		low += c.People * middle * float64(min(c.Most, most)) / float64(c.Most)
		high += c.People * middle * float64(min(c.Least, most)) / float64(c.Least)
		// One person more in the cell moves the rows that count, and all.
		d := c.Error * (min(middle, float64(most)) - about*middle)
		noise += d * d
	}
	noise = math.Sqrt(noise)
	part := func(rows float64) float64 { return min(1, max(0, rows/all)) }
	return Range{part(low - noise), min(1, about), part(high + noise)}
}

// sum adds up what the people of each cell have. The errors of cells are independent, so that their
// squares add up; what is not known of a cell is the same for all of its people.
func (p *Profile) sum(has func(Cell) (low, high float64)) Range {
	var out Range
	var below, above float64
	for _, c := range p.Cells {
		low, high := has(c)
		out.Low += c.People * low
		out.About += c.People * (low + high) / 2
		out.High += c.People * high
		below += c.Error * c.Error * low * low
		above += c.Error * c.Error * high * high
	}
	return Range{max(0, out.Low-math.Sqrt(below)), max(0, out.About), max(0, out.High+math.Sqrt(above))}
}

// Most is how many rows people have at most. Somebody may have more: so few people that they cannot
// be told from nobody.
func (p *Profile) Most() int64 {
	if len(p.Cells) == 0 {
		return 0
	}
	return p.Cells[len(p.Cells)-1].Most
}
