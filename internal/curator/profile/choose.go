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
	people       [][]float64 // of a cell of rows and one of groups; 0 where nobody can be told from noise
	tail         []float64   // people in the cells of rows after those, as they are expected to go on
	reaches      bool        // people are in the last cell of rows or groups, and may have any number
	deviation    float64     // about the standard deviation of each of people

	edges, groupEdges []int64        // where cells begin
	counts            [][]noisyCount // of cells as far as people can be told apart, and some more
	beyond            float64        // how many people there can be in others
	whole             bool           // what cells are of are whole numbers
}

// noisyCount is how many people are in a cell, and how far that is off.
type noisyCount struct{ people, error float64 }

type interval struct{ least, most float64 }

func (i interval) middle() float64 { return (i.least + i.most) / 2 }

// above is how far numbers that are spread evenly over an interval are above a limit, on the
// average.
func (i interval) above(limit float64) float64 {
	if limit <= i.least || i.most-i.least < 1 {
		return max(0, i.middle()-limit)
	}
	above := max(0, i.most-limit)
	return above * (above + 1) / (2 * (i.most - i.least + 1))
}

// ReadSpread reads the answer to a question about people's rows.
func ReadSpread(of *planner.Spread, a *api.Answer) (*Spread, error) {
	s := &Spread{rows: intervals(of.Rows, math.Inf(1)), counted: intervals(of.Rows, float64(of.Most)), groups: []interval{{1, 1}}}
	keys := 1
	if of.Groups {
		s.groups, keys = intervals(of.Persons, math.Inf(1)), 2
	}
	s.edges, s.groupEdges, s.whole = of.Rows, []int64{1, 2}, of.Unit == nil
	if of.Groups {
		s.groupEdges = of.Persons
	}
	s.people, s.counts = make([][]float64, len(s.rows)), make([][]noisyCount, len(s.rows))
	for i := range s.people {
		s.people[i], s.counts[i] = make([]float64, len(s.groups)), make([]noisyCount, len(s.groups))
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
		error := widened(*a.Errors[i][keys])
		s.counts[cell-1][group-1] = noisyCount{people, error}
		s.deviation = error / 2
	}
	s.drop(of.InGroups)
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
// ones: their noise, times their many rows, would be all that is seen. What is cut is told by more
// cells than limits are chosen by: noise that is taken for people makes an interval wider there,
// and here all noise larger.
func (s *Spread) drop(inGroups int64) {
	rows, groups := s.told(inGroups, saidBy[:])
	s.keepCounts(further(rows, len(s.edges)-1), further(groups, len(s.groupEdges)-1))
	s.reaches = rows == len(s.rows) || groups == len(s.groups) && len(s.groups) > 1
	rows, groups = s.told(inGroups, chosenBy[:])
	s.expectTail(rows, groups)
	for i, row := range s.people {
		if clear(row[groups:]); i >= rows {
			clear(row)
		}
	}
}

// expectTail says how many people there are likely to be in the cells of rows that cannot be told
// from empty ones: as many fewer in each as in those before, as far as what is seen there allows.
// Where numbers of rows have a long tail, noise hides most of it, and a limit without it is too
// low; where nobody has more rows, what is seen is so much less than what would follow that a limit
// hardly moves.
func (s *Spread) expectTail(rows, groups int) {
	s.tail = make([]float64, len(s.rows))
	if rows < tailFrom {
		return
	}
	seen := make([]float64, len(s.rows))
	for i, row := range s.people {
		for _, n := range row[:groups] {
			seen[i] += n
		}
	}
	deviation := s.deviation * math.Sqrt(float64(groups))
	expected, falls := seen[rows-tailFrom], 1.0
	for i := rows - tailFrom + 1; i < len(s.rows); i++ {
		before := expected
		if expected *= falls; expected < leastExpected {
			return
		}
		// Of people whose number is exponential with that mean, and is seen with noise.
		expected = positiveMean(seen[i]-deviation*deviation/expected, deviation)
		falls = math.Pow(falls, 1-believed) * math.Pow(min(falls, expected/before), believed)
		if i >= rows {
			s.tail[i] = expected
		}
	}
}

const (
	tailFrom      = 4    // from how many cells a tail goes on
	leastExpected = 0.01 // fewer people change no limit
	// believed is how far a tail falls as it is seen to fall, and not as it fell before. It was
	// found by TestChoose: with less of it limits are too high where nobody has more rows, and with
	// more too low where some have many.
	believed = 0.4
)

// positiveMean is the mean of a normal distribution without what is below 0.
func positiveMean(mean, deviation float64) float64 {
	z := mean / deviation
	if z < -20 { // where the ratio below is 0 over 0
		return -deviation / z
	}
	return mean + deviation*math.Exp(-z*z/2)/math.Sqrt(2*math.Pi)/(math.Erfc(-z/math.Sqrt2)/2)
}

// told is how many cells of rows and of groups there are up to the last that can be told from empty
// ones. Groups come first: people are in few cells of them, and rows are told from those alone.
func (s *Spread) told(inGroups int64, deviations []float64) (rows, groups int) {
	groups = 1
	if len(s.groups) > 1 {
		byGroups := make([]float64, len(s.groups))
		for _, row := range s.people {
			for j, n := range row {
				byGroups[j] += n
			}
		}
		for inGroups > 0 && s.groupEdges[len(byGroups)-1] > inGroups {
			byGroups = byGroups[:len(byGroups)-1]
		}
		groups = told(byGroups, s.deviation*math.Sqrt(float64(len(s.rows))), deviations)
	}
	byRows := make([]float64, len(s.rows))
	for i, row := range s.people {
		for _, n := range row[:groups] {
			byRows[i] += n
		}
	}
	return told(byRows, s.deviation*math.Sqrt(float64(max(1, groups))), deviations), groups
}

// keepCounts keeps the first cells of rows and of groups.
func (s *Spread) keepCounts(rows, groups int) {
	var others []noisyCount
	for i, cells := range s.counts {
		if i >= rows {
			others = append(others, cells...)
			continue
		}
		others = append(others, cells[groups:]...)
		s.counts[i] = cells[:groups]
	}
	s.counts, s.beyond = s.counts[:rows], beyond(others)
}

// Beyond is how many people there can be of whom [Spread.Cut] does not hold.
func (s *Spread) Beyond() float64 { return s.beyond }

// further is how many cells what is cut is told by: some more than those that can be told from
// empty ones, and not the last, which has no end.
func further(keep, most int) int {
	if keep == 0 {
		return 0
	}
	return min(keep+2, most)
}

// Cut is what limits leave out: of everything, where there are no groups, and otherwise at most of
// any one of them, of which most people's may be the fullest. It holds where nobody has more than
// so many known rows in a group, and nobody is in more groups. Ok is false where nothing is known,
// or where somebody does have more than any cell tells.
func (s *Spread) Cut(rows, groups float64, apart bool) (cut Range, known, in float64, ok bool) {
	if len(s.counts) == 0 || len(s.counts[0]) == 0 || s.reaches {
		return Range{}, 0, 0, false
	}
	var below, above float64
	for i, cells := range s.counts {
		least, most := s.ends(i)
		for j, c := range cells {
			low, high := max(0, least-rows), max(0, most-rows)
			if float64(s.groupEdges[j+1]-1) > groups { // this group may be left out as a whole
				low, high = 0, most
			}
			if apart {
				low = 0
			}
			cut.Low, cut.About, cut.High = cut.Low+c.people*low, cut.About+c.people*(low+high)/2, cut.High+c.people*high
			below, above = below+c.error*c.error*low*low, above+c.error*c.error*high*high
		}
	}
	_, known = s.ends(len(s.counts) - 1)
	in = float64(s.groupEdges[len(s.counts[0])] - 1)
	return Range{max(0, cut.Low-math.Sqrt(below)), max(0, cut.About), max(0, cut.High+math.Sqrt(above))}, known, in, true
}

// ends are between which a person in a cell has rows, or a sum.
func (s *Spread) ends(cell int) (least, most float64) {
	least, most = float64(s.edges[cell]), float64(s.edges[cell+1])
	if s.whole {
		most--
	}
	return least, most
}

// told is how many cells there are up to the last one that can be told from an empty one, by itself
// or with some behind it: people can be spread thinly over several. Beside those that were told
// less is asked for than far from them, where nobody is expected.
func told(people []float64, deviation float64, deviations []float64) int {
	last := 0
	for i := 0; i < len(people); i++ {
		sum := 0.0
		for n, most := range deviations[:min(len(people)-i, len(deviations))] {
			if n < beside {
				most = min(most, leastDeviations+float64(i-last))
			}
			if sum += people[i+n]; sum > most*deviation*math.Sqrt(float64(n+1)) {
				last = max(last, i+n+1)
				break
			}
		}
	}
	return last
}

// leastDeviations tell a cell beside others from an empty one. Those far from all, one by itself or
// several together, are told for what is said by so many that of 38 empty cells some are taken for
// people once in 50 times with Laplace noise, and once in 170 with Gaussian; and for limits, which
// one such cell can make a hundred times too large, by more: once in 6,000.
const (
	leastDeviations = 1.85
	beside          = 4 // how many cells together count as one beside others
)

var (
	saidBy   = [...]float64{5, 4.4, 4.1, 3.95, 3.85, 3.8, 3.75, 3.7}
	chosenBy = [...]float64{8, 7, 7, 7}
)

// beyond is how many people there can be in cells that were not told from empty ones.
func beyond(cells []noisyCount) float64 {
	people, squares := 0.0, 0.0
	for _, c := range cells {
		people, squares = people+c.people, squares+c.error*c.error
	}
	return max(0, people+math.Sqrt(squares))
}

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
	// can be told from the noise at all; and Above says that some may have any number of rows: then
	// Most is more than counts.
	Least, Most float64
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
			for i, people := range s.tail {
				cut += people * s.counted[i].above(n)
			}
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
	best.Above = s.reaches
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
			lost := r.above(rows) // of the fullest
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
