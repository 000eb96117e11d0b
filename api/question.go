package api

import (
	"errors"
	"fmt"
	"time"

	"github.com/discreet-dp/discreet/dp"
)

// Question is what an analyst asks.
type Question struct {
	Dataset string    // may be empty where the policy has only one
	Analyst string    // as the policy names them
	SQL     string    // one SELECT
	Epsilon dp.Amount // what to pay; 0 means what Settings say, or the policy's default. See [dp.Parse]
	// Settings are everything else about the answer: see their fields.
	Settings Settings
	// Parameters are the values of $1, $2, ... in SQL.
	Parameters []Parameter
	// Kinds are those of the parameters where a client has said them and sends values later, for
	// who describes the question; empty where it has not.
	Kinds []string `json:"-"`
	// AsOf is a moment, or zero: answers that were kept after it are not used to make this one. It
	// is for servers that let answers leave on a tick.
	AsOf time.Time
	// Now is what now(), CURRENT_DATE and the like are in SQL; zero means the moment at which it is
	// asked. It is a constant of the question: at another moment it is another question.
	Now     time.Time
	Request string // names the question for retries; empty means a new one
	// Free asks for an answer only where it costs nothing: one that was paid for, on the same data.
	// Any other question is refused with its price, a [*PriceError], and nothing is charged.
	Free bool
	// Parts asks for the noisy numbers that values are made of, to put them together with answers
	// of other servers: see [Makeup]. They are what was released, so they cost nothing.
	Parts bool
	// Alone says that nothing may be asked before it: where its limits are to be chosen, whoever
	// asks has asked for what they are chosen from, which is CountOf, and Count is the answer.
	Alone   bool    `json:"-"`
	CountOf string  `json:"-"`
	Count   *Answer `json:"-"`
	// Chosen says how the limits in Settings were chosen; nil where somebody named them.
	Chosen *LimitChoice `json:"-"`
	// Parsed is SQL for who has read it already, as a server does to find out whom a text is for;
	// nil everywhere else.
	Parsed Parsed `json:"-"`
}

// LimitChoice says in words which limits were chosen, and about which part counts under them.
type LimitChoice struct {
	Limits, Share string
	// People is what they were chosen from, for who has chosen them, on which version of the data.
	People  any
	Version uint64
}

func (c *LimitChoice) String() string {
	if c == nil {
		return ""
	}
	return c.Limits + "; " + c.Share
}

// Parsed is a text that was read, so that nobody has to read it again. It is made inside of this
// module, and counts for nothing where it is not that of the text beside it.
type Parsed interface {
	SQL() string // what was read
}

// Description is what is known of an answer before it is asked for. It is made from the text and
// the policy alone.
type Description struct {
	// Parameters are the kinds of $1, $2, ...: integer, decimal, text, boolean, date or timestamp,
	// or an array of these, as their places in the text have them.
	Parameters []string
	// Columns are those of the answer. Where the values of parameters are not there yet, values of
	// their kinds stand in for them, so that the digits of a number that is computed with one may
	// differ from the answer's.
	Columns []Column
}

// Parameter is a value for $1, $2, ... of a question, as a client sent it. Its text is that of a
// literal of its kind, and is never read as SQL.
type Parameter struct {
	// Kind is integer, decimal, text, boolean, date or timestamp, or an array of one of these, as
	// in text[]; text where it is empty. The text of an array is PostgreSQL's: {a,"b c",NULL}.
	Kind string
	Text string
	Null bool
}

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
	// Limits says which limits were chosen and why, or how they will be; empty where nothing is
	// chosen.
	Limits string `json:"limits,omitempty"`
	// NoError says why dp.error cannot be set; empty where it can.
	NoError string `json:"no_error,omitempty"`
	// Notes say what may be a mistake in the question.
	Notes []string `json:"notes,omitempty"`
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
	// Averages are what is made of the measures and has no error before there is an answer.
	Averages []AverageInquiry `json:"averages,omitempty"`
	Cost     dp.Cost          `json:"cost"`
	Known    bool             `json:"known"`
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

