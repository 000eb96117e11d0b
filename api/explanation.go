package api

import (
	"github.com/discreet-dp/discreet/dp"
)

// Explanation says what a question would cost, how exact its answer would be, and why. It is made
// from the text, the policy and the ledger, it is free, and of the data it uses only which version
// there is, to know whether the answer was paid for. How an engine would compute it, and how many
// rows there are, is no part of it.
type Explanation struct {
	Neighbours string  `json:"neighbours"`
	Confidence float64 `json:"confidence"`
	// Questions are what is paid for: one, or several where a query around them puts their answers
	// together.
	Questions []Inquiry `json:"questions"`
	// Split says how the price is divided, and Free what costs nothing.
	Split string `json:"split"`
	// Noise says why it is this noise, where the budget admits two.
	Noise string   `json:"noise,omitempty"`
	Free  []string `json:"free"`
	// Cost is the price of everything, and Pay what would be charged now: less, where some was paid
	// for.
	Cost dp.Cost `json:"cost"`
	Pay  dp.Cost `json:"pay"`
	// Known says that the answer has been paid for and would be free.
	Known     bool      `json:"known"`
	Remaining Remaining `json:"remaining"` // before paying
	After     Remaining `json:"after"`     // after paying
	// More is about how many answers at this price are left, this one with them; nil where it
	// would be free.
	More *int64 `json:"more,omitempty"`
	// Affordable says whether the budget admits the question now.
	Affordable bool `json:"affordable"`
	// Closed says that this would be refused, because questions failed after they were charged:
	// there are no new answers before the owner has released it.
	Closed bool `json:"closed,omitempty"`
	// Now is what now() is in the question; empty where it does not ask for the time.
	Now string `json:"now,omitempty"`
	// Deadline is after how many seconds the answer leaves, counted from when the question has its
	// turn, where no others run; nil where answers do not leave at a deadline, and where it is
	// known.
	Deadline *float64 `json:"deadline,omitempty"`
	// Makeup says what the answer would be made of, where [Question.Parts] asked for it.
	Makeup *Makeup `json:"makeup,omitempty"`
}

// Inquiry is one question that is paid for.
type Inquiry struct {
	Tables []string `json:"tables"`
	// Sharpens is the record of an answer with more noise, which was paid for and is sharpened for
	// the difference; 0 where there is none. Cost is that difference then.
	Sharpens uint64       `json:"sharpens,omitempty"`
	Keys     []KeyInquiry `json:"keys"`
	Groups   int          `json:"groups"` // rows of the answer; for each combination of private keys, where there are such
	Chosen   int          `json:"chosen"` // how many of them are chosen; 0 where all are shown
	// MaxRows and MaxGroups are how much of one person counts, and Bounds says it in words.
	MaxRows   int64         `json:"max_rows"`
	MaxGroups int64         `json:"max_groups"`
	Bounds    string        `json:"bounds"`
	Measures  []Measurement `json:"measures"`
	Cost      dp.Cost       `json:"cost"`
	Known     bool          `json:"known"`
	// Record is the charge that paid for what is known, and Derived says that it paid for another
	// question, of whose answer this one is made. Its error is then at most that of the measures
	// here.
	Record  uint64 `json:"record,omitempty"`
	Derived bool   `json:"derived,omitempty"`
	// Stream says that it would be answered through a stream, and Cost is then the most that it
	// could cost now.
	Stream *StreamInquiry `json:"stream,omitempty"`
}

// KeyInquiry is something to group by.
type KeyInquiry struct {
	Key     string `json:"key"`
	Private bool   `json:"private"`
	Values  int    `json:"values"` // how many public ones there are
	Rule    string `json:"rule"`   // which values are shown
}

// Measurement is something that a mechanism releases.
type Measurement struct {
	Measure     string   `json:"measure"`
	Mechanism   string   `json:"mechanism"`
	Sensitivity float64  `json:"sensitivity"` // how far one person moves it, in units of the answer
	Norm        string   `json:"norm"`        // l1 or l2, over all groups together; each, for every group by itself
	Step        string   `json:"step"`
	Deviation   float64  `json:"scale"` // the scale b, or sigma, in units of the answer; in ranks, for quantiles
	Error       *float64 `json:"error"` // the half width of the interval; null where nobody can know it
	Why         string   `json:"why"`
	Cost        dp.Cost  `json:"cost"`
}

// StreamInquiry is a question that would be answered through a stream.
type StreamInquiry struct {
	Name string `json:"name"`
	// Counts is how many different counts it is made of, and Known says that all of them were
	// answered before.
	Counts int  `json:"counts"`
	Known  bool `json:"known"`
	// Most is what it could cost now, where every count has to be paid for. Counts that the stream
	// predicts are free.
	Most dp.Cost `json:"most"`
	// Error is how far a count may be off, all that the stream answers together with probability
	// Confidence.
	Error      int64   `json:"error"`
	Confidence float64 `json:"confidence"`
	// Ordinary is what the question would cost by itself.
	Ordinary dp.Cost `json:"ordinary"`
}
