package dialect

import (
	"fmt"
	"math/big"
	"strconv"

	"github.com/discreet-dp/discreet/internal/plan/tree"
)

const dayMicros = 24 * 60 * 60 * 1_000_000

// extract prints a field of a date or a timestamp.
func (p *Printer) extract(e *tree.Call) string {
	field, x := *e.Args[0].(*tree.Literal).Text, e.Args[1]
	size := map[string][2]int64{"hour": {3_600_000_000, 24}, "minute": {60_000_000, 60}, "second": {1, 60_000_000}}[field]
	switch {
	case field == "epoch" && x.Type().Kind == tree.Timestamp:
		return p.Expr(x)
	case field == "epoch":
		return "(" + p.Expr(x) + " * 86400)"
	case size[0] > 0:
		// Microseconds since the year 1, which are positive.
		positive := fmt.Sprintf("(%s + %d)", p.Expr(x), int64(719162)*dayMicros)
		return fmt.Sprintf("(%s %% %d)", p.Quotient(positive, strconv.FormatInt(size[0], 10), false), size[1])
	}
	return "CAST(" + p.Part(field, p.Calendar(x)) + " AS " + p.Int64 + ")"
}

// Calendar prints a time as the database's own.
func (p *Printer) Calendar(x tree.Expr) string {
	if x.Type().Kind == tree.Date {
		return p.Date(p.Expr(x))
	}
	return p.Timestamp("CAST(" + p.Expr(x) + " AS " + p.Int64 + ")")
}

// addMicros adds a number of microseconds, which may have been computed in 128 bits and fits in 64.
func (p *Printer) addMicros(e *tree.Call) string {
	return "(" + p.Expr(e.Args[0]) + " + CAST(" + p.Expr(e.Args[1]) + " AS " + p.Int64 + "))"
}

func (p *Printer) dateTrunc(e *tree.Call) string {
	size := map[string]int64{"hour": 3_600_000_000, "minute": 60_000_000, "second": 1_000_000, "milliseconds": 1000}
	if by := size[*e.Args[0].(*tree.Literal).Text]; by > 0 && e.Type().Kind == tree.Timestamp {
		return fmt.Sprintf("(%s * %d)", p.floorDiv(e.Args[1], by), by)
	}
	trunc := "date_trunc('" + *e.Args[0].(*tree.Literal).Text + "', " + p.Calendar(e.Args[1]) + ")"
	if e.Type().Kind == tree.Date {
		return p.Days("CAST(" + trunc + " AS " + p.Day + ")")
	}
	return p.Micros("CAST(" + trunc + " AS " + p.Moment + ")")
}

func (p *Printer) addInterval(e *tree.Call) string {
	n := func(i int) *big.Int { return e.Args[i].(*tree.Literal).Number }
	return p.Shift(p.Calendar(e.Args[0]), n(1), n(2), n(3))
}
