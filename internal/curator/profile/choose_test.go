package profile

import (
	"encoding/csv"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"math/big"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp/noise"
	"github.com/discreet-dp/discreet/internal/detrand"
	"github.com/discreet-dp/discreet/internal/planner"
	"github.com/discreet-dp/discreet/internal/render"
)

var (
	rowsFile = flag.String("rows", "", "CSV files to choose limits for too, as in flights.csv:tailnum:month: people, and groups if any")
	draws    = flag.Int("draws", 8, "how often limits are chosen for each table")
)

// world is how many rows people have in each of some groups.
type world struct {
	name   string
	people []map[int]int64
	groups int
	cuts   map[Choice][]float64 // of each group, under limits that were looked at
}

// spread has the cells of a question about people's rows.
func (w world) spread(most int64) *planner.Spread {
	s := &planner.Spread{Rows: planner.ProfileEdges(), Most: most}
	if w.groups > 1 {
		s.Groups, s.Persons = true, planner.Edges(int64(w.groups), 1)
		s.Rows = planner.Edges(most, 2)
	}
	return s
}

func cell(edges []int64, n int64) int {
	at, found := slices.BinarySearch(edges, n)
	if found {
		return at + 1
	}
	return at
}

// ask is the answer to a question about people's rows, at a price.
func (w world) ask(t *testing.T, s *planner.Spread, epsilon *big.Rat, source *noise.Source) *api.Answer {
	t.Helper()
	laplace, err := noise.NewLaplace(new(big.Rat).Inv(epsilon))
	if err != nil {
		t.Fatal(err)
	}
	counts := make([][]int64, max(1, len(s.Persons)+1))
	for i := range counts {
		counts[i] = make([]int64, len(s.Rows)+1)
	}
	for _, p := range w.people {
		fullest := int64(0)
		for _, n := range p {
			fullest = max(fullest, n)
		}
		counts[cell(s.Persons, int64(len(p)))*min(1, len(s.Persons))][cell(s.Rows, fullest)]++
	}
	a := &api.Answer{Confidence: 0.95}
	e, _ := epsilon.Float64()
	half := math.Log(20) / e
	for g, row := range counts {
		for at, n := range row {
			v := []any{json.Number(fmt.Sprint(at)), json.Number(fmt.Sprint(n + laplace.Draw(source)))}
			if s.Groups {
				v = slices.Insert(v, 0, any(json.Number(fmt.Sprint(g))))
			}
			errors := make([]*float64, len(v))
			errors[len(v)-1] = &half
			a.Rows, a.Errors = append(a.Rows, v), append(a.Errors, errors)
		}
	}
	return a
}

// wrong is the error of the count of each group under limits, over all groups: the root of the mean
// square of noise and of what is cut.
func (w world) wrong(noise Noise, rows, groups float64) float64 {
	limits := Choice{Rows: rows, Groups: groups}
	if w.cuts[limits] == nil {
		w.cuts[limits] = make([]float64, w.groups)
		for _, p := range w.people {
			part := min(1, groups/float64(len(p)))
			for g, n := range p {
				w.cuts[limits][g] += float64(n) - part*min(rows, float64(n))
			}
		}
	}
	sum := 0.0
	for _, c := range w.cuts[limits] {
		sum += c*c + noise.at(rows, groups)*noise.at(rows, groups)
	}
	return math.Sqrt(sum / float64(w.groups))
}

// hindsight is the least error that any limits have.
func (w world) hindsight(noise Noise, most int64) (best Choice, wrong float64) {
	wrong = math.Inf(1)
	for _, m := range Limits(int64(w.groups)) {
		for _, n := range Limits(most) {
			if e := w.wrong(noise, n, m); e < wrong {
				best, wrong = Choice{Rows: n, Groups: m}, e
			}
		}
	}
	return best, wrong
}

func madeUpWorlds(d detrand.Choices) []world {
	repeated := world{name: "each with 1 to 4 rows", groups: 1}
	heavy := world{name: "a heavy tail", groups: 1}
	wide := world{name: "each with 1 to 32 rows", groups: 1}
	visits := world{name: "visits by month", groups: 12}
	claims := world{name: "claims, mostly of one kind", groups: 16}
	for range 6000 {
		repeated.people = append(repeated.people, map[int]int64{0: int64(1 + d.Below(4))})
		wide.people = append(wide.people, map[int]int64{0: int64(1 + d.Below(32))})
		n := int64(1)
		for n < 800 && d.One(2) {
			n = 2*n + int64(d.Below(2))
		}
		heavy.people = append(heavy.people, map[int]int64{0: n})
		months, kinds := map[int]int64{}, map[int]int64{d.Below(16): n}
		for range 1 + d.Below(30) {
			months[d.Below(12)]++
		}
		if d.One(10) {
			kinds[d.Below(16)]++
		}
		visits.people, claims.people = append(visits.people, months), append(claims.people, kinds)
	}
	return []world{repeated, wide, heavy, visits, claims}
}

