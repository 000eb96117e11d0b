package api

import (
	"time"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/stream"
)

// StreamQuestion asks a stream of the policy for one count. The same question again gets the same answer for nothing, whoever asks it, so it needs no request to be asked
// again with.
type StreamQuestion struct {
	Dataset string // may be empty where the policy has only one
	Stream  string // may be empty where the dataset has only one
	Analyst string
	// SQL is a condition on the rows of the stream's table, such as sex = 'F' AND age >= 30, or SELECT COUNT(*) FROM the table WHERE a condition.
	SQL string
	// Where are labels by column, in the place of SQL: those that Streams lists.
	Where map[string][]string
	// Request is not needed, and is not looked at.
	Request string
	// AsOf is that of [Question].
	AsOf time.Time
}

// StreamAnswer is the answer to one question of a stream.
type StreamAnswer struct {
	Dataset string `json:"dataset"`
	Stream  string `json:"stream"`
	Value   int64  `json:"value"`
	// Error is how far it may be off, all that the stream answers together with the probability Confidence; nil for unchecked, where nothing is known.
	Error      *int64     `json:"error"`
	Confidence float64    `json:"confidence"`
	Way        stream.Way `json:"way"`
	// Free says that it made the stream charge nothing.
	Free      bool           `json:"free"`
	Cost      dp.Cost        `json:"cost"`
	Receipt   Receipt        `json:"receipt"` // of the charge that it made; Sequence 0 where there was none
	Remaining Remaining      `json:"remaining"`
	Version   DataVersion    `json:"data_version"`
	Alerts    []ledger.Alert `json:"alerts"`
}

// StreamQuote says how a question would be answered, and the most that it could cost now.
type StreamQuote struct {
	Dataset string     `json:"dataset"`
	Stream  string     `json:"stream"`
	Way     stream.Way `json:"way"`
	Cost    dp.Cost    `json:"cost"`
	Error   *int64     `json:"error"` // nil for unchecked, as in an answer
}

// StreamInfo is what the policy says about a stream, and what follows from it. Nothing is read from the data.
type StreamInfo struct {
	Dataset    string            `json:"dataset"`
	Name       string            `json:"name"`
	Table      string            `json:"table"`
	Attributes []StreamAttribute `json:"attributes"`
	Cells      int64             `json:"cells"`
	Size       int64             `json:"size"`
	Alpha      float64           `json:"alpha"`
	Beta       float64           `json:"beta"`
	Queries    int               `json:"queries"`
	// Error is alpha in people, and Predictor what predicts.
	Error     int64  `json:"error"`
	Predictor string `json:"predictor"`
	// Round is what a round of tests with its one paid answer costs, and Plain an answer without a test; so many of each fit into what the stream may spend.
	Round     dp.Cost `json:"round"`
	Plain     dp.Cost `json:"plain"`
	MostPaid  int     `json:"most_paid"`
	MostPlain int     `json:"most_plain"`
}

// StreamAttribute is a column of a stream with the labels of its cells, also of that for NULL.
type StreamAttribute struct {
	Name   string   `json:"name"`
	Values []string `json:"values"`
}

// Through says how an answer, or a part of it, went through a stream.
type Through struct {
	Stream string `json:"stream"`
	// Asked is how many different counts the question was made of, and Free how many of them cost nothing: they had been asked before, or were predicted from answers that
	// had been. Paid are the others.
	Asked int `json:"asked"`
	Free  int `json:"free"`
	Paid  int `json:"paid"`
	// Error is how far each of these counts may be off, all that the stream ever answers together with probability Confidence.
	Error      int64   `json:"error"`
	Confidence float64 `json:"confidence"`
	Cost       dp.Cost `json:"cost"`
}

// SyntheticTable is people that nobody is, who are as many in each cell as the stream believes. It was made of released answers alone, so it is free, and is as private as they are.
type SyntheticTable struct {
	Dataset string         `json:"dataset"`
	Stream  string         `json:"stream"`
	Columns []string       `json:"columns"`
	Rows    []SyntheticRow `json:"rows"` // cells without people are left out
	Total   int64          `json:"total"`
}

// SyntheticRow is a cell: a label for each column, and how many people.
type SyntheticRow struct {
	Values []string `json:"values"`
	Count  int64    `json:"count"`
}