// AverageInquiry says about how exact an average would be. It is made of the noise and the bounds
// alone; how many values a group has is not known.
type AverageInquiry struct {
	Average    string  `json:"average"`
	ErrorOfOne float64 `json:"error_of_one" doc:"About the error of an average of one value; of n values it is an n-th of this"`
	// ErrorMost is half of the width of the bounds: nobody needs noise to be as near as that.
	ErrorMost float64 `json:"error_most" doc:"Half of the width of the bounds, and no error is expected to be more"`
	// Values is what dp.values says, and Error what is then expected; nil without it.
	Values int64    `json:"values,omitempty" doc:"dp.values, where it is set"`
	Error  *float64 `json:"error,omitempty" doc:"About the error, if the average is of so many values"`
	Sums   []string `json:"sums" doc:"The measures that are released only for it"`
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

// Refusal is returned when a question cannot be asked. It is decided from the
// text and the policy alone, before anything is charged and before any data is
// touched, so it tells nothing about the data and costs nothing.
type Refusal struct {
	Reason   string // what is wrong
	Instead  string // what to write instead; may be empty
	Position int    // byte offset into the text, or -1
	// Code is PostgreSQL's SQLSTATE for what is wrong, where it has one: clients tell a table that
	// does not exist from one that cannot be used. It is empty where something is simply not done
	// here.
	Code string
}

// Refuse says no to a question as a whole, at no position of its text.
func Refuse(instead, format string, args ...any) *Refusal {
	return &Refusal{Reason: fmt.Sprintf(format, args...), Instead: instead, Position: -1}
}

func (r *Refusal) Error() string {
	if r.Instead == "" {
		return r.Reason
	}
	return r.Reason + "; " + r.Instead
}

func (r *Refusal) WithCode(code string) *Refusal {
	r.Code = code
	return r
}

// Disagreement is a refusal of a question that was checked twice, where the second check does not
// find what the first one claims: a mistake of ours, in one of the two. It costs nothing. What an
// analyst reads is the same for all of them, because what exactly is wrong would help to look for
// what only one of the two is wrong about.
type Disagreement struct {
	// Detail says where the two differ. It is for the owner and for who mends it, is made of the
	// question and the policy, and holds no data.
	Detail string
}

func (d *Disagreement) Error() string { return disagreement.Error() }

func (d *Disagreement) Unwrap() error { return disagreement }

var disagreement = &Refusal{
	Reason:   "two checks of this question disagree; nothing was computed or charged",
	Instead:  "ask it in another way, and tell the owner, who finds it in the log",
	Position: -1,
}

// What a question fails with, beside a [Refusal] and the errors of package ledger.
var (
	// ErrStreamPart is returned when a stream could pay for a part of a question and not for all of
	// it.
	ErrStreamPart = errors.New("the budget does not cover the rest of this question; the part that the stream has answered is paid for, " +
		"and stays free")
	// ErrMoved is returned where the data changed after a charge for a sharper answer, so that
	// there is nothing to make it of. That the data changed everybody may know.
	ErrMoved = errors.New("the data changed while an earlier answer was being sharpened; the charge stays. Ask again under another " +
		"request identifier: on the new data you pay the full price")
	// ErrChanging is returned where the data changed while it was read, so that nobody knows which
	// data it was. What was charged for it stays charged.
	ErrChanging = errors.New("the data changed while it was read; ask again")
	// ErrHoldoutRun is returned when the engine failed while it computed a score. Questions of an
	// open round are free, so what such a failure tells would be free too, as often as one likes:
	// the holdout gives whoever asked nothing new until the owner has released them.
	ErrHoldoutRun = errors.New("the engine could not compute this score, and the holdout gives you nothing new until the owner has " +
		"released the incident; ask the owner to look at 'discreet incidents'")
	// ErrLabels is returned when the file of labels cannot be read. What is wrong with it is for
	// the owner.
	ErrLabels = errors.New("the labels of this holdout cannot be read; ask the owner to run 'discreet check'. Nothing was charged")
	// ErrData is what analysts are told of a [DataError].
	ErrData = errors.New("the data cannot be read at the moment; ask again later, or ask the owner to run 'discreet check'")
	// ErrTraining is returned when a training failed after its charge, which stays. Why is not
	// said: how a minimiser does depends on the data.
	ErrTraining = errors.New("the training could not be finished, and the charge stays; ask with a larger regulariser or a smaller " +
		"radius, or ask the owner to run 'discreet check'")
	// ErrNoModel is returned for a model that does not exist, and for one that somebody may not
	// see.
	ErrNoModel = errors.New("there is no such model, or it is not yours")
)

// AroundError is why a SELECT over answers and public tables was stopped: at one of its limits, or
// by a value that it cannot compute. It sees nothing else, so its text may be told.
type AroundError struct {
	Text   string
	Bought bool // whether there are answers inside, which may have been paid for
}

func (e *AroundError) Error() string {
	if e.Bought {
		return e.Text + "; the answers inside are paid for and stay free"
	}
	return e.Text
}

// LimitsError is why a question failed after the count of people that its limits are chosen from
// was charged. Who asks again does not pay for that once more.
type LimitsError struct {
	Err   error
	Count *Answer
}

func (e *LimitsError) Error() string { return e.Paid() + e.Err.Error() }

// Paid says what was charged, before what went wrong.
func (e *LimitsError) Paid() string {
	return fmt.Sprintf("the count that limits are chosen from was charged epsilon %s (record %d) and stays paid; the question after it "+
		"was not answered: ", e.Count.Cost.Epsilon.Short(), e.Count.Receipt.Sequence)
}

func (e *LimitsError) Unwrap() error { return e.Err }

// After is the error of a question after the count that its limits were chosen from: as it is,
// where that was free.
func (a *Answer) After(err error) error {
	if err == nil || a == nil || a.Receipt.Free {
		return err
	}
	return &LimitsError{err, a}
}

// PriceError is returned for a question that was asked only where it is free, and is not.
type PriceError struct {
	Explanation *Explanation // what it would cost, as for who asks for the price
}

func (e *PriceError) Error() string {
	return "this is not free: it has not been paid for yet, or the data has changed since; nothing was charged"
}

// DataError is why the data of a dataset cannot be opened, or opened anew after it changed. Its
// words are for the owner: they name files, tables and columns, and no value of the data. Servers
// tell others [ErrData].
type DataError struct{ Err error }

func (e *DataError) Error() string { return e.Err.Error() }

func (e *DataError) Unwrap() error { return e.Err }

// MostSparseAnswers is how many questions a session of the sparse vector technique answers. By its
// theorem it could go on for ever; but each answer is a record of the ledger, which stays, and is
// to be paid for by the charge of the session.
const MostSparseAnswers = 10_000

// How a session of the sparse vector technique ends.
var (
	// ErrSessionUsed is returned when it has given all its "above" answers.
	ErrSessionUsed = errors.New("the session has ended: it has given all its \"above\" answers; open another, which costs as much again")
	// ErrSessionAsked is returned when it has answered [MostSparseAnswers] questions.
	ErrSessionAsked = fmt.Errorf("the session has ended: it has answered %d questions, which is the maximum; open another, which costs "+
		"as much again", MostSparseAnswers)
	// ErrSessionRun is returned when the engine failed or was stopped while it computed one of its
	// questions.
	ErrSessionRun = errors.New("the engine could not run this question; the session has ended, and its charge stays")
	// ErrSessionData is returned when the data is not that of the session any more.
	ErrSessionData = errors.New("the data has changed since the session was opened; the session has ended, and its charge stays")
	// ErrSessionPolicy is returned when the policy was read again since the session was opened, and
	// says something else about its tables, or about who asks.
	ErrSessionPolicy = errors.New("the policy has changed since the session was opened; the session has ended, and what it cost stays " +
		"spent; open another one")
	// ErrSessionWindow is returned when the budget was renewed since the session was opened.
	ErrSessionWindow = errors.New("the budget was renewed since the session was opened; the session has ended with the budget window " +
		"that paid for it, and its charge stays")
)

// ErrTimeLimit is the cause of a context that ends because the owner's time limit was reached,
// which servers set. A question that it stops after the charge has failed: how long an engine takes
// can depend on the data, and the owner chose that moment. A context that ends for any other cause
// was ended by whoever asked, or by the owner who ends the process.
var ErrTimeLimit = errors.New("the owner's time limit was reached")
