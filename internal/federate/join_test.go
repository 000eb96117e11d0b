package federate

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/api"
)

// countsAnswer is an answer with a row for each sex, whose counts are these.
func countsAnswer(server string, counts map[string]int64, order ...string) Given {
	makeup := &api.Makeup{Source: "of " + server, Columns: []api.MakeupOfColumn{{Name: "sex", Kind: "text", Of: api.OfKey, Decimals: -1},
		{Name: "count", Kind: "integer", Of: api.OfCount, Step: "1"}}}
	a := &api.Answer{Columns: api.Columns{{Name: "sex"}, {Name: "count"}}, Receipt: api.Receipt{Hash: server}}
	for _, sex := range order {
		makeup.Columns[0].Values = append(makeup.Columns[0].Values, sex)
		a.Rows = append(a.Rows, []any{sex, json.Number(fmt.Sprint(counts[sex]))})
		a.Parts = append(a.Parts, []api.Part{{}, {Sum: &api.NoisyNumber{Value: counts[sex], Step: "1",
			Noise: []api.Noises{{Mechanism: "laplace", Parameter: "10", Count: 1}}}}})
	}
	return Given{Offer{server, makeup}, a}
}

func TestJoinByKeys(t *testing.T) {
	north := countsAnswer("north", map[string]int64{"F": 10, "M": 20, "X": -3}, "F", "M", "X")
	south := countsAnswer("south", map[string]int64{"F": 1, "M": 2, "D": 5}, "M", "D", "F")
	j, err := Join(t.Context(), []Given{north, south}, Settings{Confidence: 0.95, Nonnegative: true})
	must(t, err)
	if got := fmt.Sprint(j.Rows, j.Servers); got != "[[F 11] [M 22] [X 0] [D 5]] [2 2 1 1]" {
		t.Errorf("the rows are %s", got)
	}
	// Of two noises the error is larger than of one, and smaller than of two that always agree.
	if two, one := *j.Errors[0][1], *j.Errors[2][1]; one != 30 || two <= one || two >= 2*one || j.Errors[0][0] != nil {
		t.Errorf("the errors are %v and %v", two, one)
	}
	if notes := strings.Join(j.Notes, "\n"); !strings.Contains(notes, "counts twice") || !strings.Contains(notes, `north does not list "D"`) ||
		!strings.Contains(notes, `south does not list "X"`) {
		t.Errorf("the notes are %s", notes)
	}
}

func TestCheckRefuses(t *testing.T) {
	fresh := func() []Offer {
		return []Offer{countsAnswer("north", nil, "F").Offer, countsAnswer("south", nil, "F").Offer}
	}
	must(t, Check(fresh()))
	for want, change := range map[string]func(o []Offer){
		"have the same data":     func(o []Offer) { o[1].Makeup.Source = o[0].Makeup.Source },
		"HAVING":                 func(o []Offer) { o[1].Makeup.Apart = "HAVING" },
		"cannot say":             func(o []Offer) { o[0].Makeup = nil },
		"key sex is text at":     func(o []Offer) { o[1].Makeup.Columns[0].Kind = "integer" },
		"column 2 is count":      func(o []Offer) { o[1].Makeup.Columns[1].Name = "n" },
		"a count, at north and ": func(o []Offer) { o[1].Makeup.Columns[1].Of = api.OfSum },
		"north sent something":   func(o []Offer) { o[0].Makeup.Columns = nil },
		"south sent something":   func(o []Offer) { o[1].Makeup.Columns = o[1].Makeup.Columns[:1] },
		"another version":        func(o []Offer) { o[1].Makeup.Columns[1].Of = "median" },
	} {
		offers := fresh()
		change(offers)
		if err := Check(offers); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("it says %v; want %q", err, want)
		}
	}
}

// TestRounded: what rounding moves is in the error bar.
func TestRounded(t *testing.T) {
	north, south := countsAnswer("north", map[string]int64{"F": 1}, "F"), countsAnswer("south", map[string]int64{"F": 2}, "F")
	south.Answer.Parts[0][1].Sum.Step = "1/8"
	j, err := Join(t.Context(), []Given{north, south}, Settings{Confidence: 0.95})
	must(t, err)
	exact := newTotal()
	for _, g := range []Given{north, south} {
		must(t, exact.add(*g.Answer.Parts[0][1].Sum, oneRat()))
	}
	half, err := halfWidths{}.of(exact, 0.05)
	if want := roundUp(half) + 0.25; err != nil || fmt.Sprint(j.Rows[0][1]) != "1" || math.Abs(*j.Errors[0][1]-want) > 1e-9 {
		t.Errorf("%v ±%v, not ±%v: %v", j.Rows[0][1], *j.Errors[0][1], want, err)
	}
}