// readWorld reads people, and groups where they are named, from a CSV file.
func readWorld(t *testing.T, named string) world {
	t.Helper()
	parts := strings.Split(named, ":")
	f, err := os.Open(parts[0])
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	person, group := slices.Index(lines[0], parts[1]), -1
	if len(parts) > 2 {
		group = slices.Index(lines[0], parts[2])
	}
	people, groups := map[string]map[int]int64{}, map[string]int{}
	for _, line := range lines[1:] {
		g := 0
		if group >= 0 {
			if _, ok := groups[line[group]]; !ok {
				groups[line[group]] = len(groups)
			}
			g = groups[line[group]]
		}
		if people[line[person]] == nil {
			people[line[person]] = map[int]int64{}
		}
		people[line[person]][g]++
	}
	out := world{name: named, groups: max(1, len(groups))}
	for _, p := range people {
		out.people = append(out.people, p)
	}
	return out
}

// Limits that are chosen from a count that cost as much as the question have, on the average, not
// much more error than the best limits of all, which nobody can know without looking; and far less
// than 10 rows in 3 groups.
func TestChoose(t *testing.T) {
	worlds := madeUpWorlds(detrand.New(t.Name(), 1))
	if *rowsFile != "" {
		for _, name := range strings.Split(*rowsFile, ",") {
			worlds = append(worlds, readWorld(t, name))
		}
	}
	const most = 1000
	table := &render.Table{Header: []string{"rows", "epsilon", "noise", "best limits", "error", "chosen", "error", "times", "10 and 3"},
		Right: []bool{false, true, false, true, true, true, true, true, true}}
	for _, w := range worlds {
		w.cuts = map[Choice][]float64{}
		for _, epsilon := range []*big.Rat{big.NewRat(1, 10), big.NewRat(1, 1)} {
			for _, gaussian := range []bool{false, true} {
				e, _ := epsilon.Float64()
				noise := Noise{Deviation: math.Sqrt2 / e, Gaussian: gaussian}
				if gaussian {
					noise.Deviation = 1 / math.Sqrt(2*e*math.Tanh(e/2))
				}
				best, least := w.hindsight(noise, most)
				var mean float64
				var last Choice
				for seed := range uint64(*draws) {
					s := w.spread(most)
					people, err := ReadSpread(s, w.ask(t, s, epsilon, detrand.Noise(t.Name()+w.name, seed)))
					if err != nil {
						t.Fatal(err)
					}
					last = people.Choose(noise, Limits(most), Limits(int64(w.groups)), float64(w.groups))
					mean += w.wrong(noise, last.Rows, last.Groups) / float64(*draws)
				}
				fixed := w.wrong(noise, 10, min(3, float64(w.groups)))
				table.Add(w.name, fmt.Sprint(e), map[bool]string{false: "Laplace", true: "Gaussian"}[gaussian],
					fmt.Sprintf("%v, %v", best.Rows, best.Groups), fmt.Sprintf("%.0f", least),
					fmt.Sprintf("%v, %v", last.Rows, last.Groups),
					fmt.Sprintf("%.0f", mean), fmt.Sprintf("%.2f", mean/least), fmt.Sprintf("%.2f", mean/fixed))
				if mean > 2*least {
					t.Errorf("%s at epsilon %v: the error is %.2f times the least", w.name, e, mean/least)
				}
			}
		}
	}
	var out strings.Builder
	table.Write(&out)
	t.Log("\n" + out.String())
}

// Dear counts can have errors of 0, and limits are chosen from them all the same.
func TestChooseWithoutNoise(t *testing.T) {
	s := &planner.Spread{Rows: planner.ProfileEdges(), Most: 1000}
	a := &api.Answer{Confidence: 0.95}
	for i := range s.Rows {
		people := 0
		if i < 4 {
			people = 500
		} else if i == 30 {
			people = 1 // of noise
		}
		a.Rows = append(a.Rows, []any{json.Number(fmt.Sprint(i + 1)), json.Number(fmt.Sprint(people))})
		a.Errors = append(a.Errors, []*float64{nil, new(float64)})
	}
	people, err := ReadSpread(s, a)
	if err != nil {
		t.Fatal(err)
	}
	c := people.Choose(Noise{Deviation: 0.2}, Limits(1000), []float64{1}, 1)
	if c.Rows < 4 || c.Rows > 6 || c.Groups != 1 || !c.Told || math.IsNaN(c.Error) {
		t.Errorf("%+v", c)
	}
	cut, known, _, ok := people.Cut(4, 1, false)
	if !ok || known > 12 || cut.High > 100 {
		t.Errorf("cut %+v, known %v, %v", cut, known, ok)
	}
	p, err := Read(a)
	if err != nil || p.Most() > 12 || p.Share(4).Low < 0.95 {
		t.Errorf("%+v, %v", p, err)
	}
}
