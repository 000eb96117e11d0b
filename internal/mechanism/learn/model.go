package learn

import (
	"errors"

	"github.com/discreet-dp/discreet/internal/mechanism/learn/model"
)

// What a training takes and makes, as documents: see package model.
type (
	Model      = model.Model
	Progress   = model.Progress
	Receipt    = model.Receipt
	Spec       = model.Spec
	Budget     = model.Budget
	Encoding   = model.Encoding
	Column     = model.Column
	Guarantee  = model.Guarantee
	Noise      = model.Noise
	Evaluation = model.Evaluation
	Prediction = model.Prediction
	Line       = model.Line
)

const (
	Auto      = model.Auto
	Output    = model.Output
	Objective = model.Objective
	Minima    = model.Minima
)

// Null is the code of a value that is missing.
const Null = model.Null

// ReadModel reads a model that [Model.Write] wrote, and refuses anything else.
var ReadModel = model.Read

func (p *Plan) model(released [][]int64, lambda float64) *Model {
	return &Model{
		Format: model.Format, Version: model.Version, Guarantee: p.guarantee(),
		Method: p.Method, Loss: p.task.loss.Name(), Regulariser: lambda, Radius: p.task.radius, Noise: p.Noise(),
		Spec: p.Spec, Encoding: p.Encoding, Weights: released, Step: p.recipe.step,
	}
}

var (
	// ErrFit is returned where a training ended without a model. What was charged stays charged.
	ErrFit = errors.New("the training ended without a model")
)

// Errors of what a training takes and makes.
var (
	ErrEncoding = model.ErrEncoding
	ErrSpec     = model.ErrSpec
	ErrModel    = model.ErrModel
	ErrPMML     = model.ErrPMML
	ErrRow      = model.ErrRow
)
