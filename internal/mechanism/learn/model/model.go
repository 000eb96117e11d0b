// Package model has what a training takes and makes, as documents: the [Encoding] of columns, the
// [Spec] of a training and its [Budget], and the [Model] with its [Guarantee], which predicts and
// can be written as JSON and as PMML. It trains nothing (package learn does), so who only reads or
// uses a model needs neither a solver nor a mechanism.
package model

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
)

// Model is a trained model: what was released, how to use it, and its guarantee. Everything in it
// is released, so it may be shown to anybody.
type Model struct {
	Format    string    `json:"format"`  // "discreet model"
	Version   int       `json:"version"` // of the format
	Guarantee Guarantee `json:"guarantee"`
	// Receipt is the curator's, where there was one.
	Receipt *Receipt `json:"receipt,omitempty"`
	Method  string   `json:"method"`
	Loss    string   `json:"loss"`
	// Regulariser is Lambda, and Radius what rows were clipped to.
	Regulariser float64 `json:"regulariser"`
	Radius      float64 `json:"radius"`
	Noise       []Noise `json:"noise"`
	// Evaluation is an estimate of the accuracy, where it was paid for.
	Evaluation *Evaluation `json:"evaluation,omitempty"`
	Spec       Spec        `json:"spec"`
	Encoding   *Encoding   `json:"encoding"`
	// Weights are the whole numbers of steps that were released, one row for each model; Step is
	// the size of one.
	Weights [][]int64 `json:"weights"`
	Step    float64   `json:"step"`
}

// Receipt says where a training was charged.
type Receipt struct {
	Dataset     string `json:"dataset"`
	Unit        string `json:"unit"`
	Neighbours  string `json:"neighbours"`
	Sequence    uint64 `json:"sequence"`
	Hash        string `json:"hash"`
	DataVersion uint64 `json:"data_version"`
}

const (
	// Format and Version are those of the documents that are written and read here.
	Format  = "discreet model"
	Version = 1
	// maxDocument is how long a model may be as a document.
	maxDocument = 256 << 20
)

var errAfter = errors.New("something follows its end")

// Write writes the model as JSON. The same model is always the same text.
func (m *Model) Write(w io.Writer) error {
	text, err := json.MarshalIndent(m, "", " ")
	if err != nil {
		return err
	}
	_, err = w.Write(append(text, '\n'))
	return err
}

// MarshalJSON writes the model as [Model.Write] does, wherever it stands: with the characters of
// HTML escaped.
func (m *Model) MarshalJSON() ([]byte, error) {
	type plain Model // without this method
	return json.Marshal((*plain)(m))
}

// Read reads a model that [Model.Write] wrote, and refuses anything else.
func Read(r io.Reader) (*Model, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxDocument+1))
	switch {
	case err != nil:
		return nil, err
	case len(text) > maxDocument:
		return nil, fmt.Errorf("%w: it is too long", ErrModel)
	}
	var head struct {
		Format  string `json:"format"`
		Version int    `json:"version"`
	}
	if err := json.Unmarshal(text, &head); err != nil || head.Format != Format {
		return nil, fmt.Errorf("%w: use a file that discreet train wrote", ErrModel)
	}
	if head.Version != Version {
		return nil,
			fmt.Errorf("%w of this version: it has version %d of the format, and this program reads %d; use the version that wrote it, "+
				"or a newer one", ErrModel, head.Version, Version)
	}
	m := new(Model)
	if err := decodeStrictly(bytes.NewReader(text), m); err != nil {
		return nil, fmt.Errorf("%w: %v", ErrModel, err)
	}
	return m, m.Validate()
}

// Validate says what is wrong with a model.
func (m *Model) Validate() error {
	if err := m.Encoding.Validate(); err != nil {
		return fmt.Errorf("%w: %w", ErrModel, err)
	}
	classes := m.Encoding.Classes() > 0
	switch {
	case m.Method != Output && m.Method != Objective && m.Method != Minima:
		return fmt.Errorf("%w: there is no method %q", ErrModel, m.Method)
	case classes && m.Loss != "logistic" && m.Loss != "huber" || !classes && m.Loss != "squares":
		return fmt.Errorf("%w: there is no loss %q for this target", ErrModel, m.Loss)
	case !(m.Radius >= 0x1p-100 && m.Radius <= 0x1p100):
		return fmt.Errorf("%w: its radius is %v", ErrModel, m.Radius)
	case !(m.Step > 0) || math.IsInf(m.Step, 0):
		return fmt.Errorf("%w: its step is %v", ErrModel, m.Step)
	case len(m.Weights) != m.Encoding.Models():
		return fmt.Errorf("%w: there are %d rows of weights for %d models", ErrModel, len(m.Weights), m.Encoding.Models())
	}
	for _, w := range m.Weights {
		if len(w) != m.Encoding.Dim() {
			return fmt.Errorf("%w: there are %d weights for %d features", ErrModel, len(w), m.Encoding.Dim())
		}
	}
	return nil
}

var (
	// ErrEncoding is returned for columns that nothing can be learned from or about.
	ErrEncoding = errors.New("these columns cannot be learned from")
	// ErrSpec is returned for a training that makes no sense, or that cannot be private at its
	// price.
	ErrSpec = errors.New("this cannot be trained")
	// ErrModel is returned for a document that is no model.
	ErrModel = errors.New("not a model of discreet")
	// ErrPMML is returned for a model that PMML has no words for.
	ErrPMML = errors.New("this model cannot be written as PMML")
	// ErrRow is returned for a row that nothing can be predicted from.
	ErrRow = errors.New("nothing can be predicted from this row")
)

// Progress is how far a training is. It is for the owner's terminal: how many steps a training
// takes depends on the data.
type Progress struct {
	Stage string // "training", "choosing", "evaluating"
	Done  float64
}
