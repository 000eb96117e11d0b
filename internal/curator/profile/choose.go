package profile

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/planner"
)

// Spread is the noisy answer to a [planner.Spread]: people by how many rows each has, and, where a
// question has groups, by how many groups.
type Spread struct {
	rows, groups []interval
	counted      []interval  // rows, but for the largest limit: what is above is cut by all
	people       [][]float64 // of a cell of rows and one of groups
	known        float64     // how many rows anybody has who can be told from nobody
	reaches      bool        // people are in the last cell of rows or groups, and may have any number
	deviation    float64     // about the standard deviation of each of people
}

type interval struct{ least, most float64 }

func (i interval) middle() float64 { return (i.least + i.most) / 2 }

// ReadSpread reads the answer to a question about people's rows.
func ReadSpread(of *planner.Spread, a *api.Answer) (*Spread, error) {
	s := &Spread{rows: intervals(of.Rows, math.Inf(1)), counted: intervals(of.Rows, float64(of.Most)), groups: []interval{{1, 1}}}
	keys := 1
	if of.Groups {
		s.groups, keys = intervals(of.Persons, math.Inf(1)), 2
	}
	s.people = make([][]float64, len(s.rows))
	for i := range s.people {
		s.people[i] = make([]float64, len(s.groups))
	}
	for i, row := range a.Rows {
		if len(row) != keys+1 || len(a.Errors) != len(a.Rows) || a.Errors[i][keys] == nil {
			return nil, fmt.Errorf("the answer does not say how many rows people have")
		}
		at := [2]int{1, 0} // the cell of groups, and that of rows
		for k, v := range row[:keys] {
			n, err := strconv.Atoi(fmt.Sprint(v))
			if err != nil { // NULL
				n = 0
			}
			at[2-keys+k] = n
		}
		group, cell := at[0], at[1]
		if group < 1 || cell < 1 || group > len(s.groups) || cell > len(s.rows) {
			continue // nobody is there, or nothing of theirs counts
		}
		people, err := strconv.ParseFloat(fmt.Sprint(row[keys]), 64)
		if err != nil {
			return nil, fmt.Errorf("the answer does not say how many people there are")
		}
		s.people[cell-1][group-1] = people
		s.deviation = *a.Errors[i][keys] / 2
	}
	s.drop()
	return s, nil
}

// intervals are the cells that begin at some numbers. What is above the largest limit is cut by all
// limits, and counts as that one, so that noise is not multiplied with numbers that do not matter.
func intervals(edges []int64, limit float64) []interval {
	out := make([]interval, len(edges))
	for i, n := range edges {
		most := n
		if i+1 < len(edges) {
			most = edges[i+1] - 1
		}
		out[i] = interval{min(float64(n), limit), min(float64(most), limit)}
	}
	return out
}

// drop forgets the cells of many rows, and those of many groups, that cannot be told from empty
// ones: their noise, times their many rows, would be all that is seen.
func (s *Spread) drop() {
	byRows := make([]float64, len(s.rows))
	for i := range s.rows {
		for _, n := range s.people[i] {
			byRows[i] += n
		}
	}
	keep := told(byRows, s.deviation*math.Sqrt(float64(len(s.groups))))
	s.reaches = keep == len(s.rows)
	if keep > 0 {
		s.known = s.rows[keep-1].most
	}
	for i := keep; i < len(s.rows); i++ {
		clear(s.people[i])
	}
	if len(s.groups) == 1 {
		return
	}
	byGroups := make([]float64, len(s.groups))
	for _, row := range s.people {
		for j, n := range row {
			byGroups[j] += n
		}
	}
	keep = told(byGroups, s.deviation*math.Sqrt(float64(max(1, keep))))
	s.reaches = s.reaches || keep == len(s.groups)
	for _, row := range s.people {
		clear(row[keep:])
	}
}

