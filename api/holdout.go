package api

import (
	"time"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/ledger"
)

// HoldoutAnswer is a score that stays honest.
type HoldoutAnswer struct {
	Dataset string `json:"dataset"`
	Holdout string `json:"holdout"`
	// Score is a decimal number from 0 to 1. Where Spent is false it is the training value, which the holdout confirms; where it is true it comes from the holdout, with
	// noise, and has used up one of its answers.
	Score    string `json:"score"`
	Spent    bool   `json:"spent"`
	Training string `json:"training"`
	// Error is how far the mean over the holdout may be from Score, but for a probability of 1 - Confidence; see [holdout.Tariff.Confirmed].
	Error      float64 `json:"error"`
	Confidence float64 `json:"confidence"`
	Left       int     `json:"left"` // how many answers can still come from the holdout
	// Free says that nothing was charged for this answer: the first question of a round is charged for all of them.
	Free      bool           `json:"free"`
	Again     bool           `json:"again"` // it was answered before, in the same words
	Cost      dp.Cost        `json:"cost"`
	Receipt   Receipt        `json:"receipt"` // of the round that the answer belongs to
	Remaining Remaining      `json:"remaining"`
	Alerts    []ledger.Alert `json:"alerts"`
	Notes     []string       `json:"notes"`
	Version   DataVersion    `json:"data_version"` // of the tables; a file of labels has no number
}

// HoldoutQuestion asks how well something does on a holdout of the policy.
type HoldoutQuestion struct {
	Dataset string // may be empty where the policy has only one
	Holdout string // may be empty where the dataset has only one, or where SQL names its table
	Analyst string
	// Predictions are for a holdout of labels: one for each row. Where the rows have identifiers, IDs say whose each is, in any order.
	Predictions, IDs []string
	// SQL is for a holdout that is a table: SELECT holdout_mean(expression) FROM table, or the expression alone.
	SQL    string
	Parsed Parsed `json:"-"` // as in a [Question]
	// Training is how well the same does on the training data, as a decimal number from 0 to 1. It is computed where it is empty and the policy names a training table.
	Training string
	// Name is what the score is called on the board, which all analysts of the dataset see; empty where it is not to be there.
	Name string
	// Confidence is the probability of the error bar; 0 means 0.95.
	Confidence float64
	// Request is not needed: the same question again gets the same answer free, whoever asks it.
	Request string
}

// HoldoutInfo is what is public about a holdout: what its owner declared, what it costs, and how many answers are left.
type HoldoutInfo struct {
	Dataset string `json:"dataset"`
	Name    string `json:"name"`
	Labels  bool   `json:"labels"` // predictions are submitted; else SQL over Table
	// Column is that of the labels, and ID that of the identifiers, where rows have some.
	Column string `json:"column,omitempty"`
	ID     string `json:"id,omitempty"`
	Table  string `json:"table,omitempty"`
	Train  string `json:"train,omitempty"` // where the training value is computed, if it is not given
	// Size is how many people scores are means over.
	Size      int64   `json:"size"`
	Threshold string  `json:"threshold"`
	Noise     string  `json:"noise"`
	Answers   int     `json:"answers"`
	Steps     int64   `json:"steps"`
	Round     dp.Cost `json:"round"` // all questions up to the next one that the holdout contradicts, and that one
	Total     dp.Cost `json:"total"` // of all answers
	// Confirmed and Answered are the error bars of both kinds of answers, at a probability of 0.95.
	Confirmed float64 `json:"confirmed_error"`
	Answered  float64 `json:"answered_error"`
}

// HoldoutStatus says how far a holdout is: how many answers are left, and whether a round is open, so that the next question is free. It follows from what was released.
type HoldoutStatus struct {
	Left int  `json:"left"`
	Open bool `json:"open"`
}

// BoardLine is a score that was released, on the board of a holdout.
type BoardLine struct {
	Rank    int    `json:"rank"` // from 1; the same for the same score
	Name    string `json:"name"`
	Analyst string `json:"analyst"`
	Score   string `json:"score"`
	// Spent says that the score comes from the holdout; else it is what the analyst claimed, and the holdout confirmed it.
	Spent bool `json:"spent"`
	// Error is how far the mean over the holdout may be from the score, with a probability of 0.95.
	Error float64   `json:"error"`
	Time  time.Time `json:"time"`
}
