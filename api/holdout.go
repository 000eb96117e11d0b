package api

import (
	"time"

	"github.com/discreet-dp/discreet/dp"
)

// HoldoutAnswer is a score.
type HoldoutAnswer struct {
	Dataset string `json:"dataset"`
	Holdout string `json:"holdout"`
	Score   string `json:"score" doc:"As a decimal, from 0 to 1; with noise it can be a little outside"`
	// Error is how far the mean over the holdout may be from Score, but for a probability of 1 -
	// Confidence; see [holdout.Tariff.Confirmed].
	Error      float64 `json:"error" doc:"How far the mean over the holdout can be from the score, with probability confidence"`
	Confidence float64 `json:"confidence"`
	Spent      bool    `json:"spent" doc:"True if the score comes from the holdout, with noise, and used up one of its answers. Otherwise it is the value of the training side, which the holdout confirms"`
	Training   string  `json:"training" doc:"The value of the training side"`
	Left       int     `json:"left" doc:"How many more answers can come from the holdout"`
	Free       bool    `json:"free" doc:"True if nothing was charged: the first score of a round pays for all scores up to the next one that the holdout contradicts"`
	// Again says that it was answered before, in the same words.
	Again     bool         `json:"again" doc:"True if it was answered before"`
	Cost      dp.Cost      `json:"cost" doc:"What was charged for this score"`
	Receipt   Receipt      `json:"receipt" doc:"The charge for the round that the score belongs to"`
	Remaining Remaining    `json:"remaining" doc:"What the analyst can still spend"`
	Notes     List[string] `json:"notes" doc:"Sentences that a reader of the score should know"`
	Version   DataVersion  `json:"data_version" doc:"The version of the data that the score is about; a file of labels has none"`
	Alerts    List[Alert]  `json:"alerts" doc:"Accounts that this score pushed past 50, 80 or 95 % of their limits"`
}

// HoldoutQuestion asks how well something does on a holdout of the policy.
type HoldoutQuestion struct {
	Dataset string // may be empty where the policy has only one
	Holdout string // may be empty where the dataset has only one, or where SQL names its table
	Analyst string
	// Predictions are for a holdout of labels: one for each row. Where the rows have identifiers,
	// IDs say whose each is, in any order.
	Predictions, IDs []string
	// SQL is for a holdout that is a table: SELECT holdout_mean(expression) FROM table, or the
	// expression alone.
	SQL    string
	Parsed Parsed `json:"-"` // as in a [Question]
	// Training is how well the same does on the training data, as a decimal number from 0 to 1. It
	// is computed where it is empty and the policy names a training table.
	Training string
	// Name is what the score is called on the board, which all analysts of the dataset see; empty
	// where it is not to be there.
	Name string
	// Confidence is the probability of the error bar; 0 means 0.95.
	Confidence float64
	// Request is not needed: the same question again gets the same answer free, whoever asks it.
	Request string
}

// HoldoutInfo is what is public about a holdout: what its owner declared, what it costs, and how
// exact its answers are.
type HoldoutInfo struct {
	Dataset string `json:"dataset"`
	Name    string `json:"name"`
	Labels  bool   `json:"labels" doc:"True if you submit predictions, one for each label; otherwise you submit an SQL expression over the table"`
	IDs     bool   `json:"ids" doc:"True if labels have ids, so that each prediction needs its id"`
	// Column is that of the labels, and ID that of the identifiers, where rows have some.
	Column    string  `json:"column,omitempty" hidden:"true"`
	ID        string  `json:"id,omitempty" hidden:"true"`
	Table     string  `json:"table,omitempty"`
	Train     string  `json:"train,omitempty" doc:"The public table that the training side is computed from if you do not give it"`
	Size      int64   `json:"size" doc:"How many people a score is a mean over, or how many predictions to submit"`
	Threshold string  `json:"threshold" doc:"About how far the training side can be off before the holdout answers"`
	Noise     string  `json:"noise"`
	Answers   int     `json:"answers" doc:"How many answers the holdout gives in all"`
	Steps     int64   `json:"steps" doc:"Values are whole multiples of 1 divided by this"`
	Round     dp.Cost `json:"round" doc:"The price of a round: all scores up to and including the next one that the holdout contradicts"`
	Total     dp.Cost `json:"total" doc:"The price of all rounds"`
	Confirmed float64 `json:"confirmed_error" doc:"How far a score that the holdout confirms can be from the mean over the holdout, with probability 0.95"`
	Answered  float64 `json:"answered_error" doc:"How far a score that comes from the holdout can be from the mean over it, with probability 0.95"`
	// Promised is [holdout.PromisedTolerance], nil where nothing is.
	Promised *float64 `json:"promised_error,omitempty" doc:"How far any score can be from the mean over the population that the people were drawn from, with probability 0.95, as long as nothing else has been or will be released about them; left out if no theorem promises anything"`
}

// HoldoutStatus says how far a holdout is: how many answers are left, and whether a round is open,
// so that the next question is free. It follows from what was released.
type HoldoutStatus struct {
	Left int  `json:"left"`
	Open bool `json:"open"`
}

// BoardLine is a score that was released, on the board of a holdout.
type BoardLine struct {
	Rank  int       `json:"rank" minimum:"1" doc:"Identical for the same score"`
	Name  string    `json:"name" doc:"The name that its submitter chose"`
	Score string    `json:"score"`
	Error float64   `json:"error" doc:"How far the mean over the holdout can be from the score, with probability 0.95"`
	Time  time.Time `json:"time"`
	// Spent says that the score comes from the holdout; else it is what the analyst claimed, and
	// the holdout confirmed it.
	Spent bool `json:"spent" doc:"True if the score comes from the holdout; otherwise it is the confirmed value of the training side"`
	// Mine says that whoever looks submitted it, and is for the handlers to set, as is that Analyst
	// is empty where that is not theirs to see.
	Mine    bool   `json:"mine" doc:"True if you submitted it"`
	Analyst string `json:"analyst,omitempty" doc:"Who submitted it; shown to the owner, and to you for your own"`
}