// told is how many cells there are up to the last one that can be told from an empty one, by itself
// or with some behind it: people can be spread thinly over several. Beside those that were told
// less is asked for than far from them, where nobody is expected.
func told(people []float64, deviation float64) int {
	last := 0
	for i := 0; i < len(people); i++ {
		far := min(mostDeviations, leastDeviations+float64(i-last))
		sum := 0.0
		for j := i; j < min(len(people), i+cellsTried); j++ {
			if sum += people[j]; sum > far*deviation*math.Sqrt(float64(j-i+1)) {
				last = max(last, j+1)
				break
			}
		}
	}
	return last
}

// How many deviations tell cells from empty ones, and how many cells together.
const (
	leastDeviations, mostDeviations = 1.85, 5.0
	cellsTried                      = 4
)

// Noise is how large the noise of one group of an answer is: Deviation where one row of one person
// counts, in one group, and in proportion to the rows. With the groups it grows in proportion too,
// or, where it is Gaussian, with their root.
type Noise struct {
	Deviation float64
	Gaussian  bool
}

func (n Noise) at(rows, groups float64) float64 {
	if n.Gaussian {
		groups = math.Sqrt(groups)
	}
	return n.Deviation * rows * groups
}

// Choice is a limit on rows and one on groups.
type Choice struct {
	Rows, Groups float64
	// Least and Most are about which part of what is asked for counts. Told says whether anybody
	// can be told from the noise at all; Known is how many rows they have at most, in the
	// spread's units; and Above says that some may have any number: then Most is more than counts.
	Least, Most float64
	Known       float64
	Told, Above bool
	Error       float64 // about how far a group's number is off
}

// Choose finds the limits with the least error: of noise, and of what they cut of each of so many
// groups, as if it were the same in each.
func (s *Spread) Choose(noise Noise, rows, groups []float64, of float64) Choice {
	best, least := Choice{}, math.Inf(1)
	for _, m := range groups {
		for _, n := range rows {
			cut, _ := s.cut(s.counted, n, m, evenly)
			if e := math.Hypot(noise.at(n, m), max(0, cut)/of); e < least {
				least, best = e, Choice{Rows: n, Groups: m, Error: e}
			}
		}
	}
	for _, spread := range []howSpread{alike, evenly, single} {
		cut, all := s.cut(s.rows, best.Rows, best.Groups, spread)
		part := 1 - min(1, max(0, cut)/max(1, all))
		if best.Told = all > 0; spread == alike {
			best.Least, best.Most = part, part
		}
		best.Least, best.Most = min(best.Least, part), max(best.Most, part)
	}
	best.Above, best.Known = s.reaches, s.known
	return best
}

// howSpread is what the groups of a person have who has a number of rows in the fullest: all as
// many, from 1 to that evenly, or 1 each.
type howSpread int

const (
	alike howSpread = iota
	evenly
	single
)

// cut is about how many rows limits leave out, and how many there are. Of what cells do not say it
// takes the middle.
func (s *Spread) cut(cells []interval, rows, groups float64, spread howSpread) (out, all float64) {
	for i, r := range cells {
		for j, g := range s.groups {
			fullest, in := r.middle(), g.middle()
			lost := max(0, fullest-rows) // of the fullest
			has := fullest
			switch others := in - 1; spread {
			case alike:
				has, lost = has+others*fullest, lost+others*lost
			case evenly:
				has, lost = has+others*(fullest+1)/2, lost+others*lost*lost/(2*fullest)
			case single:
				has += others
			}
			kept := (has - lost) * min(1, groups/in)
			all += s.people[i][j] * has
			out += s.people[i][j] * (has - kept)
		}
	}
	return out, all
}

// Limits are the limits to choose from, up to the largest: all small ones, and then 8 for each ten
// times as much.
func Limits(most int64) []float64 {
	out := []float64{}
	for ten := int64(1); ten <= most; ten *= 10 {
		for _, n := range []int64{10, 12, 15, 20, 25, 30, 40, 50, 60, 80} {
			out = append(out, float64(n*ten)/10)
		}
	}
	for n := range min(20, most) {
		out = append(out, float64(n+1))
	}
	out = append(out, float64(most))
	slices.Sort(out)
	out = slices.DeleteFunc(out, func(n float64) bool { return n != math.Trunc(n) || n > float64(most) })
	return slices.Compact(out)
}
