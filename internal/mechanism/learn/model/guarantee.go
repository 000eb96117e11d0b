package model

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"

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

func (g *Guarantee) UnmarshalJSON(text []byte) error {
	var j guaranteeJSON
	if err := decodeStrictly(bytes.NewReader(text), &j); err != nil {
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

// Noise says what is added to what.
type Noise struct {
	// "radial": a density in proportion to exp(-|b|/Scale); "gaussian": a standard deviation of
	// Scale in every direction
	Kind  string  `json:"kind"`
	On    string  `json:"on"`    // "gradient" or "weights"
	Scale float64 `json:"scale"` // as it is for the training, in units of what it is added to
	// Weights is how many weights the noise is on together.
	Weights int `json:"weights"`
}

func (n Noise) String() string {
	what := "radial, of scale"
	if n.Kind == "gaussian" {
		what = "Gaussian, of standard deviation"
	}
	return fmt.Sprintf("%s %.4g on the %s, so about %.4g long", what, n.Scale, n.On, n.Norm())
}

// Norm is about how long the noise is.
func (n Noise) Norm() float64 {
	if n.Kind == "radial" {
		return n.Scale * float64(n.Weights)
	}
	return n.Scale * math.Sqrt(float64(n.Weights))
}

// Deviation is the standard deviation of one coordinate. A radial vector has |b|^2 of d(d+1) scales
// squared on average.
func (n Noise) Deviation() float64 {
	if n.Kind == "radial" {
		return n.Scale * math.Sqrt(float64(n.Weights+1))
	}
	return n.Scale
}

// AtMost is a length that the noise has with a probability of 1 - exp(-t).
func (n Noise) AtMost(t float64) float64 {
	d := float64(n.Weights)
	if n.Kind == "radial" {
		return n.Scale * (d + math.Sqrt(2*d*t) + t)
	}
	return n.Scale * math.Sqrt(d+2*math.Sqrt(d*t)+2*t)
}

// Evaluation is a private estimate of how well a model predicts the rows that it was trained on.
// New rows are predicted a little worse, the more so the less noise there is.
type Evaluation struct {
	// Wrong and Right are noisy: how many rows the model gets wrong and right, or for numbers how
	// much of their square is missed and met, in steps of which each row has Steps.
	Wrong int64 `json:"wrong"`
	Right int64 `json:"right"`
	Steps int64 `json:"steps"`
	// Error is the share of rows that the model gets wrong, or for numbers the root of the mean
	// square of the residual, in the target's own units; with a probability of 95 % it is from Low
	// to High.
	Error float64 `json:"error"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// Line is something about a plan or a model.
type Line struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}
