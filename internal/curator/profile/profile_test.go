package profile

import (
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp/noise"
	"github.com/discreet-dp/discreet/internal/detrand"
)

// draw makes up people with up to so many rows, few of them with very many, and what a profile with
// noise of a scale says of them.
func draw(t *testing.T, seed uint64, most, scale int64) (rows []int64, p *Profile) {
	t.Helper()
	laplace, err := noise.NewLaplace(big.NewRat(scale, 1))
	if err != nil {
		t.Fatal(err)
	}
	d := detrand.New(t.Name(), seed)
	source := detrand.Noise(t.Name(), seed)
	counts := make([]int64, len(edges)+1)
	for range 3000 {
		n := int64(1 + d.Below(9))
		for n <= most/2 && d.One(2) {
			n *= 2
		}
		at := 0
		for at < len(edges) && n >= edges[at] {
			at++
		}
		rows, counts[at] = append(rows, n), counts[at]+1
	}
	a := &api.Answer{Confidence: 0.95}
	half := 3 * float64(scale)
	for at, n := range counts {
		a.Rows = append(a.Rows, []any{json.Number(fmt.Sprint(at)), json.Number(fmt.Sprint(n + laplace.Draw(source)))})
		a.Errors = append(a.Errors, []*float64{nil, &half})
	}
	if p, err = Read(a); err != nil {
		t.Fatal(err)
	}
	return rows, p
}

// What a profile says holds in at least 93 of 100 draws: how many rows there are, how many a limit
// leaves out, and which share counts. Of people with more rows than it knows of it says nothing.
func TestRanges(t *testing.T) {
	const draws = 200
	for _, most := range []int64{72, 100_000} {
		held := map[string]int{}
		for seed := range uint64(draws) {
			rows, p := draw(t, seed, most, 10)
			holds := func(name string, r Range, truth float64) {
				if r.Low <= truth && truth <= r.High {
					held[name]++
				}
				if r.Low > r.About || r.About > r.High {
					t.Errorf("%s is %v", name, r)
				}
			}
			if most == 72 && p.Most() < 72 {
				t.Errorf("people with 72 rows are not known of: %v", p.Cells)
			}
			known := slices.DeleteFunc(rows, func(n int64) bool { return n > p.Most() })
			var all float64
			for _, n := range known {
				all += float64(n)
			}
			holds("rows", p.Rows(), all)
			for _, most := range []int64{1, 10, 60} {
				var kept float64
				for _, n := range known {
					kept += float64(min(n, most))
				}
				holds(fmt.Sprint("cut by ", most), p.Cut(most), all-kept)
				holds(fmt.Sprint("share of ", most), p.Share(most), kept/all)
			}
		}
		for name, n := range held {
			if n < draws*93/100 {
				t.Errorf("people with up to %d rows: %s held in %d of %d draws", most, name, n, draws)
			}
		}
		if len(held) != 7 {
			t.Errorf("looked at %v", held)
		}
	}
}

// Cells of noise alone say nothing, and no rows come of them.
func TestNobody(t *testing.T) {
	half := 30.0
	a := &api.Answer{}
	for at := range len(edges) + 1 {
		a.Rows = append(a.Rows, []any{json.Number(fmt.Sprint(at)), json.Number(fmt.Sprint(at%2*20 - 10))})
		a.Errors = append(a.Errors, []*float64{nil, &half})
	}
	p, err := Read(a)
	if err != nil || len(p.Cells) != 0 || p.Most() != 0 || p.Share(3) != (Range{0, 1, 1}) {
		t.Errorf("%v, %v", p, err)
	}
}

// One cell far from all people needs more to be told from an empty one than a cell beside them.
func TestFar(t *testing.T) {
	half := 6.0
	for _, test := range []struct {
		at     int
		people string
		told   bool
	}{{8, "14", true}, {30, "14", false}, {30, "20", true}} {
		a := &api.Answer{}
		for at := range len(edges) {
			n := "1"
			if at < 5 {
				n = "90"
			} else if at == test.at {
				n = test.people
			}
			a.Rows = append(a.Rows, []any{json.Number(fmt.Sprint(at)), json.Number(n)})
			a.Errors = append(a.Errors, []*float64{nil, &half})
		}
		p, err := Read(a)
		if err != nil {
			t.Fatal(err)
		}
		if told := p.Most() >= edges[test.at]; told != test.told {
			t.Errorf("%s people in cell %d: known up to %d rows", test.people, test.at, p.Most())
		}
	}
}

// An answer to something else is no profile.
func TestRead(t *testing.T) {
	half := 1.0
	for name, a := range map[string]*api.Answer{
		"a key that is no cell": {Rows: [][]any{{"F", json.Number("3")}}, Errors: [][]*float64{{nil, &half}}},
		"a cell too far":        {Rows: [][]any{{json.Number("99"), json.Number("3")}}, Errors: [][]*float64{{nil, &half}}},
		"no error":              {Rows: [][]any{{json.Number("1"), json.Number("3")}}, Errors: [][]*float64{{nil, nil}}},
		"no errors":             {Rows: [][]any{{json.Number("1"), json.Number("3")}}},
		"one column":            {Rows: [][]any{{json.Number("1")}}, Errors: [][]*float64{{nil}}},
	} {
		if _, err := Read(a); err == nil {
			t.Errorf("%s was read", name)
		}
	}
}
