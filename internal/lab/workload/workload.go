// Package workload asks every accountant at once: mechanisms are written the way people name them,
// and each theorem that applies says what they cost together, or how much noise a budget needs.
//
//	laplace:epsilon=0.1            laplace:scale=10        with sensitivity=, sample=
//	gaussian:sigma=4               gaussian:rho=0.02       with sensitivity=, sample=
//	discrete-laplace:scale=10                              with sensitivity=
//	discrete-gaussian:sigma2=16                            with sensitivity=
//	randomized-response:epsilon=1  exponential:epsilon=0.1 with sample=
//	pure:epsilon=0.1               approx:epsilon=0.1,delta=1e-9   with sample=
//
// sensitivity is 1 unless it is given; it is the l2 norm for Gaussian noise and the
// l1 norm for the others. sample is the rate of a Poisson sample. Sampling is for
// neighbours by adding or removing a person.
package workload

import (
	"math"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/account"
	"github.com/discreet-dp/discreet/internal/privacyloss"
)

// Use is a mechanism that is used a number of times.
type Use struct {
	Mechanism Mechanism
	Times     int
}

func (u Use) String() string {
	if u.Times == 1 {
		return u.Mechanism.String()
	}
	return strconv.Itoa(u.Times) + " × " + u.Mechanism.String()
}

// ParseUse reads a mechanism that may say times= as well, such as laplace:epsilon=0.1,times=100.
func ParseUse(text string, free bool) (Use, error) {
	name, rest, _ := strings.Cut(text, ":")
	times, said := 1, false
	var kept []string
	for _, part := range strings.Split(rest, ",") {
		key, value, ok := strings.Cut(part, "=")
		if !ok || strings.TrimSpace(key) != "times" {
			kept = append(kept, part)
			continue
		}
		if said {
			return Use{}, refuse("%s: its times are given twice; keep one", name)
		}
		n, err := strconv.Atoi(strings.TrimSpace(value))
		if err != nil || n < 1 || n > maxTimes {
			return Use{}, refuse("%s is used %q times: write a whole number between 1 and %d", name, value, maxTimes)
		}
		times, said = n, true
	}
	if rest = strings.Join(kept, ","); rest != "" {
		name += ":" + rest
	}
	m, err := ParseMechanism(name, free)
	return Use{m, times}, err
}

// Workload is a list of mechanisms, all fixed in advance.
type Workload struct {
	uses   []Use
	claims []claims // of each
}

// maxTimes is how often mechanisms can be used in all.
const maxTimes = 1_000_000_000

func New(uses ...Use) (*Workload, error) {
	if len(uses) == 0 {
		return nil, refuse("there is no mechanism: write one such as laplace:epsilon=0.1")
	}
	w := &Workload{uses: uses}
	total := 0
	for _, u := range uses {
		if u.Times < 1 || u.Times > maxTimes {
			return nil, refuse("%s is used %d times: write a number between 1 and %d", u.Mechanism, u.Times, maxTimes)
		}
		if total += u.Times; total > maxTimes {
			return nil, refuse("there are more than %d uses in all", maxTimes)
		}
		c, err := u.Mechanism.claims()
		if err != nil {
			return nil, err
		}
		w.claims = append(w.claims, c)
	}
	return w, nil
}

// Loss returns the distribution of the privacy loss of all together, where a person
// is removed; with Add, where one is added.
func (w *Workload) Loss(direction Direction) (privacyloss.Sum, error) {
	if direction == Add {
		return w.sum(privacyloss.Add)
	}
	return w.sum(privacyloss.Remove)
}

func (w *Workload) Uses() []Use { return w.uses }

type Method string

// The accountants, from the oldest to the newest.
const (
	Basic    Method = "basic"
	Advanced Method = "advanced"
	Optimal  Method = "optimal"
	ZCDP     Method = "zcdp"
	RDP      Method = "rdp"
	Gaussian Method = "gaussian"
	PLD      Method = "pld"
)

var Methods = []Method{Basic, Advanced, Optimal, ZCDP, RDP, Gaussian, PLD}

// Result is what one accountant says. Its bracket encloses the value that the
// accountant's theorem gives; the ends are equal where the method is one formula.
// The upper end is a guarantee in every case.
type Result struct {
	Method Method `json:"method"`
	dp.Bracket
}

// Skipped is an accountant that has nothing to say, and why.
type Skipped struct {
	Method Method `json:"method"`
	Reason string `json:"reason"`
}

// Answer is what all accountants say.
type Answer struct {
	Results []Result
	Skipped []Skipped
}

