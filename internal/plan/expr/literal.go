package expr

import (
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/plan/tree"
	"github.com/discreet-dp/discreet/policy"
)

// readLiteral reads the text of a literal as a value of a kind.
func readLiteral(text string, k tree.Kind) (*tree.Literal, bool) {
	text = strings.TrimSpace(text)
	switch k {
	case tree.Number, tree.Real:
		if r, err := dp.ParseDecimal(text); err == nil {
			return NewNumber(r), true
		}
	case tree.Date:
		if d, ok := policy.ParseDate(text); ok {
			return newDate(d), true
		}
		// As PostgreSQL reads it, a day is what stands before the time of day.
		if _, ok := readMoment(text); ok {
			d, ok := policy.ParseDate(text[:10])
			return newDate(d), ok
		}
	case tree.Timestamp:
		if m, ok := readMoment(text); ok {
			return newTimestamp(m), true
		}
	case tree.Boolean:
		if b, ok := tree.ReadBoolean(text); ok {
			return NewBool(b), true
		}
	case tree.Text:
		return NewText(text), true
	}
	return nil, false
}

// zone is what a time may end with: how far its clock is from UTC.
var zone = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(.{10}[T ].*\d) ?(?:([Zz]|UTC|GMT)|([+-])(\d\d):?(\d\d)?)$`)
})

// readMoment reads a timestamp in UTC, as RFC 3339 writes it too; seconds may be left out.
func readMoment(text string) (int64, bool) {
	away := int64(0)
	if len(text) > 40 {
		return 0, false
	}
	if m := zone().FindStringSubmatch(text); m != nil {
		text = m[1]
		if m[3] != "" {
			hours, _ := strconv.ParseInt(m[4], 10, 64)
			minutes, _ := strconv.ParseInt("0"+m[5], 10, 64)
			if away = (hours*60 + minutes) * 60_000_000; hours > 15 || minutes > 59 {
				return 0, false
			}
			if m[3] == "-" {
				away = -away
			}
		}
	}
	if len(text) == len("2024-01-31 12:30") {
		text += ":00"
	}
	n, ok := policy.ParseTimestamp(text)
	return n - away, ok
}
