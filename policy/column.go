package policy

import (
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/discreet-dp/discreet/internal/textfile"
)

// Column is a column that analysts may name.
type Column struct {
	Name string
	Type Type
	// Nullable says that the column may hold NULL. It is true unless the owner knows better.
	Nullable bool
	// Bounds are the ends that values are clamped to, or nil: then the column can be
	// counted and compared, and not summed.
	Bounds *Bounds
	// Granularity is the distance between the lattice's points: 1 for integers unless said
	// otherwise, 1 day for dates, 1 microsecond for timestamps, nil for text, booleans, and
	// decimals that have none.
	Granularity *big.Rat
	// Keys says how the column's values may appear as groups, and KeyValues are the
	// public ones in the order of the file.
	Keys      KeyRule
	KeyValues []Value
	// MaxSum is what one person adds to a sum of the column in one group of an answer at most, or
	// nil where the bounds and MaxRows alone say it.
	MaxSum *big.Rat
	// BoundsFromData says that the bounds were read off the data, which the owner
	// accepted. They tell something about the people at the extremes.
	BoundsFromData bool
}

// Show returns the value at a lattice point as the column's type spells it.
func (c *Column) Show(steps int64) string {
	switch {
	case c.Type == Date:
		return FormatDate(steps)
	case c.Type == Timestamp:
		return FormatTimestamp(steps)
	case c.Granularity == nil:
		return strconv.FormatInt(steps, 10)
	}
	return decimal(new(big.Rat).Mul(new(big.Rat).SetInt64(steps), c.Granularity))
}

// ShowValue returns a listed value as the column's type spells it.
func (c *Column) ShowValue(v Value) string {
	if v.Null || v.Type != Integer {
		return v.String()
	}
	return c.Show(v.Int)
}

// maxGrain bounds the numerator and the denominator of a granularity, so that
// the engine can divide by it in 128 bits.
var maxGrain = big.NewInt(1_000_000_000_000)

func (c *Column) read(r *reader, at element, spelling func(fields, *Column)) {
	c.Nullable = true
	f, ok := r.fields(at, at.node, "a column", columnKeys)
	if !ok {
		return
	}
	if v, ok := f.get("nullable"); ok {
		if b, ok := r.truth(v, "nullable"); ok {
			c.Nullable = b
		}
	}
	if !c.readType(r, f) {
		return // Nothing else can be read without the type.
	}
	spelling(f, c)
	grainOK := c.readGranularity(r, f)
	c.readBounds(r, f, grainOK)
	c.readMaxSum(r, f)
	c.readKeys(r, f, grainOK)
}

func (c *Column) readType(r *reader, f fields) bool {
	names := make([]string, 0, len(Types()))
	for _, t := range Types() {
		names = append(names, t.String())
	}
	want := "one of " + strings.Join(names, ", ")
	v, ok := f.need(r, "type", "write "+want)
	if !ok {
		return false
	}
	text, ok := r.text(v, "type", want)
	if !ok {
		return false
	}
	if i := slices.Index(names, text); i >= 0 {
		c.Type = Types()[i]
		return true
	}
	hint := didYouMean(text, names...)
	if t, ok := otherTypeNames[strings.ToLower(text)]; ok {
		hint = "; did you mean " + quote(t.String()) + "?"
	}
	if hint == "" {
		hint = "; write " + want
	}
	r.at(v, "there is no type %s%s", quote(text), hint)
	return false
}

func (c *Column) readGranularity(r *reader, f fields) bool {
	if c.Type == Integer || c.Type == Date || c.Type == Timestamp {
		c.Granularity = big.NewRat(1, 1)
	}
	v, ok := f.get("granularity")
	if !ok {
		return true
	}
	switch c.Type {
	case Date:
		r.at(v, "a date's granularity is one day; remove the key")
		return true
	case Timestamp:
		r.at(v, "a timestamp's granularity is one microsecond; remove the key")
		return true
	case Text, Boolean:
		r.at(v, "a %s column has no granularity; remove the key", c.Type)
		return true
	}
	n, ok := r.number(v, "granularity")
	switch {
	case !ok:
	case n.Sign() <= 0:
		r.at(v, "the granularity must be above 0; it is the step that values are rounded to, such as 0.01 for cents")
	case c.Type == Integer && !n.IsInt():
		r.at(v, "an integer column's granularity must be a whole number, but this is %s; leave it out, or make the "+
			"type decimal", v.node.Value)
	case n.Num().Cmp(maxGrain) > 0 || n.Denom().Cmp(maxGrain) > 0:
		r.at(v, "the granularity %s is too fine or too coarse; write one between 1e-12 and 1e12 with at most 12 digits", v.node.Value)
	default:
		c.Granularity = n
		return true
	}
	return false
}

