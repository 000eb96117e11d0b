package api

import (
	"encoding/json"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/ledger"
)

// Answer is what an analyst gets: a table of noisy values with their error bars.
type Answer struct {
	Columns Columns `json:"columns" doc:"The names of the columns"`
	// Rows hold nil, string, bool, or json.Number for numbers.
	Rows [][]any `json:"rows" doc:"The noisy values: null, texts, booleans and numbers"`
	// Errors hold, for each value of Rows, the half width of an interval that
	// contains the exact value with probability Confidence; nil for keys, and for values
	// whose error nobody can know, such as quantiles. All of it is nil where a query
	// over other answers made the rows.
	Errors [][]*float64 `json:"errors" nullable:"true" doc:"For each value the half width of an interval that holds the exact one with the probability of confidence; null where there is none"`
	// Shown says that error bars are among the columns, as Settings.Errors asked for.
	Shown bool `json:"-"`
	// Cost is what this answer cost: zero when it had been paid for before.
	Cost       dp.Cost   `json:"cost" doc:"What this answer cost; zero where it had been paid for before"`
	Remaining  Remaining `json:"remaining" doc:"What the analyst can still spend"`
	More       *int64    `json:"more,omitempty" doc:"About how many more answers at this price are left; missing where it was free"`
	Receipt    Receipt   `json:"receipt" doc:"Where the charge stands in the ledger"`
	Limits     `json:"limits" doc:"How much of one person counts"`
	Confidence float64 `json:"confidence" doc:"The probability of the error bars"`
	// Notes are sentences about the answer that a reader should know.
	Notes List[string] `json:"notes" doc:"What a reader should know about the answer"`
	// Version is the version of the data that the answer is about.
	Version DataVersion `json:"data_version" doc:"Which version of the data the answer is about"`
	// Alerts say which accounts this answer took over 50, 80 or 95 % of their limits. All of them
	// are accounts that the analyst is charged in, whose balances Remaining tells anyway.
	Alerts List[ledger.Alert] `json:"alerts" doc:"Accounts that this answer took over 50, 80 or 95 % of their limits"`
	// Through says which parts of it went through streams of the policy, and whether they were
	// free; empty where none did.
	Through []Through `json:"streams,omitempty" doc:"Which parts of it went through streams of the policy, and how much of them was free; missing where none did"`
	// Parts hold, for each value of Rows, what it was made of, where [Question.Parts] asked for it
	// and [Makeup] says that it can be put together with others.
	Parts [][]Part `json:"parts,omitempty" doc:"For each value the noisy numbers that it was made of, none for keys; missing where nobody asked for them"`
}

// MarshalJSON implements [json.Marshaler]. Lists are never null, but for the errors of a query
// around answers, which nobody knows.
func (a Answer) MarshalJSON() ([]byte, error) {
	if a.Rows == nil {
		a.Rows = [][]any{}
	}
	if a.Errors == nil && len(a.Rows) == 0 {
		a.Errors = [][]*float64{}
	}
	type plain Answer // without this method
	return marshal(plain(a))
}

// Limits say how much of one person counts. What was cut is not part of the errors.
type Limits struct {
	// MaxRows and MaxGroups are how many rows of one person were counted in each group at most, and
	// in how many groups.
	MaxRows   int64 `json:"max_rows"`
	MaxGroups int64 `json:"max_groups"`
	// Cut says that a person may have had more: that the two are limits and not facts.
	Cut bool `json:"-"`
}

// Columns are those of an answer. In its JSON they are their names.
type Columns []Column

// MarshalJSON implements [json.Marshaler].
func (c Columns) MarshalJSON() ([]byte, error) {
	names := make([]string, len(c))
	for i := range c {
		names[i] = c[i].Name
	}
	return marshal(names)
}

// UnmarshalJSON implements [json.Unmarshaler]: of the columns it knows the names.
func (c *Columns) UnmarshalJSON(text []byte) error {
	var names []string
	if err := json.Unmarshal(text, &names); err != nil {
		return err
	}
	*c = make(Columns, len(names))
	for i, name := range names {
		(*c)[i] = Column{Name: name, Decimals: -1}
	}
	return nil
}

// Column describes a column of an answer.
type Column struct {
	Name string `json:"name"`
	Kind string `json:"kind" doc:"integer, decimal, real, text, boolean, date or timestamp"`
	// Type is PostgreSQL's name of the type, which a client of the wire is told: that of the cast
	// where the column is one.
	Type  string `json:"type" doc:"PostgreSQL's name of the type: int8, int4, int2, numeric, float8, float4, text, varchar, bool, date or timestamp"`
	Noisy bool   `json:"noisy"`
	// Approximate says that values and error bars are not simply noise on an exact number: those of
	// counts and sums are, and those of averages, ratios, variances and quantiles are made of
	// several of these.
	Approximate bool `json:"approximate" doc:"Values are made of several noisy numbers"`
	// Bar says that values have error bars: that they are noisy numbers of which it is known how
	// far they can be off.
	Bar bool `json:"-"`
	// Decimals is how many digits after the point a value has; -1 for real numbers and text.
	Decimals int `json:"-"`
}

// DataVersion names a version of the data. It is no function of the contents: a hash of them would
// let an analyst test guesses.
type DataVersion struct {
	// Number counts the versions that were charged for, from 1. Data that is again what it was has
	// the number that it had.
	Number uint64 `json:"number"`
	// Name is what the owner's version query says, or empty.
	Name string `json:"name,omitempty"`
}

// Receipt says where the charge stands in the ledger.
type Receipt struct {
	Sequence uint64 `json:"sequence"`
	Hash     string `json:"hash"`
	Free     bool   `json:"free"` // the answer had been paid for before
	// Now is what now() was in the question, whose hash has it as a constant; empty where it does
	// not ask for the time.
	Now string `json:"now,omitempty" doc:"What now() was in the question; missing where it does not ask for the time"`
}