// Tightest returns the result with the smallest upper end; of several that are
// equal, up to rounding, the first, which is the simplest.
func (a Answer) Tightest() Result {
	best := a.Results[0]
	for _, r := range a.Results[1:] {
		if r.Upper < best.Upper*(1-1e-9) {
			best = r
		}
	}
	return best
}

// Direction says which neighbours are compared. It matters under sampling only.
type Direction int

const (
	// Both takes the larger of the two, which is the guarantee.
	Both Direction = iota
	// Remove compares with databases that lack one person.
	Remove
	// Add compares with databases that have one person more.
	Add
)

// Epsilon asks all accountants for epsilon at a delta.
func (w *Workload) Epsilon(delta float64, direction Direction) (Answer, error) {
	if !(delta > 0 && delta < 1) {
		return Answer{}, w.deltaError(delta)
	}
	own := 0.0
	for i, c := range w.claims {
		own += float64(w.uses[i].Times) * c.delta
	}
	if own > 0 && -math.Expm1(-own) >= delta {
		return Answer{},
			refuse("the mechanisms' own deltas add up to %.3g, which leaves nothing of delta %v: ask for a larger delta, or make "+
				"theirs smaller", own, delta)
	}
	return w.ask(func(a accountant) (dp.Bracket, error) { return a.epsilon(delta) }, direction, Methods...)
}

// Delta asks all accountants for delta at an epsilon.
func (w *Workload) Delta(epsilon float64, direction Direction) (Answer, error) {
	if !(epsilon >= 0) || math.IsInf(epsilon, 0) {
		return Answer{}, refuse("epsilon is %v, but must be a number of at least 0", epsilon)
	}
	return w.delta(epsilon, direction, Methods...)
}

// delta asks some accountants for delta at an epsilon.
func (w *Workload) delta(epsilon float64, direction Direction, methods ...Method) (Answer, error) {
	return w.ask(func(a accountant) (dp.Bracket, error) { return a.delta(epsilon) }, direction, methods...)
}

// deltaError refuses a delta, and says what holds without one.
func (w *Workload) deltaError(delta float64) error {
	if delta != 0 {
		return refuse("delta is %v, but must be above 0 and below 1: write one such as 1e-6", delta)
	}
	if basic, err := account.Basic(w.repeated()); err == nil && w.pure() && basic.Delta == 0 {
		return refuse("delta is 0, but must be above 0 for every method but one: simple composition gives epsilon "+
			"%.6g at delta 0", basic.Epsilon)
	}
	return refuse("delta is 0, but must be above 0: these mechanisms have no epsilon at delta 0")
}

// ask collects answers. What an accountant refuses is left out, with its reason.
func (w *Workload) ask(question func(accountant) (dp.Bracket, error), direction Direction, methods ...Method) (Answer, error) {
	var out Answer
	for _, m := range methods {
		a, err := w.newAccountant(m, direction)
		var b dp.Bracket
		if err == nil {
			b, err = question(a)
		}
		switch {
		case err != nil:
			out.Skipped = append(out.Skipped, Skipped{m, err.Error()})
		case math.IsInf(b.Upper, 1) || math.IsNaN(b.Upper):
			out.Skipped = append(out.Skipped, Skipped{m, "it has no finite bound here"})
		default:
			out.Results = append(out.Results, Result{m, b})
		}
	}
	if len(out.Results) == 0 {
		return Answer{},
			refuse("no accountant gives a bound: %s: %s", out.Skipped[len(out.Skipped)-1].Method, out.Skipped[len(out.Skipped)-1].Reason)
	}
	return out, nil
}

// repeated returns the claims for the classical theorems.
func (w *Workload) repeated() []account.Repeated {
	var out []account.Repeated
	for i, c := range w.claims {
		out = append(out, account.Repeated{Approx: account.Approx{Epsilon: c.pure, Delta: c.delta}, Times: w.uses[i].Times})
	}
	return out
}

// pure reports whether every mechanism has an (epsilon, delta) claim of its own.
func (w *Workload) pure() bool {
	for _, c := range w.claims {
		if c.pure == 0 {
			return false
		}
	}
	return true
}

// sum returns the losses in one direction.
func (w *Workload) sum(d privacyloss.Direction) (privacyloss.Sum, error) {
	var s privacyloss.Sum
	for i, c := range w.claims {
		law, err := c.law(d)
		if err != nil {
			return privacyloss.Sum{}, err
		}
		if s, err = s.Plus(law, w.uses[i].Times); err != nil {
			return privacyloss.Sum{}, err
		}
	}
	return s, nil
}