// ShowBounds is between what the column's values lie, in words.
func (c *Column) ShowBounds() string {
	return c.Show(c.Bounds.LoSteps) + " to " + c.Show(c.Bounds.HiSteps)
}

func (c *Column) boundsText() string {
	return fmt.Sprintf("[%s, %s]", c.Show(c.Bounds.LoSteps), c.Show(c.Bounds.HiSteps))
}

// Type is the type of a column. The engines have many more; these are the ones
// whose every value has a place on a lattice or in a list.
type Type int

const (
	// NoType is the zero value: a type that Discreet does not read.
	NoType Type = iota
	// Integer is whole numbers.
	Integer
	// Decimal is numbers on a lattice of whole multiples of a granularity.
	Decimal
	// Text is Unicode text.
	Text
	// Boolean is true and false.
	Boolean
	// Date is days, without a time.
	Date
	// Timestamp is moments, to the microsecond and in UTC.
	Timestamp
)

// Types lists all types in the order of the documentation.
func Types() []Type { return []Type{Integer, Decimal, Text, Boolean, Date, Timestamp} }

func (t Type) String() string {
	switch t {
	case Integer:
		return "integer"
	case Decimal:
		return "decimal"
	case Text:
		return "text"
	case Boolean:
		return "boolean"
	case Date:
		return "date"
	case Timestamp:
		return "timestamp"
	}
	return "unsupported"
}

// otherTypeNames are spellings of other systems, for suggestions only: a
// policy has one spelling for each type.
var otherTypeNames = map[string]Type{
	"int": Integer, "int4": Integer, "int8": Integer, "int64": Integer, "bigint": Integer, "smallint": Integer, "whole": Integer,
	"float": Decimal, "double": Decimal, "real": Decimal, "numeric": Decimal, "number": Decimal, "money": Decimal,
	"string": Text, "str": Text, "varchar": Text, "char": Text, "category": Text,
	"bool": Boolean, "bit": Boolean,
	"day": Date, "datetime": Timestamp, "timestamptz": Timestamp, "time": Timestamp,
}

// Value is one value of a column that the owner listed, such as a group key. Two
// values are the same when they are equal with ==.
type Value struct {
	Type Type
	// Null is the group of rows whose value is NULL.
	Null bool
	// Text is the value of a text column.
	Text string
	// Int is the value of every other column: the lattice steps of an integer, the days since
	// 1970-01-01 of a date, the microseconds of a timestamp, 0 or 1 for a boolean.
	Int int64
}

// Bool returns the value of a boolean column.
func (v Value) Bool() bool { return v.Int != 0 }

// String returns the value for a reader. An integer is shown in lattice steps;
// [Column.Show] knows the granularity.
func (v Value) String() string {
	switch {
	case v.Null:
		return "null"
	case v.Type == Text:
		return v.Text
	case v.Type == Boolean:
		return strconv.FormatBool(v.Bool())
	case v.Type == Date:
		return FormatDate(v.Int)
	case v.Type == Timestamp:
		return FormatTimestamp(v.Int)
	}
	return strconv.FormatInt(v.Int, 10)
}

const (
	dateLayout = "2006-01-02"
	daySeconds = 24 * 60 * 60
	dayMicros  = daySeconds * 1_000_000
)

// ParseDate reads an ISO date and returns the days since 1970-01-01, negative before it.
func ParseDate(text string) (int64, bool) {
	t, err := time.Parse(dateLayout, text)
	if err != nil || len(text) != len(dateLayout) {
		return 0, false
	}
	// Midnight in UTC is a whole number of days, before 1970 too.
	return t.Unix() / daySeconds, true
}

// FormatDate writes days since 1970-01-01 as an ISO date.
func FormatDate(days int64) string { return time.Unix(days*daySeconds, 0).UTC().Format(dateLayout) }