// TestHostile: whatever a server says is an answer or an error, and neither a panic nor a wait.
func TestHostile(t *testing.T) {
	for name, change := range map[string]func(g *Given){
		"no parts":       func(g *Given) { g.Answer.Parts = nil },
		"a row more":     func(g *Given) { g.Answer.Rows = append(g.Answer.Rows, g.Answer.Rows[0]) },
		"a row twice":    func(g *Given) { g.Answer.Rows[1] = g.Answer.Rows[0] },
		"a short row":    func(g *Given) { g.Answer.Rows[0] = g.Answer.Rows[0][:1] },
		"no number":      func(g *Given) { g.Answer.Parts[0][1].Sum = nil },
		"another column": func(g *Given) { g.Answer.Columns[1].Name = "sum" },
		"a giant step":   func(g *Given) { g.Answer.Parts[0][1].Sum.Step = "1e999999999" },
		"no step":        func(g *Given) { g.Answer.Parts[0][1].Sum.Step = "0" },
		"by zero":        func(g *Given) { g.Answer.Parts[0][1].Sum.Step = "1/0" },
		"minus":          func(g *Given) { g.Answer.Parts[0][1].Sum.Step = "-1" },
		"off below 0":    func(g *Given) { g.Answer.Parts[0][1].Sum.Off = -5 },
		"no such noise":  func(g *Given) { g.Answer.Parts[0][1].Sum.Noise[0].Mechanism = "none" },
		"giant noise":    func(g *Given) { g.Answer.Parts[0][1].Sum.Noise[0].Parameter = "9999999999999999999" },
		"noise below 0":  func(g *Given) { g.Answer.Parts[0][1].Sum.Noise[0].Parameter = "-10" },
		"many noises":    func(g *Given) { g.Answer.Parts[0][1].Sum.Noise[0].Count = 1 << 30 },
		"none":           func(g *Given) { g.Answer.Parts[0][1].Sum.Noise[0].Count = 0 },
		"the same":       func(g *Given) { g.Answer.Receipt.Hash = "north" },
	} {
		south := countsAnswer("south", nil, "F", "M")
		change(&south)
		if _, err := Join(t.Context(), []Given{countsAnswer("north", nil, "F", "M"), south}, Settings{Confidence: 0.95}); err == nil {
			t.Errorf("%s: it is taken", name)
		}
	}
	if _, err := readFraction(strings.Repeat("9", 1000)); !errors.Is(err, errFraction) {
		t.Error("a long number is taken")
	}
	giant := "1" + strings.Repeat("0", 390)
	wide := api.Part{Sum: &api.NoisyNumber{Step: "1"}, Count: &api.NoisyNumber{Step: "1"}, Center: "0", Low: "0", High: giant}
	if _, _, err := average([]api.Part{wide, wide}, 0.05, halfWidths{}); err == nil {
		t.Error("an average is beyond all real numbers")
	}
	text := rapid.OneOf(rapid.StringMatching(`-?[0-9]{0,30}(/[0-9]{0,30})?`), rapid.String(),
		rapid.StringMatching(`-?[1-9]0{0,390}`), rapid.StringMatching(`-?1/10{0,390}`))
	number := rapid.Custom(func(t *rapid.T) api.NoisyNumber {
		return api.NoisyNumber{Value: rapid.Int64().Draw(t, "value"), Step: text.Draw(t, "step"), Off: rapid.Int64().Draw(t, "off"),
			Noise: []api.Noises{{Mechanism: rapid.SampledFrom([]string{"laplace", "gaussian"}).Draw(t, "mechanism"),
				Parameter: text.Draw(t, "parameter"), Count: rapid.IntRange(-1, 40).Draw(t, "count")}}}
	})
	rapid.Check(t, func(t *rapid.T) {
		count, below := number.Draw(t, "count"), number.Draw(t, "below")
		sum := number.Draw(t, "sum")
		p := api.Part{Sum: &sum, Center: text.Draw(t, "center"), Low: text.Draw(t, "low"), High: text.Draw(t, "high")}
		if rapid.Bool().Draw(t, "twin") {
			p.Below = &below
		} else {
			p.Count = &count
		}
		for _, parts := range [][]api.Part{{p}, {p, p}} {
			if _, half, err := average(parts, 0.05, halfWidths{}); err == nil && (half == nil || !(*half >= 0) || math.IsInf(*half, 0)) {
				t.Fatalf("of %d the half width is %v", len(parts), half)
			}
		}
		x := newTotal()
		if x.add(sum, oneRat()) == nil {
			if half, err := (halfWidths{}).of(x, 0.05); err == nil && half != nil && math.IsInf(roundUp(half), 0) {
				t.Fatalf("the half width is %v", half)
			}
		}
	})
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
