package learn

import "errors"

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
	// ErrFit is returned where a training ended without a model. What was charged stays charged.
	ErrFit = errors.New("the training ended without a model")
)
