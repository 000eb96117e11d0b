package render

import (
	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/ledger"
)

// HoldoutAnswerJSON is a score for machines, the same on the command line and over HTTP.
type HoldoutAnswerJSON struct {
	Dataset    string          `json:"dataset"`
	Holdout    string          `json:"holdout"`
	Score      string          `json:"score" doc:"As a decimal, from 0 to 1; with noise it can be a little outside"`
	Error      float64         `json:"error" doc:"How far the mean over the holdout may be from the score, with the probability of confidence"`
	Confidence float64         `json:"confidence"`
	Spent      bool            `json:"spent" doc:"Whether the score comes from the holdout, with noise, and used up one of its answers. Else it is the value of the training side, which the holdout confirms"`
	Training   string          `json:"training" doc:"The value of the training side"`
	Left       int             `json:"left" doc:"How many more answers can come from the holdout"`
	Free       bool            `json:"free" doc:"Whether nothing was charged: the first score of a round pays for all up to the next one that the holdout contradicts"`
	Again      bool            `json:"again" doc:"Whether it was answered before"`
	Cost       dp.Cost         `json:"cost" doc:"What was charged for this score"`
	Receipt    ReceiptJSON     `json:"receipt" doc:"The charge of the round that the score belongs to"`
	Remaining  api.Remaining   `json:"remaining" doc:"What the analyst can still spend"`
	Notes      []string        `json:"notes" doc:"What a reader should know about the score"`
	Version    api.DataVersion `json:"data_version" doc:"Which version of the data the score is about; a file of labels has none"`
	Alerts     []ledger.Alert  `json:"alerts" doc:"Accounts that this score took over 50, 80 or 95 % of their limits"`
}

// HoldoutJSON turns a score into what machines read.
func HoldoutJSON(a *api.HoldoutAnswer) HoldoutAnswerJSON {
	out := HoldoutAnswerJSON{
		Dataset: a.Dataset, Holdout: a.Holdout, Score: a.Score, Error: a.Error, Confidence: a.Confidence, Spent: a.Spent, Training: a.Training, Left: a.Left, Free: a.Free, Again: a.Again,
		Cost: a.Cost, Receipt: receiptJSON(a.Receipt), Remaining: a.Remaining, Notes: a.Notes, Version: a.Version, Alerts: a.Alerts,
	}
	if out.Notes == nil {
		out.Notes = []string{}
	}
	if out.Alerts == nil {
		out.Alerts = []ledger.Alert{}
	}
	return out
}

// HoldoutInfoJSON is what the policy says about a holdout.
type HoldoutInfoJSON struct {
	Dataset   string  `json:"dataset"`
	Name      string  `json:"name"`
	Labels    bool    `json:"labels" doc:"Whether predictions are submitted, one for each label; else an SQL expression over the table"`
	IDs       bool    `json:"ids" doc:"Whether labels have ids, so that predictions come with theirs"`
	Table     string  `json:"table,omitempty"`
	Train     string  `json:"train,omitempty" doc:"The public table that the training side is computed from, where it is not given"`
	Size      int64   `json:"size" doc:"How many people scores are means over, or how many predictions to submit"`
	Threshold string  `json:"threshold" doc:"How far about the training side may be off before the holdout answers"`
	Noise     string  `json:"noise"`
	Answers   int     `json:"answers" doc:"How many answers come from the holdout in all"`
	Steps     int64   `json:"steps" doc:"Values are whole multiples of one by this"`
	Round     dp.Cost `json:"round" doc:"What a round costs: all scores up to the next one that the holdout contradicts, and that one"`
	Total     dp.Cost `json:"total" doc:"What all rounds cost"`
	Confirmed float64 `json:"confirmed_error" doc:"How far off a score may be that the holdout confirms, with probability 0.95"`
	Answered  float64 `json:"answered_error" doc:"How far off a score may be that comes from the holdout, with probability 0.95"`
}

// HoldoutInfo turns what the policy says about a holdout into what machines read.
func HoldoutInfo(h api.HoldoutInfo) HoldoutInfoJSON {
	return HoldoutInfoJSON{h.Dataset, h.Name, h.Labels, h.ID != "", h.Table, h.Train, h.Size, h.Threshold, h.Noise, h.Answers, h.Steps, h.Round, h.Total, h.Confirmed, h.Answered}
}
