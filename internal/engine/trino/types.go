package trino

import (
	"fmt"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/policy"
)

// integers are the types of whole numbers.
var integers = []string{"tinyint", "smallint", "integer", bigint}

// base is a type without its parameters: timestamp(3) with time zone is a timestamp with time zone.
func base(typ string) string {
	before, rest, found := strings.Cut(typ, "(")
	if !found {
		return typ
	}
	_, after, _ := strings.Cut(rest, ")")
	return before + after
}

// scale is how many digits behind the point a decimal has.
func scale(typ string) string {
	_, after, _ := strings.Cut(typ, ",")
	return strings.TrimSpace(strings.TrimSuffix(after, ")"))
}

// readable reports whether a stored type can be read as a policy's type. Stored text is text only,
// and what has no one spelling is nothing.
func readable(t policy.Type, stored string) bool {
	switch base(stored) {
	case "tinyint", "smallint", "integer", bigint:
		return t == policy.Integer || t == policy.Decimal
	case "real", double:
		return t == policy.Decimal
	case "decimal":
		return t == policy.Decimal || t == policy.Integer && scale(stored) == "0"
	case "boolean":
		return t == policy.Boolean
	case "date":
		return t == policy.Date
	case "timestamp":
		return t == policy.Date || t == policy.Timestamp
	case "timestamp with time zone":
		return t == policy.Timestamp
	case varchar, "char", "uuid":
		return t == policy.Text
	}
	return false
}

// likeness is the same for types in which one value is spelled in one way.
func likeness(typ string) string {
	switch b := base(typ); {
	case slices.Contains(integers, typ) || b == "decimal" && scale(typ) == "0":
		return "whole numbers"
	case b == "decimal":
		return "decimals of scale " + scale(typ)
	case b == varchar:
		return "texts"
	}
	return typ
}

// common is a type that holds all values of types that are alike, each in its own spelling.
func common(types []string) string {
	same, fit := true, true
	for _, t := range types {
		same = same && t == types[0]
		fit = fit && slices.Contains(integers, t)
	}
	switch {
	case same:
		return types[0]
	case fit:
		return bigint
	}
	return varchar
}

// names are types that can say whose a row is: those of which equal values have one spelling.
// Floating-point numbers have two zeros.
func names(typ string) bool {
	switch base(typ) {
	case "tinyint", "smallint", "integer", bigint, "decimal", varchar, "uuid", "date", "boolean", "timestamp":
		return true
	}
	return false
}

// longest is how many bytes a text has at most.
const longest = 1 << 20

// readText reads a text. Trino holds any bytes, and some of its functions fail over those that are
// none of Unicode's with an error that TRY does not catch; of such parts U+FFFD is made. It pads a
// char with blanks, which are not part of it. One that is longer than a text should be is none, as
// in PostgreSQL: a pattern takes a second for some million characters, and some hundred bytes for
// each of them, and one person's text must not be what a question waits for.
func readText(raw, typ string) string {
	switch base(typ) {
	case varchar:
		return fmt.Sprintf("CASE WHEN length(to_utf8(%s)) <= %d THEN from_utf8(to_utf8(%s)) END", raw, longest, raw)
	case "char":
		return "rtrim(from_utf8(to_utf8(CAST(" + raw + " AS varchar))))"
	}
	return "CAST(" + raw + " AS varchar)"
}
