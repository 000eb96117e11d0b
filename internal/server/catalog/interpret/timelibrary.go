package interpret

import (
	"strings"

	"github.com/discreet-dp/discreet/internal/server/catalog/datum"
)

// timeFunctions are the functions on times.
var timeFunctions = []Function{
	{"now|transaction_timestamp|statement_timestamp|clock_timestamp() timestamptz", func(c *Call) (datum.Value,
		error) {
		return c.run.now(), nil
	}},
	{"to_char(timestamptz,text) text", func(c *Call) (datum.Value, error) {
		// In the one format that there is.
		s, err := c.run.format(c.Args[0], c.Types[0])
		return datum.Text(s), err
	}},
	{"extract(text,timestamptz|timestamp|date) numeric", timePart},
	{"date_part(text,timestamptz|timestamp|date) float8", timePart},
	{"extract(text,interval) numeric", spanPart},
	{"date_part(text,interval) float8", spanPart},
}

func timePart(c *Call) (datum.Value, error) {
	t, _ := c.Args[1].(datum.Time)
	unit := strings.ToLower(c.Text(0))
	switch unit {
	case "epoch":
		return datum.Float(t.UnixMicro()) / 1e6, nil
	case "year":
		return datum.Float(t.Year()), nil
	case "month":
		return datum.Float(t.Month()), nil
	case "day":
		return datum.Float(t.Day()), nil
	case "hour":
		return datum.Float(t.Hour()), nil
	case "minute":
		return datum.Float(t.Minute()), nil
	case "second":
		return datum.Float(t.Second()), nil
	case "timezone":
		return datum.Float(0), nil
	}
	return nil, Fail("22023", "unit %q not recognized", clip(unit))
}
