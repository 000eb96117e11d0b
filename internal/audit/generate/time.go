package generate

import (
	"fmt"
	"slices"

	"github.com/discreet-dp/discreet/internal/detrand"
)

// grains are parts of time to group by, as charts and dashboards write them; of a day or a moment.
var grains = []string{
	"date_trunc('day', %s)", "date_trunc('week', %s)", "date_trunc('month', %s)", "date_trunc('quarter', %s)", "date_trunc('year', %s)",
	"date_trunc('decade', %s)", "date_trunc('century', %s)", "date_trunc('millennium', %s)", "CAST(%s AS date)", "%s",
	"extract(year FROM %s)", "extract(isoyear FROM %s)", "extract(quarter FROM %s)", "extract(month FROM %s)", "extract(week FROM %s)",
	"extract(day FROM %s)", "extract(dow FROM %s)", "extract(isodow FROM %s)", "extract(doy FROM %s)", "extract(decade FROM %s)",
	"extract(century FROM %s)", "extract(millennium FROM %s)", "extract(year FROM age(DATE '2022-01-10', %s))",
	"to_char(%s, 'YYYY-MM')", "to_char(%s, 'IYYY-IW')", "to_char(%s, 'FMMonth')", "to_char(%s, 'Dy DDD')",
	"date_bin('3 days', %s, '2022-01-07 06:00:00')", "to_timestamp(floor(extract(epoch FROM %s) / 86400) * 86400)",
	"floor(extract(epoch FROM %s) / 604800) * 604800", "CASE WHEN %s < '2022-01-09' THEN 'before' ELSE 'after' END",
}

// hours are parts of time that a moment has, and a day has not.
var hours = []string{
	"date_trunc('hour', %s)", "date_trunc('minute', %s)", "date_trunc('milliseconds', %s)", "extract(hour FROM %s)",
	"extract(minute FROM %s)", "floor(extract(second FROM %s) / 5)", "to_char(%s, 'HH24:MI')",
	"date_trunc('hour', %[1]s) + INTERVAL '15 minutes' * floor(extract(minute FROM %[1]s) / 15)",
	"date_bin(INTERVAL '90 minutes', %s, '1970-01-01 00:00:01')", "floor(extract(epoch FROM %s) / 300) * 300",
}

// spans are two days: at the ends of the calendar, around 1970, and where the people are.
var spans = [][2]string{
	{"2022-01-08", "2022-01-11"}, {"2022-01-08", "2022-01-11"}, {"2021-12-25", "2022-02-03"}, {"2022-01-09", "2022-01-10"},
	{"0001-01-01", "0001-01-09"}, {"9999-12-20", "9999-12-31"}, {"1969-12-28", "1970-01-03"}, {"1999-12-30", "2001-01-02"},
}

// timeKey makes a part of time to group by, and the range that WHERE must say for it: whoever has
// days in it, all of it is shown.
func (q *question) timeKey(s source) (key, condition string, ok bool) {
	if c, ok := q.column(s, moment); ok && q.d.One(2) {
		return q.momentKey(c.ref)
	}
	c, ok := q.column(s, date)
	if !ok {
		return "", "", false
	}
	span := detrand.Pick(q.d, spans)
	condition = fmt.Sprintf(detrand.Pick(q.d, []string{
		"%[1]s >= '%[2]s' AND %[1]s < '%[3]s'", "%[1]s BETWEEN '%[2]s' AND '%[3]s'", "(%[1]s > '%[2]s' AND %[1]s <= '%[3]s')",
		"NOT (%[1]s < '%[2]s' OR %[1]s >= '%[3]s')", "(%[1]s >= '%[2]s' AND %[1]s < '%[3]s' OR %[1]s = '%[3]s')",
		"%[1]s IN ('%[2]s', '%[3]s')", "CAST(%[1]s AS timestamp) >= '%[2]sT00:00:00Z' AND %[1]s <= DATE '%[3]s'",
		"%[1]s - DATE '%[2]s' BETWEEN 0 AND 3", "date_trunc('day', %[1]s) >= '%[2]s' AND %[1]s + 1 <= '%[3]s'",
	}), c.ref, span[0], span[1])
	if !q.d.One(3) {
		return fmt.Sprintf(detrand.Pick(q.d, grains), c.ref), condition, true
	}
	by := detrand.Pick(q.d, []string{"90 minutes 0.000001 seconds", "-1 second", "23 hours", "1 month"})
	at := "(" + c.ref + " + INTERVAL '" + by + "')"
	return fmt.Sprintf(detrand.Pick(q.d, slices.Concat(grains, hours)), at), condition, true
}

// times are two moments, some of them on the hour, some beside it, and some in another zone.
var times = [][2]string{
	{"2022-01-08", "2022-01-11"}, {"2022-01-08 10:00:00", "2022-01-08 12:30:00"},
	{"2022-01-08 10:59:59.999999", "2022-01-08 11:00:00.000001"},
	{"2022-01-08T00:00:00Z", "2022-01-10T01:00:00+02:00"}, {"1969-12-31 23:59:00", "1970-01-01 00:01:00"},
	{"0001-01-01", "0001-01-02 03:00:00"}, {"9999-12-31 20:00:00", "9999-12-31 23:59:59.999999"},
}

// momentKey makes a part of the time of a moment to group by, and a range of it.
func (q *question) momentKey(ref string) (key, condition string, ok bool) {
	span := detrand.Pick(q.d, times)
	condition = fmt.Sprintf(detrand.Pick(q.d, []string{
		"%[1]s >= '%[2]s' AND %[1]s < '%[3]s'", "%[1]s BETWEEN '%[2]s' AND '%[3]s'", "(%[1]s > '%[2]s' AND %[1]s <= '%[3]s')",
		"%[1]s >= TIMESTAMP '%[2]s' AND %[1]s + INTERVAL '1 hour' < '%[3]s'", "NOT (%[1]s < '%[2]s' OR %[1]s > '%[3]s')",
		"date_trunc('hour', %[1]s) BETWEEN '%[2]s' AND '%[3]s'", "%[1]s > now() - INTERVAL '2 days' AND %[1]s <= CURRENT_TIMESTAMP",
		"CAST(%[1]s AS date) IN (CURRENT_DATE, '2022-01-08')",
	}), ref, span[0], span[1])
	return fmt.Sprintf(detrand.Pick(q.d, slices.Concat(grains, hours, hours)), ref), condition, true
}
