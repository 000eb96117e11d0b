package plan

import (
	"strings"
	"time"

	"github.com/discreet-dp/discreet/dp"
)

// readLiteral reads the text of a literal as a value of a kind.
func readLiteral(text string, k Kind) (*Literal, bool) {
	text = strings.TrimSpace(text)
	switch k {
	case Number, Real:
		if r, err := dp.ParseDecimal(text); err == nil {
			return newNumber(r), true
		}
	case Date:
		if d, ok := readDate(text); ok {
			return newDate(d), true
		}
	case Boolean:
		switch strings.ToLower(text) {
		case "t", "true", "yes", "on", "1":
			return newBool(true), true
		case "f", "false", "no", "off", "0":
			return newBool(false), true
		}
	case Text:
		return newText(text), true
	}
	return nil, false
}

// readDate reads an ISO date as days since 1970-01-01.
func readDate(text string) (int64, bool) {
	t, err := time.Parse(time.DateOnly, text)
	if err != nil {
		return 0, false
	}
	return t.Unix() / 86400, true // exact: both are whole days in UTC
}

// formatDate writes days since 1970-01-01 as an ISO date.
func formatDate(days int64) string {
	return time.Unix(days*86400, 0).UTC().Format(time.DateOnly)
}
