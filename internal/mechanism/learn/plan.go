package learn

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/mech"
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

	task    *task
	weights []float64 // of the classes, or nil
	recipe  *recipe
	// regularisers are the candidates, or the one.
	regularisers []float64
	selector     mech.Selector  // which chooses among candidates, or nil
	evaluation   mech.Mechanism // of an estimate of the accuracy, or nil
	// evaluationTotal is the half width of the sum of both counts, which takes longer than a small
	// training and is the same for all of them.
	evaluationTotal func() int64
}

// Radius is what rows are clipped to.
func (p *Plan) Radius() float64 { return p.task.radius }

// Loss is the name of what is minimised.
func (p *Plan) Loss() string { return p.task.loss.Name() }

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
func (p *Plan) Models() (models, parts int) { return p.Encoding.Models(), p.candidates() }

// Spelling is one line with all that decides what is released, but for the data and the noise. Two
// plans for the same columns that are spelled alike are the same.
func (p *Plan) Spelling() string {
	exactly := func(x float64) string { return strconv.FormatFloat(x, 'x', -1, 64) }
	var b strings.Builder
	fmt.Fprintf(&b, "train %s %s c=%s g=%s", p.Method, p.task.loss.Name(), exactly(p.task.loss.Curvature()), exactly(p.task.loss.Slope()))
	fmt.Fprintf(&b, " neighbours=%s rows=%d radius=%s step=%s", p.Group.Neighbours, p.Group.MaxRows, exactly(p.task.radius),
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
		fmt.Fprintf(&b, " objective %s %s", noiseKind(o.Gaussian), exactly(o.Scale))
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

// Describe returns lines "what: how much" about the plan, for people: price, method, regulariser,
// noise, what accuracy the theorem promises.
func (p *Plan) Describe() []Line {
	var lines []Line
	add := func(name, value string) { lines = append(lines, Line{Name: name, Value: value}) }
	add("price", describeCost(p.Cost))
	add("protects", explainCost(p.Cost, p.Group))
	add("method", p.Method)
	add("why", strings.Join(p.Why, " "))
	add("loss", p.task.loss.Name())
	add("models", fmt.Sprintf("%d with %d weights", p.Encoding.Models(), p.Encoding.Dim()))
	add("radius", fmt.Sprintf("%.4g", p.task.radius))
	var l []string
	for _, x := range p.regularisers {
		l = append(l, fmt.Sprintf("%.4g", x))
	}
	add("regulariser", strings.Join(l, ", "))
	for _, n := range p.recipe.noise {
		add("noise", n.String())
	}
	if p.evaluation != nil {
		add("accuracy", fmt.Sprintf("estimated on the training rows, with noise on two counts: %s", describeCost(p.evaluation.Cost())))
	}
	if p.Spec.Rows > 0 {
		rows := int64(p.task.rows())
		add("promise", fmt.Sprintf("with a probability of 95 %%, the mean loss of a model on %d rows is at most %.3g above the least",
			rows, p.Excess(rows, 0.05)))
	}
	return lines
}

// describeCost shows the claims of a cost that are made.
func describeCost(c dp.Cost) string {
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

func (p *Plan) guarantee() Guarantee {
	return Guarantee{Cost: p.Cost, Neighbours: p.Group.Neighbours, MaxRows: p.Group.MaxRows, Theorem: p.theorem(),
		Words: explainCost(p.Cost, p.Group)}
}

// explainCost says what a cost means.
func explainCost(c dp.Cost, g Group) string {
	what := "one person's row"
	if g.MaxRows > 1 {
		what = fmt.Sprintf("the rows of one person, of which %d count at most,", g.MaxRows)
	}
	change := "are there or not"
	if g.Neighbours == dp.Substitute {
		change = "are replaced by any others"
	}
	if g.MaxRows == 1 {
		change = strings.NewReplacer("are", "is", "any others", "any other").Replace(change)
	}
	var claims []string
	switch {
	case c.Epsilon != dp.Unbounded && c.Delta == 0:
		claims = append(claims, fmt.Sprintf("by a factor of at most e^%s (pure differential privacy)", c.Epsilon.Short()))
	case c.Epsilon != dp.Unbounded:
		claims = append(claims, fmt.Sprintf("by a factor of at most e^%s, but for a probability of %s (approximate differential privacy)",
			c.Epsilon.Short(), c.Delta.Short()))
	case c.Delta == 0:
		claims = append(claims,
			fmt.Sprintf("by a Renyi divergence of at most %s times its order (zero-concentrated differential privacy)", c.Rho.Short()))
	default:
		claims = append(claims, fmt.Sprintf("by a Renyi divergence of at most %s times its order, but for a probability of %s",
			c.Rho.Short(), c.Delta.Short()))
	}
	return fmt.Sprintf("Whether %s %s changes the probability of every result of this training %s.", what, change,
		strings.Join(claims, ", "))
}

func (p *Plan) theorem() string {
	t := map[string]string{
		Output: "output perturbation (Chaudhuri, Monteleoni, Sarwate 2011, Algorithm 1), with the gradient verified and the noise on " +
			"whole numbers: package learn, newOutput",
		Objective: "objective perturbation of the exact minimiser (Chaudhuri, Monteleoni, Sarwate 2011, Theorem 9, improved): package " +
			"learn/calibrate",
		Minima: "approximate minima perturbation (Iyengar et al. 2019, improved), with the gradient verified: package learn, newMinima",
	}[p.recipe.method]
	if p.recipe.method == Objective && p.recipe.noise[0].Kind == "gaussian" {
		t = "objective perturbation of the exact minimiser with Gaussian noise (Kifer, Smith, Thakurta 2012, improved): package " +
			"learn/calibrate"
	}
	if p.selector != nil {
		t += "; the regulariser chosen privately (Chaudhuri, Monteleoni, Sarwate 2011, Algorithm 3): package learn, tuning"
	}
	return t
}

// Excess bounds how much larger than its minimum the mean of the losses and the regulariser is at
// the model that is released, for so many rows, with a probability of 1 - beta for all models of
// one candidate together. It is what the theorems promise, and the truth is far better: they know
// nothing of the rows. Against any other w0 it is Lambda |w0|^2/(2 n) more.
//
// With b on the gradient and e on the weights, F(w_b) - F(w*) <= |grad F(w_b)|^2/(2 Lambda) =
// |b|^2/(2 Lambda), because F is Lambda-strongly convex, and F(w_b + e) - F(w_b) <= |b||e| + (n c
// R^2 + Lambda)|e|^2/2, because its gradient is Lipschitz. In e there are the noise on weights,
// where minimising ended, and rounding. |b| and |e| are at most as [Noise] says: Gamma tails, or
// those of a sum of squares (Hsu, Kakade, Zhang 2012).
func (p *Plan) Excess(rows int64, beta float64) float64 {
	if rows <= 0 || !(beta > 0 && beta < 1) {
		return math.Inf(1)
	}
	d, n := float64(p.Encoding.Dim()), float64(rows)
	t := math.Log(float64(p.Encoding.Models()*len(p.recipe.noise)) / beta)
	lambda := p.task.most(p.recipe.lambda)
	b, e := 0.0, p.recipe.tolerance/p.recipe.lambda+math.Sqrt(d)*p.recipe.step
	for _, noise := range p.recipe.noise {
		if noise.On == "gradient" {
			b += noise.AtMost(t)
		} else {
			e += noise.AtMost(t)
		}
	}
	return (b*b/(2*p.recipe.lambda) + b*e + (n*p.task.loss.Curvature()*p.task.radius*p.task.radius+lambda)*e*e/2) / n
}
