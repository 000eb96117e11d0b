package trino

import (
	"encoding/hex"
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/internal/dialect"
)

// The names of types, as Trino spells them.
const (
	bigint  = "bigint"
	decimal = "decimal(38,0)"
	double  = "double"
	varchar = "varchar"
	moment  = "timestamp(6)"
)

// sqlDialect is Trino's SQL. What its TRY catches, and what it does not, is in docs/trino.md.
var sqlDialect = &dialect.Dialect{
	Types: dialect.Types{Int64: bigint, Int128: decimal, Float64: double, Text: varchar, Bool: "boolean", Day: "date", Moment: moment},
	// Trino numbers parameters by their place in the text, where a printer writes some of them
	// twice.
	Constant: constant,
	Members:  func(array, _ string) string { return "(" + array + ")" },
	Whole:    whole,
	Double:   doubleOf,
	Try:      call("TRY"),
	TryCast:  tryCast,
	Let:      let,
	Quotient: quotient,
	Nearest:  nearest,
	Round:    round,
	// Trino's sum of bigints is one, and fails where it does not fit.
	Sum:      func(x string, _ bool) string { return "sum(CAST(" + x + " AS " + decimal + "))" },
	SmallSum: func(x string) string { return "sum(CAST(" + x + " AS " + bigint + "))" },
	Hash:     hash,
	Smallest: func(hash, n string, rows int64) string {
		return fmt.Sprintf("(CAST(%s AS double) + 9223372036854775808E0) * %s <= %d * 18446744073709551616E0", hash, n, rows)
	},
	Groups:   groups,
	Values:   values,
	Rank:     rank,
	Place:    place,
	ByPerson: byPerson,
	Unpinned: true,
	AntiJoin: func(l, r, on, where string) string {
		return l + " WHERE NOT EXISTS (SELECT 1 FROM " + r + " WHERE " + on + ") AND " + where
	},

	Functions: dialect.Functions(functions),
	Match:     like,
	Finds:     finds,
	Contains:  func(x, part string) string { return "(strpos(" + x + ", " + part + ") > 0)" },
	HasPrefix: func(x, part string) string { return "starts_with(" + x + ", " + part + ")" },
	Form:      func(x, form string) string { return "regexp_extract(" + x + `, '\A(?:` + form + `)\z')` },
	ReadText:  readText,
	Date:      func(days string) string { return "date_add('day', CAST(" + days + " AS bigint), DATE '1970-01-01')" },
	Timestamp: timestamp,
	Days:      days,
	Micros:    micros,
	Part: func(name, time string) string {
		switch name {
		case "dow": // from 0, a Sunday, where Trino's is the ISO day
			return "(day_of_week(" + time + ") % 7)"
		case "isodow":
			return "day_of_week(" + time + ")"
		case "doy":
			return "day_of_year(" + time + ")"
		case "isoyear":
			return "year_of_week(" + time + ")"
		}
		return name + "(" + time + ")"
	},
	Shift: func(time string, months, days, more *big.Int) string {
		// Months and days move the day, and leave the time of it.
		moved := fmt.Sprintf("date_add('day', %v, date_add('month', %v, %s))", days, months, time)
		return "(" + micros(moved) + " + " + whole(more) + ")"
	},

	Describe:      func(from string) string { return "DESCRIBE " + from },
	Binary:        func(name string) string { return name }, // it has no collations
	Finite:        call("is_finite"),
	ReadDate:      readDate,
	ReadTimestamp: readTimestamp,

	Narrow:   func(typ string) bool { return typ == "tinyint" || typ == "smallint" || typ == "integer" },
	Likeness: likeness,
	Common:   common,
	Readable: readable,
}

// call prints a function of one argument.
func call(name string) func(string) string {
	return func(x string) string { return name + "(" + x + ")" }
}

func tryCast(x, typ string) string { return "TRY_CAST(" + x + " AS " + typ + ")" }

// constant spells a constant. Texts are their bytes in hexadecimal digits: whatever is in one, no
// sign of it is read as SQL.
func constant(v any) string {
	switch v := v.(type) {
	case string:
		return "from_utf8(X'" + hex.EncodeToString([]byte(v)) + "')"
	case int64:
		return "BIGINT '" + strconv.FormatInt(v, 10) + "'"
	case bool:
		return strconv.FormatBool(v)
	case []string:
		return list(v)
	case []int64:
		return list(v)
	}
	panic(fmt.Sprintf("trino: no constant of type %T", v))
}

// list spells the elements of an array. What is in no list is equal to nothing.
func list[T any](values []T) string {
	if len(values) == 0 {
		return "NULL"
	}
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = constant(v)
	}
	return strings.Join(out, ", ")
}

// whole spells an integer. Without a type one of more than 64 bits is none.
func whole(n *big.Int) string {
	if n.IsInt64() {
		return n.String()
	}
	return "DECIMAL '" + n.String() + "'"
}

// doubleOf spells a floating-point number, which may stand in quotes.
func doubleOf(constant string) string {
	switch constant = strings.Trim(constant, "'"); constant {
	case "+Inf":
		constant = "Infinity"
	case "-Inf":
		constant = "-Infinity"
	}
	return "DOUBLE '" + constant + "'"
}

// quotient divides integers. Trino rounds the quotient of decimals, so what is left over is taken
// off before; what fits in 64 bits may have been computed in more, and is cast.
func quotient(l, r string, wide bool) string {
	if wide {
		return let(l, "l", let(r, "r", "(l - l % r) / r"))
	}
	return "CAST(" + l + " AS bigint) / CAST(" + r + " AS bigint)"
}

// nearest rounds to the nearest integer and from the middle to the even one, which Trino's cast
// does not: beyond 2^52 there is nothing behind the point, and below it that number leaves no room
// for it.
func nearest(x string) string {
	const far = "4503599627370496E0"
	return fmt.Sprintf("TRY_CAST(CASE WHEN abs(%[1]s) < %[2]s THEN CASE WHEN %[1]s < 0E0 THEN (%[1]s - %[2]s) + %[2]s ELSE (%[1]s + "+
		"%[2]s) - %[2]s END ELSE %[1]s END AS bigint)", x, far)
}

// round rounds to an integer. Trino's cast of a large number to a decimal has zeros behind its
// first digits, so it is cast in two halves, both of which are exact.
func round(how, x string, wide bool) string {
	if how == "trunc" {
		how = "truncate"
	}
	x = how + "(" + x + ")"
	if !wide {
		return tryCast(x, bigint)
	}
	const half = "1152921504606846976" // 2^60
	const upper = "truncate(x / DOUBLE '" + half + "')"
	return let(x, "x", fmt.Sprintf("CAST(%s AS %s) * DECIMAL '%s' + %s", tryCast(upper, bigint), decimal, half,
		tryCast("x - "+upper+" * DOUBLE '"+half+"'", bigint)))
}

// let names a value by a function of one element. A name hides others that are the same, and what
// is named last is all that it stands for.
func let(x, name, in string) string {
	return "element_at(transform(ARRAY[" + x + "], " + name + " -> " + in + "), 1)"
}

// hash is 64 bits of all parts. Each of them is hashed by itself: Trino joins no texts of more than
// a mebibyte together, and fails outside of TRY over a row that has them.
func hash(parts ...string) string {
	hashed := make([]string, len(parts))
	for i, p := range parts {
		hashed[i] = "coalesce(to_hex(xxhash64(to_utf8(CAST(" + p + " AS varchar)))), '-')"
	}
	return "from_big_endian_64(xxhash64(to_utf8(" + strings.Join(hashed, " || ") + ")))"
}
