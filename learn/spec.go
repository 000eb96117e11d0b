package learn

import (
	"github.com/discreet-dp/discreet/dp"
)

// Spec is what somebody asks of a training. All of it is public.
type Spec struct {
	Loss      string  `json:"loss,omitempty"`       // "logistic", "huber", "squares"; empty: logistic for classes, squares for numbers
	HalfWidth float64 `json:"half_width,omitempty"` // of huber; 0 means 0.5
	Residual  float64 `json:"residual,omitempty"`   // of squares: beyond it the loss is straight; 0 means 1, which is half of the target's range
	Method    string  `json:"method,omitempty"`     // "auto", "output", "objective", "minima"; empty means auto
	// Budget is what the weights may cost.
	Budget Budget `json:"budget"`
	// Evaluate is what an estimate of the accuracy on the training rows may cost, on top: an epsilon, or the rho that it is worth. 0: there is none.
	Evaluate dp.Amount `json:"evaluate,omitempty"`
	// Regulariser is Lambda of the sum, 1/C of other libraries; 0: one is chosen from what is public.
	Regulariser float64 `json:"regulariser,omitempty"`
	// Tune are regularisers to choose from, on the data and paid for: a part of Budget.
	Tune []float64 `json:"tune,omitempty"`
	// Radius is what rows are clipped to; 0: one that follows from the features.
	Radius float64 `json:"radius,omitempty"`
	// Weights are public weights of classes by name; where there are none all are 1.
	Weights map[string]float64 `json:"weights,omitempty"`
	// Rows is about how many rows there are, where that is public. Nothing private depends on it: it is for the choice of a method and for what is said about accuracy.
	Rows int64 `json:"rows,omitempty"`
}

// Budget is an amount of privacy in one of three currencies: Epsilon alone is pure, Epsilon and Delta are approximate, Rho alone is zero-concentrated.
type Budget struct {
	Epsilon dp.Amount `json:"epsilon,omitempty"`
	Delta   dp.Amount `json:"delta,omitempty"`
	Rho     dp.Amount `json:"rho,omitempty"`
}

// Group says whom a training protects.
type Group struct {
	Neighbours dp.Neighbours
	MaxRows    int // how many rows of one person count; 1 where everybody has one
}
