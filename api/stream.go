package api

import (
	"fmt"
	"time"

	"github.com/discreet-dp/discreet/dp"
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
	Error      *int64    `json:"error" nullable:"true" doc:"How far the value can be off: all answers of the stream are within their errors with the probability that the policy promises. Null if nothing is known, which is when way is unchecked"`
	Confidence float64   `json:"confidence" doc:"That probability"`
	Way        StreamWay `json:"way" enum:"cached,predicted,paid,plain,unchecked" doc:"How it was found. cached: asked before. predicted: predicted from released answers, and the test agreed; free, unless it is the first of a round of tests. paid: the test did not agree, so the value has noise of its own; the round was paid for when it began. plain: paid for without a test. unchecked: predicted without a test, because the budget is used up"`
	Free       bool      `json:"free" doc:"True if nothing was charged"`
	Cost       dp.Cost   `json:"cost" doc:"What the stream charged for this answer"`
	// Receipt is that of the charge that it made. Where there was none its Sequence is 0, and it is
	// Free.
	Receipt   Receipt     `json:"receipt" doc:"The charge in the ledger; its sequence is 0 if nothing was charged"`
	Remaining Remaining   `json:"remaining" doc:"What the analyst can still spend"`
	Version   DataVersion `json:"data_version" doc:"The version of the data that the answer is about"`
	Alerts    List[Alert] `json:"alerts" doc:"Accounts that this answer pushed past 50, 80 or 95 % of their limits"`
}

// StreamQuote says how a question would be answered, and the most that it could cost now.
type StreamQuote struct {
	Dataset string    `json:"dataset"`
	Stream  string    `json:"stream"`
	Way     StreamWay `json:"way" enum:"cached,predicted,paid,plain,unchecked" doc:"How it would be answered. predicted: predicted and tested; most is zero in a round that is already paid for"`
	Cost    dp.Cost   `json:"most" doc:"The most it can cost now"`
	Error   *int64    `json:"error" nullable:"true" doc:"How far the answer can be off. Null if nobody would know, which is when way is unchecked"`
}

// StreamInfo is what the policy says about a stream, and what follows from it. Nothing is read from
// the data.
type StreamInfo struct {
	Dataset    string                `json:"dataset"`
	Name       string                `json:"name"`
	Table      string                `json:"table"`
	Attributes List[StreamAttribute] `json:"attributes" doc:"The attributes that conditions can use. The cells of the stream are all combinations of their values"`
	Cells      int64                 `json:"cells" doc:"How many combinations there are"`
	Size       int64                 `json:"size" doc:"The public number of people that alpha is a share of"`
	Alpha      float64               `json:"alpha" doc:"How far answers can be off, as a share of size"`
	Error      int64                 `json:"error" doc:"The same in people"`
	Beta       float64               `json:"beta" doc:"The probability that any answer is off by more"`
	Queries    int                   `json:"queries" doc:"The number of different questions that beta holds for"`
	Predictor  string                `json:"predictor" doc:"The predictor: halving, ensemble or weights"`
	Round      dp.Cost               `json:"round" doc:"The price of a round: all tests up to the first that disagrees with the prediction, and the noisy answer to that one"`
	Plain      dp.Cost               `json:"plain" doc:"The price of an answer that is paid for without a test"`
	MostPaid   int                   `json:"most_paid" doc:"How many rounds the budget of the stream pays for"`
	MostPlain  int                   `json:"most_plain" doc:"How many plain answers the budget of the stream pays for"`
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
	Rows    List[SyntheticRow] `json:"rows" doc:"Combinations with a predicted count of zero are left out"`
	Total   int64              `json:"total" doc:"The sum of the counts"`
}

// SyntheticRow is a cell: a label for each column, and how many people.
type SyntheticRow struct {
	Values []string `json:"values"`
	Count  int64    `json:"count" minimum:"1"`
}

// StreamWay says how an answer was found.
type StreamWay string

