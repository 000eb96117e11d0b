package api

import (
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/ledger"
)

// Answer is what an analyst gets: a table of noisy values with their error bars.
type Answer struct {
	Columns []Column
	// Rows hold nil, string, bool, or json.Number for numbers.
	Rows [][]any
	// Errors hold, for each value of Rows, the half width of an interval that
	// contains the exact value with probability Confidence; nil for keys, and for values
	// whose error nobody can know, such as quantiles. All of it is nil where a query
	// over other answers made the rows.
	Errors     [][]*float64
	Confidence float64
	// Notes are sentences about the answer that a reader should know.
	Notes []string
	// Cost is what this answer cost: zero when it had been paid for before.
	Cost      dp.Cost
	Remaining Remaining
	Receipt   Receipt
	// Version is the version of the data that the answer is about.
	Version DataVersion
	// Alerts say which accounts this answer took over 50, 80 or 95 % of their limits. All of them are accounts that the
	// analyst is charged in, whose balances Remaining tells anyway.
	Alerts []ledger.Alert
	// Through says which parts of it went through streams of the policy, and whether they were free; empty where none did.
	Through []Through
	// MaxRows and MaxGroups are how many rows of one person were counted in each
	// group at most, and in how many groups. What was cut is not part of the errors.
	MaxRows, MaxGroups int64
	// Cut says that a person may have had more: that the two are limits and not facts.
	Cut bool
}

// Column describes a column of an answer.
type Column struct {
	Name string
	// Kind is integer, decimal, real, text, boolean, date or timestamp.
	Kind  string
	Noisy bool
	// Approximate says that values and error bars are not simply noise on an exact number: those of counts and
	// sums are, and those of averages, ratios, variances and quantiles are made of several of these.
	Approximate bool
	// Decimals is how many digits after the point a value has; -1 for real numbers and text.
	Decimals int
}

// DataVersion names a version of the data. It is no function of the contents: a hash of them would let an analyst
// test guesses.
type DataVersion struct {
	// Number counts the versions that were charged for, from 1. Data that is again what it was has the number that it had.
	Number uint64 `json:"number"`
	// Name is what the owner's version query says, or empty.
	Name string `json:"name,omitempty"`
}

// Receipt says where the charge stands in the ledger.
type Receipt struct {
	Sequence uint64
	Hash     string
	// Free says that the answer had been paid for before.
	Free bool
}
