package curator

import (
	"strconv"

	"github.com/discreet-dp/discreet/dp"
)

// Confidence is the probability with which an exact value lies within its error bar.
const Confidence = 0.95

// Answer is what an analyst gets: a table of noisy values with their error bars.
type Answer struct {
	Columns []Column
	// Rows hold nil, string, bool, or json.Number for exact decimals and averages.
	Rows [][]any
	// Errors hold, for each value of Rows, the half width of the interval that
	// contains the exact value with probability Confidence; nil for keys.
	Errors [][]*float64
	// Cost is what this answer cost: zero when it had been paid for before.
	Cost      dp.Cost
	Remaining Remaining
	Receipt   Receipt
	// MaxRows and MaxGroups are how many rows of one person were counted in each
	// group at most, and in how many groups. What was cut is not part of the errors.
	MaxRows, MaxGroups int64
	// Cut says that a person may have had more: that the two are limits and not facts.
	Cut bool
}

// Column describes a column of an answer.
type Column struct {
	Name  string
	Noisy bool
	// Decimals is how many digits after the point a value has; -1 for averages and text.
	Decimals int
}

// Receipt says where the charge stands in the ledger.
type Receipt struct {
	Sequence uint64
	Hash     string
	// Free says that the answer had been paid for before.
	Free bool
}

func quoted(s string) string { return strconv.Quote(s) }
