package trino

import (
	"fmt"
	"strconv"
	"strings"
)

// epoch is the beginning of time, and days are counted from its day.
const (
	epoch    = "TIMESTAMP '1970-01-01 00:00:00.000000'"
	epochDay = "DATE '1970-01-01'"
)

func days(date string) string { return "date_diff('day', " + epochDay + ", " + date + ")" }

// timestamp makes a time of microseconds, of which Trino has no function.
func timestamp(x string) string {
	return "CAST(from_unixtime_nanos(CAST(" + x + " AS " + decimal + ") * 1000) AT TIME ZONE 'UTC' AS " + moment + ")"
}

// micros are the microseconds of a time: its seconds, which are exact, and the digits behind them.
func micros(time string) string {
	return let(time, "t", "date_diff('second', "+epoch+", date_trunc('second', t)) * 1000000 + CAST(substr(CAST(t AS varchar), -6) "+
		"AS bigint)")
}

// precision is how many digits of a second a stored time has.
func precision(typ string) int {
	_, rest, _ := strings.Cut(typ, "(")
	digits, _, _ := strings.Cut(rest, ")")
	n, err := strconv.Atoi(digits)
	if err != nil {
		return 3 // Trino's own
	}
	return n
}

func readDate(raw, typ string) string {
	if base(typ) != "date" {
		// A day is the one that a time is on: the cast of a time to a day cuts off.
		raw = "CAST(" + raw + " AS date)"
	}
	return days(raw)
}

// readTimestamp reads a time to the microsecond. What is finer is cut off, and not rounded.
func readTimestamp(raw, typ string) string {
	if base(typ) == "timestamp with time zone" {
		raw = "(" + raw + " AT TIME ZONE 'UTC')"
	}
	whole := "CAST(" + raw + " AS timestamp(" + strconv.Itoa(precision(typ)) + "))"
	seconds := "date_diff('second', TIMESTAMP '1970-01-01 00:00:00', CAST(date_trunc('second', " + whole + ") AS timestamp(0)))"
	if precision(typ) == 0 {
		return "(" + seconds + " * 1000000)"
	}
	digits := min(precision(typ), 6)
	fraction := fmt.Sprintf("CAST(substr(CAST(%s AS varchar), -%d, %d) AS bigint)", whole, precision(typ), digits)
	// Trino's times begin within a second, whose beginning it does not have: it fails, and TRY
	// does not catch it. No other database has such a time; it is none.
	return fmt.Sprintf("CASE WHEN %s >= %s THEN %s * 1000000 + %s * %s END", whole, firstSecond, seconds, fraction,
		"1"+strings.Repeat("0", 6-digits))
}

// firstSecond is the first that Trino has the whole of.
const firstSecond = "TIMESTAMP '-290308-12-21 19:59:06'"
