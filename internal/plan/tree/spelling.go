package tree

import (
	"slices"
	"strings"
)

// Casts are functions like others: they have a value for every row, and it is NULL where
// there is none in the new type. What a text must look like is said here once, and
// engines check the same before they read it.
const (
	// IntegerText is the text of a whole number.
	IntegerText = `[+-]?[0-9]{1,18}`
	// DecimalText is the text of a decimal number.
	DecimalText = `[+-]?[0-9]{1,18}(\.[0-9]{1,18})?`
	// DateText is the text of a date, of the years 1 to 9999.
	DateText = `[0-9]{4}-[0-9]{2}-[0-9]{2}`
	// TimestampText is the text of a timestamp, in UTC.
	TimestampText = DateText + `([ T]([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]{1,6})?)?`
)

// TrueTexts and FalseTexts are the texts of booleans, in lower case.
var (
	TrueTexts  = []string{"true", "t", "yes", "y", "on", "1"}
	FalseTexts = []string{"false", "f", "no", "n", "off", "0"}
)

// ReadBoolean reads the text of a boolean. Only the letters of ASCII have a lower case here.
func ReadBoolean(text string) (value, ok bool) {
	text = strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, text)
	return slices.Contains(TrueTexts, text), slices.Contains(TrueTexts, text) || slices.Contains(FalseTexts, text)
}
