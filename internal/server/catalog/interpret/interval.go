package interpret

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/discreet-dp/discreet/internal/server/catalog/datum"
	"github.com/discreet-dp/discreet/internal/server/catalog/oid"
)

// isMoment reports whether a type is a point in time that others can be taken from.
func isMoment(t uint32) bool { return t == oid.Timestamptz || t == oid.Timestamp }

// difference is how long it is from one time to another, as PostgreSQL writes it: in days and what
// is left of one.
func difference(from, to datum.Time) datum.Value {
	d := to.Sub(from.Time).Truncate(time.Microsecond)
	days, rest := d/(24*time.Hour), d%(24*time.Hour)
	var parts []string
	switch {
	case days == 1 || days == -1:
		parts = append(parts, fmt.Sprintf("%d day", days))
	case days != 0:
		parts = append(parts, fmt.Sprintf("%d days", days))
	}
	if rest != 0 || days == 0 {
		sign := ""
		if rest < 0 {
			sign, rest = "-", -rest
		}
		text := fmt.Sprintf("%s%02d:%02d:%02d", sign, rest/time.Hour, rest/time.Minute%60, rest/time.Second%60)
		if part := rest % time.Second; part != 0 {
			text += strings.TrimRight(fmt.Sprintf(".%06d", part/time.Microsecond), "0")
		}
		parts = append(parts, text)
	}
	return datum.Text(strings.Join(parts, " "))
}

// spanSeconds are the seconds of a unit of an interval.
var spanSeconds = map[string]float64{"second": 1, "minute": 60, "hour": 3600, "day": 86400, "week": 7 * 86400, "mon": 30 * 86400,
	"month": 30 * 86400, "year": 365.25 * 86400}

// seconds are those of an interval, such as 2 days 01:30:00.
func seconds(text string) (float64, bool) {
	words := strings.Fields(strings.ToLower(text))
	total := 0.0
	for i := 0; i < len(words); i++ {
		if clock, ok := clockSeconds(words[i]); ok {
			total += clock
			continue
		}
		n, err := strconv.ParseFloat(words[i], 64)
		if err != nil || i+1 == len(words) {
			return 0, false
		}
		i++
		unit, ok := spanSeconds[strings.TrimSuffix(words[i], "s")]
		if !ok {
			return 0, false
		}
		total += n * unit
	}
	return total, len(words) > 0
}

// clockSeconds are those of hours, minutes and seconds with colons between them.
func clockSeconds(text string) (total float64, ok bool) {
	body, negative := strings.CutPrefix(text, "-")
	parts := strings.Split(body, ":")
	if len(parts) < 2 || len(parts) > 3 {
		return 0, false
	}
	for i, unit := range []float64{3600, 60, 1}[:len(parts)] {
		n, err := strconv.ParseFloat(parts[i], 64)
		if err != nil || n < 0 {
			return 0, false
		}
		total += n * unit
	}
	if negative {
		total = -total
	}
	return total, true
}

// spanPart is a part of an interval: all of its seconds.
func spanPart(c *Call) (datum.Value, error) {
	total, ok := seconds(c.Text(1))
	switch {
	case !ok:
		return nil, Fail("22007", "invalid input syntax for type interval: %s", strconv.Quote(clip(c.Text(1))))
	case !strings.EqualFold(c.Text(0), "epoch"):
		return nil, unsupported("a part of an interval other than its epoch")
	}
	return datum.Float(total), nil
}
