package api

import (
	"time"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/mechanism/learn/model"
)

// Training is a model that was paid for.
type Training struct {
	ID    string       `json:"id" doc:"For GET /v1/models/{id} and predictions"`
	Model *model.Model `json:"model"`
	// Cost is what it cost now: zero when it had been paid for before.
	Cost      dp.Cost      `json:"cost" doc:"What it cost now: nothing if it was already paid for"`
	Remaining Remaining    `json:"remaining"`
	Receipt   Receipt      `json:"receipt"`
	Version   DataVersion  `json:"data_version"`
	Alerts    List[Alert]  `json:"alerts"`
	Notes     List[string] `json:"notes"`
}

// TrainingProgress is how far a training is. It is for the owner's terminal: how many steps a
// training takes depends on the data.
type TrainingProgress = model.Progress

// TrainingQuestion asks for a model.
type TrainingQuestion struct {
	Dataset string // may be empty where the policy has only one
	Analyst string
	// Features is a SELECT of one row for each row to learn from: numbers with bounds and columns
	// with public keys. Target is the name of one of its columns, or an expression over the same
	// tables.
	Features, Target string
	// Spec says what to train. Budget.Epsilon is the price of the weights, and Evaluate, on top of
	// it, that of an estimate of the accuracy.
	Spec model.Spec
	// AsOf is a moment, or zero: see [Question].
	AsOf    time.Time
	Request string // names the question for retries; empty means a new one
}

// ModelsQuestion asks which models there are.
type ModelsQuestion struct {
	// AsOf has the datasets to look at, each with a moment or zero: models that were kept after it
	// are not there. See [Question].
	AsOf map[string]time.Time
	// Analyst is whose models these are: those that they paid for. Empty means everybody's, for the
	// owner.
	Analyst string
	// After is the last record that was seen, or -1; Limit how many models there are at most, and
	// Reads how many records are looked through at most.
	After        int64
	Limit, Reads int
}

// KeptModel is a model that was trained before.
type KeptModel struct {
	ID      string    `json:"id" doc:"Its id: the charge that paid for it, and the beginning of its receipt's hash"`
	Dataset string    `json:"dataset"`
	Analyst string    `json:"analyst,omitempty" doc:"Who paid for it; shown to the owner, and to you for your own"`
	Time    time.Time `json:"time" doc:"When somebody paid for it"`
	Target  string    `json:"target" doc:"What it predicts"`
	Cost    dp.Cost   `json:"cost" doc:"What it cost then"`
	Receipt Receipt   `json:"receipt"`
	// Model is nil in lists, which would hold all of them at once.
	Model *model.Model `json:"model,omitempty" doc:"The model itself; left out of lists"`
}

// TrainingQuote says what a model would cost, how it would be trained, and why. It is made from the
// text, the policy and the ledger, and is free. Of the data it uses only which version there is, to
// know whether the model was paid for.
type TrainingQuote struct {
	Dataset    string `json:"dataset"`
	Unit       string `json:"unit" doc:"Whom the guarantee protects: row, or the column that identifies a person"`
	Neighbours string `json:"neighbours"`
	MaxRows    int64  `json:"max_rows" doc:"The most rows of one person that count"`
	// Method is how it would be trained, Why says for what reasons, and Lines have the rest.
	Method string           `json:"method"`
	Why    List[string]     `json:"why" doc:"Why this method"`
	Lines  List[model.Line] `json:"plan" doc:"The regulariser, the noise, and what the theorem promises about accuracy"`
	// Epsilon is the price that was asked for, Cost what that is in the dataset's own currency, and
	// Pay what would be charged now.
	Epsilon dp.Amount `json:"epsilon" doc:"The price that you asked for"`
	Cost    dp.Cost   `json:"cost" doc:"The same in the currency of the dataset's budget"`
	Pay     dp.Cost   `json:"pay" doc:"What would be charged now: nothing if the model is already known"`
	// Worth is what the model alone is, as an (epsilon, delta) promise, and Currency says how the
	// price comes about.
	Worth    Guarantee `json:"worth" doc:"What the model promises by itself"`
	Currency string    `json:"currency" doc:"How the price is computed"`
	// Known says that the model has been paid for and would be free, and Record is the charge that
	// paid for it.
	Known  bool   `json:"known" doc:"True if it is paid for, and would be free"`
	Record uint64 `json:"record,omitempty" doc:"The charge that paid for it, if it is known"`
	// Remaining is before paying, and After after it; Affordable says whether the budget admits it
	// now.
	Remaining  Remaining `json:"remaining" doc:"Before paying"`
	After      Remaining `json:"after" doc:"After paying"`
	Affordable bool      `json:"affordable" doc:"True if the budget can pay for it now"`
}
