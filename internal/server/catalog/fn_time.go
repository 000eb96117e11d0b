package catalog

import "time"

// These are the functions on times.
func init() {
	part := func(r *run, a []any, _ []uint32) (any, error) {
		t := a[1].(time.Time)
		switch lower(a[0]) {
		case "epoch":
			return float64(t.UnixMicro()) / 1e6, nil
		case "year":
			return float64(t.Year()), nil
		case "month":
			return float64(t.Month()), nil
		case "day":
			return float64(t.Day()), nil
		case "hour":
			return float64(t.Hour()), nil
		case "minute":
			return float64(t.Minute()), nil
		case "second":
			return float64(t.Second()), nil
		case "timezone":
			return 0.0, nil
		}
		return nil, fail("22023", "unit %q not recognized", clip(lower(a[0])))
	}
	for _, t := range []string{"timestamptz", "timestamp", "date"} {
		define("extract(text,"+t+") numeric", part)
		define("date_part(text,"+t+") float8", part)
	}
	define("timezone(text,timestamptz) timestamp", func(r *run, a []any, _ []uint32) (any, error) { return a[1], nil })
	define("timezone(text,timestamp) timestamptz", func(r *run, a []any, _ []uint32) (any, error) { return a[1], nil })
}
