package learn

import (
	"fmt"
	"strings"

	"github.com/discreet-dp/discreet/dp"
)

// Line is something about a plan or a model.
type Line struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Describe returns lines "what: how much" about the plan, for people: price, method, regulariser,
// noise, what accuracy the theorem promises.
func (p *Plan) Describe() []Line {
	lines := []Line{
		{"price", price(p.Cost)},
		{"protects", words(p.Cost, p.Group)},
		{"method", p.Method},
		{"why", strings.Join(p.Why, " ")},
		{"loss", p.loss.Name()},
		{"models", fmt.Sprintf("%d with %d weights", p.Encoding.models(), p.Encoding.dim())},
		{"radius", fmt.Sprintf("%.4g", p.radius)},
	}
	var l []string
	for _, x := range p.regularisers {
		l = append(l, fmt.Sprintf("%.4g", x))
	}
	lines = append(lines, Line{"regulariser", strings.Join(l, ", ")})
	for _, n := range p.recipe.noise {
		lines = append(lines, Line{"noise", n.String()})
	}
	if p.evaluation != nil {
		lines = append(lines,
			Line{"accuracy", fmt.Sprintf("estimated on the training rows, with noise on two counts: %s", price(p.evaluation.Cost()))})
	}
	if n := p.Spec.Rows; n > 0 {
		rows := int64(p.rows())
		lines = append(lines,
			Line{"promise", fmt.Sprintf("with a probability of 95 %%, the mean loss of a model on %d rows is at most %.3g above the least",
				rows, p.Excess(rows, 0.05))})
	}
	return lines
}

func (n Noise) String() string {
	what := "radial, of scale"
	if n.Kind == "gaussian" {
		what = "Gaussian, of standard deviation"
	}
	return fmt.Sprintf("%s %.4g on the %s, so about %.4g long", what, n.Scale, n.On, n.norm())
}

// price shows the claims of a cost that are made.
func price(c dp.Cost) string {
	var out []string
	if c.Epsilon != dp.Unbounded {
		out = append(out, "epsilon "+c.Epsilon.Short())
	}
	if c.Rho != dp.Unbounded && (c.Epsilon == dp.Unbounded || c.Delta != 0) {
		out = append(out, "rho "+c.Rho.Short())
	}
	if c.Delta != 0 {
		out = append(out, "delta "+c.Delta.Short())
	}
	return strings.Join(out, ", ")
}
