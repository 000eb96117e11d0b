package api

import (
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
	// Parsed is SQL for who has read it already, as a server does to find out whom a text is for;
	// nil everywhere else.
	Parsed Parsed `json:"-"`
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
