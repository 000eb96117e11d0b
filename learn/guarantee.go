package learn

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/discreet-dp/discreet/dp"
)

// Guarantee is what is proven about a model, the estimate of its accuracy and the choice of its
// regulariser included.
type Guarantee struct {
	Cost       dp.Cost
	Neighbours dp.Neighbours
	MaxRows    int
	// Theorem says where the proof is, and Words what it says.
	Theorem string
	Words   string
}

type guaranteeJSON struct {
	Epsilon    amount `json:"epsilon"`
	Rho        amount `json:"rho"`
	Delta      amount `json:"delta"`
	Neighbours string `json:"neighbours"`
	MaxRows    int    `json:"max_rows"`
	Theorem    string `json:"theorem"`
	Words      string `json:"words"`
}

// MarshalJSON writes amounts exactly, and null for a claim that is not made.
func (g Guarantee) MarshalJSON() ([]byte, error) {
	return json.Marshal(guaranteeJSON{amount(g.Cost.Epsilon), amount(g.Cost.Rho), amount(g.Cost.Delta), g.Neighbours.String(), g.MaxRows,
		g.Theorem, g.Words})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (g *Guarantee) UnmarshalJSON(text []byte) error {
	var j guaranteeJSON
	if err := strictly(bytes.NewReader(text), &j); err != nil {
		return err
	}
	n, err := dp.ParseNeighbours(j.Neighbours)
	if err != nil {
		return err
	}
	*g = Guarantee{dp.Cost{Epsilon: dp.Amount(j.Epsilon), Rho: dp.Amount(j.Rho), Delta: dp.Amount(j.Delta)}, n, j.MaxRows,
		j.Theorem, j.Words}
	return nil
}

func (p *Plan) guarantee() Guarantee {
	return Guarantee{p.Cost, p.Group.Neighbours, p.Group.MaxRows, p.theorem(), words(p.Cost, p.Group)}
}

// words says what a cost means.
func words(c dp.Cost, g Group) string {
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
