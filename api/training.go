package api

import (
	"time"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/learn"
	"github.com/discreet-dp/discreet/ledger"
)

// Training is a model that was paid for.
type Training struct {
	// ID names the model for [Curator.Model].
	ID    string
	Model *learn.Model
	// Cost is what it cost now: zero when it had been paid for before.
	Cost      dp.Cost
	Receipt   Receipt
	Remaining Remaining
	Alerts    []ledger.Alert
	Version   DataVersion
	Notes     []string
}

// TrainingQuestion asks for a model.
type TrainingQuestion struct {
	Dataset string // may be empty where the policy has only one
	Analyst string
	// Features is a SELECT of one row for each row to learn from: numbers with bounds and columns with public keys. Target is the name of one of its columns, or an
	// expression over the same tables.
	Features, Target string
	// Spec says what to train. Budget.Epsilon is the price of the weights, and Evaluate, on top of it, that of an estimate of the accuracy.
	Spec learn.Spec
	// AsOf is a moment, or zero: see [Question].
	AsOf    time.Time
	Request string // names the question for retries; empty means a new one
}

// ModelsQuestion asks which models there are.
type ModelsQuestion struct {
	// AsOf has the datasets to look at, each with a moment or zero: models that were kept after it are not there. See [Question].
	AsOf map[string]time.Time
	// Analyst is whose models these are: those that they paid for. Empty means everybody's, for the owner.
	Analyst string
	// After is the last record that was seen, or -1; Limit how many models there are at most, and Reads how many records are looked through at most.
	After        int64
	Limit, Reads int
}

// KeptModel is a model that was trained before.
type KeptModel struct {
	ID      string
	Dataset string
	// Analyst is who paid for it, and Time when.
	Analyst string
	Time    time.Time
	Cost    dp.Cost
	Receipt Receipt
	// Target is what it predicts.
	Target string
	// Model is the model itself; nil in lists, which would hold all of them at once.
	Model *learn.Model
}

// TrainingQuote says what a model would cost, how it would be trained, and why. It is made from the text, the policy and the ledger, and is free. Of the
// data it uses only which version there is, to know whether the model was paid for.
type TrainingQuote struct {
	Dataset    string
	Neighbours string
	// Unit is whom the guarantee protects, and MaxRows how many rows of one such count at most.
	Unit    string
	MaxRows int64
	// Method is how it would be trained, Why says for what reasons, and Lines have the rest.
	Method string
	Why    []string
	Lines  []learn.Line
	// Epsilon is the price that was asked for, Cost what that is in the dataset's own currency, and Pay what would be charged now: nothing, where it is Known.
	Epsilon   dp.Amount
	Cost, Pay dp.Cost
	// Worth is what the model alone is, as an (epsilon, delta) promise, and Currency says how the price comes about.
	Worth    Guarantee
	Currency string
	// Known says that the model has been paid for and would be free, and Record is the charge that paid for it.
	Known  bool
	Record uint64
	// Remaining is before paying, and After after it; Affordable says whether the budget admits it now.
	Remaining, After Remaining
	Affordable       bool
}
