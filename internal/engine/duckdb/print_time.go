package duckdb

import (
	"fmt"

	"github.com/discreet-dp/discreet/internal/plan/tree"
)

const dayMicros = 24 * 60 * 60 * 1_000_000

// asDate turns days into DuckDB's date. They are proven to be in the years 1 to 9999.
func asDate(days string) string { return "(DATE '1970-01-01' + CAST(" + days + " AS INTEGER))" }

// extract prints a field of a date or a timestamp.
func (p *printer) extract(e *tree.Call) string {
	field, x := *e.Args[0].(*tree.Literal).Text, e.Args[1]
	size := map[string][2]int64{"hour": {3_600_000_000, 24}, "minute": {60_000_000, 60}, "second": {1, 60_000_000}}[field]
	switch {
	case field == "epoch" && x.Type().Kind == tree.Timestamp:
		return p.expr(x)
	case field == "epoch":
		return "(" + p.expr(x) + " * 86400)"
	case size[0] > 0:
		// Microseconds since the year 1, which are positive.
		return fmt.Sprintf("((%s + %d) // %d %% %d)", p.expr(x), int64(719162)*dayMicros, size[0], size[1])
	}
	if name, ok := map[string]string{"dow": "dayofweek", "doy": "dayofyear"}[field]; ok {
		field = name
	}
	return "CAST(" + field + "(" + p.calendar(x) + ") AS BIGINT)"
}

// calendar prints a time as DuckDB's own.
func (p *printer) calendar(x tree.Expr) string {
	if x.Type().Kind == tree.Date {
		return asDate(p.expr(x))
	}
	return "make_timestamp(CAST(" + p.expr(x) + " AS BIGINT))"
}

func (p *printer) dateTrunc(e *tree.Call) string {
	trunc := "date_trunc('" + *e.Args[0].(*tree.Literal).Text + "', " + p.calendar(e.Args[1]) + ")"
	if e.Type().Kind == tree.Date {
		return "(CAST(" + trunc + " AS DATE) - DATE '1970-01-01')"
	}
	return "epoch_us(CAST(" + trunc + " AS TIMESTAMP))"
}

func (p *printer) addInterval(e *tree.Call) string {
	n := func(i int) string { return e.Args[i].(*tree.Literal).Number.String() }
	return fmt.Sprintf("epoch_us(%s + to_months(%s) + to_days(%s) + to_microseconds(%s))", p.calendar(e.Args[0]), n(1), n(2), n(3))
}
