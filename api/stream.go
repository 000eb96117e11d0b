package api

import (
	"time"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/stream"
)

// StreamQuestion asks a stream of the policy for one count. The same question again gets the same
// answer for nothing, whoever asks it, so it needs no request to be asked again with.
type StreamQuestion struct {
	Dataset string // may be empty where the policy has only one
	Stream  string // may be empty where the dataset has only one
	Analyst string
	// SQL is a condition on the rows of the stream's table, such as sex = 'F' AND age >= 30, or
	// SELECT COUNT(*) FROM the table WHERE a condition.
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
	Value   int64  `json:"value" doc:"How many people, or nearly"`
	// Error is how far it may be off, all that the stream answers together with the probability
	// Confidence; nil for unchecked, where nothing is known.
	Error      *int64     `json:"error" nullable:"true" doc:"How far the value may be off: all answers of the stream are within their errors with the probability that the policy promises. Null where nothing is known, which is where way is unchecked"`
	Confidence float64    `json:"confidence" doc:"That probability"`
	Way        stream.Way `json:"way" enum:"cached,predicted,paid,plain,unchecked" doc:"How it was found. cached: asked before. predicted: predicted from released answers, and the test agreed; free, unless it is the first of a round of tests. paid: the test did not agree, so the value has noise of its own; the round was paid for when it began. plain: paid for without a test. unchecked: predicted without a test, because the budget is gone"`
	Free       bool       `json:"free" doc:"Whether nothing was charged"`
	Cost       dp.Cost    `json:"cost" doc:"What this answer made the stream charge"`
	// Receipt is that of the charge that it made. Where there was none its Sequence is 0, and it is
	// Free.
	Receipt   Receipt            `json:"receipt" doc:"Where the charge stands in the ledger; its sequence is 0 where nothing was charged"`
	Remaining Remaining          `json:"remaining" doc:"What the analyst can still spend"`
	Version   DataVersion        `json:"data_version" doc:"Which version of the data the answer is about"`
	Alerts    List[ledger.Alert] `json:"alerts" doc:"Accounts that this answer took over 50, 80 or 95 % of their limits"`
}

// StreamQuote says how a question would be answered, and the most that it could cost now.
type StreamQuote struct {
	Dataset string     `json:"dataset"`
	Stream  string     `json:"stream"`
	Way     stream.Way `json:"way" enum:"cached,predicted,paid,plain,unchecked" doc:"How it would be answered. predicted: predicted and tested, where most is zero in a round that was paid for"`
	Cost    dp.Cost    `json:"most" doc:"The most that it can cost now"`
	Error   *int64     `json:"error" nullable:"true" doc:"How far the answer may be off. Null where nobody would know, which is where way is unchecked"`
}

// StreamInfo is what the policy says about a stream, and what follows from it. Nothing is read from
// the data.
type StreamInfo struct {
	Dataset    string                `json:"dataset"`
	Name       string                `json:"name"`
	Table      string                `json:"table"`
	Attributes List[StreamAttribute] `json:"attributes" doc:"What conditions can be about. The cells of the stream are all combinations of their values"`
	Cells      int64                 `json:"cells" doc:"How many combinations there are"`
	Size       int64                 `json:"size" doc:"The public number of people that alpha is a share of"`
	Alpha      float64               `json:"alpha" doc:"How far answers may be off, as a share of size"`
	Error      int64                 `json:"error" doc:"The same in people"`
	Beta       float64               `json:"beta" doc:"The probability that any answer is further off"`
	Queries    int                   `json:"queries" doc:"For how many different questions beta holds"`
	Predictor  string                `json:"predictor" doc:"What predicts: halving, ensemble or weights"`
	Round      dp.Cost               `json:"round" doc:"What a round costs: all tests up to the first that does not agree with what was predicted, and the noisy answer to that one"`
	Plain      dp.Cost               `json:"plain" doc:"What an answer costs that is paid for without a test"`
	MostPaid   int                   `json:"most_paid" doc:"How many rounds the budget of the stream holds"`
	MostPlain  int                   `json:"most_plain" doc:"How many plain answers the budget of the stream holds"`
}

// StreamAttribute is a column of a stream with the labels of its cells, also of that for NULL.
type StreamAttribute struct {
	Name   string       `json:"name"`
	Values List[string] `json:"values" doc:"Public keys, or the labels of ranges"`
}

// Through says how an answer, or a part of it, went through a stream.
type Through struct {
	Stream string `json:"stream"`
	// Asked is how many different counts the question was made of, and Free how many of them cost
	// nothing: they had been asked before, or were predicted from answers that had been. Paid are
	// the others.
	Asked int `json:"asked"`
	Free  int `json:"free"`
	Paid  int `json:"paid"`
	// Error is how far each of these counts may be off, all that the stream ever answers together
	// with probability Confidence.
	Error      int64   `json:"error"`
	Confidence float64 `json:"confidence"`
	Cost       dp.Cost `json:"cost"`
}

// SyntheticTable is people that nobody is, who are as many in each cell as the stream believes. It
// was made of released answers alone, so it is free, and is as private as they are.
type SyntheticTable struct {
	Dataset string             `json:"dataset"`
	Stream  string             `json:"stream"`
	Columns List[string]       `json:"columns"`
	Rows    List[SyntheticRow] `json:"rows" doc:"Combinations that nobody is predicted to have are left out"`
	Total   int64              `json:"total" doc:"The sum of the counts"`
}

// SyntheticRow is a cell: a label for each column, and how many people.
type SyntheticRow struct {
	Values []string `json:"values"`
	Count  int64    `json:"count" minimum:"1"`
}