// ParseTimestamp reads a date and a time in UTC, as in 2024-01-31 12:30:00 or
// 2024-01-31T12:30:00.5, and returns the microseconds since 1970. A date alone is its midnight.
func ParseTimestamp(text string) (int64, bool) {
	if len(text) < len(dateLayout) {
		return 0, false
	}
	days, ok := ParseDate(text[:len(dateLayout)])
	if !ok || len(text) == len(dateLayout) {
		return days * dayMicros, ok
	}
	const clock = "15:04:05"
	rest := text[len(dateLayout):]
	if rest[0] != ' ' && rest[0] != 'T' || len(rest) <= len(clock) {
		return 0, false
	}
	t, err := time.Parse(clock, rest[1:len(clock)+1])
	if err != nil {
		return 0, false
	}
	micros := int64(t.Hour()*3600+t.Minute()*60+t.Second()) * 1_000_000
	if fraction := rest[len(clock)+1:]; fraction != "" {
		// Up to six digits: time.Parse would take a comma and a ninth digit too.
		if fraction[0] != '.' || len(fraction) < 2 || len(fraction) > 7 {
			return 0, false
		}
		n, err := strconv.ParseUint((fraction[1:] + "000000")[:6], 10, 64)
		if err != nil {
			return 0, false
		}
		micros += int64(n)
	}
	return days*dayMicros + micros, true
}

// FormatTimestamp writes microseconds since 1970 as PostgreSQL does: with a fraction only where
// there is one.
func FormatTimestamp(micros int64) string {
	return time.UnixMicro(micros).UTC().Format(dateLayout + " 15:04:05.999999")
}

// CSVFile is how the values of a table's CSV file are spelt.
type CSVFile struct {
	// Unquoted says that quotes are signs like others, and every line is a row.
	Unquoted bool
	// Encoding is how the characters of the file are written.
	Encoding textfile.Encoding
	// RefuseBadLines says that a file with a line that is no row is not opened; otherwise such
	// lines are left out, each by itself.
	RefuseBadLines bool
	// Nulls are the texts that stand for NULL in columns that say nothing of their own, and in
	// those that paths use. The empty text always does.
	Nulls []string
	// Columns are those for which the policy says something, by name.
	Columns map[string]Spelt
}

// Spelt is how the values of one column are spelt.
type Spelt struct {
	// Format is a template of dates or times, an example of numbers, or the two words of a boolean;
	// see CheckFormat. Where it is empty values are spelt as SQL does.
	Format string
	// Nulls are the texts that stand for NULL, besides the empty one.
	Nulls []string
}

// Column returns how a column is spelt.
func (c CSVFile) Column(name string) Spelt {
	if s, ok := c.Columns[name]; ok {
		return s
	}
	return Spelt{Nulls: c.Nulls}
}

// Key names how the values are read, so that the same bytes that are read in another way are other
// data; empty where nothing is said about it.
func (c CSVFile) Key() string {
	if !c.Unquoted && c.Encoding == textfile.UTF8 && len(c.Nulls) == 0 && len(c.Columns) == 0 {
		return ""
	}
	out := fmt.Sprintf("unquoted %v nulls %q", c.Unquoted, c.Nulls)
	if c.Encoding != textfile.UTF8 {
		out += fmt.Sprintf(" encoding %q", c.Encoding)
	}
	for _, name := range slices.Sorted(maps.Keys(c.Columns)) {
		out += fmt.Sprintf(" %q %q %q", name, c.Columns[name].Format, c.Columns[name].Nulls)
	}
	return out
}

// The most markers of NULL that a column has, and the longest.
const maxNulls, maxNullSize = 100, 200

// readCSV reads what is said about the spelling of all columns, and returns the formats by type.
// The columns are read after it.
func (t *Table) readCSV(r *reader, f fields, csv bool) map[Type]string {
	formats := map[Type]string{}
	if !csv {
		for _, key := range []string{"encoding", "quotes", "bad_lines", "nulls", "formats"} {
			if v, ok := f.get(key); ok {
				r.at(v, "'%s' is about how a CSV file is written, and this table is not one; remove it", key)
			}
		}
		return formats
	}
	if v, ok := f.get("encoding"); ok {
		t.readEncoding(r, v)
	}
	if v, ok := f.get("quotes"); ok {
		t.CSV.Unquoted = r.choice(v, "quotes", "none", "double")
	}
	if v, ok := f.get("bad_lines"); ok {
		t.CSV.RefuseBadLines = r.choice(v, "bad_lines", "refuse", "skip")
	}
	if v, ok := f.get("nulls"); ok {
		t.CSV.Nulls = r.nulls(v)
	}
	v, ok := f.get("formats")
	if !ok {
		return formats
	}
	byType, _ := r.fields(v, v.node, "formats", formatKeys)
	for _, typ := range Types() {
		if at, ok := byType.get(typ.String()); ok {
			formats[typ] = r.format(at, typ.String(), typ)
		}
	}
	return formats
}

