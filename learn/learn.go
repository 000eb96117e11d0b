// Package learn trains linear models under differential privacy. (Under construction.)
package learn

import (
	"context"
	"io"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/mech"
)

// Plan is a training before any data is looked at: method, noise, regulariser, and price.
type Plan struct {
	Encoding *Encoding
	Spec     Spec
	Group    Group
	// Method is what was chosen, and Why says in sentences for what reasons.
	Method string
	Why    []string
	Cost   dp.Cost
}

// Prepare decides everything that can be decided before the data is looked at. Its errors are about what is public.
func Prepare(e *Encoding, s Spec, g Group) (*Plan, error) { panic("not built") }

// Describe returns lines "what: how much" about the plan, for people: price, method, regulariser, noise, what accuracy the theorem promises.
func (p *Plan) Describe() []Line { panic("not built") }

// Line is something about a plan or a model.
type Line struct{ Name, Value string }

// Table collects training rows. Nothing in it can be printed.
type Table struct{}

// NewTable returns an empty table for the rows of a plan.
func (p *Plan) NewTable() *Table { panic("not built") }

// Add takes a row of codes: one for each feature in order, and the target's at the end. It is total: whatever the codes are, a row adds at most what the plan says.
func (t *Table) Add(codes []int64) { panic("not built") }

// Progress is how far a training is. It is for the owner's terminal: how many steps a training takes depends on the data.
type Progress struct {
	Stage string // "reading", "training", "checking", "evaluating"
	Done  float64
}

// Fit trains. It is the only function that looks at the table, and what it returns is private at plan's Cost.
func Fit(ctx context.Context, p *Plan, t *Table, r *mech.Releaser, progress func(Progress)) (*Model, error) {
	panic("not built")
}

// Model is a trained model: what was released, how to use it, and its guarantee.
type Model struct {
	Encoding *Encoding `json:"encoding"`
	// Weights are the whole numbers of steps that were released, one row for each model; Step is the size of one.
	Weights [][]int64 `json:"weights"`
	Step    float64   `json:"step"`
}

// ReadModel reads a model that [Model.Write] wrote.
func ReadModel(r io.Reader) (*Model, error) { panic("not built") }

// Write writes the model as JSON.
func (m *Model) Write(w io.Writer) error { panic("not built") }

// Prediction is what a model says about a row.
type Prediction struct {
	Class  string             `json:"class,omitempty"`
	Scores map[string]float64 `json:"scores,omitempty"` // by class
	Value  float64            `json:"value"`            // for numbers
}

// Predict says what the model expects of a row, given as text by column. Numbers beyond their bounds count as the bound; empty text is a missing value.
func (m *Model) Predict(row map[string]string) (Prediction, error) { panic("not built") }
