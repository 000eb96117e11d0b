package policy

import (
	"math/big"
	"regexp"
)

// Schema describes a table for [Draft]. Whoever can read the data fills it in; this package cannot.
type Schema struct {
	Table string
	// Source is the file that holds the table, as the policy should spell it.
	Source string
	// Delimiter is the one of a CSV file; 0 stands for the default.
	Delimiter rune
	// Unquoted says that the quotes of a CSV file are signs like others.
	Unquoted bool
	// Encoding is that of a CSV file, where it is not UTF-8.
	Encoding string
	// Notes are what the owner should know about the file, each in a sentence or two.
	Notes   []string
	Columns []SchemaColumn

	// Relation is the schema and the name of the table where Source is a PostgreSQL database, with
	// the catalog before them where it is a Trino cluster.
	Relation string
	// Unmarked says that its store does not tell whether it has changed.
	Unmarked bool
	// Question is what the owner has to answer for before the table is read, by trusted: true, in
	// whole sentences. It is empty where a plain table is safe to read as it is.
	Question string
	// Comment is what the database says about the table.
	Comment string
	// Path says whose the rows are, as in order_id -> orders.oid, where the schema tells, and
	// PathNote why.
	Path, PathNote string
	// Public says that everybody may know the rows, and UniqueColumn is then the column that is
	// different in every row, if there is one.
	Public       bool
	UniqueColumn string
	// MaxRows and MaxGroups are what to propose; 0 stands for the default.
	MaxRows, MaxGroups int
	// LimitsFromData says that they were chosen by looking at the data. What they keep of it is not
	// written down: a policy is read by more people than its owner.
	LimitsFromData bool
	// LeftOut is why the table is left out, in whole sentences, and Trusted that the owner has to
	// answer for it.
	LeftOut string
	Trusted bool
}

// SchemaColumn describes a column for [Draft].
type SchemaColumn struct {
	Name string
	// Type is NoType where there is no such type; EngineType then says what the engine calls it.
	Type       Type
	EngineType string
	// Format is how a CSV file spells the values, and OtherFormats is types and formats that all of
	// them fit as well, so that somebody has to choose.
	Format       string
	OtherFormats []string
	// Unfit says that some values are not of the type.
	Unfit bool
	// Nulls are texts that stand for NULL in a CSV file, and MaybeNulls those that may.
	Nulls, MaybeNulls []string
	// Nullable is false where the schema, and not just today's data, rules NULL out.
	Nullable bool
	// MinText and MaxText are the extremes of the data. They are used with
	// TrustDataBounds only, and are otherwise better never asked for.
	MinText, MaxText string
	// Decimals is how many digits after the point a decimal column has.
	Decimals int
	// Unique says whether no value occurs twice, where that is known, and Enforced that the
	// database sees to it and not just today's data.
	Unique   *bool
	Enforced bool

	// Repeats says that it is called like an id and that values occur more than once, and Names
	// that it is called so and that none does. Both are known only where no unit is named.
	Repeats, Names bool

	// Comment is what the database says about the column.
	Comment string
	// Lowest and Highest are bounds that do not come from the data, and Keys the values that
	// everybody may know of. From is where they come from, in some words.
	Lowest, Highest string
	Keys            []string
	From            string
	// PrivateKeys says that which values there are is private, in a column that people group by.
	PrivateKeys bool
	// Identifier says that values are names of rows, which have no bounds.
	Identifier bool
	// Different says that nearly every row has another value, such as a name or a text that
	// somebody wrote, so that there is nothing to group by.
	Different bool
	// LeftOut is why the column is left out, as in: is left out: nobody needs it.
	LeftOut string
}

var ids = regexp.MustCompile(`(?i)(^|[^\pL])(id|nr|no|num|number|key|uuid|guid|ssn|mrn|e-?mail)$|[\pL]id$|` +
	`patient|person|customer|client|member|subject|participant|respondent|student|employee|citizen|insured|user|kunde`)

// LikeID reports whether a column is called like one whose values name people or things.
func (c SchemaColumn) LikeID() bool {
	return (c.Type == Integer || c.Type == Text) && ids.MatchString(c.Name)
}

// GroupsPrivately reports whether a draft proposes private keys for a column without listed ones.
func (c SchemaColumn) GroupsPrivately() bool {
	return c.Type == Text && !c.Identifier && !c.Different && !c.unique()
}

// unique reports whether the column is known to be unique.
func (c SchemaColumn) unique() bool { return c.Unique != nil && *c.Unique }

// granularity is the suggested one, as text that a policy takes.
func (c SchemaColumn) granularity() string {
	digits := min(max(c.Decimals, 0), 12)
	grain := new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(digits)), nil))
	return grain.FloatString(digits)
}

// dataBounds returns the bounds read off the data, rounded outwards to the
// lattice, and whether there are any that a policy takes.
func (c SchemaColumn) dataBounds() (lo, hi string, ok bool) { return c.between(c.MinText, c.MaxText) }

// between returns two values as bounds, rounded outwards to the lattice, and whether a policy takes
// them.
func (c SchemaColumn) between(least, most string) (lo, hi string, ok bool) {
	if least == "" || most == "" {
		return "", "", false
	}
	col := Column{Type: c.Type, Granularity: big.NewRat(1, 1)}
	switch c.Type {
	case Date:
		from, ok1 := ParseDate(least)
		to, ok2 := ParseDate(most)
		return least, most, ok1 && ok2 && from < to
	case Timestamp:
		from, ok1 := ParseTimestamp(least)
		to, ok2 := ParseTimestamp(most)
		return least, most, ok1 && ok2 && from < to && -maxSteps <= from && to <= maxSteps
	case Decimal:
		col.Granularity.SetString(c.granularity())
	case Integer:
	default:
		return "", "", false
	}
	from, problem1 := parseNumber(least)
	to, problem2 := parseNumber(most)
	if problem1 != "" || problem2 != "" || from.Cmp(to) >= 0 {
		return "", "", false
	}
	low, ok1 := col.outward(from, -1)
	high, ok2 := col.outward(to, +1)
	if !ok1 || !ok2 {
		return "", "", false
	}
	return col.Show(low), col.Show(high), true
}

// outward returns the lattice point at or beyond a number, downwards or upwards.
func (c *Column) outward(n *big.Rat, direction int) (int64, bool) {
	q := new(big.Rat).Quo(n, c.Granularity)
	point := new(big.Int).Div(q.Num(), q.Denom())
	if direction > 0 && !q.IsInt() {
		point.Add(point, big.NewInt(1))
	}
	return point.Int64(), point.CmpAbs(big.NewInt(maxSteps)) <= 0
}
