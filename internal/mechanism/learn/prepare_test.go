package learn

import (
	"errors"
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/dp"
)

// TestBadInput has what Prepare refuses, and a word of what it says.
func TestBadInput(t *testing.T) {
	good := func() (*Encoding, Spec, Group) { return encoding(2), Spec{Budget: Budget{Epsilon: dp.One}}, one }
	if _, err := Prepare(good()); err != nil {
		t.Fatal(err)
	}
	nan, inf := math.NaN(), math.Inf(1)
	for name, c := range map[string]struct {
		change func(e *Encoding, s *Spec, g *Group)
		is     error
		says   string
	}{
		"no features": {func(e *Encoding, s *Spec, g *Group) { e.Features = nil }, ErrEncoding, "no features"},
		"constant target": {func(e *Encoding, s *Spec, g *Group) {
			e.Target = Column{Name: "t", Lo: 5, Hi: 5, Step: big.NewRat(1, 1)}
		}, ErrEncoding, "constant"},
		"one class": {func(e *Encoding, s *Spec, g *Group) {
			e.Target.Values = e.Target.Values[:1]
		}, ErrEncoding, "only one class"},
		"no bounds": {func(e *Encoding, s *Spec, g *Group) {
			e.Features[0] = Column{Name: "age"}
		}, ErrEncoding, "declare bounds"},
		"target without":       {func(e *Encoding, s *Spec, g *Group) { e.Target = Column{Name: "t"} }, ErrEncoding, "declare bounds"},
		"constant feature":     {func(e *Encoding, s *Spec, g *Group) { e.Features[0].Hi = 0 }, ErrEncoding, "leave it out"},
		"feature of one value": {func(e *Encoding, s *Spec, g *Group) { e.Features[1].Values = []string{"red"} }, ErrEncoding, "always"},
		"same name":            {func(e *Encoding, s *Spec, g *Group) { e.Features[0].Name = "score" }, ErrEncoding, "AS"},
		"target as feature":    {func(e *Encoding, s *Spec, g *Group) { e.Features[0].Name = "group" }, ErrEncoding, "target"},
		"value twice":          {func(e *Encoding, s *Spec, g *Group) { e.Features[1].Values[1] = "red" }, ErrEncoding, "twice"},
		"no name":              {func(e *Encoding, s *Spec, g *Group) { e.Features[1].Name = " " }, ErrEncoding, "no name"},
		"negative step":        {func(e *Encoding, s *Spec, g *Group) { e.Features[0].Step = big.NewRat(-1, 1) }, ErrEncoding, "bounds"},
		"odd kind":             {func(e *Encoding, s *Spec, g *Group) { e.Features[0].Kind = "time" }, ErrEncoding, "date"},
		"epsilon 0":            {func(e *Encoding, s *Spec, g *Group) { s.Budget = Budget{} }, ErrSpec, "epsilon of 0"},
		"delta alone":          {func(e *Encoding, s *Spec, g *Group) { s.Budget = Budget{Delta: 1 << 20} }, ErrSpec, "epsilon"},
		"delta 1":              {func(e *Encoding, s *Spec, g *Group) { s.Budget.Delta = dp.One }, ErrSpec, "delta"},
		"rho and epsilon":      {func(e *Encoding, s *Spec, g *Group) { s.Budget.Rho = dp.One }, ErrSpec, "not both"},
		"unbounded":            {func(e *Encoding, s *Spec, g *Group) { s.Budget.Epsilon = dp.Unbounded }, ErrSpec, "too large to mean"},
		"unbounded estimate":   {func(e *Encoding, s *Spec, g *Group) { s.Evaluate = dp.Unbounded }, ErrSpec, "amount"},
		"unknown loss":         {func(e *Encoding, s *Spec, g *Group) { s.Loss = "logit" }, ErrSpec, `did you mean "logistic"`},
		"unknown method":       {func(e *Encoding, s *Spec, g *Group) { s.Method = "Objektive" }, ErrSpec, `did you mean "objective"`},
		"squares for classes":  {func(e *Encoding, s *Spec, g *Group) { s.Loss = "squares" }, ErrSpec, "logistic or huber"},
		"classes for numbers": {func(e *Encoding, s *Spec, g *Group) {
			e.Target, s.Loss = encoding(0).Target, "huber"
		}, ErrSpec, "squares"},
		"half-width":      {func(e *Encoding, s *Spec, g *Group) { s.HalfWidth = 1 }, ErrSpec, "huber"},
		"residual":        {func(e *Encoding, s *Spec, g *Group) { s.Residual = 1 }, ErrSpec, "squares"},
		"half-width NaN":  {func(e *Encoding, s *Spec, g *Group) { s.Loss, s.HalfWidth = "huber", nan }, ErrSpec, "half-width"},
		"regulariser NaN": {func(e *Encoding, s *Spec, g *Group) { s.Regulariser = nan }, ErrSpec, "regulariser"},
		"regulariser -1":  {func(e *Encoding, s *Spec, g *Group) { s.Regulariser = -1 }, ErrSpec, "regulariser"},
		"radius Inf":      {func(e *Encoding, s *Spec, g *Group) { s.Radius = inf }, ErrSpec, "radius"},
		"rows -1":         {func(e *Encoding, s *Spec, g *Group) { s.Rows = -1 }, ErrSpec, "rows"},
		"few rows":        {func(e *Encoding, s *Spec, g *Group) { s.Rows = 10 }, ErrSpec, "too few"},
		"weight NaN": {func(e *Encoding, s *Spec, g *Group) {
			s.Weights = map[string]float64{"class 0": nan}
		}, ErrSpec, "class 0"},
		"weight 0":         {func(e *Encoding, s *Spec, g *Group) { s.Weights = map[string]float64{"class 0": 0} }, ErrSpec, "WHERE"},
		"weight of nobody": {func(e *Encoding, s *Spec, g *Group) { s.Weights = map[string]float64{"x": 1} }, ErrSpec, "classes"},
		"weight of numbers": {func(e *Encoding, s *Spec, g *Group) {
			e.Target = encoding(0).Target
			s.Weights = map[string]float64{"x": 1}
		}, ErrSpec, "number"},
		"small regulariser": {func(e *Encoding, s *Spec, g *Group) { s.Method, s.Regulariser = Objective, 0.01 }, ErrSpec, "too small"},
		"tiny regulariser":  {func(e *Encoding, s *Spec, g *Group) { s.Method, s.Regulariser = Output, 1e-12 }, ErrSpec, "regulariser"},
		"pure minima":       {func(e *Encoding, s *Spec, g *Group) { s.Method = Minima }, ErrSpec, "objective"},
		"one to tune":       {func(e *Encoding, s *Spec, g *Group) { s.Tune = []float64{3} }, ErrSpec, "more"},
		"same to tune":      {func(e *Encoding, s *Spec, g *Group) { s.Tune = []float64{30, 30} }, ErrSpec, "different"},
		"NaN to tune":       {func(e *Encoding, s *Spec, g *Group) { s.Tune = []float64{30, nan} }, ErrSpec, "regulariser"},
		"tune and given": {func(e *Encoding, s *Spec, g *Group) {
			s.Tune, s.Regulariser = []float64{30, 40}, 3
		}, ErrSpec, "leave one"},
		"small to tune":       {func(e *Encoding, s *Spec, g *Group) { s.Tune = []float64{30, 0.01} }, ErrSpec, "too small"},
		"no rows of a person": {func(e *Encoding, s *Spec, g *Group) { g.MaxRows = 0 }, ErrSpec, "max_rows"},
		"many rows":           {func(e *Encoding, s *Spec, g *Group) { g.MaxRows = 1 << 30 }, ErrSpec, "max_rows"},
		"odd neighbours":      {func(e *Encoding, s *Spec, g *Group) { g.Neighbours = 7 }, ErrSpec, "neighbours"},
	} {
		e, s, g := good()
		c.change(e, &s, &g)
		p, err := Prepare(e, s, g)
		if !errors.Is(err, c.is) || p != nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	var small *RegulariserError
	_, err := Prepare(encoding(2), Spec{Method: Objective, Regulariser: 0.01, Budget: Budget{Epsilon: dp.One}}, one)
	if !errors.As(err, &small) {
		t.Fatal(err)
	}
	if _, err := Prepare(encoding(2),
		Spec{Method: Objective, Regulariser: small.Least * 1.01, Budget: Budget{Epsilon: dp.One}}, one); err != nil {
		t.Error("what an error proposes is refused too:", err)
	}
}

// TestTheorem sees that a model names the theorem of its noise.
func TestTheorem(t *testing.T) {
	for want, b := range map[string]Budget{"Chaudhuri": {Epsilon: dp.One}, "Kifer": {Rho: dp.One}} {
		p := must(Prepare(encoding(2), Spec{Method: Objective, Budget: b}, one))
		if got := p.theorem(); !strings.Contains(got, want) || strings.Contains(got, "Gaussian") != (want != "Chaudhuri") {
			t.Errorf("%+v: %s", b, got)
		}
	}
}

// TestCost compares prices with what was asked for, to the unit.
func TestCost(t *testing.T) {
	e1, d1, r1, x := eps("0.7"), eps("1e-6"), eps("0.3"), eps("0.05")
	for _, classes := range []int{0, 2, 5} {
		for _, method := range []string{Auto, Output, Objective, Minima} {
			for _, tune := range [][]float64{nil, {300, 3000, 30}} {
				for _, evaluate := range []dp.Amount{0, x} {
					s := Spec{Method: method, Tune: tune, Evaluate: evaluate}
					if s.Budget = (Budget{Epsilon: e1}); method != Minima {
						if c := prepared(encoding(classes), s, one).Cost; c.Epsilon != e1+evaluate || c.Delta != 0 {
							t.Errorf("%d %s %v: %v", classes, method, tune, c)
						}
					}
					s.Budget = Budget{Epsilon: e1, Delta: d1}
					if c := prepared(encoding(classes), s, one).Cost; c.Epsilon != e1+evaluate || c.Delta > d1 {
						t.Errorf("%d %s %v: %v", classes, method, tune, c)
					}
					s.Budget = Budget{Rho: r1}
					c := prepared(encoding(classes), s, one).Cost
					if c.Rho > r1+evaluate || c.Rho+2 < r1+evaluate || c.Delta != 0 || tune == nil && c.Rho != r1+evaluate {
						t.Errorf("%d %s %v: %v", classes, method, tune, c)
					}
				}
			}
		}
	}
}

// TestAuto says what is chosen.
func TestAuto(t *testing.T) {
	wide := encoding(2)
	for i := range 30 {
		wide.Features = append(wide.Features, Column{Name: strings.Repeat("x", i+1), Hi: 9, Step: big.NewRat(1, 1)})
	}
	for name, c := range map[string]struct {
		e            *Encoding
		s            Spec
		method, kind string
	}{
		"pure":         {encoding(2), Spec{Budget: Budget{Epsilon: dp.One}}, Objective, "radial"},
		"concentrated": {encoding(2), Spec{Budget: Budget{Rho: dp.One}}, Objective, "gaussian"},
		"few weights":  {encoding(2), Spec{Budget: Budget{Epsilon: dp.One, Delta: 1 << 20}}, Objective, "radial"},
		"many weights": {wide, Spec{Budget: Budget{Epsilon: dp.One, Delta: 1 << 20}}, Objective, "gaussian"},
		"too small":    {encoding(2), Spec{Budget: Budget{Epsilon: dp.One}, Regulariser: 0.05}, Output, "radial"},
		"large":        {encoding(0), Spec{Budget: Budget{Epsilon: dp.One}, Regulariser: 1e7, Rows: 1000}, Objective, "radial"},
	} {
		p := prepared(c.e, c.s, one)
		if p.Method != c.method || p.Noise()[0].Kind != c.kind || len(p.Why) == 0 {
			t.Errorf("%s: %s, %v, %v", name, p.Method, p.Noise(), p.Why)
		}
		for _, l := range p.Describe() {
			if l.Name == "" || l.Value == "" {
				t.Errorf("%s: %+v", name, p.Describe())
			}
		}
		if again := prepared(c.e, c.s, one); again.Spelling() != p.Spelling() || len(p.Spelling()) > 1000 {
			t.Error(p.Spelling())
		}
	}
}

// TestSpelling: what changes noise changes the spelling.
func TestSpelling(t *testing.T) {
	base := Spec{Budget: Budget{Epsilon: dp.One}, Method: Output, Loss: "huber"}
	seen := map[string]bool{}
	for i, change := range []func(s *Spec, g *Group){
		func(s *Spec, g *Group) {}, func(s *Spec, g *Group) { s.Budget.Epsilon++ }, func(s *Spec, g *Group) {
			s.Radius = 2
		}, func(s *Spec, g *Group) { s.Regulariser = 77 },
		func(s *Spec, g *Group) { s.HalfWidth = 0.1 }, func(s *Spec, g *Group) { s.Loss = "" }, func(s *Spec, g *Group) {
			s.Method = Objective
		}, func(s *Spec, g *Group) { s.Evaluate = dp.One },
		func(s *Spec, g *Group) { s.Tune = []float64{100, 200} }, func(s *Spec, g *Group) { g.MaxRows = 2 }, func(s *Spec, g *Group) {
			g.Neighbours = dp.Substitute
		},
		func(s *Spec, g *Group) { s.Weights = map[string]float64{"class 0": 0.5} },
	} {
		s, g := base, one
		change(&s, &g)
		text := prepared(encoding(2), s, g).Spelling()
		if seen[text] {
			t.Errorf("change %d is not in %q", i, text)
		}
		seen[text] = true
	}
}
