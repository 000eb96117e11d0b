// Package sqlgen prints the private part of a question as SQL.
//
// The printer is the same for every database, and so is what it promises: every constant is a
// parameter, but for integers that we spell; whatever computes something from a row is NULL where
// it would fail; numbers and times are integers, in steps of their lattice, days or microseconds
// since 1970-01-01; what is kept of a person who has too much depends on that person's rows alone.
// What differs between databases is a [Dialect], a table beside the driver that uses it, and a
// [Schema] says how the tables are stored.
//
// # What the printer takes for granted
//
// TestDialectDecides finds words that databases do not agree on. These habits it does not find: a
// subquery in FROM needs no name (PostgreSQL from version 16 on); WHERE can name a column of its
// own SELECT, in the values of a quantile where nobody has several rows (neither PostgreSQL nor
// Trino); a sum of 64-bit integers has 128 bits (not in Trino); and a cast of a floating-point
// number to an integer rounds it (half to even here and in PostgreSQL, half up in Trino). Whoever
// adds a dialect begins there.
package sqlgen

import (
	"database/sql"
	"math/big"

	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/policy"
)

// Dialect is what differs between the SQL of databases. Texts that go in are printed already, and
// stand in brackets where they need them.
type Dialect struct {
	Types
	// Parameter spells the parameter of a number, from 1 on. Where it is nil constants stand in the
	// statement, as Constant spells them: in signs of ours alone, so that no text can end early.
	// Members are all elements of a constant that is an array, as what follows IN.
	Parameter func(n int) string
	Constant  func(v any) string
	Members   func(array, typ string) string
	// Whole is an integer that we spell, and Double a floating-point number.
	Whole  func(n *big.Int) string
	Double func(constant string) string
	// Try is NULL where a computation would fail, and TryCast where a cast would. A database
	// without such a thing has to be told of what cannot fail: package planner proves that nothing
	// does.
	Try     func(x string) string
	TryCast func(x, typ string) string
	// Let gives a value a name inside of an expression that names it more than once. Where it is
	// nil the value is written out each time.
	Let func(x, name, in string) string
	// Quotient divides integers of 64 bits, or of 128, and cuts off what is behind the point.
	Quotient func(l, r string, wide bool) string
	// Nearest is the integer of 64 bits that is nearest to a floating-point number, from the middle
	// the even one, or NULL; Round is one of 64 bits, or of 128, by round, floor, ceil or trunc.
	Nearest func(x string) string
	Round   func(how, x string, wide bool) string
	// Sum adds up integers of 64 bits, or of 128, and 2^40 of them do not overflow. SmallSum does
	// the same faster, where it is not nil, of integers that are clamped to 22 bits.
	Sum      func(x string, wide bool) string
	SmallSum func(x string) string
	// Hash is 64 bits that depend on all parts, and Smallest the condition that a hash is so small
	// that among n of them a number of rows is to be expected that are.
	Hash     func(parts ...string) string
	Smallest func(hash, n string, rows int64) string
	// Groups prints which partials are kept, as a relation b, the condition on its rows, and the
	// number of a person in it; Values prints the relation s of the values that are kept, and
	// what it needs before it. Rank is a number of 64 bits by which something of a person is
	// chosen: of a salt, of who it is, and of what it is.
	Groups func(g Groups) (b, keep, number string)
	Values func(v Values) string
	Rank   func(salt string, parts ...Ranked) string
	// Place, where it is not nil, is the place of a key among values, which are texts or integers,
	// or NULL: groups of public keys then have a number instead of keys.
	Place func(x string, values any) string
	// ByPerson stands before a statement that groups rows by person.
	ByPerson string
	// Once stands before the brackets of a part of WITH that is computed once, and Again before
	// those of one that is better computed each time that it is named. Where Once is empty, parts
	// of WITH are computed wherever they are named: nothing in them may come out in two ways.
	Once, Again string
	// Snapshot are the options of a transaction whose statements all see one state of the data.
	// Where no transaction does that, Unpinned, whoever runs them sees to it.
	Snapshot *sql.TxOptions
	Unpinned bool
	// AntiJoin is what follows FROM where rows of l have no partner in r.
	AntiJoin func(l, r, on, where string) string

	// Functions print the functions of the plan; see [Functions].
	Functions map[string]Function
	// Match is the condition that a whole text is of a pattern, and Finds that a text has a part of
	// a constant regular expression, in the signs of package posix. HasSuffix may be nil. Form is a
	// text, or none where the whole is not of the form of a regular expression: an empty one, or
	// NULL.
	Match                          func(x string, p tree.Pattern) string
	Finds                          func(x, pattern string) string
	Contains, HasPrefix, HasSuffix func(x, part string) string
	Form                           func(x, form string) string
	// ReadText is a stored column as a text of Unicode's. A database may hold bytes that are none:
	// functions would fail over them, and a driver read two of them as one, and so two groups.
	ReadText func(raw, typ string) string
	// Date and Timestamp make a time of days and of microseconds, and Days and Micros the reverse.
	Date, Timestamp, Days, Micros func(x string) string
	// Part is a part of a time, such as its month, and Shift the microseconds of a time that is
	// moved.
	Part  func(name, time string) string
	Shift func(time string, months, days, micros *big.Int) string

	// Compare encloses a comparison, where parentheses are not enough; else it is nil.
	Compare func(comparison string) string

	// Describe is a statement that lists the columns of what follows FROM: names and types.
	Describe func(from string) string
	// Binary is a stored text that is compared by its bytes, whatever its collation.
	Binary func(name string) string
	// Finite is the condition that a floating-point number is one.
	Finite func(x string) string
	// ReadDate and ReadTimestamp are days and microseconds of a stored column, NULL where it has
	// none.
	ReadDate, ReadTimestamp func(raw, typ string) string
	// Row names a row where each is a person: by its table, by its number, and by a hash of what is
	// in it, which RowHash is of a row u.
	Row     func(table, number, hash string) string
	RowHash string

	// Narrow reports whether all values of a stored type are integers of 64 bits, so that no cast
	// of them can fail.
	Narrow func(typ string) bool
	// Likeness is the same for stored types in which one value is spelled in one way, and Common a
	// type that holds all values of types that are alike, each in its own spelling.
	Likeness func(typ string) string
	Common   func(types []string) string
	// Readable reports whether a stored type can be read as one of the policy's.
	Readable func(t policy.Type, typ string) bool
}

// Types are the names of a database's types: integers of 64 bits and of 128 or more, floating-point
// numbers of 64 bits, texts, truth values, days, and times to the microsecond. An integer of 128
// bits has at least 38 digits.
type Types struct{ Int64, Int128, Float64, Text, Bool, Day, Moment string }

func (t Types) holder(x tree.Type) string {
	switch x.Kind {
	case tree.Text:
		return t.Text
	case tree.Boolean:
		return t.Bool
	case tree.Real:
		return t.Float64
	}
	return t.Int64
}