// StreamReport counts what a stream was asked. Questions that leave no trace in the journal, which
// are repeated, unchecked and refused ones, are counted since its session was opened.
type StreamReport struct {
	Asked     int `json:"asked"`
	Different int `json:"different" doc:"How many different questions"`
	Cached    int `json:"cached" doc:"Free: asked before"`
	Predicted int `json:"predicted" doc:"Predicted, and the test agreed: free, except the first of a round"`
	Paid      int `json:"paid" doc:"The test disagreed with the prediction"`
	Plain     int `json:"plain" doc:"Paid for without a test"`
	Unchecked int `json:"unchecked" doc:"Free, without the guarantee: predicted after the budget was used up"`
	Refused   int `json:"refused" doc:"The budget was used up"`
	// Marginals were bought to learn from.
	Marginals int     `json:"-"`
	Spent     dp.Cost `json:"spent"`
	// Cache is what the exact-match cache would have cost for the Different questions, and Naive
	// what an answer to each of Asked would, whether the stream could answer it or not.
	Cache dp.Cost `json:"cache" doc:"What it would have cost with only remembered answers free"`
	Naive dp.Cost `json:"naive" doc:"What it would have cost to pay for every question"`
}

// SparseQuestion opens a session of the sparse vector technique: thousands of questions whether a
// count or a sum is at or above a threshold, of which only those that are answered "above" cost
// something. All of it is charged when the session is opened.
type SparseQuestion struct {
	Dataset string
	Analyst string
	Epsilon dp.Amount // of the whole session; 0 means the policy's default
	// Above is how many questions may be answered "above" before the session ends.
	Above int
	// Values says that a noisy value comes with every "above", which half of the epsilon is for.
	Values bool
	// Sensitivity is how far one person may move a question, in units of its answer: 1 for counts
	// of people. Questions that can move further are refused.
	Sensitivity int64
	// Step is the lattice of the answers, in units: 1 where it is empty, 0.01 for sums of cents.
	// All questions of a session have the same.
	Step string
	// Signed admits sums of values that can be negative, at the price of more noise.
	Signed bool
	// Request names the session. The same request never opens a second one: what the first one knew
	// is gone with it, so it is refused.
	Request string
}

// SparseVerdict is the answer to one question of a session.
type SparseVerdict struct {
	Above bool    `json:"above" doc:"True if the noisy comparison finds the number at or above the threshold"`
	Value *string `json:"value,omitempty" doc:"The noisy number, if the session has values and the answer is above"`
	Left  int     `json:"left" doc:"How many more answers can be above"`
	// Error is for all answers of the session so far together.
	Error float64 `json:"error" doc:"With probability 0.95, a number called above is at least the threshold minus this, and a number called below is at most the threshold plus this"`
}

// WorkloadError says which question of a workload cannot be asked. Nothing was run: all are checked
// first.
type WorkloadError struct {
	Index int // from 0
	Err   error
}

func (e *WorkloadError) Error() string { return fmt.Sprintf("question %d: %v", e.Index+1, e.Err) }

func (e *WorkloadError) Unwrap() error { return e.Err }

// Rehearsal is what a workload would cost a stream. It has seen the data without noise, so it is
// for the owner and for nobody else.
type Rehearsal struct {
	Dataset, Stream string
	Predictor       string
	// Report is that of the stream as the policy has it. Bound is how far its answers may be off,
	// in people, MaxError how far the furthest was, of those with a guarantee, and Beyond how many
	// were further than Bound.
	Report   StreamReport
	Bound    int64
	MaxError int64
	Beyond   int
	Series   []RehearsalSeries
	// TooLarge names the ways that are not among Series, because the stream has more cells than
	// they can keep.
	TooLarge []string
}

// RehearsalSeries is what a way to answer has cost after so many questions.
type RehearsalSeries struct {
	Name   string       // no reuse, exact cache, median, weights
	Report StreamReport // zero for no reuse
	Points []RehearsalPoint
}

// RehearsalPoint is the cost, in epsilon or rho, of the first questions.
type RehearsalPoint struct {
	Queries int
	Cost    float64
}