func (t *Table) readEncoding(r *reader, v element) {
	const known = "utf-8, latin-1 or windows-1252"
	switch text, ok := r.text(v, "encoding", known); {
	case !ok || text == "utf-8":
	case text == string(textfile.Latin1), text == string(textfile.Windows1252):
		t.CSV.Encoding = textfile.Encoding(text)
	default:
		r.at(v, "'encoding' is %s; write %s, or convert the file to UTF-8", quote(text), known)
	}
}

// choice reads one of two words, and reports whether it is the first.
func (r *reader) choice(v element, key, first, second string) bool {
	text, ok := r.text(v, key, first+" or "+second)
	if ok && text != first && text != second {
		r.at(v, "'%s' is %s; write %s or %s", key, quote(text), first, second)
	}
	return ok && text == first
}

// nulls reads a list of texts that stand for NULL, each by its spelling in the file.
func (r *reader) nulls(v element) []string {
	if v.node.Kind == yaml.AliasNode {
		return nil
	}
	if v.node.Kind != yaml.SequenceNode || len(v.node.Content) > maxNulls {
		r.at(v, "'nulls' must be a list of at most %d texts that stand for a missing value, such as [NA, \"-\", 9999]", maxNulls)
		return nil
	}
	var out []string
	for _, n := range v.node.Content {
		switch at := (element{node: n, key: v.key, where: v.where}); {
		case n.Kind == yaml.AliasNode:
		case n.Kind != yaml.ScalarNode || len(n.Value) > maxNullSize || strings.ContainsRune(n.Value, 0):
			r.at(at, "a text that stands for a missing value must be a single text of at most %d bytes", maxNullSize)
		case n.Value != "" && !slices.Contains(out, n.Value):
			out = append(out, n.Value)
		}
	}
	return out
}

// format reads how values of a type are spelt. What is not valid is a problem, and no format.
func (r *reader) format(v element, key string, typ Type) string {
	text, ok := r.text(v, key, "how a value is spelt in the file, such as DD.MM.YYYY")
	if !ok {
		return ""
	}
	if err := CheckFormat(typ, text); err != nil {
		r.at(v, "the format %s %v", quote(text), err)
		return ""
	}
	return text
}

// CheckFormat says what is wrong with a format of a type, as the end of a sentence.
func CheckFormat(typ Type, text string) error {
	var err error
	switch typ {
	case Date, Timestamp:
		_, err = textfile.ParseMoment(text)
	case Integer, Decimal:
		_, err = textfile.ParseNumber(text, typ == Integer)
	case Boolean:
		_, err = textfile.ParseTruth(text)
	default:
		err = fmt.Errorf("is of no use for a text; remove it, or write 'nulls' for texts that stand for a missing value")
	}
	return err
}

// readSpelling reads how a column is spelt, where it says so itself. Formats are the table's.
func (t *Table) readSpelling(r *reader, f fields, c *Column, formats map[Type]string, csv bool) {
	s := Spelt{Format: formats[c.Type], Nulls: t.CSV.Nulls}
	for _, key := range []string{"format", "nulls"} {
		v, ok := f.get(key)
		switch {
		case !ok:
		case !csv:
			r.at(v, "'%s' is about how a CSV file is written, and this table is not one; remove it, or spell the values differently "+
				"in a view of the database", key)
		case key == "nulls":
			s.Nulls = r.nulls(v)
		default:
			s.Format = r.format(v, key, c.Type)
		}
	}
	if _, own := f.get("nulls"); own || s.Format != "" {
		if t.CSV.Columns == nil {
			t.CSV.Columns = map[string]Spelt{}
		}
		t.CSV.Columns[c.Name] = s
	}
}
