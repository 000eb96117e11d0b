package learn

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/learn/calibrate"
	"github.com/discreet-dp/discreet/internal/learn/lossfn"
	"github.com/discreet-dp/discreet/mech"
)

// Plan is a training before any data is looked at: method, noise, regulariser, and price. It does
// not change.
type Plan struct {
	Encoding *Encoding
	Spec     Spec
	Group    Group
	// Method is what was chosen, and Why says in sentences for what reasons.
	Method string
	Why    []string
	Cost   dp.Cost

	loss    lossfn.Loss
	radius  float64
	weights []float64 // of the classes, or nil
	recipe  *recipe
	// regularisers are the candidates, or the one.
	regularisers []float64
	selector     mech.Selector  // which chooses among candidates, or nil
	evaluation   mech.Mechanism // of an estimate of the accuracy, or nil
}

// Radius is what rows are clipped to.
func (p *Plan) Radius() float64 { return p.radius }

// Loss is the name of what is minimised.
func (p *Plan) Loss() string { return p.loss.Name() }

// Regularisers are the Lambda of the training, or those to choose from.
func (p *Plan) Regularisers() []float64 { return slices.Clone(p.regularisers) }

// Step is the lattice that weights are released on, a power of two.
func (p *Plan) Step() float64 { return p.recipe.step }

// Noise is what is added, to the gradient or to the weights.
func (p *Plan) Noise() []Noise { return slices.Clone(p.recipe.noise) }

// candidates is how many regularisers there are to choose from; 1 where there is no choice.
func (p *Plan) candidates() int { return len(p.regularisers) }

// Models is how many models are trained, and on how many parts of the rows each is: one for each
// regulariser to choose from.
func (p *Plan) Models() (models, parts int) { return p.Encoding.models(), p.candidates() }

// problem is what noise is calibrated to. All candidates are one problem, see package calibrate.
func (p *Plan) problem(candidates int) calibrate.Problem {
	return calibrate.Problem{
		Slope: p.loss.Slope(), Curvature: p.loss.Curvature(), OneSided: p.loss.OneSided(), Tapered: p.loss.Name() == "logistic",
		Radius:  p.radius,
		Weights: p.Encoding.dim() * candidates, Models: p.Encoding.models(), Rows: p.Group.MaxRows, Neighbours: p.Group.Neighbours,
	}
}

// Spelling is one line with all that decides what is released, but for the data and the noise. Two
// plans for the same columns that are spelled alike are the same.
func (p *Plan) Spelling() string {
	exactly := func(x float64) string { return strconv.FormatFloat(x, 'x', -1, 64) }
	var b strings.Builder
	fmt.Fprintf(&b, "train %s %s c=%s g=%s", p.Method, p.loss.Name(), exactly(p.loss.Curvature()), exactly(p.loss.Slope()))
	fmt.Fprintf(&b, " neighbours=%s rows=%d radius=%s step=%s", p.Group.Neighbours, p.Group.MaxRows, exactly(p.radius),
		exactly(p.recipe.step))
	for _, l := range p.regularisers {
		fmt.Fprintf(&b, " lambda=%s", exactly(l))
	}
	for _, w := range p.weights {
		fmt.Fprintf(&b, " weight=%s", exactly(w))
		if b.Len() > 600 { // many classes; the spec names them all
			break
		}
	}
	if p.recipe.tolerance != 0 {
		fmt.Fprintf(&b, " tolerance=%s", exactly(p.recipe.tolerance))
	}
	if o := p.recipe.objective; o != nil {
		fmt.Fprintf(&b, " objective %s %s", kind(o.Gaussian), exactly(o.Scale))
	}
	if m := p.recipe.release; m != nil {
		fmt.Fprintf(&b, " release %s %s", m.Name(), m.Parameter().RatString())
	}
	if s := p.selector; s != nil {
		fmt.Fprintf(&b, " select %s %s", s.Name(), s.Parameter().RatString())
	}
	if m := p.evaluation; m != nil {
		fmt.Fprintf(&b, " evaluate %s %s", m.Name(), m.Parameter().RatString())
	}
	return b.String()
}
