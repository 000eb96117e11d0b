package learn

import (
	"context"
	"fmt"
	"math"
	"math/big"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/mech"
	"github.com/discreet-dp/discreet/internal/detrand"
)

// encoding is one with two numbers and a category, and a target with some classes; 0 for a
// number.
func encoding(classes int) *Encoding {
	e := &Encoding{
		Features: []Column{
			{Name: "age", Lo: 0, Hi: 100, Step: big.NewRat(1, 1)},
			{Name: "colour", Values: []string{"red", "green", "blue"}},
			{Name: "score", Lo: -1000, Hi: 3000, Step: big.NewRat(1, 100)},
		},
		Target: Column{Name: "paid", Lo: 0, Hi: 200, Step: big.NewRat(1, 2)},
	}
	if classes > 0 {
		e.Target = Column{Name: "group"}
		for k := range classes {
			e.Target.Values = append(e.Target.Values, fmt.Sprint("class ", k))
		}
	}
	return e
}

// randomRow is a row with a known rule: the target follows age, score and colour, and some of the
// time chance.
func randomRow(d detrand.Choices, e *Encoding) []int64 {
	age, colour, score := int64(d.Below(101)), int64(d.Below(3)), int64(d.Below(4001)-1000)
	rule := e.Features[0].Scaled(age) + 0.5*e.Features[2].Scaled(score)
	if colour == 1 {
		rule += 0.5
	}
	var target int64
	switch k := e.Classes(); {
	case k == 0:
		target = int64(math.Round(100 + 50*rule + float64(d.Below(21)-10)))
	case d.One(20):
		target = int64(d.Below(k))
	default:
		target = int64(max(0, min(float64(k)-1, math.Floor((rule+1.6)/3.2*float64(k)))))
	}
	return []int64{age, colour, score, target}
}

func randomTable(p *Plan, n int, seed uint64) *Table {
	t, d := p.NewTable(), detrand.New("rows", seed)
	for range n {
		t.Add(randomRow(d, p.Encoding))
	}
	return t
}

func releaser(seed uint64) *mech.Releaser { return mech.NewReleaser(detrand.Noise("learn", seed)) }

func eps(text string) dp.Amount { return must(dp.Parse(text)) }

var one = Group{MaxRows: 1}

func prepared(e *Encoding, s Spec, g Group) *Plan { return must(Prepare(e, s, g)) }

func fitted(p *Plan, table *Table, seed uint64) *Model {
	return must(Fit(context.Background(), p, table, releaser(seed), nil))
}

// wrong is how much a model gets wrong of new rows: a share, or the root of the mean square of what
// is missed.
func wrong(m *Model, n int, seed uint64) float64 {
	d, total := detrand.New("new rows", seed), 0.0
	for range n {
		codes := randomRow(d, m.Encoding)
		row := map[string]string{}
		for i := range m.Encoding.Features {
			c := &m.Encoding.Features[i]
			if c.Categorical() {
				row[c.Name] = c.Values[codes[i]]
			} else {
				row[c.Name] = fmt.Sprint(float64(codes[i]) * c.Unit())
			}
		}
		p, err := m.Predict(row)
		if err != nil {
			return math.Inf(1)
		}
		switch target := codes[len(codes)-1]; {
		case !m.Encoding.Target.Categorical():
			r := p.Value - math.Max(0, math.Min(200, float64(target)))*m.Encoding.Target.Unit()
			total += r * r
		case p.Class != m.Encoding.Target.Values[target]:
			total++
		}
	}
	if !m.Encoding.Target.Categorical() {
		return math.Sqrt(total / float64(n))
	}
	return total / float64(n)
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
